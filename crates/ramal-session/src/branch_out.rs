//! New sessions made of old ones: a branch, the whole path, the whole file (contract, section 7 and
//! section 14, "Copies").

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::entry::id::IdKey;
use crate::entry::{EntryId, Header, Kind, time};
use crate::error::{CopyError, NoSuchEntry, OpenError};
use crate::json::{self, ObjectEdit, quote};
use crate::library;
use crate::log::Log;
use crate::log::file::FileLog;
use crate::log::replace::Draft;
use crate::manager::SessionManager;
use crate::manager::new_session_id;
use crate::tree::node::Flags;

impl SessionManager {
    /// Copies the path from the root to `leaf` into a session of its own and goes on there.
    ///
    /// The copy is complete in itself: the chain is closed over the `label` entries that are left
    /// out, a compaction's anchor on one of them moves to the next kept entry, and the labels in
    /// force come along as fresh entries behind the last one, with their times. Everything else
    /// keeps its bytes. Answers the path of the new file; none in memory.
    ///
    /// # Errors
    /// If there is no such entry, it leads before the first one, or the new file could not be written;
    /// the session is as it was.
    pub fn create_branched_session(&mut self, leaf: &str) -> Result<Option<PathBuf>, CopyError> {
        // A `leaf` entry is no place to be: what it leads to is copied.
        let number = self.number_of(leaf)?;
        match self.tree.landing(number).ok_or_else(|| NoSuchEntry { id: leaf.into() })? {
            Some(leaf) => self.copy_path(Some(leaf)),
            None => Err(CopyError::Empty),
        }
    }

    /// Copies the whole active path into a session of its own and goes on there.
    ///
    /// # Errors
    /// If the leaf is before the first entry, or the new file could not be written.
    pub fn clone_session(&mut self) -> Result<Option<PathBuf>, CopyError> {
        match self.leaf_number() {
            Some(leaf) => self.copy_path(Some(leaf)),
            None => Err(CopyError::Empty),
        }
    }

