//! A conversation as the body of a Chat Completions request. The messages stand last in it, so that
//! everything up to the end of the last message stays as it was when the conversation goes on.

use ramal_session::json::quote;

use super::quirks::{self, Quirks};
use crate::request::{Endpoint, Request, ThinkingLevel};
use crate::wire::openai::conversation::{
    IMAGES_OF_RESULTS, Inner, NO_IMAGE, NO_OUTPUT, Part, SEE_IMAGES, Said, Speaker, cleaned, joined, look_at,
    schema,
};
use crate::wire::openai::ids::{CallIds, tool_name};

/// In front of a conversation that begins with an answer, where user and assistant take turns.
const BEGINS_WITH_ANSWER: &str = "(The conversation begins with your answer.)";

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
    let asked = request.max_output.or(quirks.always_limit.then_some(endpoint.max_output));
    let most = if endpoint.max_output == 0 { u64::MAX } else { endpoint.max_output };
    if let Some(limit) = asked.map(|limit| limit.min(most)).filter(|&limit| limit > 0) {
        out += &format!(r#""{}":{limit},"#, quirks.limit);
    }
    out += &quirks::thinking(quirks, endpoint, request.thinking);
    if !request.tools.is_empty() {
        let tools: Vec<String> = request.tools.iter().map(tool).collect();
        out += &format!(r#""tools":[{}],"#, tools.join(","));
    }
    let mut writer = Writer::new(endpoint, request, quirks);
    for text in cleaned(&request.messages) {
        if let Some(said) = look_at(&text, endpoint) {
            writer.take(&said);
        }
    }
    out + r#""messages":["# + &writer.finish().join(",") + "]}"
}

fn tool(tool: &crate::request::ToolSpec) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        quote(&tool.name),
        quote(&tool.description),
        schema(&tool.parameters)
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

/// A piece of a user's message; JSON.
enum Piece {
    /// What stands between the quotes of a text.
    Text(String),
    /// A part with an image.
    Image(String),
}

struct Writer<'e> {
    quirks: &'e Quirks,
    sees: bool,
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
            sees: endpoint.sees,
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
            Speaker::Tool => self.result(said),
            Speaker::User => self.user(self.pieces(said)),
            Speaker::Developer | Speaker::System if self.quirks.system_anywhere => self.instruction(said),
            Speaker::Developer | Speaker::System => self.user(self.pieces(said)),
            Speaker::Assistant => self.answer(said),
        }
    }

    fn pieces(&self, said: &Said<'_>) -> Vec<Piece> {
        said.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text, .. } => Some(Piece::Text(text.0.to_owned())),
                Part::Image { data, mime_type } if self.sees => Some(Piece::Image(image(*data, *mime_type))),
                Part::Image { .. } => Some(Piece::Text(NO_IMAGE.into())),
                _ => None,
            })
            .collect()
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
        let text = joined(texts(said), "\\n\\n");
        if text == "\"\"" {
            return;
        }
        self.images_of_results();
        self.write_waiting();
        let is_developer = said.speaker == Speaker::Developer && self.quirks.developer;
        let role = if is_developer { "developer" } else { "system" };
        self.out.push(format!(r#"{{"role":"{role}","content":{text}}}"#));
    }

    fn answer(&mut self, said: &Said<'_>) {
        self.images_of_results();
        self.ids.answer();
        let mut text = joined(texts(said), if said.is_own { "" } else { "\\n\\n" });
        let calls: Vec<String> = said.parts.iter().filter_map(|part| self.call(said, part)).collect();
        if text == "\"\"" && calls.is_empty() {
            return;
        }
        if self.quirks.alternates {
            if !self.has_spoken && matches!(self.waiting, Waiting::Nothing) {
                self.user(vec![Piece::Text(BEGINS_WITH_ANSWER.into())]);
            }
            if let Waiting::Answer { text: before, .. } = &self.waiting {
                let both = [inner(before), inner(&text)];
                text = joined(both.into_iter().filter(|text| !text.is_empty()), "\\n\\n");
                self.waiting = Waiting::Nothing;
            }
        }
        self.write_waiting();
        let rest = self.thoughts(said, !calls.is_empty());
        if calls.is_empty() {
            self.waiting = Waiting::Answer { text, rest };
        } else {
            let content = if text == "\"\"" { "null" } else { &text };
            self.push(format!(
                r#"{{"role":"assistant","content":{content}{rest},"tool_calls":[{}]}}"#,
                calls.join(",")
            ));
        }
    }

    fn call(&mut self, said: &Said<'_>, part: &Part<'_>) -> Option<String> {
        let Part::Call { id, name, arguments, signature } = part else { return None };
        let id = id.decoded();
        // Ids of the Responses interface hold the item's id behind the call's.
        let sent = self.ids.call(&id, id.split('|').next().unwrap_or_default());
        let extra = signature.filter(|_| said.is_own).map(|extra| extra.decoded().into_owned());
        let extra = extra
            .filter(|extra| crate::wire::openai::blocks::is_object(extra))
            .map(|extra| format!(r#","extra_content":{extra}"#));
        Some(format!(
            r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}{}}}"#,
            quote(&sent),
            quote(&tool_name(&name.decoded())),
            quote(arguments),
            extra.unwrap_or_default()
        ))
    }

    /// Members with what the model thought, each with a comma before it.
    fn thoughts(&self, said: &Said<'_>, has_calls: bool) -> String {
        let mut member = None;
        let mut texts = Vec::new();
        let mut details = Vec::new();
        for part in said.parts.iter().filter(|_| said.is_own && self.quirks.thoughts_back) {
            let Part::Thinking { thinking, signature: Some(signature) } = part else { continue };
            match signature.decoded() {
                name if ["reasoning_content", "reasoning", "reasoning_text"].contains(&&*name) => {
                    member = Some(name.into_owned());
                    texts.push(thinking.0);
                }
                list => details.extend(
                    list.strip_prefix('[')
                        .and_then(|list| list.strip_suffix(']'))
                        .filter(|inner| !inner.is_empty() && ramal_session::json::is_valid(&list))
                        .map(str::to_owned),
                ),
            }
        }
        let mut out = String::new();
        if let Some(member) = &member {
            out += &format!(r#","{member}":{}"#, joined(texts.into_iter(), ""));
        }
        if !details.is_empty() {
            out += &format!(r#","reasoning_details":[{}]"#, details.join(","));
        }
        if has_calls && self.wants_thoughts && member.as_deref() != Some("reasoning_content") {
            out += r#","reasoning_content":"""#;
        }
        out
    }

    fn result(&mut self, said: &Said<'_>) {
        // Without its call it would be refused.
        let Some(id) = self.ids.result(&said.call.decoded()).map(quote) else { return };
        self.write_waiting();
        let mut has_images = false;
        for part in &said.parts {
            if let Part::Image { data, mime_type } = part {
                has_images = true;
                if self.sees {
                    self.images.push(image(*data, *mime_type));
                }
            }
        }
        let mut content = joined(texts(said), "\\n");
        if content == "\"\"" {
            content = quote(match (has_images, self.sees) {
                (true, true) => SEE_IMAGES,
                (true, false) => NO_IMAGE,
                (false, _) => NO_OUTPUT,
            });
        }
        let name = match self.quirks.result_name {
            true => format!(r#","name":{}"#, quote(&tool_name(&said.tool.decoded()))),
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
                self.push(format!(r#"{{"role":"assistant","content":{text}{rest}}}"#));
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

/// A text where there is nothing else: some servers take no parts.
fn content(pieces: &[Piece]) -> String {
    let texts = || {
        pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Image(_) => None,
        })
    };
    if texts().count() == pieces.len() {
        return joined(texts(), "\\n\\n");
    }
    let parts: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => format!(r#"{{"type":"text","text":"{text}"}}"#),
            Piece::Image(part) => part.clone(),
        })
        .collect();
    format!("[{}]", parts.join(","))
}

fn image(data: Inner<'_>, mime_type: Inner<'_>) -> String {
    let mime_type = if mime_type.is_blank() { "image/png" } else { mime_type.0 };
    format!(r#"{{"type":"image_url","image_url":{{"url":"data:{mime_type};base64,{}"}}}}"#, data.0)
}

fn texts<'a>(said: &'a Said<'a>) -> impl Iterator<Item = &'a str> {
    said.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.0),
        _ => None,
    })
}

fn inner(json: &str) -> &str {
    json.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default()
}
