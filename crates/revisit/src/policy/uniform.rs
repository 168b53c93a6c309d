//! All pages alike: each as often as every other, the oldest visit first. The floor that other policies are measured by.

use std::time::Duration;

use super::{Outlook, Policy, Terms};
use crate::belief::seconds;
use crate::draw::Draw;

/// One interval for all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform;

impl Policy for Uniform {
    fn interval(&self, _outlook: &Outlook, terms: &Terms, _draw: Draw) -> Duration {
        seconds(terms.mean_interval.as_secs_f64() * terms.stretch)
    }

    fn urgency(&self, _outlook: &Outlook, elapsed: Duration) -> f64 {
        elapsed.as_secs_f64()
    }
}
