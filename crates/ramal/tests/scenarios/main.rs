//! Scenarios: the real `ramal rpc`, a real server of HTTP that answers it, and the log that it leaves.
//!
//! Every test looks at three things: what came over RPC, what the server was asked (held against the rules of
//! the provider, and compared), and the file.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod again;
mod branch;
mod compaction;
mod handoff;
mod hooks;
mod hooks_at_work;
mod killed;
mod leaving;
mod navigation;
mod queue;
mod retries;
mod turns;
mod world;
mod writers;
