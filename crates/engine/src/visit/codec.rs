//! What is kept of a visit in one byte: with a waiting visit in the backlog ([`Kind`]), and in the state of a known page ([`Traces`]).
//!
//! A [`Kind`] as it is written, version 2, from the lowest bit on: two bits for what it is for, two for why it is out of turn, one that is set in this version, one
//! for a visit that was in line before, one that is free, one for a URL that was discarded. Version 1 did not tell why a visit is out of turn: that was the first
//! letter of its hops. Entries of both versions are read; archives of earlier builds have the first.

use junkai_revisit::PageState;
use junkai_store::backlog::Entry;

use super::OutOfTurn;

/// What a visit is for, without what else there is to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhatFor {
    Page,
    Requisite,
    Robots,
    Sitemap,
}

impl WhatFor {
    const MASK: u8 = 0b11;

    fn to_bits(self) -> u8 {
        match self {
            WhatFor::Page => 0,
            WhatFor::Requisite => 1,
            WhatFor::Robots => 2,
            WhatFor::Sitemap => 3,
        }
    }

    fn of_bits(bits: u8) -> WhatFor {
        match bits & WhatFor::MASK {
            0 => WhatFor::Page,
            1 => WhatFor::Requisite,
            2 => WhatFor::Robots,
            _ => WhatFor::Sitemap,
        }
    }
}

/// What a waiting visit is, as [`Entry::kind`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) what_for: WhatFor,
    pub(super) out_of_turn: Option<OutOfTurn>,
    /// It was in line before, or its URL is known already: it is neither new nor to be discarded.
    pub(super) is_returning: bool,
    /// No visit: the entry says that its URL was discarded, and is not known.
    pub(super) is_discarded: bool,
}

impl Kind {
    const OUT_OF_TURN_SHIFT: u32 = 2;
    const VERSION_2: u8 = 0x10;
    const RETURNING: u8 = 0x20;
    const DISCARDED: u8 = 0x80;

    /// A visit in its turn, to a page that is new.
    pub(super) fn new(what_for: WhatFor) -> Kind {
        Kind {
            what_for,
            out_of_turn: None,
            is_returning: false,
            is_discarded: false,
        }
    }

    pub(super) fn to_byte(self) -> u8 {
        let out_of_turn = match self.out_of_turn {
            None => 0,
            Some(OutOfTurn::Asked) => 1,
            Some(OutOfTurn::Signalled) => 2,
        };
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        self.what_for.to_bits()
            | out_of_turn << Kind::OUT_OF_TURN_SHIFT
            | Kind::VERSION_2
            | flag(self.is_returning, Kind::RETURNING)
            | flag(self.is_discarded, Kind::DISCARDED)
    }

    /// The kind of an entry of any version.
    pub(super) fn of<T: AsRef<str>>(entry: &Entry<T>) -> Kind {
        let byte = entry.kind;
        if byte & Kind::VERSION_2 == 0 {
            return Kind::of_version_1(byte, entry.hops.as_ref());
        }
        Kind {
            what_for: WhatFor::of_bits(byte),
            out_of_turn: match byte >> Kind::OUT_OF_TURN_SHIFT & 0b11 {
                0 => None,
                2 => Some(OutOfTurn::Signalled),
                _ => Some(OutOfTurn::Asked),
            },
            is_returning: byte & Kind::RETURNING != 0,
            is_discarded: byte & Kind::DISCARDED != 0,
        }
    }

    fn of_version_1(byte: u8, hops: &str) -> Kind {
        const ASKED: u8 = 0x20;
        const RETURNING: u8 = 0x40;
        let why = if hops.starts_with(OutOfTurn::Signalled.hop()) {
            OutOfTurn::Signalled
        } else {
            OutOfTurn::Asked
        };
        let is_discarded = byte & Kind::DISCARDED != 0;
        let is_asked = byte & ASKED != 0 && !is_discarded;
        Kind {
            what_for: WhatFor::of_bits(byte),
            out_of_turn: is_asked.then_some(why),
            is_returning: byte & RETURNING != 0,
            is_discarded,
        }
    }
}

