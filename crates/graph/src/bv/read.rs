//! Reads a graph in the BV format: `.graph` and `.properties`, one page after another.
//!
//! Boldi and Vigna, "The `WebGraph` Framework I: Compression Techniques", WWW 2004, section 4. Departures: none.
//! The lists of earlier pages, to which a page may refer, are the links read so far; no offsets are needed.
//!
//! Whatever the bytes are, reading ends, within memory for as many pages as the file has bits, and as many links as the
//! properties promise and the options allow: no number is believed before it is compared with what is possible.

use std::fs;
use std::path::{Path, PathBuf};

use super::bits::{BitError, BitReader};
use super::properties::{Format, Properties};
use super::with_ending;
use crate::links::Builder;
use crate::load::LoadOptions;
use crate::progress::{Progress, Reporter, Stage};
use crate::{GraphError, Links, Page};

/// Reads the graph with this base name.
pub(crate) fn read(
    base: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Links, GraphError> {
    let promised = Promised::read(&with_ending(base, "properties"), options)?;
    let path = with_ending(base, "graph");
    let bytes = fs::read(&path).map_err(|source| GraphError::Read {
        path: path.clone(),
        source,
    })?;
    let mut reporter = Reporter::new(progress, Stage::ReadLinks, bytes.len() as u64);
    let mut decoder = Decoder::new(&bytes, &promised);
    for page in 0..promised.pages {
        if let Err(fault) = decoder.read_page(page) {
            return Err(fault.at(page, decoder.bits.place(), path, promised.pages));
        }
        reporter.at(decoder.bits.place() / 8);
    }
    reporter.finish();
    let found = decoder.links.link_count();
    if found != promised.links {
        return Err(GraphError::LinkCount {
            path,
            found,
            promised: promised.links,
        });
    }
    Ok(decoder.links.finish())
}

/// What the properties say of the graph, within what is allowed.
struct Promised {
    pages: u32,
    links: u64,
    format: Format,
}

impl Promised {
    fn read(path: &Path, options: &LoadOptions) -> Result<Self, GraphError> {
        const BYTES_MAX: u64 = 1 << 20;
        let refused = |reason: String| GraphError::Properties {
            path: path.to_owned(),
            reason,
        };
        let unreadable = |source| GraphError::Read {
            path: path.to_owned(),
            source,
        };
        let file = fs::metadata(path).map_err(unreadable)?;
        if BYTES_MAX < file.len() {
            return Err(refused(format!("it is longer than {BYTES_MAX} bytes")));
        }
        let text = fs::read(path).map_err(unreadable)?;
        let Properties {
            pages,
            links,
            format,
        } = Properties::parse(&String::from_utf8_lossy(&text)).map_err(refused)?;
        let pages = u32::try_from(pages)
            .ok()
            .filter(|&pages| pages <= options.pages_max)
            .ok_or_else(|| GraphError::TooManyPages {
                path: path.to_owned(),
                pages,
                pages_max: options.pages_max,
            })?;
        if options.links_max < links {
            return Err(GraphError::TooManyLinks {
                path: path.to_owned(),
                links_max: options.links_max,
            });
        }
        Ok(Self {
            pages,
            links,
            format,
        })
    }
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug)]
enum Fault {
    End,
    Impossible(&'static str),
}

impl Fault {
    fn at(self, page: Page, bit: u64, path: PathBuf, pages: u32) -> GraphError {
        match self {
            Self::End => GraphError::Truncated { path, page, pages },
            Self::Impossible(reason) => GraphError::Damaged {
                path,
                page,
                bit,
                reason,
            },
        }
    }
}

impl From<BitError> for Fault {
    fn from(error: BitError) -> Self {
        match error {
            BitError::End => Self::End,
            BitError::Huge => Self::Impossible("a number of more than 63 bits"),
        }
    }
}

struct Decoder<'a> {
    bits: BitReader<'a>,
    promised: &'a Promised,
    links: Builder,
    /// The targets of the page that is being read.
    targets: Vec<Page>,
}

impl<'a> Decoder<'a> {
    fn new(bytes: &'a [u8], promised: &'a Promised) -> Self {
        Self {
            bits: BitReader::new(bytes),
            promised,
            links: Builder::new(),
            targets: Vec::new(),
        }
    }

