//! Session files, operations on them, and right answers: every file in `tests/vectors` is one.
//!
//! `RAMAL_VECTOR` selects by a regular expression on the name. `tests/vectors/README.md` says what
//! stands in a vector.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use common::json::{Json, Reading, difference, escape_invalid, object, read, short, text};
use common::names::Names;
use common::questions::{self, at, id_list};
use common::{context, files, light_scratch, on_threads};
use ramal_session::{AppendError, EntryId, NewEntry, SessionManager, library};
use sha2::{Digest, Sha256};

#[test]
fn every_vector() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let only = std::env::var("RAMAL_VECTOR").unwrap_or_default();
    let only = regex_lite::Regex::new(&only).unwrap();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let chosen: Vec<PathBuf> =
        files(&folder, "json").into_iter().filter(|path| only.is_match(&name(path))).collect();
    assert!(!chosen.is_empty(), "no vector has such a name");
    let failures = on_threads(&chosen, |path| {
        let bytes = std::fs::read(path).unwrap();
        let vector = read(&bytes, Reading::Exact).ok_or("the vector is no JSON")?;
        check(&vector)
    });
    for (at, failure) in &failures {
        eprintln!("{}: {failure}", name(&chosen[*at]));
    }
    assert!(failures.is_empty(), "{} of {} vectors fail", failures.len(), chosen.len());
}

/// Questions that belong to the program and not to the library.
const NOT_OF_THE_LIBRARY: [&str; 1] = ["raw"];

/// Runs one vector; the first difference is the error.
fn check(vector: &Json) -> Result<(), String> {
    let (_folder, path) = light_scratch();
    let mut run = Run::new(vector, &path);
    let want = vector.get("open").ok_or("no `open`")?;
    let got = run.open();
    let found = difference(want, &got, "open");
    if found.is_some() || got.has("error") {
        let now = run.first.as_deref().and_then(|path| std::fs::read(path).ok());
        if now != run.data {
            return Err("the file was changed by opening it".into());
        }
        return found.map_or(Ok(()), Err);
    }
    let ops = vector.get("ops").ok_or("no `ops`")?.as_list();
    let expected = vector.get("expected").ok_or("no `expected`")?.as_list();
    for (number, (op, want)) in ops.iter().zip(expected).enumerate() {
        let name = op.str("op").ok_or("an operation without a name")?;
        if want.has("unsupported") || NOT_OF_THE_LIBRARY.contains(&name) {
            continue;
        }
        let got = run.answer(name, op);
        if let Some(found) = difference(want, &got, &format!("operation {number} {name}")) {
            let refusal = run.refusal.take().map(|why| format!(" ({why})"));
            return Err(found + &refusal.unwrap_or_default());
        }
    }
    run.after()
}

/// An operation that was refused, and why.
struct Refused(String);

impl<E: std::error::Error> From<E> for Refused {
    fn from(error: E) -> Refused {
        Refused(error.to_string())
    }
}

type Answer = Result<Json, Refused>;

/// Where the user left a log, as a program remembers it: the leaf, and what the log was then.
struct Left {
    session: String,
    len: usize,
    tail: Vec<u8>,
    leaf: Option<String>,
}

/// One vector against the library.
struct Run {
    session: SessionManager,
    data: Option<Vec<u8>>,
    folder: PathBuf,
    cwd: PathBuf,
    first: Option<PathBuf>,
    names: Names,
    left: HashMap<PathBuf, Left>,
    wrote: bool,
    refusal: Option<String>,
}

impl Run {
    fn new(vector: &Json, folder: &Path) -> Run {
        let data = data_of(vector);
        let (sessions, cwd) = (folder.join("sessions"), folder.join("cwd"));
        std::fs::create_dir(&sessions).unwrap();
        std::fs::create_dir(&cwd).unwrap();
        let memory = vector.str("session") == Some("none");
        let path = sessions.join("session.jsonl");
        if let Some(data) = &data {
            common::write(&path, data);
        }
        let mut names = Names::new(data.as_deref().unwrap_or_default(), cwd.to_str().unwrap());
        if !memory {
            names.file(&path);
        }
        Run {
            session: SessionManager::in_memory(&cwd),
            data,
            folder: sessions,
            cwd,
            first: (!memory).then_some(path),
            names,
            left: HashMap::new(),
            wrote: false,
            refusal: None,
        }
    }

