//! Finds entries by words, in any language.
//!
//! Fields weigh by how much they say of the file: title and columns most. A query is words and nothing else: no operators, so none can
//! be wrong. The engine merges its files in threads of its own; this module starts none.

use std::fs;
use std::path::Path;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Query, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value as _,
};
use tantivy::{IndexWriter, TantivyDocument, Term};

use super::lines::Lines;
use super::terms::Terms;
use super::{CatalogueError, Entry, INDEX_FOLDER, failed};
use crate::data_file;

/// What the engine may hold before it writes; less than this it refuses.
const WRITER_BYTES: usize = 16 << 20;
/// A field without content: when terms are made in another way it gets another name, and the index is made anew.
const TERMS_VERSION: &str = "terms-2";
/// The fields that are searched, and how much each counts.
const FIELDS: [(&str, f32); 7] = [
    ("title", 4.0),
    ("columns", 2.5),
    ("link_text", 2.0),
    ("context", 1.0),
    ("publisher", 1.0),
    ("units", 0.7),
    ("address", 0.7),
];

/// An index over a catalogue.
pub struct Index {
    engine: tantivy::Index,
    writer: Option<IndexWriter>,
    url: Field,
    entry: Field,
    fields: Vec<Field>,
    terms: Terms,
}

/// An entry that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What was found.
    pub entry: Entry,
    /// How well it fits; only to be compared within one search.
    pub score: f32,
    /// A piece of its text with words of the query.
    pub snippet: String,
}

impl Index {
    /// Makes an empty index for the catalogue in `folder`, in place of one that is there.
    ///
    /// # Errors
    /// If its folder cannot be written.
    pub fn create(folder: &Path) -> Result<Self, CatalogueError> {
        let path = folder.join(INDEX_FOLDER);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(|source| failed("replace", &path, source))?;
        }
        fs::create_dir_all(&path).map_err(|source| failed("make", &path, source))?;
        let index = tantivy::Index::create_in_dir(&path, schema())?;
        Self::of(index)
    }

    /// Opens the index of the catalogue in `folder`; none if there is no such index.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    pub fn open(folder: &Path) -> Result<Option<Self>, CatalogueError> {
        let path = folder.join(INDEX_FOLDER);
        if !path.join("meta.json").exists() {
            return Ok(None);
        }
        let index = tantivy::Index::open_in_dir(&path)?;
        if index.schema() != schema() {
            return Ok(None);
        }
        Self::of(index).map(Some)
    }

    /// Opens the index, or makes it anew from the catalogue where it is missing, damaged or of another version.
    pub(super) fn open_or_make(folder: &Path) -> Result<Self, CatalogueError> {
        if let Ok(Some(index)) = Self::open(folder) {
            return Ok(index);
        }
        Self::rebuild(folder)
    }

    /// Makes the index anew from the lines of the catalogue.
    fn rebuild(folder: &Path) -> Result<Self, CatalogueError> {
        Self::create(folder)?.filled(folder)
    }

    /// An index in memory, made from the lines of the catalogue: for who may read, and must not write.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn in_memory(folder: &Path) -> Result<Self, CatalogueError> {
        Self::of(tantivy::Index::create_in_ram(schema()))?.filled(folder)
    }

    fn filled(mut self, folder: &Path) -> Result<Self, CatalogueError> {
        let mut lines = Lines::open(folder)?;
        while let Some(entry) = lines.next_entry()? {
            self.put(&entry)?;
        }
        self.commit()?;
        Ok(self)
    }

    /// How many entries can be found.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn count(&self) -> Result<u64, CatalogueError> {
        Ok(self.engine.reader()?.searcher().num_docs())
    }

    /// Finds the entries that fit the words of `query` best, the best first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, CatalogueError> {
        let words = self.terms.of_query(query);
        if words.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let searcher = self.engine.reader()?.searcher();
        let found = searcher.search(
            &self.query(&words),
            &TopDocs::with_limit(limit).order_by_score(),
        )?;
        let mut hits = Vec::new();
        for (score, address) in found {
            let document: TantivyDocument = searcher.doc(address)?;
            let stored = document
                .get_first(self.entry)
                .and_then(|value| value.as_str());
            // Only this program writes here, and what it wrote it can read.
            if let Some(Ok(entry)) = stored.map(serde_json::from_str::<Entry>) {
                let snippet = self.terms.snippet(&entry, &words);
                hits.push(Hit {
                    entry,
                    score,
                    snippet,
                });
            }
        }
        Ok(hits)
    }

    /// Puts an entry in, in place of the one with its URL.
    pub(super) fn put(&mut self, entry: &Entry) -> Result<(), CatalogueError> {
        let mut document = TantivyDocument::default();
        document.add_text(self.url, &entry.url);
        document.add_text(self.entry, serde_json::to_string(entry)?);
        for (field, text) in self.fields.iter().zip(texts(entry)) {
            document.add_pre_tokenized_text(*field, self.terms.of_text(&text));
        }
        let term = Term::from_field_text(self.url, &entry.url);
        let writer = self.writer()?;
        writer.delete_term(term);
        writer.add_document(document)?;
        Ok(())
    }

    /// Makes what was put in durable, and findable.
    pub(super) fn commit(&mut self) -> Result<(), CatalogueError> {
        if let Some(mut writer) = self.writer.take() {
            writer.commit()?;
            writer.wait_merging_threads()?;
        }
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, CatalogueError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.engine.writer_with_num_threads(1, WRITER_BYTES)?,
        };
        Ok(self.writer.insert(writer))
    }

    fn of(index: tantivy::Index) -> Result<Self, CatalogueError> {
        let schema = index.schema();
        let fields = FIELDS
            .iter()
            .map(|(name, _)| schema.get_field(name))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            url: schema.get_field("url")?,
            entry: schema.get_field("entry")?,
            fields,
            writer: None,
            engine: index,
            terms: Terms::default(),
        })
    }

    /// For each word its best field; of all words the sum.
    fn query(&self, words: &[String]) -> BooleanQuery {
        let word_query = |word: &String| -> Box<dyn Query> {
            let in_fields = self.fields.iter().zip(FIELDS).map(|(field, (_, weight))| {
                let term = Term::from_field_text(*field, word);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                Box::new(BoostQuery::new(Box::new(query), weight)) as Box<dyn Query>
            });
            Box::new(DisjunctionMaxQuery::with_tie_breaker(
                in_fields.collect(),
                0.2,
            ))
        };
        BooleanQuery::union(words.iter().map(word_query).collect())
    }
}

fn schema() -> Schema {
    let mut builder = Schema::builder();
    builder.add_text_field("url", STRING);
    builder.add_text_field("entry", STORED);
    builder.add_text_field(TERMS_VERSION, STORED);
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::WithFreqs);
    let options = TextOptions::default().set_indexing_options(indexing);
    for (name, _) in FIELDS {
        builder.add_text_field(name, options.clone());
    }
    builder.build()
}

/// What the fields hold, in the order of [`FIELDS`].
fn texts(entry: &Entry) -> [String; FIELDS.len()] {
    [
        entry.title.clone(),
        entry.columns.join(" \n"),
        entry.link_text.clone(),
        entry.context.clone(),
        entry.publisher.clone().unwrap_or_default(),
        entry.units.join(" \n"),
        data_file::words_of_address(&entry.url),
    ]
}
