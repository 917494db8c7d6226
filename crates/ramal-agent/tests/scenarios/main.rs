//! A session at work, scenario by scenario, with a model that says what it is told to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail this way")]

mod at_once;
mod compaction;
mod hooks;
mod navigation;
mod queue;
mod replacement;
mod retries;
mod support;
mod turns;
