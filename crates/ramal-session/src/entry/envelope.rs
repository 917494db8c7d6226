//! The head of an entry, read without reading the entry: its type, id, parent, time, and the role
//! of its message.

use super::id::IdKey;
use super::kind::{Kind, Role};
use super::time;
use crate::json::members::{is_key, skip_space, string_at, value_end};

/// What a line says about its place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) kind: Kind,
    pub(crate) role: Role,
    pub(crate) id: Option<IdKey>,
    pub(crate) parent: ParentRef,
    /// Milliseconds since 1970, or [`time::UNREADABLE`].
    pub(crate) time: i64,
}

/// What `parentId` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParentRef {
    /// Null: a root on purpose.
    Null,
    /// The member is not there, or is neither a string nor null.
    Missing,
    Id(IdKey),
}

/// What the head of a line turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// An entry; its envelope was complete after `read` bytes, with `depth` brackets open there.
    Entry { envelope: Envelope, read: usize, depth: u32 },
    /// An object whose type is `session`: what is in it only the reader of headers knows.
    Session,
    /// An object whose type is `title`: a slot before the header, an entry behind it.
    Title { envelope: Envelope },
    /// An object that has no string `type`, whole as far as its members show.
    NoType,
    /// No object, or an object that breaks off.
    NotWhole,
}

/// Reads the head of a line.
///
/// Stops as soon as type, id, parent, time and (for a message) role are known; what follows has to
/// be checked for wholeness by its brackets. Spaces, escapes and any order of members are allowed.
pub(crate) fn read(line: &[u8]) -> Head {
    most(line).or_else(|| usual(line)).unwrap_or_else(|| any(line))
}

/// The shape of most lines: a message whose id and parent have eight characters, so that everything
/// stands at its place. None for anything else.
fn most(line: &[u8]) -> Option<Head> {
    const TYPE: &[u8; 24] = b"{\"type\":\"message\",\"id\":\"";
    const PARENT: &[u8; 14] = b"\",\"parentId\":\"";
    const TIME: &[u8; 15] = b"\",\"timestamp\":\"";
    const ROLE: &[u8; 21] = b"\",\"message\":{\"role\":\"";
    let (start, rest) = line.split_first_chunk::<24>()?;
    let (id, rest) = rest.split_first_chunk::<8>()?;
    let (before_parent, rest) = rest.split_first_chunk::<14>()?;
    let (parent, rest) = rest.split_first_chunk::<8>()?;
    let (before_time, rest) = rest.split_first_chunk::<15>()?;
    let (time, rest) = rest.split_first_chunk::<24>()?;
    let (before_role, rest) = rest.split_first_chunk::<21>()?;
    let fits = start == TYPE && before_parent == PARENT && before_time == TIME && before_role == ROLE;
    let plain = |text: &[u8]| !text.iter().any(|&byte| byte == b'"' || byte == b'\\');
    if !fits || !plain(id) || !plain(parent) || !plain(time) {
        return None;
    }
    let (id, parent) = (IdKey::of_eight(*id)?, IdKey::of_eight(*parent)?);
    let (role, rest) = plain_string(rest)?;
    let envelope = Envelope {
        kind: Kind::Message,
        role: Role::of_bytes(role),
        id: Some(id),
        parent: ParentRef::Id(parent),
        time: time::parse_bytes(time).unwrap_or(time::UNREADABLE),
    };
    Some(Head::Entry { envelope, read: line.len() - rest.len(), depth: 2 })
}

/// The shape in which this program and its peers write: no spaces, no escapes, the envelope first
/// and in this order. None for anything else.
fn usual(line: &[u8]) -> Option<Head> {
    let rest = line.strip_prefix(b"{\"type\":\"")?;
    let (name, rest) = plain_string(rest)?;
    if matches!(name, b"session" | b"title") {
        return None;
    }
    let (id, rest) = plain_string(rest.strip_prefix(b",\"id\":\"")?)?;
    let rest = rest.strip_prefix(b",\"parentId\":")?;
    let (parent, rest) = match rest.strip_prefix(b"null") {
        Some(rest) => (ParentRef::Null, rest),
        None => {
            let (parent, rest) = plain_string(rest.strip_prefix(b"\"")?)?;
            (IdKey::of(parent).map_or(ParentRef::Missing, ParentRef::Id), rest)
        }
    };
    let (time, mut rest) = plain_string(rest.strip_prefix(b",\"timestamp\":\"")?)?;
    let time = time::parse_bytes(time).unwrap_or(time::UNREADABLE);
    let kind = Kind::of_bytes(name);
    let (mut role, mut depth) = (Role::None, 1);
    if kind == Kind::Message {
        let (name, after) = plain_string(rest.strip_prefix(b",\"message\":{\"role\":\"")?)?;
        (role, depth, rest) = (Role::of_bytes(name), 2, after);
    }
    let envelope = Envelope { kind, role, id: IdKey::of(id), parent, time };
    Some(Head::Entry { envelope, read: line.len() - rest.len(), depth })
}

