//! Bytes on their way between JavaScript and the program, and texts that stand for bytes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that wait to be fetched by the other side, each once.
#[derive(Debug, Default)]
pub(crate) struct Parcels(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    last: u64,
    all: HashMap<u64, Vec<u8>>,
}

impl Parcels {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts bytes there; the number fetches them.
    ///
    /// # Errors
    /// If with these there would be more than `limit`.
    pub(crate) fn put(&self, bytes: Vec<u8>, limit: usize) -> Result<u64, String> {
        let mut shelf = self.shelf();
        let lying: usize = shelf.all.values().map(Vec::len).sum();
        if lying.saturating_add(bytes.len()) > limit {
            return Err(too_large(bytes.len() as u64, limit));
        }
        shelf.last += 1;
        let id = shelf.last;
        shelf.all.insert(id, bytes);
        Ok(id)
    }

    /// Fetches bytes; none if they were fetched already.
    pub(crate) fn take(&self, id: u64) -> Option<Vec<u8>> {
        self.shelf().all.remove(&id)
    }
}

/// What is said of bytes that an extension cannot hold.
pub(crate) fn too_large(size: u64, limit: usize) -> String {
    format!("{size} bytes are more than the {} MB of memory that an extension may use", limit >> 20)
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The bytes that a text stands for. What does not belong to the encoding is passed over, as in Node.
///
/// # Errors
/// If the encoding is not known.
pub(crate) fn encode(text: &str, encoding: &str) -> Result<Vec<u8>, String> {
    let units = || text.encode_utf16();
    Ok(match encoding {
        "utf8" => text.as_bytes().to_vec(),
        "latin1" => units().map(|unit| unit.to_le_bytes()[0]).collect(),
        "utf16le" => units().flat_map(u16::to_le_bytes).collect(),
        "hex" => {
            let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let pairs = text.as_bytes().chunks_exact(2);
            pairs.map_while(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.last()?)?)).collect()
        }
        "base64" | "base64url" => from_base64(text),
        other => return Err(format!("the encoding {other} is not known")),
    })
}

fn from_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count).to_le_bytes()[0]);
        }
    }
    out
}

/// The text that stands for bytes.
///
/// # Errors
/// If the encoding is not known.
pub(crate) fn decode(bytes: &[u8], encoding: &str) -> Result<String, String> {
    Ok(match encoding {
        "utf8" => String::from_utf8_lossy(bytes).into_owned(),
        "latin1" => bytes.iter().copied().map(char::from).collect(),
        "ascii" => bytes.iter().map(|byte| char::from(byte & 0x7f)).collect(),
        "utf16le" => {
            let units = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
            char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        "hex" => hex(bytes),
        "base64" => to_base64(bytes, LETTERS, true),
        "base64url" => to_base64(bytes, URL_LETTERS, false),
        other => return Err(format!("the encoding {other} is not known")),
    })
}

/// Two digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn to_base64(bytes: &[u8], letters: &[u8; 64], pads: bool) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            match at <= three.len() {
                true => {
                    let letter = letters.get((bits >> (18 - 6 * at) & 63) as usize).copied();
                    out.push(char::from(letter.unwrap_or(b'A')));
                }
                false if pads => out.push('='),
                false => {}
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_bytes() {
        for (encoding, text, bytes) in [
            ("utf8", "aä€", &[97, 195, 164, 226, 130, 172][..]),
            ("latin1", "aä", &[97, 228]),
            ("utf16le", "a€", &[97, 0, 172, 32]),
            ("hex", "00ff7e", &[0, 255, 126]),
            ("base64", "", &[]),
            ("base64", "+w==", &[251]),
            ("base64", "+/8=", &[251, 255]),
            ("base64", "+/8A", &[251, 255, 0]),
            ("base64url", "-_8", &[251, 255]),
        ] {
            assert_eq!(encode(text, encoding).unwrap(), bytes, "{encoding}");
            assert_eq!(decode(bytes, encoding).unwrap(), text, "{encoding}");
        }
        assert_eq!(encode("0g", "hex").unwrap(), b"");
        assert_eq!(encode("-_ 8\n", "base64").unwrap(), [251, 255]);
        assert!(encode("", "klingon").is_err() && decode(&[], "klingon").is_err());
    }

    #[test]
    fn bytes_are_fetched_once_and_do_not_pile_up() {
        let parcels = Parcels::default();
        let id = parcels.put(vec![1; 6], 10).unwrap();
        assert!(parcels.put(vec![1; 5], 10).is_err());
        assert_eq!(parcels.take(id), Some(vec![1; 6]));
        assert_eq!(parcels.take(id), None);
        assert!(parcels.put(vec![1; 10], 10).is_ok());
    }
}
