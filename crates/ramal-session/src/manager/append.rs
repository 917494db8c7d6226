//! Appending: one entry, one line, one write, under the lock (contract, sections 1 and 11).

use std::io;
use std::path::PathBuf;

use super::intake::Last;
use super::{Durability, Place, SessionManager};
use crate::entry::id::{fresh_bits, short_id};
use crate::entry::{EntryId, Kind, time};
use crate::error::{AppendError, NoSuchEntry};
use crate::json::{self, Members, quote};
use crate::log::Log;
use crate::log::file::{self, AtPath, FileLog};
use crate::log::lock::{self, Locking};
use crate::log::scan::{self, Line, What};
use crate::migrate::Format;

/// An entry to be appended: its type and its own fields, as JSON text.
///
/// ```
/// use ramal_session::NewEntry;
/// let entry = NewEntry::new("custom").text("customType", "checkpoint").json("data", r#"{"commit":"abc"}"#);
/// ```
#[derive(Debug, Clone)]
pub struct NewEntry {
    kind: Kind,
    /// The type, as a JSON string.
    type_name: String,
    /// The other fields, each behind a comma.
    fields: String,
    /// A field that holds the entry's own id, which is only known when it is appended.
    own_id: Option<&'static str>,
    /// Why it cannot be appended.
    problem: Option<&'static str>,
}

const NO_ENTRY: &str = "lines of type `session` and `title` are no entries";
const GIVEN: &str = "`id`, `parentId` and `timestamp` are given when it is appended";

impl NewEntry {
    /// An entry of a type, without fields yet.
    pub fn new(type_name: &str) -> NewEntry {
        NewEntry {
            kind: Kind::of(type_name),
            type_name: quote(type_name),
            fields: String::new(),
            own_id: None,
            problem: matches!(type_name, "session" | "title").then_some(NO_ENTRY),
        }
    }

    /// Reads an entry from a JSON object that has a `type` and neither `id`, `parentId` nor
    /// `timestamp`: those are given when it is appended. Numbers and order stay as they are.
    ///
    /// # Errors
    /// [`AppendError::BadEntry`] if it is no such object, or its type is not one of entries.
    pub fn from_json(object: &str) -> Result<NewEntry, AppendError> {
        let bad = |why| AppendError::BadEntry { why };
        let object = json::clean(object.as_bytes());
        if !object.trim_start().starts_with('{') || !json::is_valid(&object) {
            return Err(bad("it is no JSON object"));
        }
        let type_name = json::get_str(object.as_bytes(), "type").ok_or(bad("it has no string `type`"))?;
        let mut entry = NewEntry::new(&type_name);
        for member in Members::new(object.as_bytes()) {
            let key = json::decode(&object.as_bytes()[member.key]);
            if key != "type" {
                entry = entry.member(&key, &object[member.value]);
            }
        }
        if let Some(why) = entry.problem {
            return Err(bad(why));
        }
        match &*type_name {
            "label" if !entry.has("targetId") => Err(bad("a label needs a `targetId`")),
            "message" if !object_has_object(&object, "message") => {
                Err(bad("a message entry needs a `message` object"))
            }
            _ => Ok(entry),
        }
    }

    /// Adds a field with a JSON value. The value's line breaks, if any, become spaces. An entry with a
    /// value that is no JSON, or with a field of the envelope, is refused when it is appended.
    pub fn json(self, key: &str, value: &str) -> NewEntry {
        let value = json::clean(value.as_bytes());
        let is_valid = json::is_valid(&value);
        let mut entry = self.member(key, &value);
        if !is_valid {
            entry.problem = Some("a value in it is no JSON");
        }
        entry
    }

