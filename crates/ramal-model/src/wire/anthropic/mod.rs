//! Anthropic's Messages, and what is compatible with it.

mod reader;
mod request;

use serde::Deserialize;

use super::{HttpRequest, Reader, Wire, shortened};
use crate::error::ModelError;
use crate::request::{Endpoint, Request};
use crate::wait::retry_after;

/// The interface.
#[derive(Debug, Clone, Copy)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn request(&self, endpoint: &Endpoint, request: &Request) -> HttpRequest {
        request::write(endpoint, request)
    }

    fn reader(&self, endpoint: &Endpoint) -> Box<dyn Reader> {
        Box::new(reader::AnthropicReader::new(&endpoint.provider))
    }

    fn error(&self, endpoint: &Endpoint, status: u16, asked: Option<&str>, body: &str) -> ModelError {
        let said = serde_json::from_str::<ErrorBody>(body).map(|body| body.error).unwrap_or_default();
        let said = match said.message.is_empty() {
            true => ErrorDetail { message: shortened(body).to_owned(), ..said },
            false => said,
        };
        let wait = asked.and_then(|text| retry_after(text, ramal_session::time::now()));
        told(&endpoint.provider, Some(status), said, wait)
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    error: ErrorDetail,
}

/// What an error says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorDetail {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// Tells an error apart, from the status of HTTP or within a stream that began well.
fn told(
    provider: &str,
    status: Option<u16>,
    said: ErrorDetail,
    wait: Option<std::time::Duration>,
) -> ModelError {
    let ErrorDetail { kind, message } = said;
    let message = if message.is_empty() { kind.clone() } else { message };
    let provider = provider.to_owned();
    let by_kind = match kind.as_str() {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    };
    // An overload can come with another status.
    let status = if by_kind == 529 { 529 } else { status.unwrap_or(by_kind) };
    match status {
        401 | 403 => ModelError::KeyRefused { provider, message },
        413 => ModelError::ContextTooLong { message },
        400 | 422 if is_too_long(&message) => ModelError::ContextTooLong { message },
        429 => ModelError::RateLimited { provider, message, wait },
        529 => ModelError::Overloaded { provider, message, wait },
        408 | 500.. => ModelError::Server { provider, status, message, wait },
        _ => ModelError::BadRequest { provider, status, message },
    }
}

/// Whether a message says that the conversation does not fit. The interface has no code for it.
fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    [
        "prompt is too long",
        "input is too long",
        "exceed context limit",
        "exceeds the context",
        "context window",
    ]
    .iter()
    .any(|part| message.contains(part))
}
