//! Where sessions live, how they are listed, and how one is found (contract, sections 13 and 14).
//!
//! Nothing here writes or deletes, but [`rename`], which appends a name, and [`trash`], which moves a session
//! away.

mod find;
mod listing;
mod names;
mod parallel;
mod places;
mod query;
mod rename;
mod search;
mod state;
#[cfg(test)]
mod tests;
mod trash;

pub use find::{Candidate, FindError, find};
pub use listing::{
    Heard, Listing, Problem, Scope, SessionInfo, list, list_all, list_each, list_folder, list_with,
    most_recent,
};
pub(crate) use names::id_in_name;
pub use names::{Lineage, check_id, file_name, short_ids};
pub use places::{Origin, Places};
pub use query::{Pattern, PatternError, Query, Term};
pub use rename::{RenameError, rename};
pub use search::{TextMatch, search};
pub use state::{LastMessage, SessionState};
pub use trash::{TrashError, TrashProgram, Trashed, trash};
