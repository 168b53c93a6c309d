use junkai_simulation::outcome::{Cell, Column, Parameter, Table};

use super::*;

/// An outcome in which every text is hostile.
fn hostile() -> Outcome {
    let text = || "<script>alert('&\"')</script>]]>\u{0}".to_owned();
    Outcome {
        name: text(),
        title: text(),
        command: text(),
        parameters: vec![Parameter {
            name: text(),
            value: text(),
        }],
        findings: vec![text()],
        claims: vec![Claim {
            source: text(),
            claim: text(),
            graph: text(),
            measured: text(),
            verdict: Verdict::Partly,
        }],
        tables: vec![Table {
            name: text(),
            caption: text(),
            columns: vec![Column::new(text(), text()), Column::new("b", text())],
            rows: vec![vec![Cell::Text(text()), Cell::Share(0.5)], vec![]],
        }],
        figures: Vec::new(),
    }
}

#[test]
fn no_text_becomes_markup() {
    let page = html(&[hostile()], &[]);
    assert!(!page.contains("<script"));
    assert!(!page.contains('\u{0}'));
    assert!(page.contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)"));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = html(&[hostile()], &[]);
    for way in ["src=", "@import", "url(", "<link", "http://", "https://"] {
        assert!(!page.contains(way), "{way} in the page");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn an_empty_report_is_a_page() {
    let page = html(&[], &[]);
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.ends_with("</html>\n"));
}
