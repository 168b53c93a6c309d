//! The orders that a crawl can be run in, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Admission, BudgetConfig, Budgets, Fifo, InDegree, Worth, WorthConfig};

/// In which order known pages are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// First come, first served. To be chosen when everything will be visited anyway, and where order should be plain.
    #[default]
    Fifo,
    /// The page to which the most visited pages link comes first. To be chosen to find the authorities of a subject or of few
    /// hosts.
    InDegree,
    /// Rounds in which each site has as many visits as others link to it. To be chosen for comparison with `IRLbot`: its
    /// memory is not bounded.
    SiteBudgets,
    /// The page that is worth the most by what links to it comes first, and hosts give way to others as they are visited. To be
    /// chosen when there is more to visit than can be.
    Worth,
}

/// There is no order of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no order is called \"{name}\": choose one of fifo, in-degree, site-budgets, worth")]
pub struct UnknownOrder {
    name: String,
}

impl Order {
    /// All orders, the default first.
    pub const ALL: [Order; 4] = [
        Order::Fifo,
        Order::InDegree,
        Order::SiteBudgets,
        Order::Worth,
    ];

    /// Its name, as it is written in settings and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Order::Fifo => "fifo",
            Order::InDegree => "in-degree",
            Order::SiteBudgets => "site-budgets",
            Order::Worth => "worth",
        }
    }

    /// An empty waiting room with this order, for this many pages; [`SiteBudgets`](Order::SiteBudgets) has no such bound.
    #[must_use]
    pub fn admission<V: Send + 'static>(
        self,
        candidates_max: usize,
    ) -> Box<dyn Admission<V> + Send> {
        match self {
            Order::Fifo => Box::new(Fifo::new(candidates_max)),
            Order::InDegree => Box::new(InDegree::bounded(candidates_max)),
            Order::SiteBudgets => Box::new(Budgets::new(BudgetConfig::published())),
            Order::Worth => Box::new(Worth::new(WorthConfig {
                candidates_max,
                ..WorthConfig::default()
            })),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Order {
    type Err = UnknownOrder;

    fn from_str(name: &str) -> Result<Order, UnknownOrder> {
        Order::ALL
            .into_iter()
            .find(|order| order.name() == name)
            .ok_or_else(|| UnknownOrder {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    use super::super::Candidate;
    use super::*;

    #[test]
    fn an_order_has_one_name_everywhere() {
        for order in Order::ALL {
            assert_eq!(order.to_string().parse(), Ok(order));
            let setting: StrDeserializer<'_, Error> = order.name().into_deserializer();
            assert_eq!(Order::deserialize(setting), Ok(order));
        }
        assert_eq!(Order::default(), Order::ALL[0]);
    }

    #[test]
    fn an_unknown_order_is_refused_with_the_names_of_all() {
        let error = "best".parse::<Order>().unwrap_err().to_string();
        assert!(error.contains("\"best\""), "{error}");
        for order in Order::ALL {
            assert!(error.contains(order.name()), "{error}");
        }
    }

    #[test]
    fn every_order_hands_out_what_it_was_offered() {
        for order in Order::ALL {
            let mut room = order.admission(10);
            for page in 0..5 {
                let refused = room.offer(Candidate {
                    fingerprint: page,
                    host: page,
                    priority: 1.0,
                    visit: page,
                });
                assert_eq!(refused, None, "{order}");
            }
            let mut visits: Vec<u64> = std::iter::from_fn(|| room.next())
                .map(|next| next.visit)
                .collect();
            visits.sort_unstable();
            assert_eq!(visits, [0, 1, 2, 3, 4], "{order}");
        }
    }
}
