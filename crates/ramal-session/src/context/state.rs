//! The settings on a path: for each kind, the last entry that says something.

use std::collections::{HashMap, HashSet};

use crate::entry::{Entry, Kind, Message};
use crate::json::members;

const DEFAULT_ROLE: &str = "default";

/// Settings as far as a path has been walked.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) thinking_level: String,
    pub(super) says_thinking_level: bool,
    pub(super) models: Vec<(String, String)>,
    pub(super) mode: String,
    pub(super) mode_data: Option<String>,
    pub(super) service_tier: Option<String>,
    pub(super) injected_rules: Vec<String>,
    pub(super) selected_mcp_tools: Vec<String>,
    pub(super) active_tools: Option<Vec<String>>,
    /// Where each role stands in `models`.
    roles: HashMap<String, usize>,
    /// The rules in `injected_rules`, to find them.
    rules: HashSet<String>,
}

impl Default for State {
    /// What holds where nothing was set.
    fn default() -> State {
        State {
            thinking_level: "off".into(),
            says_thinking_level: false,
            models: Vec::new(),
            mode: "none".into(),
            mode_data: None,
            service_tier: None,
            injected_rules: Vec::new(),
            selected_mcp_tools: Vec::new(),
            active_tools: None,
            roles: HashMap::new(),
            rules: HashSet::new(),
        }
    }
}

impl State {
    /// Whether entries of a kind set something.
    pub(super) fn is_set_by(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::ModelChange
                | Kind::ThinkingLevelChange
                | Kind::ServiceTierChange
                | Kind::ModeChange
                | Kind::TtsrInjection
                | Kind::McpToolSelection
                | Kind::ActiveToolsChange
        )
    }

    /// Takes in the next entry of the path. One that cannot be read sets nothing.
    pub(super) fn take(&mut self, entry: &Entry) {
        self.says_thinking_level |= entry.kind() == Kind::ThinkingLevelChange;
        if entry.is_unreadable() {
            return;
        }
        let value = |key| entry.get(key).filter(|&value| value != "null").map(str::to_owned);
        match entry.kind() {
            Kind::ThinkingLevelChange => {
                self.thinking_level = text(entry, "thinkingLevel").unwrap_or_else(|| "off".into());
            }
            Kind::ModelChange => {
                if let Some(model) = chosen_model(entry) {
                    let role = text(entry, "role").unwrap_or_else(|| DEFAULT_ROLE.into());
                    self.set_model(role, model);
                }
            }
            Kind::ServiceTierChange => self.service_tier = value("serviceTier"),
            Kind::ModeChange => {
                self.mode = text(entry, "mode").unwrap_or_else(|| "none".into());
                self.mode_data = value("data");
            }
            Kind::TtsrInjection => {
                for rule in strings(entry, "injectedRules").unwrap_or_default() {
                    if self.rules.insert(rule.clone()) {
                        self.injected_rules.push(rule);
                    }
                }
            }
            Kind::McpToolSelection => {
                self.selected_mcp_tools = strings(entry, "selectedToolNames").unwrap_or_default();
            }
            Kind::ActiveToolsChange => self.active_tools = strings(entry, "activeToolNames"),
            _ => {}
        }
    }

    fn set_model(&mut self, role: String, model: String) {
        match self.roles.get(&role).and_then(|&at| self.models.get_mut(at)) {
            Some((_, old)) => *old = model,
            None => {
                self.roles.insert(role.clone(), self.models.len());
                self.models.push((role, model));
            }
        }
    }

    /// Whether an entry chose the model that answers, so that answers need not be asked for it.
    pub(super) fn has_default_model(&self) -> bool {
        self.roles.contains_key(DEFAULT_ROLE)
    }

    /// The models by role; that of the last answer as the default one where no entry chose one.
    pub(super) fn models_with(&self, answered_by: Option<&str>) -> Vec<(String, String)> {
        let answered = answered_by.map(|model| (DEFAULT_ROLE.to_owned(), model.to_owned()));
        answered.into_iter().chain(self.models.iter().cloned()).collect()
    }
}

/// The model that gave an answer; none if the answer does not name it.
pub(super) fn model_of_answer(answer: Message<'_>) -> Option<String> {
    let named = |key| answer.get_str(key).filter(|text| !text.is_empty());
    Some(format!("{}/{}", named("provider")?, named("model")?))
}

/// The model that a `model_change` names, in either dialect.
fn chosen_model(entry: &Entry) -> Option<String> {
    let model = text(entry, "model");
    if let Some(model) = model.as_ref().filter(|model| model.contains('/')) {
        return Some(model.clone());
    }
    match (text(entry, "provider"), text(entry, "modelId").or(model.clone())) {
        (Some(provider), Some(id)) => Some(format!("{provider}/{id}")),
        _ => model,
    }
}

/// A member that is a string with something in it.
fn text(entry: &Entry, key: &str) -> Option<String> {
    entry.get_str(key).filter(|text| !text.is_empty()).map(|text| text.into_owned())
}

/// The strings of an array; none if it is no array.
fn strings(entry: &Entry, key: &str) -> Option<Vec<String>> {
    let array = entry.get(key).filter(|value| value.starts_with('['))?;
    let items = members::items(array.as_bytes()).filter_map(members::as_str);
    Some(items.map(|text| text.into_owned()).collect())
}
