//! The `ramal` program.
fn main() {}
