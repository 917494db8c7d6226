//! Text that would act on a terminal, wherever a session can hold it.

use serde_json::json;

use super::world::{World, session};

/// Clears the screen, sets a title, turns text around, and hides some.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}x\u{200f}\u{2066}\r\u{8}\u{e0041}";

#[track_caller]
fn is_harmless(text: &str) {
    let bad = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!text.chars().any(bad), "{text:?}");
}

#[test]
fn nothing_reaches_the_terminal_as_it_is() {
    let world = World::new();
    let cwd = world.path("work");
    let message = |role: &str| json!({ "message": { "role": role, "content": EVIL, "toolName": EVIL } });
    let call = json!({ "message": { "role": "assistant", "stopReason": "error", "errorMessage": EVIL, "content": [
        { "type": "toolCall", "id": "c", "name": "edit", "arguments": { "path": EVIL } },
        { "type": "toolCall", "id": "d", "name": EVIL, "arguments": {} },
    ] } });
    let entries = [
        message("user"),
        call,
        message("toolResult"),
        message(EVIL),
        json!({ "type": EVIL }),
        json!({ "type": "custom_message", "customType": EVIL, "content": EVIL }),
        json!({ "type": "branch_summary", "summary": EVIL }),
        json!({ "type": "model_change", "model": EVIL }),
        json!({ "type": "session_info", "name": EVIL }),
        json!({ "id": format!("id{EVIL}"), "message": { "role": "user", "content": "x" } }),
        json!({ "type": "label", "parentId": format!("id{EVIL}"), "targetId": "e001", "label": EVIL }),
        json!({ "type": "label", "targetId": format!("id{EVIL}"), "label": EVIL }),
    ];
    let text = session(&format!("s{EVIL}"), &cwd, &entries).replacen(
        "\"cwd\":",
        "\"parentSession\":\"\\u001b[2J\",\"cwd\":",
        1,
    );
    let folder = world.path("sessions");
    let path = world.write("sessions/s.jsonl", &text);
    let (path, folder) = (path.to_str().unwrap(), folder.to_str().unwrap());
    let odd = format!("id{EVIL}");
    for (status, args) in [
        (0, vec!["labels", "--session", path]),
        (0, vec!["labels", "--session", path, "--json"]),
        (0, vec!["go", "root", "--session", path]),
        (0, vec!["go", "e005", "--session", path]),
        (0, vec!["go", &odd, "--session", path, "--json"]),
        (0, vec!["label", "e001", "--session", path]),
        (1, vec!["label", EVIL, "--session", path]),
        (0, vec!["label", "e001", EVIL, "--session", path]),
        (1, vec!["go", "e00", "--session", path]),
        (1, vec!["go", "id\u{1b}[2K", "--session", path]),
        (0, vec!["diff", "e000", "e008", "--session", path]),
        (0, vec!["diff", "e000", "e008", "--session", path, "--json"]),
        (0, vec!["branch", "root", "--session", path]),
        (0, vec!["branch", "e004", "--session", path, "--json"]),
        (0, vec!["ls", "--all", "--session-dir", folder]),
        (0, vec!["ls", "--all", "--session-dir", folder, "--json"]),
        (0, vec!["export", path, "page.html"]),
        (0, vec!["export", path, "page.html", "--force", "--redact", "--json"]),
        (1, vec!["export", path, "page.html"]),
        (0, vec!["export", path, "text\u{1b}[2J.md", "--json"]),
        (1, vec!["export", path, "no/\u{1b}[2J.html"]),
        (0, vec!["import", path, "--json"]),
        (1, vec!["import", "\u{1b}[2J.jsonl"]),
        (0, vec!["check", path]),
        (0, vec!["check", path, "--json"]),
        (0, vec!["check", path, "--repair"]),
        (1, vec!["fork", EVIL]),
        (1, vec!["labels", "--session", "/no/\u{1b}[2J.jsonl"]),
        (2, vec!["\u{1b}[2J"]),
        (2, vec!["man", EVIL]),
    ] {
        let mut command = world.command();
        let output = command.env("COLUMNS", "120").args(&args).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{args:?} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        is_harmless(std::str::from_utf8(&output.stdout).unwrap());
        is_harmless(std::str::from_utf8(&output.stderr).unwrap());
    }
}
