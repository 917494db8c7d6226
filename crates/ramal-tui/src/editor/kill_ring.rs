//! What was killed, so that it can be put in again.

use std::collections::VecDeque;

use super::content::Content;

/// How much is kept.
const MOST: usize = 60;

/// On which side of what was killed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// What was killed, newest first.
#[derive(Debug, Clone, Default)]
pub(super) struct KillRing {
    kills: VecDeque<Content>,
}

impl KillRing {
    /// Keeps what was killed, as a part of what was killed right before it or by itself.
    pub(super) fn push(&mut self, killed: Content, joins: Option<Side>) {
        match (joins, self.kills.front_mut()) {
            (Some(Side::Before), Some(kill)) => {
                kill.splice(0..0, &killed);
            }
            (Some(Side::After), Some(kill)) => {
                kill.splice(kill.len()..kill.len(), &killed);
            }
            _ => {
                self.kills.push_front(killed);
                self.kills.truncate(MOST);
            }
        }
    }

    /// What was killed last.
    pub(super) fn newest(&self) -> Option<&Content> {
        self.kills.front()
    }

    /// Puts what was killed last behind everything else, so that the one before it is the newest.
    pub(super) fn rotate(&mut self) {
        if !self.kills.is_empty() {
            self.kills.rotate_left(1);
        }
    }
}
