//! What a what-if found, in sentences.

use junkai_frontier::admission::Order;

use super::tables::{SHARE_AT, Server, is_simulated, time_to};
use super::{AS_CRAWLED, BEST_POSSIBLE, Ready, WhatIf};
use crate::comparison::Compared;
use crate::outcome::{counted, grouped, span, span_short};

/// Memory of a page that stands in order: what 100,000 of them were measured to take, each.
const CANDIDATE_BYTES: f64 = 500.0;

/// The part of the whole time from which a single server is said to bound it.
const BOUNDS_FROM: f64 = 0.8;

/// How much longer than the fastest order another takes before it is called slow.
const SLOW_FROM: f64 = 2.0;

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
    let simulated: Vec<&Compared> = lines.iter().filter(|one| is_simulated(one)).collect();
    findings.extend(times(ready, what_if, &simulated));
    findings.extend(made(ready, what_if, lines));
    let fastest = simulated
        .iter()
        .filter_map(|one| time_to(ready, one, 1.0))
        .reduce(f64::min);
    if let (Some(fastest), Some(server)) = (fastest, servers.first()) {
        findings.push(bound(what_if, fastest, server, servers.len()));
    }
    findings.extend(fastest.and_then(|fastest| idle_servers(ready, what_if, &simulated, fastest)));
    findings.extend(memory(what_if, &simulated));
    findings.extend(idle_order(what_if, &simulated));
    findings.extend(politeness(&simulated));
    findings
}

/// Whether promises to servers would have been kept; none if nothing is promised, or no server is visited twice.
fn politeness(simulated: &[&Compared]) -> Option<String> {
    let paces = simulated.iter().map(|one| &one.run.pace);
    let too_short: Vec<u64> = paces
        .filter(|pace| 0 < pace.promised && pace.least.is_some())
        .map(|pace| pace.violations)
        .collect();
    match too_short.iter().sum() {
        _ if too_short.is_empty() => None,
        0 => Some("No server would have been visited sooner than promised.".to_owned()),
        visits => Some(format!(
            "{} would have come SOONER THAN PROMISED.",
            counted(visits, "visit")
        )),
    }
}

fn subject(ready: &Ready) -> String {
    let statistics = &ready.subject.statistics;
    let pages = if ready.captured == statistics.pages {
        counted(statistics.pages.into(), "captured page")
    } else {
        format!(
            "{}, {} of them captured,",
            counted(statistics.pages.into(), "known page"),
            grouped(ready.captured.into())
        )
    };
    let links = statistics.links - ready.entry_points.with_host.len() as u64;
    format!(
        "{}: {pages} with {}, on {} and {}. Crawls begin at {}.",
        statistics.name,
        counted(links, "link"),
        counted(statistics.hosts.into(), "host"),
        counted(statistics.servers.into(), "server"),
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
        let mut orders: Vec<(String, f64)> = lines
            .iter()
            .filter(|one| is_simulated(one))
            .filter_map(|one| Some((one.label.clone(), share(&one.label)?)))
            .collect();
        orders.sort_by(|left, right| right.1.total_cmp(&left.1));
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let listed = by_order(
            orders
                .into_iter()
                .map(|(label, share)| (label, percent(share))),
        )?;
        let beside = |before: &str, label: &str| {
            share(label).map_or_else(String::new, |share| {
                format!("; {before} {}", percent(share))
            })
        };
        Some(format!(
            "After {:.0} % of the visits you would have had, of PageRank, {listed}{}{}.",
            100.0 * part,
            beside("the crawl had", AS_CRAWLED),
            beside("the best possible is", BEST_POSSIBLE),
        ))
    };
    SHARE_AT.into_iter().filter_map(told).collect()
}

/// What each order comes to, those that come to the same together: `40.0 % (worth), 30.0 % (fifo, in-degree)`.
fn by_order(values: impl Iterator<Item = (String, String)>) -> Option<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (label, value) in values {
        match groups.iter_mut().find(|group| group.0 == value) {
            Some(group) => group.1.push(label),
            None => groups.push((value, vec![label])),
        }
    }
    if let [(value, labels)] = groups.as_slice()
        && 1 < labels.len()
    {
        return Some(format!("{value} in every order"));
    }
    let listed: Vec<String> = groups
        .iter()
        .map(|(value, labels)| format!("{value} ({})", labels.join(", ")))
        .collect();
    (!listed.is_empty()).then(|| listed.join(", "))
}

fn times(ready: &Ready, what_if: &WhatIf, simulated: &[&Compared]) -> Vec<String> {
    let schedule = &what_if.schedule;
    let in_time = |part: f64| {
        let mut orders: Vec<(String, f64)> = simulated
            .iter()
            .filter_map(|one| Some((one.label.clone(), time_to(ready, one, part)?)))
            .collect();
        orders.sort_by(|left, right| left.1.total_cmp(&right.1));
        by_order(orders.into_iter().map(|(label, time)| (label, span(time))))
    };
    let mut findings = Vec::new();
    if let Some(half) = in_time(0.5) {
        let all = in_time(1.0).map_or_else(String::new, |all| format!("; all of them {all}"));
        findings.push(format!(
            "At {} between visits to a server and {} in flight, half of the pages take {half}{all}.",
            span(schedule.interval.as_secs_f64()),
            counted(schedule.concurrency as u64, "visit"),
        ));
    }
    let unfinished = simulated
        .iter()
        .filter(|one| time_to(ready, one, 1.0).is_none());
    findings.extend(unfinished.map(|one| {
        format!(
            "{} never comes to more than {:.1} % of the pages.",
            one.label,
            100.0 * ready.subject.value.coverage(&one.run)
        )
    }));
    findings
}