    /// Adds a field; `value` is known to be JSON.
    fn member(mut self, key: &str, value: &str) -> NewEntry {
        match key {
            "type" => self.problem = Some("its `type` is given when it is made"),
            "id" | "parentId" | "timestamp" => self.problem = Some(GIVEN),
            _ => {}
        }
        self.fields += &format!(",{}:", quote(key));
        // A line break can only stand between tokens; an entry is one line.
        self.fields.extend(value.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        self
    }

    /// Adds a field that holds the id which the entry gets when it is appended.
    pub(super) fn own_id(mut self, key: &'static str) -> NewEntry {
        self.own_id = Some(key);
        self
    }

    /// Adds a field with a text.
    pub fn text(self, key: &str, value: &str) -> NewEntry {
        self.member(key, &quote(value))
    }

    /// Adds a field with a JSON value, if there is one.
    pub fn json_if(self, key: &str, value: Option<&str>) -> NewEntry {
        match value {
            Some(value) => self.json(key, value),
            None => self,
        }
    }

    fn object(&self) -> String {
        format!("{{\"type\":{}{}}}", self.type_name, self.fields)
    }

    fn has(&self, key: &str) -> bool {
        json::get(self.object().as_bytes(), key).is_some()
    }

    /// What kind of entry it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The envelope comes first: readers then need not look further.
    fn line(&self, id: &str, parent: Option<&str>, timestamp: &str) -> Vec<u8> {
        let parent = parent.map_or_else(|| "null".into(), quote);
        let (id, timestamp) = (quote(id), quote(timestamp));
        let NewEntry { type_name, fields, .. } = self;
        let own = self.own_id.map(|key| format!(",{}:{id}", quote(key))).unwrap_or_default();
        format!(
            "{{\"type\":{type_name},\"id\":{id},\"parentId\":{parent},\"timestamp\":{timestamp}{fields}{own}}}"
        )
        .into()
    }
}

fn object_has_object(object: &str, key: &str) -> bool {
    json::get(object.as_bytes(), key).is_some_and(|value| value.starts_with(b"{"))
}

impl SessionManager {
    /// Appends an entry as a child of the leaf; it becomes the leaf. Answers its id.
    ///
    /// When this returns, the entry is in the operating system's hands: a killed process does not
    /// lose it. [`SessionManager::sync`] forces it to disk. A `leaf` entry moves the leaf to its
    /// target. In a session that has no file yet, the file appears with the first message.
    ///
    /// # Errors
    /// If nothing was appended. The log is valid then, and the tree is as it was.
    pub fn append(&mut self, entry: &NewEntry) -> Result<EntryId, AppendError> {
        self.check_takes_entries()?;
        if let Some(why) = entry.problem {
            return Err(AppendError::BadEntry { why });
        }
        self.check_references(entry)?;
        let number = match &self.place {
            Place::Planned { .. } if entry.kind == Kind::Message => self.append_first_message(entry)?,
            Place::Memory | Place::Planned { .. } => self.append_in_memory(entry)?,
            Place::File => self.append_to_file(entry)?,
        };
        self.leaf = match self.tree.node(number).kind {
            Kind::Leaf => self.tree.landing(number).flatten(),
            _ => Some(number),
        };
        self.entry_id(number).map_err(|source| self.io_error(source))
    }

    /// A label, and a moved leaf, must name an entry that one can go to.
    fn check_references(&self, entry: &NewEntry) -> Result<(), AppendError> {
        if !matches!(entry.kind, Kind::Label | Kind::ContextEdit | Kind::Leaf) {
            return Ok(());
        }
        match json::get(entry.object().as_bytes(), "targetId") {
            Some(b"null") if entry.kind == Kind::Leaf => Ok(()),
            value => {
                let target = value.and_then(json::members::as_str);
                let target = target
                    .ok_or(AppendError::BadEntry { why: "its `targetId` must be the id of an entry" })?;
                let number = self.number_of(&target)?;
                if entry.kind == Kind::Leaf && self.tree.landing(number).is_none() {
                    // A `leaf` entry that leads nowhere: one cannot go there, either.
                    return Err(NoSuchEntry { id: target.into_owned().into() }.into());
                }
                Ok(())
            }
        }
    }

    /// An id that no entry of the log has.
    pub(crate) fn new_entry_id(&self) -> String {
        loop {
            let id = short_id(fresh_bits());
            if !self.tree.has_id(&id) {
                return id;
            }
        }
    }

    /// The line of an entry that hangs on the leaf.
    pub(super) fn line_of(&self, entry: &NewEntry) -> io::Result<Vec<u8>> {
        let id = self.new_entry_id();
        let parent = self.leaf.map(|leaf| self.entry_id(leaf)).transpose()?;
        Ok(entry.line(&id, parent.as_deref(), &time::format(time::now())))
    }

