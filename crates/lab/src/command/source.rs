//! Where the graphs of an experiment come from: files, or the generator.

use std::path::{Path, PathBuf};

use anyhow::Result;
use junkai_simulation::graph::generate::{Generator, GeneratorConfig};
use junkai_simulation::graph::{Cache, HostCut, LoadOptions, WebGraph, load};
use junkai_simulation::subject::Subject;
use junkai_terminal::bar::Bar;
use junkai_terminal::show::quoted;

/// Pages of the generated web that stands in where no graph is given.
const PAGES_DEFAULT: u32 = 300_000;

/// What chance is drawn from, unless told otherwise.
const SEED_DEFAULT: u64 = 1;

/// Which graphs to take.
#[derive(clap::Args)]
pub(super) struct Sources {
    /// Web graphs: a folder with edges.tsv[.gz] (and urls.txt, hosts.txt, servers.tsv), BVGraph files, or an edge list
    /// [default: a generated web of 300,000 pages].
    #[arg(value_name = "GRAPH")]
    graphs: Vec<PathBuf>,
    #[command(flatten)]
    made: Made,
}

/// The same, where there is one graph.
#[derive(clap::Args)]
pub(super) struct Source {
    /// A web graph: a folder with edges.tsv[.gz] (and urls.txt, hosts.txt, servers.tsv), BVGraph files, or an edge list
    /// [default: a generated web of 300,000 pages].
    #[arg(value_name = "GRAPH", conflicts_with = "generate")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    made: Made,
}

/// How graphs are made, or cut into hosts.
#[derive(clap::Args, Clone)]
struct Made {
    /// Generate a web of this many pages to experiment on.
    #[arg(long, value_name = "PAGES", value_parser = clap::value_parser!(u32).range(1..))]
    generate: Option<u32>,
    /// What everything that is left to chance is drawn from.
    #[arg(long, value_name = "N", default_value_t = SEED_DEFAULT)]
    seed: u64,
    /// Cut pages into hosts of this many neighbours each, instead of by URLs or by the links between them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    host_pages: Option<u32>,
}

impl Sources {
    /// Reads or makes each graph, and measures it.
    pub(super) fn subjects(&self, bar: &mut Bar) -> Result<Vec<Subject>> {
        let mut subjects = self
            .graphs
            .iter()
            .map(|path| self.made.subject(path, bar))
            .collect::<Result<Vec<_>>>()?;
        subjects.extend(
            self.pages_generated()
                .map(|pages| self.made.generated(pages, bar)),
        );
        Ok(subjects)
    }

    /// The arguments that name the same graphs again, each with a space before it.
    pub(super) fn again(&self) -> String {
        let paths: Vec<String> = self.graphs.iter().map(|path| quoted(path)).collect();
        let gap = if paths.is_empty() { "" } else { " " };
        gap.to_owned() + &paths.join(" ") + &self.made.again(self.pages_generated())
    }

    /// What chance is drawn from.
    pub(super) fn seed(&self) -> u64 {
        self.made.seed
    }

    fn pages_generated(&self) -> Option<u32> {
        self.made
            .generate
            .or(self.graphs.is_empty().then_some(PAGES_DEFAULT))
    }
}

impl Source {
    /// Reads or makes the graph, and measures it.
    pub(super) fn subject(&self, bar: &mut Bar) -> Result<Subject> {
        match &self.graph {
            Some(path) => self.made.subject(path, bar),
            None => Ok(self.made.generated(self.pages_generated(), bar)),
        }
    }

    /// The arguments that name the same graph again, each with a space before it.
    pub(super) fn again(&self) -> String {
        match &self.graph {
            Some(path) => format!(" {}{}", quoted(path), self.made.again(None)),
            None => self.made.again(Some(self.pages_generated())),
        }
    }

    fn pages_generated(&self) -> u32 {
        self.made.generate.unwrap_or(PAGES_DEFAULT)
    }
}

impl Made {
    fn subject(&self, path: &Path, bar: &mut Bar) -> Result<Subject> {
        let web = self.read(path, bar)?;
        let cache = Cache::beside(path, cache_folder());
        let subject = Subject::measure(web, &cache, &mut |progress| bar.show(progress));
        bar.finish();
        Ok(subject)
    }

    fn read(&self, path: &Path, bar: &mut Bar) -> Result<WebGraph> {
        let options = LoadOptions {
            cut: self.host_pages.map(HostCut::EqualBlocks),
            ..LoadOptions::default()
        };
        let read = load(path, &options, &mut |progress| bar.show(progress));
        bar.finish();
        Ok(read?)
    }

    /// Nothing of it is kept: it is made as fast as it would be read.
    fn generated(&self, pages: u32, bar: &mut Bar) -> Subject {
        let generator = Generator::new(GeneratorConfig::new(pages, self.seed));
        let web = generator.collect(&mut |progress| bar.show(progress));
        let subject = Subject::measure(web, &Cache::none(), &mut |progress| bar.show(progress));
        bar.finish();
        subject
    }

    fn again(&self, generated: Option<u32>) -> String {
        let seed = (generated.is_some() || self.seed != SEED_DEFAULT)
            .then(|| format!(" --seed {}", self.seed));
        let generated = generated.map(|pages| format!(" --generate {pages}"));
        let cut = self
            .host_pages
            .map(|pages| format!(" --host-pages {pages}"));
        [generated, seed, cut].into_iter().flatten().collect()
    }
}

/// Where measures are kept if the graph's own folder cannot be written.
fn cache_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("junkai/graphs"))
}
