//! How long a provider asks to wait, read from the headers of its answer.

use std::time::Duration;

/// What a provider asks to wait by its headers; `header` answers the header of a name in lower case,
/// `now` is in milliseconds since 1970.
///
/// Looked for in this order: `retry-after-ms`, `retry-after` (seconds or a date), and the times at
/// which the limits that are used up are filled again (`x-ratelimit-…`, `anthropic-ratelimit-…`).
pub fn asked_wait<'a>(header: impl Fn(&str) -> Option<&'a str>, now: i64) -> Option<Duration> {
    if let Some(ms) = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok()) {
        return seconds(ms / 1000.0);
    }
    if let Some(wait) = header("retry-after").and_then(|text| retry_after(text, now)) {
        return Some(wait);
    }
    let used_up = |remaining: &str| header(remaining).is_some_and(|text| text.trim() == "0");
    let mut longest = None;
    for what in ["requests", "tokens"] {
        if used_up(&format!("x-ratelimit-remaining-{what}")) {
            longest = longest.max(header(&format!("x-ratelimit-reset-{what}")).and_then(duration));
        }
    }
    for what in ["requests", "tokens", "input-tokens", "output-tokens"] {
        if used_up(&format!("anthropic-ratelimit-{what}-remaining")) {
            let reset = header(&format!("anthropic-ratelimit-{what}-reset"));
            longest = longest.max(reset.and_then(ramal_session::time::parse).map(|time| until(time, now)));
        }
    }
    longest
}

/// Reads the value of `retry-after`: seconds, or a date of HTTP. `now` is in milliseconds since 1970;
/// a date that has passed asks for no wait.
pub fn retry_after(text: &str, now: i64) -> Option<Duration> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) => seconds(number),
        Err(_) => http_date(text).map(|time| until(time, now)),
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

fn until(time: i64, now: i64) -> Duration {
    Duration::from_millis(u64::try_from(time.saturating_sub(now)).unwrap_or(0))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, in milliseconds since 1970. The two obsolete spellings are not
/// used by any provider.
fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split_ascii_whitespace();
    let (day, month, year) = (words.next()?.parse::<u32>().ok()?, words.next()?, words.next()?);
    let (time, zone) = (words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    if zone != "GMT" || year.len() != 4 {
        return None;
    }
    ramal_session::time::parse(&format!("{year}-{month:02}-{day:02}T{time}.000Z"))
}

/// `6m0s`, `1.5s`, `120ms`, `1h2m`; a number alone is seconds.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if let Ok(number) = rest.parse::<f64>() {
        return seconds(number);
    }
    let mut sum = 0.0;
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(unit_at);
        let unit_end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        sum += number.parse::<f64>().ok()?
            * match unit {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return None,
            };
        rest = behind;
    }
    seconds(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 784_111_777_000;

    fn asked(headers: &[(&str, &'static str)]) -> Option<f64> {
        let find = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        asked_wait(find, NOW).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn every_spelling_of_a_wait_is_read() {
        assert_eq!(asked(&[("retry-after", "20")]), Some(20.0));
        assert_eq!(asked(&[("retry-after", "1.5")]), Some(1.5));
        assert_eq!(asked(&[("retry-after-ms", "1500"), ("retry-after", "9")]), Some(1.5));
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), Some(30.0));
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(0.0));
        let openai = [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0.5s")];
        assert_eq!(asked(&openai), Some(360.5));
        assert_eq!(
            asked(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "120ms")]),
            Some(0.12)
        );
        let anthropic = [
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "1994-11-06T08:50:37Z"),
        ];
        assert_eq!(asked(&anthropic), Some(60.0));
    }

    #[test]
    fn what_asks_for_no_wait_is_none() {
        for value in ["", "soon", "-1", "NaN", "inf", "1e400", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(asked(&[("retry-after", value)]), None, "{value}");
        }
        let left = [("x-ratelimit-remaining-requests", "5"), ("x-ratelimit-reset-requests", "9s")];
        assert_eq!(asked(&left), None);
        assert_eq!((duration("5x"), duration("ms"), duration("1.2.3s")), (None, None, None));
    }
}
