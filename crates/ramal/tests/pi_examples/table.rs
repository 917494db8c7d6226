//! The examples, what each is expected to do here, and what shows it.

use crate::scene::Scene;
use crate::{dialogs, git, model, sessions, terminal, tools};

/// How much of an example is expected to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All that it does.
    Whole,
    /// Some of it.
    Part,
    /// It is about what ramal does not have; it is loaded.
    Loads,
    /// It cannot be loaded.
    Refused,
}

/// What is known of an example.
pub(crate) struct Example {
    /// Its name in the package, without `.ts`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) scenario: Option<fn(&Scene)>,
    /// What the scenario has seen.
    pub(crate) works: &'static str,
    /// What is not there, where the program does not say it itself.
    pub(crate) missing: &'static str,
}

const fn whole(name: &'static str, scenario: fn(&Scene), works: &'static str) -> Example {
    Example { name, kind: Kind::Whole, scenario: Some(scenario), works, missing: "" }
}

const fn part(
    name: &'static str,
    scenario: fn(&Scene),
    works: &'static str,
    missing: &'static str,
) -> Example {
    Example { name, kind: Kind::Part, scenario: Some(scenario), works, missing }
}

const fn loads(name: &'static str, missing: &'static str) -> Example {
    Example { name, kind: Kind::Loads, scenario: None, works: "", missing }
}

const fn refused(name: &'static str, missing: &'static str) -> Example {
    Example { name, kind: Kind::Refused, scenario: None, works: "", missing }
}

