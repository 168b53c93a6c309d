//! The measures of a real crawl are those of the prototype (numpy and scipy).

use junkai_graph::{
    LoadOptions, PageRankConfig, Statistics, components, load, pagerank, reachable, unwatched,
};

#[test]
fn the_measures_of_cnr_2000_are_those_of_the_prototype() {
    let Some(path) = junkai_testdata::find("graphs/cnr-2000") else {
        return;
    };
    let graph = load(&path, &LoadOptions::default(), &mut unwatched).unwrap();
    let components = components(&graph.links, &mut unwatched);
    let pagerank = pagerank(&graph.links, &PageRankConfig::default(), &mut unwatched);
    let found = Statistics::new(&graph, &components, &pagerank);
    assert_eq!((found.pages, found.links), (325_557, 3_216_152));
    assert_eq!((found.hosts, found.host_pages_median), (1_127, 15));
    assert_eq!(found.host_pages_max, 18_395);
    assert_eq!(found.components, 100_977);
    assert_eq!(components.sizes().iter().max(), Some(&112_023));
    let shares = found
        .pages_for_pagerank
        .map(|share| format!("{:.3}", 100.0 * share));
    assert_eq!(shares, ["0.041", "0.929", "9.412", "31.457"]);
    let reached = reachable(&graph.links, &components.seeds(64));
    assert!(reached.iter().all(|&is_reached| is_reached));
}
