//! What is damaged in a log, where, and how it is mended (contract, sections 2 and 14).
//!
//! Opening a session reads its envelopes; a check reads everything, one entry at a time.

mod blocks;
mod repair;
mod report;
#[cfg(test)]
mod tests;

pub use crate::log::scan::Flaw;
pub use repair::{Mended, RepairError, Repaired, repair};
pub use report::{Finding, Report, Severity, Trouble};

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
