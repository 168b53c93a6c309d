//! Lays the live view out: from counters to lines that fit the terminal, whatever its size. Pure; [`terminal`](super::terminal) draws.
//!
//! A cell is a name, a value and a note. Cells stand side by side in as many columns as there is room for, and those that matter least are left out
//! where there are not rows enough.

use std::time::Duration;

use junkai_crawler::Snapshot;
use junkai_simulation::outcome::grouped;
use junkai_terminal::block::{Line, Piece, Size, Tone, columns_of};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{bytes, clock};
use crate::print::{short, shown, with_short_words};
use crate::telling::counted;

/// Columns that a cell takes at least; below, everything is cut.
const CELL_COLUMNS_MIN: usize = 40;
/// More cells side by side are hard to read.
const CELLS_ABREAST_MAX: usize = 3;
/// Columns of a cell's name, and of its value.
const NAME_COLUMNS: usize = 9;
const VALUE_COLUMNS: usize = 11;
/// Columns of the chart in the first line, and of the name of the archive beside it at least.
const CHART_COLUMNS_MAX: usize = 60;
const TITLE_COLUMNS_MIN: usize = 44;
/// Lines that a notice may take.
const NOTICE_LINES_MAX: usize = 3;

/// What the view shows.
pub(super) struct View<'a> {
    pub(super) now: &'a Snapshot,
    pub(super) elapsed: Duration,
    pub(super) archive: &'a str,
    pub(super) pages_per_second: f64,
    pub(super) bytes_per_second: u64,
    /// Pages of each of the last seconds, the latest last.
    pub(super) recent: &'a [f64],
}

fn piece(tone: Tone, text: impl Into<String>) -> Piece {
    let text = text.into();
    Piece { text, tone }
}

/// The view's lines: each fits, and so do all of them with a line to spare.
pub(super) fn lines(view: &View<'_>, size: Size) -> Vec<Line> {
    // The last column stays free: some terminals begin a new line when it is written to.
    let columns = size.columns.saturating_sub(1).max(1);
    let rows = size.rows.saturating_sub(1).max(1);
    let mut lines = vec![title(view, columns)];
    let notices = notices(view.now, columns);
    let rows_of_cells = rows.saturating_sub(lines.len() + notices.len());
    lines.extend(table(&cells(view), columns, rows_of_cells));
    lines.extend(notices);
    lines.truncate(rows);
    lines
}

/// Name, time and archive, and how many pages the last seconds brought.
fn title(view: &View<'_>, columns: usize) -> Line {
    let mut line = vec![
        piece(Tone::Strong, "junkai"),
        piece(Tone::Dim, format!("  {}  ", clock(view.elapsed))),
        piece(Tone::Plain, shown(view.archive)),
    ];
    let room = columns.saturating_sub(TITLE_COLUMNS_MIN);
    let chart = chart(view.recent, room.min(CHART_COLUMNS_MAX));
    cut(&mut line, columns - chart.width());
    if !chart.is_empty() {
        let gap = columns - chart.width() - columns_of(&line);
        line.push(piece(Tone::Plain, " ".repeat(gap)));
        line.push(piece(Tone::Good, chart));
    }
    line
}

/// Bars for the latest values, the highest of which is a whole one.
fn chart(values: &[f64], columns: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let shown = &values[values.len().saturating_sub(columns)..];
    let most = shown.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| {
        let highest = BARS.len() - 1;
        let step = (0..highest).find(|step| value / most * (highest as f64) <= *step as f64);
        BARS[step.unwrap_or(highest)]
    };
    if most == 0.0 {
        return String::new();
    }
    shown.iter().map(bar).collect()
}

struct Cell {
    name: &'static str,
    value: String,
    note: String,
    tone: Tone,
}

