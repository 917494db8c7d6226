//! The modules that are there without a file. A module of ours is JavaScript over `ramal:native`; what it
//! cannot do by itself it asks of [`crate::natives`].

/// A module of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Builtin {
    /// What it can be imported by.
    pub(crate) names: &'static [&'static str],
    /// JavaScript.
    pub(crate) source: &'static str,
}

macro_rules! builtin {
    ($file:literal: $($name:literal),+) => {
        Builtin { names: &[$($name),+], source: include_str!(concat!("js/", $file)) }
    };
}

/// All there are. Those named `ramal:` can be imported only by others of ours.
pub(crate) const ALL: &[Builtin] = &[
    builtin!("native.js": "ramal:native"),
    builtin!("timers.js": "ramal:timers"),
    builtin!("events.js": "ramal:events"),
    builtin!("clone.js": "ramal:clone"),
    builtin!("web.js": "ramal:web"),
    builtin!("process.js": "ramal:process"),
    builtin!("console.js": "ramal:console"),
    builtin!("fetch.js": "ramal:fetch"),
    builtin!("streams.js": "ramal:streams"),
    builtin!("fs_streams.js": "ramal:fs-streams"),
    builtin!("loader.js": "ramal:loader"),
    builtin!("context.js": "ramal:context"),
    builtin!("tools.js": "ramal:tools"),
    builtin!("host.js": "ramal:host"),
    builtin!("start.js": "ramal:start"),
    builtin!("node_path.js": "node:path", "path"),
    builtin!("node_path_posix.js": "node:path/posix", "path/posix"),
    builtin!("node_util.js": "node:util", "util"),
    builtin!("node_events.js": "node:events", "events"),
    builtin!("node_url.js": "node:url", "url"),
    builtin!("node_os.js": "node:os", "os"),
    builtin!("node_buffer.js": "node:buffer", "buffer"),
    builtin!("node_fs.js": "node:fs", "fs"),
    builtin!("node_fs_promises.js": "node:fs/promises", "fs/promises"),
    builtin!("node_child_process.js": "node:child_process", "child_process"),
    builtin!("node_crypto.js": "node:crypto", "crypto"),
    builtin!("node_module.js": "node:module", "module"),
    builtin!("node_readline.js": "node:readline", "readline", "node:readline/promises", "readline/promises"),
    builtin!("node_process.js": "node:process", "process"),
    builtin!("node_timers.js": "node:timers/promises", "timers/promises"),
    builtin!("typebox.js": "typebox", "@sinclair/typebox"),
    builtin!("typebox_value.js": "typebox/value", "@sinclair/typebox/value"),
    builtin!("pi.js": "@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent", "@oh-my-pi/pi-coding-agent"),
    builtin!("pi_ai.js": "@mariozechner/pi-ai", "@earendil-works/pi-ai", "@oh-my-pi/pi-ai", "@mariozechner/pi-ai/compat", "@earendil-works/pi-ai/compat", "@oh-my-pi/pi-ai/compat"),
    builtin!("pi_tui.js": "@mariozechner/pi-tui", "@earendil-works/pi-tui", "@oh-my-pi/pi-tui"),
    builtin!("pi_agent_core.js": "@mariozechner/pi-agent-core", "@earendil-works/pi-agent-core", "@oh-my-pi/pi-agent-core"),
];

/// The module of this name, and its first name.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let found = ALL.iter().find(|module| module.names.contains(&name))?;
    Some((found.names.first()?, found.source))
}

/// The modules that extensions can import without a file, each under all its names.
pub fn imports() -> impl Iterator<Item = &'static [&'static str]> {
    let ours = |names: &&[&str]| names.iter().all(|name| !name.starts_with("ramal:"));
    ALL.iter().map(|module| module.names).filter(ours)
}

/// The names that extensions can import, for messages.
pub(crate) fn names() -> String {
    imports().filter_map(|names| names.first().copied()).collect::<Vec<_>>().join(", ")
}