    fn read_page(&mut self, page: Page) -> Result<(), Fault> {
        let degree = self.bits.read(self.promised.format.outdegrees)?;
        if u64::from(self.promised.pages) < degree {
            return Err(Fault::Impossible("more links than pages"));
        }
        if self.promised.links - self.links.link_count() < degree {
            return Err(Fault::Impossible("more links than the properties promise"));
        }
        self.targets.clear();
        if degree != 0 {
            self.copy_from_earlier_page(page)?;
            self.read_intervals(page, degree)?;
            self.read_residuals(page, degree)?;
            self.targets.sort_unstable();
            if self.targets.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(Fault::Impossible("a link twice"));
            }
            self.links.extend(&self.targets);
        }
        self.links.finish_page();
        Ok(())
    }

    /// How many targets are still to be read.
    fn missing(&self, degree: u64) -> Result<u64, Fault> {
        degree
            .checked_sub(self.targets.len() as u64)
            .ok_or(Fault::Impossible("more links than the page has"))
    }

    fn copy_from_earlier_page(&mut self, page: Page) -> Result<(), Fault> {
        if self.promised.format.window == 0 {
            return Ok(());
        }
        let distance = self.bits.read(self.promised.format.references)?;
        if distance == 0 {
            return Ok(());
        }
        let earlier = u32::try_from(distance)
            .ok()
            .filter(|_| distance <= self.promised.format.window)
            .and_then(|distance| page.checked_sub(distance))
            .ok_or(Fault::Impossible("a reference too far back"))?;
        let source = self.links.successors(earlier);
        let code = self.promised.format.blocks;
        let blocks = self.bits.read(code)?;
        let mut rest = source;
        for block in 0..blocks {
            // Blocks are copied and skipped by turns; only the first can be empty.
            let length = self.bits.read(code)?.saturating_add(u64::from(block != 0));
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let (head, tail) = rest
                .split_at_checked(length)
                .ok_or(Fault::Impossible("a copied block beyond the list"))?;
            if block % 2 == 0 {
                self.targets.extend_from_slice(head);
            }
            rest = tail;
        }
        if blocks % 2 == 0 {
            self.targets.extend_from_slice(rest);
        }
        Ok(())
    }

    fn read_intervals(&mut self, page: Page, degree: u64) -> Result<(), Fault> {
        if self.missing(degree)? == 0 || self.promised.format.interval_min == 0 {
            return Ok(());
        }
        let code = self.promised.format.intervals;
        let intervals = self.bits.read(code)?;
        let mut next = 0;
        for interval in 0..intervals {
            let gap = self.bits.read(code)?;
            let start = if interval == 0 {
                first_target(page, gap)?
            } else {
                // Between two intervals there is a gap.
                later_target(next, gap)?
            };
            let length = self
                .bits
                .read(code)?
                .saturating_add(self.promised.format.interval_min);
            if self.missing(degree)? < length {
                return Err(Fault::Impossible("an interval longer than the list"));
            }
            let first = self.page(start)?;
            next = u64::from(first) + length;
            let range = first..=self.page(next - 1)?;
            self.targets.extend(range);
        }
        Ok(())
    }

    fn read_residuals(&mut self, page: Page, degree: u64) -> Result<(), Fault> {
        let code = self.promised.format.residuals;
        let mut last = None;
        for _ in 0..self.missing(degree)? {
            let gap = self.bits.read(code)?;
            let target = match last {
                None => first_target(page, gap)?,
                Some(last) => later_target(last, gap)?,
            };
            last = Some(target);
            let target = self.page(target)?;
            self.targets.push(target);
        }
        Ok(())
    }

    fn page(&self, number: u64) -> Result<Page, Fault> {
        u32::try_from(number)
            .ok()
            .filter(|&page| page < self.promised.pages)
            .ok_or(Fault::Impossible("a link to no page"))
    }
}

/// The first of a page's targets, written as its distance from the page: even numbers up, odd ones down.
fn first_target(page: Page, distance: u64) -> Result<u64, Fault> {
    let page = u64::from(page);
    if distance.is_multiple_of(2) {
        Some(page + distance / 2)
    } else {
        page.checked_sub(distance.div_ceil(2))
    }
    .ok_or(Fault::Impossible("a link to no page"))
}

