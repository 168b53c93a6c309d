//! How well a sketch tells how much two texts have in common, and where "a little" ends.
//!
//! `cargo run --release -p junkai-page --example sketch_calibration -- FILE…` takes the words of each HTML file, edits them (words
//! replaced, paragraphs put in and taken out), and compares the similarity of the two contents with the true share of common
//! shingles, beside what a simhash of 64 bits and the b-bit minhash of 128 bits make of it.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use anyhow::Context as _;
use junkai_page::content::{
    self, A_LITTLE, Boilerplate, BoilerplateBounds, Content, SHINGLE_WORDS,
};
use url::Url;

/// Words of a new paragraph.
const PARAGRAPH_WORDS: usize = 50;
/// Words of the pages that the threshold is made for.
const PAGE_WORDS: usize = 500;
/// Pages are tried so often with each kind of edit.
const ROUNDS: u64 = 20;

type Shingles = BTreeSet<u64>;

/// Estimates of one true share, summed up.
#[derive(Clone, Copy, Default)]
struct Class {
    count: f64,
    truth: f64,
    /// Sum of differences from the truth and of their squares, for each method.
    errors: [f64; METHODS.len()],
    squares: [f64; METHODS.len()],
}

const METHODS: [&str; 3] = [
    "ours, 128 bits",
    "simhash, 64 bits",
    "1-bit minhash, 128 bits",
];
/// Lower ends of the classes of true shares.
const CLASSES: [f64; 8] = [0.98, 0.96, 0.94, 0.9, 0.8, 0.6, 0.3, 0.0];

fn main() -> anyhow::Result<()> {
    let mut texts = Vec::new();
    for path in std::env::args().skip(1) {
        let body = std::fs::read(&path).with_context(|| format!("cannot read {path}"))?;
        let words = words_of(&String::from_utf8_lossy(&body));
        if 60 <= words.len() {
            texts.push(words);
        }
    }
    anyhow::ensure!(
        2 <= texts.len(),
        "usage: sketch_calibration FILE… (two at least with some words)"
    );
    calibrate(&texts)?;
    judge(&texts)
}

/// The words of an HTML file, roughly: what is not in a tag, and has nothing but letters.
fn words_of(html: &str) -> Vec<String> {
    html.split('<')
        .filter_map(|part| part.split_once('>'))
        .flat_map(|(_, text)| text.split_whitespace())
        .filter(|word| word.chars().all(char::is_alphabetic))
        .map(str::to_owned)
        .collect()
}

/// A number that is drawn anew for each set of arguments.
fn draw(arguments: impl std::hash::Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(arguments)
}

fn below(limit: usize, arguments: impl std::hash::Hash) -> usize {
    usize::try_from(draw(arguments) % limit.max(1) as u64).unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn calibrate(texts: &[Vec<String>]) -> anyhow::Result<()> {
    let mut classes = [Class::default(); CLASSES.len()];
    for (number, text) in texts.iter().enumerate() {
        for round in 0..ROUNDS {
            let other = &texts[below(texts.len(), (number, round, "other"))];
            let edited = edit(text, other, (number, round));
            let (one, two) = (shingles(text), shingles(&edited));
            let truth =
                one.intersection(&two).count() as f64 / one.union(&two).count().max(1) as f64;
            let ours = f64::from(content_of(text)?.similarity(&content_of(&edited)?));
            let estimates = [ours, simhash_share(&one, &two), minhash_share(&one, &two)];
            let class = CLASSES.iter().position(|least| *least <= truth);
            classes[class.unwrap_or(CLASSES.len() - 1)].add(truth, estimates);
        }
    }
    println!(
        "true share of common shingles, and what is estimated of it: mean error ± root mean square error"
    );
    for (class, least) in classes.iter().zip(CLASSES) {
        print!(
            "from {least:.2}: {:6} pairs, mean {:.3}",
            class.count,
            class.truth / class.count
        );
        for (method, name) in METHODS.iter().enumerate() {
            let bias = class.errors[method] / class.count;
            let error = (class.squares[method] / class.count).sqrt();
            print!("; {name} {bias:+.3} ± {error:.3}");
        }
        println!();
    }
    Ok(())
}

/// How often one edited word is taken for more than a little, and a new paragraph for a little.
#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn judge(texts: &[Vec<String>]) -> anyhow::Result<()> {
    let all: Vec<&String> = texts.iter().flatten().collect();
    let mut counts = [[0_u32; 2]; METHODS.len()];
    let pages = 2000_u32;
    for page in 0..pages {
        let start = below(all.len().saturating_sub(PAGE_WORDS + PARAGRAPH_WORDS), page);
        let text: Vec<String> = all[start..]
            .iter()
            .take(PAGE_WORDS)
            .map(|word| (*word).clone())
            .collect();
        let mut word_edited = text.clone();
        let at = below(text.len(), (page, "word"));
        word_edited[at] = format!("edited{}", letters(page));
        let mut longer = text.clone();
        let from = below(
            all.len().saturating_sub(PARAGRAPH_WORDS),
            (page, "paragraph"),
        );
        let paragraph = all[from..]
            .iter()
            .take(PARAGRAPH_WORDS)
            .map(|word| (*word).clone());
        longer.splice(at..at, paragraph);
        for (kind, edited) in [word_edited, longer].iter().enumerate() {
            let (one, two) = (shingles(&text), shingles(edited));
            let ours = f64::from(content_of(&text)?.similarity(&content_of(edited)?));
            let estimates = [ours, simhash_share(&one, &two), minhash_share(&one, &two)];
            for (method, estimate) in estimates.into_iter().enumerate() {
                let is_a_little = f64::from(A_LITTLE) <= estimate;
                counts[method][kind] += u32::from(is_a_little == (kind == 1));
            }
        }
    }
    println!(
        "mistakes at {A_LITTLE} in {pages} pages of {PAGE_WORDS} words: an edited word taken for a change, a new paragraph of {PARAGRAPH_WORDS} words for a little"
    );
    for (name, [word, paragraph]) in METHODS.iter().zip(counts) {
        println!("{name}: {word}, {paragraph}");
    }
    Ok(())
}

