//! WARC files that other people's tools wrote.

use junkai_graph::unwatched;

use super::made::told;
use crate::archive_graph::{Options, read};

#[test]
fn files_of_other_tools_are_read_and_always_the_same() {
    let Some(folder) = junkai_testdata::find("warc") else {
        return;
    };
    let graph = read(&folder, &Options::default(), &mut unwatched).unwrap();
    assert!(20 < graph.captured, "{:?}", graph.report);
    assert!(u64::from(graph.captured) < graph.web().links.link_count());
    assert!(0 < graph.report.revisits);
    let again = read(&folder, &Options::default(), &mut unwatched).unwrap();
    assert_eq!(told(&again), told(&graph));
    assert_eq!(again.web(), graph.web());
    assert_eq!(again.report, graph.report);
}
