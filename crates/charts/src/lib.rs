//! Draws: one small set of figure types to SVG, for the reports of the lab and of `junkai focus train`.
//!
//! A caller states a [`Chart`] (two [`Axis`], and [`Line`], [`Scatter`], [`Bars`] or [`Rule`] between them) or a [`Grid`] of charts, and
//! gets text: a file of its own ([`Chart::svg`]), or a part of a page that has the [`stylesheet()`] ([`Chart::svg_inline`], and
//! [`Chart::html`] for pages that are also read on a phone). [`cumulative`], [`complementary_cumulative`] and [`histogram`] make
//! series from plain values. `examples/gallery.rs` draws one of each.
//!
//! ```
//! use junkai_charts::{Axis, Chart, Format, Line, Style};
//!
//! let chart = Chart::new(
//!     "What matters comes first",
//!     Axis::linear("pages crawled"),
//!     Axis::linear("share of PageRank").format(Format::Share).min(0.0).max(1.0),
//! )
//! .subtitle("a web of three pages")
//! .line(Line::new("best order", [(0.0, 0.0), (1.0, 0.6), (2.0, 0.9), (3.0, 1.0)]).style(Style::Reference))
//! .line(Line::new("breadth first", [(0.0, 0.0), (1.0, 0.2), (2.0, 0.4), (3.0, 1.0)]));
//! assert!(chart.svg().starts_with("<svg "));
//! ```
//!
//! The way of a figure: data and axes (`axis`, `ticks`, `format`) → a layout in which every text has its place (`figure`, `panel`,
//! `header`, `numbers`, `labels`, `legend`) → points in pixels, thinned (`trace`, `thin`) → SVG (`draw`, `look`, `svg`), painted by one
//! style sheet (`palette`, `stylesheet`).
//!
//! What holds for every figure:
//! - it is a function of its data, byte for byte: no clock, no random order, fixed decimals;
//! - any input gives a figure: numbers that have no place on an axis are left out, any text is only text, any label is shortened
//!   to fit, and where nothing is left the plot says so;
//! - no two texts overlap and none is cut off, by widths estimated from above (`text`);
//! - colour is never the only sign, and colours are told apart in both themes by people with every kind of colour sight (`palette`);
//! - its size is bounded, however long the series;
//! - there is no script in it; names and values appear on pointing at things because they are `<title>`s.
//!
//! Not here: what is drawn. And no plotting library: plotters, the usual one, writes fixed colours into every element, knows neither
//! classes nor themes nor titles for screen readers, and has had no release for two years; what remains of it for our few
//! figure types is less than what it would take to mend its output.

mod axis;
mod chart;
mod distribution;
mod draw;
mod figure;
mod format;
mod geometry;
mod grid;
mod header;
mod labels;
mod legend;
mod look;
mod numbers;
mod palette;
mod panel;
mod series;
mod stylesheet;
mod svg;
mod text;
mod thin;
mod ticks;
mod trace;

pub use axis::{Axis, Scale};
pub use chart::Chart;
pub use distribution::{Bins, complementary_cumulative, cumulative, histogram};
pub use format::Format;
pub use grid::Grid;
pub use series::{Bar, Bars, Line, Rule, Scatter, Spread, Style};
pub use stylesheet::stylesheet;
