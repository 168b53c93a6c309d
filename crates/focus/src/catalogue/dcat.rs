//! Writes a catalogue as DCAT in JSON-LD, entry by entry.
//!
//! W3C, "Data Catalog Vocabulary (DCAT) - Version 3", 2024, section 6: a `dcat:Catalog` of `dcat:Dataset`s, each with a
//! `dcat:Distribution` for the file itself. Checksums name their algorithm by SPDX, as section 6.17 has it.
//! When a publisher issued a file is not known, so it is not said; `dct:modified` is the capture of the version that is there.

use std::io::{self, Write};

use data_encoding::{BASE32, HEXLOWER};
use serde_json::{Map, Value, json};

use super::Entry;

/// Words that the names below are short for.
fn context() -> Value {
    json!({
        "dcat": "http://www.w3.org/ns/dcat#",
        "dct": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "spdx": "http://spdx.org/rdf/terms#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "schema": "https://schema.org/"
    })
}

/// A catalogue while it is written.
pub(super) struct Writer<W = io::BufWriter<std::fs::File>> {
    out: W,
    count: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        write!(
            out,
            "{{\"@context\":{},\n\"@id\":\"urn:junkai:catalogue\",\"@type\":\"dcat:Catalog\",\
             \"dct:title\":\"Data files found by junkai\",\"dcat:dataset\":[",
            context()
        )?;
        Ok(Self { out, count: 0 })
    }

    pub(super) fn put(&mut self, entry: &Entry) -> io::Result<()> {
        let separator = if self.count == 0 { "\n" } else { ",\n" };
        self.count += 1;
        write!(self.out, "{separator}{}", dataset(entry))
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}

fn dataset(entry: &Entry) -> Value {
    let mut dataset = Map::new();
    let mut set = |name: &str, value: Value| {
        dataset.insert(name.to_owned(), value);
    };
    set("@id", json!(format!("{}#dataset", entry.url)));
    set("@type", json!("dcat:Dataset"));
    set("dct:title", tagged(&entry.title, entry));
    if !entry.context.is_empty() {
        set("dct:description", tagged(&entry.context, entry));
    }
    if let Some(publisher) = &entry.publisher {
        set(
            "dct:publisher",
            json!({"@type": "foaf:Agent", "foaf:name": publisher}),
        );
    }
    if let Some(page) = &entry.page {
        set("dcat:landingPage", json!({"@id": page}));
    }
    if let Some(language) = &entry.language {
        set(
            "dct:language",
            json!({"@id": format!("http://id.loc.gov/vocabulary/iso639-1/{language}")}),
        );
    }
    if let Some(period) = &entry.time_range {
        let day = |day: jiff::civil::Date| json!({"@type": "xsd:date", "@value": day.to_string()});
        set(
            "dct:temporal",
            json!({
                "@type": "dct:PeriodOfTime",
                "dcat:startDate": day(period.first),
                "dcat:endDate": day(period.last),
            }),
        );
    }
    if !entry.columns.is_empty() {
        set("schema:variableMeasured", json!(entry.columns));
    }
    if !entry.units.is_empty() {
        set("schema:unitText", json!(entry.units));
    }
    set("dct:modified", time(entry.captured));
    set("dcat:distribution", distribution(entry));
    Value::Object(dataset)
}

fn distribution(entry: &Entry) -> Value {
    let mut distribution = json!({
        "@id": entry.url,
        "@type": "dcat:Distribution",
        "dcat:downloadURL": {"@id": entry.url},
        "dcat:mediaType": {
            "@id": format!("https://www.iana.org/assignments/media-types/{}", entry.format.media_type())
        },
        "dct:format": entry.format.name(),
        "dcat:byteSize": {"@type": "xsd:nonNegativeInteger", "@value": entry.bytes.to_string()},
    });
    if let Some(licence) = &entry.licence {
        let is_address = licence.starts_with("https://") || licence.starts_with("http://");
        distribution["dct:license"] = if is_address {
            json!({"@id": licence})
        } else {
            json!({"@type": "dct:LicenseDocument", "dct:title": licence})
        };
    }
    if let Some((algorithm, value)) = entry.digest.split_once(':')
        && let Ok(bytes) = BASE32.decode(value.as_bytes())
    {
        let value = HEXLOWER.encode(&bytes);
        distribution["spdx:checksum"] = json!({
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": format!("spdx:checksumAlgorithm_{}", algorithm.replace('-', ""))},
            "spdx:checksumValue": value,
        });
    }
    distribution
}

fn tagged(text: &str, entry: &Entry) -> Value {
    match &entry.language {
        Some(language) => json!({"@value": text, "@language": language}),
        None => json!(text),
    }
}

fn time(time: jiff::Timestamp) -> Value {
    json!({"@type": "xsd:dateTime", "@value": time.to_string()})
}
