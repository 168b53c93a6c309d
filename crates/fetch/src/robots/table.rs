//! The rules of one robots.txt, compiled: few bytes a rule, and an answer in a time that is bounded by the length of the path.
//!
//! Equal rules are folded into one. Patterns without wildcards are sorted by their text and found by one binary search; each knows the
//! longest other one that it begins with, so that the longest that begins the path is a few steps away. Patterns with wildcards are
//! tried one by one, most specific first, and only where a quick look does not rule them out; of these at most
//! [`WILDCARDS_TRIED_MAX`]. A file that would need more is not obeyed to the letter but beyond it: the page is left alone.
//!
//! Not here: what a pattern matches (`pattern`), and which group of a file counts (`parser`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem::size_of_val;

use super::pattern::{Pattern, Target, encode_query, matches};
use super::{Because, DecidingLine, Decision};

/// Patterns with wildcards that are tried for one path. Honest files need a few dozen: most patterns are ruled out by a quick look.
pub(super) const WILDCARDS_TRIED_MAX: usize = 256;
/// What a question may cost to be quick: octets of the path times patterns that may have to be tried, about ten microseconds.
const QUICK_STEPS_MAX: usize = 16 << 10;
/// Set in [`Rule::line`] when the rule allows.
const ALLOW: u32 = 1 << 31;

/// Rules as they are read, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Drafts {
    /// By the text of the pattern, its anchor included: the line, with [`ALLOW`].
    lines: BTreeMap<Box<str>, u32>,
}

/// Compiled rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// The patterns of all rules one after the other, then the second forms.
    text: Box<str>,
    /// Plain prefixes by their text, then anchored ones without wildcards by their text, then those with wildcards, most specific first.
    rules: Box<[Rule]>,
    /// For each plain prefix the place of the longest other one that it begins with, plus one; 0 if there is none.
    parents: Box<[u32]>,
    /// Where the patterns with wildcards begin.
    wildcards_at: u32,
    /// The second forms of patterns that have one, most specific first.
    seconds: Box<[SecondForm]>,
}

/// A rule: its pattern ends here in the text, where the next one's begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    end: u32,
    line: u32,
}

/// The second form of a rule's pattern: where it ends in the text, where the next one's begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SecondForm {
    rule: u32,
    end: u32,
}

/// What decides between two rules that match: octets of the pattern, then whether it allows, then which comes first.
type Weight = (usize, bool, Reverse<u32>);

impl Drafts {
    /// Takes in a rule. Of equal patterns one that allows wins, and then the first.
    pub(super) fn add(&mut self, pattern: Pattern, allow: bool, line: u32) {
        let line = line & !ALLOW | if allow { ALLOW } else { 0 };
        let kept = self.lines.entry(pattern.into_text()).or_insert(line);
        if rank(*kept) < rank(line) {
            *kept = line;
        }
    }

    pub(super) fn compile(self) -> Table {
        let (mut wildcards, plain): (Vec<_>, Vec<_>) =
            (self.lines.into_iter()).partition(|(text, _)| text.contains('*'));
        let (mut anchored, mut all): (Vec<_>, Vec<_>) =
            plain.into_iter().partition(|(text, _)| text.ends_with('$'));
        anchored.sort_unstable_by(|(text, _), (other, _)| unanchored(text).cmp(unanchored(other)));
        wildcards.sort_unstable_by_key(|(text, line)| Reverse((text.len(), rank(*line))));
        let prefixes = all.len();
        all.append(&mut anchored);
        let wildcards_at = all.len();
        all.append(&mut wildcards);
        let mut table = Table {
            parents: parents(&all[..prefixes]),
            wildcards_at: narrow(wildcards_at),
            ..Table::default()
        };
        let mut text = String::new();
        let rules = all.iter().map(|(pattern, line)| {
            text.push_str(pattern);
            let end = narrow(text.len());
            Rule { end, line: *line }
        });
        table.rules = rules.collect();
        let mut seconds: Vec<(u32, String)> = (0..)
            .zip(&all)
            .filter_map(|(rule, (pattern, _))| Some((rule, encode_query(pattern)?)))
            .collect();
        seconds.sort_by_key(|(rule, _)| {
            let (pattern, line) = &all[*rule as usize];
            Reverse((pattern.len(), rank(*line)))
        });
        let seconds = seconds.into_iter().map(|(rule, encoded)| {
            text.push_str(&encoded);
            let end = narrow(text.len());
            SecondForm { rule, end }
        });
        table.seconds = seconds.collect();
        table.text = text.into();
        table
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Bytes of memory that it points to.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
            + size_of_val(&*self.rules)
            + size_of_val(&*self.parents)
            + size_of_val(&*self.seconds)
    }

