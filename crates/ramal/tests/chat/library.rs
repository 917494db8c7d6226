//! Sessions beside the sample session, in the folder where they are looked for: made up, so that their names,
//! times and ends differ.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::world::World;

/// A session that is made up.
struct MadeUp<'a> {
    id: &'a str,
    cwd: &'a str,
    name: Option<&'a str>,
    parent: Option<&'a str>,
    /// Day of the month of all of it.
    day: u8,
    /// What was said and answered.
    turns: &'a [(&'a str, &'a str)],
    /// Why the last answer ended.
    stop: &'a str,
}

/// The project of the test, in which sessions stand under this name.
const HERE: &str = "HERE";

/// The day counts: what was done last stands first.
const SESSIONS: &[MadeUp<'_>] = &[
    MadeUp {
        id: "tides",
        cwd: HERE,
        name: Some("tide tables"),
        parent: None,
        day: 14,
        turns: &[
            ("Read the tables of the harbour.", "They have 12 columns."),
            ("And the moon?", "In column 9."),
        ],
        stop: "stop",
    },
    MadeUp {
        id: "neap",
        cwd: HERE,
        name: Some("neap tides only"),
        parent: Some("tides"),
        day: 20,
        turns: &[("Read the tables of the harbour.", "They have 12 columns."), ("Only neap tides.", "Th")],
        stop: "aborted",
    },
    MadeUp {
        id: "copy",
        cwd: HERE,
        name: None,
        parent: Some("neap"),
        day: 18,
        turns: &[("Draw them as a curve, with the hours below and the height of the water at the left.", "")],
        stop: "error",
    },
    MadeUp {
        id: "gull",
        cwd: HERE,
        name: None,
        parent: None,
        day: 17,
        turns: &[("Why does the gull test fail on Mondays?", "It counts `weekdays` from 0.")],
        stop: "stop",
    },
    MadeUp {
        id: "koyomi",
        cwd: HERE,
        name: Some("暦の名前 🗓 names of months"),
        parent: None,
        day: 11,
        turns: &[("Names of months in Japanese, please.", "一月, 二月, 三月 …")],
        stop: "stop",
    },
    MadeUp {
        id: "pier",
        cwd: "/home/ana/projects/pier",
        name: Some("planks"),
        parent: None,
        day: 19,
        turns: &[("How many planks has the pier?", "Forty.")],
        stop: "stop",
    },
];

/// Puts the sessions where they are looked for. The directory of the test is that of all but one.
#[allow(clippy::disallowed_methods, reason = "the sessions are made up")]
pub(crate) fn fill(world: &World) {
    for session in SESSIONS {
        let path = file(world, session.id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, session.text(&here(world))).unwrap();
    }
}

/// Where a session is.
pub(crate) fn file(world: &World, id: &str) -> PathBuf {
    let cwd = SESSIONS.iter().find(|session| session.id == id).unwrap().cwd.replace(HERE, &here(world));
    let folder = format!("-{}--", cwd.replace('/', "-"));
    world.scratch.path("DATA").join("ramal/sessions").join(folder).join(format!("{id}.jsonl"))
}

/// The directory in which the program is started.
fn here(world: &World) -> String {
    fs::canonicalize(world.scratch.path("")).unwrap().to_string_lossy().into_owned()
}

impl MadeUp<'_> {
    fn text(&self, here: &str) -> String {
        let at = format!("2001-10-{:02}T08:00:00.000Z", self.day);
        let mut lines = vec![json!({
            "type": "session", "version": 3, "id": self.id, "timestamp": at, "cwd": self.cwd.replace(HERE, here),
        })];
        if let Some(parent) = self.parent {
            lines[0]["parentSession"] = Value::from(parent);
        }
        let mut parent = Value::Null;
        let mut append = |mut entry: Value| {
            let id = format!("{}-{}", self.id, lines.len());
            entry["id"] = Value::from(id.clone());
            entry["parentId"] = std::mem::replace(&mut parent, Value::from(id));
            entry["timestamp"] = Value::from(at.clone());
            lines.push(entry);
        };
        if let Some(name) = self.name {
            append(json!({"type": "session_info", "name": name}));
        }
        for (number, (said, answered)) in self.turns.iter().enumerate() {
            append(json!({"type": "message", "message": {"role": "user", "content": said}}));
            let stop = if number + 1 == self.turns.len() { self.stop } else { "stop" };
            append(json!({"type": "message", "message": {
                "role": "assistant", "content": [{"type": "text", "text": answered}],
                "api": "openai-completions", "provider": "made-up", "model": "m", "stopReason": stop,
                "usage": {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15,
                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
            }}));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
