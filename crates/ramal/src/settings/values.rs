//! What a value of a setting must be. Each error says that, and what holds in its place.

use std::path::PathBuf;
use std::time::Duration;

use ramal_agent::QueueMode;

use super::read::Value;
use super::table::QUEUE_MODES;

pub(super) fn flag(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(value) => Ok(*value),
        _ => Err("must be true or false; the default is in force".into()),
    }
}

pub(super) fn text(value: &Value, what: &str) -> Result<String, String> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => Err(format!("must be {what}; the default is in force")),
    }
}

pub(super) fn one_of<'a>(value: &Value, values: &[&'a str]) -> Result<&'a str, String> {
    let found = match value {
        Value::Text(text) => values.iter().find(|known| *known == text),
        _ => None,
    };
    let known = || values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
    found.copied().ok_or_else(|| format!("must be one of {}; the default is in force", known()))
}

pub(super) fn count(value: &Value) -> Result<u64, String> {
    whole(value, 0, u64::MAX).ok_or_else(|| "must be a number, 0 or more; the default is in force".into())
}

/// A number from 1 up; -1 says that it is not set.
pub(super) fn count_if_set(value: &Value, most: u64) -> Result<Option<u64>, String> {
    if *value == Value::Integer(-1) {
        return Ok(None);
    }
    whole(value, 1, most).map(Some).ok_or_else(|| {
        let range = if most == u64::MAX { "1 or more".to_owned() } else { format!("1 to {most}") };
        format!("must be a number, {range}, or -1 for none; the default is in force")
    })
}

/// A number of things that are shown.
pub(super) fn some(value: &Value) -> Result<u64, String> {
    whole(value, 1, u64::MAX).ok_or_else(|| "must be a number, 1 or more; the default is in force".into())
}

fn whole(value: &Value, least: u64, most: u64) -> Option<u64> {
    let Value::Integer(number) = value else { return None };
    u64::try_from(*number).ok().filter(|number| (least..=most).contains(number))
}

pub(super) fn milliseconds(value: &Value) -> Result<Duration, String> {
    count(value).map(Duration::from_millis)
}

pub(super) fn queue_mode(value: &Value) -> Result<QueueMode, String> {
    Ok(match one_of(value, QUEUE_MODES)? {
        "all" => QueueMode::All,
        _ => QueueMode::OneAtATime,
    })
}

/// A folder. One that is not absolute lies in the directory where the program is started, as it does for
/// pi.
pub(super) fn folder(value: &Value) -> Result<PathBuf, String> {
    let path = PathBuf::from(text(value, "a folder")?);
    Ok(match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    })
}