/// What stands before the next quote, and what behind it; none if it is not plain ASCII.
fn plain_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    // Names and ids are short: looking at each byte is quicker than preparing a search.
    for (at, &byte) in bytes.iter().enumerate().take(64) {
        match byte {
            b'"' => return Some((&bytes[..at], &bytes[at + 1..])),
            b'\\' | 0x80.. => return None,
            _ => {}
        }
    }
    None
}

fn any(line: &[u8]) -> Head {
    let mut at = skip_space(line, 0);
    if line.get(at) != Some(&b'{') {
        return Head::NotWhole;
    }
    at += 1;
    let mut found = Found::default();
    loop {
        at = skip_space(line, at);
        match line.get(at) {
            Some(b'}') => return found.end(at + 1),
            Some(b',') if found.members > 0 => at = skip_space(line, at + 1),
            Some(b'"') if found.members == 0 => {}
            _ => return Head::NotWhole,
        }
        let Some(key) = string_at(line, at) else { return Head::NotWhole };
        at = skip_space(line, key.end + 1);
        if line.get(at) != Some(&b':') {
            return Head::NotWhole;
        }
        at = skip_space(line, at + 1);
        found.members += 1;
        let raw = &line[key];
        if found.is_complete_but_role() && is_key(raw, "message") {
            return match role_within(line, at) {
                Some((role, read)) => found.entry(role, read, 2),
                None => found.whole_value(line, at),
            };
        }
        let Some(end) = value_end(line, at) else { return Head::NotWhole };
        found.member(raw, &line[at..end]);
        at = end;
        if found.is_complete() {
            return found.entry(found.role.unwrap_or(Role::None), at, 1);
        }
    }
}

#[derive(Default)]
struct Found {
    members: usize,
    kind: Option<Kind>,
    special: Option<Special>,
    id: Option<Option<IdKey>>,
    parent: Option<ParentRef>,
    time: Option<i64>,
    role: Option<Role>,
}

#[derive(Clone, Copy, PartialEq)]
enum Special {
    Session,
    Title,
}

impl Found {
    fn member(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"type" => self.set_type(value),
            b"id" => self.id = Some(key_of(value)),
            b"parentId" => {
                self.parent = Some(match value {
                    b"null" => ParentRef::Null,
                    _ => key_of(value).map_or(ParentRef::Missing, ParentRef::Id),
                });
            }
            b"timestamp" => self.time = Some(time::parse_value(value).unwrap_or(time::UNREADABLE)),
            b"message" => self.role = Some(role_within(value, 0).map_or(Role::None, |(role, _)| role)),
            _ if key.contains(&b'\\') => {
                let plain = crate::json::decode(key);
                if ["type", "id", "parentId", "timestamp", "message"].contains(&&*plain) {
                    self.member(plain.as_bytes(), value);
                }
            }
            _ => {}
        }
    }

    fn set_type(&mut self, value: &[u8]) {
        let Some(name) = crate::json::members::as_str(value) else { return };
        self.kind = Some(Kind::of(&name));
        self.special = match &*name {
            "session" => Some(Special::Session),
            "title" => Some(Special::Title),
            _ => None,
        };
    }

    fn is_complete_but_role(&self) -> bool {
        self.kind == Some(Kind::Message) && self.id.is_some() && self.parent.is_some() && self.time.is_some()
    }

    fn is_complete(&self) -> bool {
        let is_entry = self.special.is_none() && self.kind.is_some();
        let has_role = self.kind != Some(Kind::Message) || self.role.is_some();
        is_entry && has_role && self.id.is_some() && self.parent.is_some() && self.time.is_some()
    }

    fn entry(&self, role: Role, read: usize, depth: u32) -> Head {
        let Some(kind) = self.kind else { return Head::NoType };
        let envelope = Envelope {
            kind,
            role: if kind == Kind::Message { role } else { Role::None },
            id: self.id.flatten(),
            parent: self.parent.unwrap_or(ParentRef::Missing),
            time: self.time.unwrap_or(time::UNREADABLE),
        };
        match self.special {
            Some(Special::Session) => Head::Session,
            Some(Special::Title) => Head::Title { envelope },
            None => Head::Entry { envelope, read, depth },
        }
    }

    /// The object ended at `read`.
    fn end(&self, read: usize) -> Head {
        self.entry(self.role.unwrap_or(Role::None), read, 0)
    }

    /// A `message` that is no object, or names no role: skipped as any other value.
    fn whole_value(&mut self, line: &[u8], at: usize) -> Head {
        match value_end(line, at) {
            Some(end) => self.entry(Role::None, end, 1),
            None => Head::NotWhole,
        }
    }
}

fn key_of(value: &[u8]) -> Option<IdKey> {
    match value {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') && inner.is_ascii() => IdKey::of(inner),
        _ => crate::json::members::as_str(value).and_then(|text| IdKey::of(text.as_bytes())),
    }
}

