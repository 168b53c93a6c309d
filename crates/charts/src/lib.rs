//! Draws: one small set of figure types to SVG, for reports and the dashboard alike.
