//! JSON for the tests, with nothing lost: exact numbers, repeated keys, lone surrogates.
//!
//! It shares no code with the library, so that the two check each other. Strings are WTF-8: a lone
//! surrogate is the three bytes that UTF-8 would give it.

use std::collections::BTreeMap;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Vec<u8>),
    List(Vec<Json>),
    Object(BTreeMap<Vec<u8>, Json>),
}

/// What becomes of numbers that a double does not hold exactly, and of repeated keys.
#[derive(Clone, Copy, PartialEq)]
pub enum Reading {
    /// Numbers as doubles, the last of repeated keys, lone surrogates as U+FFFD.
    Plain,
    /// `{"$num": text}` and `{"$dup": [[key, value], ...]}`.
    Exact,
}

pub fn text(text: &str) -> Json {
    Json::Text(text.as_bytes().to_vec())
}

pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value)).collect())
}

impl From<&str> for Json {
    fn from(value: &str) -> Json {
        text(value)
    }
}

impl From<Option<&str>> for Json {
    fn from(value: Option<&str>) -> Json {
        value.map_or(Json::Null, text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Json {
        Json::Int(value as i128)
    }
}

impl From<Vec<Json>> for Json {
    fn from(value: Vec<Json>) -> Json {
        Json::List(value)
    }
}

impl Json {
    /// A member; none if there is no such member or this is no object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(key.as_bytes()),
            _ => None,
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The text of a member that is a string.
    pub fn str(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_str)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub fn as_list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Json::Int(number) => Some(*number as f64),
            Json::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub fn members(&self) -> impl Iterator<Item = (&str, &Json)> {
        let members = match self {
            Json::Object(members) => Some(members),
            _ => None,
        };
        members
            .into_iter()
            .flatten()
            .map(|(key, value)| (std::str::from_utf8(key).unwrap_or("not UTF-8"), value))
    }

    /// As the canonical form has it: no blanks, keys sorted, not escaped to ASCII.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, false);
        out
    }

    /// As JSON text, lone surrogates escaped.
    pub fn to_text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out, true);
        String::from_utf8(out).unwrap()
    }

    fn write(&self, out: &mut Vec<u8>, escape_surrogates: bool) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(yes) => out.extend_from_slice(if *yes { b"true" } else { b"false" }),
            Json::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Json::Float(number) => out.extend_from_slice(float_text(*number).as_bytes()),
            Json::Text(bytes) => write_text(bytes, out, escape_surrogates),
            Json::List(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write(out, escape_surrogates);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write_text(key, out, escape_surrogates);
                    out.push(b':');
                    value.write(out, escape_surrogates);
                }
                out.push(b'}');
            }
        }
    }
}

/// The shortest text of a double, written as the vectors' author's tools write it.
pub fn float_text(number: f64) -> String {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{number}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

fn write_text(bytes: &[u8], out: &mut Vec<u8>, escape_surrogates: bool) {
    out.push(b'"');
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if escape_surrogates && byte == 0xED && bytes[at + 1] >= 0xA0 {
            let unit = 0xD000 | u32::from(bytes[at + 1] & 0x3F) << 6 | u32::from(bytes[at + 2] & 0x3F);
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            at += 3;
            continue;
        }
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
        at += 1;
    }
    out.push(b'"');
}

/// WTF-8 of what surrogate escapes and invalid bytes stand for.
pub fn push_unit(out: &mut Vec<u8>, unit: u32) {
    match char::from_u32(unit) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend_from_slice(&[
            0xE0 | (unit >> 12) as u8,
            0x80 | (unit >> 6 & 0x3F) as u8,
            0x80 | (unit & 0x3F) as u8,
        ]),
    }
}

/// Bytes as WTF-8, each byte that is no UTF-8 as the surrogate U+DC00 plus the byte.
pub fn escape_invalid(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            push_unit(&mut out, 0xDC00 + u32::from(*byte));
        }
    }
    out
}

