//! Real extensions around a real session whose model plays a script.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail this way, and writes files of its own"
)]

mod support;

mod around;
mod commands;
mod events;
mod files;
mod hostile;
mod models;
mod modules;
mod network;
mod programs;
mod replaced;
mod rest;
mod sessions;
mod stubborn;
mod surface;
mod tools;
mod tricks;
