//! Standard output: buffered, and JSON that may be printed to a terminal.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// Bytes that are collected before they are written.
const BUFFER: usize = 64 * 1024;

/// Runs something that writes to standard output, and writes out what is left in the buffer, also
/// when it fails: what was found before an error is worth having.
///
/// # Errors
/// What went wrong inside, otherwise what went wrong while writing.
pub(crate) fn to_stdout<T>(
    run: impl FnOnce(&mut dyn Write) -> Result<T, anyhow::Error>,
) -> Result<T, anyhow::Error> {
    // Not locked: a command with threads of its own may write past this buffer.
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout());
    let done = run(&mut out);
    let flushed = out.flush();
    let done = done?;
    flushed?;
    Ok(done)
}

/// Writes a value as one line of JSON in which nothing acts on a terminal: control characters,
/// bidirectional controls and invisible ones are `\u` escapes, in raw values, too.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Harmless);
    value.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Writes JSON text as [`json_line`] writes a value, without the newline.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn raw_json(out: &mut dyn Write, json: &str) -> io::Result<()> {
    write_harmless(out, json)
}

/// Writes compact JSON, harmless characters only.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        write_harmless(writer, text)
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, json: &str) -> io::Result<()> {
        write_harmless(writer, json)
    }
}

/// Outside of strings, JSON has none of the characters that are escaped here, so that whole values
/// may pass as well as parts of strings.
fn write_harmless<W: ?Sized + Write>(writer: &mut W, text: &str) -> io::Result<()> {
    let mut done = 0;
    for (at, c) in text.char_indices().filter(|&(_, c)| acts_on_terminals(c)) {
        writer.write_all(&text.as_bytes()[done..at])?;
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(writer, "\\u{unit:04x}")?;
        }
        done = at + c.len_utf8();
    }
    writer.write_all(&text.as_bytes()[done..])
}

fn acts_on_terminals(c: char) -> bool {
    match c {
        // White space between the tokens of a raw value.
        '\t' | '\n' | '\r' | ' '..='~' => false,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_does_nothing_to_a_terminal_and_says_the_same() {
        let text = "a\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{e0041}\u{2028}\"\\\n é 🌿 end";
        let mut out = Vec::new();
        json_line(&mut out, &text).unwrap();
        let json = String::from_utf8(out).unwrap();
        assert!(json.trim_end().chars().all(|c| !acts_on_terminals(c) && !c.is_control()), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);

        let raw = serde_json::value::RawValue::from_string("{\"a\":\"\u{9b}x\u{202e}\"}".into()).unwrap();
        let mut out = Vec::new();
        json_line(&mut out, &raw).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"a\":\"\\u009bx\\u202e\"}\n");
    }
}
