//! A history served: the clock stands still, and each web shows another moment.

use std::path::Path;

use crate::support::{Reply, get, get_with, links};
use junkai_testweb::{
    GoneStatus, HistoryConfig, SitemapHabit, StartError, TestWeb, TestWebConfig, UnixSeconds,
    Validators,
};

const EVENTS: &str = "100\tA\tnews/a b.html\n200\tM\tnews/a b.html\n300\tA\tlate.html\n400\tD\tnews/a b.html\n\
    100\tA\tdata.csv\n50\tM\told.html\n";

const PAGE: &str = "/news/a%20b.html";

struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(events: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("events.tsv"), events).unwrap();
        Self { folder }
    }

    fn history(&self) -> HistoryConfig {
        HistoryConfig::new(self.folder.path().join("events.tsv"))
    }

    /// The web at a moment of the history, in the year 2001 of its own clock.
    fn at(&self, seconds: u64) -> TestWeb {
        let history = self.history();
        serve(HistoryConfig {
            begin: Some(UnixSeconds(seconds)),
            ..history
        })
    }

    fn with(&self, seconds: u64, change: impl FnOnce(&mut HistoryConfig)) -> TestWeb {
        let mut history = self.history();
        history.begin = Some(UnixSeconds(seconds));
        change(&mut history);
        serve(history)
    }
}

fn serve(history: HistoryConfig) -> TestWeb {
    TestWeb::start(TestWebConfig {
        hosts: 0,
        addresses: 2,
        page_bytes: 3000,
        clock_speed: 0.0,
        clock_origin: Some(1e9),
        history: Some(history),
        ..TestWebConfig::default()
    })
    .unwrap()
}

fn ask(web: &TestWeb, path: &str) -> Reply {
    get(web, "history.test", path)
}

