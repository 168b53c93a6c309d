//! When to come back to a page: the settings.

use std::time::Duration;

use junkai_page::content::A_LITTLE;
use serde::{Deserialize, Serialize};

use crate::change::{ChangeRule, Counts};
use crate::estimator::EstimatorKind;
use crate::policy::PolicyKind;
use crate::servers::ServersConfig;

const DAY: Duration = Duration::from_hours(24);

/// When to come back to a page. Table `[revisit]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RevisitConfig {
    /// Whether known pages are visited again at all. Default true.
    pub enabled: bool,
    /// How the rate of a page's changes is estimated. Default "log-normal".
    ///
    /// "log-normal": three numbers per page, a prior for each site, forgetting; right from the first visit on, whatever the scale of time.
    /// "gamma": two numbers likewise, but slow to believe in a page that changes far more often than its site.
    /// "seed-geometric-mean", "seed-mean", "seed-shortest": equation 4 of Tamura and Kitsuregawa (2007) with the typical changed gap that the name
    /// says; the first is the paper's own. "naive": changes by time. All but "log-normal" are there to be compared with. The exact solution of
    /// maximum likelihood is not offered: it must remember every gap of every page, so a page's state would grow with its visits.
    pub estimator: EstimatorKind,
    /// How the time of the next visit follows from it. Default "index".
    ///
    /// "index": a page is visited when a visit is worth its price, which `visits_a_day` sets. "seed": the interval is the time between
    /// two changes, as in Tamura and Kitsuregawa (2007). "uniform": all pages alike. The last two are there to be compared with.
    pub policy: PolicyKind,
    /// Between versions captured (1: an archive) and freshness (0: a mirror). Default 1.
    pub objective: f64,
    /// Visits to known pages a day, over all servers together. Default: no limit but politeness. What was not spent, or was overdrawn, is
    /// made up for within about an eighth of the time in which all pages could be visited once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits_a_day: Option<f64>,
    /// Every page is visited at least so often, whatever it is believed to do: `"1day"` keeps a daily archive. It shortens `first_min`, `first_max`,
    /// `interval_spread_min` and `interval_max` where they are longer, and `servers.interval` and `servers.interval_large` for a server with so many pages. Servers whose pace does not allow it are counted and told of. Where it is shorter than in the run before, the next visits of
    /// all known pages are brought forward. Where it is longer, or not set any more, each page keeps the time that it has until its next visit, and is planned anew from then on. Default: not set.
    #[serde(with = "humantime_serde", skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Duration>,
    /// Shortest time from a page's first visit to its second. Default 1 day.
    #[serde(with = "humantime_serde")]
    pub first_min: Duration,
    /// Longest time from a page's first visit to its second; between the two it is drawn at random, so that pages that were
    /// found together do not come back together. Default 7 days.
    #[serde(with = "humantime_serde")]
    pub first_max: Duration,
    /// Shortest time between two visits to a page. Default 1 min.
    #[serde(with = "humantime_serde")]
    pub interval_min: Duration,
    /// Longest time between two visits to a page: so often even a page that never changes is looked at, to learn whether it is
    /// still there. Default 400 days, or ten times the mean interval of all pages where `visits_a_day` makes that longer.
    #[serde(with = "humantime_serde")]
    pub interval_max: Duration,
    /// A longer interval than the longest is drawn at random between this and the longest, so that such pages do not all come
    /// back at once. Default 300 days.
    #[serde(with = "humantime_serde")]
    pub interval_spread_min: Duration,
    /// The time in which what was seen of a page's changes loses all but a third of its weight, for pages change their
    /// habits. Default 6000 days: chosen by replays of two real histories, and confirmed on two others. At least 1 day.
    #[serde(with = "humantime_serde")]
    pub forgetting: Duration,
    /// A page that is gone, or has moved for good, is given up after this many visits in a row that found it so, if
    /// `gone_time_min` has passed as well. Each of them doubles the interval. Default 5. What was not there at its first visit (404, 410, or
    /// 301 and 308, whose target is visited instead) does not become a known page, and is not visited again unless it is asked for.
    pub gone_visits_max: u8,
    /// A page that is gone is not given up before this time since it was last there. Default 30 days.
    #[serde(with = "humantime_serde")]
    pub gone_time_min: Duration,
    /// A page that cannot be reached is given up as one that is gone, but not before this time since it was last there. Default
    /// 180 days: servers come back.
    #[serde(with = "humantime_serde")]
    pub failed_time_min: Duration,
    /// What counts as a change, unless a rule says otherwise: "payload", "content" or `{ similarity = 0.96 }`. Default
    /// `{ similarity = 0.96 }`: noise and small edits are captured when they are met, and not run after. Pages without text
    /// are compared by their payload; a page that links to pages which were not known has changed, however little.
    pub counts: Counts,
    /// What counts as a change for some pages, each rule in a table `[[revisit.change]]` of two keys. `scope` says which pages: those whose URL
    /// begins with a text (`"https://example.org/news/"`), those of a host (`"example.org"`), or those of a domain with all its hosts
    /// (`"*.example.org"`). `counts` says what counts, as above. The first rule that a page matches holds. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<ChangeRule>,
    /// Sites of which it is remembered how often their pages change and how far they are to be believed, about 150 bytes
    /// each. Default 65536, from 1 to 16777216; those beyond are forgotten, the longest unvisited first.
    pub sites_max: usize,
    /// How known pages press on their servers.
    pub servers: ServersConfig,
}

