use proptest::prelude::*;

use super::*;
use crate::robots::{ROBOTS_LENGTH_MAX, Robots};

/// The obvious decision: every rule is tried, longest first, one that allows first among equals, then the first.
fn decide_obviously(rules: &[(bool, String)], path: &str) -> Option<(u32, bool)> {
    let target = Target::new(path);
    let second = target.encoded().unwrap_or(target.plain());
    let mut matching: Vec<(Weight, bool)> = (1..)
        .zip(rules)
        .filter_map(|(line, (allow, value))| {
            let text = Pattern::parse(value.as_bytes())?.into_text();
            let encoded = encode_query(&text);
            let is_match = matches(&text, target.plain().as_bytes())
                || matches(encoded.as_deref().unwrap_or(&text), second.as_bytes());
            is_match.then_some(((text.len(), *allow, Reverse(line)), *allow))
        })
        .collect();
    matching.sort_unstable();
    let ((_, _, Reverse(line)), allow) = *matching.last()?;
    Some((line, allow))
}

fn compile(rules: &[(bool, String)]) -> Table {
    let mut drafts = Drafts::default();
    for (line, (allow, value)) in (1..).zip(rules) {
        if let Some(pattern) = Pattern::parse(value.as_bytes()) {
            drafts.add(pattern, *allow, line);
        }
    }
    drafts.compile()
}

fn any_rules(pattern: &'static str) -> impl Strategy<Value = Vec<(bool, String)>> {
    prop::collection::vec((any::<bool>(), pattern), 0..40)
}

fn check(rules: &[(bool, String)], path: &str) {
    let table = compile(rules);
    let decided = match table.decide(&Target::new(path)).because {
        Because::NoRule => None,
        Because::Line(line) => Some((line.number, line.allow)),
        Because::TooManyWildcards => panic!("forty rules are not too many"),
    };
    assert_eq!(
        decided,
        decide_obviously(rules, path),
        "{path} by {rules:?}"
    );
}

proptest! {
    #[test]
    fn the_decision_is_the_obvious_one(
        rules in any_rules("[/*][ab!*]{0,6}[$]?"),
        paths in prop::collection::vec("/[ab!]{0,8}", 1..10),
    ) {
        for path in &paths {
            check(&rules, path);
        }
    }

    #[test]
    fn so_it_is_with_queries_and_octets_that_are_encoded(
        rules in any_rules("/[a?:*]{0,4}(%3A|%3F|%2a|a|:|[?]){0,3}[$]?"),
        paths in prop::collection::vec("/[a?:]{0,4}(%3A|%3f|[*]|a|:|[?]|[$]){0,4}", 1..10),
    ) {
        for path in &paths {
            check(&rules, path);
        }
    }
}

#[test]
fn prefixes_within_prefixes_are_found_from_any_depth() {
    let rules: Vec<(bool, String)> = (1..60)
        .map(|length| (length % 3 == 0, format!("/{}", "a".repeat(length))))
        .collect();
    for length in 0..70 {
        check(&rules, &format!("/{}", "a".repeat(length)));
        check(&rules, &format!("/{}b", "a".repeat(length)));
        check(&rules, &format!("/{}!", "a".repeat(length)));
    }
}

/// A file of 500 KiB with as many rules as fit.
fn full_file(rule: impl Fn(usize) -> String) -> String {
    let mut file = "User-agent: *\n".to_owned();
    for number in 0.. {
        let rule = rule(number);
        if ROBOTS_LENGTH_MAX < file.len() + rule.len() + 1 {
            break;
        }
        file.push_str(&rule);
        file.push('\n');
    }
    file
}

#[test]
fn equal_rules_are_folded_into_one() {
    let file = full_file(|_| "Allow:/".to_owned());
    let robots = Robots::parse(file.as_bytes(), "junkai");
    assert_eq!(robots.rule_count(), 1);
    assert!(robots.bytes() < 300, "{}", robots.bytes());
}

#[test]
fn rules_take_about_as_many_bytes_as_their_lines() {
    let usual = full_file(|number| format!("Disallow: /folder/{number:05}/"));
    let shortest = full_file(|number| format!("Allow:/{number:x}"));
    for (file, percent_max) in [(usual, 105), (shortest, 150)] {
        let robots = Robots::parse(file.as_bytes(), "junkai");
        assert!(10_000 < robots.rule_count());
        let percent = robots.bytes() * 100 / file.len();
        assert!(percent <= percent_max, "{percent} % of the file");
    }
}

#[test]
fn rules_for_others_are_not_kept() {
    let lines = (0..1000).map(|number| format!("Disallow: /{number}\n"));
    let lines: String = lines.collect();
    for other in ["other", "*"] {
        let file = format!("User-agent: {other}\n{lines}User-agent: junkai\nAllow: /");
        assert_eq!(Robots::parse(file.as_bytes(), "junkai").rule_count(), 1);
    }
}

/// What the question about a path came to, and how many patterns with wildcards were tried.
fn effort(table: &Table, path: &str) -> (bool, usize) {
    let target = Target::new(path);
    let mut question = Question {
        table,
        first: Path::new(target.plain()),
        second: target.encoded().map(Path::new),
        best: None,
        tried: 0,
    };
    question.ask_plain();
    let is_answered = question.ask_wildcards() && question.ask_seconds();
    (is_answered, question.tried)
}

#[test]
fn however_many_wildcards_a_file_has_few_are_tried() {
    // None matches, and a quick look does not tell.
    let path = format!("/{}?{}", "ab".repeat(2000), "a:b".repeat(1000));
    for tail in ["ba", "ba?*:ab"] {
        let rules: Vec<(bool, String)> = (0..36_000)
            .map(|number| (true, format!("/*abb{number}*{tail}")))
            .collect();
        let table = compile(&rules);
        assert_eq!(table.len(), 36_000);
        let (is_answered, tried) = effort(&table, &path);
        assert!(!is_answered);
        assert_eq!(tried, WILDCARDS_TRIED_MAX);
        let decision = table.decide(&Target::new(&path));
        assert_eq!(decision.because, Because::TooManyWildcards);
        assert!(!decision.allow(), "on the safe side");
        assert!(!table.is_quick(path.len()));
    }
}

#[test]
fn patterns_that_cannot_match_are_not_tried() {
    let mut rules: Vec<(bool, String)> = (0..5000)
        .map(|number| (false, format!("/shop/{number}/*?sort=")))
        .collect();
    rules.extend((0..5000).map(|number| (false, format!("/*/{number}.html$"))));
    rules.push((false, "/*?print=".to_owned()));
    let table = compile(&rules);
    let (is_answered, tried) = effort(&table, "/shop/17/shoes?colour=red&print=1");
    assert!(is_answered);
    assert!(tried <= 2, "{tried}");
    check(&rules[4000..6000], "/shop/17/shoes?sort=1");
}

#[test]
fn usual_files_are_quick() {
    let rules: Vec<(bool, String)> = (0..20_000)
        .map(|number| (false, format!("/folder/{number}/")))
        .chain((0..100).map(|number| (false, format!("/*?parameter{number}="))))
        .collect();
    assert!(compile(&rules).is_quick(150));
    assert!(!compile(&rules).is_quick(8000));
}
