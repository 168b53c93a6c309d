//! The text form of a policy: `NAME[:N][,KEY[=VALUE]]…`.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use junkai_frontier::admission::{BudgetConfig, Degree, Gain};
use junkai_frontier::ring::OneStepRule;

use super::{CrawlOrder, Evicted, OneStepRingSetup, Policy, RingSetup, ServerSpread, Setup};

/// The text names no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no policy: {problem}; {FORMS}")]
pub struct NotAPolicy {
    text: String,
    problem: String,
}

const FORMS: &str = "try opt, bfs, one-step-ring:256x256, irlbot, beast, in-degree, in-degree:9000, ring:1024x65536, worth, \
     worth:9000,welcome, or worth:9000,aside,concurrency=16";

impl FromStr for Policy {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Policy, NotAPolicy> {
        parse(text).map_err(|problem| NotAPolicy {
            text: text.to_owned(),
            problem,
        })
    }
}

fn parse(text: &str) -> Result<Policy, String> {
    let mut parts = text.split(',');
    let head = parts.next().unwrap_or_default();
    let (name, number) = match head.split_once(':') {
        Some((name, number)) => (name, Some(number)),
        None => (head, None),
    };
    let options: Vec<&str> = parts.collect();
    if name == "opt" {
        return match (number, options.first()) {
            (None, None) => Ok(Policy::Opt),
            _ => Err("opt takes nothing else".to_owned()),
        };
    }
    // `seed-ring` is its old name.
    if matches!(name, "one-step-ring" | "seed-ring") {
        return one_step_ring(number, &options).map(Policy::OneStepRing);
    }
    let order = match name {
        "bfs" | "ring" => CrawlOrder::Fifo,
        "in-degree" => CrawlOrder::InDegree,
        "irlbot" => CrawlOrder::SiteBudgets(BudgetConfig::one_queue()),
        "beast" => CrawlOrder::SiteBudgets(BudgetConfig::published()),
        "worth" => CrawlOrder::worth(),
        _ => return Err(format!("there is no {name:?}")),
    };
    let mut setup = Setup {
        order,
        candidates_max: None,
        evicted: Evicted::Spilled,
        ring: None,
    };
    if name == "ring" {
        let (slots, keys) = grid(number)?;
        setup.evicted = Evicted::Discarded;
        // The ring alone decides: everything found is offered to it at once.
        setup.ring = Some(RingSetup {
            slots,
            keys,
            concurrency: COUNT_MAX,
            lookahead: COUNT_MAX,
            latency: Duration::ZERO,
            ..RingSetup::default()
        });
    } else {
        setup.candidates_max = number.map(count).transpose()?;
        if name == "worth" {
            setup.ring = Some(RingSetup::default());
        }
    }
    for option in options {
        apply(&mut setup, option)?;
    }
    Ok(Policy::Crawl(setup))
}

fn one_step_ring(number: Option<&str>, options: &[&str]) -> Result<OneStepRingSetup, String> {
    let (slots, residues) = grid(number)?;
    if slots < 2 || !residues.is_multiple_of(2) {
        return Err("it needs two slots or more, and an even number of residues".to_owned());
    }
    let mut setup = OneStepRingSetup {
        slots,
        residues,
        rule: OneStepRule::Text,
        spread: ServerSpread::Hashed,
    };
    for &option in options {
        match option {
            "max" => setup.rule = OneStepRule::Max,
            "plain" => setup.spread = ServerSpread::Plain,
            _ => return Err(format!("one-step-ring takes max and plain, not {option:?}")),
        }
    }
    Ok(setup)
}

fn apply(setup: &mut Setup, option: &str) -> Result<(), String> {
    let (key, value) = match option.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (option, None),
    };
    match (key, value) {
        ("discard", None) => setup.evicted = Evicted::Discarded,
        ("aside", None) => setup.evicted = Evicted::Spilled,
        ("welcome", None) => setup.evicted = Evicted::SpilledAndWelcome,
        ("at-once", None) => setup.ring = None,
        ("polite", None) => {
            setup.ring.get_or_insert_default();
        }
        ("count", None) => set_worth(setup, |gain, _, _| *gain = Gain::Count)?,
        ("cross-host", Some(value)) => {
            let value = decimal(value)?;
            set_worth(setup, |_, cross_host, _| *cross_host = value)?;
        }
        ("spread", Some(value)) => {
            let value = decimal(value)?;
            set_worth(setup, |_, _, spread| *spread = value)?;
        }
        ("slots", Some(value)) => setup.ring.get_or_insert_default().slots = slot_count(value)?,
        ("keys", Some(value)) => {
            setup.ring.get_or_insert_default().keys = key_count(value)?;
        }
        ("concurrency", Some(value)) => {
            setup.ring.get_or_insert_default().concurrency = count(value)?;
        }
        ("lookahead", Some(value)) => setup.ring.get_or_insert_default().lookahead = count(value)?,
        ("robots", None) => setup.ring.get_or_insert_default().has_robots = true,
        ("interval-ms", Some(value)) => {
            setup.ring.get_or_insert_default().interval = millis(value)?;
        }
        ("step-ms", Some(value)) => {
            setup.ring.get_or_insert_default().step = Some(millis(value)?);
        }
        ("latency-ms", Some(value)) => {
            setup.ring.get_or_insert_default().latency = millis(value)?;
        }
        _ => return Err(format!("there is no option {option:?}")),
    }
    Ok(())
}

