//! Requests read in a thread of their own, so that the client can write while an answer is made.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::failure;

/// Requests that are read ahead. A client that writes on without reading answers waits then.
const AHEAD: usize = 64;

/// The lines of standard input, split at line feeds only. Ends with the input; a last line that has
/// no line feed counts.
///
/// # Errors
/// If no thread can be started.
pub(super) fn lines() -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = sync_channel(AHEAD);
    let read = move || {
        let mut input = io::BufReader::with_capacity(64 * 1024, io::stdin());
        loop {
            let mut line = Vec::new();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
                Err(error) => {
                    failure::warn(&format!("the requests cannot be read any more: {error}"));
                    break;
                }
            }
        }
    };
    std::thread::Builder::new().name("requests".into()).spawn(read)?;
    Ok(receiver)
}
