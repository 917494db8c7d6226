//! The examples that users are shown, each at work in a real session whose model plays a script.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail this way, and writes files of its own"
)]

#[path = "../extensions/support.rs"]
#[allow(dead_code, reason = "shared with the tests of single functions")]
mod support;

mod documentation;
mod files;
mod git;
mod talk;
mod tree;