    fn path(&self) -> Option<PathBuf> {
        if self.session.is_persisted() { self.session.get_session_file().map(PathBuf::from) } else { None }
    }

    fn open(&mut self) -> Json {
        if let Some(path) = self.first.clone() {
            match SessionManager::open_in(&path, None, &self.cwd) {
                Ok(session) => self.session = session,
                Err(error) => {
                    self.refusal = Some(error.to_string());
                    return object([("error", true.into())]);
                }
            }
        }
        self.names.session(self.session.get_session_id());
        self.note_all();
        let leaf = questions::leaf(&self.session);
        let opened =
            object([("entries", self.session.entry_count().into()), ("leaf", leaf.as_deref().into())]);
        object([("ok", self.names.canon(opened))])
    }

    fn note_all(&mut self) {
        for id in questions::ids(self.session.get_entries()) {
            self.names.note(&id);
        }
    }

    /// Closes the session and opens what stands on disk now, at the leaf that a program remembers.
    fn reopen(&mut self) -> Result<(), Refused> {
        let Some(path) = self.path() else { return Ok(()) };
        self.session = SessionManager::in_memory(&self.cwd);
        self.session = SessionManager::open_in(&path, None, &self.cwd)?;
        if let (Some(left), Ok(bytes)) = (self.left.get(&path), std::fs::read(&path))
            && left.len == bytes.len()
            && left.tail == tail(&bytes)
            && left.session == self.session.get_session_id()
        {
            match &left.leaf {
                Some(leaf) => self.session.branch(leaf)?,
                None => self.session.reset_leaf(),
            }
        }
        Ok(())
    }

    fn remember_leaf(&mut self) {
        let Some(path) = self.path() else { return };
        let Ok(bytes) = std::fs::read(&path) else { return };
        let left = Left {
            session: self.session.get_session_id().into(),
            len: bytes.len(),
            tail: tail(&bytes).to_vec(),
            leaf: questions::leaf(&self.session),
        };
        self.left.insert(path, left);
    }

    /// The answer to an operation in canonical form.
    fn answer(&mut self, name: &str, op: &Json) -> Json {
        self.refusal = None;
        match self.perform(name, op) {
            Err(Refused(why)) => {
                self.refusal = Some(why);
                object([("error", true.into())])
            }
            Ok(value) => {
                let appends = name.starts_with("append");
                self.wrote |=
                    appends || ["label", "branchWithSummary", "rawAppend", "navigate"].contains(&name);
                let value = self.names.canon(value);
                let digested = op.get("digest") == Some(&Json::Bool(true));
                object([("ok", if digested { digest(&value) } else { value })])
            }
        }
    }

    /// The id that an operation names. Outer none: it names none; inner none: null.
    fn id(&self, op: &Json) -> Option<Option<String>> {
        op.get("id").map(|id| id.as_str().map(|id| self.names.real(id)))
    }

    fn id_text(&self, op: &Json) -> String {
        self.id(op).flatten().unwrap_or_default()
    }

    fn perform(&mut self, name: &str, op: &Json) -> Answer {
        let id = self.id(op);
        let session = &self.session;
        Ok(match name {
            "leaf" => questions::leaf(session).as_deref().into(),
            "sessionName" => session.get_session_name().as_deref().into(),
            "header" => questions::value(session.get_header().json()),
            "state" => self.state()?,
            "entries" if op.has("since") => self.since(op)?,
            "entries" => questions::entries(session),
            "entryIds" => id_list(session.get_entries()),
            "entry" => match session.get_entry(&self.id_text(op)) {
                Some(entry) => questions::entry_value(&entry.read()?),
                None => Json::Null,
            },
            "branchPath" => match &id {
                Some(None) => Json::List(Vec::new()),
                id => id_list(session.get_branch(id.as_ref().and_then(Option::as_deref))),
            },
            "tree" => questions::tree(session),
            "labels" => questions::labels(session),
            "labelTimes" => questions::label_times(session),
            "children" => id_list(session.get_children(id.flatten().as_deref())),
            "getLabel" => session.get_label(&self.id_text(op)).into(),
            "context" => self.context(&id)?,
            "modelShape" => model_shape(
                &context::model_messages(session, at(id.as_ref())).ok_or(Refused("no such entry".into()))?,
            ),
            "usage" => questions::usage(session),
            "disk" => match op.str("file") {
                Some(name) => self.names.path(name).map_or(Json::Null, |path| disk(Path::new(path))),
                None => self.path().map_or(Json::Null, |path| disk(&path)),
            },
            "list" => listing(&self.folder, &self.names),
            "mostRecent" => most_recent(&self.folder),
            "reload" => {
                self.reopen()?;
                self.note_all();
                object([
                    ("entryIds", id_list(self.session.get_entries())),
                    ("leaf", questions::leaf(&self.session).as_deref().into()),
                ])
            }
            "rawAppend" => {
                let raw = op.str("text").unwrap();
                common::append(&self.path().unwrap(), raw.as_bytes());
                self.names.add_data(raw.as_bytes());
                Json::Null
            }
            _ => {
                let answer = self.change(name, op, id)?;
                self.remember_leaf();
                answer
            }
        })
    }

