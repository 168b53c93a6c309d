//! A time as people are told it, in messages and explanations. Settings are written to the nanosecond; what is told is rounded down.

use std::time::Duration;

/// The time in whole units, the largest two.
#[must_use]
pub fn span(time: Duration) -> String {
    let rounded = if time < Duration::from_millis(1) {
        Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    } else if time < Duration::from_secs(10) {
        Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    } else {
        Duration::from_secs(time.as_secs())
    };
    let text = humantime::format_duration(rounded).to_string();
    let mut units = text.split(' ');
    match (units.next(), units.next()) {
        (Some(first), Some(second)) => format!("{first} {second}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_two_units_at_most() {
        for (time, told) in [
            (Duration::from_nanos(66_666_666_660), "1m 6s"),
            (Duration::from_nanos(1_234_567_890), "1s 234ms"),
            (Duration::from_micros(50), "50us"),
            (Duration::from_secs(86_461), "1day 1m"),
            (Duration::from_mins(2), "2m"),
        ] {
            assert_eq!(span(time), told);
        }
    }
}
