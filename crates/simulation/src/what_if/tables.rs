//! The numbers and pictures of a what-if.

use std::time::Duration;

use junkai_charts::{Axis, Chart, Format, Line, Style};

use super::{AS_CRAWLED, Ready, Schedule, WhatIf};
use crate::comparison::{Compared, gap_cells, places, share_line};
use crate::outcome::{Cell, Column, Drawing, Figure, Table, grouped};
use crate::policy::Policy;

/// The parts of the pages at which the share of `PageRank` is told.
pub(super) const SHARE_AT: [f64; 3] = [0.1, 0.2, 0.5];
/// The parts of the pages for which the time is told.
pub(super) const TIME_FOR: [f64; 3] = [0.5, 0.9, 1.0];
/// Servers that are told one by one.
const SERVERS_MAX: usize = 10;

/// One row for each order: what it had when, how long it took, in how much memory.
pub(super) fn orders(ready: &Ready, what_if: &WhatIf, lines: &[Compared]) -> Table {
    let mut columns = vec![Column::new("order", "order")];
    columns.extend(SHARE_AT.map(|part| Column::at_part("share", "share at", part)));
    columns.extend(what_if.visits.iter().map(|visits| {
        Column::new(
            format!("share_after_{visits}_pages"),
            format!("share after {} visits", grouped((*visits).into())),
        )
    }));
    columns.extend(TIME_FOR.map(|part| {
        let percent = format!("{:.0}", 100.0 * part);
        Column::new(
            format!("time_to_{percent}_percent_seconds"),
            format!("time to {percent} %"),
        )
    }));
    columns.extend(Column::list([
        ("stored_max_urls", "most in memory"),
        ("put_aside_times", "spilled"),
        ("discarded_times", "discarded"),
    ]));
    columns.push(Column::new("least_gap_seconds", "least gap"));
    columns.push(Column::new("too_early_visits", "gaps too short"));
    let row = |one: &Compared| {
        let value = &ready.subject.value;
        let mut cells = vec![Cell::Text(one.label.clone())];
        cells.extend(SHARE_AT.map(|part| Cell::share(value.share_at(&one.cumulated, part))));
        cells.extend(what_if.visits.iter().map(|&visits| {
            let place = (visits as usize).checked_sub(1);
            Cell::share(place.and_then(|place| one.cumulated.get(place).copied()))
        }));
        cells.extend(
            TIME_FOR.map(|part| time_to(ready, one, part).map_or(Cell::None, Cell::Seconds)),
        );
        cells.extend(memory_cells(&what_if.schedule, one));
        cells
    };
    Table {
        name: "orders".to_owned(),
        caption: "Share of PageRank when this part of the pages, or this number, was visited; time by the virtual clock, \
                  of the crawl itself by its log; pages in memory"
            .to_owned(),
        columns,
        rows: lines.iter().map(row).collect(),
    }
}

fn memory_cells(schedule: &Schedule, one: &Compared) -> [Cell; 5] {
    if !is_simulated(one) {
        return [Cell::None, Cell::None, Cell::None, Cell::None, Cell::None];
    }
    let run = &one.run;
    let [_, least_gap] = gap_cells(&one.policy, &run.pace);
    [
        Cell::Count(schedule.in_memory(&one.label, run.stored_max())),
        Cell::Count(run.spilled),
        Cell::Count(run.discarded),
        least_gap,
        Cell::Count(run.pace.violations),
    ]
}

/// Whether the line was simulated under the clock, rather than what was or what could be at best.
pub(super) fn is_simulated(one: &Compared) -> bool {
    one.label != AS_CRAWLED && has_clock(one)
}

/// Whether it is known when its visits ended: by the virtual clock, or by the log of the crawl.
fn has_clock(one: &Compared) -> bool {
    !one.run.ended.is_empty()
}

/// When this part of the pages was visited, in seconds; none if that never was, or nobody looked at a clock.
pub(super) fn time_to(ready: &Ready, one: &Compared, part: f64) -> Option<f64> {
    let visits = ready.subject.value.visits_at(part).max(1);
    let ended = one.run.ended.get(visits - 1)?;
    Some(ended.as_micros() as f64 / 1e6)
}

/// A server, and what it has to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) hosts: u64,
    pub(super) pages: u64,
    /// The least time that a polite crawl needs for it, robots.txt files included.
    pub(super) least: Duration,
}

