//! Collectors on small sites, against what must hold for every order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::testing::chance;
use super::*;

/// A site: pages with their links, by name; names that end in `.csv` are files.
type Web = BTreeMap<String, Vec<(String, &'static str)>>;

fn is_file(url: &str) -> bool {
    url.strip_suffix(".csv").is_some()
}

fn link<'a>(url: &'a str, tag_path: &'a str) -> LinkSeen<'a> {
    LinkSeen {
        url,
        text: "",
        tag_path,
        beside: "",
        looks: if is_file(url) {
            Looks::DataFile
        } else {
            Looks::Page
        },
    }
}

/// Fetches everything, and returns the order.
fn collect(
    web: &Web,
    start: &str,
    settings: Settings,
    experience: &Experience,
) -> (Vec<String>, Collector) {
    let mut collector = Collector::new(experience, settings);
    let mut chance = chance(3);
    collector.start(start);
    let mut order = Vec::new();
    while let Some(number) = collector.next(&mut chance) {
        let url = collector.url(number).to_owned();
        if let Some(links) = web.get(&url) {
            let links: Vec<LinkSeen<'_>> =
                links.iter().map(|(url, path)| link(url, path)).collect();
            collector.fetched(number, Fetched::Page(&links));
        } else if is_file(&url) && web.values().flatten().any(|(known, _)| *known == url) {
            collector.fetched(number, Fetched::DataFile);
        } else {
            collector.fetched(number, Fetched::Nothing);
        }
        order.push(url);
    }
    (order, collector)
}

fn with_order(order: Order) -> Settings {
    Settings {
        order,
        ..Settings::default()
    }
}

const MENU: &str = "html body nav ul.menu li a";
const LIST: &str = "html body main div.list table tr td a";
const FILE: &str = "html body main div.files p a.download";

/// A menu of two sections, one of articles, one of data sets named in a way that nobody can guess.
fn two_sections(pages: usize) -> Web {
    let mut web = Web::new();
    let name = |section: &str, page: usize| format!("https://a.example/{section}/{page}.html");
    let sections = ["news", "data"].map(|section| (format!("https://a.example/{section}/"), MENU));
    web.insert("https://a.example/".to_owned(), sections.to_vec());
    for section in ["news", "data"] {
        let list = (0..pages).map(|page| (name(section, page), LIST)).collect();
        web.insert(format!("https://a.example/{section}/"), list);
        for page in 0..pages {
            let file = format!("https://a.example/get/{}.csv", (page * 7919) % 10_007 + 31);
            let links = if section == "data" {
                vec![(file, FILE)]
            } else {
                Vec::new()
            };
            web.insert(name(section, page), links);
        }
    }
    web
}

/// Fetches until this share of the files is had.
fn fetches_for(order: &[String], share: f64) -> usize {
    let all = order.iter().filter(|url| is_file(url)).count() as f64;
    let mut files = 0.0;
    let reached = order.iter().position(|url| {
        files += f64::from(u8::from(is_file(url)));
        share * all <= files
    });
    reached.map_or(usize::MAX, |place| place + 1)
}

#[test]
fn ours_goes_where_the_files_are() {
    let web = two_sections(200);
    let fetches = |order| {
        let (order, _) = collect(
            &web,
            "https://a.example/",
            with_order(order),
            &Experience::default(),
        );
        assert_eq!(order.len(), 603);
        fetches_for(&order, 0.9)
    };
    let ours = fetches(Order::Learned);
    // 180 pages and their files have to be fetched, and three pages lead there.
    assert!(ours < 363 + 40, "{ours}");
    assert!(ours + 100 < fetches(Order::BreadthFirst));
    assert!(ours + 50 < fetches(Order::Random));
}

#[test]
fn known_files_come_first() {
    let web = two_sections(20);
    for order in [Order::TagPaths, Order::Learned] {
        let (order, _) = collect(
            &web,
            "https://a.example/",
            with_order(order),
            &Experience::default(),
        );
        for pair in order.windows(2) {
            let has_file = web
                .get(&pair[0])
                .is_some_and(|links| links.iter().any(|link| is_file(&link.0)));
            assert_eq!(has_file, is_file(&pair[1]), "{pair:?}");
        }
    }
}

#[test]
fn the_plain_orders_are_what_they_are_called() {
    let web = two_sections(2);
    let names = |order| {
        let (order, _) = collect(
            &web,
            "https://a.example/",
            with_order(order),
            &Experience::default(),
        );
        let short = |url: String| url.replace("https://a.example/", "");
        order
            .into_iter()
            .map(short)
            .collect::<Vec<String>>()
            .join(" ")
    };
    assert_eq!(
        names(Order::BreadthFirst),
        " news/ data/ news/0.html news/1.html data/0.html data/1.html get/31.csv get/7950.csv"
    );
    assert_eq!(
        names(Order::DepthFirst),
        " news/ news/0.html news/1.html data/ data/0.html get/31.csv data/1.html get/7950.csv"
    );
}

/// A list of pages whose files are named after them; `missing` of the pages have none.
fn named_alike(pages: usize, missing: usize) -> Web {
    let mut web = Web::new();
    let page = |number: usize| format!("https://a.example/table-{}.html", name(number));
    web.insert(
        "https://a.example/".to_owned(),
        (0..pages).map(|number| (page(number), LIST)).collect(),
    );
    for number in 0..pages {
        let file = format!("https://a.example/files/table-{}.csv", name(number));
        let has_file = missing <= number;
        web.insert(
            page(number),
            if has_file {
                vec![(file, FILE)]
            } else {
                Vec::new()
            },
        );
    }
    web
}

fn name(number: usize) -> String {
    let letter = |place: usize| char::from(b'a' + u8::try_from(number / place % 26).unwrap());
    [letter(676), letter(26), letter(1)].iter().collect()
}

#[test]
fn files_named_like_their_pages_are_had_without_the_pages() {
    let web = named_alike(300, 0);
    let (order, collector) = collect(
        &web,
        "https://a.example/",
        Settings::default(),
        &Experience::default(),
    );
    assert!(
        fetches_for(&order, 1.0) < 315,
        "{}",
        fetches_for(&order, 1.0)
    );
    assert_eq!(collector.tally().missed, 0);
    assert_eq!(order.len(), 601, "the pages come after");
    let following = Settings {
        guesses: false,
        ..Settings::default()
    };
    let (order, collector) = collect(
        &web,
        "https://a.example/",
        following,
        &Experience::default(),
    );
    assert_eq!(fetches_for(&order, 1.0), 601);
    assert_eq!(collector.tally().guessed, 0);
}

#[test]
fn pages_that_a_data_file_lists_are_not_needed_for_their_files() {
    // Areas with a list each, as a page and as a file; a page and a file for each place in them.
    let mut web = Web::new();
    let url = |kind: &str, number: usize| format!("https://a.example/{kind}{}", name(number));
    let areas = (0..20).map(|area| (url("area--", area) + ".html", LIST));
    web.insert("https://a.example/".to_owned(), areas.collect());
    for area in 0..20 {
        let places = (0..50).map(|place| (url("place--", 50 * area + place) + ".html", LIST));
        let list = (url("lists/", area) + ".csv", FILE);
        web.insert(
            url("area--", area) + ".html",
            places.chain([list]).collect(),
        );
    }
    for place in 0..1000 {
        let table = (url("tables/", place) + ".csv", FILE);
        web.insert(url("place--", place) + ".html", vec![table]);
    }
    let mut collector = Collector::new(&Experience::default(), Settings::default());
    let mut chance = chance(3);
    collector.start("https://a.example/");
    let mut fetches = 0;
    while collector.tally().files < 1020 {
        let number = collector.next(&mut chance).unwrap();
        let url = collector.url(number).to_owned();
        fetches += 1;
        if let Some(links) = web.get(&url) {
            let links: Vec<LinkSeen<'_>> =
                links.iter().map(|(url, path)| link(url, path)).collect();
            collector.fetched(number, Fetched::Page(&links));
            continue;
        }
        collector.fetched(number, Fetched::DataFile);
        if let Some(area) = url.strip_prefix("https://a.example/lists/") {
            let page = format!(
                "https://a.example/area--{}.html",
                area.trim_end_matches(".csv")
            );
            let place = |link: &str| {
                Some(
                    link.strip_suffix(".html")?
                        .rsplit("--")
                        .next()?
                        .to_uppercase(),
                )
            };
            let names: Vec<String> = web[&page]
                .iter()
                .filter_map(|(link, _)| place(link))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            collector.list(&url, &names);
        }
    }
    assert!(fetches < 1020 + 16, "{fetches}");
    assert_eq!(collector.tally().missed, 0);
}

#[test]
fn a_rule_that_is_trusted_again_takes_up_what_was_given_up() {
    // The first guesses are wrong, which costs a rule that has just come to be trusted its trust.
    let mut web = named_alike(200, 0);
    for number in 14..21 {
        web.insert(
            format!("https://a.example/table-{}.html", name(number)),
            Vec::new(),
        );
    }
    let (order, collector) = collect(
        &web,
        "https://a.example/",
        Settings::default(),
        &Experience::default(),
    );
    let tally = collector.tally();
    assert_eq!(tally.files, 193);
    assert_eq!(tally.missed, 4, "{tally:?}");
    let last_file = order.iter().rposition(|url| is_file(url)).unwrap();
    assert!(last_file < 193 + 70, "{last_file}");
}

#[test]
fn wrong_guesses_stay_few() {
    // Every second file does not exist.
    let mut web = named_alike(400, 0);
    for number in (20..400).step_by(2) {
        web.insert(
            format!("https://a.example/table-{}.html", name(number)),
            Vec::new(),
        );
    }
    let (order, collector) = collect(
        &web,
        "https://a.example/",
        Settings::default(),
        &Experience::default(),
    );
    assert_eq!(collector.tally().files, 210);
    assert!(collector.tally().missed < 12, "{:?}", collector.tally());
    assert_eq!(order.len(), 401 + 210 + collector.tally().missed as usize);
}

#[test]
fn links_without_an_ending_are_told_by_their_address_in_time() {
    let mut collector = Collector::new(&Experience::default(), Settings::default());
    let mut chance = chance(1);
    collector.start("https://a.example/");
    let first = collector.next(&mut chance).unwrap();
    let urls: Vec<String> = (0..120)
        .map(|number| match number % 2 {
            0 => format!("https://a.example/get?file={number}"),
            _ => format!("https://a.example/read/topic{number}"),
        })
        .collect();
    let unknown = |url| LinkSeen {
        looks: Looks::Unknown,
        ..link(url, LIST)
    };
    let links: Vec<LinkSeen<'_>> = urls[..60].iter().map(|url| unknown(url)).collect();
    collector.fetched(first, Fetched::Page(&links));
    while let Some(number) = collector.next(&mut chance) {
        let is_file = collector.url(number).contains("get");
        collector.fetched(
            number,
            if is_file {
                Fetched::DataFile
            } else {
                Fetched::Page(&[])
            },
        );
    }
    collector.start("https://a.example/more");
    let more = collector.next(&mut chance).unwrap();
    let links: Vec<LinkSeen<'_>> = urls[60..].iter().map(|url| unknown(url)).collect();
    collector.fetched(more, Fetched::Page(&links));
    for _ in 0..30 {
        let number = collector.next(&mut chance).unwrap();
        assert!(collector.url(number).contains("get"));
        collector.fetched(number, Fetched::DataFile);
    }
}

#[test]
fn memory_is_bounded() {
    let settings = Settings {
        links_max: 100,
        arms_max: 8,
        ..Settings::default()
    };
    let mut web = two_sections(200);
    let paths: Vec<&'static str> = (0..64)
        .map(|number| &*format!("html {} a", "b ".repeat(number)).leak())
        .collect();
    let front = web.get_mut("https://a.example/").unwrap();
    front.extend((0..64).map(|number| (format!("https://a.example/x{number}/"), paths[number])));
    let (order, collector) = collect(&web, "https://a.example/", settings, &Experience::default());
    assert!(order.len() <= 100);
    assert!(0 < collector.tally().dropped);
    assert!(collector.arm_count() <= 8 + 8);
}

#[test]
fn experience_survives_being_saved_and_is_used() {
    let web = two_sections(100);
    let mut experience = Experience::default();
    for _ in 0..3 {
        let (_, collector) = collect(&web, "https://a.example/", Settings::default(), &experience);
        experience.learn(&collector);
    }
    let saved = serde_json::to_string(&experience).unwrap();
    let read: Experience = serde_json::from_str(&saved).unwrap();
    assert!(read.is_sound());
    assert_eq!(read.sites(), 3);
    let orders = [&experience, &read]
        .map(|experience| collect(&web, "https://a.example/", Settings::default(), experience).0);
    assert_eq!(orders[0], orders[1]);
}

#[test]
#[should_panic(expected = "is not out")]
fn a_link_that_is_not_out_cannot_be_answered() {
    let mut collector = Collector::new(&Experience::default(), Settings::default());
    let link = collector.start("https://a.example/").unwrap();
    collector.fetched(link, Fetched::Nothing);
}

/// Webs of up to 24 pages and 12 files with any links.
fn any_web() -> impl Strategy<Value = Web> {
    let target = prop_oneof![
        (0..24_u8).prop_map(|page| format!("https://a.example/p-{page}.html")),
        (0..12_u8).prop_map(|file| format!("https://a.example/p-{file}.csv")),
    ];
    let path = prop_oneof![Just(MENU), Just(LIST), Just(FILE), Just("")];
    let links = prop::collection::vec((target, path), 0..8);
    prop::collection::vec(links, 24).prop_map(|pages| {
        let name = |page: usize| format!("https://a.example/p-{page}.html");
        pages
            .into_iter()
            .enumerate()
            .map(|(page, links)| (name(page), links))
            .collect()
    })
}

proptest! {
    #[test]
    fn every_order_fetches_what_can_be_reached_and_nothing_twice(web in any_web(), guesses: bool) {
        let start = "https://a.example/p-0.html";
        let mut reached = BTreeSet::from([start]);
        let mut line = vec![start];
        while let Some(url) = line.pop() {
            for (target, _) in web.get(url).into_iter().flatten() {
                if reached.insert(target) {
                    line.push(target);
                }
            }
        }
        for order in Order::ALL {
            let settings = Settings { order, guesses, ..Settings::default() };
            let (fetched, collector) = collect(&web, start, settings, &Experience::default());
            let once: BTreeSet<&str> = fetched.iter().map(String::as_str).collect();
            prop_assert_eq!(once.len(), fetched.len());
            prop_assert!(reached.is_subset(&once), "{}", order);
            let more = once.difference(&reached).count();
            prop_assert!(more <= (collector.tally().guessed + collector.tally().missed) as usize);
        }
    }
}
