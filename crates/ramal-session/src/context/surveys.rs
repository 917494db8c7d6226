//! Surveys that are kept: who asks for the context of a path again, or of one that has grown, pays for
//! what is new.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::plan::{self, Surveyed};
use crate::error::ReadError;
use crate::manager::SessionManager;

/// How many are kept: those of the leaf, of where one stood before, and of the places between which a
/// failed attempt of a turn is told.
const KEPT: usize = 4;

/// A context of more messages than this fits no model. Of such only the latest is kept: it takes megabytes.
const MOST_ITEMS: usize = 1 << 16;

/// The latest surveys of a session.
#[derive(Debug, Default)]
pub(crate) struct Surveys(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The tree that they are about ([`crate::tree::Tree::generation`]).
    generation: u64,
    /// By the last entry of their path, the latest first.
    surveys: VecDeque<(u32, Arc<Surveyed>)>,
}

impl Surveys {
    fn of(&self, generation: u64) -> MutexGuard<'_, Kept> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation != generation {
            *kept = Kept { generation, surveys: VecDeque::new() };
        }
        kept
    }
}

impl Kept {
    fn get(&self, end: u32) -> Option<&Arc<Surveyed>> {
        self.surveys.iter().find(|(known, _)| *known == end).map(|(_, survey)| survey)
    }

    fn put(&mut self, end: u32, survey: &Arc<Surveyed>) {
        let is_large = |survey: &Surveyed| survey.items.len() > MOST_ITEMS;
        self.surveys.retain(|(known, other)| *known != end && !(is_large(survey) && is_large(other)));
        self.surveys.push_front((end, Arc::clone(survey)));
        self.surveys.truncate(KEPT);
    }
}

/// The survey of the path to `end`, or of no path.
pub(super) fn survey(session: &SessionManager, end: Option<u32>) -> Result<Arc<Surveyed>, ReadError> {
    let Some(end) = end else { return Ok(Arc::default()) };
    let mut kept = session.surveys.of(session.tree.generation());
    // From below, up to what is known.
    let mut path = Vec::new();
    let mut known = None;
    for number in session.tree.upwards(end) {
        known = kept.get(number);
        if known.is_some() {
            break;
        }
        path.push(number);
    }
    path.reverse();
    let survey = match known {
        Some(known) if path.is_empty() => Arc::clone(known),
        Some(known) if known.can_go_on(session, &path) => Arc::new(known.go_on(session, &path)?),
        Some(_) => Arc::new(plan::survey(session, &session.tree.path(end))?),
        None => Arc::new(plan::survey(session, &path)?),
    };
    kept.put(end, &survey);
    Ok(survey)
}
