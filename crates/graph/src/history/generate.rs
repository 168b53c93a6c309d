//! Generates the history of a population of pages from a seed.
//!
//! Each page has a mean gap between its changes, drawn from a distribution, and changes of its own:
//!
//! - by default a Poisson process: the chance of a change is the same at every moment;
//! - with [`Bursts`], a Poisson process of bursts, each of a few changes in a row (Neyman and Scott, "Statistical Approach to
//!   Problems of Cosmology", J. Royal Statistical Society B 20(1), 1958; the number of changes is geometric here, and each
//!   follows the one before it). There are as many changes as without;
//! - with a daily rhythm, the same with a clock that runs faster in working hours and slower in the others.
//!
//! A share of the pages is born within the span, and pages may die. The same settings and seed give the same history on every
//! machine.

use std::time::Duration;

use serde::Serialize;

use super::{Builder, EVENTS_MAX, Event, EventKind, History, HistoryError, PageEvent, UnixSeconds};
use crate::PAGES_MAX;
use crate::chance::{Chance, Distributions as _, about, exp, ln};

/// What a generated history is like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneratorConfig {
    /// Pages. Default 1000.
    pub pages: u32,
    /// When the history begins. Default 1 January 2024.
    pub from: UnixSeconds,
    /// How long it is. Default three years.
    pub span: Duration,
    /// How often pages change. Default log-uniform from half a day to 500 days.
    pub mean_gaps: MeanGaps,
    /// How changes flock together. Default none: they do not.
    pub bursts: Option<Bursts>,
    /// Share of the changes that fall into the eight hours from 9:00 UTC. Default a third: night is as day.
    pub working_hours_share: f64,
    /// Share of the pages that are added within the span, each moment being as probable; the others are there from its
    /// beginning. Default 0.
    pub born_share: f64,
    /// How long a page is there, on average: the time is drawn from an exponential distribution. Default none: for ever.
    pub lifetime: Option<Duration>,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self {
            pages: 1000,
            from: UnixSeconds(1_704_067_200),
            span: Duration::from_hours(3 * 365 * 24),
            mean_gaps: MeanGaps::LogUniform {
                least: Duration::from_hours(12),
                most: Duration::from_hours(500 * 24),
            },
            bursts: None,
            working_hours_share: 1.0 / 3.0,
            born_share: 0.0,
            lifetime: None,
        }
    }
}

/// How the pages' mean gaps between changes are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum MeanGaps {
    /// All pages have the same.
    Equal(Duration),
    /// The logarithm is as probably in one place as in another.
    LogUniform {
        /// The shortest.
        least: Duration,
        /// The longest.
        most: Duration,
    },
    /// The logarithm is distributed normally.
    LogNormal {
        /// Half of the pages have less.
        median: Duration,
        /// Standard deviation of the natural logarithm.
        spread: f64,
    },
}

/// How changes flock together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bursts {
    /// Changes of a burst, on average; at least 1.
    pub changes_mean: f64,
    /// Time between the changes of a burst, on average.
    pub gap: Duration,
}

/// A generated history, with what its pages were made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// The history. Page *n* has the path `<n>.html`.
    pub history: History,
    /// The mean gap between the changes of each page, in seconds, while it is there.
    pub mean_gap_seconds: Vec<f64>,
}

/// Draws of different purposes have nothing to do with each other.
#[derive(Clone, Copy)]
enum Purpose {
    MeanGap = 100,
    Life,
    Changes,
}

const DAY_SECONDS: f64 = 86_400.0;

/// Working hours: from the ninth hour of the day, eight hours.
const WORK_BEGINS_SECONDS: f64 = 9.0 * 3600.0;
const WORK_SECONDS: f64 = 8.0 * 3600.0;

/// A Poisson process: its bursts have one change each.
const ONE_BY_ONE: Bursts = Bursts {
    changes_mean: 1.0,
    gap: Duration::ZERO,
};

/// Events have whole seconds: a page that changes faster could not tell.
const GAP_SECONDS_MIN: f64 = 1.0;

