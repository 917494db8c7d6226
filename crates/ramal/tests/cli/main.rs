//! The commands, run as people run them: the real program, in a home of its own.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod change;
mod check;
mod copies;
mod diff;
mod export;
mod extensions;
mod hostile;
mod look;
mod ls;
mod models;
mod program;
mod world;
