//! JSON read as bytes: is a line whole, where do an object's members stand, what does a string say.
//!
//! Payloads are never turned into a tree of values here: what was not changed on purpose keeps its
//! bytes, so members are found, cut out and replaced as ranges of the line they stand in.

pub mod balance;
pub mod edit;
pub mod members;
pub mod text;

pub use edit::ObjectEdit;
pub use members::{Member, Members, find, get, get_str};
pub use text::{clean, decode, is_valid, quote};
