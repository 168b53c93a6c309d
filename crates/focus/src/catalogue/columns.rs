//! Writes a catalogue as Parquet, without a library of columns in memory: some megabytes of entries at a time.
//!
//! Lists are written as the format has them (Parquet logical types, section "Lists"): for each value whether it begins a list, and
//! whether there is one at all.

use std::fs::File;
use std::sync::Arc;

use jiff::civil::Date;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;

use super::{CatalogueError, Entry};

/// Bytes of entries that are held before they are written, as their lines have them.
const GROUP_BYTES: usize = 16 << 20;

const SCHEMA: &str = "message catalogue {
  required binary url (STRING);
  required binary site (STRING);
  required binary format (STRING);
  required binary title (STRING);
  required binary context (STRING);
  required binary link_text (STRING);
  optional binary publisher (STRING);
  optional binary page (STRING);
  required group columns (LIST) { repeated group list { required binary element (STRING); } }
  optional int64 rows;
  optional int32 first_day (DATE);
  optional int32 last_day (DATE);
  required group units (LIST) { repeated group list { required binary element (STRING); } }
  optional binary language (STRING);
  optional binary licence (STRING);
  required int64 bytes;
  required boolean is_cut;
  required boolean has_macros;
  optional binary unread (STRING);
  required int64 captured (TIMESTAMP(MICROS,true));
  required binary digest (STRING);
  required group versions (LIST) { repeated group list { required group element {
    required int64 captured (TIMESTAMP(MICROS,true));
    required binary digest (STRING);
    required int64 bytes;
  } } }
  required double probability;
}";

/// A catalogue while it is written.
pub(super) struct Writer {
    file: SerializedFileWriter<File>,
    entries: Vec<Entry>,
    bytes: usize,
}

impl Writer {
    pub(super) fn new(file: File) -> std::result::Result<Self, CatalogueError> {
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        Ok(Self {
            file: SerializedFileWriter::new(file, schema, Arc::new(properties))?,
            entries: Vec::new(),
            bytes: 0,
        })
    }

