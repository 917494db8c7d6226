//! Made-up sessions of any size, and the means to time whole processes on them.
//!
//! A real log of a gigabyte cannot stand in a repository, so the sessions that
//! timings run on are generated: the same seed gives the same bytes everywhere.
//! Nothing here knows the session library; a generator that shared its code
//! would share its mistakes.

pub mod folder;
pub mod generate;
pub mod preset;
pub mod random;
pub mod rss;
