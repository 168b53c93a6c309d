//! Data files with statistics, and data files that only look like it: generated, in Japanese and English.
//!
//! Each kind of table is a source of its own, so that a model is asked about kinds that it has not learned from. What is drawn depends on
//! the paper alone.

mod lookalikes;
mod statistics;
mod words;

use super::chance::Chance;

/// A kind of table.
pub(super) struct Kind {
    /// What it is called.
    pub(super) name: &'static str,
    /// Whether it is statistics.
    pub(super) wanted: bool,
    write: fn(&mut Chance) -> String,
}

/// Every kind.
pub(super) const KINDS: [Kind; 32] = [
    kind("prefectures-by-year", true, statistics::prefectures_by_year),
    kind("long-form", true, statistics::long_form),
    kind("monthly-indicators", true, statistics::monthly_indicators),
    kind("age-and-sex", true, statistics::age_and_sex),
    kind("survey-shares", true, statistics::survey_shares),
    kind("accounts", true, statistics::accounts),
    kind("trade", true, statistics::trade),
    kind("weather", true, statistics::weather),
    kind("observations", true, statistics::observations),
    kind("quarterly-series", true, statistics::quarterly_series),
    kind("country-panel", true, statistics::country_panel),
    kind(
        "rates-with-intervals",
        true,
        statistics::rates_with_intervals,
    ),
    kind("addresses", false, lookalikes::addresses),
    kind("facilities", false, lookalikes::facilities),
    kind("timetable", false, lookalikes::timetable),
    kind("log", false, lookalikes::log),
    kind("settings", false, lookalikes::settings),
    kind("codes", false, lookalikes::codes),
    kind("dictionary", false, lookalikes::dictionary),
    kind("prices", false, lookalikes::prices),
    kind("tickets", false, lookalikes::tickets),
    kind("translations", false, lookalikes::translations),
    kind("files", false, lookalikes::files),
    kind("calendar", false, lookalikes::calendar),
    kind("contracts", false, lookalikes::contracts),
    kind("ledger", false, lookalikes::ledger),
    kind("references", false, lookalikes::references),
    kind("glossary", false, lookalikes::glossary),
    kind("members", false, lookalikes::members),
    kind("shops", false, lookalikes::shops),
    kind("stations", false, lookalikes::stations),
    kind("fields", false, lookalikes::fields),
];

const fn kind(name: &'static str, wanted: bool, write: fn(&mut Chance) -> String) -> Kind {
    Kind {
        name,
        wanted,
        write,
    }
}

impl Kind {
    /// One table of this kind, as CSV. Some of what is no statistics is short: lists of three lines are all over the web.
    pub(super) fn table(&self, seed: u64) -> String {
        let mut chance = Chance(seed);
        let table = (self.write)(&mut chance);
        if self.wanted || chance.percent(55) {
            return table;
        }
        let lines = usize::try_from(chance.between(2, 6)).unwrap_or(2);
        table.split_inclusive('\n').take(lines).collect()
    }
}
