//! The numbers by which a data file is judged: how its values look, not what it is about.
//!
//! [`Features::of`] looks at the largest table of a file. Shares are of filled cells of the body unless said otherwise. What could not
//! be read has only the words around it (`Features::unread`), and a model says of it no more than these allow.

use hashbrown::HashSet;

use super::cell::{Cell, Kind, Number};
use super::shape::Shape;
use super::table::Table;
use super::unit::{self, Units};
use super::{Format, words};

/// The share of a column's cells that decides what the column is.
const MOST: f64 = 0.8;
/// A text of more characters is prose.
const PROSE_CHARACTERS: usize = 60;

/// Declares the features once: their order, their names, and what they say.
macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// What a model sees of one data file.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Features {
            values: [f64; Features::COUNT],
            is_read: bool,
        }

        impl Features {
            /// How many there are.
            pub const COUNT: usize = [$(stringify!($name)),+].len();
            /// Their names, in order.
            pub const NAMES: [&'static str; Self::COUNT] = [$(stringify!($name)),+];
        }

        #[derive(Default)]
        struct Values {
            $($(#[doc = $doc])+ $name: f64,)+
        }

        impl Values {
            fn in_order(&self) -> [f64; Features::COUNT] {
                [$(self.$name),+]
            }
        }
    };
}

features! {
    /// It is separated by commas or tabs.
    is_delimited,
    /// It is a spreadsheet.
    is_spreadsheet,
    /// It is an HTML page.
    is_page,
    /// It is a PDF.
    is_pdf,
    /// How many tables it has, as a logarithm.
    tables,
    /// Rows of the table, as a logarithm.
    rows,
    /// Columns of the table, as a logarithm.
    columns,
    /// Share of rows with the usual number of filled cells.
    regular_rows,
    /// Share of empty cells within the body's rectangle.
    empty,
    /// Share of numbers; years and days are none.
    numbers,
    /// How many numbers there are in the sample, as a logarithm.
    number_count,
    /// Share of numbers that are whole.
    whole_numbers,
    /// Share of numbers with separators between thousands.
    grouped_numbers,
    /// Share of numbers that begin with a zero that counts for nothing.
    padded_numbers,
    /// Share of numbers with a percent sign or one of a currency.
    marked_numbers,
    /// Share of numbers below zero.
    negative_numbers,
    /// How many digits the numbers have before the point, on average.
    digits,
    /// How much the sizes of numbers in a column differ, as the mean spread of their logarithms.
    number_spread,
    /// Share of columns that are numbers.
    number_columns,
    /// Share of number columns that count up by one, or are one in each row: names of rows.
    serial_columns,
    /// Share of number columns with the same number of digits throughout: codes.
    code_columns,
    /// Share of number columns in which values differ.
    varied_columns,
    /// Share of columns that are years or days.
    time_columns,
    /// Share of columns that are words of which each occurs often: classes.
    class_columns,
    /// Share of columns that are words of which each occurs once: names.
    name_columns,
    /// Share of texts.
    texts,
    /// Share of texts that are long.
    prose,
    /// Characters of a text, on average, as a logarithm.
    text_length,
    /// Share of addresses for machines.
    addresses,
    /// Share of times of day.
    clocks,
    /// Share of marks for values that are missing or withheld.
    marks,
    /// It has a header.
    has_header,
    /// Share of the header's cells that differ from all others.
    distinct_header,
    /// Characters of a header's cell, on average, as a logarithm.
    header_length,
    /// Share of the header's cells that are years or days.
    time_header,
    /// Units found.
    units,
    /// Words of statistics in header, title and notes, as a logarithm.
    statistics_words,
    /// Words of registers, logs and settings in header, title and notes, as a logarithm.
    register_words,
    /// Share of columns that are said to be coordinates of places.
    coordinates,
    /// Whether a row or column is a total.
    totals,
    /// Texts above the table, as a logarithm.
    lines_above,
    /// Texts below the table, as a logarithm.
    notes,
    /// Whether a source is named.
    sources,
}

impl Features {
    /// Looks at the tables of a file.
    pub(crate) fn of(format: Format, tables: &[Table], units: &Units) -> Self {
        let main = tables
            .iter()
            .max_by_key(|table| table.rows.iter().map(Vec::len).sum::<usize>());
        let mut values = Values {
            units: units.len() as f64,
            tables: log(tables.len()),
            ..Values::default()
        };
        match format {
            Format::Csv | Format::Tsv => values.is_delimited = 1.0,
            Format::Xls | Format::Xlsx | Format::Ods => values.is_spreadsheet = 1.0,
            Format::HtmlTable => values.is_page = 1.0,
            Format::Pdf => values.is_pdf = 1.0,
        }
        if let Some(table) = main {
            let shape = Shape::of(table);
            // A count of rows may be an estimate of any size, and only its order of size matters.
            values.rows = (table.row_count as f64).ln_1p();
            values.columns = log(table.width);
            look_at_cells(&shape, &mut values);
            look_at_columns(&shape, &mut values);
            look_at_words(&shape, &mut values);
        }
        Self {
            values: values.in_order(),
            is_read: main.is_some(),
        }
    }

    /// What is left where a file could not be read: the words that lead to it.
    pub(crate) fn unread(hints: &str) -> Self {
        let values = Values {
            statistics_words: log(words::statistics(hints)),
            register_words: log(words::register(hints)),
            ..Values::default()
        };
        Self {
            values: values.in_order(),
            is_read: false,
        }
    }

    /// Their values, in the order of [`Features::NAMES`].
    #[must_use]
    pub fn values(&self) -> &[f64; Self::COUNT] {
        &self.values
    }

    /// Whether a table was looked at, and not only what leads to the file.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// The value of a feature by its name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<f64> {
        let index = Self::NAMES.iter().position(|known| *known == name)?;
        Some(self.values[index])
    }
}

