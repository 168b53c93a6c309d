//! Words told by the script alone: where a script does not set words apart, pairs of characters stand in for them.
//!
//! A run of ideographs gives each pair of neighbours, a run of katakana is a word (which it mostly is), and so is one of hiragana.
//! Thai, Lao, Khmer and Burmese give pairs too.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Sets words apart, so a run is a word.
    Letters,
    Hiragana,
    Katakana,
    Pairs,
    /// Belongs to whatever stands before it.
    Mark,
    None,
}

/// Hands every word of `text` to `take`.
pub(super) fn each(text: &str, take: &mut impl FnMut(Range<usize>)) {
    let mut run = (Script::None, 0);
    let mut before = None;
    for (at, character) in text.char_indices() {
        let script = match script(character) {
            Script::Mark => run.0,
            script => script,
        };
        if script != run.0 {
            end_run(run, at, before, take);
            run = (script, at);
            before = None;
        }
        if script == Script::Pairs {
            if let Some(before) = before {
                take(before..at + character.len_utf8());
            }
            before = Some(at);
        }
    }
    end_run(run, text.len(), before, take);
}

fn end_run(
    (script, start): (Script, usize),
    end: usize,
    last: Option<usize>,
    take: &mut impl FnMut(Range<usize>),
) {
    let is_whole = match script {
        Script::Letters | Script::Hiragana | Script::Katakana => true,
        // A single one has no neighbour.
        Script::Pairs => last == Some(start),
        Script::Mark | Script::None => false,
    };
    if is_whole {
        take(start..end);
    }
}

fn script(character: char) -> Script {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Script::Letters,
        '\0'..='\x7F' => Script::None,
        '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' => Script::Hiragana,
        '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => {
            Script::Katakana
        }
        // Half-width katakana and their marks.
        '\u{FF66}'..='\u{FF9F}' => Script::Katakana,
        '\u{0E00}'..='\u{0EFF}'
        | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Script::Pairs,
        '\u{0300}'..='\u{036F}' | '\u{3099}'..='\u{309A}' | '\u{200C}'..='\u{200D}' => Script::Mark,
        _ if character.is_alphanumeric() || is_indic(character) => Script::Letters,
        _ => Script::None,
    }
}

/// Vowel signs of the scripts of India belong to words, and are not alphabetic to every table.
fn is_indic(character: char) -> bool {
    matches!(character, '\u{0900}'..='\u{0DFF}')
}
