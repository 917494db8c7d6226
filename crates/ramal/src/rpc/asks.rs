//! Questions to the user, asked of the client: whether a call of a tool may be run.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramal_agent::Permit;
use ramal_agent::permission::{Decision, Permissions};
use ramal_agent::tools::Access;
use ramal_session::json::quote;
use tokio::sync::oneshot;

use super::outgoing::Outgoing;
use super::request::Request;

/// Questions that wait for an answer, by their ids; none once nobody can answer any more.
type Waiting = Option<HashMap<String, oneshot::Sender<bool>>>;

/// Asks the client, and takes its answers.
pub(super) struct Asks {
    waiting: Mutex<Waiting>,
    asked: AtomicU64,
    out: Outgoing,
    /// No answer for so long means no.
    limit: Duration,
}

/// A question that waits. It is forgotten when this is dropped.
struct Question<'a> {
    asks: &'a Asks,
    id: String,
}

impl Drop for Question<'_> {
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
    async fn confirm(&self, title: &str, message: &str) -> bool {
        let id = format!("confirm-{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answer) = oneshot::channel();
        match &mut *self.waiting() {
            Some(waiting) => drop(waiting.insert(id.clone(), sender)),
            None => return false,
        }
        let question = Question { asks: self, id };
        self.out.line(format!(
            "{{\"type\":\"extension_ui_request\",\"id\":{},\"method\":\"confirm\",\"title\":{},\"message\":{},\"timeout\":{}}}",
            quote(&question.id),
            quote(title),
            quote(message),
            self.limit.as_millis()
        ));
        let answered = tokio::time::timeout(self.limit, answer).await;
        answered.is_ok_and(|answer| answer.unwrap_or(false))
    }

    /// Takes what an `extension_ui_response` says; false if it does not say to which question. What was
    /// not asked, or not any more, is nobody's.
    pub(super) fn answer(&self, response: &Request<'_>) -> bool {
        let Some(id) = response.id_text() else { return false };
        let asked = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(asked) = asked {
            // Whoever asked may just have given up.
            let _ = asked.send(response.get("confirmed") == Some("true"));
        }
        true
    }

    /// No more answers will come: each question is answered with no.
    pub(super) fn close(&self) {
        *self.waiting() = None;
    }
}

/// Lets calls of tools be run as the policy says, and asks the client where it says so.
pub(super) struct AskClient {
    permissions: Permissions,
    asks: Arc<Asks>,
}

impl AskClient {
    pub(super) fn new(permissions: Permissions, asks: Arc<Asks>) -> AskClient {
        AskClient { permissions, asks }
    }
}

impl Permit for AskClient {
    fn may_run<'a>(
        &'a self,
        tool: &'a str,
        _: &'a str,
        access: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            match self.permissions.decide(tool, access) {
                Decision::Allow => true,
                Decision::Deny(_) => false,
                Decision::Ask(question) => {
                    let (title, message) =
                        (format!("Allow {tool}?"), format!("The model wants to {}.", question.reason));
                    self.asks.confirm(&title, &message).await
                }
            }
        })
    }
}
