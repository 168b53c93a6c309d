//! What holds for every figure, whatever goes in: well-formed, repeatable, bounded, and without a script.

use junkai_charts::{
    Axis, Bar, Bars, Chart, Format, Grid, Line, Rule, Scale, Scatter, Spread, Style, stylesheet,
};
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::collections::BTreeSet;

/// What was found in a document.
#[derive(Debug, Default)]
struct Found {
    ids: Vec<String>,
    elements: BTreeSet<String>,
    texts: String,
}

/// Reads a document from end to end; panics when it is not well-formed.
#[expect(
    clippy::expect_used,
    reason = "a document that cannot be read fails the test"
)]
fn read(document: &str) -> Found {
    let mut reader = Reader::from_str(document);
    reader.config_mut().check_end_names = true;
    let mut found = Found::default();
    let mut depth = 0_i32;
    let mut roots = 0;
    loop {
        let event = reader.read_event().expect("well-formed XML");
        match &event {
            Event::Start(start) | Event::Empty(start) => {
                roots += i32::from(depth == 0);
                found.elements.insert(start.name().as_ref().to_owned());
                for attribute in start.attributes() {
                    let attribute = attribute.expect("a well-formed attribute");
                    let is_geometry =
                        ["d", "x", "y", "width", "height"].contains(&attribute.key.as_ref());
                    let is_no_number = ["NaN", "inf"]
                        .iter()
                        .any(|word| attribute.value.contains(word));
                    assert!(!(is_geometry && is_no_number), "{attribute:?}");
                    if attribute.key.as_ref() == "id" {
                        found.ids.push(attribute.value.to_string());
                    }
                }
                depth += i32::from(matches!(event, Event::Start(_)));
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) => found.texts.push_str(text),
            Event::GeneralRef(name) => found.texts.push(match name.as_ref() {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "#39" => '\'',
                other => panic!("&{other}; is not ours"),
            }),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((depth, roots), (0, 1));
    found
}

fn assert_sound(document: &str) {
    let found = read(document);
    let allowed: BTreeSet<String> = [
        "svg", "title", "desc", "style", "rect", "g", "path", "clipPath", "text", "figure",
    ]
    .map(str::to_owned)
    .into();
    assert!(found.elements.is_subset(&allowed), "{:?}", found.elements);
    let distinct: BTreeSet<&String> = found.ids.iter().collect();
    assert_eq!(
        distinct.len(),
        found.ids.len(),
        "an id occurs twice: {:?}",
        found.ids
    );
    let is_forbidden = |character: char| character.is_control() && character != '\n';
    assert!(!document.contains(is_forbidden));
}

const HOSTILE: &str =
    "</text></title><script>alert(\"&amp;\")</script> ' ]]> <!-- \u{0} \u{202e} \u{ffff}";

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1000.0..1000.0_f64,
        2 => any::<f64>(),
        1 => (-300..300).prop_map(|exponent| 10_f64.powi(exponent)),
        1 => Just(0.0),
        1 => Just(f64::NAN),
    ]
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,24}",
        1 => ".{0,120}",
        1 => Just(HOSTILE.to_owned()),
        1 => Just("巡回".repeat(60)),
    ]
}

fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((number(), number()), 0..40)
}

fn axis() -> impl Strategy<Value = Axis> {
    let format = prop::sample::select(vec![
        Format::Number,
        Format::Share,
        Format::Percent,
        Format::Bytes,
        Format::Seconds,
    ]);
    let end = || prop::option::weighted(0.2, number());
    (label(), any::<bool>(), format, end(), end()).prop_map(|(label, is_log, format, low, high)| {
        let mut axis =
            Axis::new(label, if is_log { Scale::Log } else { Scale::Linear }).format(format);
        if let Some(low) = low {
            axis = axis.min(low);
        }
        if let Some(high) = high {
            axis = axis.max(high);
        }
        axis
    })
}

