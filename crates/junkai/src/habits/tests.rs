use std::fmt::Write as _;
use std::path::Path;

use clap::Parser as _;
use junkai_crawler::Settings;

use super::*;
use crate::{Arguments, Command};

/// What a command line comes to: the seeds with all other settings, the archive, and whether little is said.
#[derive(Debug, PartialEq)]
struct Meaning {
    settings: Settings,
    archive: Option<std::path::PathBuf>,
    is_quiet: bool,
}

fn parsed(flags: &str) -> Result<Meaning, String> {
    let line = format!("junkai crawl example.org {flags}");
    let words = line.split_whitespace().map(OsString::from).collect();
    let arguments = Arguments::try_parse_from(translated(words)?);
    let arguments = arguments.map_err(|error| {
        instead(&error).unwrap_or_else(|| panic!("clap says of {flags}: {error}"))
    })?;
    let Command::Crawl(mut arguments) = arguments.command else {
        panic!("{flags}");
    };
    let nowhere = Path::new("no/such/archive");
    Ok(Meaning {
        settings: arguments.settings_for_test(nowhere),
        archive: arguments.archive_for_test(),
        is_quiet: arguments.is_quiet_for_test(),
    })
}

#[test]
fn every_row_of_the_table_means_what_it_says() {
    for habit in HABITS {
        for theirs in habit.theirs {
            match (&habit.ours, parsed(theirs)) {
                (Same(ours), Ok(meaning)) => {
                    assert!(meaning == parsed(ours).unwrap(), "{theirs} is not {ours}");
                    assert!(Ok(meaning) != parsed(""), "{theirs} does nothing");
                }
                (Anyway(_), Ok(meaning)) => {
                    assert!(Ok(meaning) == parsed(""), "{theirs} does something");
                }
                (Instead(told), Err(said)) => assert!(said.ends_with(told), "{theirs}: {said}"),
                (_, other) => panic!("{theirs}: {other:?}"),
            }
        }
    }
}

#[test]
fn nothing_is_translated_that_is_not_a_crawls() {
    let words =
        |line: &str| -> Vec<OsString> { line.split_whitespace().map(OsString::from).collect() };
    for line in [
        "junkai",
        "junkai changes -np",
        "junkai crawl a.example -- -np",
        "junkai -v crawl a.example --seeds-file x",
    ] {
        assert_eq!(translated(words(line)).unwrap(), words(line));
    }
    let line = translated(words("junkai -v crawl a.example -np")).unwrap();
    assert_eq!(line, words("junkai -v crawl a.example --no-parent"));
}

#[test]
fn generated_pages_have_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming-from.md");
    let wanted = documentation();
    if std::env::var_os("JUNKAI_WRITE_PAGES").is_some() {
        std::fs::write(&page, wanted).unwrap();
        return;
    }
    let present = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        present == wanted,
        "docs/coming-from.md is out of date; run `cargo xtask pages`"
    );
}

fn documentation() -> String {
    let mut text = "# Coming from wget, Scrapy or Browsertrix\n\n\
        `junkai crawl` takes the flags of these that hands know, as far as they mean something here; of the others it says what to use instead. \
        `junkai crawl --help` shows its own. Times without a unit are seconds.\n\n\
        What is different by default: links are followed within the seed's host (`--scope`), what pages need to be shown is fetched, robots.txt is obeyed, a server \
        is visited once in 5 s at most (`--interval`), and the crawl goes on until it is stopped (`--once` ends it when every page was visited once).\n"
        .to_owned();
    for (whose, name) in [
        (Wget, "wget"),
        (Scrapy, "Scrapy"),
        (Browsertrix, "Browsertrix"),
    ] {
        write!(text, "\n## {name}\n\n| {name} | junkai |\n| --- | --- |\n").unwrap();
        for habit in HABITS.iter().filter(|habit| habit.whose == whose) {
            let theirs: Vec<String> = habit.theirs.iter().map(|it| format!("`{it}`")).collect();
            let ours = match habit.ours {
                Same(flags) => format!("the same as `{flags}`"),
                Anyway(why) => format!("taken, and not needed: {why}"),
                Instead(told) => format!("refused: {told}"),
            };
            writeln!(
                text,
                "| {} | {} |",
                theirs.join(", "),
                ours.replace('|', "\\|")
            )
            .unwrap();
        }
    }
    text
}
