//! The experiment at a small size, and the real site where it is at hand.

use std::path::PathBuf;

use super::*;
use crate::outcome::Verdict;

fn small() -> FocusRealExperiment {
    FocusRealExperiment {
        repetitions: 2,
        pages: 300,
        ..FocusRealExperiment::default()
    }
}

#[test]
fn ours_needs_fewer_pages_than_breadth_first_on_most_templates() {
    let outcome = run(Material::default(), &small(), &|_| {});
    assert_eq!(outcome.tables.len(), 2);
    let claim = outcome
        .claims
        .iter()
        .find(|claim| claim.claim.contains("breadth first"));
    assert_ne!(claim.unwrap().verdict, Verdict::Fails);
    let again = run(Material::default(), &small(), &|_| {});
    assert_eq!(outcome.tables[0].rows, again.tables[0].rows);
}

#[test]
fn every_order_has_all_files_in_the_end() {
    for template in [0, 4, 8, 9, 13, 17] {
        let site = generated::site(template, 300, 5);
        for contestant in Contestant::ALL {
            let (harvest, collector) =
                harvest(&site, &contestant.settings(), &Experience::default(), 1);
            assert_eq!(
                collector.tally().files,
                site.file_count(),
                "{} on {}",
                contestant.name,
                site.name
            );
            let others = harvest.total.all - collector.tally().files;
            assert_eq!(others, harvest.total.pages);
            assert_eq!(others, site.page_count() + collector.tally().missed);
        }
        let best = knowing(&site);
        assert_eq!(best.total.pages, site.page_count());
    }
}

#[test]
fn who_knows_all_links_is_not_beaten_by_those_who_follow_them() {
    for template in 0..generated::TEMPLATES {
        let site = generated::site(template, 300, 2);
        let best = knowing(&site).reached[1].unwrap().pages;
        for contestant in [
            Contestant::BREADTH_FIRST,
            Contestant::TAG_PATHS,
            Contestant::FOLLOWING,
        ] {
            let (harvest, _) = harvest(&site, &contestant.settings(), &Experience::default(), 1);
            let theirs = harvest.reached[1].unwrap().pages;
            assert!(
                best <= theirs,
                "{} {best} {theirs} on {}",
                contestant.name,
                site.name
            );
        }
    }
}

#[test]
fn the_real_site_is_read_as_its_description_says() {
    let path = PathBuf::from("../../../shared/data/replay/ons-sdg-data-2024.tar.zst");
    if !path.exists() {
        println!("{} is not at hand", path.display());
        return;
    }
    let site = read(&path).unwrap();
    assert_eq!((site.page_count(), site.file_count()), (3207, 3417));
    let ours = |contestant: Contestant| {
        let (harvest, _) = harvest(&site, &contestant.settings(), &Experience::default(), 1);
        harvest.reached[1].unwrap()
    };
    assert_eq!(ours(Contestant::BREADTH_FIRST).all, 6283);
    // The goal, counting all fetches; the files themselves are 49 % of breadth-first's.
    assert!(2 * ours(Contestant::OURS).all <= ours(Contestant::BREADTH_FIRST).all);
    assert!(20 * ours(Contestant::OURS).pages < ours(Contestant::BREADTH_FIRST).pages);
}
