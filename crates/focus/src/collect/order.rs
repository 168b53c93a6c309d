//! The orders in which links are followed, and the bounds of a collector.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// In what order the links of a site are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// First found, first followed.
    BreadthFirst,
    /// Last found, first followed; the links of one page from its top.
    DepthFirst,
    /// Any.
    Random,
    /// SB-CLASSIFIER: data files first, then by a sleeping bandit over tag paths.
    TagPaths,
    /// Ours.
    Learned,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 5] = [
        Order::BreadthFirst,
        Order::DepthFirst,
        Order::Random,
        Order::TagPaths,
        Order::Learned,
    ];

    fn name(self) -> &'static str {
        match self {
            Order::BreadthFirst => "breadth-first",
            Order::DepthFirst => "depth-first",
            Order::Random => "random",
            Order::TagPaths => "tag-paths",
            Order::Learned => "learned",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// No order has this name.
#[derive(Debug, thiserror::Error)]
#[error("no order of links is called {0:?}")]
pub struct UnknownOrder(String);

impl FromStr for Order {
    type Err = UnknownOrder;

    fn from_str(name: &str) -> Result<Order, UnknownOrder> {
        let found = Order::ALL.into_iter().find(|order| order.name() == name);
        found.ok_or_else(|| UnknownOrder(name.to_owned()))
    }
}

/// How a collector chooses, and how much it keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The order of links. Default ours.
    pub order: Order,
    /// Whether data files that no page was seen to link to may be asked for, where pages like it have shown how theirs are named. Only in
    /// our order. Default true: most of these exist, and a site's pages are spared.
    pub guesses: bool,
    /// Links of one site that are known at most; further ones are dropped. Default 200,000, at about 200 bytes each.
    pub links_max: u32,
    /// Groups of links that are told apart at most; further links join the nearest. Default 256.
    pub arms_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            order: Order::Learned,
            guesses: true,
            links_max: 200_000,
            arms_max: 256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_found_by_its_name() {
        for order in Order::ALL {
            assert_eq!(order.to_string().parse::<Order>().unwrap(), order);
        }
        assert!("best".parse::<Order>().is_err());
    }
}
