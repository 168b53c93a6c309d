//! Says how wide text will be, without a font: breaks it into lines, and shortens what does not fit.
//!
//! A figure is laid out before any browser has chosen a font, so widths are estimated from above: the table holds, for each
//! character, the greater of the advance widths of `DejaVu` Sans (the widest of the usual system fonts) and of Arial's metric
//! twin Liberation Sans. What fits by this estimate fits in every font of the stack. Scripts outside the table count one em a
//! character, as CJK is; combining marks count nothing.

/// Stands for what was cut off.
const ELLIPSIS: char = '…';

/// Advance widths of U+0020 to U+007E in thousandths of an em, regular weight.
const REGULAR: [u16; 95] = [
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337, 637, 637, 637,
    637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557, 1016, 685, 687, 723, 771, 667,
    611, 778, 752, 295, 500, 667, 558, 863, 749, 788, 667, 788, 723, 667, 611, 732, 685, 989, 686,
    667, 686, 391, 337, 391, 838, 557, 500, 613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
];

/// The same in bold, for titles.
const BOLD: [u16; 95] = [
    349, 457, 521, 838, 696, 1002, 873, 307, 458, 458, 523, 838, 380, 416, 380, 366, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 611, 1000, 774, 763, 734, 831, 684,
    684, 821, 837, 373, 557, 775, 638, 996, 837, 851, 733, 851, 771, 721, 683, 813, 774, 1104, 771,
    725, 726, 458, 366, 458, 838, 557, 500, 675, 716, 593, 716, 679, 436, 716, 712, 343, 343, 666,
    343, 1042, 712, 688, 716, 716, 494, 596, 479, 712, 652, 924, 646, 652, 583, 712, 366, 712, 838,
];

/// A size and weight of text; the style sheet has one class for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// The title of a figure.
    Title,
    /// The title of one figure among small multiples.
    Heading,
    /// Below the title.
    Subtitle,
    /// Axis titles, legends, labels of lines and rules.
    Label,
    /// Numbers along an axis.
    Tick,
}

impl Face {
    /// The class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Face::Title => "title",
            Face::Heading => "heading",
            Face::Subtitle => "subtitle",
            Face::Label => "label",
            Face::Tick => "tick",
        }
    }

    /// The size of the font, in pixels of a figure that is not scaled.
    pub(crate) fn size(self) -> f64 {
        match self {
            Face::Title => 17.0,
            Face::Heading => 14.0,
            Face::Subtitle => 13.0,
            Face::Label | Face::Tick => 12.5,
        }
    }

    /// From one baseline to the next, and the height of the box that a line of text fills.
    pub(crate) fn line_height(self) -> f64 {
        (self.size() * 1.3).ceil()
    }

    fn is_bold(self) -> bool {
        match self {
            Face::Title | Face::Heading => true,
            Face::Subtitle | Face::Label | Face::Tick => false,
        }
    }
}

/// The greatest width that the text can be expected to take, in pixels.
pub(crate) fn width(text: &str, face: Face) -> f64 {
    let thousandths: f64 = text
        .chars()
        .map(|character| advance(character, face.is_bold()))
        .sum();
    thousandths * face.size() / 1000.0
}

/// The text, or as much of it as fits with an ellipsis; nothing where not even that fits.
pub(crate) fn shorten(text: &str, face: Face, width_max: f64) -> String {
    if width(text, face) <= width_max {
        return text.to_owned();
    }
    let per_thousandth = face.size() / 1000.0;
    let mut left = width_max - advance(ELLIPSIS, face.is_bold()) * per_thousandth;
    let mut short = String::new();
    if left < 0.0 {
        return short;
    }
    for character in text.chars() {
        left -= advance(character, face.is_bold()) * per_thousandth;
        if left < 0.0 {
            break;
        }
        short.push(character);
    }
    short.truncate(short.trim_end().len());
    short.push(ELLIPSIS);
    short
}

/// The text in at most `lines_max` lines, broken between words where it can be; the last line is shortened to fit.
pub(crate) fn wrap(text: &str, face: Face, width_max: f64, lines_max: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && lines.len() < lines_max {
        let is_last = lines.len() + 1 == lines_max;
        let end = if is_last {
            rest.len()
        } else {
            line_end(rest, face, width_max)
        };
        let line = shorten(&rest[..end], face, width_max);
        rest = rest[end..].trim_start();
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Where the first line of the text ends: after the last word that fits, or inside the first word when that alone is too long.
fn line_end(text: &str, face: Face, width_max: f64) -> usize {
    let mut word_end = 0;
    let mut taken = 0.0;
    for (start, character) in text.char_indices() {
        if character == ' ' {
            word_end = start;
        }
        taken += advance(character, face.is_bold()) * face.size() / 1000.0;
        if width_max < taken {
            let inside = start.max(text.chars().next().map_or(0, char::len_utf8));
            return if word_end == 0 { inside } else { word_end };
        }
    }
    text.len()
}

/// The advance width of one character, in thousandths of an em.
fn advance(character: char, is_bold: bool) -> f64 {
    let table = if is_bold { &BOLD } else { &REGULAR };
    let code = u32::from(character);
    let listed = code
        .checked_sub(0x20)
        .and_then(|index| table.get(usize::try_from(index).ok()?));
    if let Some(&width) = listed {
        return f64::from(width);
    }
    let regular = match code {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0.0,
        0xa0 => 318.0,
        // Superscripts of powers of ten, and the signs that go with numbers.
        0x00b2 | 0x00b3 | 0x00b9 | 0x2070..=0x2079 => 401.0,
        0x207b => 528.0,
        0x2009 | 0x202f => 250.0,
        0x2013 | 0x00b0 | 0x00b7 => 500.0,
        0x2212 | 0x00d7 | 0x00b1 | 0x2264 | 0x2265 | 0x00a0..=0x02af | 0x0370..=0x03ff => 838.0,
        _ => 1000.0,
    };
    if is_bold { regular * 1.12 } else { regular }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths_are_those_of_the_table() {
        let check = |text: &str, ems: f64| {
            let expected = ems * Face::Label.size();
            assert!((width(text, Face::Label) - expected).abs() < 1e-9, "{text}");
        };
        check("", 0.0);
        check("0", 0.637);
        check("10k", 0.637 + 0.637 + 0.580);
        check("巡回", 2.0);
        check("e\u{301}", 0.616);
    }

    #[test]
    fn text_is_broken_between_words() {
        let lines = wrap("one two three four", Face::Label, 60.0, 9);
        assert_eq!(lines, ["one two", "three", "four"]);
        assert_eq!(wrap("", Face::Label, 60.0, 9), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn shortened_text_fits(text in "\\PC{0,60}", width_max in 0.0..300.0) {
            prop_assert!(width(&shorten(&text, Face::Title, width_max), Face::Title) <= width_max + 1e-9);
        }

        #[test]
        fn wrapped_text_fits(text in "\\PC{0,120}", width_max in 0.0..200.0, lines_max in 0_usize..5) {
            let lines = wrap(&text, Face::Heading, width_max, lines_max);
            prop_assert!(lines.len() <= lines_max);
            for line in lines {
                prop_assert!(width(&line, Face::Heading) <= width_max + 1e-9, "{line}");
            }
        }

        #[test]
        fn nothing_is_lost_when_there_is_room(text in "[a-z]{1,8}( [a-z]{1,8}){0,9}") {
            let lines = wrap(&text, Face::Label, 100.0, 100);
            prop_assert_eq!(lines.join(" "), text);
        }
    }
}
