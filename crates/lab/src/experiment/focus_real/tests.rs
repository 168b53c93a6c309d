//! The experiment at a small size, and the real site where it is at hand.

use junkai_simulation::outcome::{Cell, Verdict};

use super::harvest::knowing;
use super::*;

/// Twenty sites of four pages, of which two hold data files and say so.
fn made(seed: u64) -> Vec<MadeSite> {
    let site = |number: u64| {
        let holds = number % 10 == 3;
        let origin = format!("http://site{seed}-{number}.example");
        let said = if holds {
            "Statistics of the population: tables of the census by region and year, data to download as CSV."
        } else {
            "Our shop has shoes and hats. Put them in the basket, and we send them tomorrow."
        };
        let page = |links: &str| {
            format!("<title>{said}</title><h1>{said}</h1><p>{said}</p>{links}").into_bytes()
        };
        let item = |item: u32| format!("<ul><li><a href=\"/{item}.html\">{said}</a></ul>");
        let list = [0, 1, 2].map(item).concat();
        let mut pages = vec![(format!("{origin}/"), page(&list))];
        for item in 0..3 {
            let file = format!("{origin}/{item}.csv");
            pages.push((
                format!("{origin}/{item}.html"),
                page(&format!("<a href=\"{file}\">CSV</a>")),
            ));
            if holds {
                pages.push((file, b"region,2020\r\nnorth,5\r\n".to_vec()));
            }
        }
        MadeSite {
            name: number.to_string(),
            home: format!("{origin}/"),
            holds,
            pages,
        }
    };
    (0..20).map(site).collect()
}

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
fn exploring_first_finds_the_sites_with_data_and_leaves_the_others_alone() {
    let material = Material {
        made: Some(&made),
        ..Material::default()
    };
    let experiment = small();
    let meter = Meter::new(0, &|_| {});
    let wholes = Whole::run(material, &experiment, &meter);
    let [whole] = &wholes[..] else {
        panic!("one web, of made sites");
    };
    let table = whole.table();
    let cell = |way: &str, column: &str| {
        let row = table
            .rows
            .iter()
            .find(|row| row[0] == Cell::Text(way.to_owned()));
        let place = table.columns.iter().position(|known| known.key == column);
        row.unwrap()[place.unwrap()].clone()
    };
    assert_eq!(cell("ours", "sites_right"), Cell::Count(2));
    assert_eq!(cell("ours", "sites_taken"), Cell::Count(2));
    assert_eq!(cell("ours", "files_in_the_end"), Cell::Part(1.0));
    let all = "all sites at once, breadth first";
    assert_eq!(cell(all, "fetches_in_the_end"), Cell::Count(20 * 4 + 2 * 3));
    assert_eq!(cell(all, "files_in_the_end"), Cell::Part(1.0));
    // What exploring has fetched is not fetched again, and no page of the others is collected.
    let (Cell::Count(explored), Cell::Count(ended)) = (
        cell("ours, by links only", "explored_fetches"),
        cell("ours, by links only", "fetches_in_the_end"),
    ) else {
        panic!("counts");
    };
    assert!(ended <= explored + 2 * 7, "{explored} {ended}");
    assert!(whole.claims().len() == 3 && whole.figure().is_some() && whole.finding().is_some());
}

#[test]
fn every_order_has_all_files_in_the_end() {
    for template in [0, 4, 8, 9, 13, 17] {
        let site = generated::site(template, 300, 5, Names::Usual);
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
        let site = generated::site(template, 300, 2, Names::Own);
        let best = knowing(&site).reached[1].unwrap().pages;
        for contestant in [
            Contestant::BREADTH_FIRST,
            Contestant::TAG_PATHS,
            Contestant::BY_LINKS,
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
    let Some(path) = junkai_testdata::find("replay/ons-sdg-data-2024.tar.zst") else {
        return;
    };
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
