//! JSON read as bytes.
