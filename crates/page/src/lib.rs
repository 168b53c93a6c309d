//! Understands bytes: what a fetched page is, what it says of itself, and where it leads.
//!
//! [`Leads`] is what an answer leads to, for all who ask. Below it, [`kind_of`] tells what a body is; [`analyze`] reads an HTML page (charset, links, robots directives, language, title), [`analyze_style_sheet`]
//! what a style sheet needs, [`sitemap`] and [`feed`] read what their names say. Everything that comes in is taken as hostile and bounded, and nothing fails:
//! a broken page is a page with less in it.
//!
//! This room never sees the network, and does not decide anything: scope, canonical form and politeness are elsewhere.

mod analysis;
mod attribute;
pub mod charset;
mod collect;
pub mod content;
mod context;
mod css;
mod entity;
pub mod feed;
mod kind;
pub mod language;
mod leads;
mod link;
mod link_header;
pub mod markup;
mod modified;
pub mod reading;
mod reference;
mod resolve;
mod robots;
mod scan;
pub mod sitemap;
mod text;

pub use analysis::{
    Analysis, Source, analyze, analyze_headers, analyze_style_sheet, analyze_with_contexts,
};
pub use context::LinkContext;
pub use kind::{ContentKind, kind_of};
pub use leads::{Answer, FollowOptions, LeadOptions, Leads, RedirectTarget};
pub use link::{Link, LinkKind, LinkOptions, LinkRole};
pub use modified::Modified;
pub use robots::RobotsMeta;
