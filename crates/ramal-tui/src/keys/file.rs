//! A user's file of keys, in the form that pi reads.

use std::fmt;

use serde_json::Value;

use super::actions::{OLD_NAMES, OTHER_PROGRAMS};
use super::{ActionId, Key, KeyNameError};

/// Something in a file of keys that could not be used. What it was about stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line where it stands, counted from one.
    pub line: usize,
    /// What is wrong there.
    pub kind: ProblemKind,
}

/// What is wrong in a file of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is no JSON; what the reader says of it.
    NotJson(String),
    /// It is JSON, and no object.
    NotAnObject,
    /// No action has this id.
    UnknownAction(String),
    /// Another program has this action, and ramal does not.
    NotHere(String),
    /// An action has neither a key nor a list of keys.
    NotKeys(ActionId),
    /// The name of a key cannot be read. The other keys of the action hold.
    BadKey(ActionId, KeyNameError),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.kind {
            ProblemKind::NotJson(says) => write!(f, "not JSON: {says}"),
            ProblemKind::NotAnObject => write!(f, "not an object of actions and keys"),
            ProblemKind::UnknownAction(id) => {
                write!(f, "no action is called {id:?}; F1 shows those there are")
            }
            ProblemKind::NotHere(id) => write!(f, "{id:?} is not something that ramal does"),
            ProblemKind::NotKeys(id) => write!(f, "{}: neither a key nor a list of keys", id.name()),
            ProblemKind::BadKey(id, error) => write!(f, "{}: {error}", id.name()),
        }
    }
}

/// The keys that a file gives to actions, and what in it could not be used.
pub(super) fn read(text: &str) -> (Vec<(ActionId, Vec<Key>)>, Vec<Problem>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let object = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return (Vec::new(), vec![Problem { line: 1, kind: ProblemKind::NotAnObject }]),
        Err(error) => {
            let problem =
                Problem { line: error.line().max(1), kind: ProblemKind::NotJson(error.to_string()) };
            return (Vec::new(), vec![problem]);
        }
    };
    let mut bindings = Vec::new();
    let mut problems = Vec::new();
    for (written, value) in &object {
        let mut report = |kind| problems.push(Problem { line: line_of(text, written), kind });
        let name = OLD_NAMES.iter().find(|(old, _)| old == written).map(|(_, name)| *name);
        // Who writes both names means the one of today.
        if name.is_some_and(|name| object.contains_key(name)) {
            continue;
        }
        let name = name.unwrap_or(written);
        let Some(action) = ActionId::named(name) else {
            let is_known = OTHER_PROGRAMS.iter().any(|start| name.starts_with(start));
            report(if is_known { ProblemKind::NotHere } else { ProblemKind::UnknownAction }(written.clone()));
            continue;
        };
        if let Some(keys) = keys(action, value, report) {
            bindings.push((action, keys));
        }
    }
    problems.sort_by_key(|problem| problem.line);
    (bindings, problems)
}

/// The keys of an action; none if nothing there can be read, and no keys if none are wanted.
fn keys(action: ActionId, value: &Value, mut report: impl FnMut(ProblemKind)) -> Option<Vec<Key>> {
    let one = std::slice::from_ref(value);
    let values = match value {
        Value::String(_) => one,
        Value::Array(values) => values,
        Value::Null => return None,
        _ => {
            report(ProblemKind::NotKeys(action));
            return None;
        }
    };
    let mut keys = Vec::new();
    for value in values {
        match value.as_str().map(str::parse::<Key>) {
            Some(Ok(key)) => keys.push(key),
            Some(Err(error)) => report(ProblemKind::BadKey(action, error)),
            None => report(ProblemKind::NotKeys(action)),
        }
    }
    (values.is_empty() || !keys.is_empty()).then_some(keys)
}

/// The line on which a member stands, by its name in quotes. A name that is written with escapes is not found,
/// and the first line stands for it.
fn line_of(text: &str, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    text.lines().position(|line| line.contains(&quoted)).map_or(1, |index| index + 1)
}
