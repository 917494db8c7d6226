//! Which models there are, where they are reached, and whether they can be used now (contract,
//! section 13).

mod find;
mod jsonc;
pub mod keys;
pub mod local;
mod pi;
mod user;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::request::{Api, Cost};
use keys::KeySource;

pub use find::FindError;

/// The providers and models that everybody knows.
const KNOWN: &str = include_str!("known.toml");

/// Where a catalog is made from. Nothing else is looked at.
pub struct Sources<'a> {
    /// The user's `models.toml`.
    pub own: Option<PathBuf>,
    /// pi's `models.json`, read only where there is no `models.toml`, or nothing in it.
    pub pi: Option<PathBuf>,
    /// The variables of the environment.
    pub variables: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("own", &self.own).field("pi", &self.pi).finish_non_exhaustive()
    }
}

/// Something in a file that could not be used. The rest of the file is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Where in it, from 1.
    pub line: Option<usize>,
    /// What is wrong, and what became of it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}: {}", self.path.display(), self.message),
            None => write!(f, "{}: {}", self.path.display(), self.message),
        }
    }
}

/// Who told of a provider last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// This program.
    Known,
    /// The user's `models.toml`.
    User,
    /// pi's `models.json`.
    Pi,
    /// A server that was found running on this machine.
    Local,
}

/// A provider and its models.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its name, as in `provider/id`.
    pub name: String,
    /// The interface that its models speak, unless they say otherwise.
    pub api: Api,
    /// Where it is reached.
    pub base_url: String,
    /// Who told of it.
    pub origin: Origin,
    /// Its models, in the order in which they were told.
    pub models: Vec<Model>,
    key: KeySource,
    /// The key goes into a header `Authorization` too, whatever the interface wants.
    sends_bearer: bool,
    headers: Vec<(String, KeySource)>,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// As the provider calls it.
    pub id: String,
    /// Tokens that fit into a request and its answer together.
    pub context_window: u64,
    /// Tokens that an answer may have at most.
    pub max_output: u64,
    /// Whether it can think before it answers.
    pub thinks: bool,
    /// Whether it takes images.
    pub sees: bool,
    /// What it costs.
    pub cost: Cost,
    api: Option<Api>,
    base_url: Option<String>,
    headers: Vec<(String, KeySource)>,
}

/// A model with what there is to say of it.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// Whose it is.
    pub provider: &'a Provider,
    /// The model.
    pub model: &'a Model,
}

impl Listed<'_> {
    /// `provider/id`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.name, self.model.id)
    }

    /// The interface it speaks.
    pub fn api(&self) -> Api {
        self.model.api.unwrap_or(self.provider.api)
    }

    /// Where it is reached, keys included if there are some in it.
    pub fn base_url(&self) -> &str {
        self.model.base_url.as_deref().unwrap_or(&self.provider.base_url)
    }

    /// Why it cannot be used; none if it can. A command for a key counts as one that will work.
    pub fn why_not(&self) -> Option<String> {
        let header = |(name, value): &(String, KeySource)| value.missing(&of_header(name));
        self.provider.key.missing("key").or_else(|| self.headers().find_map(header))
    }

    /// The headers that the user wants, the model's own last.
    fn headers(&self) -> impl Iterator<Item = &(String, KeySource)> {
        let own = &self.model.headers;
        let is_own = |name: &str| own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        self.provider.headers.iter().filter(move |(name, _)| !is_own(name)).chain(own)
    }
}

/// What the value of a header is called where it is missing.
fn of_header(name: &str) -> String {
    format!("value for the header {name:?}")
}

/// All models.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    providers: Vec<Provider>,
    key_variables: BTreeSet<String>,
}

impl Catalog {
    /// The models of all sources together, and what in them could not be used. No command is run, and
    /// nothing is asked of anybody.
    pub fn load(sources: &Sources<'_>) -> (Catalog, Vec<Problem>) {
        let mut catalog = Catalog::default();
        let mut problems = Vec::new();
        let mut take = |told: Vec<Told>, origin, path: &Path, problems: &mut Vec<Problem>| {
            for told in told {
                catalog.take(told, origin, path, sources.variables, problems);
            }
        };
        let (known, none) = user::read(KNOWN, Path::new("known.toml"));
        debug_assert!(none.is_empty(), "{none:?}");
        take(known, Origin::Known, Path::new("known.toml"), &mut problems);
        let mut is_empty = sources.own.as_deref().is_none_or(|path| !path.exists());
        let own = sources.own.as_deref().and_then(|path| Some((path, read(path, &mut problems)?)));
        if let Some((path, text)) = own {
            let (told, more) = user::read(&text, path);
            is_empty = told.is_empty() && more.is_empty();
            problems.extend(more);
            take(told, Origin::User, path, &mut problems);
        }
        if is_empty
            && let Some(path) = sources.pi.as_deref()
            && let Some(text) = read(path, &mut problems)
        {
            let (told, more) = pi::read(&text, path, sources.variables);
            problems.extend(more);
            take(told, Origin::Pi, path, &mut problems);
        }
        (catalog, problems)
    }

