//! Which key does what.

use std::collections::HashMap;

use super::Key;
use super::actions::{ACTIONS, ActionId, Place};
use super::file::{self, Problem};

/// The keys of all actions.
#[derive(Debug, Clone)]
pub struct Keymap {
    /// For a place and a key what it does there. What the user has given to the key comes before what it has
    /// by default.
    by_key: HashMap<(Place, Key), Vec<ActionId>>,
    keys: Vec<Vec<Key>>,
    conflicts: Vec<Conflict>,
    problems: Vec<Problem>,
}

/// A key that two actions have where both could be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// Where it is pressed.
    pub place: Place,
    /// The key.
    pub key: Key,
    /// What it does.
    pub wins: ActionId,
    /// What it does not do there.
    pub loses: ActionId,
}

/// A row of the help on keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hotkey {
    /// Where the keys work.
    pub place: Place,
    /// What they do.
    pub action: ActionId,
    /// The keys; there may be none.
    pub keys: Vec<Key>,
    /// What they do, in a few words.
    pub description: &'static str,
}

impl Default for Keymap {
    fn default() -> Keymap {
        Keymap::with(Vec::new(), Vec::new())
    }
}

impl Keymap {
    /// The default keys, with those of a file in their place: an object of action ids, each with a key or a
    /// list of keys. What cannot be used is told by [`Keymap::problems`].
    pub fn read(text: &str) -> Keymap {
        let (bindings, problems) = file::read(text);
        Keymap::with(bindings, problems)
    }

    fn with(bindings: Vec<(ActionId, Vec<Key>)>, problems: Vec<Problem>) -> Keymap {
        let defaults: Vec<Vec<Key>> = ACTIONS.iter().map(|action| default_keys(action.keys)).collect();
        let mut keys = defaults.clone();
        for (action, own) in bindings {
            keys[action as usize] = without_repeats(own);
        }
        let by_key = lookup(&keys, &defaults);
        let conflicts = conflicts(&by_key, &defaults);
        Keymap { by_key, keys, conflicts, problems }
    }

    /// What a key does in a place.
    pub fn action(&self, place: Place, key: Key) -> Option<ActionId> {
        self.actions(place, key).first().copied()
    }

    /// All that a key could mean in a place, the likeliest first, for places that leave some of it out at
    /// times.
    pub fn actions(&self, place: Place, key: Key) -> &[ActionId] {
        self.by_key.get(&(place, key)).map_or(&[], Vec::as_slice)
    }

    /// The keys of an action.
    pub fn keys_of(&self, action: ActionId) -> &[Key] {
        &self.keys[action as usize]
    }

    /// The first key of an action as people read it, for hints; none if it has no key.
    pub fn hint(&self, action: ActionId) -> Option<String> {
        self.keys_of(action).first().map(Key::to_string)
    }

    /// What the user's keys have made ambiguous.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// What could not be used of the user's file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Every action with its keys, place by place.
    pub fn hotkeys(&self) -> impl Iterator<Item = Hotkey> + '_ {
        Place::ALL.into_iter().flat_map(move |place| {
            ACTIONS.iter().filter(move |action| action.place == place).map(move |action| Hotkey {
                place,
                action: action.id,
                keys: self.keys_of(action.id).to_vec(),
                description: action.says,
            })
        })
    }
}

fn default_keys(names: &[&str]) -> Vec<Key> {
    names.iter().filter_map(|name| name.parse().ok()).filter(|key| !is_missing_here(*key)).collect()
}

/// There is no job control on Windows, so Ctrl+Z is a key like any other there.
fn is_missing_here(key: Key) -> bool {
    cfg!(windows) && "ctrl+z".parse() == Ok(key)
}

fn without_repeats(keys: Vec<Key>) -> Vec<Key> {
    let mut once = Vec::with_capacity(keys.len());
    for key in keys {
        if !once.contains(&key) {
            once.push(key);
        }
    }
    once
}

fn lookup(keys: &[Vec<Key>], defaults: &[Vec<Key>]) -> HashMap<(Place, Key), Vec<ActionId>> {
    let mut by_key: HashMap<_, Vec<ActionId>> = HashMap::new();
    for place in Place::ALL {
        for &part in place.chain() {
            for action in ACTIONS.iter().filter(|action| action.place == part) {
                for &key in &keys[action.id as usize] {
                    by_key.entry((place, key)).or_default().push(action.id);
                }
            }
        }
    }
    for ((_, key), actions) in &mut by_key {
        // A key that is a default, too, is written down again and not wished for.
        actions.sort_by_key(|action| defaults[*action as usize].contains(key));
    }
    by_key
}

/// Pairs that have a key by default are meant so: the first leaves the key to the other at times.
fn conflicts(by_key: &HashMap<(Place, Key), Vec<ActionId>>, defaults: &[Vec<Key>]) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    for (&(place, key), actions) in by_key {
        let Some((&wins, others)) = actions.split_first() else { continue };
        for &loses in others {
            let is_meant = [wins, loses].iter().all(|action| defaults[*action as usize].contains(&key));
            if !is_meant {
                conflicts.push(Conflict { place, key, wins, loses });
            }
        }
    }
    conflicts
        .sort_by_key(|conflict| (conflict.place, conflict.wins, conflict.loses, conflict.key.file_name()));
    conflicts
}
