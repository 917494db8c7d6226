//! Servers that run on this machine, found on their usual ports.

use std::time::Duration;

use futures_util::future::join_all;
use ramal_session::json::members::{get, get_str, items};

use super::Model;
use crate::request::Cost;

/// Tokens of a server that does not say how many it takes: what Ollama takes unless told otherwise is
/// about as much.
const CONTEXT_WINDOW: u64 = 8_192;

/// The longest list of models that is read.
const LONGEST: usize = 4 * 1024 * 1024;

/// How long a server on this machine may take to say what it has.
pub const LIMIT: Duration = Duration::from_millis(800);

/// Servers and the ports they listen on unless told otherwise.
pub const USUAL: [(&str, u16); 4] =
    [("ollama", 11434), ("llama.cpp", 8080), ("lmstudio", 1234), ("vllm", 8000)];

/// A server that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is called here.
    pub name: String,
    /// The port.
    pub port: u16,
    /// Where its interface begins; it speaks `openai-completions`.
    pub base_url: String,
    /// What it has.
    pub models: Vec<Model>,
}

/// Asks all `servers` at once what they have, on 127.0.0.1 and nowhere else, each for `limit` at most.
/// Those that are not there, or answer something else, are left out. Needs a runtime of `tokio`.
pub async fn find(servers: &[(&str, u16)], limit: Duration) -> Vec<Found> {
    // Fails if the program has installed one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(limit)
        .timeout(limit)
        .build();
    let Ok(client) = client else { return Vec::new() };
    let asked = servers.iter().map(|(name, port)| ask(&client, name, *port));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(client: &reqwest::Client, name: &str, port: u16) -> Option<Found> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let mut response = client.get(format!("{base_url}/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST {
            return None;
        }
    }
    let body = String::from_utf8(body).ok().filter(|text| ramal_session::json::is_valid(text))?;
    let models: Vec<Model> = items(get(body.as_bytes(), "data")?).filter_map(model).collect();
    (!models.is_empty()).then(|| Found { name: name.to_owned(), port, base_url, models })
}

/// What the list says of a model. How long a conversation may be is said in different places, or not
/// at all.
fn model(item: &[u8]) -> Option<Model> {
    let id = get_str(item, "id").filter(|id| !id.is_empty())?.into_owned();
    let number = |object: &[u8], key| {
        let text = std::str::from_utf8(get(object, key)?).ok()?;
        text.parse::<u64>().ok().filter(|number| *number > 0)
    };
    let meta = get(item, "meta").unwrap_or_default();
    let window = number(item, "max_model_len")
        .or_else(|| number(meta, "n_ctx"))
        .or_else(|| number(meta, "n_ctx_train"))
        .unwrap_or(CONTEXT_WINDOW);
    Some(Model {
        id,
        context_window: window,
        max_output: (window / 4).clamp(1, 8_192),
        thinks: false,
        sees: false,
        cost: Cost::default(),
        api: None,
        base_url: None,
        headers: Vec::new(),
    })
}