/// Makes the history of a population.
pub fn generate(config: &GeneratorConfig, seed: u64) -> Result<Population, HistoryError> {
    let mistakes = config.mistakes();
    if !mistakes.is_empty() {
        return Err(HistoryError::Settings(mistakes));
    }
    let name = format!("generated-{}-{seed}", config.pages);
    let mut builder = Builder::new(name);
    let mut mean_gap_seconds = Vec::new();
    let mut events = Vec::new();
    for page in 0..config.pages {
        let mean_gap = config.mean_gap_seconds(seed, page);
        mean_gap_seconds.push(mean_gap);
        config.page_events(seed, page, mean_gap, &mut events);
        if EVENTS_MAX < builder.told.len() + events.len() {
            return Err(HistoryError::TooMany {
                name: builder.name,
                what: "events",
                most: EVENTS_MAX as u64,
            });
        }
        builder.paths.push(&format!("{page}.html"));
        let events = events.drain(..);
        builder
            .told
            .extend(events.map(|event| PageEvent { page, event }));
    }
    Ok(Population {
        history: builder.finish(),
        mean_gap_seconds,
    })
}

impl GeneratorConfig {
    fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut check = |holds: bool, mistake: &str| {
            if !holds {
                mistakes.push(mistake.to_owned());
            }
        };
        check(self.pages <= PAGES_MAX, "there are too many pages");
        check(
            self.from.0.saturating_add(self.span.as_secs()) <= UnixSeconds::MAX.0,
            "a history must end before the year 10,000",
        );
        match self.mean_gaps {
            MeanGaps::Equal(gap) => check(!gap.is_zero(), "a mean gap must not be zero"),
            MeanGaps::LogUniform { least, most } => {
                check(!least.is_zero(), "a mean gap must not be zero");
                check(
                    least <= most,
                    "the shortest mean gap must not exceed the longest",
                );
            }
            MeanGaps::LogNormal { median, spread } => {
                check(!median.is_zero(), "a mean gap must not be zero");
                check((0.0..=10.0).contains(&spread), "spread must be 0 to 10");
            }
        }
        if let Some(bursts) = self.bursts {
            check(
                (1.0..=1e6).contains(&bursts.changes_mean),
                "a burst must have 1 to 1,000,000 changes on average",
            );
        }
        check(
            0.0 < self.working_hours_share && self.working_hours_share < 1.0,
            "the share of working hours must be between 0 and 1",
        );
        check(
            (0.0..=1.0).contains(&self.born_share),
            "the share of pages that are born must be 0 to 1",
        );
        mistakes
    }

    fn mean_gap_seconds(&self, seed: u64, page: u32) -> f64 {
        let mut chance = about(seed, page.into(), Purpose::MeanGap as u64);
        let gap = match self.mean_gaps {
            MeanGaps::Equal(gap) => gap.as_secs_f64(),
            MeanGaps::LogUniform { least, most } => {
                let (least, most) = (least.as_secs_f64(), most.as_secs_f64());
                least * exp(chance.unit() * ln(most / least))
            }
            MeanGaps::LogNormal { median, spread } => {
                median.as_secs_f64() * exp(spread * chance.normal())
            }
        };
        gap.max(GAP_SECONDS_MIN)
    }

    /// Appends what happens to one page, to an empty list.
    fn page_events(&self, seed: u64, page: u32, mean_gap: f64, events: &mut Vec<Event>) {
        let span = self.span.as_secs_f64();
        let mut life = about(seed, page.into(), Purpose::Life as u64);
        let is_born = life.is(self.born_share);
        let birth = if is_born { life.unit() * span } else { 0.0 };
        let death = self
            .lifetime
            .map(|mean| birth + exponential(&mut life, mean.as_secs_f64()));
        let end = death.unwrap_or(span).min(span);
        let mut tell = |seconds: f64, kind| {
            let at = self.moment(seconds);
            // Of several changes in one second, one can be seen.
            if events.last().is_none_or(|last| last.at < at) {
                events.push(Event { at, kind });
            }
        };
        tell(birth, EventKind::Added);
        let mut chance = about(seed, page.into(), Purpose::Changes as u64);
        let bursts = self.bursts.unwrap_or(ONE_BY_ONE);
        for seconds in bursts.changes(mean_gap, (birth, end), &mut chance) {
            tell(seconds, EventKind::Modified);
        }
        if let Some(death) = death.filter(|&death| death < span) {
            tell(death + 1.0, EventKind::Deleted);
        }
    }

    /// The moment at which the population's own clock, which knows neither day nor night, shows `seconds`.
    fn moment(&self, seconds: f64) -> UnixSeconds {
        let share = self.working_hours_share;
        let offset = (self.from.0 % 86_400) as f64 - WORK_BEGINS_SECONDS;
        // In days since the last beginning of work before the history, by either clock.
        let start = (offset / DAY_SECONDS).rem_euclid(1.0);
        let own = own_share(start, share) + seconds / DAY_SECONDS;
        let whole_days = own.floor();
        let days = whole_days + day_share(own - whole_days, share) - start;
        self.from
            .after(Duration::from_secs_f64((days * DAY_SECONDS).max(0.0)))
    }
}

