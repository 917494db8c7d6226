//! Text fit for a terminal.
//!
//! What stands in a session file was written by models, tools and strangers' web pages, and a terminal
//! obeys what it is sent. So foreign text takes one road to the screen: [`clean`] makes it harmless,
//! [`width`] makes it fit, and who draws colours it by its [`Role`], in that order. [`human`] writes
//! numbers and times as people read them, [`says`] puts an entry into a line, and [`marks`] finds in it
//! what was searched for.

pub mod clean;
pub mod human;
mod look;
pub mod marks;
pub mod says;
pub mod width;

pub use look::Role;