impl RevisitConfig {
    /// The settings with `at_least` worked into the intervals.
    #[must_use]
    pub fn resolved(&self) -> RevisitConfig {
        let Some(longest) = self.at_least else {
            return self.clone();
        };
        let mut resolved = self.clone();
        // Some spread stays, so that pages that were found together do not come back together.
        for (bound, most) in [
            (&mut resolved.first_min, longest / 2),
            (&mut resolved.first_max, longest),
            (&mut resolved.interval_spread_min, longest / 10 * 9),
            (&mut resolved.interval_max, longest),
        ] {
            *bound = most.min(*bound);
        }
        resolved
    }

    /// What is wrong with the settings, a sentence each.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut mistakes: Vec<String> = Vec::new();
        let mut check = |is_right: bool, mistake: &str| {
            if !is_right {
                mistakes.push(mistake.to_owned());
            }
        };
        check(
            (0.0..=1.0).contains(&self.objective),
            "revisit.objective is not between 0 and 1",
        );
        check(
            self.visits_a_day
                .is_none_or(|visits| 0.0 < visits && visits.is_finite()),
            "revisit.visits_a_day is not above 0",
        );
        check(
            self.at_least.is_none() || self.visits_a_day.is_none(),
            "revisit.at_least and revisit.visits_a_day speak against each other; set one of them",
        );
        check(
            self.at_least
                .is_none_or(|at_least| self.interval_min <= at_least / 10 * 9),
            &format!(
                "revisit.at_least is shorter than {}: pages come back a tenth sooner than at the latest, and no sooner than revisit.interval_min ({}) allows",
                humantime::format_duration(whole_seconds(self.interval_min / 9 * 10)),
                humantime::format_duration(self.interval_min)
            ),
        );
        check(
            self.at_least.is_none() || self.enabled,
            "revisit.at_least wants known pages to be visited again, and revisit.enabled = false does not; set one of them",
        );
        check(
            self.first_min <= self.first_max,
            "revisit.first_min is above revisit.first_max",
        );
        check(
            Duration::from_secs(1) <= self.interval_min,
            "revisit.interval_min is below a second",
        );
        check(
            self.interval_min <= self.interval_spread_min
                && self.interval_spread_min <= self.interval_max,
            &format!(
                "revisit.interval_min ({}), interval_spread_min ({}) and interval_max ({}) are not in this order; set them together",
                humantime::format_duration(self.interval_min),
                humantime::format_duration(self.interval_spread_min),
                humantime::format_duration(self.interval_max)
            ),
        );
        check(
            self.interval_max <= 3660 * DAY,
            "revisit.interval_max is above ten years",
        );
        check(DAY <= self.forgetting, "revisit.forgetting is below a day");
        check(0 < self.gone_visits_max, "revisit.gone_visits_max is 0");
        let is_similarity = |counts: Counts| !matches!(counts, Counts::Similarity(least) if !(0.0..=1.0).contains(&least));
        check(
            is_similarity(self.counts),
            "revisit.counts.similarity is not between 0 and 1",
        );
        check(
            0.0 < self.servers.known_share && self.servers.known_share <= 1.0,
            "revisit.servers.known_share is not above 0 and up to 1",
        );
        check(0 < self.sites_max, "revisit.sites_max is 0");
        mistakes.extend(self.change.iter().filter_map(ChangeRule::mistake));
        mistakes
    }
}