    /// Operations that move the leaf, append or copy.
    fn change(&mut self, name: &str, op: &Json, id: Option<Option<String>>) -> Answer {
        let id_text = self.id_text(op);
        match name {
            "branch" => match id.flatten() {
                Some(id) => self.session.branch(&id)?,
                None => self.session.reset_leaf(),
            },
            "resetLeaf" => self.session.reset_leaf(),
            "branchWithSummary" => {
                let from = id.flatten();
                let details = op.get("details").map(Json::to_text);
                let from_extension = op.get("fromExtension").map(|yes| *yes == Json::Bool(true));
                let summary = op.str("summary").unwrap();
                let made = self.session.branch_with_summary(
                    from.as_deref(),
                    summary,
                    details.as_deref(),
                    from_extension,
                );
                return self.made(made);
            }
            "label" => {
                let made = self.session.append_label_change(&id_text, op.str("label"));
                return self.made(made);
            }
            "navigate" => {
                let moved = self.session.navigate(&id_text, op.str("label"))?;
                self.note_all();
                return Ok(object([
                    ("cancelled", false.into()),
                    ("editorText", moved.editor_text.as_deref().into()),
                    ("leaf", questions::leaf(&self.session).as_deref().into()),
                ]));
            }
            "createBranchedSession" => {
                let file = self.session.create_branched_session(&id_text)?;
                self.switched();
                return Ok(object([
                    ("file", file.as_deref().and_then(Path::to_str).into()),
                    ("entries", questions::entries(&self.session)),
                    ("leaf", questions::leaf(&self.session).as_deref().into()),
                    ("branchPath", id_list(self.session.get_branch(None))),
                ]));
            }
            "clone" => {
                self.session.clone_session()?;
                self.switched();
                return Ok(object([
                    ("leaf", questions::leaf(&self.session).as_deref().into()),
                    ("entries", id_list(self.session.get_entries())),
                ]));
            }
            "fork" => {
                let said = self.session.fork_before(&id_text)?;
                self.switched();
                return Ok(object([
                    ("text", text(&said)),
                    ("cancelled", false.into()),
                    ("leaf", questions::leaf(&self.session).as_deref().into()),
                    ("entries", id_list(self.session.get_entries())),
                ]));
            }
            "forkFrom" => {
                let source = self.first.clone().unwrap();
                let cwd = Path::new(op.str("cwd").unwrap());
                self.session = SessionManager::fork_from(&source, cwd, Some(&self.folder))?;
                self.switched();
                return Ok(object([
                    ("header", questions::value(self.session.get_header().json())),
                    ("entries", questions::entries(&self.session)),
                    ("leaf", questions::leaf(&self.session).as_deref().into()),
                ]));
            }
            _ => {
                let entry = self.new_entry(name, op);
                let made =
                    NewEntry::from_json(&entry.to_text()).and_then(|entry| self.session.append(&entry));
                return self.made(made);
            }
        }
        Ok(questions::leaf(&self.session).as_deref().into())
    }

    /// After going over to another session.
    fn switched(&mut self) {
        self.names.session(self.session.get_session_id());
        if let Some(path) = self.path() {
            self.names.file(&path);
        }
        self.note_all();
    }

    fn made(&mut self, made: Result<EntryId, AppendError>) -> Answer {
        let id = made?;
        self.names.note(&id);
        Ok(text(&id))
    }

