//! Writes the graph of an archive to a folder that [`junkai_graph::load()`] and other tools read.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `edges.tsv.gz` | `source<TAB>target` for each link, in the order of pages and, within a page, of the document |
//! | `urls.txt.gz` | the URL of page *n* in line *n*, from 0; captured pages first |
//! | `servers.tsv.gz` | `host<TAB>address` for each host; one that was never captured has its name in place of an address |
//! | `hosts/edges.tsv.gz` | `source<TAB>target<TAB>links` for each pair of hosts |
//! | `hosts/hosts.txt.gz` | the name of host *n* in line *n* |
//! | `hosts/servers.tsv.gz` | as above |
//! | `graph.json` | how many of everything, and what was passed over; it marks the folder as an exported graph |
//!
//! `hosts/` is a graph of its own, whose pages are hosts. The same archive always gives the same bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use junkai_graph::{Form, Progress};
use serde::{Deserialize, Serialize};

use super::report::Report;
use super::{ArchiveGraph, ArchiveGraphError, HostGraph};

const FORMAT: &str = "junkai-archive-graph";
const SUMMARY_FILE: &str = "graph.json";
const PAGE_FILES: [&str; 3] = ["edges.tsv.gz", "urls.txt.gz", "servers.tsv.gz"];
const HOST_EDGES_FILE: &str = "hosts/edges.tsv.gz";
const HOST_NAMES_FILE: &str = "hosts/hosts.txt.gz";
const HOST_SERVERS_FILE: &str = "hosts/servers.tsv.gz";
/// Where files are until all of them are whole: a folder in the folder.
const UNFINISHED_FOLDER: &str = "unfinished.part";

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The graph of pages, and that of hosts.
    PagesAndHosts,
    /// The graph of hosts alone.
    Hosts,
}

/// What becomes of a folder that holds something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupied {
    /// It is left alone, and nothing is written. An older export is replaced all the same.
    Refuse,
    /// Files of the same names are replaced; others stay.
    Overwrite,
}

/// How many of everything: what `graph.json` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Marks the file as ours.
    pub format: &'static str,
    /// Of the layout of the folder.
    pub version: u32,
    /// The name of the archive's folder.
    pub archive: String,
    /// Pages that were captured: those with lower numbers than this.
    pub captured: u32,
    /// Pages that are known: captured or linked to.
    pub pages: u32,
    /// Links between them.
    pub links: u64,
    /// Hosts of known pages.
    pub hosts: u32,
    /// Pairs of hosts with links from one to the other.
    pub host_links: u64,
    /// Addresses that hosts were captured from.
    pub servers: u64,
    /// What was read and what was passed over.
    pub report: Report,
}

/// Whether [`write()`] would take the folder; to be asked before a long work is begun.
///
/// # Errors
/// [`ArchiveGraphError::NotOurs`] if it holds something that is no exported graph.
pub fn check(folder: &Path) -> Result<(), ArchiveGraphError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => {
            return Err(ArchiveGraphError::List {
                path: folder.to_owned(),
                source,
            });
        }
    };
    if is_ours(folder) {
        return Ok(());
    }
    let names = entries.flatten().map(|entry| entry.file_name());
    let foreign = names
        .map(|name| name.to_string_lossy().into_owned())
        // What an export left behind that was killed.
        .find(|name| name != UNFINISHED_FOLDER);
    match foreign {
        None => Ok(()),
        Some(found) => Err(ArchiveGraphError::NotOurs {
            path: folder.to_owned(),
            found,
        }),
    }
}

fn is_ours(folder: &Path) -> bool {
    #[derive(Deserialize)]
    struct Mark {
        format: String,
    }
    let text = fs::read(folder.join(SUMMARY_FILE)).unwrap_or_default();
    serde_json::from_slice::<Mark>(&text).is_ok_and(|mark| mark.format == FORMAT)
}

