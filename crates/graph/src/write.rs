//! Writes a web graph to a folder, in the forms that [`crate::load()`] reads.
//!
//! Links go page after page, so that a graph that is being generated needs no memory. What is known of hosts, URLs and
//! servers is written beside them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::bv::write::BvGraphWriter;
use crate::progress::{Progress, Reporter, Stage};
use crate::{GraphError, Page, WebGraph};

/// How links are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `edges.tsv.gz`: a line for each link, in the order of the page's links.
    Edges,
    /// `graph.graph` and `graph.properties`: about 3 bits a link. The links of a page are sorted.
    BvGraph,
}

/// Writes a graph to a folder, which is made if it does not exist.
pub fn write(
    graph: &WebGraph,
    folder: &Path,
    form: Form,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), GraphError> {
    let mut writer = GraphWriter::create(folder, form)?;
    let pages = u64::from(graph.links.page_count());
    let mut reporter = Reporter::new(progress, Stage::Write, pages);
    for page in graph.links.pages() {
        writer.page(graph.links.successors(page))?;
        reporter.at(u64::from(page));
    }
    writer.finish()?;
    let hosts = &graph.hosts;
    if let Some(urls) = &graph.urls {
        write_lines(&folder.join("urls.txt.gz"), urls.iter())?;
    } else {
        let names = hosts.of_pages().iter().map(|&host| hosts.name(host));
        write_lines(&folder.join("hosts.txt.gz"), names)?;
    }
    if hosts.has_servers() {
        let lines = (0..hosts.count()).map(|host| {
            let server = hosts.server_name(hosts.server(host));
            format!("{}\t{server}", hosts.name(host))
        });
        write_lines(&folder.join("servers.tsv.gz"), lines)?;
    }
    reporter.finish();
    Ok(())
}

/// Writes one line for each item, compressed.
pub(crate) fn write_lines(
    path: &Path,
    lines: impl Iterator<Item = impl AsRef<str>>,
) -> Result<(), GraphError> {
    let mut file = TextFile::create(path)?;
    for line in lines {
        // What holds a line break would be two lines; no name of a page or host has one.
        let line = line.as_ref().replace(['\n', '\r'], " ");
        file.write(format_args!("{line}\n"))?;
    }
    file.finish()
}

/// Writes links page after page.
pub(crate) struct GraphWriter {
    links: LinkWriter,
    page: Page,
}

enum LinkWriter {
    Edges(Box<TextFile>),
    BvGraph(Box<BvGraphWriter>),
}

impl GraphWriter {
    pub(crate) fn create(folder: &Path, form: Form) -> Result<Self, GraphError> {
        fs::create_dir_all(folder).map_err(|source| GraphError::Write {
            path: folder.to_owned(),
            source,
        })?;
        let links = match form {
            Form::Edges => {
                let file = TextFile::create(&folder.join("edges.tsv.gz"))?;
                LinkWriter::Edges(Box::new(file))
            }
            Form::BvGraph => {
                LinkWriter::BvGraph(Box::new(BvGraphWriter::create(folder.join("graph"))?))
            }
        };
        Ok(Self { links, page: 0 })
    }

    /// Writes the links of the next page.
    pub(crate) fn page(&mut self, targets: &[Page]) -> Result<(), GraphError> {
        match &mut self.links {
            LinkWriter::Edges(file) => {
                for target in targets {
                    file.write(format_args!("{}\t{target}\n", self.page))?;
                }
            }
            LinkWriter::BvGraph(writer) => writer.page(targets)?,
        }
        self.page += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), GraphError> {
        match self.links {
            LinkWriter::Edges(file) => file.finish(),
            LinkWriter::BvGraph(writer) => writer.finish(),
        }
    }
}

/// A compressed text file.
struct TextFile {
    path: PathBuf,
    file: BufWriter<GzEncoder<File>>,
}

impl TextFile {
    fn create(path: &Path) -> Result<Self, GraphError> {
        const BUFFER_BYTES: usize = 64 << 10;
        let file = File::create(path).map_err(|source| GraphError::Write {
            path: path.to_owned(),
            source,
        })?;
        let encoder = GzEncoder::new(file, Compression::fast());
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(BUFFER_BYTES, encoder),
        })
    }

    fn write(&mut self, text: std::fmt::Arguments) -> Result<(), GraphError> {
        self.file
            .write_fmt(text)
            .map_err(|source| GraphError::Write {
                path: self.path.clone(),
                source,
            })
    }

    fn finish(self) -> Result<(), GraphError> {
        let path = self.path;
        self.file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(GzEncoder::finish)
            .and_then(|file| file.sync_all())
            .map_err(|source| GraphError::Write { path, source })
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::progress::unwatched;
    use crate::{HostCut, Hosts, Links, LoadOptions, Urls, load};

    fn graph(urls: Option<Urls>) -> WebGraph {
        let names = ["a.example", "a.example", "b.example", "c.example"];
        WebGraph {
            name: "graph".to_owned(),
            links: Links::from_lists(&[vec![1, 2], vec![0], vec![0, 1, 2], vec![]]),
            hosts: Hosts::from_names(names.into_iter().map(Cow::Borrowed)),
            cut: if urls.is_some() {
                HostCut::Urls
            } else {
                HostCut::Given
            },
            urls,
        }
    }

    fn check_round_trip(graph: &WebGraph, form: Form) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep/graph");
        write(graph, &place, form, &mut unwatched).unwrap();
        let read = load(&place, &LoadOptions::default(), &mut unwatched).unwrap();
        assert_eq!(&read, graph);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let urls = [
            "http://a.example/",
            "http://a.example/2",
            "http://b.example/",
            "http://c.example/",
        ];
        for form in [Form::Edges, Form::BvGraph] {
            check_round_trip(&graph(None), form);
            let with_urls = graph(Some(urls.into_iter().collect()));
            check_round_trip(&with_urls, form);
            let with_servers = WebGraph {
                hosts: with_urls
                    .hosts
                    .clone()
                    .with_servers(|host, _| (host != 1).then_some("192.0.2.1")),
                ..with_urls
            };
            check_round_trip(&with_servers, form);
        }
    }

    #[test]
    fn edges_keep_the_order_of_a_pages_links() {
        let links = Links::from_lists(&[vec![3, 0, 2], vec![], vec![1, 0], vec![2]]);
        check_round_trip(
            &WebGraph {
                links,
                ..graph(None)
            },
            Form::Edges,
        );
    }

    #[test]
    fn a_graph_without_pages_is_written() {
        let nothing = WebGraph {
            name: "graph".to_owned(),
            links: Links::empty(),
            hosts: Hosts::from_names([]),
            urls: None,
            cut: HostCut::Given,
        };
        check_round_trip(&nothing, Form::Edges);
        check_round_trip(&nothing, Form::BvGraph);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let place = file.path().join("graph");
        let error = write(&graph(None), &place, Form::Edges, &mut unwatched).unwrap_err();
        assert!(matches!(error, GraphError::Write { path, .. } if path == place));
    }
}
