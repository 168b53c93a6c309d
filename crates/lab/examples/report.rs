//! Runs the experiments of the seeds on graphs and writes `report.html`, with the tables and figures beside it.
//!
//! The first argument is the folder to write to; each further one is a graph to be read, or a number of pages for one to be
//! generated.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use junkai_lab::experiment::{beyond, in_degree, ring};
use junkai_lab::graph::generate::{Generator, GeneratorConfig};
use junkai_lab::graph::{Cache, LoadOptions, WebGraph, load, unwatched};
use junkai_lab::report;
use junkai_lab::subject::Subject;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give a folder to write to")?;
    let start = Instant::now();
    let mut subjects = Vec::new();
    for argument in arguments {
        subjects.push(Subject::measure(
            graph(&argument)?,
            &Cache::none(),
            &mut unwatched,
        ));
    }
    println!("{:.1} s: graphs are ready", start.elapsed().as_secs_f64());
    let mut outcomes = Vec::new();
    outcomes.push(ring::run(
        &subjects,
        &ring::RingExperiment::default(),
        &|_| {},
    ));
    println!("{:.1} s: ring", start.elapsed().as_secs_f64());
    outcomes.push(in_degree::run(
        &subjects,
        &in_degree::InDegreeExperiment::default(),
        &|_| {},
    ));
    println!("{:.1} s: in-degree", start.elapsed().as_secs_f64());
    outcomes.push(beyond::run(
        &subjects,
        &beyond::BeyondExperiment::default(),
        &|_| {},
    ));
    println!("{:.1} s: beyond", start.elapsed().as_secs_f64());
    let folder = Path::new(&folder);
    for outcome in &outcomes {
        outcome.write(folder)?;
    }
    let statistics: Vec<_> = subjects
        .iter()
        .map(|subject| subject.statistics.clone())
        .collect();
    let path = folder.join("report.html");
    std::fs::write(&path, report::html(&outcomes, &statistics))?;
    println!("{:.1} s: {}", start.elapsed().as_secs_f64(), path.display());
    Ok(())
}

fn graph(argument: &str) -> Result<WebGraph, Box<dyn Error>> {
    if let Ok(pages) = argument.parse() {
        return Ok(Generator::new(GeneratorConfig::new(pages, 1)).collect(&mut unwatched));
    }
    Ok(load(
        Path::new(argument),
        &LoadOptions::default(),
        &mut unwatched,
    )?)
}
