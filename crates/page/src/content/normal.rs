//! The one Unicode form that texts are compared in: NFKC.
//!
//! Most texts are in it already, and most of those can be told by their characters alone: each stands for itself, and none joins
//! the one before it ([`is_inert`]). The rest goes through the normalizer.

use icu_normalizer::ComposingNormalizerBorrowed;

use super::hash::first_eight;

/// Appends a text in NFKC.
pub(super) fn push(to: &mut String, text: &str) {
    const NORMALIZER: ComposingNormalizerBorrowed<'static> =
        ComposingNormalizerBorrowed::new_nfkc();
    if text.is_ascii() || is_inert(text.as_bytes()) {
        to.push_str(text);
    } else {
        to.push_str(&NORMALIZER.normalize(text));
    }
}

/// Whether UTF-8 text has nothing but characters of [`INERT_RANGES`].
fn is_inert(text: &[u8]) -> bool {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    while at < text.len() {
        let eight = first_eight(&text[at..]);
        let length = match eight & 0xFF {
            ..0x80 => (eight & HIGH_BITS).trailing_zeros() as usize / 8,
            0xE0..0xF0 if !is_inert_of_three(eight) => return false,
            // Where there is one of three bytes, there are mostly more.
            0xE0..0xF0 if eight >> 24 & 0xF0 == 0xE0 && is_inert_of_three(eight >> 24) => 6,
            0xE0..0xF0 => 3,
            0xC0..0xE0 if is_inert_at(eight & 0x1F, eight >> 8) => 2,
            _ => return false,
        };
        at += length;
    }
    true
}

/// Whether a character of three bytes is inert, the first of which is lowest.
#[inline]
fn is_inert_of_three(bytes: u64) -> bool {
    is_inert_at((bytes & 0x0F) << 6 | bytes >> 8 & 0x3F, bytes >> 16)
}

/// Whether a character is inert, given by the upper bits of its number and its last byte.
#[inline]
fn is_inert_at(upper: u64, last: u64) -> bool {
    let set = INERT[(upper & 0x3FF) as usize];
    set >> (last & 0x3F) & 1 != 0
}

/// Characters of the Basic Multilingual Plane that NFKC leaves as they are, whatever stands beside them: a part of those whose
/// `NFKC_Quick_Check` is Yes (Unicode Standard Annex 15, section 9), for the most common scripts.
const INERT_RANGES: [(u16, u16); 37] = [
    // Latin.
    (0x00A1, 0x00A7),
    (0x00A9, 0x00A9),
    (0x00AB, 0x00AE),
    (0x00B0, 0x00B1),
    (0x00B6, 0x00B7),
    (0x00BB, 0x00BB),
    (0x00BF, 0x0131),
    (0x0134, 0x013E),
    (0x0141, 0x0148),
    (0x014A, 0x017E),
    (0x0180, 0x01C3),
    (0x01CD, 0x01F0),
    (0x01F4, 0x02AF),
    // Greek, Cyrillic, Hebrew, Arabic.
    (0x0388, 0x038A),
    (0x038E, 0x03A1),
    (0x03A3, 0x03CE),
    (0x0400, 0x0482),
    (0x048A, 0x052F),
    (0x05D0, 0x05EA),
    (0x0620, 0x064A),
    // Punctuation and signs.
    (0x2010, 0x2010),
    (0x2012, 0x2016),
    (0x2018, 0x2023),
    (0x2030, 0x2032),
    (0x2039, 0x203B),
    (0x20A0, 0x20A7),
    (0x20A9, 0x20C0),
    (0x2190, 0x21FF),
    // Japanese, Chinese, Korean.
    (0x3001, 0x3029),
    (0x3030, 0x3035),
    (0x3041, 0x3096),
    (0x309D, 0x309E),
    (0x30A0, 0x30FE),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
];

/// The same as a bit for each character.
static INERT: [u64; 1024] = {
    let mut sets = [0_u64; 1024];
    let mut range = 0;
    while range < INERT_RANGES.len() {
        let (first, last) = INERT_RANGES[range];
        let mut set = first / 64;
        while set <= last / 64 {
            let from = first.saturating_sub(set * 64);
            let upto = if set == last / 64 { last % 64 } else { 63 };
            sets[set as usize] |= (u64::MAX >> (63 - upto)) & (u64::MAX << from);
            set += 1;
        }
        range += 1;
    }
    sets
};

#[cfg(test)]
mod tests {
    use super::*;
    use icu_normalizer::properties::{
        CanonicalCombiningClassMapBorrowed, CanonicalDecompositionBorrowed, Decomposed,
    };
    use proptest::prelude::*;

    fn nfkc(text: &str) -> String {
        ComposingNormalizerBorrowed::new_nfkc()
            .normalize(text)
            .into_owned()
    }

    fn is_inert_character(character: char) -> bool {
        is_inert(character.encode_utf8(&mut [0; 4]).as_bytes())
    }

    #[test]
    fn inert_characters_are_those_of_the_ranges() {
        for character in '\u{80}'..=char::MAX {
            let code = u32::from(character);
            let is_in_range =
                |(first, last): &(u16, u16)| (u32::from(*first)..=u32::from(*last)).contains(&code);
            let expected = INERT_RANGES.iter().any(is_in_range);
            assert_eq!(is_inert_character(character), expected, "{code:x}");
        }
    }

    #[test]
    fn inert_characters_stand_for_themselves_and_join_none() {
        let classes = CanonicalCombiningClassMapBorrowed::new();
        for character in ('\u{80}'..=char::MAX).filter(|it| is_inert_character(*it)) {
            let code = u32::from(character);
            assert_eq!(
                nfkc(&character.to_string()),
                character.to_string(),
                "{code:x}"
            );
            assert_eq!(classes.get_u8(character), 0, "{code:x}");
        }
        // No character is made of another one and an inert one after it.
        let decompositions = CanonicalDecompositionBorrowed::new();
        for whole in '\0'..=char::MAX {
            if let Decomposed::Expansion(_, second) = decompositions.decompose(whole) {
                assert!(!is_inert_character(second), "{:x}", u32::from(whole));
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_normalized(
            text in "(\\PC|[a-zé½ﬁか\u{301}\u{3099}ｶ。　한\u{11A8}漢 \u{A0}ß]){0,40}",
        ) {
            let mut pushed = String::from("e");
            push(&mut pushed, &text);
            prop_assert_eq!(&pushed[1..], nfkc(&text));
        }
    }
}
