//! The list under one's hands: what is typed, what is seen, what keys do.

use std::sync::Arc;

use super::*;
use crate::editor::EditorAction;

/// Commands, files and entries that most of these tests choose from.
fn sources() -> Sources {
    let command = |name: &str, aliases: &[&str], arguments: &str, description: &str| Command {
        name: name.into(),
        aliases: aliases.iter().map(ToString::to_string).collect(),
        arguments: arguments.into(),
        description: description.into(),
        source: String::new(),
    };
    let entry = |id: &str, label: Option<&str>, text: &str| Entry {
        id: id.into(),
        label: label.map(str::to_owned),
        text: text.into(),
    };
    let mut commands = vec![
        command("tree", &["branch"], "", "Open the tree"),
        command("name", &["rename"], "[name]", "Name this session"),
        command("new", &["clear"], "", "Begin a new session"),
        command("quit", &["exit"], "", "Leave"),
    ];
    commands.push(Command { source: "deploy.md".into(), ..command("deploy", &[], "", "Ship it") });
    let files = ["src/", "src/main.rs", "src/deep/", "src/deep/two words.md", "README.md", "my notes/"];
    Sources {
        commands: commands.into(),
        files: Files::new(files.map(str::to_owned)),
        entries: [
            entry("a1b2c3d4", Some("before the rewrite"), "Try the other parser."),
            entry("e5f6a7b8", None, "Why is the date\nwrong?"),
            entry("c9d0e1f2", None, "Look at 1 of 2"),
        ]
        .into(),
        arguments: None,
    }
}

struct Desk {
    editor: Editor,
    completer: Completer,
    sources: Sources,
    keymap: Keymap,
}

impl Desk {
    fn new() -> Desk {
        let keymap = Keymap::default();
        Desk { editor: Editor::new(), completer: Completer::new(), sources: sources(), keymap }
    }

    fn with(text: &str) -> Desk {
        let mut desk = Desk::new();
        desk.types(text);
        desk
    }

    /// Types, letter by letter.
    fn types(&mut self, text: &str) {
        for c in text.chars() {
            self.editor.insert(&c.to_string());
            self.follow();
        }
    }

    fn follow(&mut self) -> bool {
        self.completer.follow(&self.editor, &self.sources)
    }

    fn press(&mut self, key: &str) -> Told {
        let told = self.completer.key(&mut self.editor, &self.keymap, key.parse().unwrap());
        self.follow();
        told
    }

    /// What is seen of the list.
    fn seen(&self) -> Vec<String> {
        let lines = self.completer.lines(60, &Theme::plain());
        assert_eq!(self.completer.is_open(), !lines.is_empty());
        lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }
}

#[test]
fn commands_are_offered_by_their_names_and_found_by_others() {
    let mut desk = Desk::with("/");
    assert_eq!(
        desk.seen(),
        [
            "> tree    Open the tree",
            "  name    [name] · Name this session",
            "  new     Begin a new session",
            "  quit    Leave",
            "  deploy  Ship it · from deploy.md",
        ]
    );
    desk.types("ex");
    assert_eq!(desk.seen(), ["> exit  Leave · the same as /quit"]);
    assert_eq!(desk.press("tab"), Told::Accepted);
    assert_eq!((desk.editor.text(), desk.seen().len()), ("/exit ".into(), 0));
}

#[test]
fn enter_sends_a_command_that_needs_nothing_more() {
    for (typed, told, text) in [
        ("/tr", Told::Submit, "/tree "),
        ("/ex", Told::Submit, "/exit "),
        ("/nam", Told::Accepted, "/name "),
        ("/renam", Told::Accepted, "/rename "),
        // It is there already: Enter is the editor's, which sends.
        ("/tree", Told::Passed, "/tree"),
        ("/name", Told::Passed, "/name"),
        ("/zzz", Told::Passed, "/zzz"),
        ("/tree x", Told::Passed, "/tree x"),
        ("@read", Told::Accepted, "@README.md "),
        ("@README.md", Told::Passed, "@README.md"),
    ] {
        let mut desk = Desk::with(typed);
        assert_eq!((desk.press("enter"), desk.editor.text()), (told, text.into()), "{typed}");
        assert_eq!(desk.seen().len(), 0, "{typed}");
    }
}

