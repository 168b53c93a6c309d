//! `junkai lab`: crawl orders tried out on web graphs, under a virtual clock, with the scheduler that crawls.
//!
//! Each subcommand is a file below; `source` says where graphs come from, `show` prints.

mod changes;
mod crawl;
mod estimators;
mod experiment;
mod focus_real;
mod focus_sim;
mod generate;
mod graph;
mod histories;
mod plan;
mod results;
mod show;
mod source;
mod time_queue;
mod what_if;

use anyhow::Result;

use crate::exit::Ending;

/// What can be done in the lab.
#[derive(clap::Subcommand)]
pub(crate) enum Lab {
    /// Say what graphs are like, side by side.
    #[command(after_help = graph::EXAMPLES)]
    Graph(graph::Arguments),
    /// Write a web-like graph of any size, from a seed.
    #[command(after_help = generate::EXAMPLES)]
    Generate(generate::Arguments),
    /// Crawl a graph by any policies, side by side.
    #[command(after_help = crawl::EXAMPLES)]
    Crawl(crawl::Arguments),
    /// Seed 000: a ring of bounded size against breadth first and IRLbot.
    #[command(after_help = experiment::EXAMPLES)]
    Ring(experiment::RingArguments),
    /// Seed 001: how soon in-degree-first finds authorities and hubs.
    #[command(after_help = experiment::EXAMPLES)]
    InDegree(experiment::InDegreeArguments),
    /// Ours against all policies of the seeds, at equal memory.
    #[command(after_help = experiment::EXAMPLES)]
    Beyond(experiment::BeyondArguments),
    /// Seed 002: how well it is told how often pages change.
    #[command(after_help = estimators::EXAMPLES)]
    Estimators(estimators::Arguments),
    /// Seed 003: page states in time buckets on disk, and what a finer resolution costs.
    #[command(after_help = time_queue::EXAMPLES)]
    TimeQueue(time_queue::Arguments),
    /// Say what a crawl of any size would take: memory, disk, bandwidth, nodes.
    #[command(after_help = plan::EXAMPLES)]
    Plan(plan::Arguments),
    /// Seed 002: when to come back, ours against theirs at equal visits.
    #[command(after_help = changes::EXAMPLES)]
    Revisit(changes::RevisitArguments),
    /// Seed 002: what known pages ask of their servers, and what relief costs.
    #[command(after_help = changes::EXAMPLES)]
    Servers(changes::ServersArguments),
    /// How soon a site's data files are found: ours against plain orders and a published bandit.
    #[command(after_help = focus_real::EXAMPLES)]
    FocusReal(focus_real::Arguments),
    /// Seed 004: which sites hold what is wanted, told with few fetches.
    #[command(after_help = focus_sim::EXAMPLES)]
    FocusSim(focus_sim::Arguments),
    /// All experiments, as one page that opens without a network.
    #[command(after_help = experiment::EXAMPLES)]
    Report(experiment::ReportArguments),
    /// Say what another schedule would have made of an archive's crawl.
    #[command(after_help = what_if::EXAMPLES)]
    WhatIf(what_if::Arguments),
}

/// Does it.
pub(crate) fn run(lab: &Lab) -> Result<Ending> {
    match lab {
        Lab::Graph(arguments) => graph::run(arguments),
        Lab::Generate(arguments) => generate::run(arguments),
        Lab::Crawl(arguments) => crawl::run(arguments),
        Lab::Ring(arguments) => experiment::ring(arguments),
        Lab::InDegree(arguments) => experiment::in_degree(arguments),
        Lab::Beyond(arguments) => experiment::beyond(arguments),
        Lab::Estimators(arguments) => estimators::run(arguments),
        Lab::TimeQueue(arguments) => time_queue::run(arguments),
        Lab::Plan(arguments) => plan::run(arguments),
        Lab::Revisit(arguments) => changes::revisit(arguments),
        Lab::Servers(arguments) => changes::servers(arguments),
        Lab::FocusReal(arguments) => focus_real::run(arguments),
        Lab::FocusSim(arguments) => focus_sim::run(arguments),
        Lab::Report(arguments) => experiment::report(arguments),
        Lab::WhatIf(arguments) => what_if::run(arguments),
    }
}
