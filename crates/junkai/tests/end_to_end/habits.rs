//! What servers tell of their pages, true or not: noise is no change, false dates mislead nobody for long, lists bring pages forward, and a real
//! site's history is crawled politely.

use std::time::Duration;

use junkai_crawler::LogEvent;
use junkai_simulation::graph::history::{Event, EventKind, History, UnixSeconds, load};
use junkai_testweb::{SitemapHabit, Validators};

use crate::changing::{Changing, DAY, HOUR, Habits, STOPPED, Scene};
use crate::support::wait_until;

const BEGIN: UnixSeconds = UnixSeconds(1_700_000_000);
/// Every page comes up again and again, whatever is believed of it.
const OFTEN: &str = "[revisit]\nfirst_min = \"1h\"\nfirst_max = \"2h\"\ninterval_min = \"1h\"\ninterval_spread_min = \"4h\"\ninterval_max = \"6h\"\n";

/// What happens to pages `still-N.html` that never change, and `busy-N.html` that change every half hour for a long time.
fn still_and_busy(pages: u32) -> Vec<(String, Event)> {
    let added = Event {
        at: BEGIN,
        kind: EventKind::Added,
    };
    let modified = |half_hours: u32| Event {
        at: BEGIN.after(half_hours * HOUR / 2),
        kind: EventKind::Modified,
    };
    let mut told = Vec::new();
    for page in 0..pages {
        told.push((format!("still-{page}.html"), added));
        told.push((format!("busy-{page}.html"), added));
        told.extend((1..4000).map(|count| (format!("busy-{page}.html"), modified(count))));
    }
    told
}

fn history(told: &[(String, Event)]) -> History {
    let told = told.iter().map(|(path, event)| (path.as_str(), *event));
    History::from_events("habits".to_owned(), told).unwrap()
}

/// Crawls until so many visits to pages of a kind were logged that tell what changed, and says what. Only visits after the last that found a page new
/// count: until then a page may have led to pages that were new.
fn changes(changing: &Changing, kind: &str, count: usize) -> Vec<String> {
    let is_first = |event: &LogEvent<'_>| event.status == 200 && event.change.is_none();
    let mut crawl = changing.start();
    let mut found = Vec::new();
    wait_until("pages were visited again and again", || {
        assert!(crawl.is_running(), "{}", crawl.printed());
        // To read the log takes longer the longer it gets.
        std::thread::sleep(Duration::from_millis(200));
        let events = changing.stage.events();
        let settled = events.iter().rposition(is_first).unwrap_or(0);
        let later = events[settled..]
            .iter()
            .filter(|event| event.url.contains(kind));
        found = later
            .filter_map(|event| Some(event.change.as_deref()?.to_owned()))
            .collect();
        count <= found.len()
    });
    crawl.interrupt();
    crawl.wait().expect(STOPPED);
    let verdict = changing.verdict();
    assert!(verdict.is_polite(), "{verdict}");
    found
}

fn scene(habits: Habits) -> Scene<'static> {
    Scene {
        history: history(&still_and_busy(12)),
        speed: 4.0 * HOUR.as_secs_f64(),
        hosts: 4,
        config: OFTEN,
        habits,
    }
}

fn count_changed(found: &[String]) -> usize {
    let changed = found.iter().filter(|change| change.starts_with("changed"));
    changed.count()
}

/// Every answer has another date, counter, token and navigation, and no page a validator.
#[test]
fn noise_is_captured_and_is_no_change() {
    let changing = Changing::new(scene(Habits {
        validators: Validators::Absent,
        has_noise: true,
        ..Habits::default()
    }));
    let still = changes(&changing, "/still-", 50);
    assert_eq!(count_changed(&still), 0, "{still:?}");
    // What the noise hides is found all the same: these pages have changed at every visit.
    let events = changing.stage.events();
    let busy = events.iter().filter(|event| event.url.contains("/busy-"));
    let busy: Vec<&str> = busy.filter_map(|event| event.change.as_deref()).collect();
    // Each version was compared with the one before by what it says, the first one too, which was read from the archive.
    let compared = |event: &LogEvent<'_>| event.change.as_deref() != Some("changed");
    assert!(events.iter().all(compared), "{events:?}");
    let found = busy.iter().filter(|change| change.starts_with("changed"));
    assert!(9 * busy.len() <= 10 * found.count(), "{busy:?}");
    // Other bytes are another capture, whether they count or not.
    let repeats = |event: &&LogEvent<'_>| {
        let words = &event.annotations;
        event.url.contains("/still-") && words.iter().any(|word| word.starts_with("duplicate"))
    };
    assert_eq!(events.iter().filter(repeats).count(), 0);
}

