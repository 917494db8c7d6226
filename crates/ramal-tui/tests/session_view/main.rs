//! The view of the sessions: drawings, keys, searches, and what holds whatever is pressed.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod drawings;
mod keys;
mod notation;
mod properties;
mod searching;
