//! Numbers and tables in words.

use junkai_simulation::outcome::{Cell, Parameter};
use junkai_simulation::subject::{SEEDS, Subject};

pub(super) use junkai_simulation::outcome::{percent, signed as difference};

/// A count with a comma between thousands.
pub(super) fn count(number: u64) -> String {
    Cell::Count(number).to_string()
}

/// A share with three decimals.
pub(super) fn share(share: f64) -> String {
    format!("{share:.3}")
}

/// Names joined as in a sentence.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A cell of text.
pub(super) fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// A cell with a count, if there is one.
pub(super) fn counted(number: Option<u32>) -> Cell {
    number.map_or(Cell::None, |number| Cell::Count(number.into()))
}

/// A parameter.
pub(super) fn parameter(name: &str, value: impl Into<String>) -> Parameter {
    Parameter {
        name: name.to_owned(),
        value: value.into(),
    }
}

/// Parameters that the experiments share.
pub(super) fn common_parameters(subjects: &[Subject]) -> Vec<Parameter> {
    let graphs: Vec<String> = subjects
        .iter()
        .map(|subject| {
            let pages = count(subject.value.reachable().into());
            format!("{} ({pages} pages that can be reached)", subject.web.name)
        })
        .collect();
    vec![
        parameter("graphs", graphs.join("; ")),
        fingerprints(subjects),
        parameter(
            "starts",
            format!("the first page of each of the {SEEDS} largest strongly connected components"),
        ),
        parameter(
            "PageRank",
            "damping 0.85, shared out among the pages that can be reached",
        ),
    ]
}

/// What the links of each graph are known by: equal for equal links, on every machine.
pub(super) fn fingerprints<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> Parameter {
    let fingerprints: Vec<String> = subjects
        .into_iter()
        .map(|subject| {
            let fingerprint = subject.web.links.fingerprint();
            format!("{} {:032x}", subject.web.name, fingerprint.0)
        })
        .collect();
    parameter("fingerprints of the links", fingerprints.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_signs_unless_they_are_none() {
        assert_eq!(difference(0.0314), "+0.031");
        assert_eq!(difference(-0.0314), "−0.031");
        assert_eq!(difference(-0.0004), "±0.000");
    }

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        let names = |text: &str| {
            text.split_terminator(' ')
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(listed(&names("")), "none");
        assert_eq!(listed(&names("a")), "a");
        assert_eq!(listed(&names("a b c")), "a, b and c");
    }
}
