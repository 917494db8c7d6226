//! Models for tests that need some model.

use ramal_model::{Api, Cost, Endpoint, Secret};

/// A key that must never show up anywhere but in its header.
pub const KEY: &str = "sk-test-1234567890-secret";

/// A model at `base_url`, with a key, that thinks and sees.
pub fn endpoint(api: Api, base_url: &str) -> Endpoint {
    Endpoint {
        api,
        provider: "test".into(),
        model: "model-1".into(),
        base_url: base_url.to_owned(),
        key: Some(Secret::new(KEY)),
        headers: Vec::new(),
        context_window: 200_000,
        max_output: 64_000,
        thinks: true,
        sees: true,
        cost: Cost::default(),
    }
}

/// `demo/alpha`, which is reached nowhere: for tests whose model is made of a script.
pub fn demo(context_window: u64) -> Endpoint {
    Endpoint {
        provider: "demo".into(),
        model: "alpha".into(),
        key: None,
        context_window,
        max_output: 4096,
        thinks: false,
        sees: false,
        ..endpoint(Api::Replay, "")
    }
}
