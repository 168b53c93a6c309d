use junkai_graph::{Cache, LoadOptions, load, unwatched};

use super::tables::Measure;
use super::*;

#[test]
fn the_top_is_a_thousandth_and_at_least_ten() {
    let degrees: Vec<u32> = (1..=20_000).collect();
    assert_eq!(least_of_top(&degrees), 19_981);
    let few: Vec<u32> = (1..=100).collect();
    assert_eq!(least_of_top(&few), 91);
    assert_eq!(least_of_top(&[5, 7]), 5);
    assert_eq!(least_of_top(&[0, 0]), 1);
    assert_eq!(least_of_top(&[]), 1);
}

#[test]
fn curves_end_at_the_last_visit() {
    assert_eq!(places(0).count(), 0);
    assert_eq!(places(3).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(places(12_345).last(), Some(12_345));
    assert_eq!(reached(&[3, 1, 2], 2), [1, 1, 2]);
}

/// What the prototype printed of a start: in-degree first, then breadth first.
struct Printed {
    start: Page,
    authority_degree: u32,
    authorities: [u32; 2],
    hub_degree: u32,
    hubs: [u32; 2],
    top_pages: [u32; 2],
    density: [&'static str; 2],
    pagerank: [&'static str; 2],
}

const PROTOTYPE: [Printed; 5] = [
    Printed {
        start: 216_390,
        authority_degree: 675,
        authorities: [100, 61],
        hub_degree: 217,
        hubs: [101, 119],
        top_pages: [175, 133],
        density: ["10.32", "9.45"],
        pagerank: ["0.430", "0.429"],
    },
    Printed {
        start: 12_518,
        authority_degree: 545,
        authorities: [137, 109],
        hub_degree: 167,
        hubs: [100, 82],
        top_pages: [209, 178],
        density: ["10.20", "8.33"],
        pagerank: ["0.431", "0.409"],
    },
    Printed {
        start: 263_817,
        authority_degree: 652,
        authorities: [125, 117],
        hub_degree: 216,
        hubs: [100, 90],
        top_pages: [178, 180],
        density: ["10.64", "10.25"],
        pagerank: ["0.423", "0.436"],
    },
    Printed {
        start: 313_642,
        authority_degree: 778,
        authorities: [110, 86],
        hub_degree: 199,
        hubs: [100, 112],
        top_pages: [178, 180],
        density: ["12.03", "10.80"],
        pagerank: ["0.425", "0.429"],
    },
    Printed {
        start: 190_717,
        authority_degree: 741,
        authorities: [101, 92],
        hub_degree: 206,
        hubs: [103, 93],
        top_pages: [225, 214],
        density: ["9.78", "7.47"],
        pagerank: ["0.411", "0.399"],
    },
];

/// Pages that the prototype's crawls visited.
const PROTOTYPE_PAGES: u32 = 100_000;

#[test]
fn figures_are_those_of_the_prototype() {
    let Some(path) = junkai_testdata::find("graphs/cnr-2000") else {
        return;
    };
    let web = load(&path, &LoadOptions::default(), &mut unwatched).unwrap();
    let subject = Subject::measure(web, &Cache::none(), &mut unwatched);
    PROTOTYPE.par_iter().for_each(|printed| {
        let pair = Pair::new(&subject, printed.start, PROTOTYPE_PAGES);
        let both = [&pair.in_degree_first, &pair.breadth_first];
        let counts = |of: fn(&Found) -> &Vec<u32>| both.map(|found| *of(found).last().unwrap());
        assert_eq!(pair.authority_degree, printed.authority_degree);
        assert_eq!(pair.hub_degree, printed.hub_degree);
        assert_eq!(counts(|found| &found.authorities), printed.authorities);
        assert_eq!(counts(|found| &found.hubs), printed.hubs);
        assert_eq!(counts(|found| &found.top_pages), printed.top_pages);
        let density = both.map(|found| format!("{:.2}", Measure::Density.of(found)));
        assert_eq!(density, printed.density);
        let pagerank = both.map(|found| format!("{:.3}", Measure::PageRank.of(found)));
        assert_eq!(pagerank, printed.pagerank);
    });
}
