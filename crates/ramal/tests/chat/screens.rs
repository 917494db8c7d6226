//! What every view looks like, on a small, a usual and a large screen.

use std::fs;

use ramal_testing::screens;
use ramal_testing::terminal::{Options, Screen, Terminal};
use serde_json::json;

use super::library;
use super::support::{calls, dawdles};
use super::world::{World, leave};

const SIZES: [(u16, u16); 3] = [(60, 20), (100, 40), (200, 60)];

/// The sample session, so long ago that times are told as dates, and always will be.
#[allow(clippy::disallowed_methods, reason = "the session is a copy")]
fn sample(answers: &[serde_json::Value]) -> World {
    let world = World::with_sample(answers);
    let path = world.scratch.path("session.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text.replace("\"timestamp\":\"2026-10-", "\"timestamp\":\"2001-10-")).unwrap();
    world
}

/// Replaces what is different each time by something as wide: ids, ages, the time of day, what shows that time
/// passes, the name of the test's folder.
fn settle(text: &str) -> String {
    let sample = include_str!("../../../../examples/date-parser.jsonl");
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let is_word_start = !out.ends_with(|before: char| before.is_alphanumeric());
        let word = rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        let is_id = |word: &str| {
            word.len() == 8
                && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                && !sample.contains(word)
        };
        let is_age = |word: &str| word.len() == 3 && word.ends_with('y') && word[..2].parse::<u8>().is_ok();
        let is_seconds = |word: &str| word.strip_suffix('s').is_some_and(|it| it.parse::<u8>().is_ok());
        let is_time = |text: &str| {
            let clock = text.as_bytes();
            clock.len() >= 5
                && clock[2] == b':'
                && [0, 1, 3, 4].iter().all(|at| clock[*at].is_ascii_digit())
                && !clock.get(5).is_some_and(u8::is_ascii_digit)
        };
        let (taken, said) = match letter {
            _ if is_word_start && is_id(word) => (8, "00000000".to_owned()),
            _ if is_word_start && is_age(word) => (3, "25y".to_owned()),
            _ if is_word_start && is_seconds(word) && out.ends_with("· ") => (word.len(), "0s".to_owned()),
            _ if is_word_start && is_time(rest) => (5, "12:00".to_owned()),
            _ if rest.starts_with(".tmp") => (10.min(rest.len()), ".tmpfolder".to_owned()),
            '\u{2800}'..='\u{28ff}' => (letter.len_utf8(), "⠋".to_owned()),
            _ => (letter.len_utf8(), letter.to_string()),
        };
        out.push_str(&said);
        rest = &rest[taken..];
    }
    out
}

#[track_caller]
fn keep(name: &str, terminal: &Terminal) {
    let screen = terminal.screen();
    let (columns, rows) = screen.size();
    screens::check_with(&format!("{name}-{columns}x{rows}"), &screen.text(), settle);
}

/// Shows a view at each size. `open` does what leads to it, and waits until all of it is there; `back` is pressed
/// until the main screen is there again, with nothing in the editor.
#[track_caller]
fn at_each_size(name: &str, world: impl Fn() -> World, open: impl Fn(&Terminal), back: &[&str]) {
    for (columns, rows) in SIZES {
        let world = world();
        let mut terminal = world.start(Options::new(columns, rows));
        // What the footer tells is found a moment later.
        let footer = ["~ · week 53", "‹2/2›", "$0.32 · 1% of 200k"];
        terminal.wait_for(|screen| footer.iter().all(|text| screen.says(text)));
        open(&terminal);
        keep(name, &terminal);
        for key in back {
            let before = terminal.screen();
            terminal.key(key);
            terminal.wait_for(|screen| !screen.looks_like(&before));
        }
        leave(&mut terminal);
    }
}

/// The covering view is there, and says that.
fn covers(text: &'static str) -> impl Fn(&Screen<'_>) -> bool {
    move |screen| screen.is_alternate() && screen.says(text)
}

#[test]
fn the_conversation() {
    at_each_size("conversation", || sample(&[]), |_| {}, &[]);
}

#[test]
fn tools_are_opened() {
    let open = |terminal: &Terminal| {
        terminal.key("ctrl+o");
        terminal.wait_for_text("test result: ok. 22 passed");
    };
    at_each_size("tools-open", || sample(&[]), open, &[]);
}

#[test]
fn a_turn_runs() {
    let answer = "The `W` of a week is read first:\n\n- `2026-W53-5` with hyphens,\n- `2026W535` without.\n";
    let open = |terminal: &Terminal| {
        terminal.text("And which one is read first?");
        terminal.key("enter");
        terminal.wait_for_text("2026W535 without.");
        terminal.text("In two words, please.");
        terminal.key("alt+enter");
        terminal.wait_for_text("then: In two words");
    };
    at_each_size("turn", || sample(&[dawdles(answer)]), open, &["esc", "ctrl+c"]);
}

#[test]
fn a_permission_is_asked_for() {
    let command = json!({"command": "cargo test --workspace -- --include-ignored && rm -rf target/doc"});
    let open = |terminal: &Terminal| {
        terminal.text("Test all of it.");
        terminal.key("enter");
        terminal.wait_for_text("Run bash?");
    };
    at_each_size(
        "permission",
        || sample(&[calls("bash", command.clone()), dawdles("No.")]),
        open,
        &["esc", "esc"],
    );
}

#[test]
fn what_is_completed() {
    let open = |terminal: &Terminal| {
        terminal.text("/");
        terminal.wait_for_text("1/31");
    };
    at_each_size("completion", || sample(&[]), open, &["ctrl+c", "ctrl+c"]);
}

