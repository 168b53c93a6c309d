//! A mean and its standard error.

/// Of several repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mean {
    pub(super) mean: f64,
    /// Standard error of the mean; zero for a single value.
    pub(super) error: f64,
}

impl FromIterator<f64> for Mean {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Mean {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len() as f64;
        if values.is_empty() {
            return Mean::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = if 1.0 < count {
            (squares / (count - 1.0) / count).sqrt()
        } else {
            0.0
        };
        Mean { mean, error }
    }
}

impl Mean {
    /// Whether it is above zero by more than two standard errors.
    pub(super) fn is_ahead(&self) -> bool {
        2.0 * self.error < self.mean
    }

    /// Whether it is not below zero by more than two standard errors.
    pub(super) fn is_level_or_ahead(&self) -> bool {
        -2.0 * self.error <= self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let mean: Mean = [1.0, 2.0, 3.0].into_iter().collect();
        assert!((mean.mean - 2.0).abs() < 1e-12);
        assert!((mean.error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!(mean.is_ahead());
        let alone: Mean = [-1.0].into_iter().collect();
        assert!(!alone.is_level_or_ahead());
    }
}
