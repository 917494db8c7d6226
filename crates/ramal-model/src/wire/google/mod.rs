//! Google's Gemini: `generateContent`, streamed.

mod contents;
mod errors;
mod family;
mod reader;

use ramal_session::json::{self, quote};

use super::{HttpRequest, Reader, Wire, messages};
use crate::address::below;
use crate::error::ModelError;
use crate::request::{Endpoint, Request, Secret, ThinkingLevel, ToolSpec};
use family::{Family, Thinking};

/// The interface `google-generative-ai`.
///
/// The body's order is system instruction, tools, contents, settings: what a conversation shares with
/// its earlier self comes first and in the same bytes, whatever is asked for this time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Google;

impl Wire for Google {
    fn request(&self, endpoint: &Endpoint, request: &Request) -> HttpRequest {
        let model = match endpoint.model.contains('/') {
            true => endpoint.model.clone(),
            false => format!("models/{}", endpoint.model),
        };
        let key = endpoint.key.as_ref().map(|key| ("x-goog-api-key", Secret::new(key.reveal())));
        HttpRequest {
            url: below(&endpoint.base_url, &format!("/{model}:streamGenerateContent?alt=sse")),
            headers: key.into_iter().collect(),
            body: body(endpoint, request).into_bytes(),
        }
    }

    fn reader(&self, endpoint: &Endpoint) -> Box<dyn Reader> {
        Box::new(reader::GoogleReader::new(endpoint))
    }

    fn error(&self, endpoint: &Endpoint, status: u16, retry_after: Option<&str>, body: &str) -> ModelError {
        errors::Teller::new(endpoint).of_response(status, retry_after, body)
    }
}

fn body(endpoint: &Endpoint, request: &Request) -> String {
    let contents = contents::contents(endpoint, &request.messages);
    let mut out = String::from("{");
    let system: Vec<String> = std::iter::once(&*request.system)
        .chain(contents.system.iter().map(|text| &**text))
        .filter(|text| !text.trim().is_empty())
        .map(contents::text_part)
        .collect();
    if !system.is_empty() {
        out += &format!("\"systemInstruction\":{{\"parts\":[{}]}},", system.join(","));
    }
    if !request.tools.is_empty() {
        let tools: Vec<String> = request.tools.iter().map(declaration).collect();
        out += &format!("\"tools\":[{{\"functionDeclarations\":[{}]}}],", tools.join(","));
    }
    out += &format!("\"contents\":[{}]", contents.list.join(","));
    let settings = settings(endpoint, request);
    if !settings.is_empty() {
        out += &format!(",\"generationConfig\":{{{settings}}}");
    }
    out + "}"
}

/// A tool. Its schema goes as it is, as JSON schema: the other form that Gemini knows is a dialect of
/// OpenAPI that refuses much of what schemas say.
fn declaration(tool: &ToolSpec) -> String {
    let out = format!("{{\"name\":{},\"description\":{}", quote(&tool.name), quote(&tool.description));
    let schema = messages::schema(tool);
    // Which edition of the language the schema is in is the one thing in it that is refused.
    let schema = match json::get(schema.as_bytes(), "$schema") {
        Some(_) => json::ObjectEdit::new().remove("$schema").apply(schema.as_bytes()),
        None => schema.into_bytes(),
    };
    out + &format!(",\"parametersJsonSchema\":{}}}", String::from_utf8_lossy(&schema))
}

fn settings(endpoint: &Endpoint, request: &Request) -> String {
    let mut parts = Vec::new();
    let limits = [request.max_output, Some(endpoint.max_output)];
    if let Some(limit) = limits.into_iter().flatten().filter(|limit| *limit > 0).min() {
        parts.push(format!("\"maxOutputTokens\":{limit}"));
    }
    if endpoint.thinks {
        let shown = request.thinking != ThinkingLevel::Off;
        let how = match Family::of(&endpoint.model).thinking(request.thinking) {
            Thinking::Level(level) => Some(format!("\"thinkingLevel\":\"{level}\"")),
            Thinking::Budget(tokens) => Some(format!("\"thinkingBudget\":{tokens}")),
            Thinking::AsItLikes => None,
        };
        // Asking for what is the default anyway could be refused by a model that cannot think.
        let shown = shown.then(|| "\"includeThoughts\":true".to_owned());
        let thinking: Vec<String> = how.into_iter().chain(shown).collect();
        if !thinking.is_empty() {
            parts.push(format!("\"thinkingConfig\":{{{}}}", thinking.join(",")));
        }
    }
    parts.join(",")
}
