//! Reads a web graph from a folder or a file.
//!
//! | form | what is read |
//! | --- | --- |
//! | a folder with `edges.tsv` | an edge list, `source<TAB>target` a line in document order; and, if there, the names below |
//! | a folder with one `*.graph` and `*.properties` | a `BVGraph`; and the names below, or `*.urls` |
//! | a `BVGraph`'s base name, or one of its two files | the same, without the folder's other files but `*.urls` |
//! | any other file | an edge list alone |
//!
//! Names that lie beside a folder's graph: `urls.txt` has the URL of page *n* in line *n* (from 0), `hosts.txt` has its host
//! name there (for graphs without URLs), and `servers.tsv` has `host<TAB>server` lines, the server being an address or
//! whatever else tells servers apart; a host that it does not list is a server of its own. Any of these files may be
//! compressed with gzip, with `.gz` behind its name.
//!
//! An edge list has as many pages as there are names, or, without names, as many as its numbers need; names beside a
//! `BVGraph` are as many as its pages.
//!
//! The order of a page's links is that of the file. Everything wrong is an error with its place.

mod edges;
mod names;
pub(crate) mod text;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bv::{self, with_ending};
use crate::links::PAGES_MAX;
use crate::progress::Progress;
use crate::{GraphError, HostCut, Hosts, Links, Urls, WebGraph};

/// What may be read, and how it is understood.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// How hosts are told. Default none: from URLs, else from `hosts.txt`, else [`HostCut::BLOCKS`].
    pub cut: Option<HostCut>,
    /// The list of URLs, if it is not in its usual place. Default none.
    pub urls: Option<PathBuf>,
    /// Pages that a graph may have. Default [`PAGES_MAX`]: 1 GiB for the table of pages.
    pub pages_max: u32,
    /// Links that a graph may have, repeated ones included. Default 2³⁰: 4 GiB for the list of links, and 8 more while
    /// an edge list is read.
    pub links_max: u64,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            cut: None,
            urls: None,
            pages_max: PAGES_MAX,
            links_max: 1 << 30,
        }
    }
}

