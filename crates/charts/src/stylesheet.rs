//! The style sheet that figures are drawn with: one text, made from the palette.
//!
//! A whole file carries it inside; a page that holds figures puts it into its head once. Colours are custom properties, `--chart-…`,
//! which a page may set to its own. A page may also force a theme with `data-theme="light"` or `"dark"` on any element around a
//! figure; else the reader's preference decides, and print is always light. Programs that know no custom properties or media
//! queries see the light colours.

use std::fmt::Write;
use std::sync::LazyLock;

use crate::palette::{DARK, LIGHT, SLOTS, Theme};

/// The rules that do not depend on the palette. `currentColor` is the colour of the series around.
const RULES: &str = "\
.chart{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',Arial,sans-serif;\
font-variant-numeric:tabular-nums lining-nums}\
.chart-page{max-width:100%;height:auto;display:block}\
.chart .title{font-size:17px;font-weight:600}\
.chart .heading{font-size:14px;font-weight:600}\
.chart .subtitle{font-size:13px}\
.chart .label,.chart .tick{font-size:12.5px}\
.chart .end{text-anchor:end}\
.chart .middle{text-anchor:middle}\
.chart .grid path{fill:none;stroke-width:1;shape-rendering:crispEdges}\
.chart .grid .minor{opacity:.5}\
.chart .foot{fill:none;stroke-width:1;shape-rendering:crispEdges}\
.chart .line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.chart .thin{stroke-width:1.5;stroke-dasharray:5 3;stroke-linecap:butt}\
.chart .rule{fill:none;stroke:currentColor;stroke-width:1.25;stroke-dasharray:3 3}\
.chart .band{fill:currentColor;fill-opacity:.16;stroke:none}\
.chart .bar{fill:currentColor;fill-opacity:.82;stroke:none}\
.chart .bar.over{fill-opacity:.5}\
.chart .mark{fill:currentColor;stroke-width:1}\
.chart .dot{fill:currentColor;fill-opacity:.7;stroke:none}\
.chart .hollow{fill:none;stroke:currentColor;stroke-width:1.5}\
.chart .hit{fill:none;stroke:transparent;stroke-width:12;pointer-events:stroke}\
.chart .leader{fill:none;stroke:currentColor;stroke-width:1;opacity:.6}\
.chart .series:hover .line{stroke-width:3.5}\
.chart .series:hover .bar:hover{fill-opacity:1}\
.chart .halo{paint-order:stroke;stroke-width:4;stroke-linejoin:round}\
.chart-figure{margin:0;container-type:inline-size}\
@container (max-width:559.9px){.chart-figure .chart-wide{display:none}}\
@container (min-width:560px){.chart-figure .chart-narrow{display:none}}";

/// What is painted with which colour of the theme: selector, property, name.
const PAINTS: [(&str, &str, &str); 8] = [
    (".chart .card", "fill", "card"),
    (".chart text", "fill", "text"),
    (
        ".chart .tick,.chart .subtitle,.chart .muted",
        "fill",
        "muted",
    ),
    (".chart .grid path", "stroke", "grid"),
    (".chart .foot", "stroke", "axis"),
    (".chart .reference", "color", "reference"),
    (".chart .mark", "stroke", "card"),
    (".chart .halo", "stroke", "card"),
];

static STYLESHEET: LazyLock<String> = LazyLock::new(build);

/// The style sheet for a page that holds figures made by [`Chart::svg_inline`](crate::Chart::svg_inline) or
/// [`Chart::html`](crate::Chart::html).
#[must_use]
pub fn stylesheet() -> &'static str {
    &STYLESHEET
}

fn build() -> String {
    let mut sheet = String::new();
    let light = properties(&LIGHT);
    let dark = properties(&DARK);
    // Writing to a string cannot fail.
    let _ = write!(sheet, ".chart{{{light}}}");
    let _ = write!(
        sheet,
        "@media screen and (prefers-color-scheme:dark){{.chart{{{dark}}}}}"
    );
    let _ = write!(sheet, "[data-theme=light] .chart{{{light}}}");
    let _ = write!(sheet, "@media screen{{[data-theme=dark] .chart{{{dark}}}}}");
    for (selector, property, name) in PAINTS {
        let colour = LIGHT.named(name);
        let _ = write!(
            sheet,
            "{selector}{{{property}:{colour};{property}:var(--chart-{name})}}"
        );
    }
    for (slot, colour) in LIGHT.series.iter().enumerate() {
        let _ = write!(
            sheet,
            ".chart .s{slot}{{color:{colour};color:var(--chart-{slot})}}"
        );
    }
    sheet.push_str(RULES);
    sheet
}

/// The custom properties of a theme.
fn properties(theme: &Theme) -> String {
    let mut text = String::new();
    for name in Theme::NAMES {
        let _ = write!(text, "--chart-{name}:{};", theme.named(name));
    }
    for slot in 0..SLOTS {
        let _ = write!(text, "--chart-{slot}:{};", theme.series[slot]);
    }
    text
}

impl Theme {
    const NAMES: [&str; 6] = ["card", "text", "muted", "grid", "axis", "reference"];

    fn named(&self, name: &str) -> &'static str {
        match name {
            "card" => self.card,
            "muted" => self.muted,
            "grid" => self.grid,
            "axis" => self.axis,
            "reference" => self.reference,
            _ => self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_balance_and_nothing_needs_escaping() {
        let sheet = stylesheet();
        let count = |wanted| {
            sheet
                .chars()
                .filter(|&character| character == wanted)
                .count()
        };
        assert_eq!(count('{'), count('}'));
        assert_eq!(count('<') + count('&'), 0);
    }

    #[test]
    fn every_colour_of_both_themes_is_in_it() {
        for theme in [LIGHT, DARK] {
            for name in Theme::NAMES {
                assert!(stylesheet().contains(&format!("--chart-{name}:{};", theme.named(name))));
            }
            for colour in theme.series {
                assert!(stylesheet().contains(colour));
            }
        }
    }
}
