//! What the settings do to a query: parameters sorted by name, tracking parameters left out.
//!
//! Parameters are what stands between `&`; their name ends at the first `=`. Nothing is decoded: the query is canonical
//! already, so a name has one spelling.

use std::borrow::Cow;

use crate::config::CanonicalConfig;

/// The settings of the canonical form that concern the query, ready for use.
#[derive(Clone, Debug)]
pub(crate) struct QueryRules {
    sort: bool,
    tracking: Vec<NamePattern>,
}

/// One of the tracking parameters of the settings.
#[derive(Clone, Debug)]
enum NamePattern {
    Whole(String),
    Prefix(String),
}

impl QueryRules {
    pub(crate) fn new(config: &CanonicalConfig) -> Self {
        let names: &[String] = if config.strip_tracking {
            &config.tracking_parameters
        } else {
            &[]
        };
        Self {
            sort: config.sort_query,
            tracking: names.iter().map(|name| NamePattern::new(name)).collect(),
        }
    }

    /// The query as the settings want it; empty where nothing is left of it.
    pub(crate) fn apply<'a>(&self, query: &'a str) -> Cow<'a, str> {
        if !self.sort && self.tracking.is_empty() {
            return Cow::Borrowed(query);
        }
        let mut parameters: Vec<&str> = query
            .split('&')
            .filter(|parameter| !self.is_tracking(parameter))
            .collect();
        if self.sort {
            parameters.sort_by_key(|parameter| name_of(parameter));
        }
        Cow::Owned(parameters.join("&"))
    }

    fn is_tracking(&self, parameter: &str) -> bool {
        let name = name_of(parameter);
        self.tracking.iter().any(|pattern| pattern.matches(name))
    }
}

impl NamePattern {
    fn new(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(prefix) => Self::Prefix(prefix.to_owned()),
            None => Self::Whole(text.to_owned()),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Whole(whole) => whole.eq_ignore_ascii_case(name),
            Self::Prefix(prefix) => name
                .get(..prefix.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
        }
    }
}

/// The name of a query parameter.
pub(crate) fn name_of(parameter: &str) -> &str {
    parameter
        .split_once('=')
        .map_or(parameter, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(sort_query: bool, strip_tracking: bool) -> QueryRules {
        QueryRules::new(&CanonicalConfig {
            sort_query,
            strip_tracking,
            ..CanonicalConfig::default()
        })
    }

    #[test]
    fn by_default_a_query_stays_as_it_is() {
        let query = "b=1&a=2&utm_source=x&&=";
        assert_eq!(rules(false, false).apply(query), query);
    }

    #[test]
    fn parameters_of_one_name_keep_their_order() {
        assert_eq!(
            rules(true, false).apply("b=2&a=9&b=1&a&c"),
            "a=9&a&b=2&b=1&c"
        );
    }

    #[test]
    fn tracking_parameters_go_and_the_others_stay_in_place() {
        for (query, expected) in [
            ("b=1&utm_source=x&a=2", "b=1&a=2"),
            ("UTM_Medium=x&fbclid=y&GCLID", ""),
            (
                "utm=1&my_fbclid=2&q=utm_source",
                "utm=1&my_fbclid=2&q=utm_source",
            ),
            ("utm_id=3&&", "&"),
            ("あ=1", "あ=1"),
        ] {
            assert_eq!(rules(false, true).apply(query), expected, "{query}");
        }
    }
}
