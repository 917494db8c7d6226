//! OpenAI's Chat Completions, and whatever is compatible with it.
//!
//! What servers do differently stands in one table (`quirks.rs`); whatever that does not cover, the
//! reader takes as it comes.

mod body;
mod quirks;
mod reader;
#[cfg(test)]
mod tests;

use quirks::Quirks;

use super::openai::failure::Provider;
use super::{HttpRequest, Reader, Wire};
use crate::address::below;
use crate::error::ModelError;
use crate::request::{Endpoint, Request, Secret};

/// Chat Completions.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiCompletions;

impl Wire for OpenAiCompletions {
    fn request(&self, endpoint: &Endpoint, request: &Request) -> HttpRequest {
        let quirks = Quirks::of(endpoint);
        let url = below(&endpoint.base_url, "/chat/completions");
        let headers = endpoint.key.iter().map(|key| match quirks.api_key_header {
            true => ("api-key", key.clone()),
            false => ("authorization", Secret::new(format!("Bearer {}", key.reveal()))),
        });
        HttpRequest {
            url,
            headers: headers.collect(),
            body: body::body(endpoint, request, &quirks).into_bytes(),
        }
    }

    fn reader(&self, endpoint: &Endpoint) -> Box<dyn Reader> {
        Box::new(reader::CompletionsReader::new(Provider::of(endpoint)))
    }

    fn error(&self, endpoint: &Endpoint, status: u16, retry_after: Option<&str>, body: &str) -> ModelError {
        Provider::of(endpoint).failed(status, retry_after, body)
    }
}
