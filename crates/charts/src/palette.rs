//! The colours, markers and dashes that tell series apart, in light and in dark.
//!
//! A series has a *slot*: a number that fixes its look, so that the same thing looks the same in every figure. Eight colours and
//! eight marker shapes go together, so colour is never the only sign; from the ninth slot on the same eight come again, dashed and
//! hollow.
//!
//! The colours keep the hues of Okabe and Ito's set ("Color Universal Design", 2008), whose yellow and sky blue are too pale for
//! lines on white. Lightness and chroma were searched, for each background by itself, for the greatest least distance between any two
//! colours as seen by people with normal sight, deuteranopia, protanopia or tritanopia, under the condition that each has a
//! contrast of at least 3:1 to the card (WCAG 2.2, success criterion 1.4.11). The tests hold the colours to both.

/// How many slots differ in colour and shape.
pub(crate) const SLOTS: usize = 8;

/// The colours of one theme, as `#rrggbb`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    /// The background that figures are drawn on.
    pub(crate) card: &'static str,
    /// Titles and labels.
    pub(crate) text: &'static str,
    /// Numbers, axis titles.
    pub(crate) muted: &'static str,
    /// Grid lines with a number; the minor ones are the same at half opacity.
    pub(crate) grid: &'static str,
    /// The axis itself, at the foot of the plot.
    pub(crate) axis: &'static str,
    /// Rules and series drawn for reference.
    pub(crate) reference: &'static str,
    /// The series, by slot.
    pub(crate) series: [&'static str; SLOTS],
}

/// On white, for pages and print.
pub(crate) const LIGHT: Theme = Theme {
    card: "#ffffff",
    text: "#1f2328",
    muted: "#59636e",
    grid: "#e3e7eb",
    axis: "#818b96",
    reference: "#6b747d",
    series: [
        "#688afd", "#ab5101", "#1a7d68", "#8438c6", "#a09513", "#8f1423", "#0c5477", "#df56b3",
    ],
};

/// On near-black, for screens that ask for it.
pub(crate) const DARK: Theme = Theme {
    card: "#16191d",
    text: "#e6eaee",
    muted: "#a3acb5",
    grid: "#2c3238",
    axis: "#707a84",
    reference: "#99a2ab",
    series: [
        "#2f71f4", "#f18e03", "#3bc49e", "#b699ff", "#efdb23", "#d84530", "#82e9fd", "#ad5d94",
    ],
};

/// The look of a series: which colour and shape, and which round of the eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) usize);

