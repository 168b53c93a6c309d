//! The ways to collect that are compared.

use junkai_focus::collect::{Order, Settings};

/// A way to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contestant {
    pub(super) name: &'static str,
    order: Order,
    guesses: bool,
}

impl Contestant {
    const fn new(name: &'static str, order: Order) -> Contestant {
        Contestant {
            name,
            order,
            guesses: false,
        }
    }

    pub(super) const BREADTH_FIRST: Contestant =
        Contestant::new("breadth first", Order::BreadthFirst);
    pub(super) const RANDOM: Contestant = Contestant::new("random", Order::Random);
    pub(super) const TAG_PATHS: Contestant =
        Contestant::new("tag paths, as published", Order::TagPaths);
    pub(super) const BY_LINKS: Contestant = Contestant::new("ours, by links only", Order::Learned);
    /// What crawls: it also asks for addresses that it guesses.
    pub(super) const OURS: Contestant = Contestant {
        name: "ours",
        order: Order::Learned,
        guesses: true,
    };

    pub(super) const ALL: [Contestant; 6] = [
        Contestant::BREADTH_FIRST,
        Contestant::new("depth first", Order::DepthFirst),
        Contestant::RANDOM,
        Contestant::TAG_PATHS,
        Contestant::BY_LINKS,
        Contestant::OURS,
    ];

    pub(super) fn settings(self) -> Settings {
        Settings {
            order: self.order,
            guesses: self.guesses,
            ..Settings::default()
        }
    }

    /// Its name in files.
    pub(super) fn key(self) -> String {
        let words = self
            .name
            .split(|character: char| !character.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join("_")
    }
}
