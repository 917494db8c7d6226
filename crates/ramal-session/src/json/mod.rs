//! JSON read as bytes.

pub mod balance;
