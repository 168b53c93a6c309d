use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_page::content::{Content, NAME_BITS, Sketch};
use proptest::prelude::*;

use super::PageState;
use crate::estimator::{GammaMemory, GapMemory, LogNormalMemory, Memory, NaiveMemory};
use crate::version::{Digest, ETAG_BYTES_MAX, Place, Version};

const NOW: Time = Time::from_micros(1_763_222_400_000_000);

/// A page as most are: HTML with a SHA-1 digest, revisited a few times.
fn typical() -> PageState {
    PageState {
        last_visit: NOW,
        seen: NOW,
        changed: None,
        interval: Duration::from_secs(1_234_567),
        visits: 7,
        changes: 2,
        misses: 0,
        signals: 0,
        memory: Memory::LogNormal(LogNormalMemory {
            pull: -4.25,
            hold: 1.75,
            quiet_days: 86.5,
        }),
        version: Some(Version {
            digest: Digest::new(&[0xab; 20]).unwrap(),
            indexed: None,
            content: Some(Content {
                fingerprint: 0x0012_3456,
                own: 0x00ad_beef,
                sketch: Sketch::from_bits(u128::MAX / 3),
            }),
            unread: None,
            captured: Time::from_micros(NOW.as_micros() - 3_000_000_123_000),
            etag: None,
            last_modified: None,
        }),
        server: ServerKey::new(40_000),
        worth: 1.0,
        depth: 3,
        kind: 0,
    }
}

#[test]
fn a_typical_state_is_small() {
    let bytes = typical().encode();
    // 20 of them are the digest, 22 what the page says.
    assert!(bytes.len() <= 72, "{} bytes", bytes.len());
}

#[test]
fn a_tag_that_is_too_long_is_left_out() {
    let mut state = typical();
    let version = state.version.as_mut().unwrap();
    version.etag = Some("x".repeat(ETAG_BYTES_MAX + 1).into());
    let read = PageState::decode(&state.encode()).unwrap();
    state.version.as_mut().unwrap().etag = None;
    assert_eq!(read, state);
}

#[test]
fn bytes_of_another_format_are_no_state() {
    let mut bytes = typical().encode();
    bytes[0] = 1;
    assert_eq!(PageState::decode(&bytes), None);
    assert_eq!(PageState::decode(&[]), None);
}

#[test]
fn a_state_that_was_written_once_is_read_for_ever() {
    // Written by this format's first release. A change of these bytes is a change of the format.
    let written = "\
        020180c7e2c80687ad4b0702c0b802030088c000e03f00ad42abababababababababababababababababababab\
        f6f982ad16563412efbead55555555555555555555555555555555\
        ";
    let bytes: Vec<u8> = (0..written.len() / 2)
        .map(|place| u8::from_str_radix(&written[2 * place..2 * place + 2], 16).unwrap())
        .collect();
    assert_eq!(PageState::decode(&bytes), Some(typical()));
    assert_eq!(typical().encode(), bytes);
}

fn any_time() -> impl Strategy<Value = Time> {
    let seconds = prop_oneof![0..4_000_000_000_u64, 0..u64::MAX / 1_000_000];
    seconds.prop_map(|seconds| Time::from_micros(1_000_000 * seconds))
}

fn any_memory() -> impl Strategy<Value = Memory> {
    let number = || 0.0_f32..1e12;
    prop_oneof![
        (-1e6_f32..1e6, number(), number()).prop_map(|(pull, hold, quiet_days)| {
            Memory::LogNormal(LogNormalMemory {
                pull: short(pull),
                hold: short(hold),
                quiet_days: short(quiet_days),
            })
        }),
        (number(), number())
            .prop_map(|(shape, seconds)| Memory::Gamma(GammaMemory { shape, seconds })),
        (number(), number(), number(), number(), number()).prop_map(|numbers| {
            let (changed_time, stable_time, changed_gaps, shortest, last) = numbers;
            Memory::Gap(GapMemory {
                changed_time,
                stable_time,
                changed_gaps,
                shortest,
                last,
            })
        }),
        (number(), number())
            .prop_map(|(changes, time)| Memory::Naive(NaiveMemory { changes, time })),
    ]
}

/// A float of which three bytes are kept.
fn short(number: f32) -> f32 {
    f32::from_bits(number.to_bits() & !0xff)
}

fn any_digest() -> impl Strategy<Value = Digest> {
    prop::collection::vec(any::<u8>(), 0..=32).prop_map(|bytes| Digest::new(&bytes).unwrap())
}

fn any_version() -> impl Strategy<Value = Version> {
    let content = (0..1_u32 << NAME_BITS, 0..1_u32 << NAME_BITS, any::<u128>());
    let content = content.prop_map(|(fingerprint, own, sketch)| Content {
        fingerprint,
        own,
        sketch: Sketch::from_bits(sketch),
    });
    let modified =
        (0..10_000_000_000_u64).prop_map(|seconds| Time::from_micros(seconds * 1_000_000));
    (
        any_digest(),
        prop::option::of(any_digest()),
        prop::option::of(content),
        prop::option::of((any::<u32>(), any::<u64>())),
        any_time(),
        prop::option::of("[ -~]{0,128}"),
        prop::option::of(modified),
    )
        .prop_map(
            |(digest, indexed, content, place, captured, etag, last_modified)| Version {
                // Beside a digest that is named, the beginning of the other is enough.
                digest: indexed
                    .map_or(digest, |_: Digest| Digest::new(digest.beginning()).unwrap()),
                indexed,
                content,
                unread: place
                    .filter(|_| content.is_none())
                    .map(|(file, offset)| Place { file, offset }),
                captured,
                etag: etag.map(Into::into),
                last_modified,
            },
        )
}

prop_compose! {
    fn any_state()(
        times in (any_time(), any_time(), prop::option::of(any_time())),
        interval in 0..3_000_000_000_u64,
        visits in any::<u32>(),
        changes in any::<u32>(),
        small in (any::<u8>(), any::<u8>(), any::<u16>(), any::<u8>()),
        memory in any_memory(),
        version in prop::option::of(any_version()),
        server in any::<u32>(),
        worth in prop_oneof![Just(1.0_f32), 0.0_f32..1e6],
    ) -> PageState {
        let (last_visit, seen, changed) = times;
        let (misses, signals, depth, kind) = small;
        PageState {
            last_visit,
            seen,
            changed,
            interval: Duration::from_secs(interval),
            visits: visits.max(changes),
            changes: visits.min(changes),
            misses,
            signals,
            memory,
            version,
            server: ServerKey::new(server),
            worth,
            depth,
            kind,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(state in any_state()) {
        prop_assert_eq!(PageState::decode(&state.encode()), Some(state));
    }

    #[test]
    fn a_part_of_a_state_is_no_state(state in any_state()) {
        let bytes = state.encode();
        for cut in 0..bytes.len() {
            prop_assert_eq!(PageState::decode(&bytes[..cut]), None);
        }
        let longer = [&bytes[..], &[0]].concat();
        prop_assert_eq!(PageState::decode(&longer), None);
    }

    #[test]
    fn damage_leaves_a_sound_state_or_none(
        state in any_state(),
        place in any::<prop::sample::Index>(),
        flip in 1..=u8::MAX,
    ) {
        let mut bytes = state.encode();
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        if let Some(read) = PageState::decode(&bytes) {
            prop_assert_eq!(read.encode(), bytes, "a state has one form");
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(read) = PageState::decode(&bytes) {
            prop_assert_eq!(read.encode(), bytes);
        }
    }
}
