//! Lists in data files that name pages of the site: `ages.csv` has a row for each page `age--….html`.
//!
//! A statistics site publishes its lists as data too, and names pages after their entries. Where the pages that a list belongs to were
//! fetched, it shows whether the entries, written as addresses are (`Amber Valley` as `amber-valley`), name pages that are known. Lists of
//! the same family, whose own pages were not fetched, then name pages that are not known yet, and so, by analogy, their files.
//!
//! Bounds: [`NAMES_PER_FILE_MAX`] entries of a file, [`NAMES_MAX`] that are kept, [`PAIRS_MAX`] families with what they name.

use super::analogy::RuleNumber;

const NAMES_PER_FILE_MAX: usize = 2000;
const NAMES_MAX: usize = 100_000;
const PAIRS_MAX: usize = 32;
/// Longer entries are cut in addresses, nobody knows where.
const NAME_BYTES_MAX: usize = 60;
/// Entries that must have been compared, and the share of them that must name pages.
const COMPARED_MIN: f64 = 10.0;
const PRECISION_MIN: f64 = 0.8;

/// Names a family of lists together with the kind of page that its entries name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairNumber(usize);

/// The lists of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Listings {
    lists: Vec<List>,
    pairs: Vec<Pair>,
    names: usize,
}

/// A list that was found in a data file.
#[derive(Clone, Debug)]
struct List {
    /// The rule by which the file is named after its page: its family.
    family: RuleNumber,
    /// The page that it belongs to.
    page: String,
    /// The entries, as addresses have them.
    names: Vec<String>,
    /// The rules that it was compared by, once its page was fetched.
    compared: Vec<RuleNumber>,
}

/// Whether the entries of a family of lists name pages of one kind: those that a rule speaks of.
#[derive(Clone, Copy, Debug)]
struct Pair {
    family: RuleNumber,
    named: RuleNumber,
    hits: f64,
    compared: f64,
}

impl Listings {
    /// Takes in a list of the page that it belongs to.
    pub(super) fn add(&mut self, family: RuleNumber, page: &str, names: &[&str]) {
        let mut names: Vec<String> = names
            .iter()
            .take(NAMES_PER_FILE_MAX)
            .filter_map(|name| as_in_address(name))
            .collect();
        names.sort_unstable();
        names.dedup();
        if self.names + names.len() <= NAMES_MAX && !names.is_empty() {
            self.names += names.len();
            self.lists.push(List {
                family,
                page: page.to_owned(),
                names,
                compared: Vec::new(),
            });
        }
    }

    /// Compares the lists whose page was fetched with the pages that are known, by the address that each rule gives to a name.
    pub(super) fn compare(
        &mut self,
        rules: &[RuleNumber],
        is_fetched: impl Fn(&str) -> bool,
        is_known: impl Fn(RuleNumber, &str) -> bool,
    ) {
        let mut found = Vec::new();
        for list in self.lists.iter_mut().filter(|list| is_fetched(&list.page)) {
            for rule in rules {
                if !list.compared.contains(rule) {
                    list.compared.push(*rule);
                    let known = list.names.iter().filter(|name| is_known(*rule, name));
                    found.push((list.family, *rule, known.count(), list.names.len()));
                }
            }
        }
        for (family, rule, hits, compared) in found {
            self.count(family, rule, hits, compared);
        }
    }

    fn count(&mut self, family: RuleNumber, named: RuleNumber, hits: usize, compared: usize) {
        let place = self
            .pairs
            .iter()
            .position(|pair| pair.family == family && pair.named == named);
        let place = match place {
            Some(place) => place,
            // What names nothing does not take up room.
            None if 0 < hits && self.pairs.len() < PAIRS_MAX => {
                self.pairs.push(Pair {
                    family,
                    named,
                    hits: 0.0,
                    compared: 0.0,
                });
                self.pairs.len() - 1
            }
            None => return,
        };
        #[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
        let (hits, compared) = (hits as f64, compared as f64);
        self.pairs[place].hits += hits;
        self.pairs[place].compared += compared;
    }

