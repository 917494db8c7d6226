//! The one table of words that begin with `/`: names in both families, what follows them, what they do.

use ramal_model::ThinkingLevel;

use super::App;

/// What a command does with what follows its name.
type Action = fn(&mut App, &str);

/// A row of the table.
pub(super) struct Command {
    /// The first is the one that help shows.
    pub(super) names: &'static [&'static str],
    /// What may follow it, as help writes it.
    pub(super) argument: &'static str,
    pub(super) says: &'static str,
    pub(super) action: Action,
}

macro_rules! commands {
    ($([$($name:literal),+] $argument:literal $says:literal $action:expr;)*) => {
        /// All commands, in the order in which they are offered.
        pub(super) const COMMANDS: &[Command] = &[
            $(Command { names: &[$($name),+], argument: $argument, says: $says, action: $action },)*
        ];
    };
}

commands! {
    ["tree"] "" "Open the tree" |app, _| app.open_tree();
    ["branch", "rewind"] "" "Go back to a message of yours: into a session of its own, or in the tree" |app, _| app.open_branching();
    ["fork"] "" "Begin a session anew from before a message of yours, or with all of this path" |app, _| app.open_fork();
    ["clone"] "" "Go on in a copy of this path" |app, _| app.clone_session();
    ["transcript"] "" "Open the whole transcript" |app, _| app.open_transcript();
    ["resume", "sessions"] "[SESSION]" "Open another session" App::resume;
    ["new"] "" "Begin a new session" |app, _| app.new_session();
    ["clear"] "" "Begin the context anew; what was said stays in the tree" |app, _| app.clear_context();
    ["name"] "[NAME]" "Name the session, or say what it is called" App::name_session;
    ["rename"] "[NAME]" "Name the session; without a name the model finds one" App::rename;
    ["drop", "delete"] "" "Begin a new session, and put this one into the trash" |app, _| app.delete_session();
    ["move"] "DIRECTORY" "Go on in another directory" App::move_session;
    ["handoff"] "[INSTRUCTIONS]" "Begin a new session with a brief of this one" App::handoff;
    ["retry"] "" "Repeat the last turn if it failed" |app, _| app.retry();
    ["btw"] "QUESTION" "Ask something of which nothing is kept" App::ask_beside;
    ["context"] "" "What fills the context" |app, _| app.tell_context();
    ["export"] "[FILE.html | FILE.jsonl]" "Write the session as a page, or this path as a session" App::export;
    ["import"] "FILE.jsonl" "Open a copy of a session that lies elsewhere" App::import;
    ["dump"] "" "Copy the whole path as text" |app, _| app.dump();
    ["reload"] "" "Read keys, settings, theme, context files and extensions again" |app, _| app.reload();
    ["label"] "[LABEL]" "Label where one is; without a label take it off" App::label;
    ["session"] "[info | delete]" "What this session is: file, messages, tokens, cost" App::session;
    ["compact"] "[INSTRUCTIONS]" "Make the conversation shorter" App::compact;
    ["model"] "[MODEL]" "Choose the model" App::choose_model;
    ["thinking"] "[LEVEL]" "Choose how much the model thinks" App::choose_thinking;
    ["copy"] "[last | code | all | cmd]" "Copy the last answer, its code, everything, or the last command" App::copy;
    ["help"] "" "Say what all commands do" |app, _| app.tell_commands();
    ["hotkeys", "keys"] "" "Show all keys" |app, _| app.open_hotkeys();
    ["settings"] "" "Look at the settings and change them" |app, _| app.open_settings();
    ["changelog"] "" "Say which version this is" |app, _| app.tell_version();
    ["quit", "exit"] "" "Leave" |app, _| app.leave();
}

/// Words of other programs for what is done in another way here, or not at all, and what is said of them. They
/// are not offered.
pub(super) const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["share"], "Nothing is uploaded from here: /export writes a page that you can give away"),
    (
        &["background", "bg"],
        "A turn needs the program it runs in: Ctrl+Z stops both. `ramal -p` works without a screen",
    ),
    (
        &["collab", "join", "leave"],
        "There are no shared rooms: whoever opens the same session file sees what the others add. /quit leaves",
    ),
];

/// What was said to the program.
pub(super) enum Said<'a> {
    /// A command, and what follows it.
    Command { action: Action, rest: String },
    /// A word that has another meaning elsewhere, and what there is to say of it.
    Elsewhere(&'static str),
    /// A word that is none.
    Unknown(&'a str),
}

impl Said<'_> {
    /// Reads `/name rest`; none if the text is no command, such as a path.
    pub(super) fn parse(text: &str) -> Option<Said<'_>> {
        let line = text.trim_start().strip_prefix('/')?;
        let end = line.find(char::is_whitespace).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let is_name = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
        if !is_name {
            return None;
        }
        Some(match find(name) {
            Some(command) => Said::Command { action: command.action, rest: rest.trim().to_owned() },
            None => match ELSEWHERE.iter().find(|(names, _)| names.contains(&name)) {
                Some((_, says)) => Said::Elsewhere(says),
                None => Said::Unknown(name),
            },
        })
    }
}

/// The names of all commands, those first that are offered first; those of one command together.
pub fn command_names() -> impl Iterator<Item = &'static [&'static str]> {
    COMMANDS.iter().map(|command| command.names)
}

/// All commands by their first names, and what they do.
pub fn commands_told() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMANDS.iter().filter_map(|command| Some((*command.names.first()?, command.says)))
}

/// The command with a name.
pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.names.contains(&name))
}

/// The level of thinking with a name, or what there is.
pub(super) fn level(name: &str) -> Result<ThinkingLevel, String> {
    name.parse().map_err(|_| {
        let names = ThinkingLevel::ALL.map(ThinkingLevel::name).join(", ");
        format!("There is no level {name}; there are {names}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_from_a_path() {
        assert!(matches!(Said::parse("/tree"), Some(Said::Command { .. })));
        assert!(
            matches!(Said::parse("  /name my work"), Some(Said::Command { rest, .. }) if rest == "my work")
        );
        assert!(matches!(Said::parse("/nothing"), Some(Said::Unknown("nothing"))));
        for text in ["/usr/bin/env is missing", "/", "/ tree", "tree", "// a comment", "/a.txt"] {
            assert!(Said::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn no_name_is_given_twice() {
        let elsewhere = ELSEWHERE.iter().map(|(names, _)| *names);
        let mut names: Vec<_> = command_names().chain(elsewhere).flatten().collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