/// Every answer claims to be of this very moment, under a tag of its own.
#[test]
fn false_dates_and_tags_make_no_change_of_a_page_that_has_none() {
    let changing = Changing::new(scene(Habits {
        validators: Validators::Lying,
        ..Habits::default()
    }));
    let still = changes(&changing, "/still-", 50);
    assert_eq!(count_changed(&still), 0, "{still:?}");
}

/// Every answer has the tag and the date of the first version, whatever it says.
#[test]
fn a_tag_that_stays_hides_no_change() {
    let changing = Changing::new(scene(Habits {
        validators: Validators::Stuck,
        ..Habits::default()
    }));
    let busy = changes(&changing, "/busy-", 50);
    assert!(9 * busy.len() <= 10 * count_changed(&busy), "{busy:?}");
}

/// Pages that are still for weeks and then change, in the sitemap and the feed of a site where something changes every half hour.
#[test]
fn a_list_that_tells_of_a_change_brings_a_page_forward() {
    let mut told = still_and_busy(1);
    for page in 0..8 {
        for fortnight in 0..6 {
            let kind = if fortnight == 0 {
                EventKind::Added
            } else {
                EventKind::Modified
            };
            let at = BEGIN.after(14 * fortnight * DAY);
            told.push((format!("late-{page}.html"), Event { at, kind }));
        }
    }
    let changing = Changing::new(Scene {
        history: history(&told),
        speed: 16.0 * HOUR.as_secs_f64(),
        hosts: 1,
        config: "[revisit]\nfirst_min = \"2h\"\nfirst_max = \"6h\"\ninterval_min = \"1h\"\n",
        habits: Habits {
            validators: Validators::Dated,
            sitemap: SitemapHabit::Honest,
            has_feed: true,
            ..Habits::default()
        },
    });
    let mut crawl = changing.start();
    let mut events = Vec::new();
    wait_until("a page was visited because a list told of it", || {
        assert!(crawl.is_running(), "{}", crawl.printed());
        std::thread::sleep(Duration::from_millis(200));
        events = changing.stage.events();
        brought_forward(&events).is_some()
    });
    crawl.interrupt();
    crawl.wait().expect(STOPPED);
    let event = brought_forward(&events).unwrap();
    assert_eq!(event.hops, "S", "{event:?}");
    assert!(matches!(event.status, 200 | 304), "{event:?}");
    let verdict = changing.verdict();
    assert!(verdict.is_polite(), "{verdict}");
}

/// The first visit to a late page that a list brought about, before the one that was planned.
fn brought_forward<'a>(events: &'a [LogEvent<'static>]) -> Option<&'a LogEvent<'static>> {
    let is_signalled = |event: &LogEvent<'_>| {
        event.url.contains("/late-") && event.annotations.iter().any(|word| word == "signalled")
    };
    events.iter().enumerate().find_map(|(at, event)| {
        let mut before = events[..at].iter().rev();
        let planned =
            before.find_map(|before| before.next_visit.filter(|_| before.url == event.url))?;
        (is_signalled(event) && event.started < planned).then_some(event)
    })
}

/// Some pages of a real site and what became of them, days in a second.
#[test]
fn the_history_of_a_real_site_is_crawled_politely() {
    const PAGES: usize = 300;
    let Some(path) = junkai_testdata::find("changes/curl-www.tsv.zst") else {
        return;
    };
    let whole = load(&path).unwrap();
    let mut told = Vec::new();
    for page in whole.pages().take(PAGES) {
        let events = whole.events(page).iter();
        told.extend(events.map(|event| (whole.path(page).to_owned(), *event)));
    }
    let changing = Changing::new(Scene {
        history: history(&told),
        speed: 2.0 * DAY.as_secs_f64(),
        hosts: 8,
        config: "[revisit]\nfirst_min = \"1day\"\nfirst_max = \"3days\"\n",
        habits: Habits {
            validators: Validators::Honest,
            sitemap: SitemapHabit::Noisy,
            has_feed: true,
            has_noise: true,
        },
    });
    let mut crawl = changing.start();
    let mut revisits = 0;
    wait_until("known pages were visited again", || {
        assert!(crawl.is_running(), "{}", crawl.printed());
        std::thread::sleep(Duration::from_millis(200));
        let events = changing.stage.events();
        revisits = events.iter().filter(|event| event.change.is_some()).count();
        100 <= revisits
    });
    crawl.interrupt();
    crawl.wait().expect(STOPPED);
    let verdict = changing.verdict();
    println!("{revisits} revisits: {verdict}");
    assert!(verdict.is_polite(), "{verdict}");
}
