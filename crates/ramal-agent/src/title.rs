//! A title for a new session, asked of its model in the background.

use std::time::Duration;

use ramal_model::{Api, Block, Endpoint, LanguageModel, Request, StopReason};
use ramal_session::json::quote;
use ramal_session::{NameSource, SessionManager};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::error::AgentError;

const SYSTEM: &str = "You name conversations between a user and a coding agent. You are given how one begins. \
                      Answer with a name for it, of two to six words, in the language of the user: no quotes, \
                      no full stop, nothing else. Do not answer what is asked in it.";

/// Characters of the prompt that the name is made from.
const LONGEST_PROMPT: usize = 2000;

/// Characters of a name.
const LONGEST_TITLE: usize = 72;

/// Tokens for the answer; some models think a little whatever one asks of them.
const ANSWER: u64 = 512;

/// Which session is to get a title.
#[derive(Debug, Default)]
pub(crate) struct Titles {
    is_on: bool,
    /// The id of a session that is new and in which nothing was said yet.
    fresh: Option<String>,
    /// What was said first, until the model begins to answer.
    waiting: Option<Beginning>,
    /// The model is being asked for one.
    asking: Option<JoinHandle<()>>,
    /// Cancelled when titles are not waited for any more.
    end: CancellationToken,
}

/// How a session begins.
#[derive(Debug)]
struct Beginning {
    session_id: String,
    prompt: String,
}

impl Titles {
    pub(crate) fn of(manager: &SessionManager) -> Titles {
        let mut titles = Titles::default();
        titles.enter(manager, manager.message_count() == 0);
        titles
    }

    /// One is in a session, which may be a new one.
    pub(crate) fn enter(&mut self, manager: &SessionManager, is_new: bool) {
        self.fresh = is_new.then(|| manager.get_session_id().to_owned());
        self.waiting = None;
    }

    /// Something was said. The first prompt of a new session begins it.
    pub(crate) fn said(&mut self, manager: &SessionManager, prompt: &str) {
        let session_id = manager.get_session_id();
        if self.fresh.as_deref() != Some(session_id) || prompt.trim().is_empty() {
            return;
        }
        self.fresh = None;
        if self.is_on && manager.is_persisted() && manager.get_session_name().is_none() {
            let prompt = prompt.chars().take(LONGEST_PROMPT).collect();
            self.waiting = Some(Beginning { session_id: session_id.to_owned(), prompt });
        }
    }
}

impl AgentSession {
    /// Says whether new sessions get a title from their model. Unless this is called, they get none.
    pub fn set_auto_title(&self, enabled: bool) {
        self.titles().is_on = enabled;
    }

    /// Lets go of a title that has not come: none is stored after this.
    pub fn give_up_titles(&self) {
        // Whoever stores one has this locked.
        let _queue = self.queue();
        let mut titles = self.titles();
        titles.waiting = None;
        titles.end.cancel();
    }

    /// The model begins to answer. Not before that it is asked for a title: the answer comes first, also
    /// from a server that gives one at a time. Recorded answers are for recorded questions: they give none.
    pub(crate) fn ask_for_title(&self) {
        let (beginning, end) = {
            let mut titles = self.titles();
            let Some(beginning) = titles.waiting.take() else { return };
            (beginning, titles.end.clone())
        };
        let Some(endpoint) = self.endpoint().ok().filter(|endpoint| endpoint.api != Api::Replay) else {
            return;
        };
        if self.manager().get_session_name().is_some() {
            return;
        }
        let session = self.clone();
        let asking = tokio::spawn(async move {
            let title = ask(&*session.config().model, &endpoint, &beginning.prompt, end).await;
            if let Some(title) = title {
                session.put_aside_title(beginning.session_id, title);
            }
        });
        self.titles().asking = Some(asking);
    }

    /// Waits for a title that the model is being asked for, so long at most; for who is about to end.
    pub async fn wait_for_title(&self, limit: Duration) {
        let asking = self.titles().asking.take();
        if let Some(asking) = asking {
            // One that has not come by then is let go.
            let _ = tokio::time::timeout(limit, asking).await;
        }
    }

    /// Whether titles are not waited for any more.
    pub(crate) fn has_given_up_titles(&self) -> bool {
        self.titles().end.is_cancelled()
    }

    /// Gives the session a title, unless it has a name by now. Answers whether it did.
    pub(crate) fn name(&self, manager: &mut SessionManager, title: &str) -> Result<bool, AgentError> {
        // Another program may have named it. What cannot be read shows at the append.
        manager.refresh().ok();
        if manager.get_session_name().is_some() {
            return Ok(false);
        }
        let is_before_first = manager.get_leaf_id()?.is_none();
        manager.set_session_name(title, NameSource::Generated)?;
        if is_before_first {
            // Whoever is before the first entry stays there, and does not stand behind a title.
            manager.reset_leaf();
        }
        manager.sync()?;
        Ok(true)
    }
}

/// Asks for a title of a conversation that begins with `prompt`. None if there is no answer that would
/// do; a title is not worth an error.
async fn ask(
    model: &dyn LanguageModel,
    endpoint: &Endpoint,
    prompt: &str,
    end: CancellationToken,
) -> Option<String> {
    let text = format!("The conversation begins:\n\n{prompt}");
    let request = Request {
        system: SYSTEM.to_owned(),
        messages: vec![format!(
            "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            quote(&text)
        )],
        max_output: Some(ANSWER),
        ..Request::default()
    };
    let outcome = model.stream(endpoint, &request, end).outcome().await;
    outcome.result.ok()?;
    if outcome.answer.stop != StopReason::Stop {
        return None;
    }
    let texts = outcome.answer.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    tidy(&texts.collect::<String>())
}

/// What a model answered, as a title: one line without quotes and without a full stop.
fn tidy(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches(['#', '*', ' ']).trim_end_matches('*').trim();
    let line = line.strip_prefix("Title:").unwrap_or(line).trim();
    let line = line.trim_matches(['"', '\'', '`', '“', '”', '„', '«', '»']).trim_end_matches('.').trim();
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    // What is much longer is an answer and no title.
    (!line.is_empty() && line.chars().count() <= LONGEST_TITLE).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_tidied() {
        for (answer, want) in [
            ("Week 53 is lost", Some("Week 53 is lost")),
            ("\n **“Week 53”**\n\nBecause …", Some("Week 53")),
            ("# Title: Week\u{1b} dates.", Some("Week dates")),
            ("\"\"", None),
            ("", None),
        ] {
            assert_eq!(tidy(answer).as_deref(), want, "{answer}");
        }
        assert_eq!(tidy(&"word ".repeat(40)), None);
    }
}