    /// Whether a question about a path of this length costs next to nothing.
    pub(super) fn is_quick(&self, path_length: usize) -> bool {
        let tried = self.rules.len() - self.wildcards_at as usize + self.seconds.len();
        path_length.saturating_mul(1 + tried) <= QUICK_STEPS_MAX
    }

    /// Each rule's line, whether it allows, and its pattern, its anchor included.
    pub(super) fn iter(&self) -> impl Iterator<Item = DecidingLine<'_>> {
        (0..self.rules.len()).map(|rule| self.line(rule))
    }

    pub(super) fn decide(&self, target: &Target) -> Decision<'_> {
        let mut question = Question {
            table: self,
            first: Path::new(target.plain()),
            second: target.encoded().map(Path::new),
            best: None,
            tried: 0,
        };
        question.ask_plain();
        let is_answered = question.ask_wildcards() && question.ask_seconds();
        let because = match question.best {
            _ if !is_answered => Because::TooManyWildcards,
            Some(rule) => Because::Line(self.line(rule)),
            None => Because::NoRule,
        };
        Decision { because }
    }

    fn pattern(&self, rule: usize) -> &str {
        let start = rule.checked_sub(1).map_or(0, |last| self.rules[last].end);
        &self.text[start as usize..self.rules[rule].end as usize]
    }

    fn second(&self, place: usize) -> &str {
        let start = match place.checked_sub(1) {
            Some(last) => self.seconds[last].end,
            None => self.rules.last().map_or(0, |rule| rule.end),
        };
        &self.text[start as usize..self.seconds[place].end as usize]
    }

    fn line(&self, rule: usize) -> DecidingLine<'_> {
        let line = self.rules[rule].line;
        DecidingLine {
            number: line & !ALLOW,
            allow: line & ALLOW != 0,
            pattern: self.pattern(rule),
        }
    }

    fn weight(&self, rule: usize) -> Weight {
        let (allow, line) = rank(self.rules[rule].line);
        (self.pattern(rule).len(), allow, line)
    }

    /// The longest of the plain prefixes that begins the path.
    fn longest_prefix(&self, path: &str) -> Option<usize> {
        let after = partition_point(0..self.parents.len(), |rule| self.pattern(rule) <= path);
        // Whatever begins the path also begins the last pattern that is not behind it.
        let mut rule = after.checked_sub(1)?;
        let common = common_length(self.pattern(rule), path);
        while common < self.pattern(rule).len() {
            rule = (self.parents[rule] as usize).checked_sub(1)?;
        }
        Some(rule)
    }

    /// The anchored pattern without wildcards that is the path.
    fn exact(&self, path: &str) -> Option<usize> {
        let anchored = self.parents.len()..self.wildcards_at as usize;
        let text = |rule| unanchored(self.pattern(rule));
        let rule = partition_point(anchored.clone(), |rule| text(rule) < path);
        (anchored.contains(&rule) && text(rule) == path).then_some(rule)
    }
}

/// A path in one form, with what tells quickly that a pattern does not match it.
struct Path<'a> {
    text: &'a str,
    /// Which two octets stand side by side in it; made when first needed.
    pairs: Option<Box<[u64; 1024]>>,
}

