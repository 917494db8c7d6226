//! Who is asked what extensions may do, and what was answered.

use std::collections::HashMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramal_extension::ui::Question;
use ramal_extension::{Identity, Permits, Wish};
use ramal_tui::text::clean;
use tokio_util::sync::CancellationToken;

use super::front::Door;
use super::store::{Right, Store};
use crate::failure;

const ONCE: &str = "Allow until ramal ends";
const ALWAYS: &str = "Allow, and remember it until the extension changes";
const NO: &str = "Refuse until ramal ends";

/// Columns that are shown of what it wants to do.
const WIDEST: usize = 300;

/// An extension as it is, and what it was asked for.
type Asked = (PathBuf, String, Right);

/// Asks the user once for each right of an extension.
pub(super) struct AsksOnce {
    store: Store,
    door: Arc<Door>,
    /// What was answered since the program began.
    answers: Mutex<HashMap<Asked, bool>>,
    /// Held while somebody is asked: the next who wants the same is not to ask again.
    asking: tokio::sync::Mutex<()>,
}

impl AsksOnce {
    pub(super) fn new(store: Store, door: Arc<Door>) -> AsksOnce {
        AsksOnce { store, door, answers: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    async fn decide(&self, extension: &Identity, wish: &Wish) -> bool {
        let right = Right::of(wish);
        let asked = (extension.path.clone(), extension.hash.clone(), right);
        // Whoever may already does not wait until another was answered.
        if let Some(answer) = self.known(extension, right, &asked) {
            return answer;
        }
        let _asks = self.asking.lock().await;
        if let Some(answer) = self.known(extension, right, &asked) {
            return answer;
        }
        let is_allowed = self.ask(extension, wish, right).await;
        self.answers().insert(asked, is_allowed);
        is_allowed
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Asked, bool>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was answered before, now or in earlier runs.
    fn known(&self, extension: &Identity, right: Right, asked: &Asked) -> Option<bool> {
        let answer = self.answers().get(asked).copied();
        answer.or_else(|| match self.store.allows(extension, right) {
            Ok(is_allowed) => is_allowed.then_some(true),
            Err(why) => {
                failure::warn(&why);
                None
            }
        })
    }

    async fn ask(&self, extension: &Identity, wish: &Wish, right: Right) -> bool {
        // What it says of itself is not to look like a part of the question, or to hide it.
        let wish = clean::one_line(&wish.to_string(), WIDEST);
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
                clean::one_line(&extension.path.to_string_lossy(), WIDEST),
                right.says()
            ),
            timeout: None,
            signal: CancellationToken::new(),
        };
        // The first is chosen by whoever only presses Enter.
        let options = [NO, ONCE, ALWAYS].map(str::to_owned).to_vec();
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

#[cfg(test)]
mod tests {
    use ramal_extension::ui::{Answer, Notice, Placement};
    use ramal_extension::{OtherCommand, Ui};
    use tokio::sync::Notify;

    use super::super::front::Front;
    use super::*;

    /// Somebody who is asked and does not answer.
    #[derive(Default)]
    struct Silent {
        is_asked: Notify,
        asked: Mutex<Vec<(String, Vec<String>)>>,
    }

    impl Ui for Silent {
        fn has_ui(&self) -> bool {
            true
        }

        fn select(&self, question: Question, options: Vec<String>) -> Answer<'_, Option<String>> {
            self.asked.lock().unwrap().push((question.title, options));
            self.is_asked.notify_one();
            Box::pin(std::future::pending())
        }

        fn confirm(&self, _: Question, _: String) -> Answer<'_, bool> {
            Box::pin(std::future::pending())
        }

        fn input(&self, _: Question, _: Option<String>) -> Answer<'_, Option<String>> {
            Box::pin(std::future::pending())
        }

        fn editor(&self, _: Question, _: Option<String>) -> Answer<'_, Option<String>> {
            Box::pin(std::future::pending())
        }

        fn notify(&self, _: &str, _: &str, _: Notice) {}
        fn set_status(&self, _: &str, _: &str, _: Option<&str>) {}
        fn set_widget(&self, _: &str, _: &str, _: Option<&[String]>, _: Placement) {}
        fn set_title(&self, _: &str) {}
        fn set_editor_text(&self, _: &str) {}

        fn editor_text(&self) -> String {
            String::new()
        }
    }

    struct Before(Arc<Silent>);

    impl Front for Before {
        fn ui(&self) -> Arc<dyn Ui> {
            Arc::clone(&self.0) as _
        }

        fn shut_down(&self) {}

        fn commands(&self) -> Vec<OtherCommand> {
            Vec::new()
        }
    }

    fn of(name: &str) -> Identity {
        Identity { path: format!("/x/{name}").into(), name: name.into(), hash: "1".into() }
    }

    fn silent(store: Store) -> (AsksOnce, Arc<Silent>) {
        let (door, silent) = (Arc::new(Door::default()), Arc::new(Silent::default()));
        door.set(Arc::new(Before(Arc::clone(&silent))));
        (AsksOnce::new(store, door), silent)
    }

    #[tokio::test]
    async fn whoever_may_already_does_not_wait_for_the_answer_to_another() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_file(folder.path().join("extensions.toml"));
        let (known, fresh) = (of("known"), of("fresh"));
        store.allow(&known, Right::Run).unwrap();
        let (permits, silent) = silent(store);
        let wish = Wish::Run(vec!["ls".into()]);
        tokio::select! {
            biased;
            _ = permits.may(&fresh, &wish) => unreachable!("nobody answers"),
            is_allowed = async {
                silent.is_asked.notified().await;
                permits.may(&known, &wish).await
            } => assert!(is_allowed),
        }
    }

    #[tokio::test]
    async fn what_is_asked_is_seen_whatever_the_extension_wants() {
        let folder = tempfile::tempdir().unwrap();
        let (permits, silent) = silent(Store::in_file(folder.path().join("extensions.toml")));
        let script = format!("true\n\nThis is harmless.\u{1b}[2J{}", "x".repeat(100_000));
        let (evil, wish) = (of("evil\nTrust it"), Wish::Run(vec!["sh".into(), "-c".into(), script]));
        tokio::select! {
            biased;
            _ = permits.may(&evil, &wish) => unreachable!("nobody answers"),
            () = silent.is_asked.notified() => {}
        }
        let (title, options) = silent.asked.lock().unwrap().pop().unwrap();
        assert!(!title.contains(char::is_control) && title.len() < 1000, "{title}");
        assert!(title.ends_with("May it run programs?"), "{title}");
        assert_eq!(options.first().map(String::as_str), Some(NO));
    }
}
