//! The members of one object, found without reading what is inside them.

use std::borrow::Cow;
use std::ops::Range;

use super::balance;
use super::text::decode;

/// One member of an object: where its key and its value stand in the bytes that were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The key, without its quotes, escapes as they stand.
    pub key: Range<usize>,
    /// The value, quotes and brackets included, white space around it not.
    pub value: Range<usize>,
}

/// Walks over the members of the object that `bytes` hold.
///
/// What is inside the values is skipped by its strings and brackets only. The walk ends at the
/// closing bracket, or where the bytes are no object any more ([`Members::is_whole`] tells which).
#[derive(Debug, Clone)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Between,
    Closed,
    Broken,
}

impl<'a> Members<'a> {
    /// Begins before the opening bracket; white space may stand before it.
    pub fn new(bytes: &'a [u8]) -> Self {
        let at = skip_space(bytes, 0);
        if bytes.get(at) == Some(&b'{') {
            Members { bytes, at: at + 1, state: State::Start }
        } else {
            Members { bytes, at, state: State::Broken }
        }
    }

    /// True once the closing bracket has been reached.
    pub fn is_whole(&self) -> bool {
        self.state == State::Closed
    }

    /// Where the walk stands: before the next member, or behind the closing bracket.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next key, and where its value begins; none behind the last member, and where the bytes are
    /// no object. The walk goes on when it is told where the value ends.
    fn key(&mut self) -> Option<(Range<usize>, usize)> {
        if matches!(self.state, State::Closed | State::Broken) {
            return None;
        }
        let before = std::mem::replace(&mut self.state, State::Broken);
        let bytes = self.bytes;
        let mut at = skip_space(bytes, self.at);
        match (before, bytes.get(at)?) {
            (_, b'}') => {
                self.at = at + 1;
                self.state = State::Closed;
                return None;
            }
            (State::Start, _) => {}
            (State::Between, b',') => at = skip_space(bytes, at + 1),
            _ => return None,
        }
        let key = string_at(bytes, at)?;
        at = skip_space(bytes, key.end + 1);
        (bytes.get(at) == Some(&b':')).then(|| (key, skip_space(bytes, at + 1)))
    }

    fn value_ends(&mut self, at: usize) {
        self.at = at;
        self.state = State::Between;
    }
}

impl Iterator for Members<'_> {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let (key, from) = self.key()?;
        let to = value_end(self.bytes, from)?;
        self.value_ends(to);
        Some(Member { key, value: from..to })
    }
}

/// The value of the last member called `key` of the object in `bytes`; the last, as every reader
/// of JSON takes it.
pub fn get<'a>(bytes: &'a [u8], key: &str) -> Option<&'a [u8]> {
    Members::new(bytes)
        .filter(|member| is_key(&bytes[member.key.clone()], key))
        .last()
        .map(|member| &bytes[member.value])
}

/// The JSON texts of the last members called `keys`, found in one walk.
///
/// ```
/// let [kind, text] = ramal_session::json::find(r#"{"type":"text","text":"a"}"#, ["type", "text"]);
/// assert_eq!((kind, text), (Some("\"text\""), Some("\"a\"")));
/// ```
pub fn find<'a, const N: usize>(object: &'a str, keys: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    for member in Members::new(object.as_bytes()) {
        let key = &object.as_bytes()[member.key];
        if let Some(place) = keys.iter().position(|wanted| is_key(key, wanted)) {
            found[place] = object.get(member.value);
        }
    }
    found
}

/// As [`get`], of an object that is known to be text.
pub(crate) fn get_text<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let bytes = object.as_bytes();
    let value = Members::new(bytes).filter(|member| is_key(&bytes[member.key.clone()], key)).last()?.value;
    object.get(value)
}

/// The value of the last member called `key`, and that value's own members if it is an object. Both
/// are found in one walk, however long the value is; the members' places are within the value.
pub(crate) fn get_object(bytes: &[u8], key: &str) -> Option<(Range<usize>, Vec<Member>)> {
    let mut found = None;
    let mut outer = Members::new(bytes);
    while let Some((name, from)) = outer.key() {
        let wanted = is_key(&bytes[name], key);
        let mut inner = Members::new(if wanted { bytes.get(from..)? } else { &[] });
        let members: Vec<_> = inner.by_ref().collect();
        let end = if inner.is_whole() { Some(from + inner.position()) } else { value_end(bytes, from) };
        let Some(end) = end else { break };
        outer.value_ends(end);
        if wanted {
            found = Some((from..end, if inner.is_whole() { members } else { Vec::new() }));
        }
    }
    found
}

/// The text of the last member called `key`, if it is a string.
pub fn get_str<'a>(bytes: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    as_str(get(bytes, key)?)
}

/// What a value says if it is a string.
pub fn as_str(value: &[u8]) -> Option<Cow<'_, str>> {
    match value {
        [b'"', inner @ .., b'"'] => Some(decode(inner)),
        _ => None,
    }
}