fn set_worth(
    setup: &mut Setup,
    set: impl FnOnce(&mut Gain, &mut f32, &mut f32),
) -> Result<(), String> {
    match &mut setup.order {
        CrawlOrder::Worth {
            gain,
            cross_host,
            spread,
        } => {
            set(gain, cross_host, spread);
            Ok(())
        }
        _ => Err("count, cross-host and spread are for worth".to_owned()),
    }
}

fn grid(text: Option<&str>) -> Result<(usize, u32), String> {
    let numbers = text.and_then(|text| text.split_once('x'));
    let (slots, keys) = numbers.ok_or("give slots and keys, such as 256x256")?;
    Ok((slot_count(slots)?, key_count(keys)?))
}

/// Slots and keys of a ring at most: each takes memory whether it is used or not.
const TABLE_MAX: usize = 1 << 24;

fn slot_count(text: &str) -> Result<usize, String> {
    match count(text)? {
        slots if slots <= TABLE_MAX => Ok(slots),
        _ => Err(format!("a ring has {TABLE_MAX} slots and keys at most")),
    }
}

fn key_count(text: &str) -> Result<u32, String> {
    u32::try_from(slot_count(text)?).map_err(|error| error.to_string())
}

/// Numbers of slots, keys and pages that are believed.
const COUNT_MAX: usize = 1 << 31;

fn count(text: &str) -> Result<usize, String> {
    let number: NonZeroUsize = text
        .parse()
        .map_err(|_| format!("{text:?} is no positive number"))?;
    if COUNT_MAX < number.get() {
        return Err(format!("{text} is more than {COUNT_MAX}"));
    }
    Ok(number.get())
}

fn decimal(text: &str) -> Result<f32, String> {
    let number: f32 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if !(0.0..=1e6).contains(&number) {
        return Err(format!("{text} is not between 0 and a million"));
    }
    Ok(number)
}

fn millis(text: &str) -> Result<Duration, String> {
    let millis: u32 = text
        .parse()
        .map_err(|_| format!("{text:?} is no number of milliseconds"))?;
    Ok(Duration::from_millis(u64::from(millis)))
}

/// Writes what [`parse`] reads.
pub(super) fn write(policy: &Policy, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match policy {
        Policy::Opt => formatter.write_str("opt"),
        Policy::OneStepRing(setup) => {
            write!(
                formatter,
                "one-step-ring:{}x{}",
                setup.slots, setup.residues
            )?;
            if setup.rule == OneStepRule::Max {
                formatter.write_str(",max")?;
            }
            if setup.spread == ServerSpread::Plain {
                formatter.write_str(",plain")?;
            }
            Ok(())
        }
        Policy::Crawl(setup) => write_setup(setup, formatter),
    }
}

fn write_setup(setup: &Setup, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = match setup.order {
        CrawlOrder::Fifo => "bfs",
        CrawlOrder::InDegree => "in-degree",
        CrawlOrder::SiteBudgets(BudgetConfig {
            degree: Degree::Links,
            ..
        }) => "irlbot",
        CrawlOrder::SiteBudgets(_) => "beast",
        CrawlOrder::Worth { .. } => "worth",
    };
    formatter.write_str(name)?;
    if let Some(candidates) = setup.candidates_max {
        write!(formatter, ":{candidates}")?;
    }
    if let CrawlOrder::Worth {
        gain,
        cross_host,
        spread,
    } = setup.order
    {
        if gain == Gain::Count {
            formatter.write_str(",count")?;
        }
        write!(formatter, ",cross-host={cross_host},spread={spread}")?;
    }
    formatter.write_str(match setup.evicted {
        Evicted::Discarded => ",discard",
        Evicted::Spilled => ",aside",
        Evicted::SpilledAndWelcome => ",welcome",
    })?;
    match setup.ring {
        None => formatter.write_str(",at-once"),
        Some(ring) => write_ring(&ring, formatter),
    }
}

fn write_ring(ring: &RingSetup, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        formatter,
        ",slots={},keys={},concurrency={},lookahead={},interval-ms={},latency-ms={}",
        ring.slots,
        ring.keys,
        ring.concurrency,
        ring.lookahead,
        ring.interval.as_millis(),
        ring.latency.as_millis(),
    )?;
    if let Some(step) = ring.step {
        write!(formatter, ",step-ms={}", step.as_millis())?;
    }
    if ring.has_robots {
        formatter.write_str(",robots")?;
    }
    Ok(())
}