fn look_at_cells(shape: &Shape<'_>, values: &mut Values) {
    let cells = || {
        shape
            .body
            .iter()
            .flat_map(|row| row.iter())
            .filter(|cell| !cell.is_empty())
    };
    let filled = cells().count();
    let width = |row: &&&[Cell]| row.iter().filter(|cell| !cell.is_empty()).count();
    let regular = shape
        .body
        .iter()
        .filter(|row| width(row) == shape.usual_width);
    values.regular_rows = share(regular.count(), shape.body.len());
    values.empty = 1.0 - share(filled, shape.width() * shape.body.len());
    let kinds =
        |is: fn(&Kind) -> bool| share(cells().filter(|cell| is(&cell.kind)).count(), filled);
    values.texts = kinds(|kind| *kind == Kind::Text);
    values.addresses = kinds(|kind| *kind == Kind::Address);
    values.clocks = kinds(|kind| *kind == Kind::Clock);
    values.marks = kinds(|kind| *kind == Kind::Mark);

    let texts: Vec<usize> = cells()
        .filter(|cell| cell.is_text())
        .map(|cell| cell.text.chars().count())
        .collect();
    let long = texts.iter().filter(|length| PROSE_CHARACTERS < **length);
    values.prose = share(long.count(), texts.len());
    values.text_length = mean(texts.iter().map(|length| *length as f64)).ln_1p();

    let numbers: Vec<Number> = cells()
        .filter_map(|cell| match cell.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        })
        .collect();
    values.numbers = share(numbers.len(), filled);
    values.number_count = log(numbers.len());
    let of_numbers =
        |is: fn(&&Number) -> bool| share(numbers.iter().filter(is).count(), numbers.len());
    values.whole_numbers = of_numbers(|number| number.is_integer);
    values.grouped_numbers = of_numbers(|number| number.is_grouped);
    values.padded_numbers = of_numbers(|number| number.is_padded);
    values.marked_numbers = of_numbers(|number| number.is_percent || number.is_money);
    values.negative_numbers = of_numbers(|number| number.value < 0.0);
    values.digits = mean(numbers.iter().map(|number| size(number.value)));
}

