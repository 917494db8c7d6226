//! Real extensions around a real session whose model plays a script.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail this way, and writes files of its own"
)]

mod support;

mod commands;
mod events;
mod files;
mod hostile;
mod modules;
mod network;
mod programs;
mod sessions;
mod stubborn;
mod tools;
mod tricks;
