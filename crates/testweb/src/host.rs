//! One host: its name, where its pages come from, and the wrong answers that it was told to give.
//!
//! What goes wrong only on the wire is left to [`crate::delivery`], which [`Host::manner`] instructs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::answer::{Answer, Request, gzip};
use crate::chance::{Chance, mix};
use crate::clock::UnixNanos;
use crate::delivery::Manner;
use crate::misbehaviour::{Misbehaviour, Refusal, RetryAfterForm};
use crate::synthetic::{Ports, Traps};

/// One host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) site: Site,
    pub(crate) misbehaviours: Vec<Misbehaviour>,
    requests: AtomicU64,
    /// Unix nanoseconds until which the host refuses.
    refuses_until: AtomicU64,
}

/// Where the pages of a host come from: the place in the list of its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Site {
    Synthetic(usize),
    Focus(usize),
    Graph(usize),
    History(usize),
    Folder(usize),
}

impl Host {
    pub(crate) fn new(name: String, site: Site, misbehaviours: Vec<Misbehaviour>) -> Self {
        Self {
            name,
            site,
            misbehaviours,
            requests: AtomicU64::new(0),
            refuses_until: AtomicU64::new(0),
        }
    }

    /// In which manner the host sends its answers.
    pub(crate) fn manner(&self, latency: Duration) -> Manner {
        let mut manner = Manner::proper(latency);
        for misbehaviour in &self.misbehaviours {
            manner.misbehave(misbehaviour);
        }
        manner
    }

    /// What the host's pages entice to.
    pub(crate) fn traps(&self) -> Traps {
        let has = |wanted: &Misbehaviour| self.misbehaviours.contains(wanted);
        let session = has(&Misbehaviour::SessionTrap)
            .then(|| mix(0, self.requests.fetch_add(1, Ordering::Relaxed)));
        Traps {
            session,
            has_calendar: has(&Misbehaviour::CalendarTrap),
        }
    }

    /// The robots.txt of a host that does not give a proper one.
    pub(crate) fn bad_robots(&self, ports: Ports) -> Option<Answer> {
        self.misbehaviours
            .iter()
            .find_map(|misbehaviour| bad_robots(misbehaviour, ports))
    }

    /// The answer of a host that does not give its own.
    pub(crate) fn bad_answer(&self, request: &Request, now: UnixNanos) -> Option<Answer> {
        self.misbehaviours
            .iter()
            .find_map(|misbehaviour| match misbehaviour {
                Misbehaviour::Refuse(refusal) => self.refuse(*refusal, now),
                Misbehaviour::RedirectLoop(length) => Some(next_of_loop(*length, request)),
                Misbehaviour::RedirectPrivate => {
                    let bytes = request.target.bytes();
                    let hash = bytes.fold(0, |hash, byte| mix(hash, byte.into()));
                    let target = Chance::about(hash, 0).pick::<&str>(&PRIVATE_TARGETS);
                    Some(Answer::redirect(302, (*target).to_owned()))
                }
                _ => None,
            })
    }

    /// What the host's proper answers ask for, though they are proper.
    pub(crate) fn rest_asked(&self) -> Option<Duration> {
        self.misbehaviours
            .iter()
            .find_map(|misbehaviour| match misbehaviour {
                Misbehaviour::RetryAfter(wait) => Some(*wait),
                _ => None,
            })
    }

    /// Refuses while a time of refusal lasts, and begins one every so many requests.
    fn refuse(&self, refusal: Refusal, now: UnixNanos) -> Option<Answer> {
        let until = UnixNanos(self.refuses_until.load(Ordering::Relaxed));
        let mut left = Duration::from_nanos(until.0.saturating_sub(now.0));
        if left.is_zero() {
            let requests = 1 + self.requests.fetch_add(1, Ordering::Relaxed);
            if !requests.is_multiple_of(refusal.every.into()) {
                return None;
            }
            left = refusal.retry_after;
            if refusal.every > 1 {
                self.refuses_until
                    .store(now.after(left).0, Ordering::Relaxed);
            }
        }
        let retry_after = match refusal.form {
            RetryAfterForm::Seconds => left.as_nanos().div_ceil(1_000_000_000).to_string(),
            // A date has whole seconds: the next one is the first that is not too early.
            RetryAfterForm::Date => httpdate::fmt_http_date(
                now.after(left + Duration::from_nanos(999_999_999))
                    .system_time(),
            ),
        };
        Some(Answer::plain(refusal.status.code()).header("retry-after", retry_after))
    }
}

