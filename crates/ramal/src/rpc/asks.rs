//! Questions to the user, asked of the client: whether a call of a tool may be run, and whether that
//! holds for later ones.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramal_agent::AgentEvent;
use ramal_agent::permission::Question;
use ramal_session::json::quote;
use tokio::sync::oneshot;

use super::outgoing::Outgoing;
use super::request::Request;
use crate::permit::{Answer, AsksUser, Remember};

/// What a client calls it.
fn name(remember: Remember) -> &'static str {
    match remember {
        Remember::Session => "session",
        Remember::Project => "project",
    }
}

/// A question that waits for an answer.
struct Open {
    sender: oneshot::Sender<Answer>,
    /// What can be remembered of it.
    offered: Vec<Remember>,
}

/// Questions that wait, by their ids; none once nobody can answer any more.
type Waiting = Option<HashMap<String, Open>>;

/// Asks the client, and takes its answers.
pub(super) struct Asks {
    waiting: Mutex<Waiting>,
    asked: AtomicU64,
    out: Outgoing,
    /// No answer for so long means no.
    limit: Duration,
}

/// A question as long as it waits: it is forgotten when this is dropped.
struct Asked<'a> {
    asks: &'a Asks,
    id: String,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = &mut *self.asks.waiting() {
            waiting.remove(&self.id);
        }
    }
}

impl Asks {
    pub(super) fn new(out: Outgoing, limit: Duration) -> Asks {
        Asks { waiting: Mutex::new(Some(HashMap::new())), asked: AtomicU64::new(0), out, limit }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a yes or no.
    async fn ask(&self, title: &str, message: &str, offered: Vec<Remember>) -> Answer {
        let id = format!("confirm-{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let names: Vec<String> = offered.iter().map(|remember| quote(name(*remember))).collect();
        let remember =
            if names.is_empty() { String::new() } else { format!(",\"remember\":[{}]", names.join(",")) };
        let (sender, answer) = oneshot::channel();
        match &mut *self.waiting() {
            Some(waiting) => drop(waiting.insert(id.clone(), Open { sender, offered })),
            None => return Answer::default(),
        }
        let asked = Asked { asks: self, id };
        self.out.line(format!(
            "{{\"type\":\"extension_ui_request\",\"id\":{},\"method\":\"confirm\",\"title\":{},\"message\":{}{remember},\"timeout\":{}}}",
            quote(&asked.id),
            quote(title),
            quote(message),
            self.limit.as_millis()
        ));
        let answered = tokio::time::timeout(self.limit, answer).await;
        answered.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Takes what an `extension_ui_response` says; false if it does not say to which question. What was
    /// not asked, or not any more, is nobody's.
    pub(super) fn answer(&self, response: &Request<'_>) -> bool {
        let Some(id) = response.id_text() else { return false };
        let asked = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(Open { sender, offered }) = asked {
            let is_yes = response.get("confirmed") == Some("true");
            let remember = match wanted(response, is_yes, &offered) {
                Ok(remember) => remember,
                Err(why) => {
                    self.notice(format!("the answer to {id} counts once: {why}"));
                    None
                }
            };
            // Whoever asked may just have given up.
            let _ = sender.send(Answer { is_yes, remember });
        }
        true
    }

    /// No more answers will come: each question is answered with no.
    pub(super) fn close(&self) {
        *self.waiting() = None;
    }
}

impl AsksUser for Asks {
    fn confirm<'a>(
        &'a self,
        tool: &'a str,
        _: &'a str,
        question: &'a Question,
        offered: Vec<Remember>,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        let (title, message) = (format!("Allow {tool}?"), format!("The model wants to {}.", question.reason));
        Box::pin(async move { self.ask(&title, &message, offered).await })
    }

    fn notice(&self, message: String) {
        self.out.event(&Arc::new(AgentEvent::Notice { message }));
    }
}

/// For how long an answer is to be remembered, or why it cannot be.
fn wanted(response: &Request<'_>, is_yes: bool, offered: &[Remember]) -> Result<Option<Remember>, String> {
    let Some(given) = response.get("remember").filter(|given| *given != "null") else { return Ok(None) };
    if !is_yes {
        return Err("only a yes can be remembered".into());
    }
    let found = offered.iter().find(|remember| quote(name(**remember)) == given);
    found.copied().map(Some).ok_or_else(|| {
        let names: Vec<String> = offered.iter().map(|remember| quote(name(*remember))).collect();
        match names.is_empty() {
            true => format!("`remember` is {given}, and this question cannot be remembered"),
            false => format!("`remember` is {given}, and can be {}", names.join(" or ")),
        }
    })
}