    /// The active path as a session of its own, handed out line by line: what
    /// [`SessionManager::clone_session`] would write. This session stays where it is. Each line comes with
    /// its newline, the header first; an entry is in memory at a time.
    ///
    /// # Errors
    /// If the leaf is before the first entry, the log cannot be read any more, or `line` fails: then what
    /// it says, and no path, since only `line` knows where it writes.
    pub fn write_path(&self, line: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<(), CopyError> {
        let leaf = self.leaf_number().ok_or(CopyError::Empty)?;
        let plan = PathCopy::new(self, Some(leaf)).map_err(|source| self.read_error(leaf, source))?;
        let header = format!("{}\n", self.copied_header().json());
        let mut is_refused = false;
        let mut line = |bytes: &[u8]| line(bytes).inspect_err(|_| is_refused = true);
        let written = line(header.as_bytes()).and_then(|()| plan.write(self, &mut line));
        written.map_err(|source| match is_refused {
            true => CopyError::Write { path: PathBuf::new(), source },
            false => self.read_error(leaf, source).into(),
        })
    }

    /// Begins a session anew from before a user message, to say it another way: a copy of the path to
    /// its parent, or an empty session with this one as its origin if the message is a root. Answers
    /// the message's text.
    ///
    /// An empty session has no file before its first message; see [`SessionManager::write_now`].
    ///
    /// # Errors
    /// If there is no such entry, it is no user message, or the new file could not be written.
    pub fn fork_before(&mut self, id: &str) -> Result<String, CopyError> {
        let number = self.number_of(id)?;
        if !self.is_user_message(number) {
            return Err(CopyError::NotAUserMessage { id: id.into() });
        }
        let text = self.entry(number)?.text();
        match self.parent_number(number) {
            Some(parent) => {
                self.copy_path(Some(parent))?;
            }
            None => {
                let header = self.copied_header();
                let fresh = self.planned_beside(header)?;
                self.replace_with(fresh);
            }
        }
        Ok(text)
    }

    /// Copies a whole session file into a new session for work in `cwd`: below `session_dir`, or
    /// below the program's own folder for `cwd`. An old version is migrated in the copy. The source
    /// is not touched.
    ///
    /// # Errors
    /// If the source cannot be read or is no session, or the new file cannot be written.
    pub fn fork_from(
        source: &Path,
        cwd: &Path,
        session_dir: Option<&Path>,
    ) -> Result<SessionManager, CopyError> {
        // An empty session would be made at a path where nothing is: here that is an error.
        if let Err(error) = std::fs::metadata(source) {
            return Err(OpenError::Io { path: source.into(), source: error }.into());
        }
        let old = SessionManager::open_in(source, None, cwd)?;
        let folder = match session_dir {
            Some(folder) => folder.to_owned(),
            None => library::Places::from_environment().own_folder(cwd)?,
        };
        let (id, now) = (new_session_id(), time::now());
        let path = folder.join(library::file_name(&id, now)?);
        let origin = crate::log::replace::real_path(source);
        let header = Header::new(id, now, &cwd.to_string_lossy(), Some(&origin.to_string_lossy()));
        let write = |draft: &mut Draft| {
            draft.write_all(header.json().as_bytes())?;
            draft.write_all(b"\n")?;
            for entry in old.get_entries() {
                draft.write_all(&old.copied_line(entry.position() as u32)?)?;
                draft.write_all(b"\n")?;
            }
            Ok(())
        };
        let mut copy =
            write_copy(&path, write).map_err(|source| CopyError::Write { path: path.clone(), source })?;
        copy.set_session_dir(Some(folder));
        Ok(copy)
    }

    /// The line of an entry as it goes into a copy: with an id of its own.
    fn copied_line(&self, number: u32) -> io::Result<Vec<u8>> {
        let line = self.line(number)?;
        if !self.tree.node(number).flags.has(Flags::NO_ID) {
            return Ok(line);
        }
        let id = self.entry_id(number)?;
        Ok(ObjectEdit::new().set("id", quote(&id)).set("parentId", "null").apply(&line))
    }

    fn copied_header(&self) -> Header {
        let origin = self.get_session_file().map(|path| path.to_string_lossy().into_owned());
        Header::new(new_session_id(), time::now(), self.get_cwd(), origin.as_deref())
    }

    fn copy_path(&mut self, leaf: Option<u32>) -> Result<Option<PathBuf>, CopyError> {
        let header = self.copied_header();
        let plan = PathCopy::new(self, leaf).map_err(|source| self.read_error(leaf.unwrap_or(0), source))?;
        let session_dir = self.get_session_dir().map(PathBuf::from);
        let mut copy = match self.is_persisted() {
            false => {
                let mut copy = SessionManager::blank(header);
                let mut lines = Vec::new();
                let written = plan.write(self, &mut |bytes| {
                    lines.extend_from_slice(bytes);
                    Ok(())
                });
                written.map_err(|source| CopyError::Write { path: PathBuf::new(), source })?;
                copy.take_in_copied(&lines)?;
                copy
            }
            true => {
                let path = self.path_for_copy(&header)?;
                let write = |draft: &mut Draft| {
                    draft.write_all(header.json().as_bytes())?;
                    draft.write_all(b"\n")?;
                    plan.write(self, &mut |bytes| draft.write_all(bytes))
                };
                write_copy(&path, write).map_err(|source| CopyError::Write { path: path.clone(), source })?
            }
        };
        copy.stand_at_last();
        copy.set_session_dir(session_dir);
        self.replace_with(copy);
        Ok(self.get_session_file().map(PathBuf::from))
    }
}

/// What a copy of a path holds.
struct PathCopy {
    kept: Vec<u32>,
    /// Where each kept entry stands in `kept`; looked at only where entries share ids.
    places: HashMap<u32, usize>,
    /// The first kept entry with each id, likewise.
    firsts: HashMap<IdKey, usize>,
    /// Left-out entries that something on the path may refer to, and what it refers to instead.
    moved: HashMap<u32, u32>,
    /// Ids for entries that cannot keep theirs: another one in the copy has it, and a reference would
    /// mean the wrong one.
    fresh: HashMap<u32, EntryId>,
}

impl PathCopy {
    fn new(session: &SessionManager, leaf: Option<u32>) -> io::Result<PathCopy> {
        let path = leaf.map(|leaf| session.tree.path(leaf)).unwrap_or_default();
        let is_label = |number: &u32| session.tree.node(*number).kind == Kind::Label;
        let mut moved = HashMap::new();
        let mut next = None;
        for number in path.iter().rev() {
            if is_label(number) {
                if let Some(next) = next {
                    moved.insert(*number, next);
                }
            } else {
                next = Some(*number);
            }
        }
        let kept = path.into_iter().filter(|number| !is_label(number)).collect();
        let (places, firsts, fresh) = Default::default();
        let mut copy = PathCopy { kept, places, firsts, moved, fresh };
        if session.tree.shared_ids() > 0 {
            copy.tell_apart(session)?;
        }
        Ok(copy)
    }

