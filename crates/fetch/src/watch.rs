//! The clock of an exchange: says when a server has used up its patience.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::config::FetchConfig;
use crate::failure::Failure;

/// Least span to average a rate over; without one the watch would never sleep.
const WINDOW_MIN: Duration = Duration::from_millis(10);

/// The time limits of a request on an open connection.
///
/// There is one timer for all limits, and it is set once: a page that comes
/// within the first-byte limit costs no further timer work.
pub(crate) struct Watch {
    timer: Pin<Box<Sleep>>,
    /// When the exchange must have ended.
    deadline: Instant,
    /// Least bytes per second.
    rate_min: u64,
    /// Least span to average the rate over.
    window: Duration,
    /// The span that is being averaged over, once the first byte has come.
    span: Option<Span>,
}

struct Span {
    from: Instant,
    before: Received,
}

/// What has come so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) bytes: usize,
    pub(crate) first_byte: Option<Instant>,
    /// How often we ourselves kept it waiting.
    pub(crate) holds: u32,
}

impl Watch {
    /// Starts the clock of a request that is about to be sent.
    pub(crate) fn start(config: &FetchConfig, deadline: Instant) -> Self {
        let first_byte = Instant::now() + config.first_byte_timeout;
        Self {
            timer: Box::pin(sleep_until(first_byte.min(deadline))),
            deadline,
            rate_min: config.min_rate,
            window: config.min_rate_window.max(WINDOW_MIN),
            span: None,
        }
    }

    /// Ready with what is wrong as soon as a limit is broken.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>, received: Received) -> Poll<Failure> {
        loop {
            if self.timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let now = self.timer.deadline();
            if self.deadline <= now {
                return Poll::Ready(Failure::TotalTimeout);
            }
            let Some(first_byte) = received.first_byte else {
                return Poll::Ready(Failure::FirstByteTimeout);
            };
            let span = self.span.get_or_insert(Span {
                from: first_byte,
                before: Received {
                    bytes: 0,
                    ..received
                },
            });
            let length = now.saturating_duration_since(span.from);
            if self.window <= length {
                let came = received.bytes.saturating_sub(span.before.bytes) as u64;
                let is_slow =
                    u128::from(came) * 1000 < u128::from(self.rate_min) * length.as_millis();
                // A server that was kept waiting is not to blame.
                if is_slow && received.holds == span.before.holds {
                    return Poll::Ready(Failure::TooSlow);
                }
                *span = Span {
                    from: now,
                    before: received,
                };
            }
            let next = span.from + self.window;
            self.timer.as_mut().reset(next.min(self.deadline));
        }
    }
}
