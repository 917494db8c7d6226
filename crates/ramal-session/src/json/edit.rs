//! Changing members of an object and leaving every other byte as it is.

use super::members::{Member, Members, is_key};

/// A set of changes to the members of one object.
///
/// What is not named keeps its bytes: numbers, order, repeated keys, spaces.
///
/// ```
/// use ramal_session::json::ObjectEdit;
/// let edited = ObjectEdit::new()
///     .set("parentId", "null")
///     .remove("secret")
///     .insert_first("id", "\"a1\"")
///     .apply(br#"{"n":1.0,"parentId":"x","secret":2}"#);
/// assert_eq!(edited, br#"{"id":"a1","n":1.0,"parentId":null}"#);
/// ```
#[derive(Debug, Default, Clone)]
pub struct ObjectEdit {
    changes: Vec<(String, Change)>,
}

#[derive(Debug, Clone)]
enum Change {
    /// A new value, in place; at the end of the object if the member is not there.
    Set(Vec<u8>),
    /// Every member of that name goes.
    Remove,
    /// A new value as the first members, in the order given; old ones of that name go.
    First(Vec<u8>),
    /// The member gets another name and another value, in place.
    Rename(String, String),
}

impl ObjectEdit {
    /// No changes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// True if nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Gives the member `key` the JSON text `value`, where it stands, or at the end.
    pub fn set(mut self, key: &str, value: impl Into<String>) -> Self {
        self.changes.push((key.into(), Change::Set(value.into().into_bytes())));
        self
    }

    /// As [`ObjectEdit::set`], with a value whose text need not be UTF-8.
    pub fn set_bytes(mut self, key: &str, value: Vec<u8>) -> Self {
        self.changes.push((key.into(), Change::Set(value)));
        self
    }

    /// Takes the member `key` out.
    pub fn remove(mut self, key: &str) -> Self {
        self.changes.push((key.into(), Change::Remove));
        self
    }

    /// Puts the member `key` before all others; one that was there goes.
    pub fn insert_first(mut self, key: &str, value: impl Into<String>) -> Self {
        self.changes.push((key.into(), Change::First(value.into().into_bytes())));
        self
    }

    /// Gives the member `key` another name and value, where it stands; nothing if it is not there.
    pub fn rename(mut self, key: &str, name: &str, value: impl Into<String>) -> Self {
        self.changes.push((key.into(), Change::Rename(name.into(), value.into())));
        self
    }

    /// The object with the changes made. Of an object that breaks off in the middle what stands before
    /// the break is changed, and new members come first. Bytes that are no object at all come back as
    /// they were.
    pub fn apply(&self, object: &[u8]) -> Vec<u8> {
        let mut walk = Members::new(object);
        let open = walk.position();
        let members: Vec<Member> = walk.by_ref().collect();
        if self.is_empty() || open == 0 || object[open - 1] != b'{' {
            return object.to_vec();
        }
        let is_there = |key: &str| members.iter().any(|member| is_key(&object[member.key.clone()], key));
        let goes_first = |key: &str, change: &Change| match change {
            Change::First(_) => true,
            Change::Set(_) => !walk.is_whole() && !is_there(key),
            Change::Remove | Change::Rename(..) => false,
        };
        let mut out = Vec::with_capacity(object.len() + 64);
        out.extend_from_slice(&object[..open]);
        let mut any = false;
        let mut used = vec![false; self.changes.len()];
        for (i, (key, change)) in self.changes.iter().enumerate() {
            if let (Change::First(value) | Change::Set(value), true) = (change, goes_first(key, change)) {
                used[i] = true;
                comma(&mut out, &mut any);
                member(&mut out, key, value);
            }
        }
        let mut from = open;
        for m in &members {
            let raw = &object[m.key.clone()];
            let found = self.changes.iter().position(|(key, _)| is_key(raw, key));
            // White space stays where it stands: some before the comma, some behind it.
            let gap = &object[from..m.key.start - 1];
            let (before, lead) = match gap.iter().position(|&b| b == b',') {
                Some(comma) => (&gap[..comma], &gap[comma + 1..]),
                None => (&gap[..0], gap),
            };
            if any {
                out.extend_from_slice(before);
            }
            from = m.value.end;
            match found.map(|i| (i, &self.changes[i].1)) {
                None => {
                    comma(&mut out, &mut any);
                    out.extend_from_slice(lead);
                    out.extend_from_slice(&object[m.key.start - 1..m.value.end]);
                }
                Some((i, Change::Set(value))) => {
                    used[i] = true;
                    comma(&mut out, &mut any);
                    out.extend_from_slice(lead);
                    out.extend_from_slice(&object[m.key.start - 1..m.value.start]);
                    out.extend_from_slice(value);
                }
                Some((i, Change::Rename(name, value))) => {
                    used[i] = true;
                    comma(&mut out, &mut any);
                    out.extend_from_slice(lead);
                    member(&mut out, name, value.as_bytes());
                }
                Some((_, Change::Remove | Change::First(_))) => {}
            }
        }
        for ((key, change), used) in self.changes.iter().zip(used) {
            if let (Change::Set(value), false) = (change, used) {
                comma(&mut out, &mut any);
                member(&mut out, key, value);
            }
        }
        out.extend_from_slice(&object[from..]);
        out
    }
}

