//! What a failure of a server that speaks one of OpenAI's interfaces means. Most such servers use
//! OpenAI's words for it, local ones have their own.

use std::time::Duration;

use ramal_session::json;
use serde_json::Value;

use crate::error::ModelError;
use crate::request::{Endpoint, Secret};

/// How much of a message is kept, in bytes. A proxy may answer with a whole page.
const MESSAGE_MAX: usize = 600;

/// Who is to be named in an error, and what must not be.
pub(in crate::wire) struct Provider {
    name: String,
    secrets: Vec<Secret>,
}

/// What the body of an error says.
#[derive(Default)]
struct Said {
    message: String,
    /// Codes and types, in small letters, each behind a blank.
    codes: String,
    status: Option<u16>,
}

impl Provider {
    pub(in crate::wire) fn of(endpoint: &Endpoint) -> Provider {
        let headers = endpoint.headers.iter().map(|(_, secret)| secret);
        Provider {
            name: endpoint.provider.clone(),
            secrets: endpoint.key.iter().chain(headers).cloned().collect(),
        }
    }

    /// What a status other than success means.
    pub(in crate::wire) fn failed(&self, status: u16, retry_after: Option<&str>, body: &str) -> ModelError {
        let said = match serde_json::from_str::<Value>(&json::clean(body.as_bytes())) {
            Ok(value) => said(&value),
            Err(_) if status == 404 => {
                Said { message: "there is no such address; is the base URL right?".into(), ..Said::default() }
            }
            Err(_) => Said { message: plain(body), ..Said::default() },
        };
        self.told_apart(status, retry_after.and_then(seconds), said)
    }

    /// What an error inside a stream means that began with success.
    pub(in crate::wire) fn failed_in_stream(&self, error: &Value) -> ModelError {
        let said = said(error);
        let status = said.status.unwrap_or_else(|| status_of(&said.codes));
        self.told_apart(status, None, said)
    }

    /// The stream ended before the answer did.
    pub(in crate::wire) fn broke_off(&self) -> ModelError {
        ModelError::ConnectionLost {
            provider: self.name.clone(),
            message: "the stream ended before the answer did".into(),
        }
    }

    /// Something in the stream is not of the form it should have.
    pub(in crate::wire) fn not_understood(&self, message: &str) -> ModelError {
        ModelError::NotUnderstood { provider: self.name.clone(), message: self.shown(message, 0) }
    }

    /// The provider stopped the answer because of what it says.
    pub(in crate::wire) fn refused(&self, message: &str) -> ModelError {
        ModelError::Refused { provider: self.name.clone(), message: self.shown(message, 0) }
    }

    fn told_apart(&self, status: u16, wait: Option<Duration>, said: Said) -> ModelError {
        let provider = self.name.clone();
        let text = said.message.to_lowercase();
        let message = self.shown(&said.message, status);
        let codes = said.codes.as_str();
        if is_quota(codes, &text) {
            // It has the status of a rate limit, but no waiting helps.
            return ModelError::BadRequest { provider, status, message };
        }
        if is_too_long(status, codes, &text) {
            return ModelError::ContextTooLong { message };
        }
        if is_refusal(status, codes, &text) {
            return ModelError::Refused { provider, message };
        }
        let wait = wait.or_else(|| asked_in_words(&text));
        let is_overloaded = codes.contains("overloaded") || text.contains("overloaded");
        match status {
            401 => ModelError::KeyRefused { provider, message },
            403 if !codes.contains("model") => ModelError::KeyRefused { provider, message },
            429 if is_overloaded => ModelError::Overloaded { provider, message, wait },
            429 => ModelError::RateLimited { provider, message, wait },
            498 | 503 | 529 => ModelError::Overloaded { provider, message, wait },
            408 | 500.. if is_overloaded => ModelError::Overloaded { provider, message, wait },
            408 | 425 | 500.. => ModelError::Server { provider, status, message, wait },
            _ => ModelError::BadRequest { provider, status, message },
        }
    }

    /// A message that can be shown: without keys, on one line, of a bounded length.
    fn shown(&self, message: &str, status: u16) -> String {
        let mut message = message.to_owned();
        for secret in self.secrets.iter().map(Secret::reveal).filter(|secret| secret.len() >= 6) {
            message = message.replace(secret, "…");
        }
        let mut message = message
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .fold(String::new(), |mut out, word| {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(word);
                out
            });
        if message.len() > MESSAGE_MAX {
            let end = (0..=MESSAGE_MAX).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0);
            message.truncate(end);
            message.push('…');
        }
        if message.is_empty() {
            message = match status {
                0 => "no reason was given".into(),
                _ => format!("HTTP status {status}, without a reason"),
            };
        }
        message
    }
}