/// Reads a graph: see the [module](self) for the forms.
pub fn load(
    path: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<WebGraph, GraphError> {
    let source = Source::find(path)?;
    let urls = Listed::read(source.urls(options), options, progress)?;
    let needs_hosts = match options.cut {
        None => urls.is_none(),
        Some(cut) => cut == HostCut::Given,
    };
    let host_list = source.beside("hosts.txt").filter(|_| needs_hosts);
    let host_names = Listed::read(host_list, options, progress)?;
    let listed = urls.as_ref().or(host_names.as_ref());
    let links = source.links(listed.map(Listed::count), options, progress)?;
    for listed in [&urls, &host_names].into_iter().flatten() {
        listed.check_count(&links)?;
    }
    let urls = urls.map(|listed| listed.names);
    let host_names = host_names.map(|listed| listed.names);
    let cut = match (options.cut, &urls, &host_names) {
        (Some(cut), _, _) => cut,
        (None, Some(_), _) => HostCut::Urls,
        (None, None, Some(_)) => HostCut::Given,
        (None, None, None) => HostCut::BLOCKS,
    };
    let path = || path.to_owned();
    let hosts = match cut {
        HostCut::Urls => {
            let urls = urls
                .as_ref()
                .ok_or_else(|| GraphError::NoUrls { path: path() })?;
            Hosts::from_urls(urls)
        }
        HostCut::Blocks { span, least } => Hosts::from_blocks(&links, span, least),
        HostCut::EqualBlocks(pages) => Hosts::from_equal_blocks(links.page_count(), pages),
        HostCut::Given => {
            let names = host_names.ok_or_else(|| GraphError::NoHosts { path: path() })?;
            Hosts::from_names(names.iter().map(Cow::Borrowed))
        }
    };
    let hosts = match source.beside("servers.tsv") {
        Some(list) => names::with_servers(hosts, &list)?,
        None => hosts,
    };
    Ok(WebGraph {
        name: source.name(),
        links,
        hosts,
        urls,
        cut,
    })
}

/// Reads the links of a graph alone, in any of the forms of [`load`].
pub fn load_links(
    path: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Links, GraphError> {
    Source::find(path)?.links(None, options, progress)
}

/// Reads a list of URLs or other names, one for each page: line *n*, from 0, is that of page *n*. Bytes that are no UTF-8 are
/// replaced.
pub fn load_names(
    path: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Urls, GraphError> {
    names::read(path, options, progress)
}

/// A name for each page, and where it was read.
struct Listed {
    path: PathBuf,
    names: Urls,
}

impl Listed {
    fn read(
        path: Option<PathBuf>,
        options: &LoadOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<Self>, GraphError> {
        path.map(|path| {
            let names = names::read(&path, options, progress)?;
            Ok(Self { path, names })
        })
        .transpose()
    }

    fn count(&self) -> u32 {
        u32::try_from(self.names.len()).unwrap_or(u32::MAX)
    }

    fn check_count(&self, links: &Links) -> Result<(), GraphError> {
        if self.count() == links.page_count() {
            return Ok(());
        }
        Err(GraphError::NameCount {
            path: self.path.clone(),
            names: self.names.len() as u64,
            pages: links.page_count(),
        })
    }
}

/// Where a graph is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    links: LinkFile,
    /// The folder whose other files belong to the graph.
    folder: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LinkFile {
    /// The base name of `BVGraph` files.
    BvGraph(PathBuf),
    Edges(PathBuf),
}

impl Source {
    fn find(path: &Path) -> Result<Self, GraphError> {
        if path.is_dir() {
            return Self::in_folder(path);
        }
        let links = match base_of(path) {
            Some(base) => LinkFile::BvGraph(base),
            None if path.is_file() => LinkFile::Edges(path.to_owned()),
            None => {
                return Err(GraphError::NotAGraph {
                    path: path.to_owned(),
                });
            }
        };
        Ok(Self {
            links,
            folder: None,
        })
    }

    fn in_folder(folder: &Path) -> Result<Self, GraphError> {
        let failed = |source| GraphError::Read {
            path: folder.to_owned(),
            source,
        };
        let mut bases = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|ending| ending == "graph") {
                bases.extend(base_of(&path));
            }
        }
        bases.sort();
        let edges = || file_in(folder, "edges.tsv").or_else(|| file_in(folder, "edges.txt"));
        let links = match bases.len() {
            0 => LinkFile::Edges(edges().ok_or_else(|| GraphError::NotAGraph {
                path: folder.to_owned(),
            })?),
            1 => LinkFile::BvGraph(bases.swap_remove(0)),
            _ => {
                return Err(GraphError::Ambiguous {
                    folder: folder.to_owned(),
                    first: bases.swap_remove(0),
                });
            }
        };
        Ok(Self {
            links,
            folder: Some(folder.to_owned()),
        })
    }

    /// The last part of the path, without the endings that tell the form.
    fn name(&self) -> String {
        let path = match (&self.folder, &self.links) {
            (Some(folder), LinkFile::Edges(_)) => folder,
            (_, LinkFile::BvGraph(path) | LinkFile::Edges(path)) => path,
        };
        let name = path.file_name().unwrap_or(path.as_os_str());
        let mut name = name.to_string_lossy().into_owned();
        if self.folder.is_none() && matches!(self.links, LinkFile::Edges(_)) {
            for ending in [".gz", ".tsv", ".txt"] {
                if let Some(stem) = name.strip_suffix(ending) {
                    name.truncate(stem.len());
                }
            }
        }
        name
    }

    /// A file of that name in the graph's folder.
    fn beside(&self, name: &str) -> Option<PathBuf> {
        file_in(self.folder.as_deref()?, name)
    }

    fn urls(&self, options: &LoadOptions) -> Option<PathBuf> {
        let of_base = || match &self.links {
            LinkFile::BvGraph(base) => {
                let plain = with_ending(base, "urls");
                [with_ending(&plain, "gz"), plain]
                    .into_iter()
                    .find(|path| path.is_file())
            }
            LinkFile::Edges(_) => None,
        };
        options
            .urls
            .clone()
            .or_else(|| self.beside("urls.txt"))
            .or_else(of_base)
    }

    fn links(
        &self,
        page_count: Option<u32>,
        options: &LoadOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Links, GraphError> {
        match &self.links {
            LinkFile::BvGraph(base) => bv::read::read(base, options, progress),
            LinkFile::Edges(path) => edges::read(path, page_count, options, progress),
        }
    }
}

/// The base name of a `BVGraph`, given that or one of its files.
fn base_of(path: &Path) -> Option<PathBuf> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if let Some("graph" | "properties") = ending {
        // If the other file is missing, reading says so.
        return Some(path.with_extension(""));
    }
    let is_there = with_ending(path, "properties").is_file();
    is_there.then(|| path.to_owned())
}

/// A file in a folder, plain or compressed.
fn file_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = folder.join(name);
    [with_ending(&plain, "gz"), plain]
        .into_iter()
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::progress::{Stage, unwatched};

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let bytes = if Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "gz")
            {
                let compression = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), compression);
                encoder.write_all(text.as_bytes()).unwrap();
                encoder.finish().unwrap()
            } else {
                text.as_bytes().to_vec()
            };
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    fn load_plainly(path: &Path) -> Result<WebGraph, GraphError> {
        load(path, &LoadOptions::default(), &mut unwatched)
    }

    const EDGES: &str = "0\t2\n0\t1\n2\t0\n";
    const URLS: &str =
        "http://a.example/\nhttp://b.example/\nhttp://A.example/2\nhttp://c.example/\n";

    #[test]
    fn a_folder_is_read_with_its_urls_and_servers() {
        let servers =
            "# host, server\na.example\t192.0.2.1\nc.example\t192.0.2.1\nz.example\t192.0.2.9\n";
        let folder = folder(&[
            ("edges.tsv.gz", EDGES),
            ("urls.txt.gz", URLS),
            ("servers.tsv", servers),
        ]);
        let graph = load_plainly(folder.path()).unwrap();
        assert_eq!(
            graph.name,
            folder.path().file_name().unwrap().to_str().unwrap()
        );
        assert_eq!(
            graph.links,
            Links::from_lists(&[vec![2, 1], vec![], vec![0], vec![]])
        );
        assert_eq!(graph.cut, HostCut::Urls);
        assert_eq!(graph.hosts.of_pages(), [0, 1, 0, 2]);
        assert_eq!(graph.urls.unwrap().get(2), "http://A.example/2");
        assert_eq!(graph.hosts.server_count(), 2);
        assert_eq!(graph.hosts.server(2), graph.hosts.server(0));
        assert_eq!(graph.hosts.server_name(graph.hosts.server(1)), "b.example");
    }

    #[test]
    fn a_lone_edge_list_is_cut_into_blocks() {
        let folder = folder(&[("my.graph.tsv.gz", EDGES)]);
        let graph = load_plainly(&folder.path().join("my.graph.tsv.gz")).unwrap();
        assert_eq!(
            (graph.name.as_str(), graph.cut),
            ("my.graph", HostCut::BLOCKS)
        );
        assert_eq!((graph.links.page_count(), graph.hosts.count()), (3, 1));
        assert!(graph.urls.is_none() && !graph.hosts.has_servers());
    }

    #[test]
    fn hosts_may_be_given() {
        let folder = folder(&[("edges.txt", EDGES), ("hosts.txt", "x\nx\ny\n")]);
        let graph = load_plainly(folder.path()).unwrap();
        assert_eq!(
            (graph.cut, graph.hosts.of_pages()),
            (HostCut::Given, &[0, 0, 1][..])
        );
        let options = LoadOptions {
            cut: Some(HostCut::EqualBlocks(1)),
            ..LoadOptions::default()
        };
        let graph = load(folder.path(), &options, &mut unwatched).unwrap();
        assert_eq!(
            (graph.cut, graph.hosts.count()),
            (HostCut::EqualBlocks(1), 3)
        );
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let check = |files: &[(&str, &str)], expected: &str| {
            let folder = folder(files);
            let message = load_plainly(folder.path()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        check(&[], "expected a folder with edges.tsv");
        check(&[("x.graph", "")], "cannot read");
        check(
            &[("x.graph", ""), ("y.graph", "")],
            "holds several BVGraphs",
        );
        check(
            &[("edges.tsv", EDGES), ("urls.txt", "http://a.example/\n")],
            "names page 2, but the pages end before 1",
        );
        check(
            &[("edges.tsv", EDGES), ("hosts.txt", "x\n")],
            "names page 2, but the pages end before 1",
        );
        check(
            &[("edges.tsv", EDGES), ("servers.tsv", "\na.example\n")],
            "line 2 of",
        );
        let missing = load_plainly(Path::new("/nonexistent/graph")).unwrap_err();
        assert!(matches!(missing, GraphError::NotAGraph { .. }));
    }

    #[test]
    fn a_rule_that_needs_names_says_so_without_them() {
        let folder = folder(&[("edges.tsv", EDGES)]);
        for (cut, expected) in [
            (HostCut::Urls, "no list of URLs"),
            (HostCut::Given, "hosts.txt"),
        ] {
            let options = LoadOptions {
                cut: Some(cut),
                ..LoadOptions::default()
            };
            let error = load(folder.path(), &options, &mut unwatched).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn progress_comes_to_the_end_of_each_stage() {
        let folder = folder(&[("edges.tsv", EDGES), ("urls.txt", URLS)]);
        let mut ended = Vec::new();
        let mut watch = |progress: Progress| {
            if progress.done == progress.total {
                ended.push(progress.stage);
            }
        };
        load(folder.path(), &LoadOptions::default(), &mut watch).unwrap();
        ended.dedup();
        assert_eq!(ended, [Stage::ReadNames, Stage::ReadLinks, Stage::Arrange]);
    }

    proptest! {
        #[test]
        fn a_compressed_list_cut_or_flipped_never_panics(
            cut: proptest::sample::Index,
            flip: proptest::sample::Index,
            bit in 0_u8..8,
        ) {
            let folder = folder(&[("edges.tsv.gz", &EDGES.repeat(20))]);
            let path = folder.path().join("edges.tsv.gz");
            let mut bytes = fs::read(&path).unwrap();
            let place = flip.index(bytes.len());
            bytes[place] ^= 1 << bit;
            bytes.truncate(cut.index(bytes.len()));
            fs::write(&path, bytes).unwrap();
            let options = LoadOptions { pages_max: 1000, ..LoadOptions::default() };
            // A cut file is an error, unless nothing is left of it.
            let result = load(folder.path(), &options, &mut unwatched);
            prop_assert!(result.map_or(true, |graph| graph.links.link_count() <= 3));
        }
    }

    #[test]
    fn real_graphs_have_the_known_numbers() {
        for (name, pages, links, hosts) in [
            ("cnr-2000", 325_557, 3_216_152, 1_127),
            ("webkb", 81_180, 105_195, 10_281),
            ("cs-stanford", 9_914, 36_854, 21),
        ] {
            let Some(path) = junkai_testdata::find(&format!("graphs/{name}")) else {
                continue;
            };
            let graph = load_plainly(&path).unwrap();
            assert_eq!(graph.name, name);
            let found = (
                graph.links.page_count(),
                graph.links.link_count(),
                graph.hosts.count(),
            );
            assert_eq!(found, (pages, links, hosts), "{name}");
        }
    }
}
