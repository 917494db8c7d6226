//! New sessions made of old ones: a branch, the whole path, the whole file (contract, section 7 and
//! section 14, "Copies").

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::entry::{EntryId, Header, Kind, time};
use crate::error::{CopyError, OpenError};
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
    /// If there is no such entry, or the new file could not be written; the session is as it was.
    pub fn create_branched_session(&mut self, leaf: &str) -> Result<Option<PathBuf>, CopyError> {
        let leaf = self.number_of(leaf)?;
        self.copy_path(Some(leaf))
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
        let plan = PathCopy::new(self, leaf);
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
    /// Left-out entries that something on the path may refer to, and what it refers to instead.
    moved: HashMap<u32, u32>,
}

impl PathCopy {
    fn new(session: &SessionManager, leaf: Option<u32>) -> PathCopy {
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
        PathCopy { kept: path.into_iter().filter(|number| !is_label(number)).collect(), moved }
    }

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
            if parent != session.tree.parent(number) || (parent.is_none() && !states_parent) {
                edit = edit.set("parentId", parent_id.as_deref().map_or_else(|| "null".into(), quote));
            }
            if let Some(anchor) = self.moved_anchor(session, number, &line)? {
                edit = edit.set("firstKeptEntryId", quote(&anchor));
            }
            if !edit.is_empty() {
                line = edit.apply(&line);
            }
            out(&line)?;
            out(b"\n")?;
            parent_id = Some(session.entry_id(number)?);
            parent = Some(number);
        }
        self.write_labels(session, parent_id, out)
    }

    /// The new anchor of a compaction that was anchored on an entry that is left out.
    fn moved_anchor(
        &self,
        session: &SessionManager,
        number: u32,
        line: &[u8],
    ) -> io::Result<Option<EntryId>> {
        if session.tree.node(number).kind != Kind::Compaction || self.moved.is_empty() {
            return Ok(None);
        }
        let anchor =
            json::get_str(line, "firstKeptEntryId").and_then(|id| session.tree.find_seen_from(&id, number));
        anchor.and_then(|anchor| self.moved.get(&anchor)).map(|&to| session.entry_id(to)).transpose()
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
        let mut used = HashSet::new();
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
            let target = session.entry_id(target)?;
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

/// Writes a new session file as a whole and opens it.
fn write_copy(path: &Path, write: impl FnOnce(&mut Draft) -> io::Result<()>) -> io::Result<SessionManager> {
    let mut draft = Draft::beside(path)?;
    write(&mut draft)?;
    let file = draft.place_new(path)?;
    let log = FileLog::from_file(path.into(), file)?;
    SessionManager::read(Log::File(log), path, Path::new("")).map_err(io::Error::other)
}