    /// The names in lists of which it is known what they name, with the rule for these pages. They are given once.
    pub(super) fn take_named(&mut self) -> Vec<(PairNumber, RuleNumber, Vec<String>)> {
        let mut named = Vec::new();
        for (place, pair) in self.pairs.iter().enumerate() {
            if !pair.is_trusted() {
                continue;
            }
            let (taken, kept): (Vec<List>, Vec<List>) = std::mem::take(&mut self.lists)
                .into_iter()
                .partition(|list| list.family == pair.family && list.compared.is_empty());
            self.lists = kept;
            for list in taken {
                self.names -= list.names.len();
                named.push((PairNumber(place), pair.named, list.names));
            }
        }
        named
    }

    /// Takes in whether a name was right.
    pub(super) fn confirm(&mut self, pair: PairNumber, is_right: bool) {
        if let Some(pair) = self.pairs.get_mut(pair.0) {
            pair.compared += 1.0;
            pair.hits += f64::from(u8::from(is_right));
        }
    }

    pub(super) fn is_trusted(&self, pair: PairNumber) -> bool {
        self.pairs.get(pair.0).is_some_and(Pair::is_trusted)
    }
}

impl Pair {
    fn is_trusted(&self) -> bool {
        COMPARED_MIN <= self.compared && PRECISION_MIN * self.compared <= self.hits
    }
}

/// A name as addresses have it: in lower case, words with a hyphen between, without other marks; none if nothing is left or it is too long.
fn as_in_address(name: &str) -> Option<String> {
    if NAME_BYTES_MAX < name.len() {
        return None;
    }
    let mut address = String::with_capacity(name.len());
    for character in name.trim().chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() || character == '_' {
            address.push(character);
        } else if (character.is_whitespace() || character == '-')
            && !address.is_empty()
            && !address.ends_with('-')
        {
            address.push('-');
        }
    }
    let address = address.trim_end_matches('-');
    (!address.is_empty()).then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_in_addresses() {
        for (name, address) in [
            ("Amber Valley", Some("amber-valley")),
            (" 0 to 14 ", Some("0-to-14")),
            (
                "Aid description (CRS code)",
                Some("aid-description-crs-code"),
            ),
            ("A - B", Some("a-b")),
            ("人口 統計", Some("人口-統計")),
            ("- ()", None),
            ("", None),
        ] {
            assert_eq!(as_in_address(name).as_deref(), address, "{name}");
        }
        assert_eq!(as_in_address(&"long ".repeat(20)), None);
    }

    #[test]
    fn a_list_names_pages_once_other_lists_of_its_family_did() {
        let (family, rule) = (RuleNumber::new(0), RuleNumber::new(1));
        let mut listings = Listings::default();
        let titles: Vec<String> = (0..12).map(|number| format!("Name {number}")).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        listings.add(family, "fetched", &titles);
        listings.add(family, "other", &["New Name", "Newer"]);
        assert!(listings.take_named().is_empty());
        listings.compare(
            &[rule],
            |page| page == "fetched",
            |_, name| name != "name-3",
        );
        let named = listings.take_named();
        assert_eq!(named.len(), 1);
        assert_eq!(named[0].2, ["new-name", "newer"]);
        assert!(listings.take_named().is_empty(), "given once");
        for _ in 0..10 {
            listings.confirm(named[0].0, false);
        }
        assert!(!listings.is_trusted(named[0].0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut listings = Listings::default();
        let names: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for page in 0..1000 {
            listings.add(RuleNumber::new(0), &page.to_string(), &names);
        }
        assert!(listings.names <= NAMES_MAX);
        assert_eq!(
            listings.names,
            listings
                .lists
                .iter()
                .map(|list| list.names.len())
                .sum::<usize>()
        );
    }
}