#[test]
fn a_number_sign_is_often_nothing_but_that() {
    for (typed, keys, told, text) in [
        ("fix #12", "enter", Told::Passed, "fix #12"),
        ("#", "enter", Told::Passed, "#"),
        ("#", "down enter", Told::Accepted, "#e5f6a7b8 "),
        ("#Before", "enter", Told::Accepted, "#a1b2c3d4 "),
        ("#rewrite", "enter", Told::Passed, "#rewrite"),
        ("#rewrite", "tab", Told::Accepted, "#a1b2c3d4 "),
        ("#whydate", "tab", Told::Accepted, "#e5f6a7b8 "),
    ] {
        let mut desk = Desk::with(typed);
        let mut last = Told::Redraw;
        for key in keys.split(' ') {
            last = desk.press(key);
        }
        assert_eq!((last, desk.editor.text()), (told, text.into()), "{typed} {keys}");
    }
    assert_eq!(
        Desk::with("#").seen(),
        [
            "> before the rewrite      Try the other parser.",
            "  Why is the date wrong?  e5f6a7b8",
            "  Look at 1 of 2          c9d0e1f2",
        ]
    );
}

#[test]
fn a_folder_goes_on() {
    let mut desk = Desk::with("see @sr");
    assert_eq!(desk.press("tab"), Told::Accepted);
    assert_eq!(desk.editor.text(), "see @src/");
    assert_eq!(desk.seen(), ["> src/deep/", "  src/main.rs", "  src/deep/two words.md"]);
    desk.types("w");
    assert_eq!(desk.seen(), ["> src/deep/two words.md"]);
    assert_eq!(desk.press("enter"), Told::Accepted);
    assert_eq!((desk.editor.text(), desk.seen().len()), ("see @\"src/deep/two words.md\" ".into(), 0));
    desk.types("@my");
    assert_eq!(desk.press("tab"), Told::Accepted);
    assert!(desk.editor.text().ends_with("@\"my notes/"), "{}", desk.editor.text());
    assert_eq!(desk.seen().len(), 0, "there is nothing in it");
}

#[test]
fn escape_closes_it_for_the_word() {
    let mut desk = Desk::with("@s");
    assert_eq!(desk.press("escape"), Told::Redraw);
    assert_eq!((desk.seen().len(), desk.press("escape")), (0, Told::Passed));
    desk.types("r");
    assert_eq!((desk.seen().len(), desk.press("up")), (0, Told::Passed));
    // Tab asks for it again.
    assert!(desk.completer.ask(&desk.editor, &desk.sources));
    assert_eq!(desk.seen()[0], "> src/");
    desk.press("escape");
    desk.types(" @s");
    assert_eq!(desk.seen()[0], "> src/", "another word");
    assert!(!Desk::with("plain").completer.ask(&Editor::new(), &sources()));
}

#[test]
fn what_was_taken_is_not_offered_again() {
    let mut desk = Desk::with("@mai now");
    for _ in 0..4 {
        desk.editor.handle(EditorAction::CursorLeft);
    }
    assert!(!desk.follow() && desk.seen().is_empty(), "moving about opens nothing");
    desk.types("n");
    assert_eq!(desk.press("tab"), Told::Accepted);
    assert_eq!((desk.editor.text(), desk.seen().len()), ("@src/main.rs now".into(), 0));
}

#[test]
fn keys_go_through_the_list_and_all_others_pass() {
    let mut desk = Desk::with("/");
    desk.press("up");
    assert_eq!(desk.seen()[4], "> deploy  Ship it · from deploy.md");
    desk.press("down");
    desk.press("pageDown");
    assert_eq!(desk.seen()[4], "> deploy  Ship it · from deploy.md");
    desk.press("pageUp");
    assert_eq!(desk.seen()[0], "> tree    Open the tree");
    for key in ["home", "left", "x", "ctrl+o", "alt+t", "shift+tab", "f1"] {
        assert_eq!(desk.press(key), Told::Passed, "{key}");
    }
    let mut closed = Desk::with("plain");
    for key in ["up", "down", "tab", "enter", "escape", "pageUp"] {
        assert_eq!(closed.press(key), Told::Passed, "{key}");
    }
}

