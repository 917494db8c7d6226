//! A conversation as the body of a Chat Completions request. What may differ between two requests of a
//! session stands behind the messages, so that everything up to the end of the last message stays as it
//! was when the conversation goes on.

use ramal_session::Role;
use ramal_session::json::{self, quote};

use super::quirks::{self, Quirks};
use crate::answer::is_object;
use crate::request::{Endpoint, Request, ThinkingLevel};
use crate::wire::messages::{NO_OUTPUT, OPENING, Part, for_each, schema};
use crate::wire::openai::conversation::{Said, look_at, quoted_arguments, quoted_image};
use crate::wire::openai::ids::{CallIds, tool_name};

/// In place of an output that is images only.
const SEE_IMAGES: &str = "(The images follow.)";
/// Before the images of results.
const IMAGES_OF_RESULTS: &str = "Images of the results above:";
/// Between results and the next message of the user, where an answer has to stand there.
const AFTER_RESULTS: &str = "(I have read the results.)";

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, request: &Request, quirks: &Quirks) -> String {
    let mut out = format!(r#"{{"model":{},"stream":true,"#, quote(&endpoint.model));
    if quirks.usage_option {
        out += r#""stream_options":{"include_usage":true},"#;
    }
    if quirks.store {
        out += r#""store":false,"#;
    }
    if let Some(session) = request.session_id.as_deref().filter(|_| quirks.cache_key) {
        out += &format!(r#""prompt_cache_key":{},"#, quote(session));
    }
    if !request.tools.is_empty() {
        let tools: Vec<String> = request.tools.iter().map(tool).collect();
        out += &format!(r#""tools":[{}],"#, tools.join(","));
    }
    let mut writer = Writer::new(endpoint, request, quirks);
    for_each(&request.messages, |message| writer.take(&look_at(message, endpoint)));
    out += &format!(r#""messages":[{}]"#, writer.finish().join(","));
    let asked = request.max_output.or(quirks.always_limit.then_some(endpoint.max_output));
    let most = if endpoint.max_output == 0 { u64::MAX } else { endpoint.max_output };
    if let Some(limit) = asked.map(|limit| limit.min(most)).filter(|&limit| limit > 0) {
        out += &format!(r#","{}":{limit}"#, quirks.limit);
    }
    out + &quirks::thinking(quirks, endpoint, request.thinking) + "}"
}

fn tool(tool: &crate::request::ToolSpec) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        quote(&tool.name),
        quote(&tool.description),
        schema(tool)
    )
}

/// What is gathered before it is written: neighbours of one role may have to become one message.
enum Waiting {
    Nothing,
    User(Vec<Piece>),
    /// The text of an answer without calls.
    Answer {
        text: String,
        rest: String,
    },
}

/// A piece of a user's message.
enum Piece {
    Text(String),
    /// A part with an image; JSON.
    Image(String),
}

struct Writer<'e> {
    quirks: &'e Quirks,
    /// Answers with calls must bring thoughts.
    wants_thoughts: bool,
    ids: CallIds,
    out: Vec<String>,
    waiting: Waiting,
    /// Images of the results since the last answer.
    images: Vec<String>,
    has_spoken: bool,
    is_behind_results: bool,
}

impl<'e> Writer<'e> {
    fn new(endpoint: &Endpoint, request: &Request, quirks: &'e Quirks) -> Writer<'e> {
        let mut out = Vec::new();
        if !request.system.trim().is_empty() {
            let role = if quirks.developer && endpoint.thinks { "developer" } else { "system" };
            out.push(format!(r#"{{"role":"{role}","content":{}}}"#, quote(&request.system)));
        }
        Writer {
            quirks,
            wants_thoughts: quirks.thoughts_required
                && endpoint.thinks
                && request.thinking != ThinkingLevel::Off,
            ids: CallIds::new(quirks.ids),
            out,
            waiting: Waiting::Nothing,
            images: Vec::new(),
            has_spoken: false,
            is_behind_results: false,
        }
    }

    fn take(&mut self, said: &Said<'_>) {
        match said.speaker {
            Role::ToolResult => self.result(said),
            Role::Developer | Role::System if self.quirks.system_anywhere => self.instruction(said),
            Role::User | Role::Developer | Role::System => self.user(pieces(said)),
            Role::Assistant => self.answer(said),
            _ => {}
        }
    }

    fn user(&mut self, pieces: Vec<Piece>) {
        self.images_of_results();
        if pieces.is_empty() {
            return;
        }
        match &mut self.waiting {
            Waiting::User(before) if self.quirks.alternates => before.extend(pieces),
            _ => {
                self.write_waiting();
                self.waiting = Waiting::User(pieces);
            }
        }
    }

    fn instruction(&mut self, said: &Said<'_>) {
        let text = said.text("\n\n");
        if text.is_empty() {
            return;
        }
        self.images_of_results();
        self.write_waiting();
        let is_developer = said.speaker == Role::Developer && self.quirks.developer;
        let role = if is_developer { "developer" } else { "system" };
        self.out.push(format!(r#"{{"role":"{role}","content":{}}}"#, quote(&text)));
    }

    fn answer(&mut self, said: &Said<'_>) {
        self.images_of_results();
        self.ids.answer();
        let mut text = said.text(if said.is_own { "" } else { "\n\n" });
        let calls: Vec<String> = said.parts.iter().filter_map(|part| self.call(said, part)).collect();
        if text.is_empty() && calls.is_empty() {
            return;
        }
        if self.quirks.alternates {
            if !self.has_spoken && matches!(self.waiting, Waiting::Nothing) {
                self.user(vec![Piece::Text(OPENING.into())]);
            }
            if let Waiting::Answer { text: before, .. } = &self.waiting {
                text = if text.is_empty() { before.clone() } else { format!("{before}\n\n{text}") };
                self.waiting = Waiting::Nothing;
            }
        }
        self.write_waiting();
        let rest = self.thoughts(said, !calls.is_empty());
        if calls.is_empty() {
            self.waiting = Waiting::Answer { text, rest };
        } else {
            let content = if text.is_empty() { "null".into() } else { quote(&text) };
            self.push(format!(
                r#"{{"role":"assistant","content":{content}{rest},"tool_calls":[{}]}}"#,
                calls.join(",")
            ));
        }
    }

    fn call(&mut self, said: &Said<'_>, part: &Part<'_>) -> Option<String> {
        let Part::ToolCall { id, name, arguments, signature } = part else { return None };
        // Ids of the Responses interface hold the item's id behind the call's.
        let sent = self.ids.call(id, id.split('|').next().unwrap_or_default());
        let extra = signature
            .as_deref()
            .filter(|extra| said.is_own && is_object(extra))
            .map(|extra| format!(r#","extra_content":{}"#, json::clean(extra.as_bytes())));
        Some(format!(
            r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}{}}}"#,
            quote(&sent),
            quote(&tool_name(name)),
            quoted_arguments(arguments),
            extra.unwrap_or_default()
        ))
    }

    /// Members with what the model thought, each with a comma before it.
    fn thoughts(&self, said: &Said<'_>, has_calls: bool) -> String {
        let mut member = None;
        let mut texts = Vec::new();
        let mut details = Vec::new();
        for part in said.parts.iter().filter(|_| said.is_own && self.quirks.thoughts_back) {
            let Part::Thinking { thinking, signature: Some(signature), .. } = part else { continue };
            match signature.as_ref() {
                name @ ("reasoning_content" | "reasoning" | "reasoning_text") => {
                    member = Some(name);
                    texts.push(thinking.as_ref());
                }
                list if json::is_valid(list) => {
                    let inner = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
                    details.extend(inner.filter(|inner| !inner.is_empty()));
                }
                _ => {}
            }
        }
        let mut out = String::new();
        if let Some(member) = member {
            out += &format!(r#","{member}":{}"#, quote(&texts.concat()));
        }
        if !details.is_empty() {
            out += &format!(r#","reasoning_details":[{}]"#, details.join(","));
        }
        if has_calls && self.wants_thoughts && member != Some("reasoning_content") {
            out += r#","reasoning_content":"""#;
        }
        out
    }

    fn result(&mut self, said: &Said<'_>) {
        // Without its call it would be refused.
        let Some(id) = self.ids.result(&said.call).map(quote) else { return };
        self.write_waiting();
        let before = self.images.len();
        self.images.extend(said.parts.iter().filter_map(image));
        let text = said.text("\n");
        let content = quote(match text.as_str() {
            "" if self.images.len() > before => SEE_IMAGES,
            "" => NO_OUTPUT,
            text => text,
        });
        let name = match self.quirks.result_name {
            true => format!(r#","name":{}"#, quote(&tool_name(&said.tool))),
            false => String::new(),
        };
        self.push(format!(r#"{{"role":"tool","tool_call_id":{id}{name},"content":{content}}}"#));
        self.is_behind_results = true;
    }

    /// Results carry text only: their images follow as a message of the user, behind the last result.
    fn images_of_results(&mut self) {
        if self.images.is_empty() {
            return;
        }
        let images = std::mem::take(&mut self.images).into_iter().map(Piece::Image);
        let pieces = std::iter::once(Piece::Text(IMAGES_OF_RESULTS.into())).chain(images).collect();
        self.write_waiting();
        self.waiting = Waiting::User(pieces);
    }

    fn write_waiting(&mut self) {
        match std::mem::replace(&mut self.waiting, Waiting::Nothing) {
            Waiting::Nothing => {}
            Waiting::User(pieces) => {
                if self.quirks.answers_results && self.is_behind_results {
                    self.push(format!(r#"{{"role":"assistant","content":{}}}"#, quote(AFTER_RESULTS)));
                }
                self.push(format!(r#"{{"role":"user","content":{}}}"#, content(&pieces)));
            }
            Waiting::Answer { text, rest } => {
                self.push(format!(r#"{{"role":"assistant","content":{}{rest}}}"#, quote(&text)));
            }
        }
    }

    fn push(&mut self, message: String) {
        self.has_spoken = true;
        self.is_behind_results = false;
        self.out.push(message);
    }

    fn finish(mut self) -> Vec<String> {
        self.images_of_results();
        self.write_waiting();
        self.out
    }
}

fn pieces(said: &Said<'_>) -> Vec<Piece> {
    let piece = |part: &Part<'_>| match part {
        Part::Text { text, .. } => Some(Piece::Text(text.to_string())),
        part => image(part).map(Piece::Image),
    };
    said.parts.iter().filter_map(piece).collect()
}

/// A text where there is nothing else: some servers take no parts.
fn content(pieces: &[Piece]) -> String {
    let texts: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Image(_) => None,
        })
        .collect();
    if texts.len() == pieces.len() {
        return quote(&texts.join("\n\n"));
    }
    let parts: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => format!(r#"{{"type":"text","text":{}}}"#, quote(text)),
            Piece::Image(part) => part.clone(),
        })
        .collect();
    format!("[{}]", parts.join(","))
}

/// A part with an image; none of what is no image.
fn image(part: &Part<'_>) -> Option<String> {
    let Part::Image { mime_type, data } = part else { return None };
    Some(format!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, quoted_image(mime_type, data)))
}
