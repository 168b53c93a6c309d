//! Why a graph cannot be read or written, and where the trouble is.

use std::io;
use std::path::PathBuf;

use crate::Page;

/// Why a graph cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The path does not lead to a graph of any known form.
    #[error(
        "{path} is no web graph, or does not exist: expected a folder with edges.tsv[.gz] or BVGraph files (.graph and .properties), \
         the base name of BVGraph files, or an edge list of two page numbers a line"
    )]
    NotAGraph {
        /// What was given.
        path: PathBuf,
    },
    /// A folder holds more than one graph.
    #[error("{folder} holds several BVGraphs: name one of them, such as {first}")]
    Ambiguous {
        /// The folder.
        folder: PathBuf,
        /// One of the graphs.
        first: PathBuf,
    },
    /// A file cannot be opened or read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A text file cannot be read to its end: a device failed, or compressed data is cut or damaged.
    #[error("cannot read {path} beyond line {line}")]
    ReadLine {
        /// The file.
        path: PathBuf,
        /// The last line that was read whole, counted from 1; 0 if none was.
        line: u64,
        /// What the system or the decompressor said.
        source: io::Error,
    },
    /// A line is too long to be meant.
    #[error("line {line} of {path} is longer than {bytes_max} bytes")]
    LongLine {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What a line may have.
        bytes_max: usize,
    },
    /// A line of an edge list is not two numbers.
    #[error("line {line} of {path} is not two page numbers: {text:?}")]
    NoEdge {
        /// The edge list.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The line, shortened.
        text: String,
    },
    /// An edge names a page that does not exist.
    #[error("line {line} of {path} names page {page}, but the pages end before {bound}")]
    OutOfRange {
        /// The edge list.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The page that it names.
        page: u64,
        /// How many pages there are, or may be.
        bound: u64,
    },
    /// There are more pages than allowed.
    #[error("{path} has {pages} pages, of which {pages_max} are allowed")]
    TooManyPages {
        /// The file.
        path: PathBuf,
        /// How many it says it has.
        pages: u64,
        /// How many are allowed.
        pages_max: u32,
    },
    /// There are more links than allowed.
    #[error("{path} has more than the {links_max} links that are allowed")]
    TooManyLinks {
        /// The file.
        path: PathBuf,
        /// How many are allowed.
        links_max: u64,
    },
    /// A `.properties` file is not one of a graph that can be read.
    #[error("{path} does not describe a graph that can be read: {reason}")]
    Properties {
        /// The `.properties` file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A `.graph` file ends before its last page.
    #[error("{path} is cut short: it ends within page {page} of {pages}")]
    Truncated {
        /// The `.graph` file.
        path: PathBuf,
        /// The page that is not whole.
        page: Page,
        /// How many pages the properties promise.
        pages: u32,
    },
    /// A `.graph` file says something impossible.
    #[error("{path} is damaged at page {page} (bit {bit}): {reason}")]
    Damaged {
        /// The `.graph` file.
        path: PathBuf,
        /// The page whose links make no sense.
        page: Page,
        /// How far the file was read.
        bit: u64,
        /// What is impossible about them.
        reason: &'static str,
    },
    /// A `.graph` file has fewer links than its properties say.
    #[error("{path} has {found} links, but its properties promise {promised}")]
    LinkCount {
        /// The `.graph` file.
        path: PathBuf,
        /// Links found.
        found: u64,
        /// Links promised.
        promised: u64,
    },
    /// A list of URLs or host names does not fit the graph.
    #[error("{path} has {names} lines, but the graph has {pages} pages")]
    NameCount {
        /// The list.
        path: PathBuf,
        /// Lines in it.
        names: u64,
        /// Pages in the graph.
        pages: u32,
    },
    /// A line of `servers.tsv` is not a host and a server.
    #[error("line {line} of {path} is not a host name and a server, with a tab between: {text:?}")]
    NoServer {
        /// The list.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The line, shortened.
        text: String,
    },
    /// Hosts cannot be told by the rule that was asked for.
    #[error("{path} has no list of URLs, so its hosts cannot be told from them")]
    NoUrls {
        /// The graph.
        path: PathBuf,
    },
    /// Hosts cannot be told by the list that was asked for.
    #[error("{path} has no list of host names (hosts.txt)")]
    NoHosts {
        /// The graph.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
