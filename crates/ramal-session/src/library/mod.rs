//! Where sessions live, how they are listed, and how one is found (contract, sections 13 and 14).
//!
//! Nothing here writes or deletes.

mod find;
mod listing;
mod names;
mod places;
#[cfg(test)]
mod tests;

pub use find::{Candidate, FindError, find};
pub use listing::{
    Listing, Problem, Scope, SessionInfo, list, list_all, list_folder, list_with, most_recent,
};
pub(crate) use names::id_in_name;
pub use names::{Lineage, check_id, file_name, short_ids};
pub use places::{Origin, Places};