    fn append_in_memory(&mut self, entry: &NewEntry) -> Result<u32, AppendError> {
        let mut line = self.line_of(entry).map_err(|source| self.io_error(source))?;
        let offset = self.read.end;
        let len = line.len();
        line.push(b'\n');
        if let Log::Memory(bytes) = &mut self.log {
            bytes.extend_from_slice(&line);
        }
        self.take_in_own(offset, &line[..len], line.len() as u64)
    }

    /// Puts a line of our own into the tree: it begins at `offset` of the log, and `written` bytes
    /// were written from there.
    pub(super) fn take_in_own(&mut self, offset: u64, line: &[u8], written: u64) -> Result<u32, AppendError> {
        let own =
            Line { offset, len: line.len() as u64, number: self.read.lines + 1, what: scan::classify(line) };
        let What::Entry(envelope, details) = &own.what else {
            return Err(AppendError::BadEntry { why: "it cannot be read back" });
        };
        let details = details.as_deref().cloned();
        let added = self.tree.add(&self.log, &own, envelope, details, self.read.json_lines);
        let number = added.map_err(|source| self.io_error(source))?;
        let number = number.ok_or(AppendError::BadEntry { why: "its id is taken" })?;
        self.tree.settle();
        let whole = written > line.len() as u64;
        self.read.json_lines += 1;
        self.read.end = offset + written;
        if whole {
            self.read.lines += 1;
            self.read.settled = self.read.end;
        }
        self.note_tail(Last::Entry(offset));
        self.read.tail_is_damaged = false;
        Ok(number)
    }

    fn append_to_file(&mut self, entry: &NewEntry) -> Result<u32, AppendError> {
        // Each turn of the loop meets another state of the path; a few are plenty.
        for _ in 0..16 {
            let Log::File(log) = &mut self.log else { break };
            // None says that the path names another file; the one that is open can be locked all the same.
            if let Err(source) = log.writer() {
                return Err(self.io_error(source));
            }
            let locking = lock::lock(log.lockable());
            let locked = match locking {
                Ok(locking) => locking,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(AppendError::Locked { path: self.path_for_errors() });
                }
                Err(source) => return Err(self.io_error(source)),
            };
            self.has_locks = locked == Locking::Locked;
            let result = self.append_locked(entry);
            if let Log::File(log) = &self.log {
                lock::unlock(log.lockable());
            }
            if let Some(number) = result? {
                return Ok(number);
            }
        }
        Err(AppendError::Replaced { path: self.path_for_errors(), with: "another file again and again" })
    }

    /// With the lock held. None says that the log is another file now and all begins anew.
    fn append_locked(&mut self, entry: &NewEntry) -> Result<Option<u32>, AppendError> {
        let Log::File(log) = &self.log else { return Ok(None) };
        let len = match log.at_path().map_err(|source| self.io_error(source))? {
            AtPath::Same(len) => len,
            AtPath::Another => {
                self.follow_path()?;
                return Ok(None);
            }
            AtPath::Nothing => return self.write_missing(entry),
        };
        self.catch_up(len)?;
        self.wait_for_tail()?;
        self.check_takes_entries()?;
        if self.format.is_old() {
            self.migrate_file()?;
            return Ok(None);
        }
        self.write_line(entry)
    }

    /// What stands at the path may have become a log of a later version since the session was opened.
    pub(super) fn check_takes_entries(&self) -> Result<(), AppendError> {
        match self.read_only() {
            Some(why) => Err(AppendError::ReadOnly { path: self.path_for_errors(), why }),
            None => Ok(()),
        }
    }

