use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_page::content::{Content, Sketch};
use proptest::prelude::*;

use super::PageState;
use crate::estimator::{GammaMemory, LogNormalMemory, Memory, NaiveMemory, SeedMemory};
use crate::version::{Digest, ETAG_BYTES_MAX, Version};

const NOW: Time = Time::from_micros(1_763_222_400_123_456);

/// A page as most are: HTML with a SHA-1 digest, revisited a few times.
fn typical() -> PageState {
    PageState {
        last_visit: NOW,
        seen: NOW,
        changed: None,
        interval: Duration::from_millis(1_234_567_890),
        visits: 7,
        changes: 2,
        misses: 0,
        signals: 0,
        memory: Memory::LogNormal(LogNormalMemory {
            pull: -4.2,
            hold: 1.7,
            quiet_days: 86.5,
        }),
        version: Some(Version {
            digest: Digest::new(&[0xab; 20]).unwrap(),
            indexed: None,
            content: Some(Content {
                fingerprint: 0x0123_4567_89ab_cdef,
                own: 0xdead_beef,
                sketch: Sketch::from_bits(u128::MAX / 3),
                words: 812,
            }),
            captured: Time::from_micros(NOW.as_micros() - 3_000_000_000_000),
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
    // 20 of them are the digest, 30 what the page says.
    assert!(bytes.len() <= 96, "{} bytes", bytes.len());
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
    bytes[0] = 2;
    assert_eq!(PageState::decode(&bytes), None);
    assert_eq!(PageState::decode(&[]), None);
}

#[test]
fn a_state_that_was_written_once_is_read_for_ever() {
    // Written by this format's first release. A change of these bytes is a change of the format.
    let written = "\
        01d001c084c7a6c3f49003d285d8cc040702c0b80203666686c09a99d93f0000ad420314ababababababababab\
        ababababababababababab80c0f9decfae01efcdab8967452301efbeadde555555555555555555555555555555\
        55ac06\
        ";
    let bytes: Vec<u8> = (0..written.len() / 2)
        .map(|place| u8::from_str_radix(&written[2 * place..2 * place + 2], 16).unwrap())
        .collect();
    assert_eq!(PageState::decode(&bytes), Some(typical()));
    assert_eq!(typical().encode(), bytes);
}

fn any_time() -> impl Strategy<Value = Time> {
    prop_oneof![
        (0..4_000_000_000_000_000_u64).prop_map(Time::from_micros),
        any::<u64>().prop_map(Time::from_micros),
    ]
}

fn any_memory() -> impl Strategy<Value = Memory> {
    let number = || 0.0_f32..1e12;
    prop_oneof![
        (-1e6_f32..1e6, number(), number()).prop_map(|(pull, hold, quiet_days)| {
            Memory::LogNormal(LogNormalMemory {
                pull,
                hold,
                quiet_days,
            })
        }),
        (number(), number())
            .prop_map(|(shape, seconds)| Memory::Gamma(GammaMemory { shape, seconds })),
        (number(), number(), number(), number(), number()).prop_map(|numbers| {
            let (changed_time, stable_time, changed_gaps, shortest, last) = numbers;
            Memory::Seed(SeedMemory {
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

fn any_digest() -> impl Strategy<Value = Digest> {
    prop::collection::vec(any::<u8>(), 0..=32).prop_map(|bytes| Digest::new(&bytes).unwrap())
}

fn any_version() -> impl Strategy<Value = Version> {
    let content = (any::<u64>(), any::<u32>(), any::<u128>(), any::<u32>());
    let content = content.prop_map(|(fingerprint, own, sketch, words)| Content {
        fingerprint,
        own,
        sketch: Sketch::from_bits(sketch),
        words,
    });
    let modified =
        (0..10_000_000_000_u64).prop_map(|seconds| Time::from_micros(seconds * 1_000_000));
    (
        any_digest(),
        prop::option::of(any_digest()),
        prop::option::of(content),
        any_time(),
        prop::option::of("[ -~]{0,128}"),
        prop::option::of(modified),
    )
        .prop_map(
            |(digest, indexed, content, captured, etag, last_modified)| Version {
                digest,
                indexed,
                content,
                captured,
                etag: etag.map(Into::into),
                last_modified,
            },
        )
}

prop_compose! {
    fn any_state()(
        times in (any_time(), any_time(), prop::option::of(any_time())),
        interval in 0..3_000_000_000_000_u64,
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
            interval: Duration::from_millis(interval),
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
