//! What may be chosen about the canonical form.

use serde::{Deserialize, Serialize};

/// Which URLs count as one page beyond what the standards say. Table `[canonical]`.
///
/// Fixed for the life of an archive: the canonical form is what pages are known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CanonicalConfig {
    /// Sorts query parameters by name; those of one name keep their order. Default false: some sites read the order.
    pub sort_query: bool,
    /// Drops the query parameters of `tracking_parameters`. Default false: an archive keeps the URLs that pages name.
    pub strip_tracking: bool,
    /// Names of parameters that say where a visitor came from; in any case, a final `*` stands for any ending. Default:
    /// those of the large advertising, mail and analytics services (`utm_*`, `fbclid`, `gclid` …), which no page needs.
    pub tracking_parameters: Vec<String>,
    /// Longest canonical URL; longer ones are refused. Default `8KiB`: what servers commonly accept as request line. From 16 bytes to 30 KiB.
    #[serde(with = "junkai_size::bytes")]
    pub max_length: usize,
}

impl Default for CanonicalConfig {
    fn default() -> Self {
        Self {
            sort_query: false,
            strip_tracking: false,
            tracking_parameters: TRACKING_PARAMETERS.map(str::to_owned).to_vec(),
            max_length: 8192,
        }
    }
}

const TRACKING_PARAMETERS: [&str; 33] = [
    "utm_*", // Urchin, Google Analytics and everybody since
    "_ga",
    "_gl",
    "dclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "srsltid",
    "wbraid",
    "fbclid", // Meta
    "igsh",
    "igshid",
    "li_fat_id", // LinkedIn
    "msclkid",   // Microsoft
    "ttclid",    // TikTok
    "twclid",    // X
    "epik",      // Pinterest
    "rdt_cid",   // Reddit
    "yclid",     // Yandex, Yahoo! JAPAN
    "ysclid",
    "_openstat",
    "mc_cid", // Mailchimp
    "mc_eid",
    "mkt_tok", // Marketo
    "_hsenc",  // HubSpot
    "_hsmi",
    "__hssc",
    "__hstc",
    "__hsfp",
    "vero_id",  // Vero
    "wickedid", // Wicked Reports
    "_branch_match_id",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused() {
        assert!(serde_json::from_str::<CanonicalConfig>(r#"{"sort_querry": true}"#).is_err());
    }

    #[test]
    fn keys_left_out_have_their_defaults() {
        let config: CanonicalConfig = serde_json::from_str(r#"{"sort_query": true}"#).unwrap();
        let expected = CanonicalConfig {
            sort_query: true,
            ..CanonicalConfig::default()
        };
        assert_eq!(config, expected);
    }
}