/// The items of an array, as the bytes they stand in; none for anything else.
pub fn items(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    item_places(array).map(|place| &array[place])
}

/// Where the items of an array stand.
pub(crate) fn item_places(array: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = match array.first() {
        Some(b'[') => Some(1),
        _ => None,
    };
    std::iter::from_fn(move || {
        let mut from = skip_space(array, at?);
        if array.get(from) == Some(&b',') {
            from = skip_space(array, from + 1);
        }
        let to = value_end(array, from).filter(|&to| to > from);
        at = to;
        Some(from..to?)
    })
}

/// Whether a raw key says `wanted`.
pub fn is_key(raw: &[u8], wanted: &str) -> bool {
    raw == wanted.as_bytes() || (raw.contains(&b'\\') && decode(raw) == wanted)
}

pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// What stands between the quotes of the string that begins at `at`.
pub(crate) fn string_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let from = at + 1;
    let mut to = from;
    loop {
        to += memchr::memchr2(b'"', b'\\', bytes.get(to..)?)?;
        if bytes[to] == b'"' {
            return Some(from..to);
        }
        to += 2;
    }
}

/// Where the value that begins at `at` ends. Brackets are counted, not matched.
pub(crate) fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_at(bytes, at).map(|inner| inner.end + 1),
        b'{' | b'[' => balance::close_of(&bytes[at + 1..]).map(|length| at + 1 + length),
        _ => {
            let rest = &bytes[at..];
            // A bracket or a string that follows without a comma is no part of it.
            let ends = |b: &u8| b",}]{[\" \t\r\n".contains(b);
            let end = rest.iter().position(ends)?;
            (end > 0).then_some(at + end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> (Vec<(&str, &str)>, bool) {
        let mut members = Members::new(text.as_bytes());
        let pairs = members.by_ref().map(|m| (&text[m.key], &text[m.value])).collect();
        (pairs, members.is_whole())
    }

    #[test]
    fn members_are_found_by_brackets_and_strings() {
        assert_eq!(
            pairs(r#" { "a" : 1 , "b":{"c":["}",2]},"d":"x\"y","e":[] } "#),
            (vec![("a", "1"), ("b", r#"{"c":["}",2]}"#), ("d", r#""x\"y""#), ("e", "[]")], true)
        );
        assert_eq!(pairs("{}"), (vec![], true));
        assert_eq!(pairs(r#"{"a":oops,"b":1}"#), (vec![("a", "oops"), ("b", "1")], true));
    }

    #[test]
    fn what_is_cut_off_is_not_whole() {
        for text in
            ["", "[1]", "{", r#"{"a"#, r#"{"a":"#, r#"{"a":1"#, r#"{"a":"x"#, r#"{"a" 1}"#, r#"{"a":}"#]
        {
            assert!(!pairs(text).1, "{text}");
        }
    }

    #[test]
    fn the_last_of_two_counts() {
        assert_eq!(get(br#"{"a":1,"\u0061":2}"#, "a"), Some(&b"2"[..]));
        assert_eq!(get_str(br#"{"a":"x"}"#, "a").as_deref(), Some("x"));
        assert_eq!(get_str(br#"{"a":1}"#, "a"), None);
    }

    #[test]
    fn an_object_and_its_members_in_one_walk() {
        for (text, want) in [
            (r#"{"a":1, "m" : {"x":[{"y":"}"}],"z":2} ,"b":3}"#, Some((r#"{"x":[{"y":"}"}],"z":2}"#, "x z"))),
            (r#"{"m":{"x":1},"m":{"y":2}}"#, Some((r#"{"y":2}"#, "y"))),
            (r#"{"m":{"x":1},"\u006d":7}"#, Some(("7", ""))),
            (r#"{"m":{"x" 1},"b":2}"#, Some((r#"{"x" 1}"#, ""))),
            (r#"{"m":{}}"#, Some(("{}", ""))),
            (r#"{"m":{"x":1"#, None),
            (r#"{"b":{"m":1}}"#, None),
            ("[]", None),
        ] {
            let found = get_object(text.as_bytes(), "m").map(|(place, members)| {
                let value = &text[place];
                let keys: Vec<_> = members.into_iter().map(|member| &value[member.key]).collect();
                (value, keys.join(" "))
            });
            assert_eq!(found, want.map(|(value, keys)| (value, keys.to_owned())), "{text}");
            let plain = get(text.as_bytes(), "m").map(|value| std::str::from_utf8(value).unwrap());
            assert_eq!(found.map(|(value, _)| value), plain, "{text}");
        }
    }

    #[test]
    fn items_of_an_array() {
        let all: Vec<_> = items(br#"[ 1, "a,b" ,{"c":[2]},[] ]"#).collect();
        assert_eq!(all, [&b"1"[..], br#""a,b""#, br#"{"c":[2]}"#, b"[]"]);
        assert_eq!(items(b"{}").count(), 0);
        assert_eq!(items(b"[").count(), 0);
    }
}
