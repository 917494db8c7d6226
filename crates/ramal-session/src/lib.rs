//! Sessions of coding agents as trees in append-only logs.
pub mod json;
