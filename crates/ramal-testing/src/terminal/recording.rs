//! All that happened in a terminal, with times; as a file that asciinema plays.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

/// All that happened in a terminal, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Columns and rows in the beginning.
    pub size: (u16, u16),
    /// What happened.
    pub events: Vec<Event>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Since the start.
    pub at: Duration,
    /// What.
    pub happened: Happened,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// The program wrote.
    Output(Vec<u8>),
    /// Somebody typed.
    Input(Vec<u8>),
    /// The window got another size: columns and rows.
    Resize(u16, u16),
    /// Somebody gave the moment a name.
    Mark(String),
}

impl Recording {
    pub(crate) fn new(size: (u16, u16)) -> Recording {
        Recording { size, events: Vec::new() }
    }

    pub(crate) fn push(&mut self, at: Duration, happened: Happened) {
        self.events.push(Event { at, happened });
    }

    /// All that the program wrote.
    pub fn output(&self) -> Vec<u8> {
        let written = self.events.iter().filter_map(|event| match &event.happened {
            Happened::Output(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        written.collect::<Vec<_>>().concat()
    }

    /// As a file of asciinema's second version. Bytes that are no text become U+FFFD, as the format knows text
    /// only; a character that came in two pieces is written with the second.
    pub fn to_cast(&self) -> String {
        let mut cast = json!({"version": 2, "width": self.size.0, "height": self.size.1}).to_string();
        let mut held = Vec::new();
        for event in &self.events {
            let (kind, data) = match &event.happened {
                Happened::Output(bytes) => {
                    held.extend_from_slice(bytes);
                    ("o", whole_text(&mut held))
                }
                Happened::Input(bytes) => ("i", String::from_utf8_lossy(bytes).into_owned()),
                Happened::Resize(columns, rows) => ("r", format!("{columns}x{rows}")),
                Happened::Mark(name) => ("m", name.clone()),
            };
            let _ = write!(cast, "\n{}", line(event.at, kind, &data));
        }
        if let (false, Some(last)) = (held.is_empty(), self.events.last()) {
            let _ = write!(cast, "\n{}", line(last.at, "o", &String::from_utf8_lossy(&held)));
        }
        cast.push('\n');
        cast
    }

    /// Reads such a file. None if it is not one.
    pub fn from_cast(text: &str) -> Option<Recording> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let head: Value = serde_json::from_str(lines.next()?).ok()?;
        let number = |value: &Value| value.as_u64().and_then(|it| u16::try_from(it).ok());
        let mut recording = Recording::new((number(&head["width"])?, number(&head["height"])?));
        for line in lines {
            let value: Value = serde_json::from_str(line).ok()?;
            let at = Duration::try_from_secs_f64(value[0].as_f64()?).ok()?;
            let data = value[2].as_str()?;
            let happened = match value[1].as_str()? {
                "o" => Happened::Output(data.into()),
                "i" => Happened::Input(data.into()),
                "m" => Happened::Mark(data.into()),
                "r" => {
                    let (columns, rows) = data.split_once('x')?;
                    Happened::Resize(columns.parse().ok()?, rows.parse().ok()?)
                }
                _ => continue,
            };
            recording.push(Duration::from_micros((at.as_secs_f64() * 1e6).round() as u64), happened);
        }
        Some(recording)
    }
}

fn line(at: Duration, kind: &str, data: &str) -> String {
    // By hand, since the times of all lines are to have the same form.
    format!("[{}.{:06}, \"{kind}\", {}]", at.as_secs(), at.subsec_micros(), Value::from(data))
}

/// Takes what is whole; the beginning of a character stays.
fn whole_text(held: &mut Vec<u8>) -> String {
    let cut = match std::str::from_utf8(held) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) => held.len(),
        Err(_) => held.utf8_chunks().fold(0, |at, chunk| {
            let invalid = chunk.invalid();
            let is_beginning = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            let invalid = if is_beginning { 0 } else { invalid.len() };
            at + chunk.valid().len() + invalid
        }),
    };
    let rest = held.split_off(cut);
    let text = String::from_utf8_lossy(held).into_owned();
    *held = rest;
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Recording {
        let mut recording = Recording::new((20, 5));
        let at = Duration::from_micros;
        recording.push(at(0), Happened::Output(b"a\x1b[31m\"".to_vec()));
        recording.push(at(1_500_000), Happened::Input(b"\x03".to_vec()));
        recording.push(at(1_500_001), Happened::Resize(10, 3));
        recording.push(at(2_000_000), Happened::Mark("tree".into()));
        recording.push(at(62_000_000), Happened::Output("漢\r\n".into()));
        recording
    }

    #[test]
    fn a_cast_is_what_asciinema_wants() {
        let expected = r#"{"height":5,"version":2,"width":20}
[0.000000, "o", "a\u001b[31m\""]
[1.500000, "i", "\u0003"]
[1.500001, "r", "10x3"]
[2.000000, "m", "tree"]
[62.000000, "o", "漢\r\n"]
"#;
        assert_eq!(recorded().to_cast(), expected);
    }

    #[test]
    fn what_was_written_is_read_again() {
        assert_eq!(Recording::from_cast(&recorded().to_cast()), Some(recorded()));
        assert_eq!(Recording::from_cast("no cast"), None);
    }

    #[test]
    fn a_character_in_pieces_is_whole() {
        let mut recording = Recording::new((20, 5));
        for byte in "é\u{1f333}".bytes().chain(*b"\xffx\xe6") {
            recording.push(Duration::ZERO, Happened::Output(vec![byte]));
        }
        let read = Recording::from_cast(&recording.to_cast()).unwrap();
        assert_eq!(String::from_utf8(read.output()).unwrap(), "é\u{1f333}\u{fffd}x\u{fffd}");
    }
}
