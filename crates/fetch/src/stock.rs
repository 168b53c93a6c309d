//! An amount that many share, within a bound: bytes of memory, file descriptors.
//!
//! One atomic number. Whoever takes of it holds a [`Share`] and gives it back by dropping that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What there is of something, and how much of it is taken.
#[derive(Debug)]
pub(crate) struct Stock {
    taken: AtomicUsize,
    max: usize,
}

impl Stock {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: AtomicUsize::new(0),
            max,
        })
    }

    /// Takes so much, if that much is left.
    pub(crate) fn take(self: &Arc<Self>, amount: usize) -> Option<Share> {
        let mut share = Share::nothing(self);
        share.resize(amount);
        // Whoever finds the bound passed gives way, also where two find it at once.
        (self.taken.load(Ordering::Relaxed) <= self.max).then_some(share)
    }

    /// Whether this much of each hundred is taken.
    pub(crate) fn is_taken_to(&self, percent: usize) -> bool {
        self.max.saturating_mul(percent) / 100 <= self.taken.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

/// A part of a `Stock`, until it is dropped.
#[derive(Debug)]
pub struct Share {
    stock: Arc<Stock>,
    amount: usize,
}

impl Share {
    pub(crate) fn nothing(stock: &Arc<Stock>) -> Self {
        Self {
            stock: Arc::clone(stock),
            amount: 0,
        }
    }

    /// Makes the share as large as what its holder has; it may pass the bound, which the holder is to notice.
    pub(crate) fn resize(&mut self, amount: usize) {
        if self.amount < amount {
            let more = amount - self.amount;
            self.stock.taken.fetch_add(more, Ordering::Relaxed);
        } else if amount < self.amount {
            let less = self.amount - amount;
            self.stock.taken.fetch_sub(less, Ordering::Relaxed);
        }
        self.amount = amount;
    }

    /// Hands the share over and leaves nothing.
    pub(crate) fn split_off(&mut self) -> Self {
        Self {
            stock: Arc::clone(&self.stock),
            amount: std::mem::take(&mut self.amount),
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_given_than_there_is_and_what_is_dropped_is_given_again() {
        let stock = Stock::new(2);
        let first = stock.take(1).unwrap();
        let second = stock.take(1).unwrap();
        assert!(stock.take(1).is_none());
        assert_eq!(stock.taken(), 2, "a refusal takes nothing");
        drop(first);
        assert!(stock.take(1).is_some());
        drop(second);
        assert_eq!(stock.taken(), 0);
    }

    #[test]
    fn a_share_follows_its_holder() {
        let stock = Stock::new(100);
        let mut share = Share::nothing(&stock);
        share.resize(49);
        assert!(!stock.is_taken_to(50));
        share.resize(50);
        assert!(stock.is_taken_to(50));
        let handed_over = share.split_off();
        drop(share);
        assert_eq!(stock.taken(), 50);
        drop(handed_over);
        assert_eq!(stock.taken(), 0);
    }
}
