//! All settings that there are, in one table: the reader takes in no other, and the screen shows these.

use std::fmt::Display;

use ramal_agent::QueueMode;
use ramal_agent::permission::Level;
use ramal_model::ThinkingLevel;
use ramal_session::Filter;
use ramal_tui::settings_view::SettingKind;

use super::Settings;
use super::screen::DoubleEscape;

/// What a tool may be allowed: `permissions.bash`.
pub(super) const PERMISSIONS: &str = "permissions.";

/// What such a setting can be. Neither neighbour of one that is not set gives anything away.
pub(super) const LEVELS: &[&str] = &["ask", "allow", "deny"];

/// Ways to wait for a turn.
pub(super) const QUEUE_MODES: &[&str] = &["one-at-a-time", "all"];

/// A setting that there is.
pub(super) struct Known {
    /// Its name, with the names of the tables it stands in.
    pub(super) key: &'static str,
    /// Other names of it.
    pub(super) also: &'static [&'static str],
    pub(super) kind: Kind,
    /// What it is: as it would be written in a file, a text without its quotes. Empty: nothing is said.
    pub(super) value: fn(&Settings) -> String,
    /// What it is for, in the words of docs/settings.md.
    pub(super) says: &'static str,
}

/// What a setting can be.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Flag,
    Number,
    Text,
    /// A list of names.
    List,
    Choice(fn() -> Vec<&'static str>),
}

impl Kind {
    pub(super) fn shown(self) -> SettingKind {
        match self {
            Kind::Flag => SettingKind::Flag,
            Kind::Number => SettingKind::Number,
            Kind::Text | Kind::List => SettingKind::Text,
            Kind::Choice(choices) => SettingKind::Choice(choices().into_iter().map(str::to_owned).collect()),
        }
    }
}

const fn known(key: &'static str, kind: Kind, value: fn(&Settings) -> String, says: &'static str) -> Known {
    Known { key, also: &[], kind, value, says }
}

/// The setting of this name.
pub(super) fn find(name: &str) -> Option<&'static Known> {
    SETTINGS.iter().find(|known| known.key == name || known.also.contains(&name))
}

/// The name by which a setting goes, whatever name it has in a file.
pub(super) fn name(key: &str) -> &str {
    find(key).map_or(key, |known| known.key)
}

