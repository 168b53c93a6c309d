//! Prints the statistics of graphs side by side, and the seconds that it took to make and to measure them.
//!
//! Each argument is a graph to be read, or `PAGES:SEED[:MEAN_OUT_DEGREE]` for one to be generated.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use junkai_graph::generate::{Generator, GeneratorConfig};
use junkai_graph::{
    LoadOptions, PageRankConfig, Statistics, WebGraph, components, load, pagerank, unwatched,
};

fn main() -> Result<()> {
    let columns = std::env::args()
        .skip(1)
        .map(|argument| column(&argument))
        .collect::<Result<Vec<_>>>()?;
    let row_count = columns.first().map_or(0, Vec::len);
    for row in 0..row_count {
        print!("{:30}", columns[0][row].0);
        for column in &columns {
            print!("{:>20}", column[row].1);
        }
        println!();
    }
    Ok(())
}

fn column(argument: &str) -> Result<Vec<(&'static str, String)>> {
    let start = Instant::now();
    let graph = graph(argument)?;
    let made = start.elapsed();
    let components = components(&graph.links, &mut unwatched);
    let joined = start.elapsed();
    let pagerank = pagerank(&graph.links, &PageRankConfig::default(), &mut unwatched);
    let ranked = start.elapsed();
    let statistics = Statistics::new(&graph, &components, &pagerank);
    let mut rows = vec![("", statistics.name.clone())];
    rows.extend(statistics.rows());
    rows.push(("seconds to make", format!("{:.2}", made.as_secs_f64())));
    let components_seconds = joined.saturating_sub(made).as_secs_f64();
    rows.push(("seconds for components", format!("{components_seconds:.2}")));
    let pagerank_seconds = ranked.saturating_sub(joined).as_secs_f64();
    rows.push(("seconds for PageRank", format!("{pagerank_seconds:.2}")));
    rows.push(("iterations", pagerank.iterations.to_string()));
    Ok(rows)
}

fn graph(argument: &str) -> Result<WebGraph> {
    let numbers: Vec<&str> = argument.split(':').collect();
    if let (2.., Ok(pages)) = (numbers.len(), numbers[0].parse()) {
        let mut config = GeneratorConfig::new(pages, numbers[1].parse()?);
        if let Some(degree) = numbers.get(2) {
            config.mean_out_degree = degree.parse()?;
        }
        return Ok(Generator::new(config).collect(&mut unwatched));
    }
    let options = LoadOptions::default();
    Ok(load(Path::new(argument), &options, &mut unwatched)?)
}
