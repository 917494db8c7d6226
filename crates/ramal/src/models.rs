//! The models of the catalog for a program that goes on. The catalog is read once; servers on this machine
//! are looked for when they are first needed: many sessions are only looked at.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ramal_model::catalog::{FindError, Listed};
use ramal_model::{
    AnswerStream, Catalog, Endpoint, LanguageModel, Models as AllModels, Request as ModelRequest, Watch,
};
use tokio_util::sync::CancellationToken;

use crate::settings::Settings;
use crate::{catalog, failure, work};

/// All models there are. Each is known by its name, `provider/id`.
#[derive(Default)]
pub(crate) struct Models {
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

    /// Looks for servers on this machine, once. Whoever comes meanwhile waits for that.
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

    /// Looks for a model by its name; on this machine too if it is not known otherwise.
    fn by_name<T>(&self, look: impl Fn(&Catalog) -> Result<T, FindError>) -> Result<T, FindError> {
        match self.with(&look) {
            Err(FindError::Unknown { .. }) => {
                self.look_around();
                self.with(look)
            }
            found => found,
        }
    }

    /// The endpoint of a model. That may take a moment: servers on this machine may be looked for, and a
    /// command run that gives the key.
    ///
    /// # Errors
    /// If it cannot be used: why.
    pub(crate) fn find(&self, name: &str) -> Result<Endpoint, String> {
        self.by_name(|catalog| catalog.find(name)).map_err(work::why)
    }

    /// Whether a model is meant by a name, be it one that can be used now or not.
    ///
    /// # Errors
    /// If there is none, or if there are several.
    pub(crate) fn look_up(&self, name: &str) -> Result<(), FindError> {
        self.by_name(|catalog| catalog.look_up(name))
    }

    /// Hides the variables that hold keys from the commands that are run, but for those that the settings
    /// want to be seen.
    pub(crate) fn hide_keys(&self, settings: &Settings) {
        self.with(|catalog| work::hide_keys(catalog, settings));
    }

    /// The first of those that can be used, without looking for servers on this machine.
    pub(crate) fn first_usable(&self) -> Option<String> {
        self.with(|catalog| catalog.usable().next().map(|listed| listed.name()))
    }

    /// The first of those that can be used, on this machine too.
    pub(crate) fn first_anywhere(&self) -> Option<String> {
        self.first_usable().or_else(|| {
            self.look_around();
            self.first_usable()
        })
    }

    /// The tokens that fit into a conversation with a model, as far as it is known.
    pub(crate) fn window(&self, name: &str) -> Option<u64> {
        if name.starts_with("replay/") {
            return self.find(name).ok().map(|endpoint| endpoint.context_window);
        }
        self.known(name, |listed| listed.model.context_window)
    }

    /// What there is to say of the model `provider/id`, without looking for servers on this machine; none if
    /// it is not known.
    pub(crate) fn known<T>(&self, name: &str, tell: impl FnOnce(&Listed<'_>) -> T) -> Option<T> {
        self.with(|catalog| catalog.models().find(|listed| listed.name() == name).map(|listed| tell(&listed)))
    }

    /// What there is to say of each model that can be used now, on this machine too.
    pub(crate) fn usable<T>(&self, tell: impl Fn(&Listed<'_>) -> T) -> Vec<T> {
        self.look_around();
        self.with(|catalog| catalog.usable().map(|listed| tell(&listed)).collect())
    }
}

impl LanguageModel for Models {
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        self.asked.get_or_init(AllModels::default).stream_watched(endpoint, request, watch, abort)
    }
}