    /// In a copy fewer entries stand in another order. Where ids are shared, a reference may come to
    /// mean another entry: then those that have an id second get one of their own.
    fn tell_apart(&mut self, session: &SessionManager) -> io::Result<()> {
        let key = |number: u32| session.tree.node(number).id;
        for (place, &number) in self.kept.iter().enumerate() {
            self.places.insert(number, place);
            self.firsts.entry(key(number)).or_insert(place);
        }
        if self.firsts.len() == self.kept.len() {
            return Ok(());
        }
        let mut above = Above::default();
        let mut is_clear = true;
        for (place, &number) in self.kept.iter().enumerate() {
            if let Some(before) = place.checked_sub(1) {
                let parent = key(self.kept[before]);
                is_clear &= parent != key(number) && above.find(parent) == Some(before);
            }
            if let Some(member) = refers_by(session.tree.node(number).kind) {
                let stated = json::get_str(&session.line(number)?, member).map(|id| id.into_owned());
                let stated = stated.unwrap_or_default();
                let meant = self.meant(session, number, &stated);
                let found = IdKey::of(stated.as_bytes())
                    .and_then(|key| above.find(key).or_else(|| self.firsts.get(&key).copied()));
                is_clear &= match meant {
                    Some(meant) => self.places.get(&meant).copied() == found,
                    // If another one is found, it will name itself instead, which must be clear, too.
                    None => found.is_none() || above.find(key(number)).is_none(),
                };
            }
            above.add(key(number), place, session.tree.node(number).kind);
        }
        let labelled = |number: &u32| session.tree.label(*number).is_some();
        is_clear &= self
            .kept
            .iter()
            .enumerate()
            .all(|(place, number)| !labelled(number) || above.find(key(*number)) == Some(place));
        if !is_clear {
            for (place, &number) in self.kept.iter().enumerate() {
                if self.firsts.get(&key(number)) != Some(&place) {
                    self.fresh.insert(number, session.new_entry_id().into());
                }
            }
        }
        Ok(())
    }

    /// The kept entry that an id in the entry `number` means; none if it is not on the path.
    fn meant(&self, session: &SessionManager, number: u32, id: &str) -> Option<u32> {
        let target = session.tree.find_seen_from(id, number)?;
        let target = self.moved.get(&target).copied().unwrap_or(target);
        self.places.contains_key(&target).then_some(target)
    }

    /// The id of an entry in the copy.
    fn id_in_copy(&self, session: &SessionManager, number: u32) -> io::Result<EntryId> {
        match self.fresh.get(&number) {
            Some(id) => Ok(id.clone()),
            None => session.entry_id(number),
        }
    }

    /// Hands out one line after the other, each with its newline.
    fn write(
        &self,
        session: &SessionManager,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut parent: Option<u32> = None;
        let mut parent_id: Option<EntryId> = None;
        for &number in &self.kept {
            let mut line = session.copied_line(number)?;
            let mut edit = ObjectEdit::new();
            let states_parent = json::get(&line, "parentId").is_some_and(|value| value == b"null");
            let has_fresh = |number: u32| self.fresh.contains_key(&number);
            if parent != session.tree.parent(number)
                || (parent.is_none() && !states_parent)
                || parent.is_some_and(has_fresh)
            {
                edit = edit.set("parentId", parent_id.as_deref().map_or_else(|| "null".into(), quote));
            }
            let id = self.id_in_copy(session, number)?;
            if has_fresh(number) {
                edit = edit.set("id", quote(&id));
            }
            if let Some(member) = refers_by(session.tree.node(number).kind)
                && let Some(other) = self.other_reference(session, number, &line, member)?
            {
                edit = edit.set(member, quote(&other));
            }
            if !edit.is_empty() {
                line = edit.apply(&line);
            }
            line.push(b'\n');
            out(&line)?;
            parent_id = Some(id);
            parent = Some(number);
        }
        self.write_labels(session, parent_id, out)
    }

