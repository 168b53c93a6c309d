//! The verdicts as Parquet, for programs that read columns.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::SiteVerdict;

/// Sites that are written together.
const GROUP_SITES: usize = 65_536;

const SCHEMA: &str = "message sites {
  required binary site (STRING);
  required boolean holds;
  required double probability;
  required double error_probability;
  required int64 fetches;
  required int64 silent;
  required binary why (STRING);
  required boolean proven;
}";

/// Writes the verdicts to a file.
pub(super) fn write(file: &mut File, verdicts: &[SiteVerdict]) -> Result<()> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut file = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    for sites in verdicts.chunks(GROUP_SITES) {
        let mut group = file.next_row_group()?;
        let text = |text: &str| ByteArray::from(text);
        column::<ByteArrayType>(&mut group, sites, |it| text(&it.site))?;
        column::<BoolType>(&mut group, sites, |it| it.holds)?;
        column::<DoubleType>(&mut group, sites, |it| it.probability)?;
        column::<DoubleType>(&mut group, sites, |it| it.error_probability)?;
        column::<Int64Type>(&mut group, sites, |it| i64::from(it.fetches))?;
        column::<Int64Type>(&mut group, sites, |it| i64::from(it.silent))?;
        column::<ByteArrayType>(&mut group, sites, |it| text(&why(it)))?;
        column::<BoolType>(&mut group, sites, |it| it.proven)?;
        group.close()?;
    }
    file.close()?;
    Ok(())
}

/// Writes the next column of a group.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut File>,
    sites: &[SiteVerdict],
    value: impl Fn(&SiteVerdict) -> T::T,
) -> Result<()> {
    let values: Vec<T::T> = sites.iter().map(value).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, None, None)?;
        column.close()?;
    }
    Ok(())
}

fn why(verdict: &SiteVerdict) -> String {
    if let Some(reason) = &verdict.unknown {
        return format!("unknown: {reason}");
    }
    let features = verdict.why.iter().map(|clue| clue.feature.as_str());
    features.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::super::Clue;
    use super::*;

    #[test]
    fn what_was_written_is_read_back() {
        let verdict = |number: u32| SiteVerdict {
            site: format!("s{number}.example"),
            holds: number.is_multiple_of(2),
            proven: number.is_multiple_of(4),
            probability: f64::from(number) / 10.0,
            error_probability: 0.25,
            threshold: 0.5,
            fetches: number,
            silent: 1,
            why: vec![Clue {
                feature: "統計".to_owned(),
                weight: 1.0,
            }],
            unknown: (number == 0).then(|| "no such name".to_owned()),
        };
        let verdicts: Vec<SiteVerdict> = (0..10).map(verdict).collect();
        let file = tempfile::tempfile().unwrap();
        write(&mut file.try_clone().unwrap(), &verdicts).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[4].get_string(0).unwrap(), "s4.example");
        assert!(rows[4].get_bool(1).unwrap());
        assert!((rows[4].get_double(2).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(rows[4].get_long(4).unwrap(), 4);
        assert_eq!(rows[4].get_string(6).unwrap(), "統計");
        assert!(rows[4].get_bool(7).unwrap() && !rows[6].get_bool(7).unwrap());
        assert_eq!(rows[0].get_string(6).unwrap(), "unknown: no such name");
    }
}
