//! What is left to chance: the same numbers in every run.

pub(crate) use junkai_chance::drawn as mixed;

/// Servers of very different sizes: the one of rank *r* has pages in proportion to *r* to the minus 0.8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Servers {
    count: u32,
    /// The fifth root of the count, less one.
    span: f64,
}

impl Servers {
    pub(crate) fn new(count: u32) -> Servers {
        Servers {
            count,
            span: f64::from(count).powf(0.2) - 1.0,
        }
    }

    pub(crate) fn count(self) -> u32 {
        self.count
    }

    /// The server of URL number `url`: the inverse of the distribution, for ranks as a continuum.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank, from 0 to below the count"
    )]
    pub(crate) fn of_url(self, url: u64) -> u32 {
        let share = (mixed(url) >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (1.0 + share * self.span).powi(5) - 1.0;
        (rank as u32).min(self.count - 1)
    }

    /// About how many of `urls` the largest server has.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "less than the number of URLs"
    )]
    pub(crate) fn urls_of_largest(self, urls: u64) -> u64 {
        let share = (2.0_f64.powf(0.2) - 1.0) / self.span.max(f64::MIN_POSITIVE);
        (urls as f64 * share.min(1.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_the_sizes_that_were_foretold() {
        let (servers, urls) = (Servers::new(1000), 100_000);
        let mut sizes = vec![0_u64; 1000];
        for url in 0..urls {
            sizes[servers.of_url(url) as usize] += 1;
        }
        let foretold = servers.urls_of_largest(urls);
        assert!(
            sizes[0].abs_diff(foretold) < foretold / 20,
            "{} {foretold}",
            sizes[0]
        );
        assert!(sizes[999] < sizes[99] && sizes[99] < sizes[9] && sizes[9] < sizes[0]);
    }
}