impl Default for RevisitConfig {
    fn default() -> RevisitConfig {
        RevisitConfig {
            enabled: true,
            estimator: EstimatorKind::default(),
            policy: PolicyKind::default(),
            objective: 1.0,
            visits_a_day: None,
            at_least: None,
            first_min: DAY,
            first_max: 7 * DAY,
            interval_min: Duration::from_mins(1),
            interval_max: 400 * DAY,
            interval_spread_min: 300 * DAY,
            forgetting: 6000 * DAY,
            gone_visits_max: 5,
            gone_time_min: 30 * DAY,
            failed_time_min: 180 * DAY,
            counts: Counts::Similarity(A_LITTLE),
            change: Vec::new(),
            sites_max: 65_536,
            servers: ServersConfig::default(),
        }
    }
}

/// The next whole second from this time on: what is told as the least is not refused.
fn whole_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs() + u64::from(0 < time.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_right_and_outlive_a_file() {
        let config = RevisitConfig::default();
        assert_eq!(config.mistakes(), Vec::<String>::new());
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<RevisitConfig>(&text).unwrap(), config);
        assert_eq!(toml::from_str::<RevisitConfig>("").unwrap(), config);
    }

    #[test]
    fn what_counts_is_said_in_one_line() {
        let text = r#"
            estimator = "seed-geometric-mean"
            first_max = "3 days"
            counts = "content"
            change = [
                { scope = "https://example.org/news/", counts = "payload" },
                { scope = "*.example.net", counts = { similarity = 0.9 } },
            ]
        "#;
        let config: RevisitConfig = toml::from_str(text).unwrap();
        assert_eq!(config.estimator, EstimatorKind::GapGeometricMean);
        assert_eq!(config.counts, Counts::Content);
        assert_eq!(config.change[1].counts, Counts::Similarity(0.9));
        assert_eq!(config.mistakes(), Vec::<String>::new());
    }

    #[test]
    fn one_setting_has_every_page_visited_daily() {
        let config: RevisitConfig = toml::from_str("at_least = \"1day\"").unwrap();
        assert_eq!(config.mistakes(), Vec::<String>::new());
        let resolved = config.resolved();
        assert_eq!(resolved.mistakes(), Vec::<String>::new());
        assert_eq!([resolved.first_max, resolved.interval_max], [DAY, DAY]);
        assert!(resolved.first_min < DAY && resolved.interval_spread_min < DAY);
        for text in [
            "at_least = \"1day\"\nvisits_a_day = 10.0",
            "at_least = \"1min\"",
        ] {
            let config: RevisitConfig = toml::from_str(text).unwrap();
            assert_eq!(config.mistakes().len(), 1, "{:?}", config.mistakes());
        }
    }

    #[test]
    fn every_mistake_is_told() {
        let text = r#"
            objective = 2.0
            visits_a_day = 0.0
            first_min = "8 days"
            interval_min = "1ms"
            interval_max = "200 days"
            gone_visits_max = 0
            sites_max = 0
            change = [{ scope = "", counts = "payload" }]
        "#;
        let config: RevisitConfig = toml::from_str(text).unwrap();
        assert_eq!(config.mistakes().len(), 8, "{:?}", config.mistakes());
        assert!(toml::from_str::<RevisitConfig>("interval = \"1s\"").is_err());
    }

    #[test]
    fn the_shortest_time_that_is_told_is_short_and_taken() {
        let told = |at_least: &str| {
            let config: RevisitConfig =
                toml::from_str(&format!("at_least = \"{at_least}\"")).unwrap();
            config.mistakes()
        };
        let mistakes = told("1m");
        let mistake = mistakes.first().map(String::as_str).unwrap_or_default();
        assert!(
            mistake.starts_with("revisit.at_least is shorter than 1m 7s: "),
            "{mistakes:?}"
        );
        assert_eq!(told("1m 7s"), Vec::<String>::new());
    }
}