/// All that the package has, in its order.
pub(crate) const EXAMPLES: &[Example] = &[
    whole(
        "auto-commit-on-exit",
        git::auto_commit_on_exit,
        "at the end a dirty work tree is committed, with the last answer's first line",
    ),
    whole(
        "bash-spawn-hook",
        tools::bash_spawn_hook,
        "the model's commands get its variable and what the profile sets",
    ),
    whole(
        "bookmark",
        sessions::bookmark,
        "`/bookmark` labels the last answer, `/unbookmark` takes the label away",
    ),
    loads("border-status-editor", "an editor of its own"),
    part(
        "built-in-tool-renderer",
        tools::built_in,
        "read, edit, write and bash do what they do, with the extension in their place",
        "what it draws of them",
    ),
    whole("claude-rules", dialogs::claude_rules, "the rules are found, said, and stand in the system prompt"),
    whole(
        "commands",
        sessions::commands,
        "`/commands` lists commands by where they come from, and says where one lies",
    ),
    whole(
        "confirm-destructive",
        sessions::confirm_destructive,
        "asks before a new session and before a fork; no is no",
    ),
    whole(
        "custom-compaction",
        model::custom_compaction,
        "its own summary, asked of the model it names, is the compaction's",
    ),
    loads("custom-footer", "a footer of its own"),
    loads("custom-header", "a header of its own"),
    loads("custom-provider-anthropic", "providers of its own"),
    loads("custom-provider-gitlab-duo", "providers of its own"),
    part(
        "debug-provider",
        model::debug_provider,
        "`/debug-provider`, its status, an entry for each answer",
        "the entry has no events in it",
    ),
    whole(
        "dirty-repo-guard",
        git::dirty_repo_guard,
        "asks before a new session while the work tree is dirty; no is no",
    ),
    refused("doom-overlay", "draws a game"),
    part(
        "dynamic-resources",
        terminal::dynamic_resources,
        "its theme can be chosen, by the name of its file",
        "skills and prompt templates, which ramal does not have",
    ),
    whole(
        "dynamic-tools",
        tools::dynamic_tools,
        "tools that are registered at the start and by a command are offered and run",
    ),
    part(
        "entry-renderer",
        sessions::entry_renderer,
        "`/status-card` appends its entry, which the model does not see",
        "the terminal shows no entries that the model does not see",
    ),
    whole("event-bus", sessions::event_bus, "what is emitted is heard, in it and in the extension beside it"),
    whole(
        "file-trigger",
        sessions::file_trigger,
        "what is written to the file is said to the model, which answers",
    ),
    whole(
        "git-checkpoint",
        git::git_checkpoint,
        "the work tree at the beginning of each turn is kept by git; nothing else is touched",
    ),
    whole(
        "git-merge-and-resolve",
        git::git_merge_and_resolve,
        "fetches, merges, and lets the model go on with the conflicts",
    ),
    loads("github-issue-autocomplete", "completions of its own while one types"),
    refused("gondolin", "tools in a virtual machine of another package"),
    part(
        "handoff",
        terminal::handoff,
        "has the brief written while it is shown that it waits, lets one change it, and begins the new session with it",
        "`/handoff` itself is ramal's own command, which does the same; the example's runs where another extension says it",
    ),
    whole("hello", tools::hello, "the tool is offered and run; its details are kept"),
    loads("hidden-thinking-label", "labels for hidden thinking"),
    whole(
        "inline-bash",
        sessions::inline_bash,
        "`!{…}` in what is said becomes what the command prints; failures are shown",
    ),
    whole(
        "input-transform",
        sessions::input_transform,
        "`?quick` is rewritten, `ping` is answered without a model",
    ),
    whole(
        "input-transform-streaming",
        git::input_transform_streaming,
        "`changes` brings what git says of them; what steers is left alone",
    ),
    loads("interactive-shell", "the terminal handed to a program"),
    loads("jev-router", "models of its own"),
    loads("mac-system-theme", "themes that extensions choose; macOS"),
    part(
        "message-renderer",
        terminal::message_renderer,
        "`/status` sends its message, which is shown as it says",
        "boxes and colours",
    ),
    part(
        "minimal-mode",
        tools::built_in,
        "read, edit, write and bash do what they do, with the extension in their place",
        "what it draws of them",
    ),
    loads("modal-editor", "an editor of its own"),
    whole("model-status", dialogs::model_status, "says which model was chosen, and which before"),
    part(
        "notify",
        dialogs::notify,
        "its notification comes when all is done",
        "what it writes to standard output goes to the log of extensions, not to the terminal",
    ),
    loads("overlay-qa-tests", "overlays"),
    loads("overlay-test", "overlays"),
    whole(
        "permission-gate",
        tools::permission_gate,
        "asks before dangerous commands; no blocks, and the model is told",
    ),
    whole("pirate", dialogs::pirate, "`/pirate` changes the system prompt, and back"),
    whole(
        "plan-mode",
        sessions::plan_mode,
        "tools are restricted, commands blocked, the plan is read, asked about, carried out and ticked off",
    ),
    part(
        "preset",
        sessions::preset,
        "presets by command and flag: tools, instructions, model, state kept in the session",
        "the list it draws for `/preset` without a name",
    ),
    loads("project-trust", "whether a project is trusted the user alone decides"),
    whole(
        "prompt-customizer",
        dialogs::prompt_customizer,
        "its guidance for the tools there are stands in the system prompt",
    ),
    whole("protected-paths", tools::protected_paths, "blocks writing to protected paths, and says so"),
    whole(
        "provider-payload",
        model::provider_payload,
        "what goes over the wire and how it is answered are written to its file",
    ),
    whole("qna", terminal::qna, "`/qna` puts the questions into the editor; Escape ends it"),
    part(
        "question",
        tools::question,
        "the tool is offered, and says that it cannot ask",
        "a dialog that it draws",
    ),
    part(
        "questionnaire",
        tools::questionnaire,
        "the tool is offered, and says that it cannot ask",
        "a dialog that it draws",
    ),
    loads("rainbow-editor", "an editor of its own"),
    whole(
        "reload-runtime",
        sessions::reload_runtime,
        "by command, and by a tool that ends the turn, after which its command runs",
    ),
    whole("rpc-demo", dialogs::rpc_demo, "all dialogs, statuses, a widget, the title, the editor's text"),
    whole(
        "send-user-message",
        sessions::send_user_message,
        "messages that begin a turn, that follow one, and with several parts",
    ),
    whole("session-name", sessions::session_name, "names the session, and says its name"),
    whole(
        "shutdown-command",
        sessions::shutdown_command,
        "a tool ends the program when the turn is done, `/quit` at once",
    ),
    loads("snake", "draws a game"),
    loads("space-invaders", "draws a game"),
    part(
        "ssh",
        tools::built_in,
        "without `--flag ssh=…` all tools work here",
        "tried without another machine only",
    ),
    whole("status-line", dialogs::status_line, "its status changes with each turn"),
    whole("structured-output", tools::structured_output, "the result is kept, and the tool ends the turn"),
    loads("subagent", "starts `pi` as a program, which has to be there"),
    part(
        "summarize",
        model::summarize,
        "the conversation is summed up by the model it names",
        "the view that it draws of it",
    ),
    whole(
        "system-prompt-header",
        dialogs::system_prompt_header,
        "the length of the system prompt as a status",
    ),
    loads("tic-tac-toe", "draws a game"),
    whole(
        "timed-confirm",
        dialogs::timed_confirm,
        "dialogs that end by themselves, by a limit and by a signal",
    ),
    whole("titlebar-spinner", dialogs::titlebar_spinner, "the title moves while the model works"),
    part(
        "todo",
        tools::todo,
        "the list is right after opening the session again and after a jump in the tree",
        "the list it draws for `/todos`",
    ),
    part(
        "tools",
        sessions::tools,
        "the choice that a session holds is in force when it is opened and after a jump",
        "the list it draws for `/tools`",
    ),
    whole(
        "tool-override",
        tools::tool_override,
        "its `read` stands in the place of the built-in one, refuses and logs",
    ),
    whole("trigger-compact", model::trigger_compact, "`/trigger-compact` sums up, and says when it is done"),
    whole("truncated-tool", tools::truncated_tool, "long output is cut, the whole of it kept in a file"),
    whole("widget-placement", dialogs::widget_placement, "a widget above and one below the editor"),
    whole("with-deps", tools::with_deps, "a package of its own `node_modules` does the work"),
    loads("working-indicator", "how it is shown that the model works"),
    loads("working-message-test", "how it is shown that the model works"),
];
