//! Models over HTTP: sends what an interface has made of a request, and reads what streams back.

use std::error::Error;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use eventsource_stream::{EventStream, EventStreamError};
use futures_util::Stream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::address::{credentials, without_credentials};
use crate::answer::{Answer, Event};
use crate::body::{Body, BodyError, Progress};
use crate::error::ModelError;
use crate::request::{Endpoint, Request};
use crate::stream::{AnswerStream, Source};
use crate::wait::asked_wait;
use crate::watch::{Watch, watched};
use crate::wire::{self, HttpRequest, Reader, ServerEvent, Wire};

/// Bytes of an error's body that are read.
const ERROR_BODY: usize = 64 * 1024;
/// How long the body of an error is waited for.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(10);
/// How long the end of the connection is waited for behind a complete answer, so that the connection
/// can be used again.
const GRACE: Duration = Duration::from_millis(100);

/// Something that answers requests.
pub trait LanguageModel: Send + Sync {
    /// Asks the model at `endpoint`. Nothing is sent before the answer is polled; whatever goes wrong
    /// comes as the outcome of the answer. It has to be polled within a runtime of `tokio`. Whoever watches
    /// sees what is sent; a model that sends nothing need not have anybody watch.
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream;

    /// As [`LanguageModel::stream_watched`], and nobody watches.
    fn stream(&self, endpoint: &Endpoint, request: &Request, abort: CancellationToken) -> AnswerStream {
        self.stream_watched(endpoint, request, None, abort)
    }
}

/// How long to wait for what. There is no limit on the whole of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the first bytes of an answer, from the moment the request is sent: a server at home reads
    /// a long conversation for minutes before it says anything.
    pub first: Duration,
    /// Between two pieces of an answer: some providers think for minutes without a sign of life. A
    /// connection that is dead is noticed sooner, by keep-alive probes.
    pub read: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(15),
            first: Duration::from_secs(600),
            read: Duration::from_secs(300),
        }
    }
}

/// Asks models over HTTP. Cheap to make and to clone; connections are made when needed and kept.
#[derive(Debug, Clone, Default)]
pub struct Client {
    timeouts: Timeouts,
    /// The proxy of the environment is asked, certificates are those of the system.
    remote: Arc<OnceLock<Result<reqwest::Client, String>>>,
    /// For this machine: no proxy.
    local: Arc<OnceLock<Result<reqwest::Client, String>>>,
}

impl Client {
    /// With the usual timeouts.
    pub fn new() -> Client {
        Client::default()
    }

    /// With other timeouts.
    pub fn with_timeouts(timeouts: Timeouts) -> Client {
        Client { timeouts, ..Client::default() }
    }

    fn http(&self, is_local: bool) -> &Result<reqwest::Client, String> {
        let client = if is_local { &self.local } else { &self.remote };
        client.get_or_init(|| {
            // Fails if the program has installed one already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let mut builder = reqwest::Client::builder()
                .user_agent(concat!("ramal/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(self.timeouts.connect)
                .tcp_keepalive(Duration::from_secs(30))
                .http2_keep_alive_interval(Duration::from_secs(30))
                .http2_keep_alive_timeout(Duration::from_secs(20))
                // A redirect would carry the key to wherever it leads.
                .redirect(reqwest::redirect::Policy::none());
            if is_local {
                builder = builder.no_proxy();
            }
            builder.build().map_err(|error| {
                format!("no HTTPS is possible here ({}); are certificates installed?", chain(&error))
            })
        })
    }

    fn prepare(
        &self,
        endpoint: &Endpoint,
        request: &HttpRequest,
    ) -> Result<reqwest::RequestBuilder, ModelError> {
        let bad = |message: String| ModelError::BadRequest {
            provider: endpoint.provider.clone(),
            status: 0,
            message,
        };
        let url = reqwest::Url::parse(&request.url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                let shown = without_credentials(&endpoint.base_url);
                bad(format!("{shown:?} is not the address of a server"))
            })?;
        let is_local = is_loopback(&url);
        let http = self.http(is_local).as_ref().map_err(|message| lost(endpoint, message))?;
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        let own = request.headers.iter().map(|(name, value)| (*name, value));
        let more = endpoint.headers.iter().map(|(name, value)| (name.as_str(), value));
        for (name, value) in own.chain(more) {
            let parsed = HeaderName::from_bytes(name.trim().as_bytes())
                .map_err(|_| bad(format!("{name:?} is not the name of a header")))?;
            let mut value = HeaderValue::from_str(value.reveal().trim()).map_err(|_| {
                bad(format!("the value for the header {name:?} has characters that no header can carry"))
            })?;
            value.set_sensitive(true);
            headers.insert(parsed, value);
        }
        Ok(http.post(url).headers(headers))
    }

    fn send(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        let Some(wire) = wire::of(endpoint.api) else {
            return AnswerStream::failed(ModelError::BadRequest {
                provider: endpoint.provider.clone(),
                status: 0,
                message: format!("{} is not spoken over HTTP", endpoint.api.name()),
            });
        };
        let request = wire.request(endpoint, request);
        match self.prepare(endpoint, &request) {
            Err(error) => AnswerStream::failed(error),
            Ok(prepared) => {
                let (endpoint, first) = (endpoint.clone(), self.timeouts.first);
                let asking = Asking { wire, endpoint: endpoint.clone(), first, watch };
                let asked = asking.ask(prepared, request.body);
                let source = HttpSource {
                    state: State::Asking(Box::pin(asked)),
                    reader: wire.reader(&endpoint),
                    timeouts: self.timeouts,
                    endpoint,
                    progress: Progress::default(),
                    has_events: false,
                };
                AnswerStream::new(source, abort)
            }
        }
    }
}

impl LanguageModel for Client {
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        self.send(endpoint, request, watch, abort)
    }
}

