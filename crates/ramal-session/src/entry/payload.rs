//! An entry read whole, and the message in it.

use std::borrow::Cow;
use std::ops::Range;

use super::id::EntryId;
use super::kind::{Kind, Role};
use super::time::UNREADABLE;
use crate::json::{self, Member, Members, members, quote};

/// One entry of a log, read from its line.
///
/// The line is kept as JSON text in which every strict reader agrees (see [`json::clean`]); its
/// members are looked up when asked for. Of a message it is known where its members stand: it may be
/// long, and is asked for several of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    json: String,
    id: EntryId,
    kind: Kind,
    role: Role,
    time: i64,
    unreadable: bool,
    /// Where its message stands, and that message's members within it.
    message: Option<(Range<usize>, Vec<Member>)>,
}

impl Entry {
    /// `line` is what the tree shows for the entry: migrated, and with its id in it.
    pub(crate) fn new(line: Vec<u8>, id: EntryId, kind: Kind, role: Role, time: i64) -> Entry {
        let mut json = json::text::clean_owned(line);
        let unreadable = !json::is_valid(&json);
        if unreadable {
            json = envelope_only(json.as_bytes(), &id);
        } else if json.trim().len() < json.len() {
            json = json.trim().to_owned();
        }
        let message = match kind {
            Kind::Message => members::get_object(json.as_bytes(), "message"),
            _ => None,
        };
        let message = message.filter(|(place, _)| json.as_bytes().get(place.start) == Some(&b'{'));
        Entry { json, id, kind, role, time, unreadable, message }
    }

    /// The same entry with other JSON: what is left of it when something was taken out.
    #[must_use]
    pub fn with_json(&self, json: String) -> Entry {
        Entry::new(json.into_bytes(), self.id.clone(), self.kind, self.role, self.time)
    }

    /// The id under which the tree knows it: the one in the log, or a made-up one.
    pub fn id(&self) -> &EntryId {
        &self.id
    }

    /// What kind of entry it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Who its message is from; [`Role::None`] where it has none.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The `type` as it stands in the log.
    pub fn type_name(&self) -> Cow<'_, str> {
        self.kind.name().map(Cow::Borrowed).or_else(|| self.get_str("type")).unwrap_or_default()
    }

    /// The `parentId` as it stands in the log, whether there is such an entry or not.
    pub fn parent_id(&self) -> Option<Cow<'_, str>> {
        self.get_str("parentId")
    }

    /// The `timestamp` as it stands in the log.
    pub fn timestamp(&self) -> Option<Cow<'_, str>> {
        self.get_str("timestamp")
    }

    /// When it was made, in milliseconds since 1970, if its timestamp can be read.
    pub fn time(&self) -> Option<i64> {
        (self.time != UNREADABLE).then_some(self.time)
    }

    /// True if the line closes as it should but holds something that is no JSON. Then only type, id,
    /// parent and timestamp can be had.
    pub fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    /// The entry as a JSON object. An unreadable one has its envelope and `"unreadable":true`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The JSON text of a member.
    pub fn get(&self, key: &str) -> Option<&str> {
        members::get_text(&self.json, key)
    }

    /// What a member says, if it is a string.
    pub fn get_str(&self, key: &str) -> Option<Cow<'_, str>> {
        json::get_str(self.json.as_bytes(), key)
    }

    /// The message of an entry of type `message`.
    pub fn message(&self) -> Option<Message<'_>> {
        let (place, members) = self.message.as_ref()?;
        Some(Message { json: self.json.get(place.clone())?, members: Some(members) })
    }

    /// What the entry says, as plain text: of a message, an injected message, a summary; the
    /// command of an execution. Blocks that are no text are left out.
    pub fn text(&self) -> String {
        match self.kind {
            Kind::Message => self.message().map(|message| message.text()).unwrap_or_default(),
            Kind::CustomMessage => self.get("content").map(content_text).unwrap_or_default(),
            Kind::BranchSummary | Kind::Compaction => {
                self.get_str("summary").unwrap_or_default().into_owned()
            }
            _ => String::new(),
        }
    }

    /// The entry as values, for those who would rather have them. Numbers beyond what a double holds
    /// are rounded here, and only here; none if a number has no double at all.
    pub fn to_value(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.json).ok()
    }
}

fn envelope_only(line: &[u8], id: &str) -> String {
    let mut out = String::from("{");
    for key in ["type", "id", "parentId", "timestamp"] {
        let value = json::get(line, key).map(json::clean).filter(|value| json::is_valid(value));
        let value = if key == "id" { Some(Cow::Owned(quote(id))) } else { value };
        if let Some(value) = value {
            out += &format!("\"{key}\":{value},");
        }
    }
    out + "\"unreadable\":true}"
}

/// A message inside an entry.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    json: &'a str,
    /// Where its members stand, if that is known.
    members: Option<&'a [Member]>,
}

