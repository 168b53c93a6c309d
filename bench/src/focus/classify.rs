//! Pages of 20 KB, from their bytes to a probability, on one core.
//!
//! The pages are generated: English, Japanese, and Japanese with next to no markup, which is the hardest case, as every byte of it is
//! text. A folder of real pages can be measured as well. Reading (charset, markup, links) and judging (words, features, score) are
//! also shown apart, and so is a model that splits words by dictionaries.

use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use junkai_focus::learn::{
    Corpus, Look, Model, PageModel, Seen, Split, TrainSettings, train, words_for,
};

use crate::chance::mixed;
use crate::cpu;
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::Samples;

/// The size of a page, in bytes.
const PAGE_BYTES: usize = 20 << 10;
/// Pages a second on one core that were promised.
const PROMISED: f64 = 5000.0;
/// Real pages that are read at most.
const REAL_PAGES_MAX: usize = 2000;

/// What the part takes.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Pages of each kind in each repetition.
    #[arg(long, default_value = "1000")]
    pages: u64,
    /// Also measure the HTML files of this folder.
    #[arg(long, value_name = "DIR")]
    real: Option<PathBuf>,
}

/// A kind of page.
struct Kind {
    name: &'static str,
    pages: Vec<Vec<u8>>,
}

/// Measures, and adds to the report.
pub(crate) fn run(report: &mut Report, arguments: &Arguments, repeat: NonZeroUsize) -> Result<()> {
    let mut kinds = generated(arguments.pages);
    if let Some(folder) = &arguments.real {
        kinds.push(real(folder)?);
    }
    let shipped = Model::statistical_data();
    let by_dictionary = by_dictionary(&kinds)?;
    let columns = [
        "pages",
        "pages/s",
        "pages/s, dictionaries",
        "µs to read",
        "µs to judge",
        "bytes a page",
    ];
    let mut table = Table::new(
        "page",
        "a page, from its bytes to a probability, CPU time of one core",
        columns,
    );
    for kind in &kinds {
        let mut measured = Measured::default();
        for _ in 0..repeat.get() {
            measured.add(kind, shipped.page(), &by_dictionary);
        }
        let bytes: usize = kind.pages.iter().map(Vec::len).sum();
        if kind.name != "real" {
            let what = format!("pages of 20 KB a second, {}", kind.name);
            report.target(what, measured.whole.median(), Limit::AtLeast(PROMISED));
        }
        table.row(
            kind.name,
            [
                Cell::Samples(measured.whole),
                Cell::Samples(measured.whole_by_dictionary),
                Cell::Samples(measured.read),
                Cell::Samples(measured.judge),
                Cell::Number(bytes as f64 / kind.pages.len() as f64),
            ],
        );
    }
    report.table(table);
    Ok(())
}

#[derive(Default)]
struct Measured {
    whole: Samples,
    whole_by_dictionary: Samples,
    read: Samples,
    judge: Samples,
}

impl Measured {
    /// One repetition; the ways take turns.
    fn add(&mut self, kind: &Kind, model: &PageModel, by_dictionary: &PageModel) {
        let count = kind.pages.len() as f64;
        let (cost, ()) = cpu::cost_of(|| judge_all(kind, model));
        self.whole.push(count / cost.as_secs_f64());
        let (cost, ()) = cpu::cost_of(|| judge_all(kind, by_dictionary));
        self.whole_by_dictionary.push(count / cost.as_secs_f64());
        let (cost, seen) =
            cpu::cost_of(|| -> Vec<Seen> { kind.pages.iter().map(|page| read(page)).collect() });
        self.read.push(cost.as_secs_f64() * 1e6 / count);
        let (cost, ()) = cpu::cost_of(|| {
            for seen in &seen {
                std::hint::black_box(model.probability(&seen.view()));
            }
        });
        self.judge.push(cost.as_secs_f64() * 1e6 / count);
    }
}

fn judge_all(kind: &Kind, model: &PageModel) {
    for page in &kind.pages {
        std::hint::black_box(model.probability(&read(page).view()));
    }
}

fn read(page: &[u8]) -> Seen {
    Seen::read(
        page,
        Some("text/html; charset=utf-8"),
        "https://www.example.org/a/b.html",
    )
}

