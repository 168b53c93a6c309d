//! How pages name their data files, so that the files of like pages can be asked for without the pages.
//!
//! Many sites make a page and its files from one template: `/age.html` links to `/values--age.csv`, `/city.html` to `/values--city.csv`. Two
//! such examples make a rule: what is the same in the pages' URLs and in the files', with one gap each that is filled alike. A rule is
//! trusted after some successes without many failures, and loses its trust in the same way; to win it back takes as many successes again. Of the rules that fit a page, those that say
//! most of its URL decide: a rule for all pages does not speak where there is one for this kind.
//!
//! Bounds: [`RULES_MAX`] rules, [`EXAMPLES_MAX`] remembered pages with [`FILES_MAX`] files each.

use std::collections::VecDeque;

const RULES_MAX: usize = 32;
const EXAMPLES_MAX: usize = 48;
const FILES_MAX: usize = 8;
/// Longer URLs are made by no template that matters here.
const URL_BYTES_MAX: usize = 1024;
/// What a rule needs before it is trusted.
const SUCCESSES_MIN: f64 = 3.0;
const PRECISION_MIN: f64 = 0.8;

/// Names a rule of one collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleNumber(usize);

#[cfg(test)]
impl RuleNumber {
    pub(super) fn new(number: usize) -> Self {
        Self(number)
    }
}

/// The rules of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Analogies {
    rules: Vec<Rule>,
    recent: VecDeque<Example>,
}

/// A page and the data files that it linked to.
#[derive(Clone, Debug)]
struct Example {
    page: String,
    files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    page: Gapped,
    file: Gapped,
    successes: f64,
    failures: f64,
    /// What it needs before it is trusted: twice what it had when it lost its trust last.
    successes_min: f64,
}

/// A URL with a gap in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gapped {
    before: String,
    after: String,
    /// How many slashes are in what fills the gap.
    slashes: usize,
}

impl Analogies {
    /// Learns from a page that was fetched and the data files that it links to; returns the rules that are trusted from now on.
    pub(super) fn learn(&mut self, page: &str, files: &[&str]) -> Vec<RuleNumber> {
        let files = &files[..files.len().min(FILES_MAX)];
        if files
            .iter()
            .chain([&page])
            .any(|url| URL_BYTES_MAX < url.len())
        {
            return Vec::new();
        }
        let trusted_before: Vec<bool> = self.rules.iter().map(Rule::is_trusted).collect();
        for rule in &mut self.rules {
            rule.judge(page, files);
        }
        let example = Example {
            page: page.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        };
        self.recent.push_back(example);
        for file in files {
            // A rule that also fails elsewhere does not keep a better one from being found.
            let explains = |rule: &Rule| {
                PRECISION_MIN <= rule.precision() && rule.applied_to(page).as_deref() == Some(file)
            };
            if !self.rules.iter().any(explains) {
                self.find_rule(page, file);
            }
        }
        if EXAMPLES_MAX < self.recent.len() {
            self.recent.pop_front();
        }
        let is_new = |number: &usize| {
            self.rules[*number].is_trusted()
                && !trusted_before.get(*number).copied().unwrap_or(false)
        };
        (0..self.rules.len())
            .filter(is_new)
            .map(RuleNumber)
            .collect()
    }

    /// The files that a page like this would have: by the trusted rules among those that say most of its URL.
    pub(super) fn guesses(&self, page: &str) -> Vec<(RuleNumber, String)> {
        let fits = |rule: &&Rule| rule.page.gap(page).is_some();
        let Some(most) = self
            .rules
            .iter()
            .filter(fits)
            .map(|rule| rule.page.length())
            .max()
        else {
            return Vec::new();
        };
        let rules = self.rules.iter().enumerate();
        rules
            .filter(|(_, rule)| rule.page.length() == most && rule.is_trusted())
            .filter_map(|(number, rule)| Some((RuleNumber(number), rule.applied_to(page)?)))
            .collect()
    }

