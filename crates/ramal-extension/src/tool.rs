//! Tools that extensions bring.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use ramal_agent::tools::{Access, Call, Content, Tool, ToolResult};
use ramal_model::ToolSpec;
use ramal_session::json::quote;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc::unbounded_channel;

use crate::record::{ABORTED, Asking, Record};

/// A tool of an extension. It keeps no extension going: one that has ended says so.
pub(crate) struct ExtensionTool {
    pub(crate) record: Arc<Record>,
    pub(crate) name: String,
}

/// What a tool answers.
#[derive(serde::Deserialize)]
struct Answer<'a> {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(default)]
    terminate: bool,
}

impl Tool for ExtensionTool {
    fn spec(&self) -> ToolSpec {
        let about = self.record.registered(|registered| registered.tools.get(&self.name).cloned());
        let (description, parameters) =
            about.map(|about| (about.description, about.parameters)).unwrap_or_default();
        ToolSpec { name: self.name.clone(), description, parameters }
    }

    fn access(&self, _: &str, _: &Path) -> Vec<Access> {
        vec![Access::Unknown]
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(self.execute(call))
    }
}

impl ExtensionTool {
    async fn execute(&self, call: Call<'_>) -> ToolResult {
        let record = &self.record;
        let (sender, mut updates) = unbounded_channel();
        let update = Arc::new(move |text: String| {
            // Nobody may be listening any more.
            let _ = sender.send(text);
        });
        let asked = record.ask(Asking {
            kind: "tool",
            name: &self.name,
            what: format!("tool {}", self.name),
            payload: format!("{{\"toolCallId\":{},\"input\":{}}}", quote(call.id), call.arguments),
            abort: call.abort.clone(),
            limit: None,
            update: Some(update),
        });
        tokio::pin!(asked);
        let answer = loop {
            tokio::select! {
                biased;
                Some(text) = updates.recv() => (call.update)(text),
                answer = &mut asked => break answer,
            }
        };
        while let Ok(text) = updates.try_recv() {
            (call.update)(text);
        }
        match answer {
            Ok(answer) => read(&answer).unwrap_or_else(|why| {
                ToolResult::error(format!("The tool {} answered what cannot be used: {why}.", self.name))
            }),
            Err(error) if error == ABORTED => ToolResult::error("Aborted by the user."),
            Err(error) => ToolResult::error(error),
        }
    }
}

fn read(answer: &str) -> Result<ToolResult, String> {
    let answer: Answer<'_> = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let text = |block: &Value, key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
    let content = answer.content.iter().map(|block| match text(block, "type").as_deref() {
        Some("text") => text(block, "text").map(Content::Text).ok_or("a block has no text"),
        Some("image") => match (text(block, "data"), text(block, "mimeType")) {
            (Some(data), Some(mime_type)) => Ok(Content::Image { data, mime_type }),
            _ => Err("an image has no data"),
        },
        _ => Err("a block is neither text nor an image"),
    });
    Ok(ToolResult {
        content: content.collect::<Result<Vec<Content>, &str>>()?,
        details: answer.details.map(|details| details.get().to_owned()).filter(|details| details != "null"),
        is_error: answer.is_error,
        ends_turn: answer.terminate,
    })
}
