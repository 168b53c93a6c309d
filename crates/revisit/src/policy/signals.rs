//! What others say of a page's changes between two visits: sitemaps, feeds, notifications.
//!
//! Busa-Fekete, Zimmert, György and others, "A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating Signals", WWW 2025:
//! a signal is worth as many seconds of waiting as make the same difference to the chance that our copy is current.
//!
//! # Notation
//! *Δ*: changes per second; *λ*: `recall`, the share of changes that are signalled; *ν*: `false_rate`, signals per second without a
//! change; *γ* = *λΔ* + *ν*: signals per second; *α* = (1 − *λ*)*Δ*: changes per second that nobody signals; *t*: time since the
//! last visit; *n*: signals in it; P(current) = e^(−*αt*)(*ν*/*γ*)ⁿ.
//!
//! Departures: what is measured of a source is never taken for perfect (see [`SignalQuality::new`]), so *n* signals are worth a
//! finite time.

/// How good a source of signals has proved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalQuality {
    recall: f64,
    false_rate: f64,
}

/// What others have signalled of a page since its last visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signals {
    /// Signals since the last visit.
    pub count: u32,
    /// How good their source is; none if nothing is signalled for this page.
    pub quality: Option<SignalQuality>,
}

/// No source is believed to miss less than one change in a hundred.
const RECALL_MAX: f64 = 0.99;
/// No source is believed to signal without a change less than once in ten years, in signals per second.
const FALSE_RATE_MIN: f64 = 1.0 / (10.0 * 365.25 * 86_400.0);

impl SignalQuality {
    /// From the share of changes that it signals, and the signals per second that come without a change, both within bounds.
    #[must_use]
    pub fn new(recall: f64, false_rate: f64) -> SignalQuality {
        SignalQuality {
            recall: within(recall, 0.0, RECALL_MAX),
            false_rate: within(false_rate, FALSE_RATE_MIN, 1.0),
        }
    }

    /// *α*: of a page that changes at this rate, the changes per second that are not signalled.
    #[must_use]
    pub fn silent_rate(&self, rate: f64) -> f64 {
        (1.0 - self.recall) * rate
    }

    /// *γ*: signals per second of such a page.
    #[must_use]
    pub fn signal_rate(&self, rate: f64) -> f64 {
        self.recall * rate + self.false_rate
    }

    /// *ν*: signals per second that come without a change.
    #[must_use]
    pub fn false_rate(&self) -> f64 {
        self.false_rate
    }

    /// How much one signal adds to the exposure of such a page: ln(*γ*/*ν*).
    #[must_use]
    pub fn exposure(&self, rate: f64) -> f64 {
        (self.recall * rate / self.false_rate).ln_1p()
    }
}

/// A number within bounds; what is no number becomes the lowest.
fn within(number: f64, lowest: f64, highest: f64) -> f64 {
    number.max(lowest).min(highest)
}

impl Signals {
    /// Nobody says anything.
    pub const NONE: Signals = Signals {
        count: 0,
        quality: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    #[test]
    fn a_source_that_is_often_wrong_says_little() {
        let rate = 1.0 / (10.0 * DAY);
        let good = SignalQuality::new(0.9, 0.01 * rate);
        let poor = SignalQuality::new(0.9, 9.0 * rate);
        assert!(4.0 < good.exposure(rate));
        assert!(poor.exposure(rate) < 0.1);
    }

    #[test]
    fn no_source_is_believed_without_end() {
        let perfect = SignalQuality::new(1.0, 0.0);
        assert!(perfect.exposure(0.1).is_finite());
        assert!(0.0 < perfect.silent_rate(0.1));
        let broken = SignalQuality::new(f64::NAN, f64::NAN);
        assert!(broken.exposure(0.1).is_finite());
    }
}
