//! Whether the terminal is dark or light.

use super::Rgb;

/// What text stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Background {
    /// Something dark; also assumed where nobody says.
    Dark,
    /// Something light.
    Light,
}

impl Background {
    /// The background that a colour makes: light if black can be read on it better than white.
    pub fn of(color: Rgb) -> Background {
        let is_light = color.contrast(Rgb(0, 0, 0)) > color.contrast(Rgb(255, 255, 255));
        if is_light { Background::Light } else { Background::Dark }
    }

    /// The best that is known: what the terminal answered, else what `COLORFGBG` says, else dark.
    pub fn choose(answered: Option<Rgb>, colorfgbg: Option<&str>) -> Background {
        answered
            .map(Background::of)
            .or_else(|| colorfgbg.and_then(Background::of_colorfgbg))
            .unwrap_or(Background::Dark)
    }

    /// What `COLORFGBG` says, in which some terminals leave the numbers of their colours: `15;0`, or
    /// `15;default;0`.
    pub fn of_colorfgbg(value: &str) -> Option<Background> {
        let index: u8 = value.rsplit(';').next()?.trim().parse().ok()?;
        // Rxvt's white is 7, and no dark scheme puts it behind its text.
        match index {
            7 | 15 => Some(Background::Light),
            0..16 => Some(Background::Dark),
            _ => Some(Background::of(Rgb::of_index(index))),
        }
    }

    /// The colour in a terminal's answer to the question for its background, `OSC 11 ; ?`. The answer may
    /// stand with or without its escape bytes, and anything else may stand around it.
    pub fn parse_answer(answer: &[u8]) -> Option<Rgb> {
        let start = find(answer, b"]11;")? + 4;
        let rest = &answer[start..];
        let end = rest.iter().position(|&byte| byte == 0x07 || byte == 0x1b || byte == 0x9c);
        let color = std::str::from_utf8(&rest[..end.unwrap_or(rest.len())]).ok()?;
        if color.starts_with('#') {
            return color.parse().ok();
        }
        let parts = color.strip_prefix("rgb:").or_else(|| color.strip_prefix("rgba:"))?;
        let mut parts = parts.split('/').map(scaled);
        Some(Rgb(parts.next()??, parts.next()??, parts.next()??))
    }
}

/// One to four hexadecimal digits as a part of a colour: `f`, `ff` and `ffff` are the most there is.
fn scaled(digits: &str) -> Option<u8> {
    if digits.is_empty() || digits.len() > 4 {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let most = (1u32 << (4 * digits.len())) - 1;
    u8::try_from((value * 255 + most / 2) / most).ok()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
