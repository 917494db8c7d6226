//! Real processes and real faults: several writers, kills, full disks, calls that fail.
//!
//! What a session promises others is a promise about bytes in a file, whoever else has it open and
//! whatever happens to them. So the other side is a process of its own here: this test binary, run
//! again with [`worker`] as its only test and told by the environment what to do.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;
mod disk;
mod first_write;
mod foreign;
mod kill;
mod lock;
mod modes;
mod path;
mod shim;
mod worker;
mod writers;
