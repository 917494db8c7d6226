//! The `ramal` program.

#[allow(dead_code, reason = "the commands that draw with it are still to come")]
mod view;

fn main() {}