    /// Writes the line. None says that it has to be tried again.
    fn write_line(&mut self, entry: &NewEntry) -> Result<Option<u32>, AppendError> {
        let line = self.line_of(entry).map_err(|source| self.io_error(source))?;
        let lead = usize::from(self.tail_is_open());
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if lead == 1 {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(&line);
        bytes.push(b'\n');
        let expected = self.read.end;
        let Log::File(log) = &self.log else {
            return Err(AppendError::BadEntry { why: "the session has no file" });
        };
        // Without a writer the lock is on the other descriptor: the path named another file a moment
        // ago. The next turn opens one and locks that.
        let Some(writer) = log.opened_writer() else { return Ok(None) };
        let written = file::append(writer, &bytes).map_err(|source| self.io_error(source))?;
        // All but the newline is enough: the next append puts it there.
        if written.count < bytes.len() - 1 {
            let error = written.error.unwrap_or_else(|| io::ErrorKind::WriteZero.into());
            return Err(self.io_error(error));
        }
        self.durability = match self.durability {
            Durability::Unknown => Durability::Unknown,
            _ => Durability::WithTheSystem,
        };
        let start = written.end - written.count as u64;
        if start < expected {
            // Somebody who does not lock cut the file short just before: where things stand is unknown.
            self.read_anew(None).map_err(|source| self.io_error(source))?;
            return Ok(self.own_line_at(start + lead as u64));
        }
        if start > expected {
            // Somebody who does not lock wrote in between: those bytes come first. If they were half a
            // line, ours was written into it and is damaged with it; then once more, behind that.
            self.catch_up(written.end)?;
            return Ok(self.own_line_at(start + lead as u64));
        }
        if lead == 1 {
            self.read.lines += 1;
            self.read.settled = expected + 1;
            if self.read.tail_is_damaged {
                self.damage.end_last();
            }
        }
        let after_lead = (written.count - lead) as u64;
        self.take_in_own(expected + lead as u64, &line, after_lead).map(Some)
    }

    /// The node of the line at `offset`, which was just read back.
    fn own_line_at(&self, offset: u64) -> Option<u32> {
        let nodes = &self.tree.nodes;
        let at = nodes.partition_point(|node| node.offset() < offset);
        nodes.get(at).is_some_and(|node| node.offset() == offset).then_some(at as u32)
    }

    /// The path names another file: if that continues this session, go on there.
    fn follow_path(&mut self) -> Result<(), AppendError> {
        let path = self.path_for_errors();
        let replaced = |with| AppendError::Replaced { path: path.clone(), with };
        let file = match FileLog::open(&path) {
            Ok(file) => file,
            // Gone again: the next look at the path will tell.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(self.io_error(source)),
        };
        let other = SessionManager::read(Log::File(file), &path, std::path::Path::new(self.header.cwd()));
        let other = other.map_err(|_| replaced("a file that is no session"))?;
        if !other.is_on_disk() {
            return Err(replaced("an empty file"));
        }
        if other.get_session_id() != self.get_session_id() {
            return Err(replaced("another session"));
        }
        let leaf =
            self.leaf.map(|leaf| self.entry_id(leaf)).transpose().map_err(|source| self.io_error(source))?;
        let leaf = match leaf {
            None => None,
            Some(id) => Some(
                other
                    .number_of(&id)
                    .ok()
                    .ok_or_else(|| replaced("a file without the entry that one stands at"))?,
            ),
        };
        self.go_on_in(other, leaf);
        Ok(())
    }

    /// Takes another reading of this session in place of the present one.
    pub(super) fn go_on_in(&mut self, other: SessionManager, leaf: Option<u32>) {
        let session_dir = self.session_dir.take();
        // Whoever put it there may not have forced it to disk.
        let durability = match self.durability {
            Durability::Unknown => Durability::Unknown,
            _ => Durability::WithTheSystem,
        };
        *self = other;
        self.session_dir = session_dir;
        self.durability = durability;
        self.leaf = leaf;
    }

    /// Forces everything appended so far to disk; to be called at the end of a turn and before closing.
    ///
    /// # Errors
    /// If the system could not do it. The session then says [`Durability::Unknown`] until it can.
    pub fn sync(&mut self) -> Result<(), AppendError> {
        if let (Log::File(log), Durability::WithTheSystem | Durability::Unknown) =
            (&self.log, self.durability)
        {
            match log.sync() {
                Ok(()) => self.durability = Durability::OnDisk,
                Err(source) => {
                    self.durability = Durability::Unknown;
                    return Err(self.io_error(source));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn path_for_errors(&self) -> PathBuf {
        self.get_session_file().map(PathBuf::from).unwrap_or_default()
    }

    pub(crate) fn io_error(&self, source: io::Error) -> AppendError {
        AppendError::Io { path: self.path_for_errors(), source }
    }

    pub(super) fn is_format(&self, format: &Format) -> bool {
        self.format == *format
    }
}

impl Drop for SessionManager {
    /// Forces what was appended to disk, as far as that can be done without telling anybody.
    fn drop(&mut self) {
        let _ = self.sync();
    }
}
