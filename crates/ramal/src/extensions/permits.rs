//! Who is asked what extensions may do, and what was answered.

use std::collections::HashMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use ramal_extension::ui::Question;
use ramal_extension::{Identity, Permits, Wish};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::front::Door;
use super::store::{Right, Store};
use crate::failure;

const ONCE: &str = "Allow until ramal ends";
const ALWAYS: &str = "Allow, and remember it until the extension changes";
const NO: &str = "Refuse until ramal ends";

/// An extension as it is, and what it was asked for.
type Asked = (PathBuf, String, Right);

/// Asks the user once for each right of an extension.
pub(super) struct AsksOnce {
    store: Store,
    door: Arc<Door>,
    /// What was answered since the program began. Held while somebody is asked: the next who wants the same is
    /// not to ask again.
    answers: Mutex<HashMap<Asked, bool>>,
}

impl AsksOnce {
    pub(super) fn new(store: Store, door: Arc<Door>) -> AsksOnce {
        AsksOnce { store, door, answers: Mutex::default() }
    }

    async fn decide(&self, extension: &Identity, wish: &Wish) -> bool {
        let right = Right::of(wish);
        let asked = (extension.path.clone(), extension.hash.clone(), right);
        let mut answers = self.answers.lock().await;
        if let Some(answer) = answers.get(&asked) {
            return *answer;
        }
        let is_allowed = match self.store.allows(extension, right) {
            Ok(true) => true,
            Ok(false) => self.ask(extension, wish, right).await,
            Err(why) => {
                failure::warn(&why);
                self.ask(extension, wish, right).await
            }
        };
        answers.insert(asked, is_allowed);
        is_allowed
    }

    async fn ask(&self, extension: &Identity, wish: &Wish, right: Right) -> bool {
        let Some(ui) = self.door.ui().filter(|ui| ui.has_ui()) else {
            failure::note(&format!(
                "The extension {} was refused to {wish}: nobody is there to be asked; --yes allows it for once",
                extension.name
            ));
            return false;
        };
        let question = Question {
            extension: extension.name.clone(),
            title: format!(
                "The extension {} wants to {wish}. May it {}?",
                extension.path.display(),
                right.says()
            ),
            timeout: None,
            signal: CancellationToken::new(),
        };
        let options = [ALWAYS, ONCE, NO].map(str::to_owned).to_vec();
        match ui.select(question, options).await.as_deref() {
            Some(ALWAYS) => {
                if let Err(why) = self.store.allow(extension, right) {
                    failure::warn(&format!("remembered until ramal ends only: {why}"));
                }
                true
            }
            Some(ONCE) => true,
            _ => false,
        }
    }
}

impl Permits for AsksOnce {
    fn may<'a>(
        &'a self,
        extension: &'a Identity,
        wish: &'a Wish,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.decide(extension, wish))
    }
}
