//! What a what-if found, in sentences.

use super::tables::{SHARE_AT, Server, TIME_FOR, has_clock, time_to};
use super::{AS_CRAWLED, BEST_POSSIBLE, Ready, WhatIf};
use crate::comparison::Compared;
use crate::outcome::{grouped, span};

/// Memory of a page that stands in order: what 100,000 of them were measured to take, each.
const CANDIDATE_BYTES: f64 = 500.0;

/// The part of the whole time from which a single server is said to bound it.
const BOUNDS_FROM: f64 = 0.8;

pub(super) fn findings(
    ready: &Ready,
    what_if: &WhatIf,
    lines: &[Compared],
    servers: &[Server],
) -> Vec<String> {
    let mut findings = vec![subject(ready)];
    if ready.subject.value.reachable() == 0 {
        return findings;
    }
    findings.extend(shares(ready, lines));
    let simulated: Vec<&Compared> = lines.iter().filter(|one| has_clock(one)).collect();
    findings.extend(
        simulated
            .iter()
            .filter_map(|one| times(ready, what_if, one)),
    );
    let fastest = simulated
        .iter()
        .filter_map(|one| time_to(ready, one, 1.0))
        .reduce(f64::min);
    if let (Some(fastest), Some(server)) = (fastest, servers.first()) {
        findings.push(bound(what_if, fastest, server, servers.len()));
    }
    findings.extend(simulated.iter().map(|one| memory(what_if, one)));
    let too_short: u64 = simulated.iter().map(|one| one.run.pace.violations).sum();
    findings.push(if too_short == 0 {
        "No server would have been visited sooner than promised.".to_owned()
    } else {
        format!(
            "{} visits would have come SOONER THAN PROMISED.",
            grouped(too_short)
        )
    });
    findings
}

fn subject(ready: &Ready) -> String {
    let statistics = &ready.subject.statistics;
    let captured = if ready.captured == statistics.pages {
        "captured pages".to_owned()
    } else {
        format!(
            "known pages, {} of them captured,",
            grouped(ready.captured.into())
        )
    };
    format!(
        "{}: {} {captured} with {} links, on {} hosts and {} servers. Crawls begin at {}.",
        statistics.name,
        grouped(statistics.pages.into()),
        grouped(statistics.links),
        grouped(statistics.hosts.into()),
        grouped(statistics.servers.into()),
        ready.entry_points,
    )
}

/// For each part: what every order would have had, best first.
fn shares(ready: &Ready, lines: &[Compared]) -> Vec<String> {
    let told = |part: f64| {
        let share = |label: &str| {
            let one = lines.iter().find(|one| one.label == label)?;
            ready.subject.value.share_at(&one.cumulated, part)
        };
        let mut orders: Vec<(&str, f64)> = lines
            .iter()
            .filter(|one| has_clock(one))
            .filter_map(|one| Some((one.label.as_str(), share(&one.label)?)))
            .collect();
        orders.sort_by(|left, right| right.1.total_cmp(&left.1));
        let listed: Vec<String> = orders
            .iter()
            .map(|(label, share)| format!("{:.1} % by {label}", 100.0 * share))
            .collect();
        let mut text = format!(
            "After {:.0} % of the visits you would have had {} of PageRank",
            100.0 * part,
            listed.join(", ")
        );
        if let Some(share) = share(AS_CRAWLED) {
            text += &format!("; the crawl had {:.1} %", 100.0 * share);
        }
        if let Some(share) = share(BEST_POSSIBLE) {
            text += &format!("; the best possible is {:.1} %", 100.0 * share);
        }
        (!orders.is_empty()).then(|| text + ".")
    };
    SHARE_AT.into_iter().filter_map(told).collect()
}

fn times(ready: &Ready, what_if: &WhatIf, one: &Compared) -> Option<String> {
    let [half, most, all] = TIME_FOR.map(|part| time_to(ready, one, part).map(span));
    let schedule = &what_if.schedule;
    let pace = format!(
        "At {} between visits to a server and {} visits in flight, {}",
        span(schedule.interval.as_secs_f64()),
        grouped(schedule.concurrency as u64),
        one.label
    );
    let coverage = ready.subject.value.coverage(&one.run);
    Some(match (half?, most, all) {
        (half, Some(most), Some(all)) => {
            format!(
                "{pace} takes {half} for half of the pages, {most} for 90 %, and {all} for all."
            )
        }
        (half, _, _) => format!(
            "{pace} takes {half} for half of the pages, and never comes to more than {:.1} % of them.",
            100.0 * coverage
        ),
    })
}

/// What the whole time hangs on.
fn bound(what_if: &WhatIf, fastest: f64, server: &Server, servers: usize) -> String {
    let least = server.least.as_secs_f64();
    let busiest = format!(
        "{}, with {} pages on {} host{}, needs {} by itself",
        server.name,
        grouped(server.pages),
        grouped(server.hosts),
        if server.hosts == 1 { "" } else { "s" },
        span(least)
    );
    if BOUNDS_FROM * fastest <= least {
        format!(
            "The busiest of {} servers bounds this: {busiest}. Only a shorter interval for it would make the crawl faster.",
            grouped(servers as u64)
        )
    } else if what_if.schedule.concurrency < servers {
        format!(
            "The visits in flight bound this, {} for {} servers: the busiest server, {busiest}. More of them would make the crawl faster.",
            grouped(what_if.schedule.concurrency as u64),
            grouped(servers as u64)
        )
    } else {
        format!(
            "The busiest of {} servers, {busiest}; the rest of the time goes into finding pages one after another.",
            grouped(servers as u64)
        )
    }
}

fn memory(what_if: &WhatIf, one: &Compared) -> String {
    let pages = what_if.schedule.in_memory(&one.label, one.run.stored_max());
    let megabytes = pages as f64 * CANDIDATE_BYTES / 1e6;
    let mut text = format!(
        "{} would have kept {} pages in memory at most, about {megabytes:.1} MB",
        one.label,
        grouped(pages)
    );
    if 0 < one.run.put_aside {
        text += &format!(
            "; pages went aside to disk {} times",
            grouped(one.run.put_aside)
        );
    }
    if 0 < one.run.discarded {
        text += &format!(
            "; links were discarded {} times",
            grouped(one.run.discarded)
        );
    }
    text + "."
}