/// Which part of the population's own day has passed when `part` of a day has, from the beginning of work.
fn own_share(part: f64, share: f64) -> f64 {
    let work = WORK_SECONDS / DAY_SECONDS;
    if part < work {
        share * part / work
    } else {
        share + (1.0 - share) * (part - work) / (1.0 - work)
    }
}

/// The inverse of [`own_share`].
fn day_share(own: f64, share: f64) -> f64 {
    let work = WORK_SECONDS / DAY_SECONDS;
    if own < share {
        work * own / share
    } else {
        work + (1.0 - work) * (own - share) / (1.0 - share)
    }
}

impl Bursts {
    /// The moments at which one page changes between `begin` and `end`, in seconds, in the order of time.
    ///
    /// One change more than a history may have is enough to know that they are too many.
    fn changes(self, mean_gap: f64, (begin, end): (f64, f64), chance: &mut Chance) -> Vec<f64> {
        let mut changes = Vec::new();
        let burst_gap = mean_gap * self.changes_mean;
        let mut burst_at = begin + exponential(chance, burst_gap);
        while burst_at < end && changes.len() <= EVENTS_MAX {
            let mut at = burst_at;
            while at < end && changes.len() <= EVENTS_MAX {
                changes.push(at);
                if chance.is(1.0 / self.changes_mean) {
                    break;
                }
                at += exponential(chance, self.gap.as_secs_f64());
            }
            burst_at += exponential(chance, burst_gap);
        }
        changes.sort_by(f64::total_cmp);
        changes
    }
}

