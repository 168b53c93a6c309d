//! A URL as a crawler sees it: canonical form, fingerprint, host, site, SURT key, template.
//!
//! Text from the outside (seeds, links, redirects, sitemaps) goes into a [`Canonicalizer`]; a [`PageUrl`] comes out, and is
//! what every other room takes. Read [`Canonicalizer`] first: its module lists the rules of the canonical form.
//!
//! Invariants: a [`PageUrl`] is canonical, absolute, http or https, and parses again to itself; two that are equal have the
//! same [`Fingerprint`]. Text of any kind is either turned into one, or refused with a [`UrlError`]; nothing panics.
//!
//! Not here: whether a URL is in scope or was seen (`crawler`, `frontier`), and anything that resolves or fetches it
//! (`fetch`). This room does no I/O.

mod canonical;
mod config;
mod description;
mod fingerprint;
mod page_url;
mod percent;
mod query;
mod scan;
mod seed;
mod site;
mod slashes;
mod surt;
mod template;

pub use canonical::{Canonicalizer, UrlError};
pub use config::CanonicalConfig;
pub use description::{Description, describe};
pub use fingerprint::Fingerprint;
pub use page_url::PageUrl;
pub use seed::without_login;
pub use site::site_of;
pub use slashes::without_extra_slashes;
pub use surt::surt;
