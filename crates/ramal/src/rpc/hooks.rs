//! The client as a hook: it says which events it wants, is asked, and has a time to answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramal_agent::hooks::{Answering, Asks, HookEvent};
use ramal_session::json::{members, quote};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Server;
use super::answer::{Refusal, Reply};
use super::outgoing::Outgoing;
use super::request::Request;

/// What the client answered: a result, or that its handler failed.
type Answer = Result<Option<String>, String>;

/// Asks the client, and takes its answers.
pub(super) struct ClientHooks {
    state: Mutex<State>,
    asked: AtomicU64,
    out: Outgoing,
    /// What has no answer after so long goes on without one.
    limit: Duration,
}

struct State {
    /// What the client wants to be asked.
    events: Vec<HookEvent>,
    /// Questions that wait, by their ids; none once nobody can answer any more.
    open: Option<HashMap<String, oneshot::Sender<Answer>>>,
}

/// A question that waits. The client is told when it is given up.
struct Question<'a> {
    hooks: &'a ClientHooks,
    id: String,
    /// Why it is given up; none if it is not.
    given_up: Option<&'static str>,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if let Some(open) = &mut self.hooks.state().open {
            open.remove(&self.id);
        }
        if let Some(reason) = self.given_up {
            let id = quote(&self.id);
            self.hooks
                .out
                .line(format!("{{\"type\":\"hook_request_ended\",\"id\":{id},\"reason\":\"{reason}\"}}"));
        }
    }
}

impl ClientHooks {
    pub(super) fn new(out: Outgoing, limit: Duration) -> ClientHooks {
        let state = State { events: Vec::new(), open: Some(HashMap::new()) };
        ClientHooks { state: Mutex::new(state), asked: AtomicU64::new(0), out, limit }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the question; none if nobody can answer it.
    fn open(&self, event: HookEvent, payload: &str) -> Option<(Question<'_>, oneshot::Receiver<Answer>)> {
        let id = format!("hook-{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answer) = oneshot::channel();
        self.state().open.as_mut()?.insert(id.clone(), sender);
        // An object that has members has them before a comma.
        let members = payload.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let comma = if members.is_empty() { "" } else { "," };
        self.out.line(format!(
            "{{\"type\":\"hook_request\",\"id\":{},\"event\":{}{comma}{members},\"timeout\":{}}}",
            quote(&id),
            quote(event.name()),
            self.limit.as_millis()
        ));
        // A question that is dropped was aborted.
        Some((Question { hooks: self, id, given_up: Some("aborted") }, answer))
    }

    /// Takes what a `hook_response` says; false if it does not say to which question. What was not
    /// asked, or not any more, is nobody's.
    pub(super) fn answer(&self, response: &Request<'_>) -> bool {
        let Some(id) = response.id_text() else { return false };
        let asked = self.state().open.as_mut().and_then(|open| open.remove(&id));
        if let Some(asked) = asked {
            let answer = match response.text_if("error") {
                Ok(None) => Ok(response.get("result").map(str::to_owned)),
                Ok(Some(error)) => Err(error),
                Err(refusal) => Err(refusal.to_string()),
            };
            // Whoever asked may just have given up.
            let _ = asked.send(answer);
        }
        true
    }

    /// No more answers will come.
    pub(super) fn close(&self) {
        self.state().open = None;
    }
}

impl Asks for ClientHooks {
    fn name(&self) -> &str {
        "client"
    }

    fn hears(&self, event: HookEvent) -> bool {
        let state = self.state();
        state.open.is_some() && state.events.contains(&event)
    }

    fn ask<'a>(
        &'a self,
        event: HookEvent,
        payload: String,
        signal: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        Box::pin(async move {
            let Some((mut question, answer)) = self.open(event, &payload) else { return Ok(None) };
            drop(payload);
            tokio::select! {
                biased;
                answer = answer => {
                    question.given_up = None;
                    answer.unwrap_or_else(|_| Err("the input ended before it was answered".into()))
                }
                () = signal.cancelled() => Ok(None),
                () = tokio::time::sleep(self.limit) => {
                    question.given_up = Some("timeout");
                    Err(format!("it did not answer within {} s", self.limit.as_secs_f64()))
                }
            }
        })
    }
}

/// Replaces the set of events that the client wants to be asked.
pub(super) fn set_hooks(server: &Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let given = request.array("events")?;
    let mut events = Vec::new();
    for name in members::items(given.as_bytes()) {
        let name =
            members::as_str(name).ok_or_else(|| Refusal::new("`events` must be an array of strings"))?;
        let event = HookEvent::named(&name).ok_or_else(|| unknown(&name))?;
        if !events.contains(&event) {
            events.push(event);
        }
    }
    let names: Vec<String> = events.iter().map(|event| quote(event.name())).collect();
    server.hooks.state().events = events;
    Ok(Reply::Small(format!("{{\"events\":[{}]}}", names.join(","))))
}

fn unknown(name: &str) -> Refusal {
    let known = HookEvent::ALL.map(HookEvent::name).join(", ");
    Refusal::new(format!("there is no event `{name}` to hook into; there are {known}"))
}