/// Reads a JSON text in WTF-8. None if it is none.
pub fn read(bytes: &[u8], reading: Reading) -> Option<Json> {
    let mut reader = Reader { bytes, at: 0, reading };
    reader.blanks();
    let value = reader.value()?;
    reader.blanks();
    (reader.at == bytes.len()).then_some(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    reading: Reading,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, token: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(token).then(|| self.at += token.len())
    }

    fn value(&mut self) -> Option<Json> {
        match self.bytes.get(self.at)? {
            b'"' => self.string().map(Json::Text),
            b'{' => self.object(),
            b'[' => self.list(),
            b't' => self.eat(b"true").map(|()| Json::Bool(true)),
            b'f' => self.eat(b"false").map(|()| Json::Bool(false)),
            b'n' => self.eat(b"null").map(|()| Json::Null),
            _ => self.number(),
        }
    }

    fn list(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        self.at += 1;
        self.blanks();
        if self.eat(b"]").is_some() {
            return Some(Json::List(items));
        }
        loop {
            self.blanks();
            items.push(self.value()?);
            self.blanks();
            if self.eat(b",").is_none() {
                return self.eat(b"]").map(|()| Json::List(items));
            }
        }
    }

    fn object(&mut self) -> Option<Json> {
        let mut pairs: Vec<(Vec<u8>, Json)> = Vec::new();
        self.at += 1;
        self.blanks();
        if self.eat(b"}").is_none() {
            loop {
                self.blanks();
                if self.bytes.get(self.at) != Some(&b'"') {
                    return None;
                }
                let key = self.string()?;
                self.blanks();
                self.eat(b":")?;
                self.blanks();
                pairs.push((key, self.value()?));
                self.blanks();
                if self.eat(b",").is_none() {
                    self.eat(b"}")?;
                    break;
                }
            }
        }
        let count = pairs.len();
        let members: BTreeMap<_, _> = pairs.iter().cloned().collect();
        if self.reading == Reading::Exact && members.len() < count {
            let pair = |(key, value)| Json::List(vec![Json::Text(key), value]);
            return Some(object([("$dup", Json::List(pairs.into_iter().map(pair).collect()))]));
        }
        Some(Json::Object(members))
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.at += 1;
        loop {
            let start = self.at;
            let rest = &self.bytes[start..];
            let run = rest.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20)?;
            out.extend_from_slice(&rest[..run]);
            self.at += run + 1;
            match rest[run] {
                b'"' => break,
                b'\\' => self.escape(&mut out)?,
                _ => return None,
            }
        }
        Some(if self.reading == Reading::Plain { without_surrogates(&out) } else { out })
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let escape = *self.bytes.get(self.at)?;
        self.at += 1;
        out.push(match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = self.unit()?;
                if (0xD800..0xDC00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u") {
                    let back = self.at;
                    self.at += 2;
                    match self.unit()? {
                        low @ 0xDC00..0xE000 => unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
                        _ => self.at = back,
                    }
                }
                push_unit(out, unit);
                return Some(());
            }
            _ => return None,
        });
        Some(())
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        let _ = self.eat(b"-");
        let digits = |reader: &mut Self| {
            let from = reader.at;
            while reader.bytes.get(reader.at).is_some_and(u8::is_ascii_digit) {
                reader.at += 1;
            }
            reader.at > from
        };
        if self.eat(b"0").is_none() && !digits(self) {
            return None;
        }
        let mut whole = true;
        if self.bytes.get(self.at) == Some(&b'.') {
            whole = false;
            self.at += 1;
            if !digits(self) {
                return None;
            }
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !digits(self) {
                return None;
            }
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        Some(if self.reading == Reading::Exact { exact_number(text, whole) } else { plain_number(text) })
    }
}

const EXACT: f64 = (1_u64 << 53) as f64;

fn plain_number(text: &str) -> Json {
    let Ok(number) = text.parse::<f64>() else { return Json::Null };
    if !number.is_finite() {
        Json::Null
    } else if number.fract() == 0.0 && number.abs() <= EXACT {
        Json::Int(number as i128)
    } else {
        Json::Float(number)
    }
}

fn exact_number(number: &str, whole: bool) -> Json {
    let as_text = || object([("$num", text(number))]);
    match number.parse::<f64>() {
        Ok(value) if whole => match number.parse::<i128>() {
            Ok(int) if value.abs() <= EXACT && int.to_string() == number => Json::Int(int),
            _ => as_text(),
        },
        Ok(value) if value.is_finite() && float_text(value) == number => Json::Float(value),
        _ => as_text(),
    }
}

/// Lone surrogates as U+FFFD.
pub fn without_surrogates(bytes: &[u8]) -> Vec<u8> {
    if !bytes.contains(&0xED) {
        return bytes.to_vec();
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == 0xED && bytes.get(at + 1).is_some_and(|&b| b >= 0xA0) {
            out.extend_from_slice("\u{fffd}".as_bytes());
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

/// The first place where two values differ, as text; none if they are equal.
pub fn difference(want: &Json, got: &Json, place: &str) -> Option<String> {
    match (want, got) {
        (Json::Object(left), Json::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                let place = format!("{place}.{}", String::from_utf8_lossy(key));
                let found = match (left.get(key), right.get(key)) {
                    (Some(want), Some(got)) => difference(want, got, &place),
                    (Some(want), None) => Some(format!("{place}: missing, expected {}", short(want))),
                    (None, Some(got)) => Some(format!("{place}: not expected: {}", short(got))),
                    (None, None) => None,
                };
                if found.is_some() {
                    return found;
                }
            }
            None
        }
        (Json::List(left), Json::List(right)) => {
            for (at, (want, got)) in left.iter().zip(right).enumerate() {
                if let Some(found) = difference(want, got, &format!("{place}[{at}]")) {
                    return Some(found);
                }
            }
            let longer = if left.len() > right.len() { left } else { right };
            (left.len() != right.len()).then(|| {
                let over = short(&longer[left.len().min(right.len())]);
                let (want, got) = (left.len(), right.len());
                format!("{place}: {want} items expected, got {got}; first one over: {over}")
            })
        }
        _ => {
            let same = match (want.as_number(), got.as_number()) {
                (Some(want), Some(got)) => want == got,
                _ => want == got,
            };
            (!same).then(|| format!("{place}: expected {}, got {}", short(want), short(got)))
        }
    }
}

/// A value as text, cut where it gets long.
pub fn short(value: &Json) -> String {
    let text = value.to_text();
    match text.char_indices().nth(160) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}