    /// What has to stand in place of the id of an entry that the line of `number` names in `member`:
    /// that entry has another id in the copy, or is left out. None if the id can stay.
    fn other_reference(
        &self,
        session: &SessionManager,
        number: u32,
        line: &[u8],
        member: &str,
    ) -> io::Result<Option<EntryId>> {
        if self.moved.is_empty() && self.places.is_empty() {
            return Ok(None);
        }
        let Some(stated) = json::get_str(line, member) else { return Ok(None) };
        let target = session.tree.find_seen_from(&stated, number);
        let moved = target.and_then(|target| self.moved.get(&target)).copied();
        let other = match (moved, target) {
            (Some(moved), _) if session.tree.node(number).kind == Kind::Compaction => Some(moved),
            (_, Some(target)) if self.fresh.contains_key(&target) => Some(target),
            // What it means is not in the copy, but another entry with that id is: it names itself,
            // which keeps and changes nothing.
            (_, Some(target)) if !self.places.is_empty() && !self.places.contains_key(&target) => {
                let is_taken = IdKey::of(stated.as_bytes()).is_some_and(|key| self.firsts.contains_key(&key));
                is_taken.then_some(number)
            }
            _ => None,
        };
        other.map(|other| self.id_in_copy(session, other)).transpose()
    }

    /// Labels in force on what was copied, as a chain behind it, with the times at which they were
    /// set. Their order is that in which the entries came to have a label.
    fn write_labels(
        &self,
        session: &SessionManager,
        mut parent: Option<EntryId>,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let tree = &session.tree;
        let labelled =
            |&target: &u32| Some((tree.labelled_since(target)?, tree.label_entry(target)?, target));
        let mut labels: Vec<(u32, u32, u32)> = self.kept.iter().filter_map(labelled).collect();
        labels.sort_unstable();
        let mut used: HashSet<String> = self.fresh.values().map(ToString::to_string).collect();
        for (_, set_by, target) in labels {
            let Some(text) = session.tree.label(target) else { continue };
            let id = loop {
                let id = session.new_entry_id();
                if used.insert(id.clone()) {
                    break id;
                }
            };
            let line = session.line(set_by)?;
            let timestamp = json::get(&line, "timestamp").map(json::clean).unwrap_or_else(|| "null".into());
            let target = self.id_in_copy(session, target)?;
            let parent_id = parent.as_deref().map_or_else(|| "null".into(), quote);
            let line = format!(
                "{{\"type\":\"label\",\"id\":{},\"parentId\":{parent_id},\"timestamp\":{timestamp},\"targetId\":{},\"label\":{}}}\n",
                quote(&id),
                quote(&target),
                quote(text)
            );
            out(line.as_bytes())?;
            parent = Some(EntryId::from(&*id));
        }
        Ok(())
    }
}

/// The entries of a copy that stand above a place, by their ids.
#[derive(Default)]
struct Above {
    conversation: HashMap<IdKey, usize>,
    bookkeeping: HashMap<IdKey, usize>,
}

impl Above {
    fn add(&mut self, key: IdKey, place: usize, kind: Kind) {
        let places = if kind.is_conversation() { &mut self.conversation } else { &mut self.bookkeeping };
        places.insert(key, place);
    }

    /// What an id means here (contract, section 2, "Links").
    fn find(&self, key: IdKey) -> Option<usize> {
        self.conversation.get(&key).or_else(|| self.bookkeeping.get(&key)).copied()
    }
}

/// The member by which an entry of a kind means another one, besides its parent.
fn refers_by(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Compaction => Some("firstKeptEntryId"),
        Kind::ContextEdit | Kind::Leaf => Some("targetId"),
        _ => None,
    }
}

/// Writes a new session file as a whole and opens it.
fn write_copy(path: &Path, write: impl FnOnce(&mut Draft) -> io::Result<()>) -> io::Result<SessionManager> {
    let mut draft = Draft::beside(path)?;
    write(&mut draft)?;
    let file = draft.place_new(path)?;
    let log = FileLog::from_file(path.into(), file)?;
    SessionManager::read(Log::File(log), path, Path::new("")).map_err(io::Error::other)
}