#[test]
fn pages_appear_change_and_go() {
    let stage = Stage::new(EVENTS);
    let status = |at, path| ask(&stage.at(at), path).status;
    assert_eq!(
        [99, 100, 399, 400].map(|at| status(at, PAGE)),
        [404, 200, 200, 404]
    );
    assert_eq!(
        [299, 300, 900].map(|at| status(at, "/late.html")),
        [404, 200, 200]
    );
    assert_eq!(status(1, "/old.html"), 200, "it was there before");
    let gone = stage.with(500, |history| history.gone = GoneStatus::Gone);
    assert_eq!(ask(&gone, PAGE).status, 410);
    let body = |at| ask(&stage.at(at), PAGE).body;
    assert_eq!(body(100), body(199));
    assert_ne!(body(199), body(200));
    let text = ask(&stage.at(100), "/data.csv");
    assert_eq!(
        text.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    assert_eq!(ask(&stage.at(100), "/nothing").status, 404);
}

#[test]
fn a_new_version_says_something_new_and_keeps_something() {
    let stage = Stage::new(EVENTS);
    let paragraphs = |at| {
        let reply = ask(&stage.at(at), PAGE);
        let text = reply.text().lines();
        let paragraphs = text.filter(|line| line.starts_with("<p>"));
        paragraphs.map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, after) = (paragraphs(100), paragraphs(200));
    assert_eq!((before.len(), after.len()), (7, 7));
    let same = before.iter().zip(&after).filter(|(a, b)| a == b).count();
    assert!(
        (1..7).contains(&same),
        "{same} of 7 paragraphs are the same"
    );
}

#[test]
fn what_is_there_is_linked_and_listed() {
    let stage = Stage::new(EVENTS);
    let web = stage.at(350);
    let origin = format!("http://history.test:{}", web.http_port());
    assert_eq!(web.seeds(), [format!("{origin}/")]);
    let urls = |page: &str| -> Vec<String> {
        let found = links(&format!("{origin}{page}"), &ask(&web, page).body);
        found.into_iter().map(|link| link.url).collect()
    };
    assert_eq!(urls("/"), [format!("{origin}/-/index-0.html")]);
    let mut pages = urls("/-/index-0.html");
    pages.sort();
    let mut expected: Vec<String> = ["/data.csv", "/late.html", PAGE, "/old.html"]
        .map(|path| format!("{origin}{path}"))
        .into();
    expected.sort();
    assert_eq!(pages, expected);
    let mut served: Vec<String> = web.pages().collect();
    served.sort();
    assert_eq!((served, web.page_count()), (expected, 4));
    let sitemap = format!("Sitemap: {origin}/-/sitemap.xml\n");
    assert!(ask(&web, "/robots.txt").text().contains(&sitemap));
    // The clock shows 10⁹, the history 350: what was made at 200 is 150 seconds old.
    let listed = format!("<loc>{origin}{PAGE}</loc><lastmod>2001-09-09T01:44:10Z</lastmod>");
    let sitemap = ask(&web, "/-/sitemap.xml");
    assert!(sitemap.text().contains(&listed), "{}", sitemap.text());
    let feed = ask(&web, "/-/feed.xml");
    let first = feed.text().find("late.html").unwrap();
    assert!(
        first < feed.text().find("news/").unwrap(),
        "the latest comes first"
    );
    let later = stage.at(400);
    assert!(!ask(&later, "/-/index-0.html").text().contains("news/"));
    assert!(!ask(&later, "/-/sitemap.xml").text().contains("news/"));
}

#[test]
fn validators_tell_what_they_were_told_to() {
    let stage = Stage::new(EVENTS);
    let version = |how: Validators, at| {
        let web = stage.with(at, |history| history.validators = how);
        let first = ask(&web, PAGE);
        let header = |name| first.header(name).map(str::to_owned);
        let (tag, date) = (header("etag"), header("last-modified"));
        let condition = |name, value: &Option<String>| {
            let value = value.as_ref();
            value.map_or_else(String::new, |value| format!("{name}: {value}\r\n"))
        };
        let conditions = [
            condition("if-none-match", &tag),
            condition("if-modified-since", &date),
        ];
        let again = get_with(&web, "history.test", PAGE, &conditions.concat());
        (tag, date, again.status)
    };
    let (tag, date, again) = version(Validators::Honest, 250);
    assert_eq!(again, 304);
    assert_eq!(date.as_deref(), Some("Sun, 09 Sep 2001 01:45:50 GMT"));
    assert_ne!(tag, version(Validators::Honest, 150).0);
    assert_eq!(version(Validators::Dated, 250), (None, date, 304));
    let (weak, none, again) = version(Validators::Weak, 250);
    assert!(weak.is_some_and(|weak| weak.starts_with("W/\"")));
    assert_eq!((none, again), (None, 304));
    assert_eq!(version(Validators::Absent, 250), (None, None, 200));
    let (_, date, again) = version(Validators::Lying, 250);
    assert_eq!(
        date.as_deref(),
        Some("Sun, 09 Sep 2001 01:46:40 GMT"),
        "now"
    );
    assert_eq!(again, 200);
    let (tag, _, again) = version(Validators::Stuck, 150);
    assert_eq!((tag, again), (version(Validators::Stuck, 250).0, 200));
}

#[test]
fn noise_makes_bytes_differ_and_leaves_the_text() {
    let stage = Stage::new(EVENTS);
    let web = stage.with(250, |history| history.has_noise = true);
    let (one, other) = (ask(&web, PAGE), ask(&web, PAGE));
    assert_ne!(one.body, other.body);
    assert_eq!(one.header("etag"), other.header("etag"));
    let article = |reply: &Reply| {
        let (_, rest) = reply.text().split_once("<article>").unwrap();
        rest.split_once("</article>").unwrap().0.to_owned()
    };
    assert_eq!(article(&one), article(&other));
    let quiet = stage.at(250);
    assert_eq!(ask(&quiet, PAGE).body, ask(&quiet, PAGE).body);
    assert_eq!(article(&ask(&quiet, PAGE)), article(&one));
}

#[test]
fn sitemaps_may_be_noisy_undated_or_absent() {
    // A hundred pages made in the first hour, looked at some days later.
    let events: Vec<String> = (0..100)
        .map(|page| format!("{page}\tA\t{page}.html\n"))
        .collect();
    let stage = Stage::new(&events.concat());
    let dates = |how: SitemapHabit, day: u64| {
        let web = stage.with(day * 86_400 + 500, |history| history.sitemap = how);
        let reply = ask(&web, "/-/sitemap.xml");
        let told = reply.text().matches("<lastmod>").count();
        // The clock shows 10⁹ seconds, a quarter to two on 9 September: that day is today.
        let today = reply.text().matches("<lastmod>2001-09-09").count();
        (reply.status, told, today)
    };
    assert_eq!(dates(SitemapHabit::Honest, 3), (200, 100, 0));
    assert_eq!(dates(SitemapHabit::Undated, 3), (200, 0, 0));
    assert_eq!(dates(SitemapHabit::Absent, 3).0, 404);
    let (_, told, today) = dates(SitemapHabit::Noisy, 3);
    assert!((60..=90).contains(&told), "{told} of 100 changes are told");
    assert!((2..=25).contains(&today), "{today} of 100 claim to be new");
    let web = stage.with(500, |history| history.sitemap = SitemapHabit::Absent);
    assert!(!ask(&web, "/robots.txt").text().contains("Sitemap"));
}

#[test]
fn pages_are_dealt_out_to_hosts() {
    let stage = Stage::new(EVENTS);
    let web = stage.with(350, |history| history.hosts = 3.try_into().unwrap());
    let hosts: Vec<&str> = web.hosts().collect();
    assert_eq!(
        hosts,
        ["0.history.test", "1.history.test", "2.history.test"]
    );
    assert_eq!(web.seeds().len(), 1);
    let home = get(&web, "0.history.test", "/");
    assert!(home.text().contains("//2.history.test:"));
    assert_eq!(web.pages().count(), 4);
    for url in web.pages() {
        let (host, path) = url
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let host = host.split_once(':').unwrap().0;
        assert_eq!(get(&web, host, &format!("/{path}")).status, 200, "{url}");
        let others = hosts.iter().filter(|&&other| other != host);
        for other in others {
            assert_eq!(get(&web, other, &format!("/{path}")).status, 404);
        }
    }
}

#[test]
fn a_folder_with_the_bytes_of_every_version_is_served_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let blob = |digit: &str, text: &str| {
        let name = digit.repeat(40);
        let path = folder.path().join("objects").join(&name[..2]);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join(&name[2..]), text).unwrap();
        name
    };
    let (one, two, three) = (blob("1", "one"), blob("2", "two"), blob("a", "three"));
    let nothing = "0".repeat(40);
    let manifest = format!(
        "ts\top\tpath\tblob\tbytes\n10\tB\ta.html\t{one}\t3\n100\tM\ta.html\t{two}\t3\n100\tA\tb.css\t{three}\t5\n200\tD\ta.html\t{nothing}\t\n"
    );
    std::fs::write(folder.path().join("manifest.tsv"), manifest).unwrap();
    let at = |begin: Option<u64>| {
        serve(HistoryConfig {
            begin: begin.map(UnixSeconds),
            ..HistoryConfig::new(folder.path().to_owned())
        })
    };
    assert_eq!(ask(&at(Some(50)), "/a.html").text(), "one");
    assert_eq!(ask(&at(Some(50)), "/b.css").status, 404);
    let first = at(None);
    assert_eq!(ask(&first, "/a.html").text(), "two");
    assert_eq!(
        ask(&first, "/b.css").header("content-type"),
        Some("text/css")
    );
    assert_eq!(ask(&at(Some(200)), "/a.html").status, 404);
    std::fs::remove_dir_all(folder.path().join("objects")).unwrap();
    assert_eq!(ask(&first, "/a.html").status, 500);
}

#[test]
fn a_history_that_cannot_be_read_is_told_at_the_start() {
    let start = |path: &Path| {
        TestWeb::start(TestWebConfig {
            hosts: 0,
            history: Some(HistoryConfig::new(path.to_owned())),
            ..TestWebConfig::default()
        })
    };
    let stage = Stage::new("1\tA\ta\nnonsense\n");
    let error = start(&stage.history().path).unwrap_err();
    assert!(matches!(error, StartError::History(_)));
    assert!(error.to_string().contains("line 2"), "{error}");
    let escape = "1\tA\ta\t../../../../../../../../../../../../etc/passwd\t1\n";
    std::fs::write(stage.folder.path().join("manifest.tsv"), escape).unwrap();
    assert!(start(stage.folder.path()).is_err(), "a blob is a number");
}