fn next_of_loop(length: u32, request: &Request) -> Answer {
    let step = request.path().strip_prefix("/loop/");
    let step = step.and_then(|step| step.parse::<u32>().ok());
    let next = step.map_or(0, |step| (step % length + 1) % length);
    Answer::redirect(302, format!("/loop/{next}"))
}

/// A robots.txt that is not what it should be.
fn bad_robots(misbehaviour: &Misbehaviour, ports: Ports) -> Option<Answer> {
    match misbehaviour {
        Misbehaviour::RobotsStatus(status) => Some(Answer::plain(*status)),
        Misbehaviour::RobotsHtml => Some(Answer::ok(
            "text/html; charset=utf-8",
            "<!DOCTYPE html><title>Welcome</title><p>Disallow: / is what this page does not mean.\n",
        )),
        Misbehaviour::RobotsHuge(bytes) => {
            let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
            let mut text = b"User-agent: *\nDisallow: /private/\n".to_vec();
            let filler = b"# This line only takes up room.\nDisallow: /private/huge\n";
            text.extend(filler.iter().cycle().take(bytes.saturating_sub(text.len())));
            Some(Answer::ok("text/plain", text))
        }
        Misbehaviour::RobotsBomb(rules) => {
            let rules = "Allow:/\n".repeat(usize::try_from(*rules).unwrap_or(usize::MAX));
            let text = format!("User-agent: *\n{rules}");
            let answer = Answer::ok("text/plain", gzip(text.as_bytes()));
            Some(answer.header("content-encoding", "gzip"))
        }
        Misbehaviour::RobotsRedirect(host) => {
            let target = format!("{}/robots.txt", ports.origin(host, false));
            Some(Answer::redirect(301, target))
        }
        _ => None,
    }
}

/// Where no crawler should be led.
const PRIVATE_TARGETS: [&str; 8] = [
    "http://127.0.0.1:22/",
    "http://10.0.0.1/",
    "http://192.168.1.1/admin",
    "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[fd00::1]/",
    "http://0.0.0.0/",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::misbehaviour::RefusalStatus;

    fn refusals(every: u32, form: RetryAfterForm, seconds: &[f64]) -> Vec<Option<String>> {
        let host = Host::new("a.test".into(), Site::Folder(0), Vec::new());
        let refusal = Refusal {
            status: RefusalStatus::TooManyRequests,
            retry_after: Duration::from_secs(10),
            form,
            every,
        };
        let at = |seconds: &f64| UnixNanos(0).after(Duration::from_secs_f64(*seconds));
        let answers = seconds
            .iter()
            .map(|seconds| host.refuse(refusal, at(seconds)));
        answers
            .map(|answer| {
                let headers = answer?.headers.into_iter();
                let mut told = headers.filter(|(name, _)| *name == "retry-after");
                told.next().map(|(_, value)| value)
            })
            .collect()
    }

    #[test]
    fn a_host_that_refuses_now_and_then_recovers_when_it_said() {
        let seconds = [0.0, 1.0, 2.0, 3.5, 11.9, 12.0, 13.0, 14.0];
        let told = refusals(3, RetryAfterForm::Seconds, &seconds);
        let told: Vec<_> = told.iter().map(Option::as_deref).collect();
        let expected = [
            None,
            None,
            Some("10"),
            Some("9"),
            Some("1"),
            None,
            None,
            Some("10"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_host_that_always_refuses_never_recovers() {
        let told = refusals(1, RetryAfterForm::Seconds, &[0.0, 5.0, 50.0]);
        assert!(told.iter().all(|told| told.as_deref() == Some("10")));
    }

    #[test]
    fn a_date_is_never_before_the_time_is_over() {
        let told = refusals(1, RetryAfterForm::Date, &[0.0, 0.1]);
        let expected = [
            "Thu, 01 Jan 1970 00:00:10 GMT",
            "Thu, 01 Jan 1970 00:00:11 GMT",
        ];
        assert_eq!(told, expected.map(|date| Some(date.to_owned())));
    }
}
