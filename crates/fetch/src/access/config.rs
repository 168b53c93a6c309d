//! The settings of [`Access`](super::Access): what is sent to whom besides the request. They name files and variables, and hold no secret.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A header field that requests have besides their own. Table `[[fetch.headers]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeaderConfig {
    /// The name of the field.
    pub name: String,
    /// Its value. It stands in `junkai.toml` and in the archive: for what is secret, name a file or a variable instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// A file whose first line is the value: kept out of archive and logs. Needs `hosts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_file: Option<PathBuf>,
    /// An environment variable that holds the value: kept out of archive and logs. Needs `hosts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_env: Option<String>,
    /// The hosts that get it, as `example.org`, or `*.example.org` for all hosts of a domain. Default: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Whether a secret value is sent over plain http, too, to other hosts than this machine. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_http: bool,
}

/// Who we are at one host. Table `[[fetch.logins]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoginConfig {
    /// The host, with its port where URLs have one (`example.org`, `intranet:8080`).
    pub host: String,
    /// The user's name; the password comes from a file or a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file whose first line is the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// An environment variable that holds the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// A file whose first line is `user:password`, instead of the three above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login_file: Option<PathBuf>,
    /// A file whose first line is a token, sent as `Bearer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_file: Option<PathBuf>,
    /// An environment variable that holds a token, sent as `Bearer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_env: Option<String>,
    /// Whether it is sent over plain http, too, to other hosts than this machine. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_http: bool,
}
