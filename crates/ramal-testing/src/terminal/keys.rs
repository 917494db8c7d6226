//! Keys by their names, as a terminal sends them.

/// In which form keys are sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Form {
    /// Kitty's flags; 0 is the legacy form.
    pub(crate) flags: u16,
    /// Arrows, Home and End are sent as for an application (DECCKM).
    pub(crate) has_application_cursor: bool,
}

const DISAMBIGUATE: u16 = 1;
const EVENTS: u16 = 2;
const ALTERNATES: u16 = 4;
const ALL: u16 = 8;
const TEXT: u16 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Modifiers {
    /// As terminals count them: 1 is none.
    fn number(self) -> u16 {
        1 + u16::from(self.shift) + 2 * u16::from(self.alt) + 4 * u16::from(self.ctrl)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Char(char),
    /// `CSI letter`
    Letter(char),
    /// `CSI number ~`
    Number(u16),
    /// F1 to F4.
    Function(char),
    /// Enter, Tab, Backspace, Escape: one byte of the legacy form, whose number kitty uses, too.
    Byte(u8),
}

/// What the terminal sends when that key is pressed and let go: `ctrl+left`, `alt+enter`, `shift+l`, `esc`.
///
/// # Panics
///
/// If there is no such key.
#[track_caller]
pub(crate) fn bytes(name: &str, form: Form) -> Vec<u8> {
    let (modifiers, code) = parse(name).unwrap_or_else(|| panic!("there is no key `{name}`"));
    let sent = if form.flags == 0 { legacy(modifiers, code, form) } else { kitty(modifiers, code, form) };
    sent.into_bytes()
}

fn parse(name: &str) -> Option<(Modifiers, Code)> {
    let mut modifiers = Modifiers::default();
    let mut rest = name;
    while let Some((first, after)) =
        rest.split_once('+').filter(|(first, after)| !first.is_empty() && !after.is_empty())
    {
        match first {
            "shift" => modifiers.shift = true,
            "alt" => modifiers.alt = true,
            "ctrl" => modifiers.ctrl = true,
            _ => return None,
        }
        rest = after;
    }
    let mut letters = rest.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        if !letter.is_uppercase() {
            return Some((modifiers, Code::Char(letter)));
        }
        modifiers.shift = true;
        return Some((modifiers, Code::Char(letter.to_lowercase().next()?)));
    }
    let code = match rest {
        "esc" | "escape" => Code::Byte(0x1b),
        "enter" | "return" => Code::Byte(b'\r'),
        "tab" => Code::Byte(b'\t'),
        "backspace" => Code::Byte(0x7f),
        "space" => Code::Char(' '),
        "up" => Code::Letter('A'),
        "down" => Code::Letter('B'),
        "right" => Code::Letter('C'),
        "left" => Code::Letter('D'),
        "home" => Code::Letter('H'),
        "end" => Code::Letter('F'),
        "insert" => Code::Number(2),
        "delete" => Code::Number(3),
        "pageup" | "pageUp" => Code::Number(5),
        "pagedown" | "pageDown" => Code::Number(6),
        "f1" => Code::Function('P'),
        "f2" => Code::Function('Q'),
        "f3" => Code::Function('R'),
        "f4" => Code::Function('S'),
        "f5" => Code::Number(15),
        "f6" => Code::Number(17),
        "f7" => Code::Number(18),
        "f8" => Code::Number(19),
        "f9" => Code::Number(20),
        "f10" => Code::Number(21),
        "f11" => Code::Number(23),
        "f12" => Code::Number(24),
        _ => return None,
    };
    Some((modifiers, code))
}

