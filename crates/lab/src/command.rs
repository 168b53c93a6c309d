//! The subcommands, one file each; `source` says where graphs come from, `results` where outcomes go.

mod changes;
mod crawl;
mod estimators;
mod experiment;
mod focus_real;
mod focus_sim;
mod generate;
mod graph;
mod histories;
mod results;
mod simulate;
mod source;
mod time_queue;

use anyhow::Result;
use junkai_terminal::exit::Ending;

/// Where to begin, for `--help`.
pub(crate) const EXAMPLES: &str = "\
Where to begin:
  junkai lab report --quick          every experiment in a minute, as a web page
  junkai what-if --archive DIR       your own crawl, in other orders and paces
  junkai plan                        what a crawl of a billion pages takes

ring, in-degree, beyond, estimators, time-queue, revisit, servers, focus-real and
focus-sim each try one question of crawling out, with the code that crawls, on web
graphs (pages and their links) or on histories of pages that changed. Each
compares junkai's way with published ones, and says which published claims hold.
They need no network, and come with generated webs where you have none.";

/// What can be done in the lab.
#[derive(clap::Subcommand)]
pub(crate) enum Lab {
    /// Simulate whole crawls while everything goes wrong, and check that the promises hold.
    #[command(after_help = simulate::EXAMPLES)]
    Simulate(simulate::Arguments),
    /// Say what graphs are like, side by side.
    #[command(after_help = graph::EXAMPLES)]
    Graph(graph::Arguments),
    /// Write a web-like graph of any size, from a seed.
    #[command(after_help = generate::EXAMPLES)]
    Generate(generate::Arguments),
    /// Crawl a graph by any policies, side by side.
    #[command(after_help = crawl::EXAMPLES)]
    Crawl(crawl::Arguments),
    /// How much is fetched of what matters when waiting pages stand in a ring of bounded size, and the rest is forgotten.
    ///
    /// The ring has a slot for each step of time and a key for each server, so that choosing the next page takes the same time however many are known. It is
    /// compared with breadth-first order and with IRLbot, a published crawler that gives each site a budget by the links to it. What matters is PageRank.
    #[command(after_help = experiment::EXAMPLES)]
    Ring(experiment::RingArguments),
    /// How soon the most important pages are found when the page with the most links to it is visited next.
    ///
    /// Important are authorities (many links lead to them) and hubs (they lead to many authorities). In-degree order is compared with breadth-first order,
    /// from several starts that are far apart.
    #[command(after_help = experiment::EXAMPLES)]
    InDegree(experiment::InDegreeArguments),
    /// Which order fetches the most of what matters: junkai's `worth` against all others, with the same memory for waiting pages.
    ///
    /// The others: breadth first, in-degree, the bounded ring, IRLbot's budgets; and the best possible order, which knows every page's PageRank in advance.
    #[command(after_help = experiment::EXAMPLES)]
    Beyond(experiment::BeyondArguments),
    /// How well one can tell how often a page changes, from visits that only say whether it did.
    ///
    /// junkai's estimator is compared with a published formula in three variants, with counting changes by time, and with the exact solution (which must remember
    /// every visit), on simulated pages and on histories of real sites.
    #[command(after_help = estimators::EXAMPLES)]
    Estimators(estimators::Arguments),
    /// What it costs to keep the next visits of millions of known pages on disk, in buckets of time from a day down to a minute.
    #[command(after_help = time_queue::EXAMPLES)]
    TimeQueue(time_queue::Arguments),
    /// How fresh an archive stays by different rules of when to come back, each with the same number of visits.
    ///
    /// junkai's rule (visit a page when that is worth its price) is compared with coming back as often as a page changes, with all pages alike, and with the best
    /// that is possible for one who knows every change in advance.
    #[command(after_help = changes::EXAMPLES)]
    Revisit(changes::RevisitArguments),
    /// How many visits known pages ask of their servers, for how many servers that is too much, and how fresh pages stay where visits are spread out.
    #[command(after_help = changes::EXAMPLES)]
    Servers(changes::ServersArguments),
    /// How soon a site's data files are found: `junkai focus collect` against plain orders and a published learning crawler.
    #[command(after_help = focus_real::EXAMPLES)]
    FocusReal(focus_real::Arguments),
    /// How few fetches tell which sites hold what is wanted: `junkai focus explore`'s way of choosing the next site against others, on simulated sites.
    #[command(after_help = focus_sim::EXAMPLES)]
    FocusSim(focus_sim::Arguments),
    /// All experiments, as one page that opens without a network.
    #[command(after_help = experiment::EXAMPLES)]
    Report(experiment::ReportArguments),
}

/// Does it.
pub(crate) fn run(lab: &Lab) -> Result<Ending> {
    match lab {
        Lab::Graph(arguments) => graph::run(arguments),
        Lab::Simulate(arguments) => simulate::run(arguments),
        Lab::Generate(arguments) => generate::run(arguments),
        Lab::Crawl(arguments) => crawl::run(arguments),
        Lab::Ring(arguments) => experiment::ring(arguments),
        Lab::InDegree(arguments) => experiment::in_degree(arguments),
        Lab::Beyond(arguments) => experiment::beyond(arguments),
        Lab::Estimators(arguments) => estimators::run(arguments),
        Lab::TimeQueue(arguments) => time_queue::run(arguments),
        Lab::Revisit(arguments) => changes::revisit(arguments),
        Lab::Servers(arguments) => changes::servers(arguments),
        Lab::FocusReal(arguments) => focus_real::run(arguments),
        Lab::FocusSim(arguments) => focus_sim::run(arguments),
        Lab::Report(arguments) => experiment::report(arguments),
    }
}
