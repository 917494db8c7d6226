//! Extensions before the screen: what they ask and show there.

use std::sync::Arc;

use ramal_extension::ui::{Answer, Notice, Placement, Question};
use ramal_extension::{OtherCommand, Ui};
use ramal_tui::app::{self, Asker, Dialog, Given, Show, Side, Wanted, Weight};
use tokio::sync::oneshot;

use crate::extensions::Front;

/// Whoever sits before the screen, as extensions know them.
#[derive(Clone)]
pub(super) struct ScreenUi(pub(super) Asker);

/// Tells the screen that an answer is not waited for any more.
struct Open<'a>(&'a Asker);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.gave_up();
    }
}

impl ScreenUi {
    /// Asks, and waits for an answer; none if there was none.
    async fn ask(&self, question: Question, wanted: Wanted) -> Option<Given> {
        if !self.0.is_there() || question.signal.is_cancelled() {
            return None;
        }
        // It goes after what takes the answer, so that the screen sees that nobody waits.
        let _open = Open(&self.0);
        let (sender, answer) = oneshot::channel();
        self.0.dialog(Dialog {
            extension: question.extension.clone(),
            title: question.title.clone(),
            wanted,
            timeout: question.timeout,
            answer: sender,
        });
        tokio::select! {
            biased;
            answer = answer => answer.ok().flatten(),
            () = question.given_up() => None,
        }
    }

    async fn text(&self, question: Question, wanted: Wanted) -> Option<String> {
        match self.ask(question, wanted).await? {
            Given::Text(text) => Some(text),
            Given::Choice(_) | Given::Consent(_) => None,
        }
    }
}

impl Ui for ScreenUi {
    fn has_ui(&self) -> bool {
        self.0.is_there()
    }

    fn select(&self, question: Question, options: Vec<String>) -> Answer<'_, Option<String>> {
        Box::pin(async move {
            match self.ask(question, Wanted::Choice(options.clone())).await? {
                Given::Choice(number) => options.into_iter().nth(number),
                Given::Text(_) | Given::Consent(_) => None,
            }
        })
    }

    fn confirm(&self, question: Question, message: String) -> Answer<'_, bool> {
        Box::pin(
            async move { self.ask(question, Wanted::Consent(message)).await == Some(Given::Consent(true)) },
        )
    }

    fn input(&self, question: Question, placeholder: Option<String>) -> Answer<'_, Option<String>> {
        Box::pin(self.text(question, Wanted::Line(placeholder.unwrap_or_default())))
    }

    fn editor(&self, question: Question, prefill: Option<String>) -> Answer<'_, Option<String>> {
        Box::pin(self.text(question, Wanted::Text(prefill.unwrap_or_default())))
    }

    fn notify(&self, extension: &str, message: &str, notice: Notice) {
        let weight = match notice {
            Notice::Info => Weight::Info,
            Notice::Warning => Weight::Warning,
            Notice::Error => Weight::Error,
        };
        self.0.show(extension, Show::Notice { text: message.to_owned(), weight });
    }

    fn set_status(&self, extension: &str, key: &str, text: Option<&str>) {
        self.0.show(extension, Show::Status { key: key.to_owned(), text: text.map(str::to_owned) });
    }

    fn set_widget(&self, extension: &str, key: &str, lines: Option<&[String]>, placement: Placement) {
        let side = match placement {
            Placement::AboveEditor => Side::Above,
            Placement::BelowEditor => Side::Below,
        };
        let lines = lines.map(<[String]>::to_vec);
        self.0.show(extension, Show::Widget { key: key.to_owned(), lines, side });
    }

    fn set_title(&self, title: &str) {
        self.0.show("", Show::Title(title.to_owned()));
    }

    fn set_editor_text(&self, text: &str) {
        self.0.show("", Show::Written(text.to_owned()));
    }

    fn editor_text(&self) -> String {
        self.0.written()
    }
}

/// The screen, before the extensions.
pub(super) struct Screen(pub(super) Asker);

impl Front for Screen {
    fn ui(&self) -> Arc<dyn Ui> {
        Arc::new(ScreenUi(self.0.clone()))
    }

    fn shut_down(&self) {
        self.0.leave();
    }

    fn commands(&self) -> Vec<OtherCommand> {
        let builtin = app::commands_told().map(|(name, says)| OtherCommand {
            name: name.to_owned(),
            description: Some(says.to_owned()),
            source: "builtin".to_owned(),
        });
        builtin.collect()
    }

    fn are_gone(&self) {
        self.0.forget_extensions();
    }

    fn are_there(&self) {
        self.0.has_extensions();
    }

    fn have_themes(&self) {
        self.0.has_themes();
    }
}
