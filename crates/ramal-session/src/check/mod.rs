//! What is damaged in a log, where, and how it is mended.

pub use crate::log::scan::Flaw;

/// A line that could not be used. Its bytes stay in the log, where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The number of the line, counted from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its bytes, without the newline.
    pub len: u64,
    /// What is wrong with it.
    pub flaw: Flaw,
}
