//! The terminal: what stands between a session at work and somebody's eyes and hands.
//!
//! [`text`] makes text from outside fit for a terminal.

pub mod text;