fn comma(out: &mut Vec<u8>, any: &mut bool) {
    if std::mem::replace(any, true) {
        out.push(b',');
    }
}

fn member(out: &mut Vec<u8>, key: &str, value: &[u8]) {
    out.extend_from_slice(super::quote(key).as_bytes());
    out.push(b':');
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edit: ObjectEdit, object: &str, want: &str) {
        assert_eq!(String::from_utf8_lossy(&edit.apply(object.as_bytes())), want);
    }

    #[test]
    fn only_what_is_named_changes() {
        let edit = || ObjectEdit::new().set("b", "2");
        check(edit(), r#"{ "a" : 1.0 ,  "b" : 9 , "c":1e400 }"#, r#"{ "a" : 1.0 ,  "b" : 2 , "c":1e400 }"#);
        check(edit(), r#"{"a":1}"#, r#"{"a":1,"b":2}"#);
        check(edit(), "{}", r#"{"b":2}"#);
        check(edit(), r#"{"b":1,"d":1,"b":3}"#, r#"{"b":2,"d":1,"b":2}"#);
        check(edit(), "[1]", "[1]");
        check(edit(), "", "");
    }

    #[test]
    fn a_broken_object_is_changed_before_the_break() {
        let edit = || ObjectEdit::new().set("b", "2");
        check(edit(), r#"{"a":1,"b":9,"c":{}{}}"#, r#"{"a":1,"b":2,"c":{}{}}"#);
        check(edit(), r#"{"a":1{},"b":9}"#, r#"{"b":2,"a":1{},"b":9}"#);
        check(edit().remove("a"), r#" {"a":1}{"#, r#" {"b":2}{"#);
        check(edit(), r#"{"a" 1}"#, r#"{"b":2"a" 1}"#);
    }

    #[test]
    fn members_come_go_and_are_renamed() {
        check(ObjectEdit::new().remove("a"), r#"{"a":1,"b":2}"#, r#"{"b":2}"#);
        check(ObjectEdit::new().remove("b"), r#"{"a":1,"b":2}"#, r#"{"a":1}"#);
        check(ObjectEdit::new().remove("a"), r#"{"a":1}"#, "{}");
        check(ObjectEdit::new().rename("i", "n", "\"x\""), r#"{"i":4,"z":1}"#, r#"{"n":"x","z":1}"#);
        check(
            ObjectEdit::new().insert_first("id", "1").insert_first("p", "2"),
            r#"{"a":1,"p":7}"#,
            r#"{"id":1,"p":2,"a":1}"#,
        );
    }
}
