//! `ramal` alone: the real program in a real pseudo-terminal, with recorded answers for a model.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
#[path = "../support/mod.rs"]
mod support;
mod world;

mod moving;
mod opening;
mod talking;