/// Whether an address is on this machine.
fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn lost(endpoint: &Endpoint, message: &str) -> ModelError {
    ModelError::ConnectionLost { provider: endpoint.provider.clone(), message: message.to_owned() }
}

fn not_understood(endpoint: &Endpoint, message: String) -> ModelError {
    ModelError::NotUnderstood { provider: endpoint.provider.clone(), message }
}

/// What an error and its causes say, without the address, which may hold a key.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// How a request is sent.
struct Asking {
    wire: &'static dyn Wire,
    endpoint: Endpoint,
    /// How long the answer's first bytes are waited for.
    first: Duration,
    watch: Option<Arc<dyn Watch>>,
}

impl Asking {
    /// Sends a request and waits for the answer's first bytes.
    async fn ask(
        self,
        request: reqwest::RequestBuilder,
        body: Vec<u8>,
    ) -> Result<reqwest::Response, ModelError> {
        let Asking { wire, endpoint, first, watch } = self;
        let request = request.body(watched(watch.as_ref(), body).await);
        let sent = timeout(first, request.send()).await;
        let response = sent
            .map_err(|_| lost(&endpoint, &format!("no answer came within {} s", first.as_secs_f64())))?
            .map_err(|error| lost(&endpoint, &chain(&error.without_url())))?;
        let status = response.status().as_u16();
        if let Some(watch) = watch {
            watch.after(status, told_headers(&response, &endpoint)).await;
        }
        if (200..300).contains(&status) {
            return Ok(response);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if (300..400).contains(&status) {
            let place = header("location").map_or("somewhere else".into(), without_credentials);
            let message = format!("the server points to {place}; the base URL should be there");
            return Err(ModelError::BadRequest { provider: endpoint.provider, status, message });
        }
        let wait = asked_wait(header, ramal_session::time::now());
        let wait = wait.map(|wait| wait.as_secs_f64().to_string());
        let body = without_secrets(error_body(response).await, &endpoint);
        Err(wire.error(&endpoint, status, wait.as_deref(), &body))
    }
}

/// The headers of an answer as whoever watches is told them: nothing that is secret.
fn told_headers(response: &reqwest::Response, endpoint: &Endpoint) -> Vec<(String, String)> {
    let headers = response.headers().iter().filter(|(name, _)| !name.as_str().starts_with("set-cookie"));
    headers
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), without_secrets(value.to_str().ok()?.to_owned(), endpoint)))
        })
        .collect()
}

/// A foreign text without the keys that were sent: some servers repeat what they do not like.
fn without_secrets(mut text: String, endpoint: &Endpoint) -> String {
    let more = endpoint.headers.iter().map(|(_, value)| value);
    let sent = endpoint.key.iter().chain(more).map(|secret| secret.reveal().trim());
    // `Bearer KEY`, of which the server may repeat the key alone.
    let alone = sent.clone().filter_map(|text| text.split_once(' ')).map(|(_, key)| key.trim());
    for secret in sent.chain(alone).chain(credentials(&endpoint.base_url)) {
        if secret.len() >= 8 && text.contains(secret) {
            text = text.replace(secret, "…");
        }
    }
    text
}

