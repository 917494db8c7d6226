//! Whatever an endpoint speaks: HTTP, or a recording.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::client::{Client, LanguageModel};
use crate::replay::Replay;
use crate::request::{Api, Endpoint, Request};
use crate::stream::AnswerStream;
use crate::watch::Watch;

/// Asks over HTTP, or plays a recording, as the endpoint says.
#[derive(Debug, Clone, Default)]
pub struct Models {
    /// For everything that is reached over HTTP.
    pub http: Client,
    /// For `replay/FILE`.
    pub replay: Replay,
}

impl LanguageModel for Models {
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        match endpoint.api {
            Api::Replay => self.replay.stream_watched(endpoint, request, watch, abort),
            _ => self.http.stream_watched(endpoint, request, watch, abort),
        }
    }
}