fn line() -> impl Strategy<Value = Line> {
    let spread = (number(), number(), number()).prop_map(|(x, low, high)| Spread { x, low, high });
    let band = prop::collection::vec(spread, 0..6);
    let slot = prop::option::of(0_usize..40);
    (label(), points(), band, slot, any::<(bool, bool)>()).prop_map(
        |(label, points, band, slot, (is_reference, is_steps))| {
            let mut line = Line::new(label, points).band(band);
            if let Some(slot) = slot {
                line = line.slot(slot);
            }
            if is_steps {
                line = line.steps();
            }
            line.style(if is_reference {
                Style::Reference
            } else {
                Style::Main
            })
        },
    )
}

fn bars() -> impl Strategy<Value = Bars> {
    let bar =
        (number(), number(), number()).prop_map(|(low, high, value)| Bar { low, high, value });
    (label(), prop::collection::vec(bar, 0..20)).prop_map(|(label, bars)| Bars::new(label, bars))
}

fn rule() -> impl Strategy<Value = Rule> {
    (label(), number(), any::<bool>()).prop_map(|(label, value, is_horizontal)| {
        if is_horizontal {
            Rule::horizontal(value, label)
        } else {
            Rule::vertical(value, label)
        }
    })
}

prop_compose! {
    fn chart()(
        texts in (label(), label()),
        axes in (axis(), axis()),
        lines in prop::collection::vec(line(), 0..10),
        clouds in prop::collection::vec((label(), points()), 0..3),
        bars in prop::collection::vec(bars(), 0..3),
        rules in prop::collection::vec(rule(), 0..4),
        width in any::<u16>(),
    ) -> Chart {
        let mut chart = Chart::new(texts.0, axes.0, axes.1).subtitle(texts.1).width(width);
        for line in lines {
            chart = chart.line(line);
        }
        for (label, points) in clouds {
            chart = chart.scatter(Scatter::new(label, points));
        }
        for bars in bars {
            chart = chart.bars(bars);
        }
        for rule in rules {
            chart = chart.rule(rule);
        }
        chart
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chart_is_well_formed_and_repeatable(chart in chart(), prefix in label()) {
        let file = chart.svg();
        assert_sound(&file);
        assert_sound(&chart.html(&prefix));
        prop_assert_eq!(file, chart.svg());
        prop_assert_eq!(chart.svg_inline(&prefix), chart.svg_inline(&prefix));
    }

    #[test]
    fn any_grid_is_well_formed(charts in prop::collection::vec(chart(), 0..4), title in label(), columns in any::<usize>()) {
        let mut grid = Grid::new(title).columns(columns);
        for chart in charts {
            grid = grid.chart(chart);
        }
        assert_sound(&grid.svg());
        assert_sound(&grid.html("grid"));
    }
}

fn simple() -> Chart {
    Chart::new("Title & more", Axis::linear("x"), Axis::linear("y"))
        .line(Line::new("one", [(0.0, 0.0), (1.0, 2.0)]))
        .line(Line::new("two", [(0.0, 1.0), (1.0, 1.0)]))
}

#[test]
fn text_comes_back_as_it_went_in() {
    let axis = || Axis::linear("x");
    let found = read(&Chart::new(HOSTILE, axis(), axis()).width(4000).svg());
    let printable = "</text></title><script>alert(\"&amp;\")</script> ' ]]> <!--";
    // In the title for screen readers, and in the one that is seen.
    assert_eq!(found.texts.matches(printable).count(), 2, "{}", found.texts);
}

#[test]
fn a_figure_without_data_says_so() {
    let nothing = [(f64::NAN, 1.0), (1.0, 0.0), (1.0, -5.0)];
    let chart = Chart::new("t", Axis::linear("x"), Axis::log("y"));
    for chart in [
        chart.clone(),
        chart.clone().line(Line::new("a", nothing)),
        chart.scatter(Scatter::new("a", nothing)),
    ] {
        assert!(chart.svg().contains(">no data</text>"));
    }
}

#[test]
fn the_lowest_bar_of_a_log_axis_can_be_seen() {
    let bars = [1.0, 10.0, 100.0].map(|value| Bar {
        low: value,
        high: value + 1.0,
        value,
    });
    let svg = Chart::new("t", Axis::linear("x"), Axis::log("y"))
        .bars(Bars::new("b", bars))
        .svg();
    let heights: Vec<f64> = svg
        .split("<rect class=\"bar\"")
        .skip(1)
        .filter_map(|rect| {
            rect.split("height=\"")
                .nth(1)?
                .split('"')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(
        heights.len(),
        4,
        "three bars and their key in the legend: {heights:?}"
    );
    assert!(heights.iter().all(|height| 5.0 < *height), "{heights:?}");
}

#[test]
fn figures_of_one_page_share_no_id() {
    let page = format!(
        "<figure>{}{}</figure>",
        simple().svg_inline("a"),
        simple().svg_inline("b")
    );
    assert_sound(&page);
}

#[test]
fn only_a_file_carries_the_style_sheet() {
    assert!(simple().svg().contains(stylesheet()));
    assert!(!simple().svg_inline("a").contains("<style"));
}

#[test]
fn a_fixed_slot_keeps_its_look_and_others_avoid_it() {
    let chart = Chart::new("", Axis::linear("x"), Axis::linear("y"))
        .line(Line::new("free", [(0.0, 0.0), (1.0, 2.0)]))
        .line(Line::new("fixed", [(0.0, 1.0), (1.0, 1.0)]).slot(0));
    let svg = chart.svg();
    let series = |class: &str| {
        svg.split(class)
            .nth(1)
            .unwrap()
            .split("</title>")
            .next()
            .unwrap()
            .to_owned()
    };
    assert!(series("class=\"series s0\"").contains("fixed"));
    assert!(series("class=\"series s1\"").contains("free"));
}

#[test]
fn a_label_looks_the_same_in_every_chart_of_a_grid() {
    let first = simple();
    let second = Chart::new("", Axis::linear("x"), Axis::linear("y"))
        .line(Line::new("two", [(0.0, 1.0), (1.0, 1.0)]))
        .line(Line::new("three", [(0.0, 1.0), (1.0, 3.0)]));
    let svg = Grid::new("grid").chart(first).chart(second).svg();
    let of_two: Vec<&str> = svg
        .match_indices("<title>two: 1 at 1</title><path class=\"hit\"")
        .map(|(at, _)| &svg[at - 4..at - 2])
        .collect();
    assert_eq!(of_two, ["s1", "s1"]);
    assert!(svg.contains("class=\"series s2\"><title>three"));
    assert_eq!(svg.matches(">two</text>").count(), 1, "one legend for all");
}

#[test]
fn a_million_points_make_a_small_file() {
    let points = (0..1_000_000).map(|step| {
        let noise = f64::from(step % 1013 * 7919 % 1013);
        (f64::from(step), noise)
    });
    let points: Vec<(f64, f64)> = points.collect();
    let chart = Chart::new("", Axis::linear("x"), Axis::linear("y"))
        .line(Line::new("line", points.iter().copied()))
        .scatter(Scatter::new("cloud", points.iter().copied()))
        .bars(Bars::new(
            "bars",
            points.iter().map(|&(x, y)| Bar {
                low: x,
                high: x + 1.0,
                value: y,
            }),
        ));
    let size = chart.svg().len();
    assert!(size < 120_000, "{size} bytes");
}

#[test]
fn a_figure_says_what_it_shows() {
    let svg = simple().svg();
    assert!(svg.contains("role=\"img\""));
    assert!(svg.contains(">Title &amp; more</title>"));
    assert!(svg.contains("one: ends with 2 at 1."));
}