fn look_at_columns(shape: &Shape<'_>, values: &mut Values) {
    let width = shape.width();
    let mut number_columns = 0;
    let mut spreads = Vec::new();
    let [
        mut serial,
        mut codes,
        mut varied,
        mut time,
        mut classes,
        mut names,
    ] = [0; 6];
    for index in 0..width {
        let cells: Vec<&Cell> = shape
            .column(index)
            .filter(|cell| !cell.is_empty())
            .collect();
        let numbers: Vec<Number> = cells
            .iter()
            .filter(|cell| matches!(cell.kind, Kind::Number(_)))
            .filter_map(|cell| cell.number())
            .collect();
        let is_most = |count: usize| MOST <= share(count, cells.len());
        let distinct: HashSet<&str> = cells.iter().map(|cell| &*cell.text).collect();
        if is_most(numbers.len()) && !numbers.is_empty() {
            number_columns += 1;
            serial += usize::from(is_serial(&numbers));
            codes += usize::from(is_code(&numbers));
            varied += usize::from(distinct.len() * 2 > cells.len());
            spreads.push(spread(&numbers));
        } else if is_most(cells.iter().filter(|cell| cell.period().is_some()).count()) {
            time += usize::from(!cells.is_empty());
        } else if is_most(cells.iter().filter(|cell| cell.is_text()).count()) && !cells.is_empty() {
            classes += usize::from(distinct.len() * 3 <= cells.len());
            names += usize::from(cells.len() * 9 <= distinct.len() * 10);
        }
    }
    values.number_columns = share(number_columns, width);
    values.number_spread = mean(spreads.into_iter());
    values.serial_columns = share(serial, number_columns);
    values.code_columns = share(codes, number_columns);
    values.varied_columns = share(varied, number_columns);
    values.time_columns = share(time, width);
    values.class_columns = share(classes, width);
    values.name_columns = share(names, width);
}

fn look_at_words(shape: &Shape<'_>, values: &mut Values) {
    let filled = || shape.header.iter().filter(|cell| !cell.is_empty());
    let count = filled().count();
    let distinct: HashSet<&str> = filled().map(|cell| &*cell.text).collect();
    values.has_header = f64::from(u8::from(0 < count));
    values.distinct_header = share(distinct.len(), count);
    values.header_length = mean(filled().map(|cell| cell.text.chars().count() as f64)).ln_1p();
    let times = filled().filter(|cell| cell.period().is_some()).count();
    values.time_header = share(times, count);
    let units = shape
        .header
        .iter()
        .any(|cell| unit::is_unit_header(&cell.text));
    values.units += f64::from(u8::from(units));
    values.statistics_words = log(shape.words().map(words::statistics).sum());
    values.register_words = log(shape.words().map(words::register).sum());
    let coordinates = shape
        .columns
        .iter()
        .filter(|name| words::is_coordinate(name));
    values.coordinates = share(coordinates.count(), shape.columns.len());
    let first_column = shape.column(0).map(|cell| &*cell.text);
    let is_total = shape.words().chain(first_column).any(words::is_total);
    values.totals = f64::from(u8::from(is_total));
    values.lines_above = log(shape.above.len());
    values.notes = log(shape.notes.len());
    values.sources = f64::from(u8::from(shape.words().any(words::is_source)));
}

/// Whether numbers count up by one, or never change.
fn is_serial(numbers: &[Number]) -> bool {
    let steps = numbers.windows(2);
    let by_one = steps
        .clone()
        .filter(|pair| (pair[1].value - pair[0].value - 1.0).abs() < 1e-9)
        .count();
    let is_same = |pair: &&[Number]| pair[0].value.total_cmp(&pair[1].value).is_eq();
    let constant = steps.filter(is_same).count();
    2 < numbers.len() && MOST <= share(by_one.max(constant), numbers.len() - 1)
}

