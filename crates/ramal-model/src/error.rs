//! What can go wrong with a request, told apart by what can be done about it.

use std::time::Duration;

/// Why a model gave no whole answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no key for the provider.
    #[error("there is no key for {provider}: {hint}")]
    NoKey {
        /// The provider.
        provider: String,
        /// Where a key would be looked for.
        hint: String,
    },
    /// The provider does not accept the key.
    #[error("{provider} refused the key: {message}")]
    KeyRefused {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
    },
    /// Too many requests, or tokens, for now.
    #[error("{provider} wants fewer requests: {message}")]
    RateLimited {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
        /// How long it asked to wait.
        wait: Option<Duration>,
    },
    /// The provider has more to do than it can.
    #[error("{provider} is overloaded: {message}")]
    Overloaded {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
        /// How long it asked to wait.
        wait: Option<Duration>,
    },
    /// The conversation does not fit into the model's context window.
    #[error("the conversation is too long for the model: {message}")]
    ContextTooLong {
        /// What the provider said.
        message: String,
    },
    /// The provider will not answer this.
    #[error("{provider} refused to answer: {message}")]
    Refused {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
    },
    /// The request is not one that the provider accepts.
    #[error("{provider} did not accept the request ({status}): {message}")]
    BadRequest {
        /// The provider.
        provider: String,
        /// The status of HTTP.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The provider failed.
    #[error("{provider} failed ({status}): {message}")]
    Server {
        /// The provider.
        provider: String,
        /// The status of HTTP.
        status: u16,
        /// What it said.
        message: String,
        /// How long it asked to wait.
        wait: Option<Duration>,
    },
    /// The connection could not be made, broke off, or stood still for too long.
    #[error("the connection to {provider} was lost: {message}")]
    ConnectionLost {
        /// The provider.
        provider: String,
        /// What happened.
        message: String,
    },
    /// The answer is not of the form that it should have.
    #[error("the answer of {provider} cannot be understood: {message}")]
    NotUnderstood {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        message: String,
    },
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// It passes; the provider may have asked to wait so long.
    Yes(Option<Duration>),
    /// It will be the same the next time.
    No,
}

impl ModelError {
    /// Whether trying again may help: rate limits, overload, lost connections and failures of the
    /// provider pass.
    pub fn passing(&self) -> Passing {
        match self {
            ModelError::RateLimited { wait, .. }
            | ModelError::Overloaded { wait, .. }
            | ModelError::Server { wait, .. } => Passing::Yes(*wait),
            ModelError::ConnectionLost { .. } => Passing::Yes(None),
            _ => Passing::No,
        }
    }

    /// The same error with another message.
    pub(crate) fn with_message(mut self, change: impl FnOnce(String) -> String) -> ModelError {
        match &mut self {
            ModelError::NoKey { hint: message, .. }
            | ModelError::KeyRefused { message, .. }
            | ModelError::RateLimited { message, .. }
            | ModelError::Overloaded { message, .. }
            | ModelError::ContextTooLong { message }
            | ModelError::Refused { message, .. }
            | ModelError::BadRequest { message, .. }
            | ModelError::Server { message, .. }
            | ModelError::ConnectionLost { message, .. }
            | ModelError::NotUnderstood { message, .. } => *message = change(std::mem::take(message)),
        }
        self
    }
}
