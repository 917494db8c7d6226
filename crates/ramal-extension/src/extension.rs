//! An extension as a hook of a session.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use ramal_agent::hooks::{Answering, Asks, HookEvent};
use ramal_session::json::quote;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::natives;
use crate::permit::Identity;
use crate::record::{ABORTED, Asking, Record};

/// An extension that is loaded. It ends when the last of these is dropped.
pub struct Extension(pub(crate) Arc<Record>);

/// What an extension registered, each by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Brings {
    /// The events that it hears.
    pub events: Vec<String>,
    /// What can be typed behind a slash.
    pub commands: Vec<String>,
    /// What models can call.
    pub tools: Vec<String>,
    /// Keys.
    pub shortcuts: Vec<String>,
    /// What it takes from the command line.
    pub flags: Vec<String>,
    /// The kinds of messages that it draws.
    pub renderers: Vec<String>,
}

impl Drop for Extension {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Extension {
    /// The file that it was loaded from.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// What it is, for whoever remembers what it may do.
    pub fn identity(&self) -> Identity {
        self.0.identity()
    }

    /// What it registered until now.
    pub fn brings(&self) -> Brings {
        self.0.registered(crate::record::Registered::brings)
    }

    /// Why it is switched off; none if it is not.
    pub fn dead(&self) -> Option<String> {
        self.0.dead()
    }

    /// Asks its handlers for an event; JSON texts.
    pub(crate) async fn event(
        &self,
        name: &str,
        payload: String,
        abort: CancellationToken,
    ) -> Result<Option<String>, String> {
        if !self.0.hears(name) {
            return Ok(None);
        }
        let asking = Asking {
            kind: "event",
            name,
            what: name.to_owned(),
            payload,
            abort,
            limit: Some(self.0.world.options.event_time),
            update: None,
        };
        match self.0.ask(asking).await {
            Ok(text) if text == "null" => Ok(None),
            Ok(text) => Ok(Some(text)),
            Err(error) if error == ABORTED => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The session was left for another: for one family that is an end and a beginning, for the other an
    /// event of its own.
    async fn replaced(
        &self,
        event: HookEvent,
        payload: &str,
        signal: CancellationToken,
    ) -> Result<Option<String>, String> {
        let text = |key: &str| ramal_session::json::get_str(payload.as_bytes(), key);
        let reason = text("reason").unwrap_or("fork".into());
        let file = self.0.world.session().and_then(|session| {
            session.with_session(|manager| {
                manager.get_session_file().map(|file| file.to_string_lossy().into_owned())
            })
        });
        let mut end = format!("{{\"reason\":{}", quote(&reason));
        if let Some(file) = &file {
            end += &format!(",\"targetSessionFile\":{}", quote(file));
        }
        end.push('}');
        let mut start = format!("{{\"reason\":{}", quote(&reason));
        if let Some(previous) = text("previousSessionFile") {
            start += &format!(",\"previousSessionFile\":{}", quote(&previous));
        }
        start.push('}');
        for (name, payload) in
            [("session_shutdown", end), (event.name(), payload.to_owned()), ("session_start", start)]
        {
            self.event(name, payload, signal.clone()).await?;
        }
        Ok(None)
    }

    /// Models as extensions know them, where they can be used.
    fn with_models(&self, payload: String) -> String {
        let Ok(mut told) = serde_json::from_str::<Value>(&payload) else { return payload };
        let Some(session) = self.0.world.session() else { return payload };
        for key in ["model", "previousModel"] {
            let Some(model) = told.get_mut(key) else { continue };
            let part = |key: &str| model.get(key).and_then(Value::as_str).unwrap_or_default();
            let name = format!("{}/{}", part("provider"), part("id"));
            if let Ok(endpoint) = session.find_model(&name) {
                *model = natives::model(&endpoint);
            }
        }
        told.to_string()
    }
}

impl Asks for Extension {
    fn name(&self) -> &str {
        // The name in messages is that of the file: it does not change.
        self.0.path.to_str().unwrap_or("extension")
    }

    fn hears(&self, event: HookEvent) -> bool {
        let replaces = matches!(event, HookEvent::SessionSwitch | HookEvent::SessionBranch);
        self.0.hears(event.name())
            || (replaces && (self.0.hears("session_start") || self.0.hears("session_shutdown")))
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn caught_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.has_heard())
    }

    fn ask<'a>(
        &'a self,
        event: HookEvent,
        payload: String,
        signal: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        Box::pin(async move {
            match event {
                HookEvent::SessionSwitch | HookEvent::SessionBranch => {
                    self.replaced(event, &payload, signal).await
                }
                HookEvent::SessionBeforeBranch => {
                    self.0.has_heard().await;
                    // One family's name for it says why, too.
                    let open = payload.strip_suffix('}').unwrap_or("{");
                    let payload = format!("{open},\"reason\":\"branch\"}}");
                    self.event(event.name(), payload, signal).await
                }
                HookEvent::Context
                | HookEvent::ToolCall
                | HookEvent::ToolResult
                | HookEvent::BeforeAgentStart
                | HookEvent::SessionBeforeTree
                | HookEvent::SessionBeforeSwitch
                | HookEvent::ThinkingLevelSelect => {
                    // What it was told before comes before. Not so before a compaction, which a handler may
                    // have wanted and wait for.
                    self.0.has_heard().await;
                    self.event(event.name(), payload, signal).await
                }
                HookEvent::ModelSelect => {
                    self.0.has_heard().await;
                    self.event(event.name(), self.with_models(payload), signal).await
                }
                _ => self.event(event.name(), payload, signal).await,
            }
        })
    }
}
