//! What the tests of several crates share. Nothing that is shipped leans on it.
//!
//! A provider of our own: a real server of HTTP on loopback ([`server`]) that plays what it was told to,
//! written as a provider of one of the four interfaces would write it ([`says`]). What it was asked is held
//! against the rules of that interface ([`rules`]) and told as a list of what was said ([`asked`]). And a real
//! `ramal rpc` in a folder of its own ([`program`]), with the log that it leaves behind ([`log`]).
//!
//! A terminal of our own: a real pseudo-terminal with an emulator behind it ([`terminal`]), and files that a
//! screen is compared with ([`screens`]).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub mod asked;
pub mod endpoint;
pub mod log;
pub mod program;
pub mod rules;
pub mod says;
pub mod screens;
pub mod server;
#[cfg(unix)]
pub mod terminal;