    /// The entry that an operation appends, as its fields stand in the file.
    fn new_entry(&self, name: &str, op: &Json) -> Json {
        let real = |value: &Json| value.as_str().map_or(value.clone(), |id| text(&self.names.real(id)));
        let (kind, fields): (&str, &[(&str, &str)]) = match name {
            "appendMessage" => ("message", &[("message", "message")]),
            "appendCustom" => ("custom", &[("customType", "customType"), ("data", "data")]),
            "appendCustomMessage" => (
                "custom_message",
                &[
                    ("customType", "customType"),
                    ("content", "content"),
                    ("display", "display"),
                    ("details", "details"),
                ],
            ),
            "appendThinking" => ("thinking_level_change", &[("level", "thinkingLevel")]),
            "appendModel" => {
                ("model_change", &[("provider", "provider"), ("modelId", "modelId"), ("role", "role")])
            }
            "appendCompaction" => (
                "compaction",
                &[
                    ("summary", "summary"),
                    ("firstKeptEntryId", "firstKeptEntryId"),
                    ("tokensBefore", "tokensBefore"),
                    ("details", "details"),
                ],
            ),
            "appendSessionInfo" => ("session_info", &[("name", "name")]),
            "appendMode" => ("mode_change", &[("mode", "mode"), ("data", "data")]),
            "appendServiceTier" => ("service_tier_change", &[("tier", "serviceTier")]),
            "appendTtsr" => ("ttsr_injection", &[("rules", "injectedRules")]),
            "appendMcp" => ("mcp_tool_selection", &[("tools", "selectedToolNames")]),
            "appendEntry" => ("", &[]),
            other => panic!("no such operation: {other}"),
        };
        let mut members = std::collections::BTreeMap::new();
        if let Some(Json::Object(entry)) = op.get("entry") {
            members = entry.clone();
        } else {
            members.insert(b"type".to_vec(), text(kind));
        }
        for (from, to) in fields {
            if let Some(value) = op.get(from) {
                members.insert(to.as_bytes().to_vec(), value.clone());
            }
        }
        if name == "appendModel" {
            let model = format!("{}/{}", op.str("provider").unwrap(), op.str("modelId").unwrap());
            members.insert(b"model".to_vec(), text(&model));
        }
        for key in ["targetId", "firstKeptEntryId"] {
            if let Some(value) = members.get_mut(key.as_bytes()) {
                *value = real(value);
            }
        }
        Json::Object(members)
    }

    fn since(&self, op: &Json) -> Answer {
        let id = self.names.real(op.str("since").unwrap());
        let after = self.session.get_entry(&id).ok_or(Refused("no such entry".into()))?.position() + 1;
        let limit = op.get("limit").and_then(Json::as_number).map_or(usize::MAX, |limit| limit as usize);
        Ok(id_list(self.session.get_entries().skip(after).take(limit)))
    }

    fn context(&self, id: &Option<Option<String>>) -> Answer {
        context::context(&self.session, at(id.as_ref())).ok_or(Refused("no such entry".into()))
    }

    fn state(&self) -> Answer {
        Ok(object([
            ("leafId", questions::leaf(&self.session).as_deref().into()),
            ("entryCount", self.session.entry_count().into()),
            ("damagedLines", (self.session.damaged_lines() as usize).into()),
            ("sessionName", self.session.get_session_name().as_deref().into()),
            ("thinkingLevel", self.context(&None)?.get("thinkingLevel").cloned().unwrap_or(Json::Null)),
            ("isStreaming", false.into()),
        ]))
    }

    /// What holds after every vector.
    fn after(&mut self) -> Result<(), String> {
        let before = self.data.clone().unwrap_or_default();
        if let Some(first) = &self.first
            && !self.wrote
            && std::fs::read(first).unwrap_or_default() != before
        {
            return Err("the file was changed although nothing was written".into());
        }
        let old: HashSet<&[u8]> = before.split(|&b| b == b'\n').collect();
        for path in &self.names.files {
            let Ok(bytes) = std::fs::read(path) else { continue };
            for (number, line) in bytes.split(|&b| b == b'\n').enumerate() {
                let bare = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                let value = line_value(bare);
                let whole = matches!(&value, Json::Object(_)) && !value.has("$unparsable");
                if !(whole || value == text("") || old.contains(line) || old.contains(bare)) {
                    return Err(format!("{path} line {} is damaged: {}", number + 1, short(&value)));
                }
            }
        }
        if self.path().is_some_and(|path| path.exists()) {
            let shown = questions::tree(&self.session);
            self.reopen().map_err(|Refused(why)| format!("the file cannot be opened again: {why}"))?;
            if let Some(found) = difference(&shown, &questions::tree(&self.session), "tree after reopening") {
                return Err(found);
            }
        }
        Ok(())
    }
}

