//! Times as they stand in entries, in milliseconds since 1970 (contract, sections 1 and 14).

use std::borrow::Cow;

use jiff::{Timestamp, civil};

/// The time of an entry that has none that can be read.
pub(crate) const UNREADABLE: i64 = i64::MIN;

/// Milliseconds since 1970 that a timestamp names: ISO 8601 date or date and time, any fraction,
/// `Z`, an offset or none (UTC).
pub fn parse(text: &str) -> Option<i64> {
    fast(text.as_bytes()).or_else(|| slow(text.trim()))
}

/// Milliseconds since 1970 of a JSON value: a timestamp, or a number of milliseconds.
pub(crate) fn parse_value(value: &[u8]) -> Option<i64> {
    match value {
        [b'"', inner @ .., b'"'] => parse_bytes(inner),
        _ => {
            let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
            // The range of a date in the programs that write numbers here.
            (number.abs() <= 8.64e15).then_some(number as i64)
        }
    }
}

/// What a JSON string names; `inner` is what stands between its quotes.
pub(crate) fn parse_bytes(inner: &[u8]) -> Option<i64> {
    fast(inner).or_else(|| slow(crate::json::decode(inner).trim()))
}

/// A time in the form that entries are written in: UTC, milliseconds, `Z`.
pub fn format(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default();
    format!("{time:.3}")
}

/// Now, in milliseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// `2025-04-06T11:58:29.055Z` and nothing else: the form that nearly every entry has.
fn fast(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let shape = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    // Looked at all together, without a branch for each: this is read for every entry.
    let mut odd = shape.iter().fold(false, |odd, &(at, byte)| odd | (text[at] != byte));
    let mut digit = |at: usize| {
        let digit = text[at].wrapping_sub(b'0');
        odd |= digit > 9;
        i64::from(digit)
    };
    let mut two = |at: usize| digit(at) * 10 + digit(at + 1);
    let (century, of_century, month, day) = (two(0), two(2), two(5), two(8));
    let (hour, minute, second, tens) = (two(11), two(14), two(17), two(20));
    let (year, ms) = (century * 100 + of_century, tens * 10 + digit(22));
    if odd {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970, counted in years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + ms)
}

fn slow(text: &str) -> Option<i64> {
    let text = &*short_fraction(text);
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    if let Ok(time) = text.parse::<civil::DateTime>() {
        return Some(jiff::tz::TimeZone::UTC.to_timestamp(time).ok()?.as_millisecond());
    }
    None
}

/// The text with no more digits behind the point than the library reads.
fn short_fraction(text: &str) -> Cow<'_, str> {
    const DIGITS: usize = 9;
    let Some((whole, rest)) = text.split_once(['.', ',']) else { return Cow::Borrowed(text) };
    let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.get(..DIGITS) {
        Some(digits) if rest.len() - zone.len() > DIGITS => Cow::Owned(format!("{whole}.{digits}{zone}")),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_that_can_be_read() {
        for (text, want) in [
            ("2025-04-06T11:58:29.055Z", Some(1_743_940_709_055)),
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("2024-02-29T12:00:00.000Z", Some(1_709_208_000_000)),
            ("2025-04-06T11:58:29Z", Some(1_743_940_709_000)),
            ("2025-04-06T11:58:29.0555555Z", Some(1_743_940_709_055)),
            ("2025-04-06T13:58:29.055+02:00", Some(1_743_940_709_055)),
            ("2025-04-06T11:58:29.055", Some(1_743_940_709_055)),
            ("2025-04-06", Some(1_743_897_600_000)),
            ("2025-02-29T12:00:00.000Z", None),
            ("2025-13-01T12:00:00.000Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(parse(text), want, "{text}");
        }
        assert_eq!(parse_value(b"1743940709055"), Some(1_743_940_709_055));
        assert_eq!(parse_value(b"null"), None);
        assert_eq!(parse_value(b"1e400"), None);
    }

    #[test]
    fn the_quick_way_agrees_with_the_library() {
        for day in 0..40_000 {
            let ms = day * 86_399_123;
            let text = format(ms);
            assert_eq!(text.len(), 24);
            assert_eq!(fast(text.as_bytes()), Some(ms), "{text}");
            assert_eq!(slow(&text), Some(ms), "{text}");
        }
    }
}
