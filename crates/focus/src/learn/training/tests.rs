use super::super::features::Look;
use super::super::view::PageView;
use super::*;

/// A page with the given words.
fn page(text: &str) -> PageView<'_> {
    PageView {
        text,
        ..PageView::default()
    }
}

fn corpus() -> Corpus {
    Corpus::new(Look::default(), Words::by_script())
}

fn train_on(corpus: &Corpus, settings: &TrainSettings) -> Result<Trained, TrainError> {
    train(corpus, Words::by_script(), settings, |_| {})
}

/// A number in [0, 1) that is always the same for the same name.
fn drawn(name: &str) -> f64 {
    (xxhash_rust::xxh3::xxh3_64(name.as_bytes()) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Words that say nothing.
fn words_by_chance(name: &str) -> String {
    let word = |number: u32| format!("w{:.0}", 40.0 * drawn(&format!("{name} {number}")));
    (0..20).map(word).collect::<Vec<_>>().join(" ") + " "
}

/// Sites of which `wanted` hold what is wanted; a page says "table" more often on those, and much else by chance.
fn noisy_corpus(wanted: usize, other: usize, pages: usize) -> Corpus {
    let mut corpus = corpus();
    for site in 0..wanted + other {
        let is_wanted = site < wanted;
        for number in 0..pages {
            let name = format!("site {site} page {number}");
            let mut text = words_by_chance(&name);
            let chance = if is_wanted { 0.7 } else { 0.3 };
            if drawn(&name) < chance {
                text.push_str("table");
            }
            corpus
                .add(&format!("s{site}"), is_wanted, &page(&text))
                .unwrap();
        }
    }
    corpus
}

#[test]
fn what_sites_have_in_common_is_learned() {
    let mut corpus = corpus();
    for site in 0..10 {
        let (wanted, text) = match site % 2 {
            0 => (true, format!("table of numbers at place{site}")),
            _ => (false, format!("story of people at place{site}")),
        };
        corpus
            .add(&format!("s{site}"), wanted, &page(&text))
            .unwrap();
    }
    let trained = train_on(&corpus, &TrainSettings::default()).unwrap();
    assert_eq!(
        trained.validation.sites.accuracy.to_bits(),
        1.0_f64.to_bits()
    );
    let model = trained.model;
    let wanted = page("numbers, in a table");
    assert!(0.5 < model.probability(&wanted));
    assert!(model.probability(&page("a story")) < 0.5);
    let speakers = model.explain(&wanted);
    assert!(
        speakers
            .iter()
            .any(|(name, part)| name == "text table" && 0.0 < *part),
        "{speakers:?}"
    );
    // What is on one site only is not looked at.
    assert!(
        !model
            .parts()
            .features
            .iter()
            .any(|feature| feature.name.starts_with("place"))
    );
}

/// The page says which site it is of and nothing else: whoever lets pages of a site into both sides is right every time.
#[test]
fn knowing_a_site_by_its_name_does_not_help() {
    let mut corpus = corpus();
    for site in 0..40 {
        let wanted = drawn(&format!("coin {site}")) < 0.5;
        for number in 0..5 {
            let text = format!("name{site} n{site} common words w{number}");
            corpus
                .add(&format!("s{site}"), wanted, &page(&text))
                .unwrap();
        }
    }
    let settings = TrainSettings {
        feature_groups_min: 1,
        ..TrainSettings::default()
    };
    let trained = train_on(&corpus, &settings).unwrap();
    assert!(
        trained.validation.sites.accuracy < 0.7,
        "{:?}",
        trained.validation
    );
    // And the probabilities say so: no page is believed much.
    assert!(trained.validation.brier < trained.validation.brier_of_share + 0.03);
}

/// A classifier whose errors on the rare class cost more leans to it; the calibration takes that back.
#[test]
fn probabilities_are_right_where_what_is_wanted_is_rare() {
    let corpus = noisy_corpus(40, 360, 4);
    let trained = train_on(&corpus, &TrainSettings::default()).unwrap();
    let validation = &trained.validation;
    let mean = |of: fn(&super::super::validation::Bin) -> f64| -> f64 {
        let weight: f64 = validation.bins.iter().map(|bin| bin.weight).sum();
        validation
            .bins
            .iter()
            .map(|bin| bin.weight * of(bin))
            .sum::<f64>()
            / weight
    };
    let (said, was) = (mean(|bin| bin.said), mean(|bin| bin.was));
    assert!((was - 0.1).abs() < 1e-9);
    assert!((said - was).abs() < 0.02, "{said} {was}");
    for bin in validation.bins.iter().filter(|bin| 20.0 < bin.weight) {
        assert!((bin.said - bin.was).abs() < 0.1, "{bin:?}");
    }
    // A page with the word is worth 0.1 × 0.7 / (0.1 × 0.7 + 0.9 × 0.3) = 0.21: far from certain, and more than the share.
    assert!(validation.brier < validation.brier_of_share);
}

#[test]
fn the_share_can_be_that_of_another_web() {
    let corpus = noisy_corpus(60, 60, 4);
    let mean_said = |share| {
        let settings = TrainSettings {
            share,
            ..TrainSettings::default()
        };
        let validation = train_on(&corpus, &settings).unwrap().validation;
        let bins = validation.bins.iter();
        let weight: f64 = bins.clone().map(|bin| bin.weight).sum();
        bins.map(|bin| bin.weight * bin.said).sum::<f64>() / weight
    };
    for (share, expected) in [(None, 0.5), (Some(0.2), 0.2), (Some(0.05), 0.05)] {
        let said = mean_said(share);
        assert!((said - expected).abs() < 0.03, "{share:?}: {said}");
    }
}

#[test]
fn a_site_counts_as_one_however_many_pages_it_has() {
    let mut corpus = noisy_corpus(10, 10, 3);
    for number in 0..500 {
        let text = format!("flood table w{number}");
        corpus.add("flood", false, &page(&text)).unwrap();
    }
    let trained = train_on(&corpus, &TrainSettings::default()).unwrap();
    assert!(0.4 < trained.model.probability(&page("table")));
}

/// Sites of one owner look alike; if one could be learned from and another asked about, all answers would be right.
#[test]
fn a_group_is_never_on_both_sides() {
    let mut corpus = corpus();
    for site in 0..60 {
        let group = site / 6;
        let wanted = drawn(&format!("coin {site}")) < 0.5;
        let text = format!("owner{group}{wanted} common");
        let (site, group) = (format!("s{site}"), format!("g{group}"));
        corpus
            .add_in_group(&site, &group, wanted, &page(&text))
            .unwrap();
    }
    let settings = TrainSettings {
        feature_groups_min: 1,
        ..TrainSettings::default()
    };
    let apart = train_on(&corpus, &settings).unwrap().validation.sites;
    assert!(apart.accuracy < 0.7, "{apart:?}");
    let folds = Folds::deal(&corpus, &settings);
    for site in 0..60 {
        assert_eq!(folds.of_site[site], folds.of_site[site / 6 * 6]);
    }
}

#[test]
fn folds_are_even() {
    let corpus = noisy_corpus(10, 35, 1);
    let folds = Folds::deal(&corpus, &TrainSettings::default());
    for fold in 0..5 {
        let count = |sites: std::ops::Range<usize>| {
            folds.of_site[sites]
                .iter()
                .filter(|found| **found == fold)
                .count()
        };
        assert_eq!((count(0..10), count(10..45)), (2, 7));
    }
}

#[test]
fn the_same_examples_make_the_same_model() {
    let train_once = || train_on(&noisy_corpus(5, 9, 3), &TrainSettings::default()).unwrap();
    let (first, second) = (train_once(), train_once());
    assert_eq!(first.model.parts(), second.model.parts());
    assert_eq!(first.validation, second.validation);
}

/// What training sees of a page and what the model sees of it are one.
#[test]
fn a_page_scores_as_it_did_in_training() {
    let corpus = noisy_corpus(5, 9, 3);
    let settings = TrainSettings::default();
    let lesson = Lesson::new(&corpus, &settings, |_| true).unwrap();
    let trained = train_on(&corpus, &settings).unwrap();
    let name = "site 3 page 1";
    let mut text = words_by_chance(name);
    if drawn(name) < 0.7 {
        text.push_str("table");
    }
    let linear = lesson.learn(trained.cost, settings.seed);
    let in_training = linear.score(&lesson.values(&corpus.pages[3 * 3 + 1]));
    let in_use = trained.model.score(&page(&text));
    assert!(
        (in_training - in_use).abs() < 1e-2,
        "{in_training} {in_use}"
    );
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let refused = |corpus: &Corpus, settings: &TrainSettings| {
        train_on(corpus, settings).unwrap_err().to_string()
    };
    let settings = TrainSettings::default();
    assert!(refused(&corpus(), &settings).contains("at least two of each"));
    assert!(refused(&noisy_corpus(5, 0, 2), &settings).contains("at least two of each"));
    assert!(refused(&noisy_corpus(1, 9, 2), &settings).contains("at least two of each"));
    let mut empty = corpus();
    for site in 0..8 {
        empty
            .add(&format!("s{site}"), site % 2 == 0, &page(""))
            .unwrap();
    }
    assert!(refused(&empty, &settings).contains("no feature"));
    for wrong in [
        TrainSettings {
            folds: 1,
            ..settings.clone()
        },
        TrainSettings {
            costs: vec![0.0],
            ..settings.clone()
        },
        TrainSettings {
            costs: Vec::new(),
            ..settings.clone()
        },
        TrainSettings {
            share: Some(1.0),
            ..settings.clone()
        },
    ] {
        assert!(!refused(&noisy_corpus(4, 4, 2), &wrong).is_empty());
    }
}

#[test]
fn both_calibrations_serve() {
    for calibration in [Method::Platt, Method::Isotonic] {
        let settings = TrainSettings {
            calibration,
            ..TrainSettings::default()
        };
        let trained = train_on(&noisy_corpus(30, 60, 4), &settings).unwrap();
        assert!(
            trained.validation.brier < trained.validation.brier_of_share,
            "{calibration:?}"
        );
    }
}