fn tail(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(4096)..]
}

/// The bytes of a vector's file; none if there is no file yet.
fn data_of(vector: &Json) -> Option<Vec<u8>> {
    if let Some(packed) = vector.str("file_gz_b64") {
        let packed = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        return Some(bytes);
    }
    vector.str("file").map(|file| file.as_bytes().to_vec())
}

/// What the model gets, less the wording.
fn model_shape(messages: &[Json]) -> Json {
    let row = |message: &Json| {
        let blocks = message.get("content").map(Json::as_list).unwrap_or_default();
        let calls = blocks.iter().filter(|block| block.str("type") == Some("toolCall"));
        let calls: Vec<Json> = calls.map(|call| call.get("id").cloned().unwrap_or(Json::Null)).collect();
        let member = |key| message.get(key).cloned().unwrap_or(Json::Null);
        let mut row = object([("role", member("role"))]);
        let Json::Object(members) = &mut row else { return row };
        if !calls.is_empty() {
            members.insert(b"calls".to_vec(), Json::List(calls));
        }
        if message.str("role") == Some("toolResult") {
            members.insert(b"of".to_vec(), member("toolCallId"));
            members.insert(b"isError".to_vec(), Json::Bool(member("isError") == Json::Bool(true)));
        }
        row
    };
    Json::List(messages.iter().map(row).collect())
}

/// The sessions of a folder, by the names of their ids.
fn listing(folder: &Path, names: &Names) -> Json {
    let mut sessions = library::list_folder(folder).sessions;
    sessions.sort_by_key(|session| names.canon(text(&session.id)).to_text());
    let row = |session: &library::SessionInfo| {
        object([
            ("id", text(&session.id)),
            ("path", session.path.to_str().into()),
            ("cwd", text(&session.cwd)),
            ("name", session.name.as_deref().into()),
            ("firstMessage", session.first_message.as_deref().into()),
            ("messageCount", session.messages.into()),
            ("parentSessionPath", session.parent_session.as_deref().into()),
        ])
    };
    Json::List(sessions.iter().map(row).collect())
}

fn most_recent(folder: &Path) -> Json {
    let found = library::most_recent(&library::list_folder(folder).sessions, None);
    found.as_deref().and_then(Path::to_str).into()
}

/// A line of a file with nothing lost.
fn line_value(line: &[u8]) -> Json {
    let line = escape_invalid(line);
    if line.iter().all(|b| b" \t\r\n".contains(b)) {
        return text("");
    }
    read(&line, Reading::Exact).unwrap_or_else(|| {
        let is_start = |byte: &u8| byte & 0xC0 != 0x80;
        let starts = line.iter().enumerate().filter(|(_, byte)| is_start(byte));
        let cut = match starts.map(|(at, _)| at).nth(400) {
            Some(at) => [&line[..at], "\u{2026}".as_bytes()].concat(),
            None => line.clone(),
        };
        object([("$unparsable", Json::Text(cut))])
    })
}

/// A file, line by line.
fn disk(path: &Path) -> Json {
    let Ok(bytes) = std::fs::read(path) else { return Json::Null };
    let mut value = object([("endsWithNewline", bytes.ends_with(b"\n").into())]);
    let Json::Object(members) = &mut value else { return value };
    let content = bytes.strip_prefix(b"\xef\xbb\xbf");
    if content.is_some() {
        members.insert(b"bom".to_vec(), true.into());
    }
    let mut lines: Vec<&[u8]> = content.unwrap_or(&bytes).split(|&b| b == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let crlf = lines.iter().filter(|line| line.ends_with(b"\r")).count();
    if crlf > 0 {
        members.insert(b"crlf".to_vec(), crlf.into());
    }
    members.insert(b"lines".to_vec(), Json::List(lines.into_iter().map(line_value).collect()));
    value
}

fn digest(value: &Json) -> Json {
    let canonical = value.canonical();
    let hash: String = Sha256::digest(&canonical).iter().map(|byte| format!("{byte:02x}")).collect();
    object([("sha256", text(&hash)), ("bytes", canonical.len().into())])
}
