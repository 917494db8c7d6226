//! Damaged lines that follow one another, and the whole entries that can be found in them.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::Flaw;
use crate::entry::envelope::{Envelope, ParentRef};
use crate::entry::{Header, Kind, time};
use crate::log::scan::{self, Line, What};

/// Damaged lines are looked at together up to so many bytes; a line alone may be longer.
const LARGEST: u64 = 16 * 1024 * 1024;
/// How often the bytes may be gone over in search of entries, on average.
const PATIENCE: usize = 32;

/// Damaged lines with no other lines between them.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) start: u64,
    /// Behind the last byte of the last line, before its line end.
    pub(super) end: u64,
    pub(super) lines: Vec<DamagedLine>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct DamagedLine {
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) flaw: Flaw,
}

impl Block {
    /// Bytes from the first line to the last.
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Gathers damaged lines into blocks as a log goes by.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    current: Option<Block>,
}

impl Blocks {
    /// Takes in the next line that is not blank; answers a block that ended before it.
    pub(super) fn take(&mut self, line: &Line) -> Option<Block> {
        let What::Damaged(flaw) = line.what else { return self.current.take() };
        let damaged = DamagedLine { number: line.number, offset: line.offset, len: line.len, flaw };
        let end = line.offset + line.len;
        match &mut self.current {
            Some(block) if end - block.start <= LARGEST => {
                block.end = end;
                block.lines.push(damaged);
                None
            }
            _ => self.current.replace(Block { start: line.offset, end, lines: vec![damaged] }),
        }
    }

    /// The block that the log ended with.
    pub(super) fn finish(&mut self) -> Option<Block> {
        self.current.take()
    }
}

/// Something whole in damaged bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) at: Range<usize>,
    pub(super) is_header: bool,
}

/// The whole entries and headers in damaged bytes, in their order.
///
/// An entry may begin anywhere and go on over line ends. Objects inside other whole objects are not
/// looked at: they are content. The work is linear: bytes made to be gone over again and again cost
/// what stands behind them.
pub(super) fn pieces(bytes: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut budget = bytes.len().saturating_mul(PATIENCE).saturating_add(64 * 1024);
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'{', rest)) {
        let start = at + found;
        let mut values = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter::<IgnoredAny>();
        let result = values.next();
        let end = start + values.byte_offset();
        let cost = match result {
            Some(Ok(_)) => {
                let object = &bytes[start..end];
                if let Some(is_header) = header_or_entry(object) {
                    pieces.push(Piece { at: start..end, is_header });
                }
                at = end;
                end - start
            }
            other => {
                at = start + 1;
                match other {
                    Some(Err(error)) if error.line() == 1 && !error.is_eof() => error.column(),
                    _ => bytes.len() - start,
                }
            }
        };
        match budget.checked_sub(cost) {
            Some(left) => budget = left,
            None => break,
        }
    }
    pieces
}

fn header_or_entry(object: &[u8]) -> Option<bool> {
    match scan::classify(object) {
        What::Entry(envelope, _) if looks_like_entry(&envelope) => Some(false),
        What::Session(line) => Header::read(&line).map(|_| true),
        _ => None,
    }
}

/// Contract, section 14: an id and a `parentId`, or a known type with a timestamp.
fn looks_like_entry(envelope: &Envelope) -> bool {
    let known = envelope.kind != Kind::Unknown && envelope.time != time::UNREADABLE;
    known || (envelope.id.is_some() && envelope.parent != ParentRef::Missing)
}

/// A piece as one line.
pub(super) fn on_one_line(piece: &[u8]) -> Vec<u8> {
    // Line ends stand between tokens only: in a string they would have ended the search.
    piece.iter().map(|&b| if matches!(b, b'\n' | b'\r') { b' ' } else { b }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":1,"message":{"role":"user","content":"{\"type\":\"x\"}"}}"#;
    const B: &str = r#"{"type":"hologram","id":"b","parentId":"a","x":"\ud83d"}"#;

    #[test]
    fn whole_entries_are_found_in_damage() {
        let torn = &A[..A.len() - 30];
        let pretty = B.replace(',', ",\r\n ");
        let header = r#"{"type":"session","id":"s"}"#;
        for (bytes, want) in [
            (format!("{A}{B}"), vec![A, B]),
            (format!("{A}, {B}]"), vec![A, B]),
            (format!("[{A},{B}]"), vec![A, B]),
            (format!("\0\0{A}\0"), vec![A]),
            (format!("{torn}{B}"), vec![B]),
            (format!(r#"{{"type":"message","message":{B}"#), vec![B]),
            (format!("rubbish{header}{A}"), vec![header, A]),
            (format!("x{pretty}"), vec![&*pretty]),
            (format!(r#"{{"wrapped":{A}}}"#), vec![]),
            (format!(r#"{{"type":"hologram","id":"c"}}{}"#, r#"{"type":3}"#), vec![]),
            (torn.to_owned(), vec![]),
            (String::new(), vec![]),
        ] {
            let found: Vec<_> =
                pieces(bytes.as_bytes()).into_iter().map(|piece| bytes[piece.at].to_owned()).collect();
            assert_eq!(found, want, "{bytes}");
        }
        assert_eq!(on_one_line(pretty.as_bytes()), B.replace(',', ",   ").into_bytes());
    }

    #[test]
    fn invalid_utf8_is_no_hindrance() {
        let bytes = [b"x", A.as_bytes(), b"\xff"].concat();
        assert_eq!(pieces(&bytes), [Piece { at: 1..A.len() + 1, is_header: false }]);
        let inside = [b"x", &A.as_bytes()[..A.len() - 4], b"\xff", &A.as_bytes()[A.len() - 4..]].concat();
        assert_eq!(pieces(&inside).len(), 1);
    }

    #[test]
    fn nesting_costs_no_more_than_its_length() {
        for bytes in ["{".repeat(300_000), r#"{"a":"#.repeat(300_000)] {
            assert_eq!(pieces(bytes.as_bytes()), []);
        }
    }
}
