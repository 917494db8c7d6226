//! Session files as users of such programs reported them, and what each must show.
//!
//! Every `*.jsonl` in `tests/field_reports` is opened, read, appended to, copied and moved about in;
//! what only this one must show stands beside it in `NAME.expect.json`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use common::json::{Json, Reading, difference, read, text};
use common::pairs::unpaired;
use common::questions::{self, id_list};
use common::{context, files, light_scratch, on_threads};
use ramal_session::{At, SessionManager};

#[test]
fn every_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/field_reports");
    let reports = files(&folder, "jsonl");
    assert!(!reports.is_empty());
    let failures = on_threads(&reports, |path| {
        let mut case = Case::new(path);
        case.run();
        if case.bad.is_empty() { Ok(()) } else { Err(case.bad.join("\n    ")) }
    });
    for (at, failure) in &failures {
        eprintln!("{}: {failure}", reports[*at].file_stem().unwrap().to_string_lossy());
    }
    assert!(failures.is_empty(), "{} of {} reports fail", failures.len(), reports.len());
}

struct Case {
    name: String,
    data: Vec<u8>,
    expect: Json,
    bad: Vec<String>,
}

/// A fresh folder with the file in it.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    path: PathBuf,
}

impl Place {
    fn open(&self) -> Result<SessionManager, String> {
        SessionManager::open_in(&self.path, None, &self.root).map_err(|error| error.to_string())
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}

impl Case {
    fn new(path: &Path) -> Case {
        let expect = std::fs::read(path.with_extension("expect.json")).unwrap_or_else(|_| b"{}".to_vec());
        Case {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            data: std::fs::read(path).unwrap(),
            expect: read(&expect, Reading::Plain).unwrap(),
            bad: Vec::new(),
        }
    }

    fn place(&self) -> Place {
        let (folder, root) = light_scratch();
        let path = root.join(&self.name);
        common::write(&path, &self.data);
        Place { _folder: folder, root, path }
    }

    fn say(&mut self, what: impl Into<String>) {
        self.bad.push(what.into());
    }

    /// Compares with what is expected under a key, if anything is.
    fn check(&mut self, of: &Json, key: &str, got: impl Into<Json>) {
        if let Some(want) = of.get(key)
            && let Some(found) = difference(want, &got.into(), key)
        {
            self.say(found);
        }
    }

    fn run(&mut self) {
        let place = self.place();
        let expect = self.expect.clone();
        let session = match place.open() {
            Ok(session) => session,
            Err(_) => {
                self.check(&expect, "open", "refused");
                if place.bytes() != self.data {
                    self.say("the file was refused, but changed");
                }
                return;
            }
        };
        self.check(&expect, "open", "ok");
        self.reading(&session);
        let path_before = questions::ids(session.get_branch(None));
        drop(session);
        if place.bytes() != self.data {
            self.say("reading changed the file");
        }
        self.appending(&place, path_before);
        self.copies();
        self.forks();
        self.navigations();
    }

    fn reading(&mut self, session: &SessionManager) {
        let expect = self.expect.clone();
        let count = session.entry_count();
        let rows = questions::walk(session);
        let in_tree: BTreeSet<usize> = rows.iter().map(|(_, entry)| entry.position()).collect();
        if in_tree.len() != count || rows.len() != count {
            self.say(format!("the tree has {} rows, {} entries of {count}", rows.len(), in_tree.len()));
        }
        self.check(&expect, "entries", count);
        let damaged = session.damaged_lines() as usize;
        match expect.get("damaged") {
            Some(Json::List(range)) => {
                let [least, most] = [0, 1].map(|at| range[at].as_number().unwrap() as usize);
                if !(least..=most).contains(&damaged) {
                    self.say(format!("{damaged} damaged lines, not {least} to {most}"));
                }
            }
            _ => self.check(&expect, "damaged", damaged),
        }
        self.check(&expect, "leaf", questions::leaf(session).as_deref());
        self.check(&expect, "sessionName", session.get_session_name().as_deref());
        self.check(&expect, "path", id_list(session.get_branch(None)));
        self.roots(session, &expect);
        if let Some(most) = expect.get("maxNodes").and_then(Json::as_number)
            && rows.len() as f64 > most
        {
            self.say(format!("the tree has {} nodes", rows.len()));
        }
        self.check(&expect, "labels", labels(session));
        for (id, want) in expect.get("children").into_iter().flat_map(Json::members) {
            let got = id_list(session.get_children(Some(id)));
            self.bad.extend(difference(want, &got, &format!("children of {id}")));
        }
        self.context(session, At::Leaf, &expect, "leaf");
        self.leaves(session, &rows);
        for (id, of) in expect.get("at").into_iter().flat_map(Json::members) {
            self.check(of, "path", id_list(session.get_branch(Some(id))));
            self.context(session, At::Entry(id), of, &format!("at {id}"));
        }
    }

