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
    #[error("{provider} wants fewer requests{}: {message}", asking(*wait))]
    RateLimited {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
        /// How long it asked to wait.
        wait: Option<Duration>,
    },
    /// The provider has more to do than it can.
    #[error("{provider} is overloaded{}: {message}", asking(*wait))]
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
    #[error("{provider} failed ({status}){}: {message}", asking(*wait))]
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

/// How long a provider asks to wait, as it goes on behind what happened.
fn asking(wait: Option<Duration>) -> String {
    let Some(wait) = wait.filter(|wait| !wait.is_zero()) else { return String::new() };
    // Too short a wait would only be refused again.
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let parts = match seconds {
        0..60 => [(seconds, "s"), (0, "")],
        60..3600 => [(seconds / 60, "min"), (seconds % 60, "s")],
        _ => [(seconds / 3600, "h"), (seconds % 3600 / 60, "min")],
    };
    let parts =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, unit)| format!("{number} {unit}"));
    format!(" and asks to wait {}", parts.collect::<Vec<_>>().join(" "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_that_is_asked_for_is_named() {
        for (ms, want) in [
            (0, ""),
            (200, " and asks to wait 1 s"),
            (20_000, " and asks to wait 20 s"),
            (120_000, " and asks to wait 2 min"),
            (90_500, " and asks to wait 1 min 31 s"),
            (3_600_000, " and asks to wait 1 h"),
            (7_260_000, " and asks to wait 2 h 1 min"),
        ] {
            assert_eq!(asking(Some(Duration::from_millis(ms))), want, "{ms}");
        }
        assert_eq!(asking(None), "");
    }
}
