//! The numbers of the experiment.

use junkai_simulation::outcome::{Cell, Column, Table};

use super::{Contestant, Player, Results};
use crate::experiment::words::text;

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        vec![
            self.margins(),
            self.policies(),
            self.own_pace(),
            self.detection(),
            self.signals(),
        ]
    }

    fn margins(&self) -> Table {
        let rivals = [
            Player::UNIFORM,
            Player::PAPER,
            Player::Daily(Contestant::IntervalMean),
            Player::Daily(Contestant::IntervalLikelihood),
        ];
        let mut rows = Vec::new();
        for (subject, one) in self.subjects.iter().enumerate() {
            for &share in &self.experiment.shares {
                for ours in [Player::OURS, Player::Live] {
                    let mut row = vec![text(&one.name), Cell::Part(share), text(ours.name())];
                    for rival in rivals {
                        let margin = self.margin(subject, share, ours, rival);
                        row.push(Cell::difference(margin.map(|margin| margin.mean)));
                        row.push(Cell::share(margin.map(|margin| margin.error)));
                    }
                    rows.push(row);
                }
            }
        }
        Table {
            name: "margins".to_owned(),
            caption: "How far the share of versions that ours captures is ahead of the others', at equal visits: mean over \
                      repetitions, and its standard error."
                .to_owned(),
            columns: Column::list([
                ("web", "web"),
                ("visits_a_day_share", "visits a day"),
                ("ours", "ours"),
                ("ahead_of_uniform", "ahead of uniform"),
                ("ahead_of_uniform_error", "± s.e."),
                ("ahead_of_seed", "of the paper"),
                ("ahead_of_seed_error", "± s.e."),
                ("ahead_of_seed_mean", "of its mean"),
                ("ahead_of_seed_mean_error", "± s.e."),
                ("ahead_of_most_likely", "of the most likely"),
                ("ahead_of_most_likely_error", "± s.e."),
            ]),
            rows,
        }
    }

    fn policies(&self) -> Table {
        let rows = self.trials.iter().map(|trial| {
            let capture = trial.mean(super::Tally::capture);
            let visits = trial.mean(|tally| tally.visits() as f64);
            let wasted = trial.mean(|tally| share(tally.wasted, tally.visits()));
            vec![
                text(&self.subjects[trial.subject].name),
                Cell::Part(trial.share),
                text(trial.player.name()),
                Cell::Count(rounded(visits.mean)),
                Cell::Share(capture.mean),
                Cell::Share(capture.error),
                Cell::Share(trial.mean(super::Tally::freshness).mean),
                Cell::Share(trial.mean(super::Tally::per_visit).mean),
                Cell::Share(wasted.mean),
            ]
        });
        Table {
            name: "policies".to_owned(),
            caption: "Each policy at each budget: visits to known pages, the share of versions captured, the share of time in which copies are \
                      current, new versions per visit, and the share of visits that found nothing new."
                .to_owned(),
            columns: Column::list([
                ("web", "web"),
                ("visits_a_day_share", "visits a day"),
                ("policy", "policy"),
                ("visits", "visits"),
                ("captured_share", "captured"),
                ("captured_share_error", "± s.e."),
                ("current_share", "current"),
                ("versions_per_visit", "per visit"),
                ("wasted_share", "wasted"),
            ]),
            rows: rows.collect(),
        }
    }

    fn own_pace(&self) -> Table {
        let rows = self.loops.iter().map(|one| {
            vec![
                text(&self.subjects[one.subject].name),
                text(one.contestant.to_string()),
                Cell::Count(one.tally.visits()),
                Cell::Share(one.tally.capture()),
                Cell::Share(one.tally.freshness()),
                Cell::Share(one.tally.per_visit()),
                Cell::Part(one.spike().0),
            ]
        });
        Table {
            name: "own-pace".to_owned(),
            caption: "Without a budget, each policy at its own pace: the last column is the share of pages whose next interval is 300 to 400 days."
                .to_owned(),
            columns: Column::list([
                ("web", "web"),
                ("policy", "policy"),
                ("visits", "visits"),
                ("captured_share", "captured"),
                ("current_share", "current"),
                ("versions_per_visit", "per visit"),
                ("longest_intervals_share", "300–400 d"),
            ]),
            rows: rows.collect(),
        }
    }

    fn detection(&self) -> Table {
        let mut rows = Vec::new();
        for one in &self.loops {
            for bin in one.known_bins() {
                rows.push(vec![
                    text(&self.subjects[one.subject].name),
                    text(one.contestant.to_string()),
                    Cell::Seconds(86_400.0 * bin.from),
                    Cell::Seconds(86_400.0 * bin.to),
                    Cell::Count(bin.pages),
                    Cell::Share(bin.mean),
                    Cell::Share(bin.deviation),
                ]);
            }
        }
        Table {
            name: "detection".to_owned(),
            caption: "Without a budget: new versions per visit of pages by their interval, mean and standard deviation over pages (Tamura and Kitsuregawa, 2007, \
                      figure 4); bins of fewer than ten pages are left out."
                .to_owned(),
            columns: Column::list([
                ("web", "web"),
                ("policy", "policy"),
                ("interval_from_seconds", "from"),
                ("interval_to_seconds", "to"),
                ("pages", "pages"),
                ("versions_per_visit", "per visit"),
                ("versions_per_visit_deviation", "s.d."),
            ]),
            rows,
        }
    }

    fn signals(&self) -> Table {
        let rows = self.hearing.iter().map(|heard| {
            vec![
                Cell::Part(heard.signalling.signalled),
                Cell::Part(heard.signalling.recall),
                Cell::Part(heard.signalling.precision),
                Cell::Share(heard.deaf.mean),
                Cell::Share(heard.naive.mean),
                Cell::Share(heard.measured.mean),
                Cell::Difference(heard.margin.mean),
                Cell::Share(heard.margin.error),
            ]
        });
        Table {
            name: "signals".to_owned(),
            caption: "The share of time in which copies are current, by how signals are heard: not at all, as certain, and as far as they have \
                      proved true; how far the last is ahead of the better of the others."
                .to_owned(),
            columns: Column::list([
                ("pages_signalled_share", "pages"),
                ("recall_share", "recall"),
                ("precision_share", "precision"),
                ("current_share_deaf", "deaf"),
                ("current_share_naive", "naive"),
                ("current_share_measured", "measured"),
                ("margin", "ahead by"),
                ("margin_error", "± s.e."),
            ]),
            rows: rows.collect(),
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of counts"
)]
fn rounded(mean: f64) -> u64 {
    mean.round() as u64
}