fn exponential(chance: &mut Chance, mean: f64) -> f64 {
    -mean * ln(1.0 - chance.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn made(config: &GeneratorConfig) -> Population {
        generate(config, 7).unwrap()
    }

    #[test]
    fn poisson_pages_have_their_rate_and_no_dispersion_beyond_it() {
        let config = GeneratorConfig {
            pages: 200,
            mean_gaps: MeanGaps::Equal(3 * DAY),
            ..GeneratorConfig::default()
        };
        let statistics = made(&config).history.statistics();
        let expected = 200.0 * config.span.as_secs_f64() / (3 * DAY).as_secs_f64();
        let difference = statistics.modifications as f64 - expected;
        assert!(difference.abs() < 4.0 * expected.sqrt(), "{difference}");
        let dispersion = statistics.gap_dispersion.unwrap();
        assert!((dispersion - 1.0).abs() < 0.02, "{dispersion}");
        assert_eq!(statistics.additions, 200);
    }

    #[test]
    fn bursts_change_the_gaps_and_not_the_rate() {
        let config = GeneratorConfig {
            pages: 400,
            mean_gaps: MeanGaps::Equal(5 * DAY),
            bursts: Some(Bursts {
                changes_mean: 3.0,
                gap: DAY / 2,
            }),
            ..GeneratorConfig::default()
        };
        let statistics = made(&config).history.statistics();
        let expected = 400.0 * config.span.as_secs_f64() / (5 * DAY).as_secs_f64();
        // The sum of geometric bursts of mean 3 has five times the variance of as many single changes.
        let difference = statistics.modifications as f64 - expected;
        assert!(
            difference.abs() < 4.0 * (5.0 * expected).sqrt(),
            "{difference}"
        );
        let dispersion = statistics.gap_dispersion.unwrap();
        assert!(1.4 < dispersion && dispersion < 2.2, "{dispersion}");
    }

    #[test]
    fn gaps_are_distributed_as_asked_for() {
        let least = Duration::from_hours(12);
        let most = Duration::from_hours(500 * 24);
        let uniform = GeneratorConfig {
            pages: 20_000,
            span: Duration::ZERO,
            ..GeneratorConfig::default()
        };
        let gaps = made(&uniform).mean_gap_seconds;
        let (low, high) = (least.as_secs_f64(), most.as_secs_f64());
        assert!(gaps.iter().all(|gap| (low * 0.999..=high).contains(gap)));
        let middle = (low * high).sqrt();
        let below = gaps.iter().filter(|&&gap| gap < middle).count() as f64 / 20_000.0;
        assert!((below - 0.5).abs() < 0.02, "{below}");
        let normal = GeneratorConfig {
            mean_gaps: MeanGaps::LogNormal {
                median: 10 * DAY,
                spread: 1.5,
            },
            ..uniform
        };
        let logs: Vec<f64> = made(&normal)
            .mean_gap_seconds
            .iter()
            .map(|gap| (gap / (10 * DAY).as_secs_f64()).ln())
            .collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let square = logs.iter().map(|log| log * log).sum::<f64>() / logs.len() as f64;
        assert!(mean.abs() < 0.05, "{mean}");
        assert!((square.sqrt() - 1.5).abs() < 0.05, "{square}");
    }

    #[test]
    fn a_daily_rhythm_puts_changes_into_working_hours() {
        for (from, share) in [(0, 0.8), (50_000, 0.8), (80_000, 0.1), (0, 1.0 / 3.0)] {
            let config = GeneratorConfig {
                pages: 50,
                from: UnixSeconds(1_704_067_200 + from),
                mean_gaps: MeanGaps::Equal(DAY),
                working_hours_share: share,
                ..GeneratorConfig::default()
            };
            let events = made(&config).history.in_order();
            let modified: Vec<u64> = events
                .iter()
                .filter(|told| told.event.kind == EventKind::Modified)
                .map(|told| told.event.at.0 % 86_400 / 3600)
                .collect();
            let at_work = modified.iter().filter(|hour| (9..17).contains(*hour));
            let measured = at_work.count() as f64 / modified.len() as f64;
            assert!((measured - share).abs() < 0.02, "{measured} for {share}");
            // Rhythm or not, a day has one change on average.
            let expected = 50.0 * 3.0 * 365.0;
            let difference = modified.len() as f64 - expected;
            assert!(difference.abs() < 4.0 * f64::sqrt(expected), "{difference}");
        }
    }

    #[test]
    fn pages_are_born_and_die() {
        let config = GeneratorConfig {
            pages: 4000,
            span: 100 * DAY,
            mean_gaps: MeanGaps::Equal(30 * DAY),
            born_share: 0.5,
            lifetime: Some(100 * DAY),
            ..GeneratorConfig::default()
        };
        let history = made(&config).history;
        let at_start = history
            .pages()
            .filter(|&page| history.events(page)[0].at == config.from)
            .count();
        assert!((at_start as f64 - 2000.0).abs() < 130.0, "{at_start}");
        // From the start: 1 − 1/e die. Born at a random moment: 1/e of all.
        let expected = 2000.0 * (1.0 - (-1.0_f64).exp()) + 2000.0 * (-1.0_f64).exp();
        let deleted = history.statistics().deletions as f64;
        assert!((deleted - expected).abs() < 130.0, "{deleted}");
        for page in history.pages() {
            let events = history.events(page);
            assert!(events.is_sorted_by(|left, right| left.at < right.at));
            assert_eq!(events[0].kind, EventKind::Added);
            let last = events.len() - 1;
            let inner = &events[1..last.max(1)];
            assert!(inner.iter().all(|event| event.kind == EventKind::Modified));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_history_and_another_one_another() {
        let config = GeneratorConfig::default();
        assert_eq!(generate(&config, 1).unwrap(), generate(&config, 1).unwrap());
        assert_ne!(generate(&config, 1).unwrap(), generate(&config, 2).unwrap());
        let first = made(&config).history.in_order()[1000];
        assert_eq!(
            (first.page, first.event.at.0),
            (8, 1_704_067_522),
            "fixed for ever"
        );
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let config = GeneratorConfig {
            mean_gaps: MeanGaps::LogUniform {
                least: DAY,
                most: DAY / 2,
            },
            working_hours_share: f64::NAN,
            born_share: 2.0,
            bursts: Some(Bursts {
                changes_mean: 0.5,
                gap: DAY,
            }),
            ..GeneratorConfig::default()
        };
        let Err(HistoryError::Settings(mistakes)) = generate(&config, 1) else {
            panic!("the settings are wrong");
        };
        assert_eq!(mistakes.len(), 4);
    }
}