fn legacy(modifiers: Modifiers, code: Code, form: Form) -> String {
    let number = modifiers.number();
    let escape = if modifiers.alt { "\x1b" } else { "" };
    match code {
        Code::Char(letter) if modifiers.ctrl => format!("{escape}{}", control(letter)),
        Code::Char(letter) => format!("{escape}{}", shifted(letter, modifiers)),
        Code::Byte(b'\t') if modifiers.shift => format!("{escape}\x1b[Z"),
        Code::Byte(0x7f) if modifiers.ctrl => format!("{escape}\x08"),
        Code::Byte(byte) => format!("{escape}{}", char::from(byte)),
        Code::Letter(letter) if number == 1 && form.has_application_cursor => format!("\x1bO{letter}"),
        Code::Letter(letter) if number == 1 => format!("\x1b[{letter}"),
        Code::Function(letter) if number == 1 => format!("\x1bO{letter}"),
        Code::Letter(letter) | Code::Function(letter) => format!("\x1b[1;{number}{letter}"),
        Code::Number(key) if number == 1 => format!("\x1b[{key}~"),
        Code::Number(key) => format!("\x1b[{key};{number}~"),
    }
}

/// The character that Ctrl makes of it, as xterm does; where it makes none, itself.
fn control(letter: char) -> char {
    match letter {
        'a'..='z' | '@' | '[' | '\\' | ']' | '^' | '_' => {
            char::from(letter.to_ascii_uppercase() as u8 & 0x1f)
        }
        ' ' | '2' => '\0',
        '3'..='7' => char::from(letter as u8 - b'3' + 0x1b),
        '8' | '?' => '\x7f',
        '/' | '-' => '\x1f',
        other => other,
    }
}

fn shifted(letter: char, modifiers: Modifiers) -> String {
    if modifiers.shift { letter.to_uppercase().collect() } else { letter.to_string() }
}

/// <https://sw.kovidgoyal.net/kitty/keyboard-protocol/>
fn kitty(modifiers: Modifiers, code: Code, form: Form) -> String {
    let is_text = matches!(code, Code::Char(_)) && !modifiers.ctrl && !modifiers.alt;
    let is_plain_byte = matches!(code, Code::Byte(byte) if byte != 0x1b) && modifiers.number() == 1;
    let is_escaped = form.flags & ALL != 0
        || (form.flags & DISAMBIGUATE != 0 && !is_text && !is_plain_byte)
        // Without disambiguation these are the keys that have an escaped form anyway.
        || matches!(code, Code::Letter(_) | Code::Number(_) | Code::Function(_));
    if !is_escaped {
        return legacy(modifiers, code, form);
    }
    let mut sent = escaped(modifiers, code, form.flags, "");
    if form.flags & EVENTS != 0 {
        sent.push_str(&escaped(modifiers, code, form.flags & !TEXT, ":3"));
    }
    sent
}

fn escaped(modifiers: Modifiers, code: Code, flags: u16, event: &str) -> String {
    let number = modifiers.number();
    let (first, last) = match code {
        Code::Char(letter) => (alternates(letter, modifiers, flags), 'u'),
        Code::Byte(0x7f) => ("127".into(), 'u'),
        Code::Byte(byte) => (byte.to_string(), 'u'),
        // F3 is also the answer to a question after the cursor, and has a number here.
        Code::Function('R') => ("13".into(), '~'),
        Code::Letter(letter) | Code::Function(letter) => ("1".to_owned(), letter),
        Code::Number(key) => (key.to_string(), '~'),
    };
    let text = match code {
        Code::Char(letter) if flags & (ALL | TEXT) == ALL | TEXT && !modifiers.ctrl && !modifiers.alt => {
            shifted(letter, modifiers).chars().next().map(|it| format!(";{}", u32::from(it)))
        }
        _ => None,
    };
    let first =
        if last != 'u' && last != '~' && number == 1 && event.is_empty() { String::new() } else { first };
    let second = match (number, event, &text) {
        (1, "", None) => String::new(),
        (1, "", Some(_)) => ";".into(),
        _ => format!(";{number}{event}"),
    };
    format!("\x1b[{first}{second}{}{last}", text.unwrap_or_default())
}