    fn roots(&mut self, session: &SessionManager, of: &Json) {
        let roots = session.get_tree();
        match of.get("roots") {
            Some(Json::List(_)) => self.check(of, "roots", id_list(roots)),
            _ => self.check(of, "roots", roots.len()),
        }
    }

    /// Branch and context of every leaf of the tree.
    fn leaves(&mut self, session: &SessionManager, rows: &[(usize, ramal_session::EntryRef<'_>)]) {
        let tips = rows.iter().filter(|(_, entry)| !entry.has_children()).take(300);
        for (_, tip) in tips {
            let id = questions::id(*tip);
            let branch = session.get_branch(Some(&id));
            if branch.last().map(|last| questions::id(*last)) != Some(id.clone()) {
                self.say(format!("the branch of {id} does not end at it"));
            }
            let places: HashSet<usize> = branch.iter().map(|entry| entry.position()).collect();
            if places.len() != branch.len() {
                self.say(format!("the branch of {id} holds an entry twice"));
            }
            self.context(session, At::Entry(&id), &Json::Null, &format!("at {id}"));
        }
    }

    /// Context and model input at a position, with what holds of every one.
    fn context(&mut self, session: &SessionManager, at: At<'_>, of: &Json, what: &str) {
        let Some(found) = context::context(session, at) else {
            self.say(format!("{what}: no context"));
            return;
        };
        let messages = found.get("messages").unwrap().as_list();
        let input = context::model_messages(session, at).unwrap();
        if let Some(wrong) = unpaired(&input) {
            self.say(format!("{what}: model input: {wrong}"));
        }
        self.check(of, "context", messages.iter().map(text_of).collect::<Vec<Json>>());
        let default = found.get("models").and_then(|models| models.get("default"));
        self.check(of, "model", default.cloned().unwrap_or(Json::Null));
        self.check(of, "thinkingLevel", found.get("thinkingLevel").cloned().unwrap_or(Json::Null));
        self.check(of, "modelInput", input.iter().map(row).collect::<Vec<Json>>());
        let shown = Json::List(messages.to_vec()).to_text();
        for key in ["notInContext", "not"] {
            for part in of.get(key).map(Json::as_list).unwrap_or_default() {
                if shown.contains(part.as_str().unwrap()) {
                    self.say(format!("{what}: {} is in the context", part.to_text()));
                }
            }
        }
    }

    fn appending(&mut self, place: &Place, mut path: Vec<String>) {
        let expect = self.expect.clone();
        let before = place.bytes();
        let mut session = place.open().unwrap();
        let message = r#"{"role":"user","content":"appended by a check","timestamp":1}"#;
        let id = match session.append_message(message) {
            Ok(id) => id.to_string(),
            Err(_) => {
                self.check(&expect, "append", "refused");
                if place.bytes() != before {
                    self.say("the append was refused, but the file changed");
                }
                return;
            }
        };
        drop(session);
        self.check(&expect, "append", "ok");
        let after = place.bytes();
        if !after.starts_with(&before) {
            self.rewritten(place);
        }
        let lines: Vec<&[u8]> = after.split(|&b| b == b'\n').collect();
        let last =
            if lines.len() > 1 && lines[lines.len() - 1].is_empty() { lines[lines.len() - 2] } else { b"" };
        if value_of(last).and_then(|value| value.str("id").map(String::from)).as_deref() != Some(&*id) {
            self.say("the appended entry does not stand on the last line");
        }
        let first = self.data.split(|&b| b == b'\n').next().unwrap_or_default();
        if expect.str("firstLine") == Some("kept") && lines[0] != first {
            self.say("the first line was changed");
        }
        let count = expect.get("lastLines").and_then(Json::as_number).map_or(1, |count| count as usize);
        if !lines[lines.len() - 1 - count..lines.len() - 1].iter().all(|line| value_of(line).is_some()) {
            self.say("a line at the end is no entry");
        }
        path.push(id.clone());
        match place.open() {
            Err(why) => self.say(format!("after the append the file cannot be opened: {why}")),
            Ok(session) => {
                let want: Vec<Json> = path.iter().map(|id| text(id)).collect();
                let got = id_list(session.get_branch(None));
                self.bad.extend(difference(&want.into(), &got, "path after append and reopening"));
                let times =
                    questions::ids(session.get_entries()).iter().filter(|found| **found == id).count();
                if times != 1 {
                    self.say(format!("after reopening the appended entry is there {times} times"));
                }
            }
        }
    }

    /// The append wrote the file anew: only an old version may be, and its bytes are kept.
    fn rewritten(&mut self, place: &Place) {
        let header = self.data.split(|&b| b == b'\n').filter_map(value_of);
        let header = header.into_iter().find(|value| value.str("type") == Some("session"));
        let version = header.as_ref().and_then(|header| header.get("version")?.as_number());
        if header.is_none() || version.is_some_and(|version| version > 2.0) {
            self.say("the append changed the bytes before it");
        }
        let folder = std::fs::read_dir(&place.root).unwrap();
        let kept =
            folder.map(|file| std::fs::read(file.unwrap().path()).unwrap()).any(|bytes| bytes == self.data);
        if !kept {
            self.say("the old version was rewritten and its bytes are kept nowhere beside it");
        }
    }

    fn copies(&mut self) {
        let expect = self.expect.clone();
        for (id, of) in expect.get("copy").into_iter().flat_map(Json::members) {
            let what = format!("copy at {id}");
            let place = self.place();
            let mut session = place.open().unwrap();
            let before = times(&session);
            let file = match session.create_branched_session(id) {
                Ok(file) => file.unwrap(),
                Err(error) => {
                    self.say(format!("{what}: {error}"));
                    continue;
                }
            };
            if !file.exists() || file.parent() != Some(&*place.root) {
                self.say(format!("{what}: no file, or not beside the session: {}", file.display()));
                continue;
            }
            if place.bytes() != self.data {
                self.say(format!("{what}: the source was changed"));
            }
            let after = times(&session);
            for entry in session.get_entries() {
                let parent = entry.read().unwrap().parent_id().map(String::from);
                if parent.is_some_and(|parent| !after.contains_key(&parent)) {
                    self.say(format!("{what}: the parent of {} is missing", questions::id(entry)));
                }
            }
            self.roots(&session, of);
            self.check(of, "labels", labels(&session));
            if of.get("sameTimes") == Some(&Json::Bool(true)) {
                for (id, time) in &after {
                    if before.get(id).is_some_and(|old| old != time) {
                        self.say(format!("{what}: another time for {id}"));
                    }
                }
            }
            let bytes = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            for part in of.get("not").map(Json::as_list).unwrap_or_default() {
                if bytes.contains(part.as_str().unwrap()) {
                    self.say(format!("{what}: {} is in the file", part.to_text()));
                }
            }
            self.context(&session, At::Leaf, of, &what);
        }
    }

    fn forks(&mut self) {
        let expect = self.expect.clone();
        for (id, of) in expect.get("fork").into_iter().flat_map(Json::members) {
            let place = self.place();
            let mut session = place.open().unwrap();
            let old: HashSet<String> = questions::ids(session.get_entries()).into_iter().collect();
            match session.fork_before(id) {
                Ok(said) => self.check(of, "text", &*said),
                Err(error) => self.say(format!("fork at {id}: {error}")),
            }
            let copied: Vec<Json> = questions::ids(session.get_entries())
                .into_iter()
                .filter(|id| old.contains(id))
                .map(|id| text(&id))
                .collect();
            self.check(of, "entries", copied);
        }
    }

    fn navigations(&mut self) {
        let expect = self.expect.clone();
        for (id, of) in expect.get("navigate").into_iter().flat_map(Json::members) {
            let place = self.place();
            let mut session = place.open().unwrap();
            match session.navigate(id, None) {
                Ok(moved) => self.check(of, "editorText", moved.editor_text.as_deref()),
                Err(error) => self.say(format!("going to {id}: {error}")),
            }
            self.check(of, "leaf", questions::leaf(&session).as_deref());
            self.context(&session, At::Leaf, of, &format!("after going to {id}"));
            if place.bytes() != self.data {
                self.say(format!("going to {id} changed the file"));
            }
        }
    }
}

/// A line that holds an object.
fn value_of(line: &[u8]) -> Option<Json> {
    let line = String::from_utf8_lossy(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)).into_owned();
    read(line.as_bytes(), Reading::Plain).filter(|value| matches!(value, Json::Object(_)))
}

fn times(session: &SessionManager) -> HashMap<String, Option<String>> {
    let entries = session.get_entries().map(|entry| entry.read().unwrap());
    entries.map(|entry| (entry.id().to_string(), entry.timestamp().map(String::from))).collect()
}

fn labels(session: &SessionManager) -> Json {
    let labelled = session.get_labels();
    let members = labelled.map(|entry| (questions::id(entry).into_bytes(), entry.label().into()));
    Json::Object(members.collect::<BTreeMap<_, _>>())
}

/// What a message of the context says.
fn text_of(message: &Json) -> Json {
    let member = |key| message.get(key).cloned().unwrap_or(Json::Null);
    if matches!(message.str("role"), Some("branchSummary" | "compactionSummary")) {
        return member("summary");
    }
    if message.has("command") {
        return member("command");
    }
    match message.get("content") {
        Some(content @ Json::Text(_)) => content.clone(),
        Some(Json::List(blocks)) => {
            let texts = blocks.iter().filter(|block| block.str("type") == Some("text"));
            text(&texts.filter_map(|block| block.str("text")).collect::<String>())
        }
        _ => text(""),
    }
}

/// A message of the model input in a word or two.
fn row(message: &Json) -> Json {
    let role = message.str("role").unwrap_or_default();
    if role != "toolResult" {
        return text(role);
    }
    let failed = if message.get("isError") == Some(&Json::Bool(true)) { "failed " } else { "" };
    text(&format!("{failed}result {}", message.str("toolCallId").unwrap_or_default()))
}