#[test]
fn a_draft_of_several_lines() {
    let open = |terminal: &Terminal| {
        terminal.paste("First the short form:\n\n    2026W535\n\nThen 2026年第53週 and a line that is so long that it goes on and on, over the end of the row, whatever the width of the screen may be, since it takes more than two hundred columns.\n\nLast: thanks!");
        terminal.wait_for_text("Last: thanks!");
    };
    at_each_size("draft", || sample(&[]), open, &["ctrl+c"]);
}

#[test]
fn the_tree() {
    let open = |terminal: &Terminal| {
        terminal.key("alt+t");
        terminal.wait_for(covers("◀ leaf"));
        terminal.key("ctrl+down");
        terminal.wait_for(|screen| screen.says("Lovely") && !screen.says("› │  • model change"));
        terminal.wait_for(|screen| screen.says("1 turn"));
    };
    at_each_size("tree", || sample(&[]), open, &["esc"]);
}

#[test]
fn a_search_in_the_tree() {
    let open = |terminal: &Terminal| {
        terminal.key("alt+t");
        terminal.wait_for(covers("◀ leaf"));
        terminal.text("week");
        terminal.wait_for(covers("Search: week"));
        terminal.wait_for(|screen| !screen.says("…%"));
    };
    at_each_size("tree-search", || sample(&[]), open, &["esc", "esc"]);
}

#[test]
fn a_label_in_the_tree() {
    let open = |terminal: &Terminal| {
        terminal.key("alt+t");
        terminal.wait_for(covers("◀ leaf"));
        terminal.key("shift+l");
        terminal.wait_for(covers("Label:"));
        terminal.text("short form");
        terminal.wait_for(covers("Label: short form"));
    };
    at_each_size("tree-label", || sample(&[]), open, &["esc", "esc"]);
}

#[test]
fn a_summary_is_offered() {
    let open = |terminal: &Terminal| {
        terminal.key("alt+t");
        terminal.wait_for(covers("◀ leaf"));
        terminal.key("ctrl+down");
        terminal.wait_for(|screen| screen.says("Lovely") && !screen.says("› │  • model change"));
        terminal.key("enter");
        terminal.wait_for(covers("Sum"));
    };
    at_each_size("summary", || sample(&[]), open, &["esc", "esc"]);
}

#[test]
fn the_transcript() {
    let open = |terminal: &Terminal| {
        terminal.key("alt+o");
        terminal.wait_for(covers("turn 5/5"));
        terminal.key("a");
        terminal.wait_for(covers("all 44 entries"));
        terminal.keys(&["alt+up", "alt+up"]);
        terminal.wait_for(covers("turn 4/5"));
    };
    at_each_size("transcript", || sample(&[]), open, &["q"]);
}

#[test]
fn the_messages() {
    let open = |terminal: &Terminal| {
        terminal.text("/fork");
        terminal.wait_for_text("> fork ");
        terminal.key("enter");
        terminal.wait_for(covers("9/10"));
    };
    at_each_size("messages", || sample(&[]), open, &["esc"]);
}

#[test]
fn the_sessions() {
    let world = || {
        let world = sample(&[]);
        library::fill(&world);
        world
    };
    let open = |terminal: &Terminal| {
        terminal.text("/resume");
        terminal.wait_for_text("> resume ");
        terminal.key("enter");
        terminal.wait_for(|screen| covers("1/5")(screen) && !screen.says("reading"));
    };
    at_each_size("sessions", world, open, &["esc"]);
    let open = |terminal: &Terminal| {
        open(terminal);
        terminal.key("tab");
        terminal.wait_for(|screen| covers("/6")(screen) && !screen.says("reading"));
        terminal.text("the");
        terminal.wait_for(covers("Search: the"));
        terminal.wait_for(|screen| screen.says("relevance") && screen.says("1/5"));
    };
    at_each_size("sessions-search", world, open, &["esc", "esc"]);
}

#[test]
fn the_keys() {
    let open = |terminal: &Terminal| {
        terminal.key("f1");
        terminal.wait_for(covers("app.interrupt"));
    };
    at_each_size("hotkeys", || sample(&[]), open, &["esc"]);
}

/// Models that can be used, since no key is needed.
#[allow(clippy::disallowed_methods, reason = "a file that the test makes up")]
fn add_models(world: &World) {
    let mut text = String::from(
        "[providers.lighthouse]\napi = \"openai-completions\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
         api_key = \"none\"\n",
    );
    for (id, window, more) in [
        ("beam-1", 32_000, "cost = { input = 0.25, output = 1.5 }"),
        ("beam-2", 200_000, "thinks = true\nsees = true\ncost = { input = 3, output = 15 }"),
        ("beam-2-with-a-name-that-takes-more-room-than-most-of-the-screens-have", 1_048_576, "thinks = true"),
        ("lamp", 8192, ""),
    ] {
        text += &format!(
            "[[providers.lighthouse.models]]\nid = {id:?}\ncontext_window = {window}\nmax_output = 1000\n{more}\n"
        );
    }
    let folder = world.scratch.path("CONFIG/ramal");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("models.toml"), text).unwrap();
}

#[test]
fn the_models() {
    let world = || {
        let world = sample(&[]);
        add_models(&world);
        world
    };
    let open = |terminal: &Terminal| {
        terminal.key("ctrl+l");
        terminal.wait_for(covers("lighthouse/beam-2"));
    };
    at_each_size("models", world, open, &["esc"]);
}

#[test]
fn the_settings() {
    let open = |terminal: &Terminal| {
        terminal.text("/settings");
        terminal.wait_for_text("> settings ");
        terminal.key("enter");
        terminal.wait_for(covers("1/"));
    };
    at_each_size("settings", || sample(&[]), open, &["esc"]);
}
