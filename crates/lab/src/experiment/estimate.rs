//! A mean over draws, how sure it is, and how one thing stands to another.

/// A mean over draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    /// The standard deviation of one draw.
    pub(super) spread: f64,
    draws: f64,
}

impl Estimate {
    /// Of one value for each draw.
    pub(super) fn of(values: &[f64]) -> Estimate {
        let draws = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / draws;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Estimate {
            mean,
            spread: (squares / (draws - 1.0).max(1.0)).sqrt(),
            draws,
        }
    }

    /// Of what one has more than the other, draw by draw.
    pub(super) fn of_differences(one: &[f64], other: &[f64]) -> Estimate {
        let differences = one.iter().zip(other).map(|(one, other)| one - other);
        Estimate::of(&differences.collect::<Vec<f64>>())
    }

    /// The standard error of the mean.
    pub(super) fn error(&self) -> f64 {
        self.spread / self.draws.sqrt()
    }

    /// How a difference stands.
    pub(super) fn standing(&self) -> Standing {
        let decided = 2.0 * self.error();
        if decided < self.mean {
            Standing::Above
        } else if self.mean < -decided {
            Standing::Below
        } else {
            Standing::Level
        }
    }
}

/// How one policy stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// By more than two standard errors.
    Above,
    /// Within two standard errors.
    Level,
    Below,
}

impl Standing {
    pub(super) fn name(self) -> &'static str {
        match self {
            Standing::Above => "above",
            Standing::Level => "level",
            Standing::Below => "below",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_decided_by_two_standard_errors() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0]);
        assert!((estimate.mean - 2.5).abs() < 1e-12);
        assert!((estimate.spread - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((estimate.error() - estimate.spread / 2.0).abs() < 1e-12);
        assert_eq!(estimate.standing(), Standing::Above);
        assert_eq!(Estimate::of(&[-1.0, 1.5]).standing(), Standing::Level);
        assert_eq!(Estimate::of(&[-1.0, -1.1]).standing(), Standing::Below);
    }
}
