//! Requests over HTTP, for `fetch`.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::header::{
    AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, LOCATION, PROXY_AUTHORIZATION,
};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use url::Url;

use super::{Answer, Args, Call, Op, nothing, said};
use crate::bytes::too_large;
use crate::permit::Wish;

pub(super) const OPS: &[(&str, Op)] = &[
    ("fetch", Op::Slow(|call, args, _| Box::pin(fetch(call, args)))),
    ("fetch.body", Op::Slow(|call, args, _| Box::pin(body(call, args)))),
    ("fetch.piece", Op::Slow(|call, args, _| Box::pin(piece(call, args)))),
    ("fetch.drop", Op::Quick(forget)),
];

/// Redirects that are followed, at most.
const REDIRECTS: usize = 20;
/// Answers whose bodies nobody has read yet, at most: the oldest are let go.
const UNREAD: usize = 64;
/// For a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// Answers whose bodies can be read.
#[derive(Default)]
pub(crate) struct Responses(Mutex<(u64, BTreeMap<u64, Response>)>);

impl Responses {
    fn all(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Response>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, response: Response) -> u64 {
        let mut all = self.all();
        all.0 += 1;
        let id = all.0;
        all.1.insert(id, response);
        while all.1.len() > UNREAD {
            all.1.pop_first();
        }
        id
    }

    fn take(&self, id: &Value) -> Result<Response, String> {
        let found = id.as_u64().and_then(|id| self.all().1.remove(&id));
        found.ok_or_else(|| "the body is not there any more".into())
    }
}

/// The clients of all extensions: connections are made when needed and kept.
#[derive(Default)]
pub(crate) struct Http {
    remote: OnceLock<Result<Client, String>>,
    /// For this machine: no proxy.
    local: OnceLock<Result<Client, String>>,
}

impl Http {
    fn client(&self, url: &Url) -> Result<&Client, String> {
        let is_local = is_loopback(url);
        let client = if is_local { &self.local } else { &self.remote };
        let client = client.get_or_init(|| {
            // Fails if the program has installed one already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let mut builder = Client::builder()
                .user_agent(concat!("ramal/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT)
                // Whoever is led to another host must be allowed to speak to it.
                .redirect(reqwest::redirect::Policy::none());
            if is_local {
                builder = builder.no_proxy();
            }
            builder.build().map_err(|error| format!("no HTTPS is possible here: {}", chain(&error)))
        });
        client.as_ref().map_err(Clone::clone)
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// An error with all that it came from.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}

/// What is asked of a server.
struct Asked {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Asked {
    fn read(call: &Call, args: &Args) -> Result<Asked, String> {
        let body = Some(args.at(3)).filter(|body| !body.is_null());
        let body = body.map(|body| call.parcel(body)).transpose()?;
        let url = Url::parse(args.text(0)?).map_err(said)?;
        must_be_http(&url)?;
        let method = Method::from_bytes(args.text(1)?.as_bytes()).map_err(said)?;
        let pairs: Vec<(String, String)> = serde_json::from_value(args.at(2).clone()).map_err(said)?;
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let named = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("{name:?} is not the name of a header"))?;
            let value = HeaderValue::from_bytes(value.as_bytes())
                .map_err(|_| format!("the header {name} has characters that none can carry"))?;
            headers.append(named, value);
        }
        Ok(Asked { method, url, headers, body })
    }

    /// Where it goes after a redirect, as browsers do it.
    fn go_to(&mut self, status: StatusCode, to: Url) {
        let becomes_get = match status {
            StatusCode::SEE_OTHER => !matches!(self.method, Method::GET | Method::HEAD),
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = None;
            for name in ["content-type", "content-length", "content-encoding", "content-language"] {
                self.headers.remove(name);
            }
        }
        if self.url.origin() != to.origin() {
            for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
                self.headers.remove(name);
            }
        }
        self.url = to;
    }
}

fn must_be_http(url: &Url) -> Result<(), String> {
    match matches!(url.scheme(), "http" | "https") && url.has_host() {
        true => Ok(()),
        false => Err(format!("{url} is not the address of a server: http and https are spoken")),
    }
}

/// Asks a server. The body of the answer can be had by its number.
async fn fetch(call: Call, args: Args) -> Answer {
    let mut asked = Asked::read(&call, &args)?;
    let mode = args.text_if(4).unwrap_or("follow").to_owned();
    let mut redirects = 0;
    let response = loop {
        let host = asked.url.host_str().unwrap_or_default().to_owned();
        call.may(&Wish::Network(host)).await?;
        let client = call.record.world.http.client(&asked.url)?;
        let mut request =
            client.request(asked.method.clone(), asked.url.clone()).headers(asked.headers.clone());
        if let Some(body) = &asked.body {
            request = request.body(body.clone());
        }
        let response = request.send().await.map_err(|error| chain(&error.without_url()))?;
        let status = response.status();
        let to = match status.as_u16() {
            301 | 302 | 303 | 307 | 308 if mode != "manual" => response.headers().get(LOCATION),
            _ => None,
        };
        let Some(to) = to else { break response };
        if mode == "error" {
            return Err("it was redirected, which `redirect: \"error\"` forbids".into());
        }
        redirects += 1;
        if redirects > REDIRECTS {
            return Err(format!("it was redirected more than {REDIRECTS} times"));
        }
        let to = to.to_str().map_err(said)?;
        let to = asked.url.join(to).map_err(|error| format!("it was redirected to {to}: {error}"))?;
        must_be_http(&to)?;
        asked.go_to(status, to);
    };
    let headers = response.headers().iter();
    let headers: Vec<(&str, String)> = headers
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    Ok(json!({
        "status": response.status().as_u16(),
        "statusText": response.status().canonical_reason().unwrap_or_default(),
        "headers": headers,
        "url": asked.url.as_str(),
        "redirected": redirects > 0,
        "id": call.record.responses.put(response),
    })
    .to_string())
}

/// The rest of a body.
async fn body(call: Call, args: Args) -> Answer {
    let mut response = call.record.responses.take(args.at(0))?;
    let mut all = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| chain(&error.without_url()))? {
        if all.len().saturating_add(bytes.len()) > call.memory() {
            return Err(format!("the body is too large: {}", too_large(all.len() as u64, call.memory())));
        }
        all.extend_from_slice(&bytes);
    }
    Ok(json!(call.put(all)?).to_string())
}

/// The next piece of a body; `null` after the last.
async fn piece(call: Call, args: Args) -> Answer {
    let mut response = call.record.responses.take(args.at(0))?;
    let bytes = response.chunk().await.map_err(|error| chain(&error.without_url()))?;
    let Some(bytes) = bytes else { return nothing() };
    let id = call.record.responses.put(response);
    Ok(json!({ "id": id, "bytes": call.put(bytes.to_vec())? }).to_string())
}

/// Nobody wants the body.
fn forget(call: &Call, args: &Args) -> Answer {
    // It may have been read.
    drop(call.record.responses.take(args.at(0)));
    nothing()
}