/// How long the crawl took by its log, and how well its own order is predicted.
fn made(ready: &Ready, what_if: &WhatIf, lines: &[Compared]) -> Option<String> {
    let logged = ready.logged.as_ref()?;
    let time = |label: &str| {
        let one = lines.iter().find(|one| one.label == label)?;
        time_to(ready, one, 1.0)
    };
    let took = time(AS_CRAWLED)?;
    let of_visits = format!(
        "By its log of {}, which took {} each on average, the crawl itself was done after {}",
        counted(logged.visits, "visit"),
        span_short(logged.mean.as_secs_f64()),
        span(took),
    );
    let predicted = what_if
        .made_in
        .and_then(|order| Some((order, time(order.name())?)));
    Some(match predicted {
        Some((order, predicted)) => format!(
            "{of_visits}; for {order}, the order in which it was made, {} are predicted.",
            span(predicted)
        ),
        None => format!("{of_visits}."),
    })
}

/// What the whole time hangs on.
fn bound(what_if: &WhatIf, fastest: f64, server: &Server, servers: usize) -> String {
    let least = server.least.as_secs_f64();
    let busiest = format!(
        "{}, with {} on {}, needs {} by itself",
        server.name,
        counted(server.pages, "page"),
        counted(server.hosts, "host"),
        span(least)
    );
    let concurrency = what_if.schedule.concurrency;
    if BOUNDS_FROM * fastest <= least {
        format!(
            "The busiest server bounds this: {busiest}. Only a shorter interval for it would make the crawl faster."
        )
    } else if concurrency < servers {
        format!(
            "The visits in flight bound this, {} for {}: the busiest server, {busiest}. More of them would make the crawl faster.",
            grouped(concurrency as u64),
            counted(servers as u64, "server"),
        )
    } else {
        format!(
            "The busiest server, {busiest}; the rest of the time goes into finding pages one after another."
        )
    }
}

/// Says which orders let servers wait, since their next pages are all on a few.
fn idle_servers(
    ready: &Ready,
    what_if: &WhatIf,
    simulated: &[&Compared],
    fastest: f64,
) -> Option<String> {
    let slow: Vec<&str> = simulated
        .iter()
        .filter(|one| time_to(ready, one, 1.0).is_some_and(|time| SLOW_FROM * fastest < time))
        .map(|one| one.label.as_str())
        .collect();
    (!slow.is_empty()).then(|| {
        format!(
            "More than twice as long as the fastest: {}. With {} booked ahead, most servers wait while a few have all of them.",
            slow.join(", "),
            counted(what_if.schedule.lookahead as u64, "visit"),
        )
    })
}

/// Says so if the ring was booked so far ahead that no order had anything to choose from.
fn idle_order(what_if: &WhatIf, simulated: &[&Compared]) -> Option<String> {
    let lookahead = what_if.schedule.lookahead;
    let mut ordered = simulated
        .iter()
        .filter(|one| one.label != Order::Fifo.name())
        .peekable();
    ordered.peek()?;
    ordered
        .all(|one| one.run.stored_max() as usize <= lookahead)
        .then(|| {
            format!(
                "All pages that waited fitted into the {} booked ahead, so the order decided little: a smaller lookahead follows it more closely.",
                counted(lookahead as u64, "visit")
            )
        })
}

fn memory(what_if: &WhatIf, simulated: &[&Compared]) -> Vec<String> {
    let mut findings = Vec::new();
    let stored = |one: &Compared| {
        let pages = what_if.schedule.in_memory(&one.label, one.run.stored_max());
        let told = format!(
            "{} or about {}",
            counted(pages, "page"),
            bytes(pages as f64 * CANDIDATE_BYTES)
        );
        (one.label.clone(), told)
    };
    if let Some(listed) = by_order(simulated.iter().map(|one| stored(one))) {
        findings.push(format!("In memory at most: {listed}."));
    }
    for one in simulated {
        if 0 < one.run.spilled {
            findings.push(format!(
                "{} would have spilled pages to disk {}.",
                one.label,
                counted(one.run.spilled, "time")
            ));
        }
        if 0 < one.run.discarded {
            findings.push(format!(
                "{} would have discarded links {}.",
                one.label,
                counted(one.run.discarded, "time")
            ));
        }
    }
    findings
}

/// A rough number of bytes.
fn bytes(number: f64) -> String {
    if number < 1e6 {
        format!("{:.0} kB", number / 1e3)
    } else {
        format!("{:.0} MB", number / 1e6)
    }
}
