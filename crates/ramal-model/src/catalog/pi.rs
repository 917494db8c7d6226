//! Reads pi's `models.json`, which many have already.

use std::path::Path;

use ramal_session::json::members::{Members, get, items};
use serde::Deserialize;

use super::{Problem, Told, ToldModel, jsonc, keys, line_of};
use crate::request::{Api, Cost, Secret};

/// What pi takes where a model does not say.
const CONTEXT_WINDOW: u64 = 128_000;
const MAX_OUTPUT: u64 = 16_384;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PiProvider {
    base_url: Option<String>,
    api_key: Option<String>,
    api: Option<String>,
    headers: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiModel {
    id: String,
    api: Option<String>,
    base_url: Option<String>,
    reasoning: Option<bool>,
    input: Option<Vec<String>>,
    context_window: Option<u64>,
    max_tokens: Option<u64>,
    cost: Option<PiCost>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PiCost {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// What a `models.json` says, and what in it could not be used. Keys of members that are not known
/// are none of our business: the file is another program's.
pub(super) fn read(
    text: &str,
    path: &Path,
    variables: &dyn Fn(&str) -> Option<String>,
) -> (Vec<Told>, Vec<Problem>) {
    let text = jsonc::plain(text);
    let mut reader = Reader { text: &text, path, problems: Vec::new(), variables };
    if let Err(error) = serde_json::from_str::<&serde_json::value::RawValue>(&text) {
        reader.problems.push(Problem { path: path.into(), line: Some(error.line()), message: said(&error) });
        return (Vec::new(), reader.problems);
    }
    let providers = get(text.as_bytes(), "providers").unwrap_or_default();
    let mut told = Vec::new();
    for member in Members::new(providers) {
        let (key, value) = (providers.get(member.key), providers.get(member.value));
        if let (Some(key), Some(value)) = (key, value) {
            let name = ramal_session::json::decode(key).into_owned();
            told.extend(reader.provider(name, value));
        }
    }
    (told, reader.problems)
}

struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
    problems: Vec<Problem>,
    variables: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Reader<'a> {
    /// The line on which a piece of the text begins.
    fn line(&self, piece: &[u8]) -> usize {
        let offset = (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        line_of(self.text, offset)
    }

    fn problem(&mut self, line: usize, message: String) {
        self.problems.push(Problem { path: self.path.into(), line: Some(line), message });
    }

    fn parse<T: Deserialize<'a>>(&mut self, what: &str, piece: &'a [u8]) -> Option<T> {
        match serde_json::from_slice(piece) {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                let line = self.line(piece) + error.line().saturating_sub(1);
                self.problem(line, format!("{what} is left out: {}", said(&error)));
                None
            }
        }
    }

    fn provider(&mut self, name: String, value: &'a [u8]) -> Option<Told> {
        let line = self.line(value);
        let told: PiProvider = self.parse(&format!("the provider {name:?}"), value)?;
        let api = self.api(line, told.api.as_deref());
        let mut models = Vec::new();
        let mut from_models = None;
        for piece in items(get(value, "models").unwrap_or_default()) {
            let line = self.line(piece);
            let Some(model) = self.parse::<PiModel>("a model", piece) else { continue };
            let own = match self.api(line, model.api.as_deref()) {
                None if model.api.is_some() => continue,
                own => own,
            };
            if told.api.is_some() && api.is_none() && own.is_none() {
                continue;
            }
            from_models = from_models.or(own);
            models.push(model_of(model, own, line));
        }
        Some(Told {
            name,
            line: Some(line),
            // Some providers leave it to their models.
            api: api.or(from_models),
            base_url: told.base_url,
            key: told.api_key.filter(|key| !key.trim().is_empty()).map(|key| self.key(&key)),
            headers: told.headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
            models,
        })
    }

    fn api(&mut self, line: usize, name: Option<&str>) -> Option<Api> {
        let parsed = name?.parse::<Api>();
        parsed.map_err(|error| self.problem(line, format!("{error}; what needs it is left out"))).ok()
    }

    /// A command behind `!`, the name of a variable, or the key itself: a name counts as one if it is
    /// set, or written `$NAME`.
    fn key(&self, key: &str) -> keys::Told {
        let key = key.trim();
        if let Some(command) = key.strip_prefix('!') {
            return keys::Told::Command(Secret::new(command));
        }
        if let Some(name) = key.strip_prefix('$') {
            let name = name.trim_start_matches('{').trim_end_matches('}');
            return keys::Told::Variables(vec![name.to_owned()]);
        }
        let is_name = |key: &str| !key.contains(['=', '\0']) && (self.variables)(key).is_some();
        if is_name(key) || looks_like_a_name(key) {
            return keys::Told::Variables(vec![key.to_owned()]);
        }
        keys::Told::Literal(Secret::new(key))
    }
}

/// `SOMETHING_API_KEY`: no key looks like that.
fn looks_like_a_name(key: &str) -> bool {
    key.ends_with("_KEY")
        && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn model_of(model: PiModel, api: Option<Api>, line: usize) -> ToldModel {
    let cost = model.cost.map(|cost| Cost {
        input: cost.input,
        output: cost.output,
        cache_read: cost.cache_read,
        cache_write: cost.cache_write,
    });
    ToldModel {
        line: Some(line),
        context_window: Some(model.context_window.filter(|tokens| *tokens > 0).unwrap_or(CONTEXT_WINDOW)),
        max_output: Some(model.max_tokens.filter(|tokens| *tokens > 0).unwrap_or(MAX_OUTPUT)),
        thinks: model.reasoning,
        sees: model.input.map(|kinds| kinds.iter().any(|kind| kind == "image")),
        cost,
        api,
        base_url: model.base_url,
        id: model.id,
    }
}

/// What the parser says, without its own idea of the place.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}
