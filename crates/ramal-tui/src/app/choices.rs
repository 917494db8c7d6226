//! What is chosen for a session: model, thinking, name, labels; and making it shorter.

use ramal_agent::AgentError;
use ramal_model::ThinkingLevel;
use ramal_session::{Kind, Role as Speaker};

use super::{App, Effect, slash};
use crate::text::{clean, human};
use crate::tree_selector::Direction;

impl App {
    /// `/model`: opens the selector, or chooses the model that is named.
    pub(super) fn choose_model(&mut self, name: &str) {
        match name {
            "" => self.open_models(),
            name => self.set_model(name),
        }
    }

    pub(super) fn set_model(&mut self, name: &str) {
        let (agent, name) = (self.agent.clone(), name.to_owned());
        // Servers on this machine may have to be asked.
        self.aside(
            move || agent.set_model(&name),
            |app, chosen| match chosen {
                Ok(_) => app.changed(),
                Err(error) => app.say_wrong(&error),
            },
        );
    }

    /// The next or the previous of the models that can be used.
    pub(super) fn cycle_model(&mut self, direction: Direction) {
        let (host, present) = (std::sync::Arc::clone(&self.host), self.facts.model.clone());
        self.aside(
            move || host.models(None),
            move |app, models| {
                let names: Vec<String> = models.into_iter().map(|model| model.name).collect();
                if names.len() < 2 {
                    app.hint = Some("There is no other model that can be used: /model shows all".into());
                    return;
                }
                let at = names.iter().position(|name| Some(name) == present.as_ref());
                let next = match (at, direction) {
                    (None, _) => 0,
                    (Some(at), Direction::Forward) => (at + 1) % names.len(),
                    (Some(at), Direction::Back) => (at + names.len() - 1) % names.len(),
                };
                if let Some(name) = names.get(next) {
                    app.set_model(name);
                }
            },
        );
    }

    /// `/thinking`: says which levels there are, or chooses one.
    pub(super) fn choose_thinking(&mut self, name: &str) {
        if name.is_empty() {
            let names = ThinkingLevel::ALL.map(ThinkingLevel::name).join(", ");
            return self.tell(&format!("Thinking is {}; there are {names}", self.thinking()));
        }
        match slash::level(name) {
            Ok(level) => self.set_thinking(level),
            Err(why) => self.hint = Some(why),
        }
    }