impl<'a> Path<'a> {
    fn new(text: &'a str) -> Path<'a> {
        Path { text, pairs: None }
    }

    /// Whether a pattern with wildcards may match. Looks at its start, its length and its last two octets.
    fn may_match(&mut self, pattern: &str) -> bool {
        let pattern = unanchored(pattern);
        let start = pattern.split('*').next().unwrap_or_default();
        let last = pattern.rsplit('*').next().unwrap_or_default();
        // No two stars stand side by side.
        let octets_min = pattern.len() / 2;
        octets_min <= self.text.len()
            && self.text.starts_with(start)
            && match last.as_bytes() {
                [.., first, second] => self.has_pair(*first, *second),
                [] | [_] => true,
            }
    }

    fn has_pair(&mut self, first: u8, second: u8) -> bool {
        let place = |first: u8, second: u8| (usize::from(first) << 8 | usize::from(second)) / 64;
        let bit = |second: u8| 1_u64 << (second % 64);
        let pairs = self.pairs.get_or_insert_with(|| {
            let mut pairs = Box::new([0; 1024]);
            for pair in self.text.as_bytes().windows(2) {
                pairs[place(pair[0], pair[1])] |= bit(pair[1]);
            }
            pairs
        });
        pairs[place(first, second)] & bit(second) != 0
    }
}

/// One question, as far as it is answered.
struct Question<'a> {
    table: &'a Table,
    first: Path<'a>,
    /// The second form of the path, where it differs.
    second: Option<Path<'a>>,
    /// The weightiest rule that matches so far.
    best: Option<usize>,
    /// Patterns with wildcards that were tried.
    tried: usize,
}

impl Question<'_> {
    fn ask_plain(&mut self) {
        let second = self.second.as_ref().map(|path| path.text);
        for path in [Some(self.first.text), second].into_iter().flatten() {
            let found = [self.table.longest_prefix(path), self.table.exact(path)];
            let found = found.into_iter().flatten().chain(self.best);
            self.best = found.max_by_key(|rule| self.table.weight(*rule));
        }
    }

    /// False if too many patterns would have to be tried.
    fn ask_wildcards(&mut self) -> bool {
        let table = self.table;
        for rule in table.wildcards_at as usize..table.rules.len() {
            if self.is_outweighed(rule) {
                break;
            }
            let pattern = table.pattern(rule);
            for path in [Some(&mut self.first), self.second.as_mut()]
                .into_iter()
                .flatten()
            {
                match tries(&mut self.tried, pattern, path) {
                    Some(true) => {
                        self.best = Some(rule);
                        return true;
                    }
                    Some(false) => {}
                    None => return false,
                }
            }
        }
        true
    }

    /// The same for second forms, which are for the second form of the path alone.
    fn ask_seconds(&mut self) -> bool {
        let table = self.table;
        for (place, second) in table.seconds.iter().enumerate() {
            let rule = second.rule as usize;
            if self.is_outweighed(rule) {
                break;
            }
            let path = self.second.as_mut().unwrap_or(&mut self.first);
            match tries(&mut self.tried, table.second(place), path) {
                Some(true) => {
                    self.best = Some(rule);
                    return true;
                }
                Some(false) => {}
                None => return false,
            }
        }
        true
    }

    fn is_outweighed(&self, rule: usize) -> bool {
        let weight = self.table.weight(rule);
        self.best
            .is_some_and(|best| weight < self.table.weight(best))
    }
}

/// Whether a pattern matches a path; none if too many with wildcards were tried before.
fn tries(tried: &mut usize, pattern: &str, path: &mut Path<'_>) -> Option<bool> {
    let has_wildcards = pattern.contains('*');
    if has_wildcards && !path.may_match(pattern) {
        return Some(false);
    }
    if has_wildcards {
        if WILDCARDS_TRIED_MAX <= *tried {
            return None;
        }
        *tried += 1;
    }
    Some(matches(pattern, path.text.as_bytes()))
}

fn unanchored(pattern: &str) -> &str {
    pattern.strip_suffix('$').unwrap_or(pattern)
}

/// A line's part in the weight of its rule.
fn rank(line: u32) -> (bool, Reverse<u32>) {
    (line & ALLOW != 0, Reverse(line & !ALLOW))
}

/// For each of the sorted texts the place of the longest other one that it begins with, plus one.
fn parents(sorted: &[(Box<str>, u32)]) -> Box<[u32]> {
    let mut open: Vec<usize> = Vec::new();
    let parent_of = |(place, (text, _)): (usize, &(Box<str>, u32))| {
        while open
            .pop_if(|last| !text.starts_with(&*sorted[*last].0))
            .is_some()
        {}
        let parent = open.last().map_or(0, |parent| narrow(parent + 1));
        open.push(place);
        parent
    };
    sorted.iter().enumerate().map(parent_of).collect()
}

/// The first place of the range for which `is_before` does not hold; it holds for all before.
fn partition_point(range: std::ops::Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (range.start, range.end);
    while start < end {
        let middle = start.midpoint(end);
        if is_before(middle) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

fn common_length(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}

/// A place in the text, which is a few times as long as a robots.txt at most.
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
