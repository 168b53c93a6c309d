//! How policies are called and drawn: the same in every figure and table.
//!
//! A colour is a family of policies, its dashes a member of the family.

use junkai_charts::{Line, Style};
use junkai_frontier::admission::{BudgetConfig, Degree, Gain};
use junkai_simulation::policy::{
    CrawlOrder, Evicted, OneStepRingSetup, Policy, ServerSpread, Setup,
};

use super::words::count;

/// Slots that differ in colour; so much further the same colour comes with other dashes.
const ROUND: usize = 8;
const DASHED: usize = ROUND;
const DOTTED: usize = 2 * ROUND;
const DASH_DOTTED: usize = 3 * ROUND;

/// The colours of families.
const SEED_RING: usize = 0;
const BUDGETS: usize = 1;
const RING: usize = 2;
const IN_DEGREE: usize = 3;
const COUNT: usize = 4;
const FIFO: usize = 6;
const WORTH: usize = 7;

/// How a policy is called and drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// With all that tells it from other policies: `worth, 8,981 in memory`.
    pub(super) name: String,
    /// Without its memory, which differs between graphs: `worth`.
    pub(super) family: String,
    /// The slot of its colour; none for the ceiling, which is drawn for reference.
    slot: Option<usize>,
}

impl Look {
    /// A line in the look of the policy.
    pub(super) fn line(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
        let line = Line::new(self.family.clone(), points);
        match self.slot {
            Some(slot) => line.slot(slot),
            None => line.style(Style::Reference),
        }
    }

    /// The slot, for marks that are no lines.
    pub(super) fn slot(&self) -> usize {
        self.slot.unwrap_or(FIFO)
    }
}

/// How a policy is called and drawn.
pub(super) fn look(policy: &Policy) -> Look {
    match policy {
        Policy::Opt => Look {
            name: "OPT, the ceiling".to_owned(),
            family: "OPT, the ceiling".to_owned(),
            slot: None,
        },
        Policy::OneStepRing(setup) => one_step_ring(setup),
        Policy::Crawl(setup) => crawl(setup),
    }
}

fn one_step_ring(setup: &OneStepRingSetup) -> Look {
    let spread = match setup.spread {
        ServerSpread::Hashed => "",
        ServerSpread::Plain => ", not hashed",
    };
    let name = format!("one-step ring {}×{}{spread}", setup.slots, setup.residues);
    let dashes = match setup.slots {
        ..128 => DOTTED,
        128..512 => 0,
        512..2048 => DASHED,
        2048.. => DASH_DOTTED,
    };
    Look {
        family: name.clone(),
        name,
        slot: Some(SEED_RING + dashes),
    }
}

fn crawl(setup: &Setup) -> Look {
    let dashes = match (setup.candidates_max, setup.evicted) {
        (None, _) | (Some(_), Evicted::Spilled) => 0,
        (Some(_), Evicted::SpilledAndWelcome) => DASHED,
        (Some(_), Evicted::Discarded) => DOTTED,
    };
    let (order, slot) = match setup.order {
        CrawlOrder::Fifo => match setup.ring {
            Some(ring) => (format!("ring {}×{}", ring.slots, ring.keys), RING),
            None => ("breadth first".to_owned(), FIFO),
        },
        CrawlOrder::InDegree => match setup.candidates_max {
            Some(_) => ("in-degree first, bounded".to_owned(), IN_DEGREE + DASHED),
            None => ("in-degree first".to_owned(), IN_DEGREE),
        },
        CrawlOrder::SiteBudgets(BudgetConfig {
            degree: Degree::Links,
            ..
        }) => ("IRLbot".to_owned(), BUDGETS),
        CrawlOrder::SiteBudgets(_) => ("IRLbot, as published".to_owned(), BUDGETS + DASHED),
        CrawlOrder::Worth {
            gain: Gain::Count, ..
        } => ("in-degree by host".to_owned(), COUNT),
        CrawlOrder::Worth {
            gain: Gain::Share, ..
        } => ("worth".to_owned(), WORTH),
    };
    let fate = match (setup.candidates_max, setup.evicted) {
        (None, _) | (Some(_), Evicted::Spilled) => "",
        (Some(_), Evicted::SpilledAndWelcome) => ", welcome back",
        (Some(_), Evicted::Discarded) => ", discarding",
    };
    let memory = setup.candidates_max.map_or_else(String::new, |candidates| {
        let ahead = setup.ring.map_or(0, |ring| ring.lookahead);
        format!(
            ", {} in memory",
            count((candidates.saturating_add(ahead)) as u64)
        )
    });
    Look {
        name: format!("{order}{fate}{memory}"),
        family: format!("{order}{fate}"),
        slot: Some(slot + dashes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_have_readable_names() {
        for (text, name) in [
            ("opt", "OPT, the ceiling"),
            ("bfs", "breadth first"),
            ("irlbot", "IRLbot"),
            ("beast", "IRLbot, as published"),
            ("in-degree", "in-degree first"),
            ("one-step-ring:256x64", "one-step ring 256×64"),
            (
                "one-step-ring:256x64,plain",
                "one-step ring 256×64, not hashed",
            ),
            ("ring:256x1024", "ring 256×1024"),
            ("worth:8965", "worth, 8,981 in memory"),
            ("worth:8965,welcome", "worth, welcome back, 8,981 in memory"),
            (
                "worth:8965,count,discard",
                "in-degree by host, discarding, 8,981 in memory",
            ),
            (
                "in-degree:8981,aside",
                "in-degree first, bounded, 8,981 in memory",
            ),
        ] {
            let policy: Policy = text.parse().unwrap();
            assert_eq!(look(&policy).name, name);
        }
    }

    #[test]
    fn policies_that_meet_in_a_figure_look_different() {
        let policies = [
            "bfs",
            "irlbot",
            "beast",
            "in-degree",
            "in-degree:9,aside",
            "one-step-ring:64x64",
            "one-step-ring:256x256",
            "one-step-ring:1024x1024",
            "one-step-ring:2048x2048",
            "ring:256x256",
            "worth:9",
            "worth:9,welcome",
            "worth:9,discard",
            "worth:9,count",
        ];
        let mut slots: Vec<_> = policies
            .map(|text| look(&text.parse().unwrap()).slot)
            .into();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), policies.len());
    }
}
