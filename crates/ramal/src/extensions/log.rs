//! What extensions write to their console: lines of a file, so that it can be looked up when one does not do what
//! it should.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ramal_extension::LogLine;
use ramal_session::time;
use ramal_tui::text::clean;

use crate::state;

/// From this size on it begins anew; the one before is kept beside it.
const LONGEST: u64 = 4 << 20;

/// Characters of a line that are kept.
const WIDEST: usize = 4000;

/// The file, opened when there is something to write.
#[derive(Default)]
pub(super) struct Log(Mutex<Option<File>>);

/// Where it is; none where the environment names no place for it.
pub(crate) fn place() -> Option<PathBuf> {
    state::folder("extensions").map(|folder| folder.join("log"))
}

impl Log {
    pub(super) fn write(&self, line: &LogLine) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = open();
        }
        let Some(open) = &mut *file else { return };
        let stamp = time::format(time::now());
        let text = clean::one_line(&line.text, WIDEST);
        let name = clean::one_line(&line.extension, 80);
        if writeln!(open, "{stamp} {} {name}: {text}", line.level).is_err() {
            // A log that cannot be written is nobody's trouble.
            *file = None;
        }
    }
}

fn open() -> Option<File> {
    let place = place()?;
    state::create_folder(place.parent()?).ok()?;
    if std::fs::metadata(&place).is_ok_and(|file| file.len() > LONGEST) {
        let _ = std::fs::rename(&place, place.with_extension("before"));
    }
    state::open_to_append(&place).ok()
}