/// The cells in pairs that belong together, the least important last.
fn cells(view: &View<'_>) -> Vec<Cell> {
    let now = view.now;
    let rates = [
        format!("{:.1}/s", view.pages_per_second),
        format!("{}/s", bytes(view.bytes_per_second)),
    ];
    let [pages_rate, bytes_rate] = rates;
    let mut cells = vec![
        cell("pages", grouped(now.pages), pages_rate),
        cell("received", bytes(now.bytes_received), bytes_rate),
        cell("known", grouped(now.known), "URLs"),
        cell(
            "waiting",
            grouped(now.waiting),
            noted(now.in_flight, "in flight"),
        ),
    ];
    if 0 < now.focus_sites {
        cells.extend([
            cell("fetched", grouped(now.focus_fetches), "to explore"),
            cell(
                "sites",
                grouped(now.focus_sites),
                noted(now.focus_files, "files"),
            ),
        ]);
    }
    cells.extend([
        cell("errors", grouped(now.errors), noted(now.retried, "retried")).warns_if(0 < now.errors),
        cell("servers", grouped(now.servers), noted(now.hosts, "hosts")),
        cell(
            "revisits",
            grouped(now.revisits),
            noted(now.changed, "changed"),
        ),
        cell("next", next_revisit(now), next_note(now)),
        cell("archive", bytes(now.bytes_stored), "written"),
        disk(now),
        cell("robots", grouped(now.robots_denied), "kept out"),
        cell("rest", grouped(now.overloaded), "asked for").warns_if(0 < now.overloaded),
    ]);
    cells
}

fn disk(now: &Snapshot) -> Cell {
    if now.disk_full {
        Cell {
            tone: Tone::Bad,
            ..cell("disk", bytes(now.disk_free), "FULL: paused")
        }
    } else {
        cell("disk", bytes(now.disk_free), "free")
    }
}

fn cell(name: &'static str, value: String, note: impl Into<String>) -> Cell {
    Cell {
        name,
        value,
        note: note.into(),
        tone: Tone::Strong,
    }
}

fn noted(count: u64, what: &str) -> String {
    format!("{} {what}", grouped(count))
}

impl Cell {
    fn warns_if(self, is_bad: bool) -> Cell {
        let tone = if is_bad { Tone::Warning } else { self.tone };
        Cell { tone, ..self }
    }
}

/// The cells, as many abreast as there is room for, in so many rows at most.
fn table(cells: &[Cell], columns: usize, rows: usize) -> Vec<Line> {
    let abreast = (columns / CELL_COLUMNS_MIN).clamp(1, CELLS_ABREAST_MAX);
    let width = columns / abreast;
    let row = |cells: &[Cell]| {
        let mut line = Line::new();
        for (at, cell) in cells.iter().enumerate() {
            let mut pieces = vec![
                piece(Tone::Dim, format!("  {:<NAME_COLUMNS$}", cell.name)),
                piece(cell.tone, format!("{:>VALUE_COLUMNS$}", cell.value)),
                piece(Tone::Dim, format!("  {}", cell.note)),
            ];
            cut(&mut pieces, width);
            let is_last = at + 1 == cells.len();
            if !is_last {
                let gap = width - columns_of(&pieces);
                pieces.push(piece(Tone::Plain, " ".repeat(gap)));
            }
            line.extend(pieces);
        }
        line
    };
    cells.chunks(abreast).take(rows).map(row).collect()
}

/// What does not go as it should.
fn notices(now: &Snapshot, columns: usize) -> Vec<Line> {
    let mut notices = Vec::new();
    let mut add = |name: &str, tone, text: &str| {
        notices.extend(notice(name, tone, text, columns));
    };
    if let Some(paused) = paused(now) {
        add("paused", Tone::Warning, &paused);
    }
    if let Some(shared) = shared(now) {
        add("waiting", Tone::Warning, &shared);
    }
    if let Some(missing) = missing(now) {
        add("missing", Tone::Bad, &missing);
    }
    if let Some(trouble) = &now.trouble {
        add("trouble", Tone::Warning, &shown(trouble));
    }
    notices
}

