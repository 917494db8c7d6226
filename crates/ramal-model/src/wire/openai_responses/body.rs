//! A conversation as the body of a Responses request. What may differ between two requests of a
//! session stands behind the items, so that everything up to the end of the last item stays as it was
//! when the conversation goes on.
//!
//! An item that carries the id under which the provider made it is checked against its neighbours:
//! one whose reasoning is missing is refused, and so is reasoning that nothing follows. Ids are sent
//! for answers of the same model only, and only where all of an answer's reasoning is sent as well.

use ramal_session::json::{self, quote};
use ramal_session::{Role, stable_hash};

use crate::answer::is_object;
use crate::request::{Endpoint, Request, ToolSpec};
use crate::wire::messages::{NO_OUTPUT, Part, for_each, schema};
use crate::wire::openai::conversation::{Said, look_at, quoted_arguments, quoted_image};
use crate::wire::openai::effort::effort;
use crate::wire::openai::ids::{CallIds, IdRule, tool_name};

/// The longest id that is accepted, of items and of calls, and the longest key of a cache.
const ID_MAX: usize = 64;
/// Fewer tokens for an answer are refused.
const OUTPUT_MIN: u64 = 16;

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, request: &Request) -> String {
    let mut out = format!(r#"{{"model":{},"stream":true,"store":false,"#, quote(&endpoint.model));
    if let Some(session) = &request.session_id {
        let key = if session.len() > ID_MAX {
            format!("{:016x}", stable_hash(&[session.as_bytes()]))
        } else {
            session.clone()
        };
        out += &format!(r#""prompt_cache_key":{},"#, quote(&key));
    }
    if endpoint.thinks {
        // Models that do not think refuse it. Wanted even where thinking is off now: earlier answers
        // may bring reasoning.
        out += r#""include":["reasoning.encrypted_content"],"#;
    }
    if !request.system.trim().is_empty() {
        out += &format!(r#""instructions":{},"#, quote(&request.system));
    }
    if !request.tools.is_empty() {
        let tools: Vec<String> = request.tools.iter().map(tool).collect();
        out += &format!(r#""tools":[{}],"#, tools.join(","));
    }
    let mut writer = Writer { ids: CallIds::new(IdRule::AtMost(ID_MAX)), out: Vec::new() };
    for_each(&request.messages, |message| writer.take(&look_at(message, endpoint)));
    out += &format!(r#""input":[{}]"#, writer.out.join(","));
    let most = if endpoint.max_output == 0 { u64::MAX } else { endpoint.max_output };
    if let Some(limit) = request.max_output {
        out += &format!(r#","max_output_tokens":{}"#, limit.min(most).max(OUTPUT_MIN));
    }
    if let Some(effort) = effort(&endpoint.model, request.thinking).filter(|_| endpoint.thinks) {
        out += &format!(r#","reasoning":{{"effort":"{effort}","summary":"auto"}}"#);
    }
    out + "}"
}

fn tool(tool: &ToolSpec) -> String {
    format!(
        r#"{{"type":"function","name":{},"description":{},"parameters":{},"strict":false}}"#,
        quote(&tool.name),
        quote(&tool.description),
        schema(tool)
    )
}

struct Writer {
    ids: CallIds,
    out: Vec<String>,
}

impl Writer {
    fn take(&mut self, said: &Said<'_>) {
        match said.speaker {
            Role::User => self.message("user", said),
            Role::Developer => self.message("developer", said),
            Role::System => self.message("system", said),
            Role::Assistant => self.answer(said),
            Role::ToolResult => self.result(said),
            _ => {}
        }
    }

    fn message(&mut self, role: &str, said: &Said<'_>) {
        let parts = input_parts(said);
        if !parts.is_empty() {
            self.out.push(format!(r#"{{"role":"{role}","content":[{}]}}"#, parts.join(",")));
        }
    }

    fn answer(&mut self, said: &Said<'_>) {
        self.ids.answer();
        // Which reasoning can be sent at all, and behind which something follows that needs it.
        let last = said.parts.iter().rposition(|part| !matches!(part, Part::Thinking { .. }));
        let reasoning: Vec<Option<String>> = said
            .parts
            .iter()
            .enumerate()
            .map(|(number, part)| match part {
                Part::Thinking { signature: Some(signature), .. } if said.is_own && Some(number) < last => {
                    reasoning_item(signature)
                }
                _ => None,
            })
            .collect();
        let has_ids = said.is_own
            && said.parts.iter().zip(&reasoning).enumerate().all(|(number, (part, item))| {
                !matches!(part, Part::Thinking { .. }) || item.is_some() || Some(number) > last
            });
        for (part, item) in said.parts.iter().zip(reasoning) {
            match part {
                Part::Thinking { .. } => self.out.extend(item),
                Part::Text { text, signature } => {
                    let id =
                        signature.as_deref().filter(|_| has_ids).and_then(message_id).unwrap_or_default();
                    self.out.push(format!(
                        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{},"annotations":[]}}]{id}}}"#,
                        quote(text)
                    ));
                }
                Part::ToolCall { id, name, arguments, .. } => self.call(id, name, arguments, has_ids),
                Part::Image { .. } => {}
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str, has_ids: bool) {
        let (call, item) = id.split_once('|').unwrap_or((id, ""));
        let sent = self.ids.call(id, call);
        let item = match has_ids && is_id(item, "fc_") {
            true => format!(r#""id":{},"#, quote(item)),
            false => String::new(),
        };
        self.out.push(format!(
            r#"{{"type":"function_call",{item}"call_id":{},"name":{},"arguments":{}}}"#,
            quote(&sent),
            quote(&tool_name(name)),
            quoted_arguments(arguments)
        ));
    }

    fn result(&mut self, said: &Said<'_>) {
        // Without its call it would be refused.
        let Some(call) = self.ids.result(&said.call) else { return };
        let has_images = said.parts.iter().any(|part| matches!(part, Part::Image { .. }));
        let output = if has_images {
            format!("[{}]", input_parts(said).join(","))
        } else {
            let text = said.text("\n");
            quote(if text.is_empty() { NO_OUTPUT } else { &text })
        };
        self.out.push(format!(
            r#"{{"type":"function_call_output","call_id":{},"output":{output}}}"#,
            quote(call)
        ));
    }
}

fn input_parts(said: &Said<'_>) -> Vec<String> {
    let part = |part: &Part<'_>| match part {
        Part::Text { text, .. } => Some(format!(r#"{{"type":"input_text","text":{}}}"#, quote(text))),
        Part::Image { mime_type, data } => Some(format!(
            r#"{{"type":"input_image","detail":"auto","image_url":{}}}"#,
            quoted_image(mime_type, data)
        )),
        _ => None,
    };
    said.parts.iter().filter_map(part).collect()
}

/// The item of a thought, if it says what was thought: nothing is stored at the provider, so that an
/// id alone leads nowhere.
fn reasoning_item(signature: &str) -> Option<String> {
    let item = json::clean(signature.as_bytes());
    if !is_object(&item) || json::get_str(item.as_bytes(), "type")? != "reasoning" {
        return None;
    }
    let is_encrypted =
        json::get_str(item.as_bytes(), "encrypted_content").is_some_and(|content| !content.is_empty());
    let content = json::get(item.as_bytes(), "content").unwrap_or_default();
    let is_open = json::members::items(content).next().is_some();
    let id = json::get_str(item.as_bytes(), "id").unwrap_or_default();
    // Compatible servers give ids of other forms; what has no id is taken as well.
    ((is_encrypted || is_open) && (id.is_empty() || is_id(&id, ""))).then(|| item.into_owned())
}

/// The members that a message's signature stands for, each with a comma before it. The signature is
/// an id, or an object with it: `{"v":1,"id":…,"phase":…}`.
fn message_id(signature: &str) -> Option<String> {
    let (id, phase) = if signature.starts_with('{') {
        let bytes = signature.as_bytes();
        let phase = json::get_str(bytes, "phase").map(|phase| phase.into_owned());
        (json::get_str(bytes, "id")?.into_owned(), phase)
    } else {
        (signature.to_owned(), None)
    };
    if !is_id(&id, "msg_") {
        return None;
    }
    let phase = phase.map(|phase| format!(r#","phase":{}"#, quote(&phase))).unwrap_or_default();
    Some(format!(r#","id":{},"status":"completed"{phase}"#, quote(&id)))
}

/// Whether `id` is one that the interface accepts for an item.
fn is_id(id: &str, start: &str) -> bool {
    !id.is_empty()
        && id.len() <= ID_MAX
        && id.starts_with(start)
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