/// Writes a graph.
///
/// # Errors
/// If a file cannot be written, or the folder is occupied and that is not to be overwritten.
pub fn write(
    graph: &ArchiveGraph,
    folder: &Path,
    parts: Parts,
    occupied: Occupied,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, ArchiveGraphError> {
    if occupied == Occupied::Refuse {
        check(folder)?;
    }
    let unfinished = begin(folder)?;
    let host_graph = HostGraph::of(&graph.web.links, &graph.web.hosts);
    let summary = Summary::of(graph, &host_graph);
    write_file(&unfinished.join(SUMMARY_FILE), |out| {
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        writeln!(out)
    })?;
    write_hosts(graph, &host_graph, &unfinished)?;
    if parts == Parts::PagesAndHosts {
        junkai_graph::write(&graph.web, &unfinished, Form::Edges, progress)?;
    }
    finish(folder, &unfinished)?;
    Ok(summary)
}

/// Makes the folders, and where files are until all of them are whole: anew, so that nothing in it leads elsewhere.
fn begin(folder: &Path) -> Result<PathBuf, ArchiveGraphError> {
    let unfinished = folder.join(UNFINISHED_FOLDER);
    match fs::remove_dir_all(&unfinished) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(write_error(&unfinished, source));
        }
        _ => {}
    }
    let hosts = folder.join("hosts");
    fs::create_dir_all(&hosts).map_err(|source| write_error(&hosts, source))?;
    for path in [&unfinished, &unfinished.join("hosts")] {
        fs::create_dir(path).map_err(|source| write_error(path, source))?;
    }
    Ok(unfinished)
}

impl Summary {
    fn of(graph: &ArchiveGraph, host_graph: &HostGraph) -> Self {
        Self {
            format: FORMAT,
            version: 1,
            archive: graph.web.name.clone(),
            captured: graph.captured,
            pages: graph.web.links.page_count(),
            links: graph.web.links.link_count(),
            hosts: graph.web.hosts.count(),
            host_links: host_graph.links.len() as u64,
            servers: graph.server_count() as u64,
            report: graph.report.clone(),
        }
    }
}

fn write_hosts(
    graph: &ArchiveGraph,
    host_graph: &HostGraph,
    folder: &Path,
) -> Result<(), ArchiveGraphError> {
    let hosts = &graph.web.hosts;
    write_compressed(&folder.join(HOST_EDGES_FILE), |out| {
        host_graph
            .links
            .iter()
            .try_for_each(|link| writeln!(out, "{}\t{}\t{}", link.source, link.target, link.count))
    })?;
    write_compressed(&folder.join(HOST_NAMES_FILE), |out| {
        (0..hosts.count()).try_for_each(|host| writeln!(out, "{}", hosts.name(host)))
    })?;
    write_compressed(&folder.join(HOST_SERVERS_FILE), |out| {
        (0..hosts.count()).try_for_each(|host| {
            let server = hosts.server_name(hosts.server(host));
            writeln!(out, "{}\t{server}", hosts.name(host))
        })
    })
}

fn write_compressed(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ArchiveGraphError> {
    write_file(path, |out| {
        let mut lines = BufWriter::new(GzEncoder::new(out, Compression::fast()));
        fill(&mut lines)?;
        lines.into_inner()?.finish().map(drop)
    })
}

fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ArchiveGraphError> {
    let written = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        fill(&mut out)?;
        out.into_inner()?.sync_all()
    };
    written().map_err(|source| write_error(path, source))
}

/// Puts the new files in the place of the old ones; old ones that have no successor go.
fn finish(folder: &Path, unfinished: &Path) -> Result<(), ArchiveGraphError> {
    // The mark comes first: whatever happens from here on, the folder is known as ours.
    let names = [
        SUMMARY_FILE,
        HOST_EDGES_FILE,
        HOST_NAMES_FILE,
        HOST_SERVERS_FILE,
    ];
    for name in names.into_iter().chain(PAGE_FILES) {
        let (new, place) = (unfinished.join(name), folder.join(name));
        let moved = match fs::rename(&new, &place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::remove_file(&place),
            moved => moved,
        };
        match moved {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(write_error(&place, source));
            }
            _ => {}
        }
    }
    fs::remove_dir_all(unfinished).map_err(|source| write_error(unfinished, source))
}

fn write_error(path: &Path, source: io::Error) -> ArchiveGraphError {
    ArchiveGraphError::Write {
        path: path.to_owned(),
        source,
    }
}