/// The role of the message object that begins at `at`, and where its value ends.
fn role_within(line: &[u8], at: usize) -> Option<(Role, usize)> {
    if line.get(at) != Some(&b'{') {
        return None;
    }
    let mut at = skip_space(line, at + 1);
    loop {
        let key = string_at(line, at)?;
        at = skip_space(line, key.end + 1);
        if line.get(at) != Some(&b':') {
            return None;
        }
        at = skip_space(line, at + 1);
        let end = value_end(line, at)?;
        if is_key(&line[key], "role") {
            let role =
                crate::json::members::as_str(&line[at..end]).map_or(Role::None, |name| Role::of(&name));
            return Some((role, end));
        }
        at = skip_space(line, end);
        if line.get(at) != Some(&b',') {
            return None;
        }
        at = skip_space(line, at + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(line: &str) -> Envelope {
        match read(line.as_bytes()) {
            Head::Entry { envelope, .. } => envelope,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_usual_shape_stops_at_the_role() {
        let line = br#"{"type":"message","id":"aa000003","parentId":"aa000002","timestamp":"1970-01-01T00:00:01.000Z","message":{"role":"user","content":oops}}"#;
        let Head::Entry { envelope, read, depth } = read(line) else { panic!() };
        assert_eq!((envelope.kind, envelope.role, envelope.time), (Kind::Message, Role::User, 1000));
        assert_eq!(
            (envelope.id, envelope.parent),
            (IdKey::of(b"aa000003"), ParentRef::Id(IdKey::of(b"aa000002").unwrap()))
        );
        assert_eq!((&line[read..read + 10], depth), (&br#","content""#[..], 2));
    }

    #[test]
    fn the_usual_shape_and_any_other_agree() {
        for line in [
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"1970-01-01T00:00:01.000Z","message":{"role":"user","x":1}}"#,
            r#"{"type":"message","id":"","parentId":"","timestamp":"x","message":{"role":"odd"}}"#,
            r#"{"type":"label","id":"0195a0b1-0000-7000","parentId":"b","timestamp":"2025-04-06","targetId":"a"}"#,
            r#"{"type":"hologram","id":"a","parentId":"a","timestamp":"","x":[]}"#,
        ] {
            let usual = usual(line.as_bytes());
            assert_eq!(usual, Some(any(line.as_bytes())), "{line}");
        }
        for (id, parent) in [("0a1b2c3d", "zzzzzzzz"), ("x y{z}[]", "________")] {
            let line = format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-04-06T11:58:29.055Z","message":{{"role":"assistant","x":1}}}}"#
            );
            assert!(most(line.as_bytes()).is_some());
            assert_eq!(most(line.as_bytes()), Some(any(line.as_bytes())), "{line}");
        }
        for id in ["\u{e9}23456", "\\u0061bc", "a\",\"b\":\""] {
            let line = format!(
                r#"{{"type":"message","id":"{id}","parentId":"12345678","timestamp":"2025-04-06T11:58:29.055Z","message":{{"role":"user"}}}}"#
            );
            assert_eq!(most(line.as_bytes()), None, "{line}");
        }
        for line in [
            r#"{"type":"session","id":"a","parentId":null,"timestamp":""}"#,
            r#"{"type":"x","id":"\u0061"}"#,
            "{",
            "",
        ] {
            assert_eq!(usual(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn any_order_spaces_and_escapes() {
        let plain =
            envelope(r#"{"type":"message","id":"a","parentId":"b","timestamp":5,"message":{"role":"user"}}"#);
        for line in [
            r#"{ "message" : { "content":[{"role":"x"}], "role" : "user" } , "timestamp": 5, "parentId" : "b", "id":"\u0061","type":"message" }"#,
            r#"{"t\u0079pe":"message","id":"a","parentId":"b","timestamp":5,"extra":{"id":"z"},"message":{"role":"us\u0065r","id":1}}"#,
        ] {
            assert_eq!(envelope(line), plain, "{line}");
        }
    }

    #[test]
    fn parts_may_be_missing() {
        let found = envelope(r#"{"type":"message","message":null}"#);
        assert_eq!((found.id, found.parent, found.role), (None, ParentRef::Missing, Role::None));
        assert_eq!(found.time, time::UNREADABLE);
        assert_eq!(envelope(r#"{"type":"x","id":"","parentId":null}"#).parent, ParentRef::Null);
        assert_eq!(
            envelope(r#"{"type":"message","id":"a","parentId":7,"timestamp":1,"message":{}}"#).parent,
            ParentRef::Missing
        );
    }

    #[test]
    fn other_lines() {
        assert_eq!(read(br#"{"type":"session","id":"x"}"#), Head::Session);
        assert!(matches!(read(br#"{"type":"title"}"#), Head::Title { .. }));
        assert_eq!(read(br#"{"type":3}"#), Head::NoType);
        assert_eq!(read(b"{}"), Head::NoType);
        for line in
            ["", "null", "[1]", "{", r#"{"type":"message","id":"a"#, r#"{"type":"message" "id":1}"#, "\0{}"]
        {
            assert_eq!(read(line.as_bytes()), Head::NotWhole, "{line}");
        }
    }
}