/// A call of a tool in an assistant's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The id that its result names.
    pub id: Cow<'a, str>,
    /// The tool's name.
    pub name: Cow<'a, str>,
    /// The arguments as JSON text: an object, or, where what the model wrote was none, a string with
    /// that.
    pub arguments: &'a str,
}

impl<'a> ToolCall<'a> {
    /// The call that a block is, if it is one. One walk: arguments can be long.
    pub fn of(block: &'a str) -> Option<ToolCall<'a>> {
        let bytes = block.as_bytes();
        let mut call = ToolCall { id: Cow::default(), name: Cow::default(), arguments: "{}" };
        let (mut is_call, mut raw) = (false, None);
        for member in Members::new(bytes) {
            let value = &bytes[member.value.clone()];
            let text = || members::as_str(value).unwrap_or_default();
            match &*json::decode(&bytes[member.key]) {
                "type" => is_call = text() == "toolCall",
                "id" => call.id = text(),
                "name" => call.name = text(),
                "arguments" => call.arguments = block.get(member.value).unwrap_or("{}"),
                "rawArguments" => raw = block.get(member.value).filter(|text| text.starts_with('"')),
                _ => {}
            }
        }
        // Beside it stands an empty object, for programs that expect one.
        call.arguments = raw.unwrap_or(call.arguments);
        is_call.then_some(call)
    }
}

/// What an answer cost, as its provider counted. Numbers that are not there are zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Tokens sent that were not cached.
    pub input: f64,
    /// Tokens answered.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to the provider's cache.
    pub cache_write: f64,
    /// Dollars.
    pub cost: f64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cost += other.cost;
    }
}

impl Usage {
    /// Reads a `usage` object.
    pub fn read(json: &str) -> Usage {
        let number = |from: &[u8], key| {
            json::get(from, key)
                .and_then(|value| std::str::from_utf8(value).ok()?.parse::<f64>().ok())
                .filter(|number| number.is_finite())
                .unwrap_or_default()
        };
        let bytes = json.as_bytes();
        Usage {
            input: number(bytes, "input"),
            output: number(bytes, "output"),
            cache_read: number(bytes, "cacheRead"),
            cache_write: number(bytes, "cacheWrite"),
            cost: json::get(bytes, "cost").map(|cost| number(cost, "total")).unwrap_or_default(),
        }
    }
}

impl<'a> Message<'a> {
    /// A message from its JSON object.
    pub fn new(json: &'a str) -> Message<'a> {
        Message { json, members: None }
    }

    /// A message from its JSON object and the places of its members, for who asks for several of them:
    /// each is a walk over the whole message otherwise.
    ///
    /// ```
    /// use ramal_session::{Message, Role, json::Members};
    ///
    /// let text = r#"{"role":"user","content":"Why is it slow?"}"#;
    /// let members: Vec<_> = Members::new(text.as_bytes()).collect();
    /// let message = Message::with_members(text, &members);
    /// assert_eq!((message.role(), message.get("content")), (Role::User, Some("\"Why is it slow?\"")));
    /// ```
    pub fn with_members(json: &'a str, members: &'a [Member]) -> Message<'a> {
        Message { json, members: Some(members) }
    }

    /// Where its members stand.
    pub(crate) fn members(self) -> Cow<'a, [Member]> {
        match self.members {
            Some(members) => Cow::Borrowed(members),
            None => Members::new(self.json.as_bytes()).collect(),
        }
    }

    /// The message as a JSON object.
    pub fn json(self) -> &'a str {
        self.json
    }

    /// The JSON text of a member.
    pub fn get(self, key: &str) -> Option<&'a str> {
        let Some(members) = self.members else { return members::get_text(self.json, key) };
        let bytes = self.json.as_bytes();
        let member = members.iter().rev().find(|member| members::is_key(&bytes[member.key.clone()], key))?;
        self.json.get(member.value.clone())
    }

    /// What a member says, if it is a string.
    pub fn get_str(self, key: &str) -> Option<Cow<'a, str>> {
        members::as_str(self.get(key)?.as_bytes())
    }

    /// Who it is from.
    pub fn role(self) -> Role {
        self.get_str("role").map_or(Role::None, |name| Role::of(&name))
    }

    /// The blocks of its content, as JSON objects; none if its content is a string.
    pub fn blocks(self) -> impl Iterator<Item = &'a str> {
        blocks(self.get("content").unwrap_or_default())
    }

    /// Its text, blocks joined without separator; of an execution, the command.
    pub fn text(self) -> String {
        match self.role() {
            Role::BashExecution => self.get_str("command").unwrap_or_default().into_owned(),
            Role::PythonExecution => {
                self.get_str("code").or(self.get_str("command")).unwrap_or_default().into_owned()
            }
            Role::BranchSummary | Role::CompactionSummary => {
                self.get_str("summary").unwrap_or_default().into_owned()
            }
            _ => self.get("content").map(content_text).unwrap_or_default(),
        }
    }

    /// What [`Message::text`] is made of, piece by piece.
    pub(crate) fn texts(self) -> impl Iterator<Item = Cow<'a, str>> {
        let content = match self.role() {
            Role::BashExecution | Role::PythonExecution | Role::BranchSummary | Role::CompactionSummary => {
                None
            }
            _ => self.get("content"),
        };
        let of_blocks = blocks(content.unwrap_or_default()).filter_map(|block| block_text(block.as_bytes()));
        let whole = match content {
            Some(content) => members::as_str(content.as_bytes()),
            None => Some(Cow::Owned(self.text())),
        };
        whole.into_iter().chain(of_blocks)
    }

    /// The calls of tools in it, in order.
    pub fn tool_calls(self) -> impl Iterator<Item = ToolCall<'a>> {
        self.blocks().filter_map(ToolCall::of)
    }

    /// Whether a tool's result says that the tool failed.
    pub fn is_error(self) -> bool {
        self.get("isError") == Some("true")
    }

    /// What it cost; none if it does not say.
    pub fn usage(self) -> Option<Usage> {
        self.get("usage").filter(|usage| usage.starts_with('{')).map(Usage::read)
    }
}

