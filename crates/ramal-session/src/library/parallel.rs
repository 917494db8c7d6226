//! Many files at a time, whatever is done with each.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// More threads than this wait for the disk, or for each other.
const THREADS: usize = 8;

/// Does `work` for each item, on several threads, and gives what comes of it to `take` on this one, with the
/// item's place, in any order. Once `take` breaks off, no further item is begun. `work` gets a buffer that it
/// may leave in any state.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: &(dyn Fn(&T, &mut Vec<u8>) -> R + Sync),
    take: &mut dyn FnMut(usize, R) -> ControlFlow<()>,
) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(THREADS)).min(items.len());
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                let mut buffer = Vec::new();
                while let Some((number, item)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    items.get(number).map(|item| (number, item))
                } {
                    let result = work(item, &mut buffer);
                    if send.send((number, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        while let Ok((number, result)) = receive.recv() {
            if take(number, result).is_break() {
                // Nothing is left to be begun; the threads end with what they have at hand.
                next.store(items.len(), Ordering::Relaxed);
                return;
            }
        }
    });
}