/// All but the permissions of tools, in the order in which they are shown.
pub(super) static SETTINGS: &[Known] = &[
    known(
        "model",
        Kind::Text,
        |now| now.models.last().map(|model| model.name.clone()).unwrap_or_default(),
        "provider/id, where a session names none",
    ),
    Known {
        key: "thinkingLevel",
        also: &["defaultThinkingLevel"],
        kind: Kind::Choice(|| ThinkingLevel::ALL.map(ThinkingLevel::name).to_vec()),
        value: |now| now.thinking_level.name().to_owned(),
        says: "how much to think, where a session does not say: off, minimal, low, medium, high, xhigh",
    },
    known(
        "tools",
        Kind::List,
        |now| now.tools.as_deref().map(list).unwrap_or_default(),
        "a list of the tools a model has, such as [\"read\", \"grep\", \"find\", \"ls\"]. A project's list can only \
         make yours shorter",
    ),
    known(
        "autoTitle",
        Kind::Flag,
        |now| text(now.auto_title),
        "a new session gets a title from its model; --no-title is for once",
    ),
    known(
        "treeFilterMode",
        Kind::Choice(|| Filter::ALL.map(Filter::name).to_vec()),
        |now| now.tree_filter.name().to_owned(),
        "what a tree shows at first: default, no-tools, user-only, labeled-only, all",
    ),
    known(
        "sessionDir",
        Kind::Text,
        |now| now.session_dir.as_deref().map(|folder| folder.display().to_string()).unwrap_or_default(),
        "one folder for all sessions: absolute, with ~/, or relative to the directory where ramal is started; as \
         --session-dir, which goes before it",
    ),
    known(
        "bash.keepEnv",
        Kind::List,
        |now| list(&now.kept_variables),
        "variables that commands see although they hold keys",
    ),
    known(
        "extensions",
        Kind::List,
        |now| list(&now.extensions.named),
        "files and folders of extensions besides those in your folders: absolute, with ~/, or relative to the \
         file of settings. A project cannot set it",
    ),
    known(
        "extensionsFrom",
        Kind::List,
        |now| {
            let of = [("pi", now.extensions.from_pi), ("omp", now.extensions.from_omp)];
            let names = of.iter().filter(|(_, is_wanted)| *is_wanted).map(|(name, _)| (*name).to_owned());
            list(&names.collect::<Vec<_>>())
        },
        "other programs whose folders of extensions are looked into: pi, omp. A project cannot set it",
    ),
    known(
        "extensionRunningMs",
        Kind::Number,
        |now| text(now.extensions.running_time.as_millis()),
        "milliseconds that the JavaScript of an extension may run at a stretch. A project cannot set it",
    ),
    known(
        "extensionAnswerMs",
        Kind::Number,
        |now| text(now.extensions.event_time.as_millis()),
        "milliseconds that an extension may take to answer an event, besides what it waits for you, for programs, \
         the network and models. A project cannot set it",
    ),
    known(
        "extensionMemoryMb",
        Kind::Number,
        |now| text(now.extensions.memory >> 20),
        "megabytes that an extension may hold. A project cannot set it",
    ),
    known(
        "compaction.enabled",
        Kind::Flag,
        |now| text(now.compaction.enabled),
        "a conversation that gets too long is summed up by itself",
    ),
    known(
        "compaction.strategy",
        Kind::Choice(|| vec!["context-full", "off"]),
        |now| if now.strategy_is_off { "off" } else { "context-full" }.to_owned(),
        "off is the same as compaction.enabled = false; handoff does not happen by itself, and works as context-full",
    ),
    known(
        "compaction.reserveTokens",
        Kind::Number,
        |now| text(now.compaction.reserve_tokens),
        "tokens of the model's window that are kept free: it is summed up when more than the rest is full",
    ),
    known(
        "compaction.thresholdPercent",
        Kind::Number,
        |now| text(now.compaction.threshold_percent.map_or(-1, i64::from)),
        "another point at which it is summed up: percent of the model's window, 1 to 99; -1 is not set",
    ),
    known(
        "compaction.thresholdTokens",
        Kind::Number,
        |now| now.compaction.threshold_tokens.map_or("-1".to_owned(), text),
        "another point at which it is summed up: tokens; goes before the percentage; -1 is not set",
    ),
    known(
        "compaction.keepRecentTokens",
        Kind::Number,
        |now| text(now.compaction.keep_recent_tokens),
        "tokens of the newest messages that stay as they are, at most half of what may be there",
    ),
    known(
        "branchSummary.reserveTokens",
        Kind::Number,
        |now| text(now.summary_reserve),
        "tokens that are kept free when a branch is summed up",
    ),
    known(
        "retry.enabled",
        Kind::Flag,
        |now| text(now.retries),
        "what passes (rate limits, overload, lost connections) is asked again",
    ),
    known(
        "retry.maxRetries",
        Kind::Number,
        |now| text(now.retry.max_retries),
        "how often it is asked again, at most 100",
    ),
    known(
        "retry.baseDelayMs",
        Kind::Number,
        |now| text(now.retry.base_delay.as_millis()),
        "milliseconds before it is asked again the first time; they double",
    ),
    known(
        "retry.maxDelayMs",
        Kind::Number,
        |now| text(now.retry.max_delay.as_millis()),
        "the longest wait in milliseconds; who asks for more is not asked again",
    ),
    known(
        "steeringMode",
        Kind::Choice(|| QUEUE_MODES.to_vec()),
        |now| queue_mode(now.steering_mode),
        "how many messages that wait for the next step are said at once: one-at-a-time or all",
    ),
    known(
        "followUpMode",
        Kind::Choice(|| QUEUE_MODES.to_vec()),
        |now| queue_mode(now.follow_up_mode),
        "how many messages that wait for the end are said at once: one-at-a-time or all",
    ),
    known(
        "autoResume",
        Kind::Flag,
        |now| text(now.screen.auto_resume),
        "begin in the latest session of the directory",
    ),
    known(
        "doubleEscapeAction",
        Kind::Choice(|| vec!["tree", "branch", "none"]),
        |now| {
            match now.screen.double_escape {
                DoubleEscape::Tree => "tree",
                DoubleEscape::Branch => "branch",
                DoubleEscape::None => "none",
            }
            .to_owned()
        },
        "what Escape opens, pressed twice: tree, branch (also written fork or rewind), none",
    ),
    known(
        "branchSummary.enabled",
        Kind::Flag,
        |now| text(now.screen.summary_enabled),
        "ask at a navigation whether to sum up what is left",
    ),
    known(
        "branchSummary.skipPrompt",
        Kind::Flag,
        |now| text(now.screen.summary_skip_prompt),
        "do not ask at a navigation, and do not sum up",
    ),
    known("theme", Kind::Text, |now| now.screen.theme.clone(), "the name of the colours"),
    known(
        "hideThinkingBlock",
        Kind::Flag,
        |now| text(now.screen.hide_thinking),
        "do not show what the model thinks",
    ),
    Known {
        key: "quietStartup",
        also: &["startup.quiet"],
        kind: Kind::Flag,
        value: |now| text(now.screen.quiet_startup),
        says: "begin without a greeting",
    },
    known(
        "display.transcriptReplayLimit",
        Kind::Number,
        |now| text(now.screen.replay_limit),
        "entries that are drawn when a long session is opened, 1 or more",
    ),
];

/// What the permissions of a tool are for.
pub(super) const PERMISSION_SAYS: &str = "allow: never asked for; ask: always asked for, also to read; deny: never run. TOOL may be one \
     that an extension brings";

/// The tools whose permissions can be set.
pub(super) fn tools() -> Vec<String> {
    ramal_agent::tools::all().iter().map(|tool| tool.spec().name).collect()
}

/// What is said of a tool; empty if nothing is.
pub(super) fn permission(settings: &Settings, tool: &str) -> String {
    let level = settings.permissions.get(tool).map(|level| match level {
        Level::Allow => "allow",
        Level::Ask => "ask",
        Level::Deny => "deny",
    });
    level.unwrap_or_default().to_owned()
}

fn text(value: impl Display) -> String {
    value.to_string()
}

fn list(names: &[String]) -> String {
    toml::Value::from(names.to_vec()).to_string()
}

fn queue_mode(mode: QueueMode) -> String {
    let name = match mode {
        QueueMode::OneAtATime => "one-at-a-time",
        QueueMode::All => "all",
    };
    name.to_owned()
}
