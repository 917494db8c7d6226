//! What providers accept: the rules of each interface, written from its documentation and from what it
//! answers to those who break them, and without a look at what ramal sends.

pub mod anthropic;
pub mod google;
pub mod openai;

use serde_json::Value;

use crate::server::Recorded;

/// Holds a request against the rules of the interface that its address belongs to.
///
/// # Panics
/// If it breaks one, or belongs to no interface.
#[track_caller]
pub fn check(request: &Recorded) {
    let broken = match &*request.path {
        path if path.ends_with("/messages") => anthropic::validate_anthropic(&request.body),
        path if path.ends_with("/chat/completions") => {
            openai::validate_completions(&request.body, openai::Server::Template)
        }
        path if path.ends_with("/responses") => {
            openai::validate_responses(&request.body, &openai::Made::new())
        }
        path => match path.split_once("/models/").and_then(|(_, rest)| rest.split_once(":stream")) {
            Some((model, _)) => {
                google::check(model, &request.json());
                Vec::new()
            }
            None => vec![format!("{path} belongs to no interface")],
        },
    };
    let body = String::from_utf8_lossy(&request.body);
    assert!(broken.is_empty(), "not acceptable: {broken:#?}\n{body}");
}

/// Rules that a request breaks.
#[derive(Debug, Default)]
pub struct Broken(pub Vec<String>);

impl Broken {
    /// One more.
    pub fn add(&mut self, what: impl Into<String>) {
        self.0.push(what.into());
    }

    /// `what` is wrong, unless it `is_kept`.
    pub fn unless(&mut self, is_kept: bool, what: impl Into<String>) {
        if !is_kept {
            self.0.push(what.into());
        }
    }
}

/// No other members than these.
pub fn only(object: &Value, known: &[&str], place: &str, broken: &mut Broken) {
    match object.as_object() {
        None => broken.add(format!("{place} is no object")),
        Some(members) => {
            let extra = members.keys().filter(|key| !known.contains(&key.as_str()));
            extra.for_each(|key| broken.add(format!("{place}: {key} is not permitted")));
        }
    }
}

/// `^[a-zA-Z0-9_-]{1,longest}$`
pub fn is_name(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Base64 with its padding, not empty.
pub fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
