//! OpenAI's Responses: a conversation as a list of items, nothing stored at the provider.

mod body;
mod reader;
#[cfg(test)]
mod tests;

use super::openai::failure::Provider;
use super::{HttpRequest, Reader, Wire};
use crate::address::below;
use crate::error::ModelError;
use crate::request::{Endpoint, Request, Secret};

/// Responses.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn request(&self, endpoint: &Endpoint, request: &Request) -> HttpRequest {
        let url = below(&endpoint.base_url, "/responses");
        let is_azure = url.contains(".openai.azure.com");
        let headers = endpoint.key.iter().map(|key| match is_azure {
            true => ("api-key", key.clone()),
            false => ("authorization", Secret::new(format!("Bearer {}", key.reveal()))),
        });
        HttpRequest { url, headers: headers.collect(), body: body::body(endpoint, request).into_bytes() }
    }

    fn reader(&self, endpoint: &Endpoint) -> Box<dyn Reader> {
        Box::new(reader::ResponsesReader::new(Provider::of(endpoint)))
    }

    fn error(&self, endpoint: &Endpoint, status: u16, retry_after: Option<&str>, body: &str) -> ModelError {
        Provider::of(endpoint).failed(status, retry_after, body)
    }
}
