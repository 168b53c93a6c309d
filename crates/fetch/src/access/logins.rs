//! Logins: a user's name and password, or a token, for one host.

use std::sync::atomic::{AtomicBool, Ordering};

use data_encoding::BASE64;
use http::header::HeaderValue;
use url::Url;

use super::config::LoginConfig;
use super::hosts::{HostAndPort, without_login};
use super::secret::Secret;
use super::{Environment, Way, one_source};

/// What one host is told of who we are.
#[derive(Debug)]
pub(crate) struct Login {
    host: HostAndPort,
    /// Marked as sensitive: nothing shows it.
    value: HeaderValue,
    allow_http: bool,
    /// Whether it was told that the login was held back.
    has_told: AtomicBool,
}

impl Login {
    /// Reads the secret of a setting.
    ///
    /// # Errors
    /// In words that show no secret.
    pub(crate) fn load(config: &LoginConfig, environment: Environment<'_>) -> Result<Self, String> {
        let host = HostAndPort::parse(&config.host)?;
        let is_bearer = config.bearer_file.is_some() || config.bearer_env.is_some();
        let authorization = if is_bearer {
            let file = config.bearer_file.as_deref();
            let token = Secret::load(file, config.bearer_env.as_deref(), environment)?;
            Secret::new(format!("Bearer {}", token.reveal()))
        } else if let Some(file) = &config.login_file {
            let login = Secret::from_file(file)?;
            if !login.reveal().contains(':') {
                let file = file.display();
                return Err(format!("the first line of {file} must be user:password"));
            }
            basic(&login)
        } else {
            let file = config.password_file.as_deref();
            let password = Secret::load(file, config.password_env.as_deref(), environment)?;
            let user = config.user.as_deref().unwrap_or_default();
            basic(&Secret::new(format!("{user}:{}", password.reveal())))
        };
        let mut value = HeaderValue::from_str(authorization.reveal())
            .map_err(|_| "the token must be printable ASCII in one line".to_owned())?;
        value.set_sensitive(true);
        Ok(Self {
            host,
            value,
            allow_http: config.allow_http,
            has_told: AtomicBool::new(false),
        })
    }

    /// The value of `Authorization` for a request, if it is for this host.
    pub(crate) fn value_for(&self, url: &Url, way: Way) -> Option<&HeaderValue> {
        if !self.host.matches(url) {
            return None;
        }
        if !self.allow_http && !way.is_private {
            if !self.has_told.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    "the login for {} is not sent over plain http, where anybody on the way could read it; allow_http = true in its [[fetch.logins]] sends it",
                    self.host.host
                );
            }
            return None;
        }
        Some(&self.value)
    }
}

/// The value of `Authorization` for `user:password` (RFC 7617).
pub(super) fn basic(login: &Secret) -> Secret {
    Secret::new(format!(
        "Basic {}",
        BASE64.encode(login.reveal().as_bytes())
    ))
}

/// What is wrong with a setting, before any file is read.
pub(crate) fn mistake(config: &LoginConfig) -> Option<String> {
    let check = || -> Result<(), String> {
        HostAndPort::parse(&config.host)?;
        one_source(&[
            ("password_file", config.password_file.is_some()),
            ("password_env", config.password_env.is_some()),
            ("login_file", config.login_file.is_some()),
            ("bearer_file", config.bearer_file.is_some()),
            ("bearer_env", config.bearer_env.is_some()),
        ])?;
        let has_password = config.password_file.is_some() || config.password_env.is_some();
        match &config.user {
            None if has_password => Err("`user` is missing".to_owned()),
            Some(_) if !has_password => {
                Err("`user` goes with password_file or password_env".to_owned())
            }
            Some(user) if user.contains(':') => {
                Err("a user's name has no colon (RFC 7617)".to_owned())
            }
            Some(_) | None => Ok(()),
        }
    };
    check()
        .err()
        .map(|mistake| format!("login for {:?}: {mistake}", without_login(&config.host)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        (name == "PASSWORD").then(|| "open sesame".to_owned())
    }

    fn login() -> LoginConfig {
        LoginConfig {
            host: "a.example".to_owned(),
            user: Some("Aladdin".to_owned()),
            password_env: Some("PASSWORD".to_owned()),
            ..LoginConfig::default()
        }
    }

    #[test]
    fn the_password_goes_as_the_standard_has_it() {
        let login = Login::load(&login(), &environment).unwrap();
        let url = Url::parse("https://a.example/").unwrap();
        let sent = login.value_for(&url, Way { is_private: true }).unwrap();
        // The example of RFC 7617, section 2.
        assert_eq!(sent.as_bytes(), b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(!format!("{login:?}").contains("QWxhZGRpbj"), "{login:?}");
    }

    #[test]
    fn it_is_sent_to_its_host_and_over_a_private_way_alone() {
        let (open, private) = (Way { is_private: false }, Way { is_private: true });
        let url = |text: &str| Url::parse(text).unwrap();
        let careful = Login::load(&login(), &environment).unwrap();
        assert!(careful.value_for(&url("http://a.example/"), open).is_none());
        assert!(
            careful
                .value_for(&url("https://b.example/"), private)
                .is_none()
        );
        assert!(
            careful
                .value_for(&url("https://a.example.b.example/"), private)
                .is_none()
        );
        let allowed = LoginConfig {
            allow_http: true,
            ..login()
        };
        let allowed = Login::load(&allowed, &environment).unwrap();
        assert!(allowed.value_for(&url("http://a.example/"), open).is_some());
    }

    #[test]
    fn mistakes_are_told_without_secrets() {
        let both = LoginConfig {
            bearer_env: Some("PASSWORD".to_owned()),
            ..login()
        };
        assert!(mistake(&both).unwrap().contains("one of"));
        let nobody = LoginConfig {
            user: None,
            ..login()
        };
        assert!(mistake(&nobody).unwrap().contains("`user` is missing"));
        let nothing = LoginConfig {
            password_env: None,
            ..login()
        };
        assert!(mistake(&nothing).is_some());
        let unset = LoginConfig {
            password_env: Some("UNSET".to_owned()),
            ..login()
        };
        assert_eq!(mistake(&unset), None);
        assert!(
            Login::load(&unset, &environment)
                .unwrap_err()
                .contains("UNSET")
        );
        let misplaced = LoginConfig {
            host: "me:s3cret@a.example".to_owned(),
            ..login()
        };
        let said = mistake(&misplaced).unwrap();
        assert!(
            said.contains("a.example") && !said.contains("s3cret"),
            "{said}"
        );
        assert_eq!(mistake(&login()), None);
    }
}
