//! What Gemini's errors mean.

use std::time::Duration;

use serde::Deserialize;

use crate::error::ModelError;
use crate::request::{Endpoint, Secret};

/// Characters of a provider's message that are worth telling.
const LONGEST: usize = 2_000;

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
pub(super) struct ErrorBody {
    pub(super) code: u16,
    pub(super) message: String,
    pub(super) status: String,
    pub(super) details: Vec<Detail>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Detail {
    reason: Option<String>,
    retry_delay: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    error: ErrorBody,
}

/// Tells errors, and never the key in them.
pub(super) struct Teller {
    pub(super) provider: String,
    key: Option<Secret>,
}

impl Teller {
    pub(super) fn new(endpoint: &Endpoint) -> Teller {
        Teller { provider: endpoint.provider.clone(), key: endpoint.key.clone() }
    }

    /// A response that was no success.
    pub(super) fn of_response(&self, status: u16, retry_after: Option<&str>, body: &str) -> ModelError {
        // Without server-sent events, the answer is a list.
        let first = |list: Vec<Envelope>| list.into_iter().next();
        let parsed = match body.trim_start().starts_with('[') {
            true => serde_json::from_str(body).ok().and_then(first),
            false => serde_json::from_str::<Envelope>(body).ok(),
        };
        let mut error = match parsed {
            Some(envelope) => envelope.error,
            None => ErrorBody { message: body.trim().to_owned(), ..ErrorBody::default() },
        };
        error.code = status;
        let wait = retry_after.and_then(|text| crate::retry_after(text, ramal_session::time::now()));
        self.of_error(&error, wait)
    }

    /// An error, from a response or from within a stream.
    pub(super) fn of_error(&self, error: &ErrorBody, asked: Option<Duration>) -> ModelError {
        let provider = self.provider.clone();
        let delay = error.details.iter().find_map(|detail| detail.retry_delay.as_deref());
        let wait =
            asked.or_else(|| delay.and_then(|text| text.strip_suffix('s')?.parse().ok()).and_then(seconds));
        let says = error.message.to_ascii_lowercase();
        let is_key = error.details.iter().any(|detail| {
            let reason = detail.reason.as_deref().unwrap_or_default();
            reason.starts_with("API_KEY_") || reason == "ACCESS_TOKEN_EXPIRED"
        });
        let message = self.told(match error.message.trim() {
            "" if error.status.is_empty() => "it gave no reason",
            "" => &error.status,
            message => message,
        });
        let is_key = is_key || says.contains("api key not valid") || says.contains("api key expired");
        let is_long = says.contains("token count") && says.contains("exceed")
            || says.contains("request payload size exceeds")
            || says.contains("exceeds the maximum number of tokens");
        match (error.code, &*error.status) {
            _ if is_key => ModelError::KeyRefused { provider, message },
            (401 | 403, _) | (_, "UNAUTHENTICATED" | "PERMISSION_DENIED") => {
                ModelError::KeyRefused { provider, message }
            }
            (429, _) | (_, "RESOURCE_EXHAUSTED") => ModelError::RateLimited { provider, message, wait },
            (503 | 529, _) | (_, "UNAVAILABLE") => ModelError::Overloaded { provider, message, wait },
            (413, _) => ModelError::ContextTooLong { message },
            (status @ 400..500, _) if is_long && status != 404 => ModelError::ContextTooLong { message },
            (408, _) => ModelError::Server { provider, status: 408, message, wait },
            (status @ 500.., _) => ModelError::Server { provider, status, message, wait },
            (status, _) => ModelError::BadRequest { provider, status, message },
        }
    }

    /// A message without the key, and not endless.
    pub(super) fn told(&self, message: &str) -> String {
        let message = match self.key.as_ref().map(Secret::reveal).filter(|key| !key.is_empty()) {
            Some(key) => message.replace(key, "…"),
            None => message.to_owned(),
        };
        match message.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
            None => message,
        }
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}
