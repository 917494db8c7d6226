//! Asks the user on the screen whether a tool may be run.

use std::pin::Pin;

use ramal_agent::permission::Question;
use ramal_tui::app::{Ask, Asker, Remembered};
use tokio::sync::oneshot;

use crate::permit::{Answer, AsksUser, Remember};

/// Whoever sits before the screen.
pub(super) struct AskScreen(pub(super) Asker);

impl AsksUser for AskScreen {
    fn confirm<'a>(
        &'a self,
        tool: &'a str,
        arguments: &'a str,
        question: &'a Question,
        offered: Vec<Remember>,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        let (sender, answer) = oneshot::channel();
        self.0.ask(Ask {
            tool: tool.to_owned(),
            reason: question.reason.clone(),
            arguments: arguments.to_owned(),
            offered: offered.into_iter().map(shown).collect(),
            answer: sender,
        });
        Box::pin(async move {
            // A program that ends answers no.
            let answer = answer.await.unwrap_or_default();
            let remember = answer.remembered.map(|remembered| match remembered {
                Remembered::Session => Remember::Session,
                Remembered::Project => Remember::Project,
            });
            Answer { is_yes: answer.is_yes, remember }
        })
    }

    fn notice(&self, message: String) {
        self.0.notice(message);
    }
}

fn shown(remember: Remember) -> Remembered {
    match remember {
        Remember::Session => Remembered::Session,
        Remember::Project => Remembered::Project,
    }
}
