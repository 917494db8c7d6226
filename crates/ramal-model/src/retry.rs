//! Whether to ask again after an error, and after which wait. Nothing sleeps here.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::error::{ModelError, Passing};

/// How often and how soon to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often at most (the setting `retry.maxRetries`); 0 is never.
    pub max_retries: u32,
    /// The wait before the first retry (the setting `retry.baseDelayMs`); it doubles each time.
    pub base_delay: Duration,
    /// The longest wait. A provider that asks for more is not asked again: the user learns of it at
    /// once instead of after some minutes.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            max_retries: 3,
            base_delay: Duration::from_millis(2000),
            max_delay: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before asking again after `error`, when that was done `retries` times already.
    /// None: it is not to be asked again.
    pub fn wait(&self, retries: u32, error: &ModelError) -> Option<Duration> {
        // Hash keys are the random numbers of the standard library.
        let random = RandomState::new().hash_one(retries);
        self.wait_with(retries, error, (random >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// As [`RetryPolicy::wait`], with a random number from 0 to 1 that spreads the waits of several
    /// clients: from three quarters of the wait to five quarters, and never less than what the
    /// provider asked for.
    pub fn wait_with(&self, retries: u32, error: &ModelError, random: f64) -> Option<Duration> {
        let Passing::Yes(asked) = error.passing() else { return None };
        if retries >= self.max_retries || asked.is_some_and(|asked| asked > self.max_delay) {
            return None;
        }
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.5 };
        let growing = self.base_delay.saturating_mul(1u32.checked_shl(retries).unwrap_or(u32::MAX));
        let spread = times(growing.min(self.max_delay), 0.75 + random / 2.0).min(self.max_delay);
        Some(match asked {
            // A little later than asked, so that not everybody comes back at the same moment.
            Some(asked) => asked.max(spread.min(times(asked, 1.0 + random / 10.0))),
            None => spread,
        })
    }
}

fn times(wait: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> ModelError {
        ModelError::ConnectionLost { provider: "p".into(), message: "m".into() }
    }

    fn limited(wait: u64) -> ModelError {
        let wait = Some(Duration::from_secs(wait));
        ModelError::RateLimited { provider: "p".into(), message: "m".into(), wait }
    }

    #[test]
    fn waits_double_and_end() {
        let policy = RetryPolicy::default();
        let waits: Vec<_> = (0..5).map(|n| policy.wait_with(n, &lost(), 0.5)).collect();
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(waits, [seconds(2), seconds(4), seconds(8), None, None]);
        assert_eq!(policy.wait_with(0, &lost(), 0.0), Some(Duration::from_millis(1500)));
        assert_eq!(policy.wait_with(0, &lost(), 1.0), Some(Duration::from_millis(2500)));
        let many = RetryPolicy { max_retries: u32::MAX, ..policy };
        assert_eq!(many.wait_with(4_000_000, &lost(), 1.0), Some(policy.max_delay));
    }

    #[test]
    fn what_was_asked_for_is_waited() {
        let policy = RetryPolicy::default();
        for random in [0.0, 0.3, 1.0] {
            let wait = policy.wait_with(0, &limited(30), random).unwrap();
            assert!(wait >= Duration::from_secs(30) && wait <= Duration::from_secs(33), "{wait:?}");
        }
        assert_eq!(policy.wait_with(0, &limited(61), 0.5), None);
        assert_eq!(policy.wait_with(0, &limited(0), 0.5), Some(Duration::ZERO));
    }

    #[test]
    fn what_does_not_pass_is_not_asked_again() {
        let refused = ModelError::KeyRefused { provider: "p".into(), message: "m".into() };
        assert_eq!(RetryPolicy::default().wait(0, &refused), None);
        let never = RetryPolicy { max_retries: 0, ..RetryPolicy::default() };
        assert_eq!(never.wait(0, &lost()), None);
        assert!(RetryPolicy::default().wait(0, &lost()).is_some());
    }
}