    /// Takes an entry that has so many bytes as a line.
    pub(super) fn put(
        &mut self,
        entry: Entry,
        bytes: usize,
    ) -> std::result::Result<(), CatalogueError> {
        self.entries.push(entry);
        self.bytes += bytes;
        if GROUP_BYTES <= self.bytes {
            self.write_group()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> std::result::Result<(), CatalogueError> {
        if !self.entries.is_empty() {
            self.write_group()?;
        }
        self.file.close()?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        let entries = std::mem::take(&mut self.entries);
        self.bytes = 0;
        let mut group = self.file.next_row_group()?;
        let mut columns = Columns { group: &mut group };
        columns.texts(entries.iter().map(|it| Some(&*it.url)))?;
        columns.texts(entries.iter().map(|it| Some(&*it.site)))?;
        columns.texts(entries.iter().map(|it| Some(it.format.name())))?;
        columns.texts(entries.iter().map(|it| Some(&*it.title)))?;
        columns.texts(entries.iter().map(|it| Some(&*it.context)))?;
        columns.texts(entries.iter().map(|it| Some(&*it.link_text)))?;
        columns.texts(entries.iter().map(|it| it.publisher.as_deref()))?;
        columns.texts(entries.iter().map(|it| it.page.as_deref()))?;
        columns.text_lists(
            entries
                .iter()
                .map(|it| it.columns.iter().map(String::as_str)),
        )?;
        columns.integers(entries.iter().map(|it| it.rows.map(clamped)))?;
        columns.days(entries.iter().map(|it| it.time_range.map(|it| it.first)))?;
        columns.days(entries.iter().map(|it| it.time_range.map(|it| it.last)))?;
        columns.text_lists(entries.iter().map(|it| it.units.iter().map(String::as_str)))?;
        columns.texts(entries.iter().map(|it| it.language.as_deref()))?;
        columns.texts(entries.iter().map(|it| it.licence.as_deref()))?;
        columns.integers(entries.iter().map(|it| Some(clamped(it.bytes))))?;
        columns.flags(entries.iter().map(|it| it.is_cut))?;
        columns.flags(entries.iter().map(|it| it.has_macros))?;
        columns.texts(entries.iter().map(|it| it.unread.as_deref()))?;
        columns.integers(entries.iter().map(|it| Some(it.captured.as_microsecond())))?;
        columns.texts(entries.iter().map(|it| Some(&*it.digest)))?;
        let versions = || entries.iter().map(|it| it.versions.iter());
        columns
            .integer_lists(versions().map(|list| list.map(|it| it.captured.as_microsecond())))?;
        columns.text_lists(versions().map(|list| list.map(|it| &*it.digest)))?;
        columns.integer_lists(versions().map(|list| list.map(|it| clamped(it.bytes))))?;
        columns.numbers(entries.iter().map(|it| it.probability))?;
        group.close()?;
        Ok(())
    }
}

fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The columns of a group, one after the other in the order of the schema.
struct Columns<'a, 'b> {
    group: &'a mut SerializedRowGroupWriter<'b, File>,
}

/// Values of a list column, and where the lists begin.
struct Levels<T> {
    values: Vec<T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl<T> Levels<T> {
    fn of(lists: impl Iterator<Item = impl Iterator<Item = T>>) -> Self {
        let mut levels = Self {
            values: Vec::new(),
            definition: Vec::new(),
            repetition: Vec::new(),
        };
        for list in lists {
            let mut repetition = 0;
            for value in list {
                levels.values.push(value);
                levels.definition.push(1);
                levels.repetition.push(repetition);
                repetition = 1;
            }
            if repetition == 0 {
                levels.definition.push(0);
                levels.repetition.push(0);
            }
        }
        levels
    }
}

impl Columns<'_, '_> {
    fn texts<'a>(&mut self, values: impl Iterator<Item = Option<&'a str>>) -> Result<()> {
        let (values, levels) = present(values.map(|it| it.map(ByteArray::from)));
        self.write(|column| {
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, Some(&levels), None)
        })
    }

    fn integers(&mut self, values: impl Iterator<Item = Option<i64>>) -> Result<()> {
        let (values, levels) = present(values);
        self.write(|column| {
            column
                .typed::<Int64Type>()
                .write_batch(&values, Some(&levels), None)
        })
    }

    fn days(&mut self, values: impl Iterator<Item = Option<Date>>) -> Result<()> {
        let (values, levels) = present(values.map(|it| it.map(days_since_1970)));
        self.write(|column| {
            column
                .typed::<Int32Type>()
                .write_batch(&values, Some(&levels), None)
        })
    }

    fn flags(&mut self, values: impl Iterator<Item = bool>) -> Result<()> {
        let values: Vec<bool> = values.collect();
        self.write(|column| column.typed::<BoolType>().write_batch(&values, None, None))
    }

    fn numbers(&mut self, values: impl Iterator<Item = f64>) -> Result<()> {
        let values: Vec<f64> = values.collect();
        self.write(|column| {
            column
                .typed::<DoubleType>()
                .write_batch(&values, None, None)
        })
    }

    fn text_lists<'a>(
        &mut self,
        lists: impl Iterator<Item = impl Iterator<Item = &'a str>>,
    ) -> Result<()> {
        let levels = Levels::of(lists.map(|list| list.map(ByteArray::from)));
        self.write(|column| {
            column.typed::<ByteArrayType>().write_batch(
                &levels.values,
                Some(&levels.definition),
                Some(&levels.repetition),
            )
        })
    }

    fn integer_lists(
        &mut self,
        lists: impl Iterator<Item = impl Iterator<Item = i64>>,
    ) -> Result<()> {
        let levels = Levels::of(lists);
        self.write(|column| {
            column.typed::<Int64Type>().write_batch(
                &levels.values,
                Some(&levels.definition),
                Some(&levels.repetition),
            )
        })
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut SerializedColumnWriter<'_>) -> Result<usize>,
    ) -> Result<()> {
        let mut column = self.group.next_column()?.ok_or_else(other_type)?;
        write(&mut column)?;
        column.close()
    }
}

/// The values that are there, and for each place whether there is one. Required columns have no use for the latter.
fn present<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let mut found = Vec::new();
    let mut levels = Vec::new();
    for value in values {
        levels.push(i16::from(value.is_some()));
        found.extend(value);
    }
    (found, levels)
}

fn days_since_1970(day: Date) -> i32 {
    let first = jiff::civil::date(1970, 1, 1);
    // Days between two dates of four digits.
    first.until(day).map_or(0, |span| span.get_days())
}

fn other_type() -> ParquetError {
    ParquetError::General("the columns differ from the schema".to_owned())
}
