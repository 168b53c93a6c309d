//! Who the crawler says that it is: `User-Agent`, `From`, and its name in robots.txt.

use serde::{Deserialize, Serialize};

/// The name under which the crawler visits servers. Table `[identity]`.
///
/// [`validate`](Self::validate) says whether it can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// The product token, in the `User-Agent` and in robots.txt. Default `junkai`.
    ///
    /// Letters, `-` and `_` only (RFC 9309, section 2.2.1).
    pub product: String,
    /// The version in the `User-Agent`. Default: that of this program, without the patch number.
    pub version: String,
    /// A URL or e-mail address under which the operator can be reached. Default none.
    ///
    /// An e-mail address is also sent as `From`.
    pub contact: Option<String>,
    /// A whole `User-Agent` that replaces the one made of the above. Default none.
    ///
    /// The name in robots.txt stays `product`. Servers then see nothing of `product`, `version` and `contact` but what this says itself (and `From`): whoever
    /// wants to add something to the usual text takes `user_agent_suffix`.
    pub user_agent: Option<String>,
    /// What follows the `User-Agent`, after a space, whether that is the usual one or a whole one of `user_agent`: the name of a project or a
    /// collection. Default none.
    pub user_agent_suffix: Option<String>,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            product: "junkai".into(),
            version: concat!(
                env!("CARGO_PKG_VERSION_MAJOR"),
                ".",
                env!("CARGO_PKG_VERSION_MINOR")
            )
            .into(),
            contact: None,
            user_agent: None,
            user_agent_suffix: None,
        }
    }
}

/// The longest text of an [`Identity`]: servers refuse requests whose head is too long.
const TEXT_BYTES_MAX: usize = 512;

/// What is wrong with an [`Identity`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// robots.txt could not address a crawler of this name.
    #[error("the product name {0:?} must be letters, '-' and '_' only")]
    Product(String),
    /// The text would break the request or confuse its reader.
    #[error(
        "the {field} {value:?} must be 1 to {TEXT_BYTES_MAX} characters of printable ASCII, with no space at either end"
    )]
    Unprintable {
        /// Which setting.
        field: &'static str,
        /// Its value.
        value: String,
    },
}

impl Identity {
    /// The default identity with a contact.
    #[must_use]
    pub fn with_contact(contact: impl Into<String>) -> Self {
        Self {
            contact: Some(contact.into()),
            ..Self::default()
        }
    }

    /// The value of `User-Agent`: `Mozilla/5.0 (compatible; junkai/0.1; +CONTACT)`, or the whole one that replaces it, and the suffix.
    #[must_use]
    pub fn user_agent(&self) -> String {
        let (product, version) = (&self.product, &self.version);
        let mut text = match (&self.user_agent, &self.contact) {
            (Some(whole), _) => whole.clone(),
            (None, Some(contact)) => {
                format!("Mozilla/5.0 (compatible; {product}/{version}; +{contact})")
            }
            (None, None) => format!("Mozilla/5.0 (compatible; {product}/{version})"),
        };
        if let Some(suffix) = &self.user_agent_suffix {
            text.push(' ');
            text.push_str(suffix);
        }
        text
    }

    /// The value of `From`: the contact, when it is an e-mail address (RFC 9110, section 10.1.2).
    #[must_use]
    pub fn from(&self) -> Option<&str> {
        let contact = self.contact.as_deref()?;
        let address = contact.strip_prefix("mailto:").unwrap_or(contact);
        let (local, domain) = address.split_once('@')?;
        let is_plain = !local.is_empty() && !domain.is_empty() && !address.contains(['/', ' ']);
        is_plain.then_some(address)
    }

    /// The name that robots.txt groups are matched against.
    #[must_use]
    pub fn robots_token(&self) -> &str {
        &self.product
    }

    /// Checks that the identity can be sent and can be named in robots.txt.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), IdentityError> {
        let is_token = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_';
        if self.product.is_empty() || !self.product.bytes().all(is_token) {
            return Err(IdentityError::Product(self.product.clone()));
        }
        let fields = [
            ("version", Some(&self.version)),
            ("contact", self.contact.as_ref()),
            ("user agent", self.user_agent.as_ref()),
            ("user agent's suffix", self.user_agent_suffix.as_ref()),
        ];
        for (field, value) in fields {
            let Some(value) = value else { continue };
            let is_bounded = (1..=TEXT_BYTES_MAX).contains(&value.len()) && value.trim() == value;
            if !is_bounded || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                let value = value.clone();
                return Err(IdentityError::Unprintable { field, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_names_product_and_contact() {
        assert_eq!(
            Identity::with_contact("https://example.org/bot").user_agent(),
            "Mozilla/5.0 (compatible; junkai/0.1; +https://example.org/bot)"
        );
        assert_eq!(
            Identity::default().user_agent(),
            "Mozilla/5.0 (compatible; junkai/0.1)"
        );
    }

    #[test]
    fn a_suffix_follows_the_usual_user_agent_and_a_whole_one() {
        let identity = |user_agent: Option<&str>| Identity {
            user_agent: user_agent.map(str::to_owned),
            user_agent_suffix: Some("my-project/2".to_owned()),
            ..Identity::default()
        };
        assert_eq!(
            identity(None).user_agent(),
            "Mozilla/5.0 (compatible; junkai/0.1) my-project/2"
        );
        assert_eq!(identity(Some("Bot")).user_agent(), "Bot my-project/2");
        assert_eq!(identity(Some("Bot")).robots_token(), "junkai");
        for suffix in [
            "",
            " x",
            "x\r\nHost: evil",
            "é",
            &"x".repeat(TEXT_BYTES_MAX + 1),
        ] {
            let bad = Identity {
                user_agent_suffix: Some(suffix.to_owned()),
                ..Identity::default()
            };
            assert!(bad.validate().is_err(), "{suffix:?}");
        }
    }

    #[test]
    fn only_an_e_mail_contact_becomes_from() {
        for (contact, from) in [
            ("ops@example.org", Some("ops@example.org")),
            ("mailto:ops@example.org", Some("ops@example.org")),
            ("https://example.org/@ops", None),
            ("example.org", None),
            ("@example.org", None),
        ] {
            assert_eq!(Identity::with_contact(contact).from(), from, "{contact}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert_eq!(Identity::default().validate(), Ok(()));
        let bad_product = Identity {
            product: "my bot/1".into(),
            ..Identity::default()
        };
        assert!(matches!(
            bad_product.validate(),
            Err(IdentityError::Product(_))
        ));
        let smuggled = Identity::with_contact("x\r\nHost: evil");
        assert!(smuggled.validate().is_err());
    }
}
