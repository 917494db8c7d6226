//! Entries read from the log by their nodes.

use std::io;
use std::path::PathBuf;

use super::SessionManager;
use crate::entry::id::IdKey;
use crate::entry::{Entry, EntryId, Kind};
use crate::error::{NoSuchEntry, ReadError};
use crate::json::{self, Members, ObjectEdit, quote};
use crate::migrate;
use crate::tree::node::Flags;

impl SessionManager {
    /// The node that an id means when asked from outside, if one can go there.
    pub(crate) fn number_of(&self, id: &str) -> Result<u32, NoSuchEntry> {
        self.tree
            .find(id)
            .filter(|&number| !self.tree.node(number).flags.has(Flags::NO_ID))
            .ok_or_else(|| NoSuchEntry { id: id.into() })
    }

    /// The id of a node.
    pub(crate) fn entry_id(&self, number: u32) -> io::Result<EntryId> {
        let node = self.tree.node(number);
        if let Some(text) = node.id.text() {
            return Ok(text.into());
        }
        // A long id is not held; its line has it.
        let line = self.log.read(node.offset(), node.len())?;
        Ok(long_id(&line, node.id))
    }

    /// The line of a node, as the present version of the format has it.
    pub(crate) fn line(&self, number: u32) -> io::Result<Vec<u8>> {
        let node = self.tree.node(number);
        let raw = self.log.read(node.offset(), node.len())?;
        if !node.flags.has(Flags::MIGRATED) && !self.tree.hooks_are_custom {
            return Ok(raw);
        }
        // Ids of a version-1 log are all made up, so that none has to be read.
        let id_of = |number: u32| EntryId::from(self.tree.node(number).id.text().unwrap_or_default());
        Ok(migrate::entry(&raw, &self.tree, number, &id_of).into_owned())
    }

    /// The entry of a node, read whole.
    pub(crate) fn entry(&self, number: u32) -> Result<Entry, ReadError> {
        self.try_entry(number).map_err(|source| self.read_error(number, source))
    }

    fn try_entry(&self, number: u32) -> io::Result<Entry> {
        let node = self.tree.node(number);
        let mut line = self.line(number)?;
        let id = match node.id.text() {
            Some(text) => EntryId::from(text),
            None => long_id(&line, node.id),
        };
        if node.flags.has(Flags::NO_ID) {
            line = ObjectEdit::new().set("id", quote(&id)).apply(&line);
        }
        Ok(Entry::new(line, id, node.kind, node.role, node.time))
    }

    pub(crate) fn read_error(&self, number: u32, source: io::Error) -> ReadError {
        let id = self.tree.node(number).id.text().unwrap_or_else(|| format!("number {}", number + 1));
        ReadError { id: id.into(), path: self.path_for_reads(), source }
    }

    fn path_for_reads(&self) -> PathBuf {
        self.get_session_file().map(PathBuf::from).unwrap_or_default()
    }

    /// The exact bytes of an entry's line in the log, without its newline. What an old version says
    /// stands there as it was written.
    ///
    /// # Errors
    /// If there is no such entry ([`None`]), or the log cannot be read.
    pub fn get_raw(&self, id: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(number) = self.tree.find(id) else { return Ok(None) };
        let node = self.tree.node(number);
        self.log.read(node.offset(), node.len()).map(Some).map_err(|source| self.read_error(number, source))
    }

    /// The text that goes into the editor when one goes to an entry: that of a user message or an
    /// injected message.
    pub(crate) fn editor_text(&self, number: u32) -> Result<Option<String>, ReadError> {
        Ok(self.goes_before(number).then(|| self.entry(number)).transpose()?.map(|entry| entry.text()))
    }

    /// Whether going to an entry means going to its parent, to say it again another way.
    pub(crate) fn goes_before(&self, number: u32) -> bool {
        let node = self.tree.node(number);
        node.kind == Kind::CustomMessage
            || (node.kind == Kind::Message && node.role == crate::entry::Role::User)
    }
}

/// The id of a line whose node holds only a key of it. Of several members called `id` it is the one
/// that the tree knows.
fn long_id(line: &[u8], key: IdKey) -> EntryId {
    let stated = Members::new(line)
        .filter(|member| json::decode(&line[member.key.clone()]) == "id")
        .filter_map(|member| json::members::as_str(&line[member.value]))
        .find(|id| IdKey::of(id.as_bytes()) == Some(key));
    stated.unwrap_or_default().into_owned().into()
}
