//! Opens compound files, the file systems in which old Office documents and encrypted new ones are.
//!
//! Microsoft, "Compound File Binary File Format" (MS-CFB), version 3 and 4. A chain of sectors is followed for as many steps as the file
//! has sectors and no more, so that one that bites its tail ends.

use encoding_rs::UTF_16LE;

use super::Refusal;

const HEADER_BYTES: usize = 512;
/// Marks of chains that end, and of sectors that are none, are above.
const SECTOR_MAX: u32 = 0xFFFF_FFFA;
const ENTRY_BYTES: usize = 128;
/// The size of sectors for small streams.
const SMALL_SECTOR_BYTES: usize = 64;
/// Real files have some ten.
const ENTRIES_MAX: usize = 10_000;

/// A compound file.
pub(crate) struct Compound<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    /// For each sector, the one after it in its chain.
    next: Vec<u32>,
    small_next: Vec<u32>,
    /// Streams below this length are in small sectors.
    small_below: u64,
    small_stream: Vec<u8>,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    start: u32,
    length: u64,
}

impl<'a> Compound<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let sector_bytes = match u16_at(bytes, 30) {
            Some(9) => 512,
            Some(12) => 4096,
            _ => return Err(damaged("the size of sectors")),
        };
        let header = bytes
            .get(..HEADER_BYTES)
            .ok_or_else(|| damaged("the header"))?;
        let mut file = Self {
            bytes,
            sector_bytes,
            next: Vec::new(),
            small_next: Vec::new(),
            small_below: u64::from(u32_at(header, 56).unwrap_or_default()),
            small_stream: Vec::new(),
            entries: Vec::new(),
        };
        file.next = file.table(header);
        let directory = file.chain(u32_at(header, 48).unwrap_or(SECTOR_MAX), u64::MAX);
        file.entries = directory
            .chunks_exact(ENTRY_BYTES)
            .take(ENTRIES_MAX)
            .filter_map(Entry::read)
            .collect();
        let Some(root) = file.entries.first() else {
            return Err(damaged("no directory"));
        };
        file.small_stream = file.chain(root.start, root.length);
        let small_next = file.chain(u32_at(header, 60).unwrap_or(SECTOR_MAX), u64::MAX);
        file.small_next = numbers(&small_next).collect();
        Ok(file)
    }

    /// Whether there is a stream or a folder of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// The bytes of a stream.
    pub(crate) fn stream(&self, name: &str) -> Option<Vec<u8>> {
        let entry = self.entry(name)?;
        let stream = if entry.length < self.small_below {
            self.small_chain(entry.start, entry.length)
        } else {
            self.chain(entry.start, entry.length)
        };
        Some(stream)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let is_named = |entry: &&Entry| entry.name.eq_ignore_ascii_case(name);
        self.entries.iter().find(is_named)
    }

    /// The table of chains, the sectors of which are listed in the header and in a chain of their own.
    fn table(&self, header: &[u8]) -> Vec<u32> {
        let sectors = self.bytes.len() / self.sector_bytes + 1;
        let mut places: Vec<u32> = numbers(&header[76..]).collect();
        let mut more = u32_at(header, 68).unwrap_or(SECTOR_MAX);
        for _ in 0..sectors {
            let Some(sector) = self.sector(more) else {
                break;
            };
            let (list, link) = sector.split_at(sector.len().saturating_sub(4));
            places.extend(numbers(list));
            more = u32_at(link, 0).unwrap_or(SECTOR_MAX);
        }
        places
            .into_iter()
            .take(sectors)
            .filter_map(|place| self.sector(place))
            .flat_map(numbers)
            .collect()
    }

    fn sector(&self, number: u32) -> Option<&'a [u8]> {
        if SECTOR_MAX <= number {
            return None;
        }
        let start = (number as usize + 1).checked_mul(self.sector_bytes)?;
        let end = (start + self.sector_bytes).min(self.bytes.len());
        self.bytes.get(start..end)
    }

    fn chain(&self, start: u32, length: u64) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut number = start;
        for _ in 0..=self.bytes.len() / self.sector_bytes {
            let Some(sector) = self.sector(number) else {
                break;
            };
            stream.extend_from_slice(sector);
            if length <= stream.len() as u64 {
                break;
            }
            number = self
                .next
                .get(number as usize)
                .copied()
                .unwrap_or(SECTOR_MAX);
        }
        cut(stream, length)
    }

    fn small_chain(&self, start: u32, length: u64) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut number = start;
        for _ in 0..=self.small_stream.len() / SMALL_SECTOR_BYTES {
            let at = (number as usize).saturating_mul(SMALL_SECTOR_BYTES);
            let end = at
                .saturating_add(SMALL_SECTOR_BYTES)
                .min(self.small_stream.len());
            let Some(sector) = self.small_stream.get(at..end) else {
                break;
            };
            stream.extend_from_slice(sector);
            if length <= stream.len() as u64 {
                break;
            }
            let next = self.small_next.get(number as usize);
            number = next.copied().unwrap_or(SECTOR_MAX);
        }
        cut(stream, length)
    }
}

impl Entry {
    /// Reads an entry of the directory; none if it is not used.
    fn read(bytes: &[u8]) -> Option<Self> {
        let name_bytes = usize::from(u16_at(bytes, 64)?).clamp(2, 64) - 2;
        let is_used = *bytes.get(66)? != 0;
        let name = UTF_16LE.decode_without_bom_handling(&bytes[..name_bytes]).0;
        is_used.then(|| Self {
            name: name.into_owned(),
            start: u32_at(bytes, 116).unwrap_or(SECTOR_MAX),
            length: u64::from(u32_at(bytes, 120).unwrap_or_default()),
        })
    }
}

fn cut(mut stream: Vec<u8>, length: u64) -> Vec<u8> {
    stream.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    stream
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|number| u32::from_le_bytes(*number))
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*number))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*number))
}

fn damaged(what: &str) -> Refusal {
    Refusal::Damaged {
        what: what.to_owned(),
    }
}
