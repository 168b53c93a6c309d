//! What was seen of one site: a handful of sums over the probabilities that its pages were given.

/// The least distance from 0 and 1 at which a probability counts in the logarithms: a classifier that says 0 means "less than this".
const LEAST: f64 = 1e-6;

/// Sums over the probabilities of a site's pages: 40 bytes, however many pages were fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    fetches: u32,
    /// The two highest probabilities, in parts of [`u16::MAX`].
    best: [u16; 2],
    sum: f64,
    sum_of_squares: f64,
    sum_of_logs: f64,
    sum_of_other_logs: f64,
}

impl Evidence {
    /// Takes in one page's probability, which is cut to `0..=1`.
    pub fn add(&mut self, probability: f64) {
        let probability = probability.clamp(0.0, 1.0);
        self.fetches = self.fetches.saturating_add(1);
        self.sum += probability;
        self.sum_of_squares += probability * probability;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to the greatest, and cut down to a whole number"
        )]
        let parts = (probability * f64::from(u16::MAX)) as u16;
        let [best, second] = self.best;
        self.best = [best.max(parts), second.max(parts.min(best))];
        let inner = probability.clamp(LEAST, 1.0 - LEAST);
        self.sum_of_logs += libm::log(inner);
        self.sum_of_other_logs += libm::log1p(-inner);
    }

    /// How many pages were fetched.
    #[must_use]
    pub fn fetches(&self) -> u32 {
        self.fetches
    }

    /// The mean of the probabilities; none before the first.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (0 < self.fetches).then(|| (self.sum / f64::from(self.fetches)).clamp(0.0, 1.0))
    }

    /// The probability that two pages have or exceed; 0 before the second.
    #[must_use]
    pub fn second_best(&self) -> f64 {
        f64::from(self.best[1]) / f64::from(u16::MAX)
    }

    /// The unbiased variance of the probabilities; none before the second.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        let count = f64::from(self.fetches);
        let mean = self.mean().filter(|_| 1 < self.fetches)?;
        Some(((self.sum_of_squares - count * mean * mean) / (count - 1.0)).max(0.0))
    }

    /// The sum of the probabilities.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The sum of ln *p*.
    #[must_use]
    pub fn sum_of_logs(&self) -> f64 {
        self.sum_of_logs
    }

    /// The sum of ln(1 − *p*).
    #[must_use]
    pub fn sum_of_other_logs(&self) -> f64 {
        self.sum_of_other_logs
    }
}
