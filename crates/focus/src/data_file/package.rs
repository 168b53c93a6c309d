//! Opens the ZIP packages that XLSX and ODS are, and walks through their XML parts, within bounds.
//!
//! What a package says of the sizes of its parts is not believed: bytes are counted as they come out of the decompressor, over all parts
//! together, and so are those of a single piece of XML. Packages inside are parts like any other and never opened. The XML reader
//! expands no entities but the five of the standard.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{Bounds, Refusal};

/// Real workbooks have some hundred.
const PARTS_MAX: usize = 20_000;
/// The longest tag or text: cells hold 32,767 characters.
const PIECE_BYTES: u64 = 4 << 20;

/// A package, of which as much may be unpacked as is left.
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    limit: u64,
    left: u64,
}

/// What a part of XML is made of; an empty element has both a start and an end.
pub(crate) enum Piece<'a> {
    Start(&'a BytesStart<'a>),
    /// With its name, without prefix.
    End(&'a str),
    Text(&'a str),
}

impl<'a> Package<'a> {
    pub(crate) fn open(bytes: &'a [u8], bounds: &Bounds) -> Result<Self, Refusal> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        if PARTS_MAX < archive.len() {
            return Err(Refusal::TooManyParts {
                parts: archive.len() as u64,
            });
        }
        Ok(Self {
            archive,
            limit: bounds.unpacked_bytes,
            left: bounds.unpacked_bytes,
        })
    }

    /// The name of the first part that is asked for.
    pub(crate) fn find(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        self.archive
            .file_names()
            .filter_map(Result::ok)
            .find(|name| is_wanted(name))
            .map(Cow::into_owned)
    }

    /// Hands the pieces of a part to `visit` until it breaks off; whether there is such a part.
    pub(crate) fn walk(
        &mut self,
        name: &str,
        visit: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
    ) -> Result<bool, Refusal> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(false),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(Refusal::PasswordProtected);
            }
            Err(error) => return Err(damaged(&error)),
        };
        let left = Cell::new(self.left);
        let piece_left = Cell::new(PIECE_BYTES);
        let counted = Counted {
            inner: part,
            left: &left,
            piece_left: &piece_left,
        };
        let walked = walk_xml(BufReader::new(counted), &piece_left, visit);
        self.left = left.get();
        match walked {
            Ok(()) => Ok(true),
            Err(_) if self.left == 0 => Err(Refusal::UnpacksTooLarge { limit: self.limit }),
            Err(_) if piece_left.get() == 0 => Err(Refusal::UnpacksTooLarge { limit: PIECE_BYTES }),
            Err(error) => Err(damaged(&error)),
        }
    }
}

/// Reads no more than is left.
struct Counted<'a, R> {
    inner: R,
    left: &'a Cell<u64>,
    piece_left: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        for left in [self.left, self.piece_left] {
            left.set(left.get().saturating_sub(count as u64));
        }
        if self.left.get() == 0 || self.piece_left.get() == 0 {
            return Err(io::Error::other("more than may be unpacked"));
        }
        Ok(count)
    }
}

fn walk_xml(
    source: impl io::BufRead,
    piece_left: &Cell<u64>,
    visit: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
) -> Result<(), quick_xml::Error> {
    let mut reader = Reader::from_reader(source);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.expand_empty_elements = true;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let flow = match reader.read_event_into(&mut buffer)? {
            Event::Start(start) => visit(Piece::Start(&start)),
            Event::End(end) => visit(Piece::End(end.local_name().as_ref())),
            Event::Text(text) => visit(Piece::Text(&text.xml10_content())),
            Event::CData(text) => visit(Piece::Text(&text.xml10_content())),
            Event::GeneralRef(reference) => visit(Piece::Text(&character_of(&reference))),
            Event::Eof => return Ok(()),
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => ControlFlow::Continue(()),
        };
        if flow.is_break() {
            return Ok(());
        }
        piece_left.set(PIECE_BYTES);
    }
}

/// What a reference stands for; one that the standard does not know stands for nothing.
fn character_of(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    quick_xml::escape::resolve_xml_entity(reference)
        .unwrap_or_default()
        .to_owned()
}

/// The value of an attribute by its name without prefix.
pub(crate) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    start
        .attributes()
        .with_checks(false)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.local_name().as_ref() == name)
        .map(|attribute| {
            let value = quick_xml::escape::unescape(&attribute.value);
            value.map_or_else(|_| String::new(), Cow::into_owned)
        })
}

pub(crate) fn damaged(error: &dyn std::fmt::Display) -> Refusal {
    let what = error.to_string();
    Refusal::Damaged {
        what: super::cell::cut(&what, 200).to_owned(),
    }
}