/// The blocks of a content, as JSON objects.
pub(crate) fn blocks(content: &str) -> impl Iterator<Item = &str> {
    members::item_places(content.as_bytes())
        .filter_map(|place| content.get(place))
        .filter(|block| block.starts_with('{'))
}

/// What a block says if it is a text block, found in one walk.
pub(crate) fn block_text(block: &[u8]) -> Option<Cow<'_, str>> {
    let (mut is_text, mut text) = (false, None);
    for member in Members::new(block) {
        let (key, value) = (&block[member.key], &block[member.value]);
        if members::is_key(key, "type") {
            is_text = members::as_str(value).as_deref() == Some("text");
        } else if members::is_key(key, "text") {
            text = Some(value);
        }
    }
    members::as_str(text.filter(|_| is_text)?)
}

/// The text of a content: a string, or its text blocks joined without separator.
pub(crate) fn content_text(content: &str) -> String {
    if let Some(text) = members::as_str(content.as_bytes()) {
        return text.into_owned();
    }
    blocks(content).filter_map(|block| block_text(block.as_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: &str) -> Entry {
        Entry::new(line.into(), EntryId::from("a1"), Kind::Message, Role::User, UNREADABLE)
    }

    #[test]
    fn text_of_strings_and_blocks() {
        for (content, want) in [
            (r#""plain \u00e9""#, "plain \u{e9}"),
            (r#"[{"type":"text","text":"a"},{"type":"image","data":""},{"text":"b","type":"text"}]"#, "ab"),
            ("null", ""),
            ("[3]", ""),
        ] {
            let line =
                format!(r#"{{"type":"message","id":"a1","message":{{"role":"user","content":{content}}}}}"#);
            assert_eq!(entry(&line).text(), want, "{content}");
        }
        assert_eq!(entry(r#"{"type":"message","message":null}"#).text(), "");
    }

    #[test]
    fn what_cannot_be_read_keeps_its_envelope() {
        let line =
            r#"{"type":"message","id":"a1","parentId":"x","timestamp":"t","message":{"content":oops}}"#;
        let entry = entry(line);
        assert!(entry.is_unreadable() && entry.message().is_none());
        assert_eq!(
            entry.json(),
            r#"{"type":"message","id":"a1","parentId":"x","timestamp":"t","unreadable":true}"#
        );
    }

    #[test]
    fn calls_and_usage() {
        let message = Message::new(
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":"p"}}],
            "usage":{"input":1,"output":2.5,"cost":{"total":0.5},"cacheRead":null}}"#,
        );
        let calls: Vec<_> = message.tool_calls().map(|call| (call.id, call.name, call.arguments)).collect();
        assert_eq!(calls, [("c".into(), "read".into(), r#"{"path":"p"}"#)]);
        for (block, arguments) in [
            (r#"{"type":"toolCall","arguments":{},"rawArguments":"{\"p"}"#, r#""{\"p""#),
            (r#"{"type":"toolCall","rawArguments":"[1]","arguments":{}}"#, r#""[1]""#),
            (r#"{"type":"toolCall","arguments":{},"rawArguments":null}"#, "{}"),
            (r#"{"type":"toolCall"}"#, "{}"),
        ] {
            assert_eq!(ToolCall::of(block).unwrap().arguments, arguments);
        }
        let usage = message.usage().unwrap();
        assert_eq!((usage.input, usage.output, usage.cache_read, usage.cost), (1.0, 2.5, 0.0, 0.5));
    }
}
