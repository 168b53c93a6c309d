//! Dates of cookies, in whatever form servers write them: RFC 6265, section 5.1.1.

use std::time::SystemTime;

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Reads a date as browsers do; none where it has no day, month, year or time, or says what does not exist.
pub(super) fn parse(text: &[u8]) -> Option<SystemTime> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter =
        |byte: &u8| matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = clock(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1..=2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2..=4)
        {
            year = Some(found);
        }
    }
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year => year,
    };
    let (hour, minute, second) = time?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    if year < 1601 || !is_time {
        return None;
    }
    let small = |number: u16| i8::try_from(number).ok();
    let date = Date::new(i16::try_from(year).ok()?, month?, small(day?)?).ok()?;
    let moment = date.at(small(hour)?, small(minute)?, small(second)?, 0);
    let moment = TimeZone::UTC.to_timestamp(moment).ok()?;
    Some(moment.into())
}

/// The digits that a token begins with, if there are so many and no digit follows.
fn number(token: &[u8], digits: std::ops::RangeInclusive<usize>) -> Option<u16> {
    let length = token
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !digits.contains(&length) {
        return None;
    }
    str::from_utf8(&token[..length]).ok()?.parse().ok()
}

fn clock(token: &[u8]) -> Option<(u16, u16, u16)> {
    let mut parts = token.splitn(3, |byte| *byte == b':');
    let mut whole = || {
        let part = parts.next()?;
        number(part, 1..=2).filter(|_| part.len() <= 2)
    };
    let (hour, minute) = (whole()?, whole()?);
    Some((hour, minute, number(parts.next()?, 1..=2)?))
}

fn month_of(token: &[u8]) -> Option<i8> {
    const MONTHS: [&[u8]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let start = token.get(..3)?.to_ascii_lowercase();
    (1..)
        .zip(MONTHS)
        .find(|(_, month)| **month == *start)
        .map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_form_that_servers_write() {
        let then = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT",
            "6 November 1994 8:49:37",
            "1994 nov 06 08:49:37junk",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(then), "{text}");
        }
        for text in [
            "",
            "soon",
            "Sun, 06 Nov 1994",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1600 08:49:37 GMT",
            "0",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