/// The error in a body or an event: an object under `error`, a text there, the members themselves,
/// or one of these in a list.
fn said(value: &Value) -> Said {
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let error = match value.get("error") {
        Some(Value::Null) | None => value,
        Some(error) => error,
    };
    let mut out = Said::default();
    if let Some(text) = error.as_str() {
        out.message = text.to_owned();
        return out;
    }
    for holder in [error, value] {
        if out.message.is_empty() {
            out.message = match (holder.get("message"), holder.get("detail")) {
                (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => text.clone(),
                (None | Some(Value::Null), None | Some(Value::Null)) => String::new(),
                (Some(other), _) | (None, Some(other)) => other.to_string(),
            };
        }
        // What the provider behind a router said is what matters.
        if let Some(raw) = holder.pointer("/metadata/raw").and_then(Value::as_str) {
            out.message.push_str(": ");
            out.message.push_str(raw);
        }
        for key in ["code", "type", "status"] {
            match holder.get(key) {
                Some(Value::String(text)) => {
                    out.codes.push(' ');
                    out.codes.push_str(&text.to_lowercase());
                    out.status = out.status.or_else(|| as_status(text.parse().ok()));
                }
                Some(Value::Number(number)) => out.status = out.status.or_else(|| as_status(number.as_u64())),
                _ => {}
            }
        }
        if holder.pointer("/metadata/reasons").is_some() {
            out.codes.push_str(" moderation");
        }
    }
    out
}

fn as_status(number: Option<u64>) -> Option<u16> {
    number.and_then(|number| u16::try_from(number).ok()).filter(|status| (400..600).contains(status))
}

/// The status that the codes of an error inside a stream would have had.
fn status_of(codes: &str) -> u16 {
    let table: [(&str, u16); 9] = [
        ("rate_limit", 429),
        ("insufficient_quota", 429),
        ("overloaded", 503),
        ("unavailable", 503),
        ("authentication", 401),
        ("invalid_api_key", 401),
        ("permission", 403),
        ("not_found", 404),
        ("invalid", 400),
    ];
    table.iter().find(|(code, _)| codes.contains(code)).map_or(500, |(_, status)| *status)
}

fn is_quota(codes: &str, text: &str) -> bool {
    ["insufficient_quota", "billing_hard_limit", "insufficient_balance", "insufficient_credits"]
        .iter()
        .any(|code| codes.contains(code))
        || ["exceeded your current quota", "insufficient balance", "billing details", "insufficient credits"]
            .iter()
            .any(|words| text.contains(words))
}

/// In the words of OpenAI, Groq, xAI, Mistral, OpenRouter, vLLM, llama.cpp, its Python server,
/// Ollama and LM Studio.
fn is_too_long(status: u16, codes: &str, text: &str) -> bool {
    if codes.contains("context_length_exceeded") || codes.contains("exceed_context_size") || status == 413 {
        return true;
    }
    if matches!(status, 401 | 403 | 503 | 529) {
        return false;
    }
    if status == 429 {
        // A single request above the limit for a minute will not fit into the next minute either.
        return text.contains("request too large");
    }
    let exceeds = ["exceed", "too long", "too large", "longer than", "maximum", "overflow", "only"];
    ["maximum context length", "maximum prompt length", "prompt is too long", "input is too long"]
        .iter()
        .any(|words| text.contains(words))
        || (["context length", "context size", "context window", "context the overflow", "max_model_len"]
            .iter()
            .any(|words| text.contains(words))
            && exceeds.iter().any(|words| text.contains(words)))
        || text.contains("reduce the length of the")
}

fn is_refusal(status: u16, codes: &str, text: &str) -> bool {
    ["content_policy", "content_filter", "contentfilter", "moderation", "safety"]
        .iter()
        .any(|code| codes.contains(code))
        || ["content management policy", "usage policy", "usage policies", "content policy"]
            .iter()
            .any(|words| text.contains(words))
        || (status == 403 && ["moderation", "flagged"].iter().any(|words| text.contains(words)))
}

/// A wait in the header `retry-after`, in seconds.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// A wait as some providers write it into the message: "try again in 1m2.5s".
fn asked_in_words(text: &str) -> Option<Duration> {
    let at = ["again in ", "retry in "].iter().find_map(|words| Some(text.find(words)? + words.len()))?;
    let word = text.get(at..)?.split_whitespace().next()?.trim_end_matches(['.', ',']);
    let (mut total, mut number, mut unit) = (0.0_f64, String::new(), String::new());
    let add = |number: &str, unit: &str| -> Option<f64> {
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        Some(number.parse::<f64>().ok()? * factor)
    };
    for c in word.chars() {
        if c.is_ascii_digit() || c == '.' {
            if !unit.is_empty() {
                total += add(&number, &unit)?;
                (number, unit) = (String::new(), String::new());
            }
            number.push(c);
        } else {
            unit.push(c);
        }
    }
    total += add(&number, &unit)?;
    Duration::try_from_secs_f64(total).ok()
}

/// A body that is no JSON: its text, or of a page that there was one.
fn plain(body: &str) -> String {
    let start = body.trim_start();
    if start.starts_with('<') { "it answered with a web page".into() } else { start.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Api, Cost};

    fn provider() -> Provider {
        Provider::of(&Endpoint {
            api: Api::OpenAiCompletions,
            provider: "test".into(),
            model: "m".into(),
            base_url: "http://localhost/v1".into(),
            key: Some(Secret::new("sk-very-secret")),
            headers: vec![("x".into(), Secret::new("hidden-header"))],
            context_window: 1000,
            max_output: 100,
            thinks: false,
            sees: false,
            cost: Cost::default(),
        })
    }

    fn kind(error: &ModelError) -> &'static str {
        match error {
            ModelError::KeyRefused { .. } => "key",
            ModelError::RateLimited { .. } => "rate",
            ModelError::Overloaded { .. } => "overloaded",
            ModelError::ContextTooLong { .. } => "long",
            ModelError::Refused { .. } => "refused",
            ModelError::BadRequest { .. } => "bad",
            ModelError::Server { .. } => "server",
            _ => "other",
        }
    }

    #[test]
    fn failures_are_told_apart() {
        let cases: &[(u16, &str, &str)] = &[
            (401, r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#, "key"),
            (403, r#"{"error":{"message":"Country not supported"}}"#, "key"),
            (
                403,
                r#"{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["x"]}}}"#,
                "refused",
            ),
            (403, r#"{"error":{"message":"no access to model","code":"model_not_found"}}"#, "bad"),
            (429, r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#, "rate"),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
                "bad",
            ),
            (
                429,
                r#"{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 1, Requested 2"}}"#,
                "long",
            ),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, "bad"),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
                "long",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
                "long",
            ),
            (
                500,
                r#"{"error":{"message":"the request exceeds the available context size. try increasing the context size"}}"#,
                "long",
            ),
            (
                400,
                r#"{"error":{"message":"Requested tokens (2285) exceed context window of 2048","code":"context_length_exceeded"}}"#,
                "long",
            ),
            (400, r#"{"error":"the input length exceeds the context length"}"#, "long"),
            (
                400,
                r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
                "long",
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}"#,
                "long",
            ),
            (
                400,
                r#"{"error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}"#,
                "long",
            ),
            (413, "<html><body>too large</body></html>", "long"),
            (400, r#"{"error":{"message":"x","code":"content_policy_violation"}}"#, "refused"),
            (
                400,
                r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy","code":"invalid_prompt"}}"#,
                "refused",
            ),
            (404, r#"{"error":{"message":"The model x does not exist","code":"model_not_found"}}"#, "bad"),
            (404, "404 page not found", "bad"),
            (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "bad"),
            (500, r#"{"error":{"message":"oops","type":"server_error"}}"#, "server"),
            (502, "<html>bad gateway</html>", "server"),
            (
                503,
                r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
                "overloaded",
            ),
            (529, "", "overloaded"),
            (500, r#"{"error":{"message":"The model is overloaded"}}"#, "overloaded"),
        ];
        for (status, body, want) in cases {
            let error = provider().failed(*status, None, body);
            assert_eq!(kind(&error), *want, "{status} {body}: {error}");
            assert!(!error.to_string().ends_with(": "), "{error}");
        }
    }

    #[test]
    fn waits_are_found() {
        let wait = |header: Option<&str>, message: &str| {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            match provider().failed(429, header, &body) {
                ModelError::RateLimited { wait, .. } => wait.map(|wait| wait.as_millis()),
                other => panic!("{other}"),
            }
        };
        assert_eq!(wait(Some("7"), ""), Some(7000));
        assert_eq!(wait(Some("0.5"), ""), Some(500));
        assert_eq!(wait(Some("-3"), "x"), None);
        assert_eq!(wait(Some("soon"), "x"), None);
        assert_eq!(wait(None, "Please try again in 1m2.5s. Visit"), Some(62_500));
        assert_eq!(wait(None, "Please try again in 350ms."), Some(350));
        assert_eq!(wait(None, "Please retry in 12s."), Some(12_000));
        assert_eq!(wait(None, "try again in a while"), None);
    }

    #[test]
    fn errors_in_a_stream_have_a_status() {
        for (event, want) in [
            (r#"{"error":{"code":429,"message":"slow down"}}"#, "rate"),
            (r#"{"error":{"code":"server_error","message":"x"}}"#, "server"),
            (r#"{"error":"llama runner process has terminated"}"#, "server"),
            (r#"{"type":"error","code":"rate_limit_exceeded","message":"x"}"#, "rate"),
            (r#"{"error":{"type":"invalid_request_error","message":"x"}}"#, "bad"),
            (r#"{"code":"context_length_exceeded","message":"x"}"#, "long"),
        ] {
            let error = provider().failed_in_stream(&serde_json::from_str(event).unwrap());
            assert_eq!(kind(&error), want, "{event}");
        }
    }

    #[test]
    fn keys_are_never_shown() {
        for body in
            ["key sk-very-secret is bad", r#"{"error":{"message":"no: sk-very-secret hidden-header"}}"#]
        {
            let shown = format!("{0} {0:?}", provider().failed(401, None, body));
            assert!(!shown.contains("secret") && !shown.contains("hidden"), "{shown}");
        }
        let long = provider().failed(400, None, &"é".repeat(5000)).to_string();
        assert!(long.len() < 800 && long.ends_with('…'), "{long}");
    }
}
