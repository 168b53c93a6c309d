//! Numbers on the command line that have bounds: a wrong one is answered with what is right.

use std::ops::RangeInclusive;
use std::str::FromStr;

use junkai_crawler::Settings;

/// Reads the number of a flag that is a setting, within the setting's bounds; the answer to a wrong one names the setting.
pub(crate) fn of_setting<T: FromStr>(
    name: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let Some(bounds) = Settings::bounds(name) else {
            return read(text, &(0..=u64::MAX)).map_err(must_be);
        };
        read(text, &bounds.range).map_err(|_| format!("{name} = {text}: {bounds}"))
    }
}

/// Reads a number within bounds.
pub(crate) fn within<T: FromStr>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| read(text, &range).map_err(must_be)
}

/// The number, or its bounds.
fn read<T: FromStr>(text: &str, range: &RangeInclusive<u64>) -> Result<T, RangeInclusive<u64>> {
    let is_within = text.parse().is_ok_and(|number| range.contains(&number));
    let number = text.parse().ok().filter(|_| is_within);
    number.ok_or_else(|| range.clone())
}

fn must_be(range: RangeInclusive<u64>) -> String {
    format!("must be {} to {}", range.start(), range.end())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn a_wrong_number_is_answered_with_setting_value_and_bounds() {
        let concurrency = of_setting::<NonZeroUsize>("crawl.concurrency");
        assert_eq!(concurrency("3"), Ok(NonZeroUsize::new(3).unwrap()));
        assert_eq!(concurrency("65536").map(NonZeroUsize::get), Ok(65_536));
        for wrong in ["0", "65537", "-1", "x", "", "1.5", "99999999999999999999"] {
            let expected = format!("crawl.concurrency = {wrong}: must be 1 to 65536; ");
            let said = concurrency(wrong).unwrap_err();
            assert!(said.starts_with(&expected), "{said}");
        }
        let small = within::<u32>(2..=9);
        assert_eq!(small("2"), Ok(2));
        assert_eq!(small("1"), Err("must be 2 to 9".to_owned()));
    }

    #[test]
    fn every_flag_that_is_a_setting_has_bounds() {
        for name in [
            "crawl.concurrency",
            "crawl.workers",
            "crawl.partitions",
            "crawl.candidates",
            "crawl.lookahead",
        ] {
            assert!(Settings::bounds(name).is_some(), "{name}");
        }
    }
}
