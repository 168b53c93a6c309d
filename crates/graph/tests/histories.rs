//! Real change histories are read whole and are as their description says.

use junkai_graph::history::{BULK_PAGES_MAX, load};

#[test]
fn the_real_histories_are_as_described() {
    let Some(folder) = junkai_testdata::find("changes") else {
        return;
    };
    for (name, pages, events) in [
        ("openbsd-www", Some(5_743), 97_360),
        ("ons-sdg-data", Some(14_750), 604_479),
        ("curl-www", None, 17_433),
        ("vimdoc-ja", None, 10_588),
    ] {
        let history = load(&folder.join(format!("{name}.tsv.zst"))).unwrap();
        let found = history.statistics();
        for (what, value) in found.rows() {
            println!("{name}: {what}: {value}");
        }
        assert_eq!(found.name, name);
        assert!(pages.is_none_or(|pages| pages == found.pages));
        assert_eq!(found.events, events);
        let quiet = history.without_bulk(BULK_PAGES_MAX).statistics();
        println!("{name}: without bulk: {:?}", quiet.gap_dispersion);
        assert!(quiet.gap_dispersion.unwrap() > 1.0, "burstier than Poisson");
    }
}