    /// The rule by which this file is named after a page, and that page: of several the one that says most of the file's URL.
    pub(super) fn page_of(&self, file: &str) -> Option<(RuleNumber, String)> {
        let trusted = self
            .rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.is_trusted());
        let fitting =
            trusted.filter_map(|(number, rule)| Some((number, rule, rule.file.gap(file)?)));
        let (number, rule, gap) = fitting.max_by_key(|(_, rule, _)| rule.file.length())?;
        Some((RuleNumber(number), rule.page.filled(gap)))
    }

    /// The rules that are trusted.
    pub(super) fn trusted(&self) -> Vec<RuleNumber> {
        let numbers = (0..self.rules.len()).filter(|number| self.rules[*number].is_trusted());
        numbers.map(RuleNumber).collect()
    }

    /// The page that this name stands for among those of a rule.
    pub(super) fn page_named(&self, rule: RuleNumber, name: &str) -> Option<String> {
        Some(self.rules.get(rule.0)?.page.filled(name))
    }

    /// Takes in how a guess by this rule came out.
    pub(super) fn confirm(&mut self, rule: RuleNumber, is_file: bool) {
        if let Some(rule) = self.rules.get_mut(rule.0) {
            let was_trusted = rule.is_trusted();
            *(if is_file {
                &mut rule.successes
            } else {
                &mut rule.failures
            }) += 1.0;
            if was_trusted && !rule.is_trusted() {
                rule.successes_min = 2.0 * rule.successes;
            }
        }
    }

    /// The probability that a guess of this rule is right.
    pub(super) fn precision(&self, rule: RuleNumber) -> f64 {
        self.rules.get(rule.0).map_or(0.0, Rule::precision)
    }

    /// Whether guesses by this rule are worth a fetch.
    pub(super) fn is_trusted(&self, rule: RuleNumber) -> bool {
        self.rules.get(rule.0).is_some_and(Rule::is_trusted)
    }

    /// Makes a rule of this page and file and a remembered page: the one that explains most of what is remembered.
    fn find_rule(&mut self, page: &str, file: &str) {
        let mut best: Option<Rule> = None;
        for example in self.recent.iter().filter(|example| example.page != page) {
            for other in &example.files {
                let Some(mut rule) = Rule::of([page, file], [&example.page, other]) else {
                    continue;
                };
                for example in &self.recent {
                    let files: Vec<&str> = example.files.iter().map(String::as_str).collect();
                    rule.judge(&example.page, &files);
                }
                if best.as_ref().is_none_or(|best| best.merit() < rule.merit()) {
                    best = Some(rule);
                }
            }
        }
        let is_known = |rule: &Rule| {
            let same = |known: &Rule| known.page == rule.page && known.file == rule.file;
            self.rules.iter().any(same)
        };
        let Some(rule) = best.filter(|rule| !is_known(rule)) else {
            return;
        };
        if self.rules.len() < RULES_MAX {
            self.rules.push(rule);
        } else if let Some(worst) = self.rules.iter_mut().find(|rule| !rule.is_trusted()) {
            *worst = rule;
        }
    }
}

impl Rule {
    /// What two pages and their files have in common, if the gaps in them are filled alike.
    fn of(one: [&str; 2], other: [&str; 2]) -> Option<Self> {
        let page = Gapped::of(one[0], other[0])?;
        let file = Gapped::of(one[1], other[1])?;
        let is_alike =
            page.gap(one[0]) == file.gap(one[1]) && page.gap(other[0]) == file.gap(other[1]);
        is_alike.then_some(Self {
            page,
            file,
            successes: 0.0,
            failures: 0.0,
            successes_min: SUCCESSES_MIN,
        })
    }

    fn applied_to(&self, page: &str) -> Option<String> {
        let gap = self.page.gap(page)?;
        Some(self.file.filled(gap))
    }

    fn judge(&mut self, page: &str, files: &[&str]) {
        if let Some(file) = self.applied_to(page) {
            let is_right = files.contains(&&*file);
            *(if is_right {
                &mut self.successes
            } else {
                &mut self.failures
            }) += 1.0;
        }
    }

    fn precision(&self) -> f64 {
        (self.successes + 0.5) / (self.successes + self.failures + 1.0)
    }

    fn is_trusted(&self) -> bool {
        self.successes_min <= self.successes && PRECISION_MIN <= self.precision()
    }

    fn merit(&self) -> f64 {
        self.successes - 2.0 * self.failures
    }
}

impl Gapped {
    /// What two URLs have in common at their beginning and their end, in whole words, with something else between in both.
    fn of(one: &str, other: &str) -> Option<Self> {
        let same = |(one, other): &(u8, u8)| one == other;
        let bytes = || one.bytes().zip(other.bytes());
        let before = bytes().take_while(same).count();
        let before = one.as_bytes()[..before]
            .iter()
            .rposition(|byte| is_boundary(*byte))?
            + 1;
        let backwards = one.bytes().rev().zip(other.bytes().rev());
        let room = one.len().min(other.len()).checked_sub(before)?;
        let after = backwards.take(room).take_while(same).count();
        let tail = &one.as_bytes()[one.len() - after..];
        // Names of different things often end in the same words; what follows the name begins with a mark that is in no name.
        let is_end = |byte: &u8| matches!(byte, b'.' | b'/' | b'?' | b'&' | b'=');
        let after = tail.iter().position(is_end).map_or(0, |at| after - at);
        let gapped = Self {
            before: one.get(..before)?.to_owned(),
            after: one.get(one.len() - after..)?.to_owned(),
            slashes: one.get(before..one.len() - after)?.matches('/').count(),
        };
        (gapped.gap(one).is_some() && gapped.gap(other).is_some()).then_some(gapped)
    }

