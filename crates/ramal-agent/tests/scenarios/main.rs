//! A session at work, scenario by scenario, with a model that says what it is told to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail this way")]

mod again;
mod at_once;
mod compaction;
mod context;
mod elsewhere;
mod extended;
mod handoff;
mod hooks;
mod navigation;
mod queue;
mod replacement;
mod retries;
mod side_question;
mod support;
mod turns;