/// A name, and a text beside it in a few lines.
fn notice(name: &str, tone: Tone, text: &str, columns: usize) -> Vec<Line> {
    let name = format!("  {name:<NAME_COLUMNS$}");
    let room = columns.saturating_sub(name.width()).max(1);
    // A URL leaves a line for what is said of it.
    let text = with_short_words(text, room * (NOTICE_LINES_MAX - 1) - 1);
    let mut texts = wrapped(&text, room);
    if NOTICE_LINES_MAX < texts.len() {
        let rest = texts.split_off(NOTICE_LINES_MAX - 1).join(" ");
        texts.push(cut_text(&rest, room));
    }
    let blank = " ".repeat(name.width());
    let line = |(at, text): (usize, String)| {
        let name = if at == 0 { &name } else { &blank };
        let mut line = vec![piece(tone, name), piece(Tone::Plain, text)];
        cut(&mut line, columns);
        line
    };
    texts.into_iter().enumerate().map(line).collect()
}

/// Breaks a text at blanks, and words that are too long anywhere.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word;
        loop {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            let gap = usize::from(!line.is_empty());
            if line.width() + gap + word.width() <= columns {
                line.push_str(&" ".repeat(gap));
                line.push_str(word);
                break;
            }
            if line.is_empty() {
                let end =
                    end_within(word, columns).max(word.chars().next().map_or(0, char::len_utf8));
                line.push_str(&word[..end]);
                word = &word[end..];
                if word.is_empty() {
                    break;
                }
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Cuts a line to so many columns, and shows that it was cut.
fn cut(line: &mut Line, columns: usize) {
    if columns_of(line) <= columns {
        return;
    }
    let mut left = columns;
    for piece in line.iter_mut() {
        if left < piece.text.width() {
            piece.text = cut_text(&piece.text, left);
        }
        left -= piece.text.width();
    }
}

/// A text of so many columns at most; a longer one ends with an ellipsis.
fn cut_text(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    match columns.checked_sub(1) {
        Some(room) => format!("{}…", &text[..end_within(text, room)]),
        None => String::new(),
    }
}

/// Where the characters end that together take so many columns at most.
fn end_within(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if columns < taken {
            return at;
        }
    }
    text.len()
}

/// When the next known page is due.
pub(super) fn next_revisit(now: &Snapshot) -> String {
    match now.next_due.checked_sub(now.now) {
        _ if now.next_due == 0 => "-".to_owned(),
        None | Some(0) => "now".to_owned(),
        Some(micros) => format!("in {}", short(micros as f64 / 1e6)),
    }
}

/// Of how many pages, and whether there is nothing to do until then.
fn next_note(now: &Snapshot) -> String {
    let is_idle = now.waiting == 0 && now.in_flight == 0 && now.now < now.next_due;
    let sleeping = if is_idle { ", sleeping" } else { "" };
    format!("of {}{sleeping}", counted(now.pages_known, "page"))
}

/// What does not go on, and why, if anything.
pub(super) fn paused(now: &Snapshot) -> Option<String> {
    if now.disk_full {
        return Some("the disk is full".to_owned());
    }
    if now.all_paused {
        return Some("everything, until `junkai resume --all`".to_owned());
    }
    (0 < now.paused).then(|| counted(now.paused, "host or server"))
}

/// That servers are waited for because of another crawl, in a line; nothing if none is.
pub(super) fn shared(now: &Snapshot) -> Option<String> {
    let servers = now.servers_waited_for;
    (0 < servers).then(|| {
        let servers = counted(servers, "server");
        format!("for another crawl of this machine: {servers}")
    })
}

/// What was found and is not followed, or is lost, in a line; nothing if all is well.
pub(super) fn missing(now: &Snapshot) -> Option<String> {
    let parts = [
        (now.bodies_cut, "answers cut"),
        (now.links_left_out, "links left out"),
        (now.urls_refused, "URLs refused"),
        (now.visits_lost, "waiting visits LOST"),
        (now.states_lost, "page states LOST"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| 0 < *count)
        .map(|(count, what)| format!("{} {what}", grouped(count)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn busy() -> Snapshot {
        Snapshot {
            pages: 1_234_567,
            known: 98_765_432,
            waiting: 87_654_321,
            in_flight: 512,
            errors: 3,
            servers: 4_321,
            disk_full: true,
            focus_sites: 7,
            urls_refused: 12,
            trouble: Some(format!(
                "https://example.org/{}: connection refused 日本語",
                "a".repeat(90)
            )),
            ..Snapshot::default()
        }
    }

    fn view<'a>(now: &'a Snapshot, recent: &'a [f64]) -> View<'a> {
        View {
            now,
            elapsed: Duration::from_secs(3_661),
            archive: "archives/日本のウェブ",
            pages_per_second: 12.34,
            bytes_per_second: 1_234_567,
            recent,
        }
    }

    fn text(lines: &[Line]) -> Vec<String> {
        let text = |line: &Line| line.iter().map(|piece| piece.text.as_str()).collect();
        lines.iter().map(text).collect()
    }

    proptest! {
        #[test]
        fn every_line_fits_and_so_do_all(columns in 1_usize..250, rows in 1_usize..60, trouble in "\\PC{0,300}") {
            let mut now = busy();
            now.trouble = Some(trouble);
            let recent: Vec<f64> = (0..90).map(f64::from).collect();
            let lines = lines(&view(&now, &recent), Size { columns, rows });
            prop_assert!(lines.len() < rows.max(2));
            for line in &lines {
                prop_assert!(columns_of(line) < columns.max(2), "{columns}: {line:?}");
            }
        }
    }

    #[test]
    fn there_are_as_many_cells_abreast_as_there_is_room_for() {
        let now = Snapshot {
            pages: 7,
            ..Snapshot::default()
        };
        for (columns, abreast) in [
            (40, 1),
            (50, 1),
            (80, 1),
            (81, 2),
            (120, 2),
            (121, 3),
            (200, 3),
        ] {
            let lines = text(&lines(&view(&now, &[]), Size { columns, rows: 40 }));
            let names = ["pages", "received", "known"];
            let found = names.iter().filter(|name| lines[1].contains(*name)).count();
            assert_eq!(found, abreast, "{columns}: {lines:#?}");
        }
    }

    #[test]
    fn it_is_said_that_another_crawl_is_waited_for() {
        let mut now = busy();
        let shown = |now: &Snapshot| {
            let size = Size {
                columns: 100,
                rows: 40,
            };
            text(&lines(&view(now, &[]), size)).join("\n")
        };
        assert!(!shown(&now).contains("another crawl"));
        now.servers_waited_for = 2;
        let said = "for another crawl of this machine: 2 servers";
        assert!(shown(&now).contains(said), "{}", shown(&now));
    }

    #[test]
    fn trouble_is_shown_however_small_the_terminal_is() {
        let now = busy();
        for (columns, rows) in [(120, 40), (80, 24), (50, 20), (40, 8)] {
            let lines = text(&lines(&view(&now, &[]), Size { columns, rows }));
            let all = lines.join("\n");
            assert!(all.contains("trouble"), "{all}");
            assert!(all.contains("pages"), "{all}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_however_long_the_url_is() {
        let mut now = busy();
        now.trouble = Some(format!(
            "https://example.org/{}: refused",
            "a".repeat(20_000)
        ));
        for (columns, rows) in [(200, 40), (80, 24), (50, 20), (40, 20)] {
            let all = text(&lines(&view(&now, &[]), Size { columns, rows })).join("\n");
            assert!(all.contains("https://example.org"), "{all}");
            assert!(all.contains("refused"), "{columns}: {all}");
        }
    }

    #[test]
    fn a_chart_is_as_high_as_its_highest_value() {
        assert_eq!(chart(&[0.0, 1.0, 2.0, 4.0], 10), "▁▃▅█");
        assert_eq!(chart(&[1.0, 2.0], 1), "█");
        assert_eq!(chart(&[0.0, 0.0], 10), "");
        assert_eq!(chart(&[1.0], 0), "");
    }

    #[test]
    fn long_words_are_broken_and_others_stay() {
        assert_eq!(wrapped("ab cd efghij", 5), ["ab cd", "efghi", "j"]);
        assert_eq!(wrapped("日本語", 3), ["日", "本", "語"]);
    }
}