    /// How much the model thinks now. The footer learns it later.
    fn thinking(&self) -> &'static str {
        self.agent.model_choice().map_or(self.facts.thinking, |choice| choice.thinking.name())
    }

    /// The next level of thinking.
    pub(super) fn cycle_thinking(&mut self) {
        let all = ThinkingLevel::ALL;
        let at = all.iter().position(|level| level.name() == self.thinking());
        let next = at.map_or(0, |at| (at + 1) % all.len());
        if let Some(level) = all.get(next) {
            self.set_thinking(*level);
        }
    }

    fn set_thinking(&mut self, level: ThinkingLevel) {
        match self.agent.set_thinking_level(level) {
            Ok(_) => {
                self.facts.thinking = level.name();
                self.changed();
            }
            Err(error) => self.say_wrong(&error),
        }
    }

    /// `/name`: names the session, or says what it is called.
    pub(super) fn name_session(&mut self, name: &str) {
        if name.is_empty() {
            let text = match self.with_session(|session| session.get_session_name()) {
                Some(name) => format!("This session is called {}", clean::one_line(&name, 200)),
                None => "This session has no name: /name NAME gives it one".to_owned(),
            };
            return self.tell(&text);
        }
        match self.agent.set_session_name(name) {
            Ok(_) => self.changed(),
            Err(error) => self.say_wrong(&error),
        }
    }

    /// `/label`: puts a label where one is, or takes it off.
    pub(super) fn label(&mut self, label: &str) {
        let Some(leaf) = self.facts_leaf() else {
            self.hint = Some("Nothing has been said yet that a label could stand on".into());
            return;
        };
        let label = Some(label).filter(|label| !label.is_empty());
        match self.agent.set_label(&leaf, label) {
            Ok(_) => self.changed(),
            Err(error) => self.say_wrong(&error),
        }
    }

    /// The nearest entry of the conversation at the leaf or above it.
    fn facts_leaf(&self) -> Option<ramal_session::EntryId> {
        self.with_session(|session| {
            let leaf = session.get_leaf_entry();
            let mut path = std::iter::successors(leaf, |entry| entry.parent());
            path.find(|entry| entry.kind().is_conversation())?.id().ok()
        })
    }

    /// `/session`: what this session is.
    pub(super) fn session(&mut self, what: &str) {
        match what {
            "" | "info" => self.tell_session(),
            "delete" => self.delete_session(),
            _ => {
                self.hint = Some("/session info says what this session is, /session delete deletes it".into())
            }
        }
    }

    fn tell_session(&mut self) {
        let agent = self.agent.clone();
        let told = move || {
            let (id, name, file, cwd) = agent.with_session(|session| {
                let file = session.get_session_file().map(|file| file.display().to_string());
                let file = file.filter(|_| session.is_persisted());
                (
                    session.get_session_id().to_owned(),
                    session.get_session_name(),
                    file.unwrap_or_else(|| "none: nothing of it is kept".to_owned()),
                    session.get_cwd().to_owned(),
                )
            });
            let branches = agent.with_session(|session| session.branch_count());
            let Some(stats) = agent.get_session_stats_by_and_by()? else {
                return Ok("Another session is open by now".to_owned());
            };
            let used = stats.usage;
            let lines = [
                format!("Session    {id}"),
                name.map(|name| format!("Name       {name}")).unwrap_or_default(),
                format!("File       {file}"),
                format!("Directory  {cwd}"),
                format!(
                    "Messages   {}: {} of yours, {} answers, {} calls of tools, {} results",
                    human::count(stats.total_messages),
                    human::count(stats.user_messages),
                    human::count(stats.assistant_messages),
                    human::count(stats.tool_calls),
                    human::count(stats.tool_results)
                ),
                format!("Branches   {}", human::count(branches as u64)),
                format!(
                    "Tokens     {} sent, {} answered, {} read from the cache, {} written to it",
                    human::count(used.input as u64),
                    human::count(used.output as u64),
                    human::count(used.cache_read as u64),
                    human::count(used.cache_write as u64)
                ),
                format!("Cost       {}", human::cost(used.cost)),
            ];
            let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            Ok::<_, AgentError>(lines.join("\n"))
        };
        self.aside(told, |app, told| match told {
            Ok(text) => app.tell(&text),
            Err(error) => app.say_wrong(&error),
        });
    }

    /// `/compact`: makes the conversation shorter.
    pub(super) fn compact(&mut self, instructions: &str) {
        let agent = self.agent.clone();
        let instructions = Some(instructions.to_owned()).filter(|text| !text.is_empty());
        self.job(async move { agent.compact(instructions.as_deref()).await }, |app, compacted| {
            // Of everything else an event has told.
            if let Err(error @ AgentError::Busy { .. }) = compacted {
                app.hint = Some(error.to_string());
            }
            app.follow();
            app.look_at_session();
        });
    }

    /// `/copy`: the last answer, its code, all of the path, or the last command.
    pub(super) fn copy(&mut self, what: &str) {
        match what {
            "" | "last" | "code" | "cmd" => {}
            "all" => return self.dump(),
            _ => {
                self.hint = Some(
                    "/copy copies `last`, the last answer, or its `code`, or `all`, or the last `cmd`".into(),
                );
                return;
            }
        }
        let found = self.with_session(|session| {
            let leaf = session.get_leaf_entry();
            let path = std::iter::successors(leaf, |entry| entry.parent());
            let mut last = None;
            for entry in path {
                if entry.kind() != Kind::Message {
                    continue;
                }
                let wanted = match what {
                    "cmd" => entry.role() == Speaker::BashExecution,
                    _ => entry.role() == Speaker::Assistant,
                };
                if wanted && let Ok(entry) = entry.read() {
                    let text = match what {
                        "cmd" => entry
                            .message()
                            .and_then(|message| message.get_str("command").map(|text| text.into_owned())),
                        "code" => code_in(&entry.text()),
                        _ => Some(entry.text()),
                    };
                    last = text.filter(|text| !text.trim().is_empty());
                    if last.is_some() {
                        break;
                    }
                }
            }
            last
        });
        match found {
            Some(text) => {
                self.effects.push(Effect::Copy(text));
                self.hint = Some("Copied".into());
            }
            None => self.hint = Some("There is nothing of that kind to copy".into()),
        }
    }

    /// Something was appended that is no part of a turn.
    fn changed(&mut self) {
        self.follow();
        self.look_at_session();
    }
}

/// The code of the last fence in a text.
fn code_in(text: &str) -> Option<String> {
    let mut last = None;
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        match &mut open {
            Some((fence, lines)) => {
                if trimmed.starts_with(*fence) && trimmed.trim_end().chars().all(|c| fence.starts_with(c)) {
                    last = Some(lines.join("\n"));
                    open = None;
                } else {
                    lines.push(line);
                }
            }
            None => {
                let fence = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence));
                open = fence.map(|fence| (fence, Vec::new()));
            }
        }
    }
    last
}
