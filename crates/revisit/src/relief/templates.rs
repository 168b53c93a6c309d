//! Of the pages with similar URLs on an overloaded server, one represents the others.
//!
//! Who asks first becomes the representative of its template, and stays it until it has not been heard of for twice its
//! interval. The table has a fixed size and is not kept over a restart: representatives are found anew as their pages are visited. Two templates
//! that fall on one place share it by turns; a page whose template finds no place represents itself, which costs visits, never
//! versions.

use std::time::Duration;

use junkai_frontier::Time;
use junkai_weburl::{Fingerprint, PageUrl};
use xxhash_rust::xxh3::xxh3_64;

/// Templates that are told apart at most, about: 32 bytes each.
const PLACES: usize = 1 << 16;

/// Which page stands for each template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates {
    /// Empty until a server is overloaded.
    places: Vec<Option<Representative>>,
}

#[derive(Clone, Copy, Debug)]
struct Representative {
    template: u64,
    page: Fingerprint,
    until: Time,
}

/// Whether a page keeps its pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It stands for its template, or alone.
    Represents,
    /// Another page stands for it.
    IsRepresented,
}

impl Templates {
    /// The role of a page that was visited `now` and would be visited again after `interval`.
    pub(crate) fn role(&mut self, page: &PageUrl, now: Time, interval: Duration) -> Role {
        if self.places.is_empty() {
            self.places = vec![None; PLACES];
        }
        let template = xxh3_64(page.template().as_bytes());
        let fingerprint = page.fingerprint();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low bits are as good as the others"
        )]
        let place = &mut self.places[template as usize % PLACES];
        let is_free = place.is_none_or(|one| one.until < now || one.page == fingerprint);
        if is_free {
            *place = Some(Representative {
                template,
                page: fingerprint,
                until: now + interval.saturating_mul(2),
            });
            return Role::Represents;
        }
        match place {
            Some(one) if one.template == template => Role::IsRepresented,
            Some(_) | None => Role::Represents,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    const DAY: Duration = Duration::from_hours(24);

    fn page(url: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(url)
            .unwrap()
    }

    fn day(number: u32) -> Time {
        Time::EPOCH + number * DAY
    }

    #[test]
    fn one_page_stands_for_its_template_until_it_is_not_heard_of() {
        let mut templates = Templates::default();
        let (first, second) = (
            page("https://example.org/item/1"),
            page("https://example.org/item/2"),
        );
        let other = page("https://example.org/about");
        assert_eq!(templates.role(&first, day(0), DAY), Role::Represents);
        assert_eq!(templates.role(&second, day(1), DAY), Role::IsRepresented);
        assert_eq!(templates.role(&other, day(1), DAY), Role::Represents);
        assert_eq!(templates.role(&first, day(1), DAY), Role::Represents);
        assert_eq!(templates.role(&second, day(3), DAY), Role::IsRepresented);
        // The first was last heard of on day 1.
        assert_eq!(templates.role(&second, day(4), DAY), Role::Represents);
        assert_eq!(templates.role(&first, day(4), DAY), Role::IsRepresented);
    }
}
