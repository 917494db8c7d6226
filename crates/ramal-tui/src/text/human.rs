//! Numbers and times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A number of bytes in decimal units: `999 B`, `1.2 MB`, `34 GB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    scaled(bytes, &[" kB", " MB", " GB", " TB", " PB", " EB"], 10)
}

/// A number with its thousands set apart: `1,234`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number in at most five columns: exact below ten thousand (`1,234`), then
/// `12.3k`, `123k`, `1.2M`, `123B`.
pub fn short_count(number: u64) -> String {
    if number < 10_000 {
        return count(number);
    }
    scaled(number, &["k", "M", "B", "T", "Q", "E"], 100)
}

/// The number in the unit that leaves less than a thousand, and one decimal if
/// what is left is below `decimal_below`.
fn scaled(number: u64, units: &[&str], decimal_below: u128) -> String {
    let number = u128::from(number);
    let mut scale = 1000;
    for (index, unit) in units.iter().enumerate() {
        let tenths = (number * 10 + scale / 2) / scale;
        if tenths < decimal_below * 10 {
            return format!("{}.{}{unit}", tenths / 10, tenths % 10);
        }
        let whole = (number + scale / 2) / scale;
        if whole < 1000 || index + 1 == units.len() {
            return format!("{whole}{unit}");
        }
        scale *= 1000;
    }
    number.to_string()
}

/// How long ago something was, in its largest unit: `now`, `5m`, `3h`, `2d`,
/// `1w`, `1mo`, `1y`. What is still to come is `now`.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    let minutes = seconds / 60;
    let hours = minutes / 60;
    let days = hours / 24;
    if minutes < 1 {
        "now".to_owned()
    } else if hours < 1 {
        format!("{minutes}m")
    } else if days < 1 {
        format!("{hours}h")
    } else if days < 7 {
        format!("{days}d")
    } else if days < 30 {
        format!("{}w", days / 7)
    } else if days < 365 {
        format!("{}mo", (days * 12 / 365).max(1))
    } else {
        format!("{}y", days / 365)
    }
}

/// A sum of dollars: `$0.12`, `$1,234.50`. Less than a cent is `<$0.01`, so
/// that it does not look like nothing; what is no sum at all is `$?`.
pub fn cost(dollars: f64) -> String {
    let sign = if dollars < 0.0 { "-" } else { "" };
    let dollars = dollars.abs();
    if !dollars.is_finite() {
        return "$?".to_owned();
    }
    if dollars == 0.0 {
        return "$0.00".to_owned();
    }
    if dollars < 0.005 {
        return if sign.is_empty() { "<$0.01" } else { "-$0.00" }.to_owned();
    }
    if dollars >= 1e12 {
        return format!("{sign}${dollars:.1e}");
    }
    // Exact: a whole number of this size fits both types.
    let cents = (dollars * 100.0).round() as u64;
    format!("{sign}${}.{:02}", count(cents / 100), cents % 100)
}

/// The time zone of the machine; UTC if it has none that can be found.
pub fn local_zone() -> TimeZone {
    TimeZone::try_system().unwrap_or(TimeZone::UTC)
}

/// A time as short as it can be told from `now`: `14:03` on the same day,
/// `Mar 4 14:03` in the same year, otherwise `2024-03-04`.
pub fn time(now: Timestamp, then: Timestamp, zone: &TimeZone) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let today = zone.to_datetime(now).date();
    let then = zone.to_datetime(then);
    let (hour, minute) = (then.hour(), then.minute());
    let month = usize::try_from(then.month() - 1).ok().and_then(|index| MONTHS.get(index));
    match month {
        _ if then.date() == today => format!("{hour:02}:{minute:02}"),
        Some(month) if then.year() == today.year() => {
            format!("{month} {} {hour:02}:{minute:02}", then.day())
        }
        _ => format!("{:04}-{:02}-{:02}", then.year(), then.month(), then.day()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn sizes() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1234, "1.2 kB"),
            (9949, "9.9 kB"),
            (9950, "10 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (1_234_567, "1.2 MB"),
            (34_000_000_000, "34 GB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(size(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn counts() {
        for (number, exact, short) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1234, "1,234", "1,234"),
            (9999, "9,999", "9,999"),
            (10_000, "10,000", "10.0k"),
            (12_345, "12,345", "12.3k"),
            (99_949, "99,949", "99.9k"),
            (99_950, "99,950", "100k"),
            (999_499, "999,499", "999k"),
            (999_500, "999,500", "1.0M"),
            (12_345_678, "12,345,678", "12.3M"),
            (123_456_789_000, "123,456,789,000", "123B"),
            (u64::MAX, "18,446,744,073,709,551,615", "18.4E"),
        ] {
            assert_eq!(count(number), exact, "{number}");
            assert_eq!(short_count(number), short, "{number}");
            assert!(short.len() <= 5);
        }
    }

    #[test]
    fn ages() {
        let now = at("2024-03-04T14:03:00Z");
        let (minute, hour, day) = (60, 3600, 86_400);
        for (seconds, expected) in [
            (-5 * day, "now"),
            (0, "now"),
            (59, "now"),
            (minute, "1m"),
            (hour - 1, "59m"),
            (3 * hour, "3h"),
            (day - 1, "23h"),
            (2 * day, "2d"),
            (7 * day, "1w"),
            (29 * day, "4w"),
            (30 * day, "1mo"),
            (61 * day, "2mo"),
            (364 * day, "11mo"),
            (365 * day, "1y"),
            (800 * day, "2y"),
        ] {
            let then = Timestamp::from_second(now.as_second() - seconds).unwrap();
            assert_eq!(age(now, then), expected, "{seconds}");
        }
        assert_eq!(age(Timestamp::MAX, Timestamp::MIN), "20012y");
    }

    #[test]
    fn costs() {
        for (dollars, expected) in [
            (0.0, "$0.00"),
            (-0.0, "$0.00"),
            (0.0001, "<$0.01"),
            (0.005, "$0.01"),
            (0.12, "$0.12"),
            (0.999, "$1.00"),
            (1234.5, "$1,234.50"),
            (-1.5, "-$1.50"),
            (-0.001, "-$0.00"),
            (1e300, "$1.0e300"),
            (f64::NAN, "$?"),
            (f64::INFINITY, "$?"),
        ] {
            assert_eq!(cost(dollars), expected, "{dollars}");
        }
    }

    #[test]
    fn times() {
        let now = at("2024-03-04T20:30:00Z");
        let east = TimeZone::fixed(jiff::tz::offset(5));
        for (then, utc, eastern) in [
            ("2024-03-04T14:03:59Z", "14:03", "Mar 4 19:03"),
            ("2024-03-04T21:00:00Z", "21:00", "02:00"),
            ("2024-03-03T23:59:00Z", "Mar 3 23:59", "Mar 4 04:59"),
            ("2024-01-31T00:00:00Z", "Jan 31 00:00", "Jan 31 05:00"),
            ("2023-12-31T22:00:00Z", "2023-12-31", "Jan 1 03:00"),
            ("2025-03-04T14:03:00Z", "2025-03-04", "2025-03-04"),
        ] {
            assert_eq!(time(now, at(then), &TimeZone::UTC), utc, "{then}");
            assert_eq!(time(now, at(then), &east), eastern, "{then}");
        }
        // Nothing a file can say is out of reach.
        for extreme in [Timestamp::MIN, Timestamp::MAX] {
            assert!(!time(now, extreme, &local_zone()).is_empty());
        }
    }
}
