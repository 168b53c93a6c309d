//! Who is told when pages change: the settings.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::span::span;

/// Who is told when pages change. Table `[hook]`.
///
/// Changes are handed over in batches, one JSON object a line: the fields of `junkai changes --json`, and `id`. A batch that fails is tried again, after 1 s and then ever more rarely, up to
/// 5 minutes; what is left when the crawl ends is delivered at the next start. So each change arrives at least once, and one that arrives again has the same `id`. They come from
/// `logs/events.jsonl`, so that nothing waits in memory and the crawl never waits for a hook. A hook that is new to an archive hears of what happens from then on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HookConfig {
    /// A program and its arguments, as in `["sh", "-c", "cat >> changes.jsonl"]`: it is started for each batch, has it on its standard input, and takes it by ending with exit code 0. What it
    /// writes to standard error is told if it fails. Its environment has `JUNKAI_ARCHIVE`, the archive's folder. Default none.
    pub run: Vec<String>,
    /// A URL: each batch is sent there by POST (`application/x-ndjson`), and taken by an answer 2xx. No redirect is followed. Private and loopback addresses are fine: the URL is the operator's, and
    /// no page can change it. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// Changes in a batch at most. Default 500. A batch has at most 4 MiB, besides.
    pub batch_max: NonZeroUsize,
    /// How long a change waits at most for others to be in its batch. Default 5 s.
    #[serde(with = "humantime_serde")]
    pub batch_time: Duration,
    /// How long a delivery may take; a program that takes longer is killed. Default 30 s.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
}

impl Default for HookConfig {
    fn default() -> HookConfig {
        HookConfig {
            run: Vec::new(),
            post: None,
            batch_max: NonZeroUsize::new(500).unwrap_or(NonZeroUsize::MIN),
            batch_time: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
        }
    }
}

impl HookConfig {
    /// What is wrong with the values.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        const BATCH_MAX: usize = 100_000;
        const TIME_MAX: Duration = Duration::from_hours(1);
        let mut mistakes = Vec::new();
        let mut check = |is_right: bool, mistake: &str| {
            if !is_right {
                mistakes.push(mistake.to_owned());
            }
        };
        let spelt = span;
        check(
            self.run.first().is_none_or(|program| !program.is_empty()),
            "hook.run: the first word is the program, as in [\"sh\", \"-c\", \"cat >> changes.jsonl\"]",
        );
        check(
            self.batch_max.get() <= BATCH_MAX,
            &format!(
                "hook.batch_max = {}: must be 1 to {BATCH_MAX}",
                self.batch_max
            ),
        );
        check(
            (Duration::from_millis(100)..=TIME_MAX).contains(&self.timeout),
            &format!(
                "hook.timeout = {}: must be 100ms to 1h",
                spelt(self.timeout)
            ),
        );
        check(
            self.batch_time <= TIME_MAX,
            &format!(
                "hook.batch_time = {}: must be 0s to 1h",
                spelt(self.batch_time)
            ),
        );
        if let Some(post) = &self.post {
            let url = Url::parse(post).ok();
            let is_http = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
            check(
                url.as_ref().is_some_and(is_http),
                "hook.post: a URL that begins with https:// or http://",
            );
            let has_secret = |url: &Url| !url.username().is_empty() || url.password().is_some();
            check(
                !url.as_ref().is_some_and(has_secret),
                "hook.post: a name and password in a URL end up in logs; let hook.run call a program that has them",
            );
        }
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_told() {
        let count = |text: &str| toml::from_str::<HookConfig>(text).unwrap().mistakes().len();
        assert_eq!(HookConfig::default().mistakes(), [""; 0]);
        assert_eq!(
            count("run = [\"true\"]\npost = \"http://127.0.0.1:8080/x\""),
            0
        );
        for wrong in [
            "run = [\"\"]",
            "batch_max = 100001",
            "timeout = \"1ms\"",
            "batch_time = \"2h\"",
            "post = \"example.org/x\"",
            "post = \"ftp://example.org/x\"",
            "post = \"https://me:secret@example.org/x\"",
        ] {
            assert_eq!(count(wrong), 1, "{wrong}");
        }
        let config: HookConfig = toml::from_str("timeout = \"2h\"").unwrap();
        assert_eq!(
            config.mistakes(),
            ["hook.timeout = 2h: must be 100ms to 1h"]
        );
    }
}
