//! The hosts of a generated graph: blocks of neighbouring pages, with sizes by a power law.

use super::{GeneratorConfig, Purpose};
use crate::Page;
use crate::chance::{Distributions as _, about, cube_root, whole};

/// Where hosts begin. The only thing that a generator keeps in memory: 4 bytes a host.
#[derive(Clone, Debug)]
pub(super) struct HostTable {
    /// The first page of each host, and the number of pages at the end.
    starts: Vec<Page>,
    /// Hosts below this belong to the core.
    core_hosts: u32,
    /// Navigation pages of a host, as a multiple of the cube root of its size: more where pages have more links.
    navigation_factor: u32,
}

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) host: u32,
    /// The host's first page, which is its home page.
    pub(super) home: Page,
    /// Pages of the host.
    pub(super) size: u32,
    /// The page's number on its host, from 0.
    pub(super) rank: u32,
    /// Pages of the host, from rank 0, to which its other pages mostly link.
    pub(super) navigation_pages: u32,
}

impl HostTable {
    pub(super) fn new(config: &GeneratorConfig) -> Self {
        let pages = config.pages;
        let most = (pages / config.largest_host_divisor.get()).max(1);
        let mut starts = vec![0];
        let mut next: Page = 0;
        while next < pages {
            let host = starts.len() as u64;
            let mut chance = about(config.seed, host, Purpose::HostSize as u64);
            let size = chance.power_law(config.host_size_exponent, most);
            next = pages.min(next.saturating_add(size));
            starts.push(next);
        }
        let core_pages = config.core_share * f64::from(pages);
        let core_hosts = starts.partition_point(|&start| f64::from(start) < core_pages);
        let hosts = starts.len() - 1;
        Self {
            core_hosts: u32::try_from(core_hosts.clamp(1, hosts.max(1))).unwrap_or(u32::MAX),
            starts,
            navigation_factor: whole(config.mean_out_degree / 10.0 + 0.5).max(1),
        }
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn core_hosts(&self) -> u32 {
        self.core_hosts.min(self.count())
    }

    pub(super) fn home(&self, host: u32) -> Page {
        self.starts[host as usize]
    }

    pub(super) fn size(&self, host: u32) -> u32 {
        self.starts[host as usize + 1] - self.starts[host as usize]
    }

    /// Where a page is.
    pub(super) fn place(&self, page: Page) -> Place {
        let host = self.starts.partition_point(|&start| start <= page) - 1;
        let host = u32::try_from(host).unwrap_or(u32::MAX);
        let (home, size) = (self.home(host), self.size(host));
        Place {
            host,
            home,
            size,
            rank: page - home,
            navigation_pages: size.min(cube_root(size).saturating_mul(self.navigation_factor)),
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.starts.as_slice())
    }
}
