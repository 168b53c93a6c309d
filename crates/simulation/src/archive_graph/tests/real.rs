//! WARC files that other people's tools wrote. They are looked for in `JUNKAI_SHARED_DATA`, or else in `../shared/data` beside
//! the workspace; without them the test says so and ends.

use std::path::{Path, PathBuf};

use junkai_graph::unwatched;

use super::made::told;
use crate::archive_graph::{Options, read};

#[test]
fn files_of_other_tools_are_read_and_always_the_same() {
    let data = std::env::var_os("JUNKAI_SHARED_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let folder = data.join("warc");
    if !folder.is_dir() {
        eprintln!("no WARC files in {}: nothing to do", folder.display());
        return;
    }
    let graph = read(&folder, &Options::default(), &mut unwatched).unwrap();
    assert!(20 < graph.captured, "{:?}", graph.report);
    assert!(u64::from(graph.captured) < graph.web().links.link_count());
    assert!(0 < graph.report.revisits);
    let again = read(&folder, &Options::default(), &mut unwatched).unwrap();
    assert_eq!(told(&again), told(&graph));
    assert_eq!(again.web(), graph.web());
    assert_eq!(again.report, graph.report);
}