impl Slot {
    /// The class of the colour in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        const CLASSES: [&str; SLOTS] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
        CLASSES[self.0 % SLOTS]
    }

    /// The dashes of a line, as in `stroke-dasharray`; none for the first eight slots.
    pub(crate) fn dashes(self) -> Option<&'static str> {
        match (self.0 / SLOTS) % 4 {
            0 => None,
            1 => Some("7 4"),
            2 => Some("2 4"),
            _ => Some("10 4 2 4"),
        }
    }

    /// Whether markers are drawn as outlines.
    pub(crate) fn is_hollow(self) -> bool {
        SLOTS <= self.0
    }

    /// The outline of the marker around the origin, about `2 × radius` wide: each corner as a point, or nothing for a circle.
    pub(crate) fn corners(self) -> &'static [(f64, f64)] {
        const SQUARE: [(f64, f64); 4] =
            [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)];
        const UP: [(f64, f64); 3] = [(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)];
        const DIAMOND: [(f64, f64); 4] = [(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)];
        const DOWN: [(f64, f64); 3] = [(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)];
        const PLUS: [(f64, f64); 12] = [
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ];
        const STAR: [(f64, f64); 8] = [
            (0.0, -1.5),
            (0.4, -0.4),
            (1.5, 0.0),
            (0.4, 0.4),
            (0.0, 1.5),
            (-0.4, 0.4),
            (-1.5, 0.0),
            (-0.4, -0.4),
        ];
        const BAR: [(f64, f64); 4] = [(-1.4, -0.6), (1.4, -0.6), (1.4, 0.6), (-1.4, 0.6)];
        match self.0 % SLOTS {
            0 => &[],
            1 => &SQUARE,
            2 => &UP,
            3 => &DIAMOND,
            4 => &DOWN,
            5 => &PLUS,
            6 => &STAR,
            _ => &BAR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// The least distance between two series colours, in hundredths of the distance in Oklab, of which about two can just be told apart.
    const DISTANCE_MIN: f64 = 9.5;

    /// What people see who lack one kind of cone: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation
    /// of Color Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.0, on linear RGB.
    const SIGHTS: [(&str, [Rgb; 3]); 4] = [
        (
            "normal",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    fn linear(hex: &str) -> Rgb {
        [1, 3, 5].map(|start| {
            let byte = u8::from_str_radix(&hex[start..start + 2], 16).unwrap();
            let coded = f64::from(byte) / 255.0;
            if coded <= 0.04045 {
                coded / 12.92
            } else {
                ((coded + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    fn times(matrix: &[Rgb; 3], colour: Rgb) -> Rgb {
        [0, 1, 2].map(|row| {
            (0..3)
                .map(|column| matrix[row][column] * colour[column])
                .sum()
        })
    }

    /// WCAG 2.2, "contrast ratio" and "relative luminance".
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |hex| {
            let [red, green, blue] = linear(hex);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (luminance(one), luminance(other));
        one.max(other) / one.min(other)
    }

    /// Ottosson, "A perceptual color space for image processing", 2020.
    fn oklab(colour: Rgb) -> Rgb {
        const TO_CONES: [Rgb; 3] = [
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ];
        const TO_LAB: [Rgb; 3] = [
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ];
        times(&TO_LAB, times(&TO_CONES, colour).map(f64::cbrt))
    }

    fn distance(one: &str, other: &str, sight: &[Rgb; 3]) -> f64 {
        let seen = |hex| oklab(times(sight, linear(hex)).map(|part| part.clamp(0.0, 1.0)));
        let (one, other) = (seen(one), seen(other));
        let squares: f64 = (0..3).map(|part| (one[part] - other[part]).powi(2)).sum();
        100.0 * squares.sqrt()
    }

    #[test]
    fn the_contrast_formula_agrees_with_wcag() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        // The grey that WCAG's authors cite as the lightest that passes 4.5:1 on white.
        assert!((contrast("#767676", "#ffffff") - 4.54).abs() < 0.01);
    }

    #[test]
    fn everything_stands_out_from_the_card() {
        for theme in [LIGHT, DARK] {
            for colour in theme.series {
                assert!(
                    3.0 <= contrast(colour, theme.card),
                    "{colour} on {}",
                    theme.card
                );
            }
            assert!(3.0 <= contrast(theme.axis, theme.card));
            for text in [theme.text, theme.muted, theme.reference] {
                assert!(
                    4.5 <= contrast(text, theme.card),
                    "{text} on {}",
                    theme.card
                );
            }
            assert!(
                contrast(theme.grid, theme.card) < 1.6,
                "the grid stays behind the data"
            );
        }
    }

    #[test]
    fn colours_differ_for_every_sight() {
        for theme in [LIGHT, DARK] {
            for (name, sight) in &SIGHTS {
                for (index, one) in theme.series.iter().enumerate() {
                    for other in &theme.series[..index] {
                        let distance = distance(one, other, sight);
                        assert!(DISTANCE_MIN <= distance, "{one} {other} {name}: {distance}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_two_of_the_first_slots_look_alike() {
        let looks: Vec<_> = (0..4 * SLOTS)
            .map(Slot)
            .map(|slot| {
                (
                    slot.class(),
                    slot.dashes(),
                    slot.is_hollow(),
                    format!("{:?}", slot.corners()),
                )
            })
            .collect();
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(look), "{look:?}");
        }
        for (index, look) in looks[..SLOTS].iter().enumerate() {
            let has_shape_of_its_own = looks[..index].iter().all(|other| other.3 != look.3);
            assert!(has_shape_of_its_own, "{look:?}");
        }
    }
}
