//! The tree selector through its commands: in drawings, by properties, and over odd sessions.

#![allow(clippy::unwrap_used, reason = "a test may fail this way")]

mod drawings;
mod following;
mod notation;
mod odd;
mod properties;
mod searching;
