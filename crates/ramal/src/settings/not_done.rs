//! Settings of pi and oh-my-pi for things that ramal does not do. They are known, so that a file that
//! was brought along is not full of mistakes: whoever leaves such a thing as it is, or off, hears nothing.

use super::read::{Setting, Value};
use super::values::{count, flag, one_of};

/// A table with the names of models in it.
const MODEL_OVERRIDES: &str = "compaction.modelOverrides";

/// Takes in a setting. None if it is not one of these; an error says that it wants what is not done, or
/// what is wrong with it.
pub(super) fn take(key: &str, value: &Value) -> Option<Result<(), String>> {
    let why = match wants(key, value)? {
        Ok(None) => return Some(Ok(())),
        Ok(Some(why)) => format!("is not done by ramal: {why}; it is passed over"),
        Err(wrong) => wrong,
    };
    Some(Err(why))
}

/// What a setting wants that is not done; none where it wants nothing.
fn wants(key: &str, value: &Value) -> Option<Result<Option<&'static str>, String>> {
    let unless = |quiet: bool, why| (!quiet).then_some(why);
    let idle = "nothing is summed up while nobody is there";
    let remote = "a conversation is always summed up by its own model";
    Some(match key {
        "compaction.autoContinue" => {
            flag(value).map(|on| unless(on, "a turn goes on when its conversation was summed up"))
        }
        // On is the default of oh-my-pi, and no wish.
        "compaction.idleEnabled" | "compaction.remoteEnabled" | "share.redactSecrets" => {
            flag(value).map(|_| None)
        }
        // Nothing is ever asked there.
        "compaction.skipPrompt" => flag(value).map(|_| None),
        "compaction.idleThresholdTokens" => count(value).map(|tokens| unless(tokens == 200_000, idle)),
        "compaction.idleTimeoutSeconds" => count(value).map(|seconds| unless(seconds == 300, idle)),
        "compaction.remoteEndpoint" => address(value).map(|empty| unless(empty, remote)),
        "compaction.handoffSaveToDisk" => {
            flag(value).map(|on| unless(!on, "the brief of a handoff stands in the new session only"))
        }
        "compaction.methodOrder" => {
            methods(value).map(|ours| unless(ours, "a summary is the only method there is"))
        }
        MODEL_OVERRIDES => Ok(Some("the same settings hold for all models")),
        "checkpoint.enabled" => {
            flag(value).map(|on| unless(!on, "there are no tools `checkpoint` and `rewind`"))
        }
        "share.store" => one_of(value, &["blob", "gist"]).map(|_| None),
        "share.serverUrl" => address(value).map(|empty| unless(empty, "sessions are not shared")),
        _ => return None,
    })
}

/// Whether no address is given.
fn address(value: &Value) -> Result<bool, String> {
    match value {
        Value::Text(text) => Ok(text.trim().is_empty()),
        _ => Err("must be an address; the default is in force".into()),
    }
}

/// Whether the methods are those that ramal has: a summary in place of what came before.
fn methods(value: &Value) -> Result<bool, String> {
    match value {
        Value::Texts(names) => Ok(names.iter().all(|name| matches!(&**name, "soft" | "context-full"))),
        _ => Err("must be a list of names; the default is in force".into()),
    }
}

/// What stands in a table that is passed over as a whole counts as one setting.
pub(super) fn collapse(settings: &mut Vec<Setting>) {
    let mut seen = false;
    settings.retain_mut(|setting| {
        let rest = setting.key.strip_prefix(MODEL_OVERRIDES);
        if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            return true;
        }
        setting.key = MODEL_OVERRIDES.into();
        !std::mem::replace(&mut seen, true)
    });
}
