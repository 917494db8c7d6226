//! A title for a new session, asked of its model in the background.

use std::time::Duration;

use ramal_model::{Api, Block, Endpoint, LanguageModel, ModelError, Request, StopReason};
use ramal_session::json::quote;
use ramal_session::{EntryRef, Kind, NameSource, Role, SessionManager};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::error::AgentError;

const SYSTEM: &str = "You name conversations between a user and a coding agent. You are given how one begins. \
                      Answer with a name for it, of two to six words, in the language of the user: no quotes, \
                      no full stop, nothing else. Do not answer what is asked in it.";

/// Characters of the prompt that the name is made from.
const LONGEST_PROMPT: usize = 2000;

/// How many of the user's last messages go into a title that is asked for later, and characters of each.
const LATER: usize = 6;
const LONGEST_LATER: usize = 300;

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
            let text = self::beginning(&beginning.prompt);
            // A title that nobody asked for is not worth an error.
            if let Ok(Some(title)) = ask(&*session.model(), &endpoint, &text, end).await {
                session.put_aside_title(beginning.session_id, title);
            }
        });
        self.titles().asking = Some(asking);
    }

    /// Lets the model propose a title for the conversation on the path to the leaf. The session keeps the one
    /// it has: see [`AgentSession::set_session_name`]. It may be asked whatever else runs, and nothing is
    /// appended; [`AgentSession::abort`] does not end it, `abort` does.
    ///
    /// # Errors
    /// [`AgentError::NothingToName`] if the user has said nothing on the path; [`AgentError::Aborted`] after an
    /// abort; [`AgentError::NoTitle`] if what the model answers is none; if no model can be asked, it failed,
    /// or the log cannot be read.
    pub async fn propose_title(&self, abort: CancellationToken) -> Result<String, AgentError> {
        let endpoint = self.endpoint()?;
        let text = conversation(&self.said_by_user()?).ok_or(AgentError::NothingToName)?;
        let title = ask(&*self.model(), &endpoint, &text, abort.clone()).await;
        if abort.is_cancelled() {
            return Err(AgentError::Aborted { what: "the title" });
        }
        title?.ok_or(AgentError::NoTitle)
    }

    /// What the user said on the path to the leaf, the oldest first: the first, and the last ones.
    fn said_by_user(&self) -> Result<Vec<String>, AgentError> {
        let manager = self.manager();
        let path = manager.get_branch(None);
        let of_user = |entry: &&EntryRef<'_>| entry.kind() == Kind::Message && entry.role() == Role::User;
        let read = |entry: &EntryRef<'_>| entry.read().map(|entry| entry.text());
        let first = path.iter().filter(of_user).take(1);
        let count = path.iter().filter(of_user).count();
        let last = path.iter().filter(of_user).skip(count.saturating_sub(LATER).max(1));
        let said: Result<Vec<String>, _> = first.chain(last).map(read).collect();
        Ok(said?.into_iter().filter(|text| !text.trim().is_empty()).collect())
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

/// What the model is told of a conversation that begins with `prompt`.
fn beginning(prompt: &str) -> String {
    format!("The conversation begins:\n\n{prompt}")
}

/// What the model is told of a conversation by what the user said in it; the oldest first. None if that is
/// nothing.
fn conversation(said: &[String]) -> Option<String> {
    let (first, rest) = said.split_first()?;
    let cut = |text: &str, most: usize| text.trim().chars().take(most).collect::<String>();
    let mut text = beginning(&cut(first, LONGEST_PROMPT));
    // What was said last says best what it has become.
    let later = rest.get(rest.len().saturating_sub(LATER)..).unwrap_or_default();
    for (number, said) in later.iter().enumerate() {
        text += if number == 0 { "\n\nLater the user said:\n\n" } else { "\n\n" };
        text += &cut(said, LONGEST_LATER);
    }
    Some(text)
}

/// Asks for a title of what `text` tells; none if the answer does not do as one.
async fn ask(
    model: &dyn LanguageModel,
    endpoint: &Endpoint,
    text: &str,
    end: CancellationToken,
) -> Result<Option<String>, ModelError> {
    let request = Request {
        system: SYSTEM.to_owned(),
        messages: vec![format!(
            "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            quote(text)
        )],
        max_output: Some(ANSWER),
        ..Request::default()
    };
    let outcome = model.stream(endpoint, &request, end).outcome().await;
    outcome.result?;
    if outcome.answer.stop != StopReason::Stop {
        return Ok(None);
    }
    let texts = outcome.answer.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    Ok(tidy(&texts.collect::<String>()))
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
    fn a_conversation_is_told_by_its_beginning_and_its_end() {
        assert_eq!(conversation(&[]), None);
        let said: Vec<String> = (0..9).map(|number| format!("said {number} {}", "x".repeat(400))).collect();
        let told = conversation(&said).unwrap();
        assert!(told.starts_with("The conversation begins:\n\nsaid 0"), "{told}");
        assert!(!told.contains("said 2") && told.contains("\n\nLater the user said:\n\nsaid 3"), "{told}");
        assert!(told.contains("\n\nsaid 8") && told.chars().count() < 2400 + 500, "{told}");
    }

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
