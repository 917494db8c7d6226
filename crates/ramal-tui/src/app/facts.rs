//! What the footer tells of the session, found beside the screen.

use std::path::PathBuf;

use ramal_session::{EntryId, Message, SessionManager, Usage};

use super::{App, completion};

/// What is known of the session.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) cwd: PathBuf,
    pub(super) git: Option<String>,
    pub(super) name: Option<String>,
    pub(super) model: Option<String>,
    pub(super) thinking: &'static str,
    /// Tokens in the context, and how many fit.
    pub(super) context: Option<(u64, Option<u64>)>,
    /// Tokens and cost of all branches.
    pub(super) used: Usage,
    /// The leaf's id, its label, and which of its siblings the nearest fork above leads to.
    pub(super) place: Place,
    pub(super) is_damaged: bool,
    /// The session that all this is of.
    session_id: String,
    is_looking: bool,
    is_stale: bool,
}

/// Where in the tree one stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) leaf: Option<EntryId>,
    pub(super) label: Option<String>,
    /// The number of the branch at the nearest fork above, from 1, and how many there are.
    pub(super) fork: Option<(usize, usize)>,
}

impl Facts {
    /// Of a session in a directory nothing else is known yet.
    pub(super) fn of(cwd: PathBuf) -> Facts {
        Facts { cwd, ..Facts::default() }
    }

    /// Whether the session has been looked at.
    pub(super) fn is_known(&self) -> bool {
        !self.session_id.is_empty()
    }

    /// Counts what a message cost that was just stored.
    pub(super) fn count(&mut self, message: &str) {
        if let Some(usage) = Message::new(message).usage() {
            self.used += usage;
        }
    }
}

impl Place {
    fn of(session: &SessionManager) -> Place {
        let Some(leaf) = session.get_leaf_entry() else { return Place::default() };
        let fork = leaf.nearest_fork().and_then(|entry| {
            let all = entry.siblings();
            let index = all.iter().position(|sibling| *sibling == entry)? + 1;
            Some((index, all.len()))
        });
        // What programs note for themselves hangs below what was said, labels included.
        let mut path = std::iter::successors(Some(leaf), |entry| entry.parent());
        let said = path.find(|entry| entry.label().is_some() || entry.kind().is_conversation());
        let label = said.and_then(|entry| entry.label()).map(str::to_owned);
        Place { leaf: leaf.id().ok(), label, fork }
    }
}

impl App {
    /// Looks again at what the footer tells, beside the screen.
    pub(super) fn look_at_session(&mut self) {
        if self.facts.is_looking {
            self.facts.is_stale = true;
            return;
        }
        self.facts.is_looking = true;
        self.facts.is_stale = false;
        let (agent, host) = (self.agent.clone(), std::sync::Arc::clone(&self.host));
        let look = move || {
            let cwd = agent.cwd();
            let (id, name, place, is_damaged) = agent.with_session(|session| {
                (
                    session.get_session_id().to_owned(),
                    session.get_session_name(),
                    Place::of(session),
                    session.damaged_lines() > 0,
                )
            });
            let choice = agent.model_choice().ok();
            let entries = completion::entries(&agent);
            let tokens = agent.context_tokens_by_and_by().ok().map(|count| count.tokens);
            let model = choice.as_ref().and_then(|choice| choice.model.clone());
            let window = model.as_deref().and_then(|model| host.window(model));
            let git = host.git_branch(&cwd);
            let thinking = choice.map_or("off", |choice| choice.thinking.name());
            let context = tokens.map(|tokens| (tokens, window));
            let facts = Facts {
                cwd,
                git,
                name,
                model,
                thinking,
                context,
                place,
                is_damaged,
                session_id: id,
                ..Facts::default()
            };
            (facts, entries)
        };
        self.aside(look, |app, (facts, entries)| {
            app.sources.entries = entries;
            let again = app.facts.is_stale;
            let is_other = app.facts.session_id != facts.session_id;
            let used = if is_other { Usage::default() } else { app.facts.used };
            app.facts = Facts { used, ..facts };
            if is_other {
                app.look_at_costs();
            }
            app.tell_title();
            if again {
                app.look_at_session();
            }
        });
    }

    /// Sums up what all branches cost: once, and what comes is counted on from there.
    fn look_at_costs(&self) {
        let (agent, id) = (self.agent.clone(), self.facts.session_id.clone());
        self.aside(
            move || agent.get_session_stats_by_and_by(),
            move |app, stats| {
                if let Ok(Some(stats)) = stats
                    && app.facts.session_id == id
                {
                    app.facts.used = stats.usage;
                }
            },
        );
    }

    /// Tells the window what it is about.
    pub(super) fn tell_title(&mut self) {
        let folder = self.facts.cwd.file_name().map(|name| name.to_string_lossy().into_owned());
        let parts = [self.facts.name.clone(), folder, Some("ramal".to_owned())];
        let own = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let title = self.extensions.shown.title().map_or(own, str::to_owned);
        self.effects.push(super::Effect::Title(title));
    }
}