fn alternates(letter: char, modifiers: Modifiers, flags: u16) -> String {
    let code = u32::from(letter);
    let upper = letter.to_uppercase().next().filter(|upper| *upper != letter);
    match upper {
        Some(upper) if modifiers.shift && flags & ALTERNATES != 0 => format!("{code}:{}", u32::from(upper)),
        _ => code.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(flags: u16, cases: &[(&str, &str)]) {
        for (name, sent) in cases {
            let form = Form { flags, has_application_cursor: false };
            let got = String::from_utf8(bytes(name, form)).unwrap();
            assert_eq!(got, *sent, "{name} with flags {flags}");
        }
    }

    #[test]
    fn in_the_legacy_form() {
        check(
            0,
            &[
                ("a", "a"),
                ("shift+l", "L"),
                ("L", "L"),
                ("ctrl+c", "\x03"),
                ("ctrl+shift+o", "\x0f"),
                ("ctrl+space", "\0"),
                ("ctrl+_", "\x1f"),
                ("alt+f", "\x1bf"),
                ("alt+shift+f", "\x1bF"),
                ("esc", "\x1b"),
                ("enter", "\r"),
                ("shift+enter", "\r"),
                ("alt+enter", "\x1b\r"),
                ("tab", "\t"),
                ("shift+tab", "\x1b[Z"),
                ("backspace", "\x7f"),
                ("ctrl+backspace", "\x08"),
                ("alt+backspace", "\x1b\x7f"),
                ("up", "\x1b[A"),
                ("ctrl+left", "\x1b[1;5D"),
                ("alt+left", "\x1b[1;3D"),
                ("pageDown", "\x1b[6~"),
                ("shift+pageup", "\x1b[5;2~"),
                ("delete", "\x1b[3~"),
                ("f1", "\x1bOP"),
                ("ctrl+f1", "\x1b[1;5P"),
                ("f12", "\x1b[24~"),
                ("+", "+"),
                ("alt++", "\x1b+"),
            ],
        );
    }

    #[test]
    fn with_kittys_disambiguation() {
        check(
            1,
            &[
                ("a", "a"),
                ("shift+l", "L"),
                ("ctrl+c", "\x1b[99;5u"),
                ("ctrl+shift+o", "\x1b[111;6u"),
                ("alt+f", "\x1b[102;3u"),
                ("esc", "\x1b[27u"),
                ("enter", "\r"),
                ("shift+enter", "\x1b[13;2u"),
                ("ctrl+backspace", "\x1b[127;5u"),
                ("shift+tab", "\x1b[9;2u"),
                ("up", "\x1b[A"),
                ("ctrl+left", "\x1b[1;5D"),
                ("f3", "\x1b[13~"),
                ("pagedown", "\x1b[6~"),
            ],
        );
    }

    #[test]
    fn with_more_of_kittys_flags() {
        check(3, &[("a", "a"), ("esc", "\x1b[27u\x1b[27;1:3u"), ("up", "\x1b[A\x1b[1;1:3A")]);
        check(5, &[("ctrl+shift+o", "\x1b[111:79;6u"), ("shift+l", "L")]);
        check(9, &[("a", "\x1b[97u"), ("shift+l", "\x1b[108;2u"), ("enter", "\x1b[13u")]);
        check(13, &[("shift+l", "\x1b[108:76;2u")]);
        check(25, &[("a", "\x1b[97;;97u"), ("shift+l", "\x1b[108;2;76u")]);
    }

    #[test]
    fn arrows_for_an_application() {
        let form = Form { flags: 0, has_application_cursor: true };
        assert_eq!(bytes("up", form), b"\x1bOA");
        assert_eq!(bytes("ctrl+up", form), b"\x1b[1;5A");
    }

    #[test]
    #[should_panic(expected = "there is no key `hyper+x`")]
    fn a_key_that_is_not() {
        bytes("hyper+x", Form::default());
    }
}
