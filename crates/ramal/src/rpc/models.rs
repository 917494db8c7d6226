//! Models as JSON objects, with pi's names.

use ramal_model::catalog::Listed;
use ramal_model::{Cost, Endpoint, without_credentials};
use ramal_session::json::quote;

use crate::models::Models;

/// A model without looking for servers on this machine: of one that is not known, what its name says.
pub(super) fn describe(models: &Models, name: &str) -> String {
    models.known(name, of_listed).unwrap_or_else(|| {
        let (provider, id) = name.split_once('/').unwrap_or(("", name));
        format!("{{\"id\":{0},\"name\":{0},\"provider\":{1}}}", quote(id), quote(provider))
    })
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

/// A model that was found.
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

/// A model of the catalog.
pub(super) fn of_listed(listed: &Listed<'_>) -> String {
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