/// What a page's state keeps of its last visit for the next one, as [`PageState::kind`] has it: two bits for what it is for, one for a seed, one for a visit that
/// was in line before, four for the tries that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traces {
    pub(super) what_for: WhatFor,
    pub(super) is_seed: bool,
    pub(super) is_returning: bool,
    pub(super) tries: u8,
}

impl Traces {
    const SEED: u8 = 0b100;
    const RETURNING: u8 = 0b1000;
    const TRIES_SHIFT: u32 = 4;
    const TRIES_MAX: u8 = 15;

    pub(super) fn to_byte(self) -> u8 {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        self.what_for.to_bits()
            | flag(self.is_seed, Traces::SEED)
            | flag(self.is_returning, Traces::RETURNING)
            | self.tries.min(Traces::TRIES_MAX) << Traces::TRIES_SHIFT
    }

    pub(super) fn of(state: &PageState) -> Traces {
        Traces::of_byte(state.kind)
    }

    fn of_byte(byte: u8) -> Traces {
        Traces {
            what_for: WhatFor::of_bits(byte),
            is_seed: byte & Traces::SEED != 0,
            is_returning: byte & Traces::RETURNING != 0,
            tries: byte >> Traces::TRIES_SHIFT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [WhatFor; 4] = [
        WhatFor::Page,
        WhatFor::Requisite,
        WhatFor::Robots,
        WhatFor::Sitemap,
    ];

    fn entry(kind: u8, hops: &str) -> Entry {
        Entry {
            kind,
            hops: hops.to_owned(),
            ..Entry::default()
        }
    }

    #[test]
    fn every_kind_is_read_as_it_was_written_whatever_its_hops() {
        let reasons = [None, Some(OutOfTurn::Asked), Some(OutOfTurn::Signalled)];
        for what_for in ALL {
            for out_of_turn in reasons {
                for flags in 0..4 {
                    let kind = Kind {
                        what_for,
                        out_of_turn,
                        is_returning: flags & 1 != 0,
                        is_discarded: flags & 2 != 0,
                    };
                    for hops in ["", "A", "SL", "LL"] {
                        assert_eq!(Kind::of(&entry(kind.to_byte(), hops)), kind);
                    }
                }
            }
        }
    }

    #[test]
    fn kinds_of_earlier_builds_are_read() {
        let returning = Kind {
            is_returning: true,
            ..Kind::new(WhatFor::Page)
        };
        let asked = Kind {
            out_of_turn: Some(OutOfTurn::Asked),
            ..returning
        };
        let cases = [
            (0x00, "L", Kind::new(WhatFor::Page)),
            (0x03, "M", Kind::new(WhatFor::Sitemap)),
            (0x40, "S", returning),
            (0x60, "A", asked),
            (0x60, "R", asked),
            (
                0x61,
                "SR",
                Kind {
                    what_for: WhatFor::Requisite,
                    out_of_turn: Some(OutOfTurn::Signalled),
                    ..asked
                },
            ),
            (
                0x42,
                "P",
                Kind {
                    what_for: WhatFor::Robots,
                    ..returning
                },
            ),
            (
                0x80,
                "L",
                Kind {
                    is_discarded: true,
                    ..Kind::new(WhatFor::Page)
                },
            ),
        ];
        for (byte, hops, kind) in cases {
            assert_eq!(Kind::of(&entry(byte, hops)), kind, "{byte:#x} {hops}");
        }
    }

    #[test]
    fn traces_are_read_as_they_were_written() {
        for what_for in ALL {
            for flags in 0..4 {
                for tries in [0, 1, 15] {
                    let traces = Traces {
                        what_for,
                        is_seed: flags & 1 != 0,
                        is_returning: flags & 2 != 0,
                        tries,
                    };
                    assert_eq!(Traces::of_byte(traces.to_byte()), traces);
                }
            }
        }
    }
}