    /// Adds the models of a server that was found. One at an address that a provider has already, or
    /// with the name of one, is that provider.
    pub fn add_local(&mut self, found: local::Found) {
        let port = format!(":{}/", found.port);
        let is_there = |provider: &Provider| {
            let url = format!("{}/", provider.base_url.trim_end_matches('/'));
            provider.name == found.name
                || url.contains(&port) && (url.contains("127.0.0.1") || url.contains("localhost"))
        };
        if !found.models.is_empty() && !self.providers.iter().any(is_there) {
            self.providers.push(Provider {
                name: found.name,
                api: Api::OpenAiCompletions,
                base_url: found.base_url,
                origin: Origin::Local,
                models: found.models,
                key: KeySource::NotNeeded,
                sends_bearer: false,
                headers: Vec::new(),
            });
        }
    }

    /// All providers, the known first.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// The variables of the environment that hold keys, or may: all that any source names, also for a
    /// provider whose key stands elsewhere now.
    pub fn key_variables(&self) -> &BTreeSet<String> {
        &self.key_variables
    }

    /// All models.
    pub fn models(&self) -> impl Iterator<Item = Listed<'_>> {
        let of = |provider| move |model| Listed { provider, model };
        self.providers.iter().flat_map(move |provider| provider.models.iter().map(of(provider)))
    }

    /// The models that can be used now.
    pub fn usable(&self) -> impl Iterator<Item = Listed<'_>> {
        self.models().filter(|listed| listed.why_not().is_none())
    }

    fn take(
        &mut self,
        told: Told,
        origin: Origin,
        path: &Path,
        variables: &dyn Fn(&str) -> Option<String>,
        problems: &mut Vec<Problem>,
    ) {
        let mut problem = |line, message: String| problems.push(Problem { path: path.into(), line, message });
        if let Some(keys::Told::Variables(names)) = &told.key {
            self.key_variables.extend(names.iter().cloned());
        }
        let at = self.providers.iter().position(|provider| provider.name == told.name);
        let at = match (at, told.api, &told.base_url) {
            (Some(at), ..) => at,
            (None, Some(api), Some(base_url)) => {
                self.providers.push(Provider {
                    name: told.name.clone(),
                    api,
                    base_url: base_url.clone(),
                    origin,
                    models: Vec::new(),
                    key: KeySource::NotNeeded,
                    sends_bearer: false,
                    headers: Vec::new(),
                });
                self.providers.len() - 1
            }
            (None, api, _) => {
                let what = if api.is_none() { "api" } else { "base_url" };
                problem(told.line, format!("the provider {:?} has no {what}; it is left out", told.name));
                return;
            }
        };
        let Some(provider) = self.providers.get_mut(at) else { return };
        provider.origin = origin;
        provider.api = told.api.unwrap_or(provider.api);
        provider.base_url = told.base_url.unwrap_or_else(|| provider.base_url.clone());
        if let Some(key) = told.key {
            provider.key = key.look_up(variables);
        }
        provider.sends_bearer |= told.sends_bearer;
        if !told.headers.is_empty() {
            provider.headers = look_up(told.headers, variables);
        }
        for model in told.models {
            let known = provider.models.iter().position(|other| other.id == model.id);
            let before = known.and_then(|at| provider.models.get(at));
            let (id, line) = (model.id.clone(), model.line);
            match (model.whole(before, variables), known.and_then(|at| provider.models.get_mut(at))) {
                (Err(lacks), _) => problem(line, format!("the model {id:?} has no {lacks}; it is left out")),
                (Ok(whole), Some(place)) => *place = whole,
                (Ok(whole), None) => provider.models.push(whole),
            }
        }
    }
}

impl ToldModel {
    /// The model, with what is not said taken from what was known `before`; or what it lacks.
    fn whole(
        self,
        before: Option<&Model>,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, &'static str> {
        let window = self.context_window.or(before.map(|model| model.context_window));
        let output = self.max_output.or(before.map(|model| model.max_output));
        Ok(Model {
            context_window: window.ok_or("context_window")?,
            max_output: output.ok_or("max_output")?,
            thinks: self.thinks.or(before.map(|model| model.thinks)).unwrap_or(false),
            sees: self.sees.or(before.map(|model| model.sees)).unwrap_or(false),
            cost: self.cost.or(before.map(|model| model.cost)).unwrap_or_default(),
            api: self.api,
            base_url: self.base_url,
            headers: look_up(self.headers, variables),
            id: self.id,
        })
    }
}

/// A file's text; none if there is no such file, or it cannot be read, which is a problem.
fn read(path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    match std::fs::read(path) {
        // What is not UTF-8 is told by the parser, with its place.
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            let message = format!("cannot be read: {error}");
            problems.push(Problem { path: path.into(), line: None, message });
            None
        }
    }
}

/// What a file says of a provider.
#[derive(Debug, Default)]
struct Told {
    name: String,
    line: Option<usize>,
    api: Option<Api>,
    base_url: Option<String>,
    key: Option<keys::Told>,
    sends_bearer: bool,
    headers: Vec<(String, keys::Told)>,
    models: Vec<ToldModel>,
}

/// What a file says of a model.
#[derive(Debug, Default)]
struct ToldModel {
    id: String,
    line: Option<usize>,
    context_window: Option<u64>,
    max_output: Option<u64>,
    thinks: Option<bool>,
    sees: Option<bool>,
    cost: Option<Cost>,
    api: Option<Api>,
    base_url: Option<String>,
    headers: Vec<(String, keys::Told)>,
}

fn look_up(
    headers: Vec<(String, keys::Told)>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, KeySource)> {
    headers.into_iter().map(|(name, told)| (name, told.look_up(variables))).collect()
}

/// The line of a place in a text, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}
