//! From captures to a graph: whose links count, and in which order pages are numbered.

use std::net::IpAddr;

use hashbrown::HashMap;
use jiff::Timestamp;
use junkai_graph::{Hosts, Links, Urls};
use rayon::prelude::*;

use super::capture::{Capture, Leads, Name, Reference};
use super::report::Report;
use super::scan::Scanner;
use super::{ArchiveGraph, ArchiveGraphError};

/// Revisit records that may refer to one another in a row.
const REFERENCES_MAX: usize = 8;

/// Makes the graph.
pub(super) fn arrange(
    scanner: &Scanner<'_>,
    mut captures: Vec<Capture>,
    mut report: Report,
) -> Result<ArchiveGraph, ArchiveGraphError> {
    captures.sort_unstable_by_key(|capture| capture.moment);
    let mut numbers = Numbers::of_captures(&captures, scanner.pages().urls().len());
    let captured_count = numbers.count();
    let mut lists = latest_links(scanner, &captures, &numbers, &mut report);
    let pages = scanner.pages();
    if pages.is_overfull() {
        let pages_max = scanner.pages_max();
        return Err(ArchiveGraphError::TooManyPages { pages_max });
    }
    numbers.reach(pages.urls().len());
    for link in lists.iter_mut().flatten() {
        *link = numbers.number_of(*link);
    }
    lists.resize_with(numbers.count() as usize, Box::default);
    let urls: Urls = numbers
        .old
        .iter()
        .map(|&page| pages.urls().get(page))
        .collect();
    let addresses = |hosts: &Hosts| addresses(hosts, &captures, &numbers);
    let graph = ArchiveGraph::new(Links::from_lists(&lists), urls, captured_count, addresses);
    Ok(ArchiveGraph { report, ..graph })
}

/// New numbers of pages, in the order in which they are asked for.
struct Numbers {
    /// By old number.
    new: Vec<Option<u32>>,
    /// By new number.
    old: Vec<u32>,
}

impl Numbers {
    /// Numbers captured pages in the order of captures.
    fn of_captures(captures: &[Capture], pages: usize) -> Self {
        let mut numbers = Self {
            new: vec![None; pages],
            old: Vec::new(),
        };
        for capture in captures {
            numbers.number_of(capture.page);
        }
        numbers
    }

    /// Makes room for pages that have become known since.
    fn reach(&mut self, pages: usize) {
        self.new.resize(pages, None);
    }

    fn number_of(&mut self, page: u32) -> u32 {
        let next = self.count();
        let old = &mut self.old;
        *self.new[page as usize].get_or_insert_with(|| {
            old.push(page);
            next
        })
    }

    fn count(&self) -> u32 {
        u32::try_from(self.old.len()).unwrap_or(u32::MAX)
    }

    fn known(&self, page: u32) -> Option<u32> {
        self.new[page as usize]
    }
}

/// The links of each captured page's latest capture, by new number; their targets are still by old number.
fn latest_links(
    scanner: &Scanner<'_>,
    captures: &[Capture],
    numbers: &Numbers,
    report: &mut Report,
) -> Vec<Box<[u32]>> {
    let mut latest: Vec<Option<&Capture>> = vec![None; numbers.old.len()];
    for capture in captures {
        if let Some(number) = numbers.known(capture.page) {
            latest[number as usize] = Some(capture);
        }
    }
    let is_revisit = |capture: &Capture| matches!(capture.leads, Leads::Like(_));
    let originals = if latest.iter().flatten().any(|capture| is_revisit(capture)) {
        Originals::of(captures)
    } else {
        Originals::default()
    };
    let found: Vec<Option<Box<[u32]>>> = latest
        .into_par_iter()
        .map(|capture| originals.links(scanner, capture?))
        .collect();
    report.passed_over.lost_payloads = found.iter().filter(|links| links.is_none()).count() as u64;
    found.into_iter().map(Option::unwrap_or_default).collect()
}

/// The captures to which revisit records may refer.
#[derive(Default)]
struct Originals<'a> {
    of_record: HashMap<Name, &'a Capture>,
    of_page_and_date: HashMap<(u32, Timestamp), &'a Capture>,
    with_payload: HashMap<Name, &'a Capture>,
    /// Each page's latest capture with a payload of its own.
    latest: HashMap<u32, &'a Capture>,
}

impl<'a> Originals<'a> {
    fn of(captures: &'a [Capture]) -> Self {
        let mut originals = Self::default();
        for capture in captures {
            if let Some(record) = capture.record {
                originals.of_record.insert(record, capture);
            }
            if matches!(capture.leads, Leads::Like(_)) {
                continue;
            }
            if let Some(date) = capture.moment.date {
                let key = (capture.page, date);
                originals.of_page_and_date.insert(key, capture);
            }
            if let Some(payload) = capture.payload {
                originals.with_payload.insert(payload, capture);
            }
            originals.latest.insert(capture.page, capture);
        }
        originals
    }

    /// Where a capture leads; none if the payload that it refers to is not there.
    fn links(&self, scanner: &Scanner<'_>, capture: &Capture) -> Option<Box<[u32]>> {
        let reference = match &capture.leads {
            Leads::To(links) => return Some(links.clone()),
            Leads::Like(reference) => reference,
        };
        let (original, links) = self.original(capture.page, reference)?;
        if original.page == capture.page {
            return Some(links.into());
        }
        // Relative links lead elsewhere from another URL.
        let url = scanner.pages().urls().get(capture.page).to_owned();
        scanner.read_again(
            original.moment,
            &scanner.parse(&url)?,
            reference.says.as_ref(),
        )
    }

    /// The capture that has the payload, and its links.
    fn original(
        &self,
        page: u32,
        mut reference: &'a Reference,
    ) -> Option<(&'a Capture, &'a [u32])> {
        for _ in 0..REFERENCES_MAX {
            let original = self.referred_to(page, reference)?;
            match &original.leads {
                Leads::To(links) => return Some((original, links)),
                Leads::Like(further) => reference = further,
            }
        }
        None
    }

    fn referred_to(&self, page: u32, reference: &Reference) -> Option<&'a Capture> {
        let by_record = || self.of_record.get(&reference.record?);
        let by_page_and_date = || self.of_page_and_date.get(&reference.page_and_date?);
        let by_payload = || self.with_payload.get(&reference.payload?);
        // "Not modified" means the page itself, as it was before.
        let by_page = || self.latest.get(&page).filter(|_| reference.says.is_none());
        by_record()
            .or_else(by_page_and_date)
            .or_else(by_payload)
            .or_else(by_page)
            .copied()
    }
}

/// The address that each host was last captured from.
fn addresses(hosts: &Hosts, captures: &[Capture], numbers: &Numbers) -> Vec<Option<IpAddr>> {
    let mut addresses = vec![None; hosts.count() as usize];
    for capture in captures {
        if let (Some(number), Some(address)) = (numbers.known(capture.page), capture.address) {
            addresses[hosts.host(number) as usize] = Some(address);
        }
    }
    addresses
}