/// A model that splits words by ICU's dictionaries; what it has learned does not matter here.
fn by_dictionary(kinds: &[Kind]) -> Result<PageModel> {
    let look = Look {
        split: Split::Unicode,
        ..Look::default()
    };
    let words = || words_for(look.split, Path::new(""));
    let mut corpus = Corpus::new(look.clone(), words()?);
    for kind in kinds {
        for (number, page) in kind.pages.iter().take(20).enumerate() {
            let site = format!("{} {number}", kind.name);
            corpus.add(&site, number % 2 == 0, &read(page).view())?;
        }
    }
    Ok(train(&corpus, words()?, &TrainSettings::default(), |_| {})?.model)
}

const ENGLISH: [&str; 12] = [
    "The statistics on population by region are published every quarter.",
    "In the previous year the number of households amounted to 1,234,567, an increase of 2.4 per cent.",
    "Free delivery on all orders, and returns within thirty days.",
    "The function returns an iterator or raises an error if the buffer is empty.",
    "Figures are provisional and will be revised with the next release.",
    "Our correspondent reports from the capital, where the council met on Tuesday.",
    "Students are expected to know linear algebra; homework is due next week.",
    "Bake for forty minutes at 180 degrees, and serve with lemon.",
    "Time series since 1985 can be downloaded as spreadsheets.",
    "Played 34, won 21, drawn 8, lost 5, goals 66:31.",
    "This site uses cookies; see our privacy policy for details.",
    "A double room costs 120 per night, and breakfast is included.",
];

const JAPANESE: [&str; 12] = [
    "人口（都道府県別）の統計表を掲載しています。",
    "令和2年の世帯数は1,234,567世帯で、前年に比べ2.4％増加した。",
    "送料無料、返品は商品到着後八日以内にご連絡ください。",
    "この関数は文字列を返します。引数は省略できます。",
    "統計表はエクセル形式及びCSV形式でダウンロードできます。",
    "市長は記者会見で、少子高齢化への対応が課題だと述べた。",
    "成績は試験とレポートで評価する。教科書を用意すること。",
    "四十分ほど煮込んで出来上がり。お好みでレモンを添える。",
    "調査の概要、用語の解説、利用上の注意をご覧ください。",
    "プライバシーポリシー、お問い合わせ、サイトマップはこちら。",
    "一泊二食付き一万二千円から。駅から徒歩五分です。",
    "順位表、試合日程、選手名鑑、チケット、ファンクラブ",
];

fn generated(count: u64) -> Vec<Kind> {
    let kind = |name, phrases: &[&str], is_marked_up| Kind {
        name,
        pages: (0..count)
            .map(|number| page(phrases, number, is_marked_up))
            .collect(),
    };
    vec![
        kind("English", &ENGLISH, true),
        kind("Japanese", &JAPANESE, true),
        kind("Japanese, all text", &JAPANESE, false),
    ]
}

/// A page of 20 KB; with markup as pages have it, some two fifths of it are text.
fn page(phrases: &[&str], number: u64, is_marked_up: bool) -> Vec<u8> {
    let mut draw = mixed(number);
    let mut phrase = || {
        draw = mixed(draw);
        let place = usize::try_from(draw % phrases.len() as u64).unwrap_or_default();
        phrases[place]
    };
    let mut html = format!(
        "<!DOCTYPE html><html><head><meta charset=utf-8><title>{}</title></head><body>",
        phrase()
    );
    while html.len() < PAGE_BYTES {
        if is_marked_up {
            let _ = writeln!(
                html,
                "<div class=\"item item-{number} col-md-4\"><a class=\"link\" href=\"/section/page-{number}.html\">{}</a>\
                 <p class=\"lead text-muted\">{} <span class=\"badge\">{number}</span></p></div>",
                start_of(phrase()),
                phrase(),
            );
        } else {
            html.push_str(phrase());
        }
    }
    html.truncate(html.floor_char_boundary(PAGE_BYTES));
    html.into_bytes()
}

fn start_of(phrase: &str) -> &str {
    &phrase[..phrase.floor_char_boundary(24)]
}

fn real(folder: &Path) -> Result<Kind> {
    let mut pages = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in
            fs::read_dir(&place).with_context(|| format!("cannot read {}", place.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "html")
                && pages.len() < REAL_PAGES_MAX
            {
                pages.push(fs::read(path)?);
            }
        }
    }
    ensure!(
        !pages.is_empty(),
        "no .html file is in {}",
        folder.display()
    );
    Ok(Kind {
        name: "real",
        pages,
    })
}
