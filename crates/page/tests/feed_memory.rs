//! Promise 2, bounded memory, of feeds: whatever stands in one, reading it takes no more than a stated multiple of its length. An allocator that counts is the witness.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe to implement; this one only counts what it hands on"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use junkai_page::feed;
use url::Url;

/// Memory for a feed of any length: tables of the detection of charsets, and what an empty one takes.
const FIXED_BYTES: usize = 256 << 10;
/// The least entry with a link of its own has some ten bytes, and may share a base of 8 KiB with all others.
const TIMES_LENGTH_MAX: usize = 1000;
/// Longest URL of an entry, and what is being made of it.
const ENTRY_BYTES_MAX: usize = 2 * 8192;
/// What a byte of a long feed takes: it is decoded to three at most, while a buffer grows to twice that, and is kept in an entry.
const TIMES_LENGTH_LONG: usize = 12;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn took(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The most memory that reading a feed took beyond what there was.
fn peak_of(body: &[u8], base: &Url) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let entries = feed::parse(body, None, base);
    assert!(entries.len() <= feed::ENTRIES_MAX);
    PEAK.load(Ordering::Relaxed) - before
}

fn most_allowed(length: usize) -> usize {
    let long = TIMES_LENGTH_LONG * length + feed::ENTRIES_MAX * ENTRY_BYTES_MAX;
    FIXED_BYTES + long.min(TIMES_LENGTH_MAX * length)
}

/// A beginning, and as much of what is repeated as fits.
fn repeated(begin: &str, again: &str, length: usize) -> Vec<u8> {
    let mut feed = begin.as_bytes().to_vec();
    let more = length.saturating_sub(feed.len());
    feed.extend(again.bytes().cycle().take(more));
    feed
}

/// Feeds that ask for much: what entries share, what they repeat, what nests, what is decoded to more bytes.
fn greedy(length: usize) -> Vec<Vec<u8>> {
    let half = "x".repeat((length / 2).min(8100));
    let atom = format!("<feed xml:base='http://example.org/{half}/'>");
    let endless = format!("<feed xml:base='/{}/'>", "x".repeat(length / 2));
    let rss = format!("<rss xml:base='http://example.org/{half}/'><channel>");
    let based = format!(
        "<entry xml:base='{}'><link href='a'/>",
        &half[..half.len() / 4]
    );
    let json = "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[";
    let text = |begin: &str, again: &str| repeated(begin, again, length);
    vec![
        text(&atom, "<entry><link href='a'/></entry>"),
        text(&atom, "<entry><link href=a>"),
        text(&endless, "<entry><link href='a'/>"),
        text(&atom, &based),
        text(&rss, "<item><link>a"),
        text(&rss, "<item><guid>a"),
        text(&rss, "<item><title>&amp;&lt;&#x10FFFF;</title>"),
        text("<rss><item><link>", "a&amp;"),
        text("<rss><item><title><![CDATA[", "]"),
        text("<rss>", "<a b='c' "),
        text("<rss>", "<channel xml:base='http://example.org/a'>"),
        text("<rss><item>", "<content><item>"),
        text(json, "0,"),
        text(json, "{},"),
        text(json, "[],"),
        text(json, "{\"url\":\"a\"},"),
        text(json, "{\"url\":\"\\ud83d\\ude00\",\"title\":\"\\u0000\"},"),
        text(json, "["),
        text(json, "{\"a\":"),
        text("{\"items\":", "[{\"items\":"),
        text("<rss>\u{e9}", "\u{ff}"),
        [b"<rss><item><link>".to_vec(), vec![0xff; length]].concat(),
        [vec![b'<', 0], b"r\0s\0s\0>\0".repeat(length / 8)].concat(),
    ]
}

/// Pieces of feeds in any order, from a seed.
fn jumbled(length: usize, seed: u64) -> Vec<u8> {
    const PIECES: [&str; 20] = [
        "<feed",
        "<rss>",
        "<entry",
        "<item>",
        "</item>",
        "</entry>",
        " xml:base='/",
        "'>",
        ">",
        "<link>",
        "<link href='a'/>",
        "<title>",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "&#65;",
        "<!--",
        "-->",
        "aaaaaaaa",
        "</",
    ];
    let mut state = seed;
    let mut feed = Vec::with_capacity(length);
    while feed.len() < length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let piece = PIECES.iter().cycle().nth((state >> 59) as usize);
        feed.extend(piece.into_iter().flat_map(|piece| piece.bytes()));
    }
    feed
}

/// One test alone: the count is that of the whole process.
#[test]
fn no_feed_takes_more_memory_than_its_length_allows() {
    let base = Url::parse("http://example.org/blog/feed").unwrap();
    let check = |body: &[u8]| {
        let (peak, most) = (peak_of(body, &base), most_allowed(body.len()));
        let begin = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        assert!(peak <= most, "{peak} bytes for {} of {begin}", body.len());
        peak as f64 / body.len() as f64
    };
    let mut highest = 0.0_f64;
    for length in [100, 1 << 10, 4 << 10, 12 << 10, 64 << 10, 1 << 20, 9 << 20] {
        for body in greedy(length) {
            highest = highest.max(check(&body));
        }
    }
    for seed in 0..200 {
        highest = highest.max(check(&jumbled(4 << 10, seed)));
    }
    println!("at most {highest:.0} times its length");
}