impl Class {
    fn add(&mut self, truth: f64, estimates: [f64; METHODS.len()]) {
        self.count += 1.0;
        self.truth += truth;
        for (method, estimate) in estimates.into_iter().enumerate() {
            let error = estimate - truth;
            self.errors[method] += error;
            self.squares[method] += error * error;
        }
    }
}

/// Replaces words, takes paragraphs out and puts some of another text in: from one word to most of the text.
fn edit(text: &[String], other: &[String], seed: (usize, u64)) -> Vec<String> {
    let mut edited = text.to_vec();
    // Small edits are the most: the strength goes by the fourth power of what is drawn, in hundredths.
    let strength = below(100, (seed, "strength"));
    let words = text.len() * strength.pow(4) / 100_usize.pow(4);
    for number in 0..=(words / 4) {
        let at = below(edited.len(), (seed, number, "replace"));
        edited[at] = format!("edited{}", letters(draw((seed, number))));
    }
    if draw((seed, "paragraph")).is_multiple_of(2) {
        let from = below(other.len(), (seed, "from"));
        let at = below(edited.len(), (seed, "at"));
        edited.splice(at..at, other[from..].iter().take(words).cloned());
    }
    if draw((seed, "cut")).is_multiple_of(2) {
        let at = below(edited.len(), (seed, "cut at"));
        let end = (at + words / 2).min(edited.len());
        edited.drain(at..end);
    }
    edited
}

fn letters(number: impl Into<u64>) -> String {
    number
        .into()
        .to_string()
        .bytes()
        .map(|digit| char::from(digit - b'0' + b'a'))
        .collect()
}

fn content_of(words: &[String]) -> anyhow::Result<Content> {
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let url = Url::parse("http://example.org/")?;
    content::of(
        &mut boilerplate,
        words.join(" ").as_bytes(),
        Some("text/plain; charset=utf-8"),
        &url,
    )
    .context("plain text has content")
}

fn shingles(words: &[String]) -> Shingles {
    words.windows(SHINGLE_WORDS).map(draw).collect()
}

/// Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002: the share of bits that differ is the angle.
fn simhash_share(one: &Shingles, two: &Shingles) -> f64 {
    let simhash = |shingles: &Shingles| {
        (0..64_u32).fold(0_u64, |bits, bit| {
            let ones = shingles.iter().filter(|hash| *hash >> bit & 1 == 1).count();
            bits | u64::from(shingles.len() < 2 * ones) << bit
        })
    };
    let angle = std::f64::consts::PI * f64::from((simhash(one) ^ simhash(two)).count_ones()) / 64.0;
    let cosine = angle.cos().max(0.0);
    // For sets of one size: cosine = common / size, share = common / (2 size - common).
    cosine / (2.0 - cosine)
}

fn minhash_share(one: &Shingles, two: &Shingles) -> f64 {
    let bit = |shingles: &Shingles, function: u64| {
        let mixed = |hash: &u64| {
            (hash ^ function.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .wrapping_mul(0xff51_afd7_ed55_8ccd)
        };
        shingles
            .iter()
            .map(|hash| {
                let mixed = mixed(hash);
                mixed ^ mixed >> 32
            })
            .min()
            .unwrap_or_default()
            .count_ones()
            & 1
    };
    let equal = (1..=128)
        .filter(|function| bit(one, *function) == bit(two, *function))
        .count();
    (2.0 * equal as f64 / 128.0 - 1.0).max(0.0)
}
