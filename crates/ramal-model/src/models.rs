//! Whatever an endpoint speaks: HTTP, or a recording.

use tokio_util::sync::CancellationToken;

use crate::client::{Client, LanguageModel};
use crate::replay::Replay;
use crate::request::{Api, Endpoint, Request};
use crate::stream::AnswerStream;

/// Asks over HTTP, or plays a recording, as the endpoint says.
#[derive(Debug, Clone, Default)]
pub struct Models {
    /// For everything that is reached over HTTP.
    pub http: Client,
    /// For `replay/FILE`.
    pub replay: Replay,
}

impl LanguageModel for Models {
    fn stream(&self, endpoint: &Endpoint, request: &Request, abort: CancellationToken) -> AnswerStream {
        match endpoint.api {
            Api::Replay => self.replay.stream(endpoint, request, abort),
            _ => self.http.stream(endpoint, request, abort),
        }
    }
}