impl Server {
    /// All servers; the one with the most visits first, equal ones by number.
    pub(super) fn busiest_first(ready: &Ready, schedule: &Schedule) -> Vec<Server> {
        let hosts = &ready.subject.web.hosts;
        let mut servers: Vec<Server> = (0..hosts.server_count())
            .map(|server| Server {
                name: hosts.server_name(server).into_owned(),
                hosts: 0,
                pages: 0,
                least: Duration::ZERO,
            })
            .collect();
        for (host, &pages) in (0..).zip(hosts.sizes()) {
            let server = &mut servers[hosts.server(host) as usize];
            server.hosts += 1;
            server.pages += u64::from(pages);
        }
        for (number, server) in servers.iter_mut().enumerate() {
            let latency = ready.subject.latencies.get(number);
            let of_server = Schedule {
                latency: latency.copied().unwrap_or(schedule.latency),
                ..*schedule
            };
            server.least = of_server.time_of(server.pages + server.hosts);
        }
        servers.sort_by_key(|server| std::cmp::Reverse(server.least));
        servers
    }
}

/// The servers that take the longest.
pub(super) fn servers(servers: &[Server]) -> Table {
    let row = |server: &Server| {
        vec![
            Cell::Text(server.name.clone()),
            Cell::Count(server.pages),
            Cell::Count(server.hosts),
            Cell::Seconds(server.least.as_secs_f64()),
        ]
    };
    Table {
        name: "servers".to_owned(),
        caption: "The busiest servers: no order is done before each of them had the least time that it needs".to_owned(),
        columns: Column::list([
            ("server", "server"),
            ("pages", "pages"),
            ("hosts", "hosts"),
            ("least_time_seconds", "least time"),
        ]),
        rows: servers.iter().take(SERVERS_MAX).map(row).collect(),
    }
}

/// Points of all lines.
pub(super) fn curve(lines: &[Compared]) -> Table {
    let rows = lines.iter().flat_map(|one| {
        places(one.cumulated.len()).map(|place| {
            vec![
                Cell::Text(one.label.clone()),
                Cell::Count(place as u64 + 1),
                seconds_at(one, place).map_or(Cell::None, Cell::Seconds),
                Cell::Share(one.cumulated[place]),
                one.run
                    .stored
                    .get(place)
                    .filter(|_| is_simulated(one))
                    .map_or(Cell::None, |&stored| Cell::Count(stored.into())),
            ]
        })
    });
    Table {
        name: "curve".to_owned(),
        caption:
            "After so many visits: seconds of the virtual clock, share of PageRank, pages that wait"
                .to_owned(),
        columns: Column::list([
            ("order", "order"),
            ("visited_pages", "visits"),
            ("clock_seconds", "time"),
            ("share", "share"),
            ("stored_urls", "waiting"),
        ]),
        rows: rows.collect(),
    }
}

fn seconds_at(one: &Compared, place: usize) -> Option<f64> {
    let ended = one.run.ended.get(place)?;
    Some(ended.as_micros() as f64 / 1e6)
}

/// Share against visits, and against time.
pub(super) fn figures(ready: &Ready, lines: &[Compared]) -> Vec<Figure> {
    let share = || {
        Axis::linear("share of PageRank")
            .format(Format::Share)
            .min(0.0)
            .max(1.0)
    };
    let mut by_visits = Chart::new(
        "What matters, against what was fetched",
        Axis::linear("pages visited").min(0.0),
        share(),
    )
    .subtitle(ready.subject.web.name.clone());
    let mut by_time = Chart::new(
        "What matters, against time",
        Axis::linear("virtual clock")
            .format(Format::Seconds)
            .min(0.0),
        share(),
    )
    .subtitle(ready.subject.web.name.clone());
    for (slot, one) in lines.iter().enumerate() {
        let line = share_line(&one.label, &one.cumulated);
        by_visits = by_visits.line(looking(one, line, slot));
        if has_clock(one) {
            let points = places(one.cumulated.len())
                .filter_map(|place| Some((seconds_at(one, place)?, one.cumulated[place])));
            let line = Line::new(one.label.clone(), std::iter::once((0.0, 0.0)).chain(points));
            by_time = by_time.line(looking(one, line, slot));
        }
    }
    let figure = |name: &str, caption: &str, chart| Figure {
        name: name.to_owned(),
        caption: caption.to_owned(),
        chart: Drawing::One(Box::new(chart)),
    };
    vec![
        figure(
            "share",
            "The higher a line, the more of PageRank was fetched by then; what the crawl did is one of them.",
            by_visits,
        ),
        figure(
            "time",
            "The same by the clock: orders differ where servers, not visits in flight, are what is scarce.",
            by_time,
        ),
    ]
}

/// One look for a line in both figures.
fn looking(one: &Compared, line: Line, slot: usize) -> Line {
    if one.policy == Policy::Opt {
        line.style(Style::Reference)
    } else if one.label == AS_CRAWLED {
        line.slot(0)
    } else {
        line.slot(slot)
    }
}