/// The beginning of an error's body, or what came of it.
async fn error_body(mut response: reqwest::Response) -> String {
    let mut body = Vec::new();
    let _ = timeout(ERROR_BODY_WAIT, async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = ERROR_BODY - body.len();
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if body.len() == ERROR_BODY {
                break;
            }
        }
    })
    .await;
    String::from_utf8_lossy(&body).into_owned()
}

type Asked = Pin<Box<dyn Future<Output = Result<reqwest::Response, ModelError>> + Send>>;

enum State {
    Asking(Asked),
    Reading(Pin<Box<EventStream<Body>>>),
    /// The answer is complete; the end of the connection is waited for a moment.
    Ending(Pin<Box<EventStream<Body>>>, Pin<Box<Sleep>>),
    Over,
}

/// An answer that comes over HTTP.
struct HttpSource {
    state: State,
    reader: Box<dyn Reader>,
    endpoint: Endpoint,
    timeouts: Timeouts,
    progress: Progress,
    has_events: bool,
}

impl Source for HttpSource {
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        let polled = self.poll_source(cx, answer, out);
        // Whoever made it: what a server says may repeat what was sent to it.
        polled.map_err(|error| error.with_message(|message| without_secrets(message, &self.endpoint)))
    }
}

impl HttpSource {
    fn poll_source(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        match &mut self.state {
            State::Asking(asked) => {
                let response = ready!(asked.as_mut().poll(cx))?;
                let body = Body::new(
                    response.bytes_stream(),
                    self.timeouts.first,
                    self.timeouts.read,
                    self.progress.clone(),
                );
                self.state = State::Reading(Box::pin(EventStream::new(body)));
                Poll::Ready(Ok(true))
            }
            State::Reading(events) => match ready!(events.as_mut().poll_next(cx)) {
                Some(Ok(event)) => {
                    self.progress.event();
                    self.has_events = true;
                    // The framing names events that have no name.
                    let name = if event.event == "message" { "" } else { &event.event };
                    self.reader.take(ServerEvent { event: name, data: &event.data }, answer, out)?;
                    if self.reader.is_done()
                        && let State::Reading(events) = std::mem::replace(&mut self.state, State::Over)
                    {
                        self.reader.finish(answer, out)?;
                        self.state = State::Ending(events, Box::pin(sleep(GRACE)));
                    }
                    Poll::Ready(Ok(true))
                }
                Some(Err(error)) => Poll::Ready(Err(broken(&self.endpoint, error))),
                None if !self.has_events && self.progress.has_bytes() => {
                    let message = "there is no event in what came".to_owned();
                    Poll::Ready(Err(not_understood(&self.endpoint, message)))
                }
                None => Poll::Ready(self.reader.finish(answer, out).map(|()| false)),
            },
            State::Ending(events, grace) => {
                let is_late = grace.as_mut().poll(cx).is_ready();
                while let Poll::Ready(next) = events.as_mut().poll_next(cx) {
                    if !matches!(next, Some(Ok(_))) {
                        return Poll::Ready(Ok(false));
                    }
                }
                if is_late { Poll::Ready(Ok(false)) } else { Poll::Pending }
            }
            State::Over => Poll::Ready(Ok(false)),
        }
    }
}

/// What it means that a stream cannot be read any further.
fn broken(endpoint: &Endpoint, error: EventStreamError<BodyError>) -> ModelError {
    match error {
        EventStreamError::Transport(BodyError::Http(error)) => lost(endpoint, &chain(&error.without_url())),
        EventStreamError::Transport(BodyError::Stalled(after)) => {
            lost(endpoint, &format!("nothing came for {} s", after.as_secs_f64()))
        }
        EventStreamError::Transport(BodyError::NotEvents(text)) => not_understood(
            endpoint,
            format!("it is not a stream of events, but {:?}", wire::shortened(&text)),
        ),
        EventStreamError::Transport(BodyError::TooLong) => {
            not_understood(endpoint, "an event has no end".to_owned())
        }
        EventStreamError::Utf8(_) => not_understood(endpoint, "it is not UTF-8".to_owned()),
        EventStreamError::Parser(error) => {
            not_understood(endpoint, format!("{:?} is no line of an event", wire::shortened(&error.input)))
        }
    }
}
