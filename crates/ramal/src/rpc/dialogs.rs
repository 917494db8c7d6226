//! What extensions show and ask, asked of the client (contract, section 12): `extension_ui_request`, which some
//! methods wait for an `extension_ui_response` to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramal_extension::ui::{Answer, Notice, Placement, Question};
use ramal_extension::{OtherCommand, Ui};
use ramal_session::json::{get_str, quote};
use tokio::sync::oneshot;

use super::input::Input;
use super::outgoing::Outgoing;
use super::request::Request;
use crate::extensions::Front;

/// What the ids of these begin with.
const PREFIX: &str = "dialog-";

/// A response as JSON text; none where nobody answers any more.
type Response = Option<String>;

/// Dialogs that wait, by their ids; none once nobody can answer any more.
type Waiting = Option<HashMap<String, oneshot::Sender<Response>>>;

/// Asks the client, and takes its answers.
pub(super) struct Dialogs {
    waiting: Mutex<Waiting>,
    asked: AtomicU64,
    out: Outgoing,
}

/// A dialog as long as it waits. The client is told when it is given up.
struct Open<'a> {
    dialogs: &'a Dialogs,
    id: String,
    is_answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = &mut *self.dialogs.waiting() {
            waiting.remove(&self.id);
        }
        if !self.is_answered {
            let id = quote(&self.id);
            self.dialogs.out.line(format!("{{\"type\":\"extension_ui_request_ended\",\"id\":{id}}}"));
        }
    }
}

impl Dialogs {
    pub(super) fn new(out: Outgoing) -> Dialogs {
        Dialogs { waiting: Mutex::new(Some(HashMap::new())), asked: AtomicU64::new(0), out }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a request; `members` stand behind its method.
    fn request(&self, method: &str, extension: &str, members: &str) -> String {
        let id = format!("{PREFIX}{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let extension = match extension {
            "" => String::new(),
            name => format!(",\"extension\":{}", quote(name)),
        };
        self.out.line(format!(
            "{{\"type\":\"extension_ui_request\",\"id\":{},\"method\":\"{method}\"{extension}{members}}}",
            quote(&id)
        ));
        id
    }

    /// Asks, and waits for a response; none if there was none.
    async fn ask(&self, method: &str, question: &Question, members: String) -> Response {
        let limit = question.timeout.map(|limit| format!(",\"timeout\":{}", limit.as_millis()));
        let (sender, answer) = oneshot::channel();
        let mut open = {
            // Nobody may answer before it is known that it was asked.
            let mut waiting = self.waiting();
            let waiting = waiting.as_mut()?;
            let members =
                format!(",\"title\":{}{members}{}", quote(&question.title), limit.unwrap_or_default());
            let id = self.request(method, &question.extension, &members);
            waiting.insert(id.clone(), sender);
            Open { dialogs: self, id, is_answered: false }
        };
        tokio::select! {
            biased;
            answer = answer => {
                open.is_answered = true;
                answer.ok().flatten()
            }
            () = question.given_up() => None,
        }
    }

    async fn value(&self, method: &str, question: Question, members: String) -> Option<String> {
        let response = self.ask(method, &question, members).await?;
        get_str(response.as_bytes(), "value").map(|value| value.into_owned())
    }

    /// Takes what an `extension_ui_response` says; false if it answers none of these.
    pub(super) fn answer(&self, response: &Request<'_>) -> bool {
        let Some(id) = response.id_text().filter(|id| id.starts_with(PREFIX)) else { return false };
        let asked = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(asked) = asked {
            let is_cancelled = response.get("cancelled") == Some("true");
            let member = |key: &str| response.get(key).map(|value| format!("\"{key}\":{value}"));
            let members: Vec<String> = ["value", "confirmed"].iter().filter_map(|key| member(key)).collect();
            // Whoever asked may just have given up.
            let _ = asked.send((!is_cancelled).then(|| format!("{{{}}}", members.join(","))));
        }
        true
    }

    /// No more answers will come.
    pub(super) fn close(&self) {
        *self.waiting() = None;
    }
}

fn member_if(key: &str, text: Option<&str>) -> String {
    text.map(|text| format!(",\"{key}\":{}", quote(text))).unwrap_or_default()
}

fn texts(lines: &[String]) -> String {
    lines.iter().map(|line| quote(line)).collect::<Vec<_>>().join(",")
}

impl Ui for Dialogs {
    fn has_ui(&self) -> bool {
        self.waiting().is_some()
    }

    fn select(&self, question: Question, options: Vec<String>) -> Answer<'_, Option<String>> {
        let members = format!(",\"options\":[{}]", texts(&options));
        Box::pin(async move {
            // What was not offered was not chosen.
            self.value("select", question, members).await.filter(|chosen| options.contains(chosen))
        })
    }

    fn confirm(&self, question: Question, message: String) -> Answer<'_, bool> {
        let members = format!(",\"message\":{}", quote(&message));
        Box::pin(async move {
            let response = self.ask("confirm", &question, members).await;
            response.is_some_and(|response| {
                ramal_session::json::get(response.as_bytes(), "confirmed").is_some_and(|said| said == b"true")
            })
        })
    }

    fn input(&self, question: Question, placeholder: Option<String>) -> Answer<'_, Option<String>> {
        let members = member_if("placeholder", placeholder.as_deref());
        Box::pin(self.value("input", question, members))
    }

    fn editor(&self, question: Question, prefill: Option<String>) -> Answer<'_, Option<String>> {
        let members = member_if("prefill", prefill.as_deref());
        Box::pin(self.value("editor", question, members))
    }

    fn notify(&self, extension: &str, message: &str, notice: Notice) {
        let members = format!(",\"message\":{},\"notifyType\":\"{}\"", quote(message), notice.name());
        self.request("notify", extension, &members);
    }

    fn set_status(&self, extension: &str, key: &str, text: Option<&str>) {
        let members = format!(",\"statusKey\":{}{}", quote(key), member_if("statusText", text));
        self.request("setStatus", extension, &members);
    }

    fn set_widget(&self, extension: &str, key: &str, lines: Option<&[String]>, placement: Placement) {
        let lines = lines.map(|lines| format!(",\"widgetLines\":[{}]", texts(lines))).unwrap_or_default();
        let placement = match placement {
            Placement::AboveEditor => "aboveEditor",
            Placement::BelowEditor => "belowEditor",
        };
        let members = format!(",\"widgetKey\":{}{lines},\"widgetPlacement\":\"{placement}\"", quote(key));
        self.request("setWidget", extension, &members);
    }

    fn set_title(&self, title: &str) {
        self.request("setTitle", "", &format!(",\"title\":{}", quote(title)));
    }

    fn set_editor_text(&self, text: &str) {
        self.request("set_editor_text", "", &format!(",\"text\":{}", quote(text)));
    }

    /// What stands there is the client's own.
    fn editor_text(&self) -> String {
        String::new()
    }
}

/// The client, before the extensions.
pub(super) struct Client {
    pub(super) dialogs: Arc<Dialogs>,
    /// Ends the program; none before it takes up requests.
    pub(super) stop: Mutex<Option<SyncSender<Input>>>,
}

impl Front for Client {
    fn ui(&self) -> Arc<dyn Ui> {
        Arc::clone(&self.dialogs) as _
    }

    fn shut_down(&self) {
        if let Some(stop) = &*self.stop.lock().unwrap_or_else(PoisonError::into_inner) {
            // Where the lines that were read ahead fill it, the client has more to say.
            let _ = stop.try_send(Input::Stop);
        }
    }

    fn commands(&self) -> Vec<OtherCommand> {
        Vec::new()
    }
}
