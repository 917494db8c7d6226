//! `ramal` alone: the real program in a real pseudo-terminal, with recorded answers for a model.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod abort;
mod doing;
mod drafts;
mod escape;
mod extensions;
mod keys;
mod labels;
mod leaving;
mod library;
mod moving;
mod odd;
mod opening;
mod recording;
mod resizing;
mod screens;
mod slash;
mod summing_up;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../support/mod.rs"]
mod support;
mod talking;
mod world;