fn later_target(last: u64, gap: u64) -> Result<u64, Fault> {
    last.checked_add(gap)
        .and_then(|target| target.checked_add(1))
        .ok_or(Fault::Impossible("a link to no page"))
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::bv::fixture;
    use crate::bv::write::BvGraphWriter;
    use crate::progress::unwatched;

    struct Files {
        folder: TempDir,
    }

    impl Files {
        fn of(lists: &[Vec<Page>]) -> Self {
            let files = Self {
                folder: tempfile::tempdir().unwrap(),
            };
            let mut writer = BvGraphWriter::create(files.base()).unwrap();
            for list in lists {
                writer.page(list).unwrap();
            }
            writer.finish().unwrap();
            files
        }

        fn base(&self) -> PathBuf {
            self.folder.path().join("graph")
        }

        fn read(&self) -> Result<Links, GraphError> {
            read(&self.base(), &LoadOptions::default(), &mut unwatched)
        }

        fn bytes(&self) -> Vec<u8> {
            fs::read(with_ending(&self.base(), "graph")).unwrap()
        }

        fn set_bytes(&self, bytes: &[u8]) {
            fs::write(with_ending(&self.base(), "graph"), bytes).unwrap();
        }

        fn set_properties(&self, change: impl Fn(String) -> String) {
            let path = with_ending(&self.base(), "properties");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, change(text)).unwrap();
        }
    }

    /// Lists with runs, copies and lone targets: those of the fixtures.
    pub(in crate::bv) fn weblike() -> Vec<Vec<Page>> {
        (0..300_u32)
            .map(|page| match page % 5 {
                0 => Vec::new(),
                1 => (page..(page + 20).min(300)).collect(),
                rest => {
                    let group = page - rest;
                    let mut list: Vec<Page> = (group + 1..(group + 12).min(300)).collect();
                    // What the pages of a group share, but for some that each leaves out.
                    let shared = (0..30).filter(|link| link % 7 != rest);
                    list.extend(shared.map(|link| (group * 11 + link * link * 5) % 300));
                    list.extend((0..rest * 3).map(|link| (page * 37 + link * 91) % 300));
                    list.sort_unstable();
                    list.dedup();
                    list
                }
            })
            .collect()
    }

    pub(in crate::bv) fn lists(pages_max: u32) -> impl Strategy<Value = Vec<Vec<Page>>> {
        (1..pages_max).prop_flat_map(|pages| {
            let list = proptest::collection::btree_set(0..pages, 0..20.min(pages as usize));
            let list = list.prop_map(|set| set.into_iter().collect::<Vec<_>>());
            proptest::collection::vec(list, pages as usize)
        })
    }

    #[test]
    fn every_setting_of_the_reference_writer_is_read() {
        let expected = Links::from_lists(&weblike());
        for name in [
            "default",
            "gamma-0-0",
            "delta-0-4",
            "zeta2-7-0",
            "zeta5-7-4",
            "gamma-32-2",
        ] {
            let links = read(&fixture(name), &LoadOptions::default(), &mut unwatched);
            assert_eq!(links.unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn a_graph_cut_anywhere_is_refused_with_the_page() {
        let lists = weblike();
        let files = Files::of(&lists);
        let whole = files.bytes();
        let mut page_before = 0;
        for length in 0..whole.len() - 8 {
            files.set_bytes(&whole[..length]);
            match files.read() {
                Err(GraphError::Truncated { page, pages, .. }) => {
                    assert!(page_before <= page && page < pages);
                    page_before = page;
                }
                other => panic!("cut to {length} bytes: {other:?}"),
            }
        }
        assert!(280 < page_before, "{page_before}");
    }

    #[test]
    fn properties_that_lie_are_found_out() {
        let arcs: usize = weblike().iter().map(Vec::len).sum();
        let check = |from: &str, to: &str, expected: &str| {
            let files = Files::of(&weblike());
            files.set_properties(|text| {
                assert!(text.contains(from), "{text}");
                text.replace(from, to)
            });
            let message = files.read().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        let arcs_line = format!("arcs={arcs}\n");
        check(
            &arcs_line,
            "arcs=5\n",
            "more links than the properties promise",
        );
        check(
            &arcs_line,
            &format!("arcs={}\n", arcs + 1),
            "its properties promise",
        );
        check(
            &arcs_line,
            "arcs=18446744073709551615\n",
            "links that are allowed",
        );
        check(&arcs_line, "", "arcs");
        check("nodes=300\n", "nodes=99999999\n", "cut short");
        check(
            "nodes=300\n",
            "nodes=4294967296\n",
            "of which 134217728 are allowed",
        );
        check("nodes=300\n", "nodes=many\n", "nodes");
        check("endianness=big", "endianness=little", "ndianness");
        check("windowsize=7", "windowsize=0", "");
    }

    proptest! {
        #[test]
        fn graphs_that_were_written_are_read(lists in lists(60)) {
            let links = Files::of(&lists).read().unwrap();
            prop_assert_eq!(links, Links::from_lists(&lists));
        }

        #[test]
        fn flipped_bits_never_panic_and_never_break_the_invariants(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), 0_u8..8), 1..6),
        ) {
            let files = Files::of(&weblike());
            let mut bytes = files.bytes();
            for (place, bit) in flips {
                let place = place.index(bytes.len());
                bytes[place] ^= 1 << bit;
            }
            files.set_bytes(&bytes);
            if let Ok(links) = files.read() {
                prop_assert_eq!(links.page_count(), 300);
                for page in links.pages() {
                    prop_assert!(links.successors(page).is_sorted());
                    prop_assert!(links.successors(page).iter().all(|&target| target < 300));
                }
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), as_properties: bool) {
            let files = Files::of(&weblike());
            if as_properties {
                fs::write(with_ending(&files.base(), "properties"), &bytes).unwrap();
                prop_assert!(files.read().is_err());
            } else {
                files.set_bytes(&bytes);
                prop_assert!(files.read().is_err());
            }
        }
    }
}
