//! Says what the tables of a file are: how many rows, of what time, in which units, in which language.

use super::cell::Cell;
use super::features::Features;
use super::period::Period;
use super::shape::Shape;
use super::table::Table;
use super::unit::{self, Units};
use super::{Hints, Input, Inspection, Reading, TableShape};

/// Texts of the tables from which their language is told.
const LANGUAGE_BYTES: usize = 4096;

/// Says what the tables of a file are; how far it was read is for whoever read it to say.
pub(super) fn describe(input: &Input<'_>, tables: &[Table]) -> Inspection {
    let Input {
        bytes,
        hints,
        format,
    } = *input;
    let mut units = Units::default();
    let mut words = String::new();
    let mut title = None;
    let mut time_range: Option<Period> = None;
    let mut described = Vec::new();
    for table in tables {
        let shape = Shape::of(table);
        for text in shape.words() {
            units.look(text);
            if words.len() < LANGUAGE_BYTES {
                words.push_str(text);
                words.push('\n');
            }
        }
        look_for_unit_columns(&shape, &mut units);
        title = title.or_else(|| title_of(&shape));
        let period = period_of(&shape);
        time_range = match (time_range, period) {
            (Some(known), Some(period)) => Some(known.union(period)),
            (known, period) => known.or(period),
        };
        described.push(TableShape {
            name: table.name.clone(),
            rows: rows_of(table, &shape, hints, bytes.len()),
            columns: shape.columns,
        });
    }
    Inspection {
        format: Some(format),
        reading: Reading::Whole,
        features: Features::of(format, tables, &units),
        tables: described,
        title,
        time_range,
        units: units.into_vec(),
        language: language_of(&words, hints),
        has_macros: false,
    }
}

/// The language of the words. Headers are short and of nouns, so Japanese ones without a kana look Chinese.
fn language_of(words: &str, hints: &Hints<'_>) -> Option<String> {
    let language = junkai_page::language::of(words)?.code;
    let is_kana = |it: char| matches!(it, '\u{3041}'..='\u{30FF}');
    let is_japanese = words.contains(is_kana) || hints.top_level_domain() == Some("jp");
    if language == "zh" && is_japanese {
        Some("ja".to_owned())
    } else {
        Some(language)
    }
}

/// Rows of a table without title and header, in proportion where only the beginning of a file is at hand.
fn rows_of(table: &Table, shape: &Shape<'_>, hints: &Hints<'_>, length: usize) -> u64 {
    let beside = table.rows.len().saturating_sub(shape.body.len()) as u64;
    let rows = table.row_count.saturating_sub(beside);
    match hints.whole_bytes.filter(|_| hints.is_cut(length)) {
        Some(whole) => {
            let scaled = u128::from(rows) * u128::from(whole) / length.max(1) as u128;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        }
        None => rows,
    }
}

/// The first text above the table that is more than a unit or a mark.
fn title_of(shape: &Shape<'_>) -> Option<String> {
    const CHARACTERS_MIN: usize = 4;
    let is_title = |text: &&&str| {
        let inner = text.trim_start_matches(['(', '（', '[', '【']);
        CHARACTERS_MIN <= text.chars().count()
            && !inner.starts_with("単位")
            && !unit::is_known(text)
    };
    shape
        .above
        .iter()
        .find(is_title)
        .map(|text| (*text).to_owned())
}

/// The values of a column of units.
fn look_for_unit_columns(shape: &Shape<'_>, units: &mut Units) {
    for (index, name) in shape.columns.iter().enumerate() {
        if unit::is_unit_header(name) {
            for cell in shape
                .column(index)
                .filter(|cell| cell.is_text() || unit::is_known(&cell.text))
            {
                units.add(&cell.text);
            }
        }
    }
}

/// The time that a table is of: what its header and its columns of time say, else what its words say.
fn period_of(shape: &Shape<'_>) -> Option<Period> {
    let mut found: Option<Period> = None;
    let mut add = |period: Period| found = Some(found.map_or(period, |known| known.union(period)));
    for cell in &shape.header {
        if let Some(period) = cell.period() {
            add(period);
        }
    }
    for index in 0..shape.width() {
        let filled = || shape.column(index).filter(|cell| !cell.is_empty());
        let times: Vec<Period> = filled().filter_map(Cell::period).collect();
        // A column of quantities has a few that could be years.
        if filled().count() <= times.len() * 5 / 4 {
            times.into_iter().for_each(&mut add);
        }
    }
    if found.is_none() {
        let mut add =
            |period: Period| found = Some(found.map_or(period, |known| known.union(period)));
        shape
            .words()
            .for_each(|text| Period::each_in(text, &mut add));
    }
    found
}