/// Whether numbers are whole and all of one length, and that of three digits at least.
fn is_code(numbers: &[Number]) -> bool {
    const LEAST: f64 = 100.0;
    let first = numbers.first().map_or(0.0, |number| number.value.abs());
    // From a power of ten up to the next.
    let low = 10_f64.powf(size(first).floor());
    let is_like = |number: &Number| {
        let is_whole = number.is_integer && !number.is_grouped;
        is_whole && (low..low * 10.0).contains(&number.value.abs())
    };
    2 < numbers.len()
        && (LEAST <= first && numbers.iter().all(is_like)
            || numbers.iter().any(|number| number.is_padded))
}

/// The order of size of a number: the digits before its point, less one. Files hold numbers beyond all that can be counted, too.
fn size(value: f64) -> f64 {
    // What is no number counts as the largest one.
    value.abs().min(f64::MAX).log10().max(0.0)
}

/// The standard deviation of the orders of size.
fn spread(numbers: &[Number]) -> f64 {
    let sizes = || numbers.iter().map(|number| size(number.value));
    let middle = mean(sizes());
    mean(sizes().map(|size| (size - middle).powi(2))).sqrt()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count == 0.0 { 0.0 } else { sum / count }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn log(count: usize) -> f64 {
    (count as f64).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;
    use proptest::prelude::*;

    fn features(rows: &[&[&str]]) -> Features {
        Features::of(Format::Csv, &[table(rows)], &Units::default())
    }

    #[test]
    fn the_size_of_any_number_is_finite() {
        for value in [
            0.0,
            -5.0,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ] {
            assert!(size(value).is_finite(), "{value}");
        }
        assert!(spread(&[]).is_finite());
    }

    #[test]
    fn features_say_how_a_table_looks() {
        let features = features(&[
            &["人口推計 令和5年"],
            &["都道府県", "2019", "2020"],
            &["総数", "126,167", "126,146"],
            &["北海道", "5,250", "5,225"],
            &["青森県", "1,246", "-"],
            &["資料：総務省"],
        ]);
        for (name, expected) in [
            ("is_delimited", 1.0),
            ("numbers", 5.0 / 9.0),
            ("texts", 3.0 / 9.0),
            ("marks", 1.0 / 9.0),
            ("grouped_numbers", 1.0),
            ("time_header", 2.0 / 3.0),
            ("totals", 1.0),
            ("sources", 1.0),
            ("has_header", 1.0),
            ("regular_rows", 1.0),
            ("lines_above", 2.0_f64.ln()),
        ] {
            let found = features.named(name).unwrap();
            assert!((found - expected).abs() < 1e-9, "{name}: {found}");
        }
        assert!(features.is_read());
    }

    #[test]
    fn codes_and_row_numbers_are_no_quantities() {
        let rows: Vec<Vec<String>> = (0..10)
            .map(|row| {
                vec![
                    row.to_string(),
                    format!("{:05}", row * 131),
                    format!("{}", row * row * 97),
                ]
            })
            .collect();
        let mut texts: Vec<Vec<&str>> = vec![vec!["no", "code", "value"]];
        texts.extend(
            rows.iter()
                .map(|row| row.iter().map(String::as_str).collect()),
        );
        let slices: Vec<&[&str]> = texts.iter().map(Vec::as_slice).collect();
        let features = features(&slices);
        assert_eq!(features.named("serial_columns"), Some(1.0 / 3.0));
        assert_eq!(features.named("code_columns"), Some(1.0 / 3.0));
        assert_eq!(features.named("number_columns"), Some(1.0));
    }

    #[test]
    fn nothing_has_features_too() {
        let features = Features::of(Format::Pdf, &[], &Units::default());
        assert!(!features.is_read());
        assert_eq!(features.named("is_pdf"), Some(1.0));
        assert_eq!(features.named("no such feature"), None);
    }

    proptest! {
        #[test]
        fn features_are_finite(rows in prop::collection::vec(prop::collection::vec("[a-z]{0,2}|-?[0-9.,]{0,12}|\\PC{0,4}|1e-?[0-9]{1,3}", 1..6), 1..12)) {
            let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let mut rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
            rows.push(&["x1"]);
            let features = features(&rows);
            prop_assert!(features.values().iter().all(|value| value.is_finite()), "{:?}", features);
        }
    }
}
