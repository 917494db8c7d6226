//! The models of the catalog as the client sees them. The catalog is read once; servers on this machine are
//! looked for when they are first needed: many clients only look at a tree.

use std::sync::{OnceLock, PoisonError, RwLock};

use ramal_model::catalog::{FindError, Listed};
use ramal_model::{
    AnswerStream, Catalog, Cost, Endpoint, LanguageModel, Models as AllModels, Request as ModelRequest,
    without_credentials,
};
use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

use crate::settings::Settings;
use crate::{catalog, failure, work};

/// All models there are.
#[derive(Default)]
pub(super) struct Models {
    catalog: RwLock<Option<Catalog>>,
    local: OnceLock<()>,
    asked: OnceLock<AllModels>,
}

impl Models {
    fn with<T>(&self, look: impl FnOnce(&Catalog) -> T) -> T {
        if let Some(catalog) = &*self.catalog.read().unwrap_or_else(PoisonError::into_inner) {
            return look(catalog);
        }
        let mut place = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        let catalog = place.get_or_insert_with(|| {
            let (catalog, problems) = catalog::load();
            for problem in &problems {
                failure::warn(&problem.to_string());
            }
            catalog
        });
        look(catalog)
    }

    /// Looks for servers on this machine, once.
    fn look_around(&self) {
        self.local.get_or_init(|| {
            self.with(|_| ());
            // Where they cannot be looked for, it is as if there were none.
            let found = catalog::found_here().unwrap_or_default();
            if let Some(catalog) = &mut *self.catalog.write().unwrap_or_else(PoisonError::into_inner) {
                found.into_iter().for_each(|found| catalog.add_local(found));
            }
        });
    }

    /// Asks for a model that is named; with the servers on this machine if it is not known without them.
    fn ask<T>(&self, ask: impl Fn(&Catalog) -> Result<T, FindError>) -> Result<T, FindError> {
        match self.with(&ask) {
            Err(FindError::Unknown { .. }) => {
                self.look_around();
                self.with(ask)
            }
            found => found,
        }
    }

    /// The endpoint of a model.
    pub(super) fn find(&self, name: &str) -> Result<Endpoint, String> {
        self.ask(|catalog| catalog.find(name)).map_err(work::why)
    }

    /// Whether a model is meant by a name, be it one that can be used now or not.
    pub(super) fn look_up(&self, name: &str) -> Result<(), FindError> {
        self.ask(|catalog| catalog.look_up(name))
    }

    /// Hides the variables that hold keys from the commands that are run, but for those that the settings
    /// want to be seen.
    pub(super) fn hide_keys(&self, settings: &Settings) {
        self.with(|catalog| work::hide_keys(catalog, settings));
    }

    /// The first of those that can be used, without looking for servers on this machine.
    pub(super) fn first_usable(&self) -> Option<String> {
        self.with(|catalog| catalog.usable().next().map(|listed| listed.name()))
    }

    /// The first of those that can be used, on this machine too.
    pub(super) fn first_anywhere(&self) -> Option<String> {
        self.first_usable().or_else(|| {
            self.look_around();
            self.first_usable()
        })
    }

    /// The tokens that fit into a conversation with a model, as far as it is known.
    pub(super) fn window(&self, name: &str) -> Option<u64> {
        if name.starts_with("replay/") {
            return self.find(name).ok().map(|endpoint| endpoint.context_window);
        }
        self.with(|catalog| {
            let listed = catalog.models().find(|listed| listed.name() == name);
            listed.map(|listed| listed.model.context_window)
        })
    }

    /// A model as a JSON object, without looking for servers on this machine: of one that is not known, what
    /// its name says.
    pub(super) fn describe(&self, name: &str) -> String {
        let listed = self.with(|catalog| {
            catalog.models().find(|listed| listed.name() == name).map(|listed| of_listed(&listed))
        });
        listed.unwrap_or_else(|| {
            let (provider, id) = name.split_once('/').unwrap_or(("", name));
            format!("{{\"id\":{0},\"name\":{0},\"provider\":{1}}}", quote(id), quote(provider))
        })
    }

    /// The models that can be used now, as JSON texts with their names.
    pub(super) fn usable(&self) -> Vec<(String, String)> {
        self.look_around();
        self.with(|catalog| catalog.usable().map(|listed| (listed.name(), of_listed(&listed))).collect())
    }
}

impl LanguageModel for Models {
    fn stream(&self, endpoint: &Endpoint, request: &ModelRequest, abort: CancellationToken) -> AnswerStream {
        self.asked.get_or_init(AllModels::default).stream(endpoint, request, abort)
    }
}

/// What there is to say of a model.
struct Shown<'a> {
    id: &'a str,
    provider: &'a str,
    api: &'a str,
    base_url: &'a str,
    thinks: bool,
    sees: bool,
    cost: Cost,
    context_window: u64,
    max_output: u64,
}

/// A model as a JSON object, with pi's names.
pub(super) fn of_endpoint(endpoint: &Endpoint) -> String {
    Shown {
        id: &endpoint.model,
        provider: &endpoint.provider,
        api: endpoint.api.name(),
        base_url: &endpoint.base_url,
        thinks: endpoint.thinks,
        sees: endpoint.sees,
        cost: endpoint.cost,
        context_window: endpoint.context_window,
        max_output: endpoint.max_output,
    }
    .json()
}

fn of_listed(listed: &Listed<'_>) -> String {
    let model = listed.model;
    Shown {
        id: &model.id,
        provider: &listed.provider.name,
        api: listed.api().name(),
        base_url: listed.base_url(),
        thinks: model.thinks,
        sees: model.sees,
        cost: model.cost,
        context_window: model.context_window,
        max_output: model.max_output,
    }
    .json()
}

impl Shown<'_> {
    fn json(&self) -> String {
        let cost = self.cost;
        format!(
            "{{\"id\":{},\"name\":{},\"provider\":{},\"api\":{},\"baseUrl\":{},\"reasoning\":{},\"input\":{},\"cost\":{{\"input\":{},\"output\":{},\"cacheRead\":{},\"cacheWrite\":{}}},\"contextWindow\":{},\"maxTokens\":{}}}",
            quote(self.id),
            quote(self.id),
            quote(self.provider),
            quote(self.api),
            quote(&without_credentials(self.base_url)),
            self.thinks,
            if self.sees { "[\"text\",\"image\"]" } else { "[\"text\"]" },
            cost.input,
            cost.output,
            cost.cache_read,
            cost.cache_write,
            self.context_window,
            self.max_output,
        )
    }
}