    /// What fills the gap in this URL.
    fn gap<'a>(&self, url: &'a str) -> Option<&'a str> {
        let gap = url
            .strip_prefix(&*self.before)?
            .strip_suffix(&*self.after)?;
        let is_name = !gap.is_empty() && !gap.contains(['?', '&', '=', '#']);
        (is_name && gap.matches('/').count() == self.slashes).then_some(gap)
    }

    fn filled(&self, gap: &str) -> String {
        format!("{}{gap}{}", self.before, self.after)
    }

    fn length(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

/// Names are cut here, and nowhere inside a word.
fn is_boundary(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SITE: &str = "https://a.example/";

    fn url(path: &str) -> String {
        format!("{SITE}{path}")
    }

    fn learn(analogies: &mut Analogies, page: &str, files: &[&str]) -> usize {
        let files: Vec<String> = files.iter().map(|file| url(file)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        analogies.learn(&url(page), &files).len()
    }

    fn guesses(analogies: &Analogies, page: &str) -> Vec<String> {
        let guesses = analogies.guesses(&url(page)).into_iter();
        guesses
            .map(|(_, file)| file.strip_prefix(SITE).unwrap().to_owned())
            .collect()
    }

    #[test]
    fn three_examples_make_a_rule() {
        let mut analogies = Analogies::default();
        assert_eq!(
            learn(&mut analogies, "by--age.html", &["values--by--age.csv"]),
            0
        );
        assert_eq!(
            learn(
                &mut analogies,
                "by--age-group.html",
                &["values--by--age-group.csv"]
            ),
            0
        );
        assert!(guesses(&analogies, "by--city.html").is_empty());
        assert_eq!(
            learn(&mut analogies, "by--sex.html", &["values--by--sex.csv"]),
            1
        );
        assert_eq!(
            guesses(&analogies, "by--city.html"),
            ["values--by--city.csv"]
        );
        assert!(guesses(&analogies, "about.html").is_empty());
        assert!(
            guesses(&analogies, "by--.html").is_empty(),
            "the gap must be filled"
        );
    }

    #[test]
    fn a_rule_for_one_kind_of_page_silences_the_rule_for_all() {
        let mut analogies = Analogies::default();
        for name in ["togo", "mali", "chad", "peru"] {
            learn(
                &mut analogies,
                &format!("value--{name}.html"),
                &[&format!("value--{name}.csv")],
            );
        }
        for name in ["age", "sex", "city", "region"] {
            learn(
                &mut analogies,
                &format!("table-{name}.html"),
                &[&format!("table-{name}.csv")],
            );
        }
        for name in ["a", "b", "c", "d"] {
            learn(
                &mut analogies,
                &format!("by--{name}.html"),
                &[&format!("x--{name}.csv"), &format!("y--{name}.csv")],
            );
        }
        assert_eq!(
            guesses(&analogies, "value--niger.html"),
            ["value--niger.csv"]
        );
        let mut two = guesses(&analogies, "by--e.html");
        two.sort();
        assert_eq!(two, ["x--e.csv", "y--e.csv"]);
    }

    #[test]
    fn a_rule_that_fails_loses_its_trust() {
        let mut analogies = Analogies::default();
        for name in ["a", "b", "c", "d"] {
            learn(
                &mut analogies,
                &format!("p/{name}.html"),
                &[&format!("f/{name}.csv")],
            );
        }
        let (rule, _) = analogies.guesses(&url("p/e.html"))[0];
        assert!(analogies.is_trusted(rule));
        for _ in 0..3 {
            analogies.confirm(rule, false);
        }
        assert!(!analogies.is_trusted(rule));
        assert!(guesses(&analogies, "p/e.html").is_empty());
    }

    #[test]
    fn names_that_only_look_alike_make_no_rule() {
        let mut analogies = Analogies::default();
        for (page, file) in [
            ("a.html", "x1.csv"),
            ("b.html", "x2.csv"),
            ("c.html", "x3.csv"),
            ("d.html", "x4.csv"),
        ] {
            assert_eq!(learn(&mut analogies, page, &[file]), 0);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut analogies = Analogies::default();
        for number in 0..2000_u32 {
            let folder = number / 2;
            let page = format!("{folder}/p-{number}.html");
            learn(
                &mut analogies,
                &page,
                &[&format!("{folder}/f-{number}.csv")],
            );
        }
        assert!(analogies.rules.len() <= RULES_MAX);
        assert!(analogies.recent.len() <= EXAMPLES_MAX);
    }

    proptest! {
        #[test]
        fn a_gap_is_where_two_urls_differ(one in "[ab/.-]{1,12}", other in "[ab/.-]{1,12}") {
            let (one, other) = (url(&one), url(&other));
            if let Some(gapped) = Gapped::of(&one, &other) {
                for url in [&one, &other] {
                    let gap = gapped.gap(url).unwrap();
                    prop_assert_eq!(&format!("{}{gap}{}", gapped.before, gapped.after), url);
                }
            }
        }

        #[test]
        fn any_text_is_survived(texts in prop::collection::vec("\\PC{0,12}", 2..9)) {
            let mut analogies = Analogies::default();
            for pair in texts.windows(2) {
                analogies.learn(&pair[0], &[&pair[1]]);
                analogies.guesses(&pair[1]);
            }
        }
    }
}