#[test]
fn earlier_prompts_open_nothing() {
    let mut desk = Desk::new();
    desk.editor.set_history(["/tree".to_owned(), "/new".to_owned()]);
    for text in ["/tree", "/new"] {
        desk.editor.handle(EditorAction::CursorUp);
        assert!(!desk.follow(), "{text}");
        assert_eq!((desk.editor.text(), desk.seen().len()), (text.into(), 0));
    }
}

#[test]
fn files_that_are_found_later_join_the_list() {
    let mut desk = Desk::new();
    let all = std::mem::take(&mut desk.sources.files);
    desk.types("@");
    assert_eq!(desk.seen().len(), 0);
    desk.sources.files = Files::new(["src/".to_owned(), "README.md".to_owned()]);
    assert!(desk.follow());
    desk.press("down");
    assert_eq!(desk.seen(), ["  src/", "> README.md"]);
    desk.sources.files = all;
    assert!(desk.follow());
    assert!(desk.seen().contains(&"> README.md".to_owned()), "{:?}", desk.seen());
    assert!(!desk.follow(), "nothing is new");
}

#[test]
fn the_list_closes_with_its_word() {
    let mut desk = Desk::with("/t");
    assert!(desk.completer.is_open());
    desk.editor.handle(EditorAction::DeleteCharBackward);
    assert!(desk.follow());
    assert_eq!(desk.seen().len(), 5);
    desk.editor.handle(EditorAction::DeleteCharBackward);
    assert!(desk.follow());
    assert_eq!(desk.seen().len(), 0);
    desk.types("/tre");
    desk.editor.take();
    assert!(desk.follow() && !desk.completer.is_open());
}

#[test]
fn what_stands_behind_a_command_is_said_by_whoever_brings_it() {
    let mut desk = Desk::with("/deploy ");
    let found = |typed: &str, all: &[(&str, &str)]| {
        let found = all.iter().map(|(value, label)| ((*value).to_owned(), (*label).to_owned())).collect();
        Some(Arc::new(Arguments { command: "deploy".into(), typed: typed.into(), found }))
    };
    desk.sources.arguments = found("", &[("production now", "to production"), ("staging", "to staging")]);
    assert!(!desk.follow(), "nothing was typed since");
    assert!(desk.completer.has_more(&desk.editor, &desk.sources));
    assert_eq!(desk.seen(), ["> to production", "  to staging"]);
    // What was not asked for is not taken.
    assert_eq!(desk.press("enter"), Told::Passed);
    desk.types("s");
    desk.sources.arguments = found("s", &[("staging", "to staging")]);
    assert!(desk.completer.has_more(&desk.editor, &desk.sources) || !desk.completer.is_open());
    desk.completer.ask(&desk.editor, &desk.sources);
    assert_eq!(desk.press("enter"), Told::Accepted);
    assert_eq!(desk.editor.text(), "/deploy staging");
    assert_eq!(desk.press("enter"), Told::Passed, "it is sent");
    let mut other = Desk::with("/other ");
    other.sources.arguments = found("", &[("staging", "to staging")]);
    assert!(!other.completer.has_more(&other.editor, &other.sources));
}

#[test]
fn names_from_outside_are_harmless() {
    let mut desk = Desk::new();
    desk.sources.entries = [Entry {
        id: "a1".into(),
        label: Some("\x1b[2Jlabel\n".into()),
        text: "\x1b]52;c;x\x07 text".into(),
    }]
    .into();
    desk.types("#");
    assert!(desk.seen()[0].chars().all(|c| !c.is_control()), "{:?}", desk.seen());
}
