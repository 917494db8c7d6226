//! In the whole transcript.

use ramal_testing::terminal::{Screen, Terminal};
use ramal_tui::keys::ActionId;

use super::super::world::{LAST_ANSWER, World};
use super::tree::copied;
use super::{Row, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::LineUp, scenario: line_up },
    Row { action: ActionId::LineDown, scenario: line_down },
    Row { action: ActionId::TranscriptPageUp, scenario: page_up },
    Row { action: ActionId::TranscriptPageDown, scenario: page_down },
    Row { action: ActionId::TranscriptTop, scenario: top },
    Row { action: ActionId::TranscriptBottom, scenario: bottom },
    Row { action: ActionId::TranscriptPreviousSibling, scenario: |key| sibling(key, "right") },
    Row { action: ActionId::TranscriptNextSibling, scenario: |key| sibling("left", key) },
    Row { action: ActionId::TranscriptPreviousTurn, scenario: |key| turns(&[(key, 4), (key, 3)]) },
    Row {
        action: ActionId::TranscriptNextTurn,
        scenario: |key| turns(&[("[", 4), ("[", 3), (key, 4), (key, 5)]),
    },
    Row { action: ActionId::OpenEntry, scenario: open_entry },
    Row { action: ActionId::OpenAll, scenario: open_all },
    Row { action: ActionId::TranscriptFilter, scenario: filter },
    Row { action: ActionId::TranscriptLoadAll, scenario: load_all },
    Row { action: ActionId::TranscriptSearch, scenario: search },
    Row { action: ActionId::NextMatch, scenario: next_match },
    Row { action: ActionId::PreviousMatch, scenario: previous_match },
    Row { action: ActionId::TranscriptLabel, scenario: label },
    Row { action: ActionId::TranscriptCopy, scenario: copy },
    Row { action: ActionId::TranscriptTree, scenario: tree },
    Row { action: ActionId::CloseTranscript, scenario: close },
];

/// What the path begins with.
const BEGIN: &str = "model: anthropic/claude-sonnet-4-5";

/// The whole transcript, at its end.
fn transcript(world: &World, key: &str) -> Terminal {
    transcript_at(world, 100, 40, key)
}

fn transcript_at(world: &World, columns: u16, rows: u16, key: &str) -> Terminal {
    let terminal = world.start(terminal(columns, rows, key));
    terminal.key("alt+o");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("turn 5/5") && screen.says("100 %"));
    terminal
}

/// The same, at its beginning, with all of it read.
fn at_top(world: &World, key: &str) -> Terminal {
    let terminal = transcript(world, key);
    terminal.key("home");
    terminal.wait_for(is_top);
    terminal
}

fn is_top(screen: &Screen<'_>) -> bool {
    screen.is_alternate() && screen.rows().get(2).is_some_and(|row| row.contains(BEGIN))
}

/// What is seen of the transcript, without the margin in which the selection shows.
fn body(screen: &Screen<'_>) -> Vec<String> {
    let rows = screen.rows();
    let body = rows.iter().skip(2).take(rows.len().saturating_sub(3));
    body.map(|row| row.chars().skip(2).collect()).collect()
}

/// Whether `after` is `before` after so many rows have gone at the top.
fn is_scrolled(before: &[String], after: &[String], by: usize) -> bool {
    before.len() == after.len() && before[by..] == after[..after.len() - by]
}

fn line_up(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    let before = body(&terminal.screen());
    terminal.key(key);
    terminal.wait_for(|screen| is_scrolled(&body(screen), &before, 1));
}

fn line_down(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = at_top(&world, key);
    let before = body(&terminal.screen());
    terminal.key(key);
    terminal.wait_for(|screen| is_scrolled(&before, &body(screen), 1));
}

fn page_up(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    let before = body(&terminal.screen());
    terminal.key(key);
    terminal.wait_for(|screen| {
        let after = body(screen);
        (before.len() - 3..before.len()).any(|by| is_scrolled(&after, &before, by))
    });
}

fn page_down(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = at_top(&world, key);
    let before = body(&terminal.screen());
    terminal.key(key);
    terminal.wait_for(|screen| {
        let after = body(screen);
        (before.len() - 3..before.len()).any(|by| is_scrolled(&before, &after, by))
    });
}

fn top(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    terminal.key(key);
    terminal.wait_for(is_top);
}

fn bottom(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = at_top(&world, key);
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("100 %") && screen.says(LAST_ANSWER));
}

/// One key shows the branch beside this one, the other this one again.
fn sibling(back: &str, forward: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, back);
    terminal.key(back);
    terminal.wait_for(|screen| screen.says("another branch") && screen.says("It stands under Fixed."));
    terminal.key(forward);
    terminal.wait_for(|screen| is_selected(screen, "claude-opus-4-5 ‹2/2›"));
}

fn turns(steps: &[(&str, usize)]) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, steps[0].0);
    // What is selected is what the user said, so that the turn before it is the first to go to.
    terminal.key("[");
    terminal.wait_for(|screen| is_selected(screen, "❯ Last thing."));
    for (key, turn) in steps {
        terminal.key(key);
        terminal.wait_for(|screen| screen.says(&format!("turn {turn}/5")) && is_selected(screen, "❯"));
    }
}

fn is_selected(screen: &Screen<'_>, says: &str) -> bool {
    screen.rows().iter().any(|row| row.starts_with('▌') && row.contains(says))
}

/// A call of a tool, and the last line of its output.
const CALL: &str = "✓ bash cargo test && cargo run --quiet -- parse 2026W535";
const OUTPUT: &str = "test result: ok. 22 passed";
/// A line of another one's.
const OTHER: &str = "src/parse/mod.rs:37:";

fn select_call(terminal: &Terminal) {
    terminal.keys(&["up", "up"]);
    terminal.wait_for(|screen| is_selected(screen, CALL));
}

fn open_entry(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    select_call(&terminal);
    terminal.key(key);
    terminal.wait_for(|screen| screen.says(OUTPUT) && !screen.says(OTHER));
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says(OUTPUT));
}

fn open_all(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript_at(&world, 100, 100, key);
    terminal.key(key);
    terminal.wait_for(|screen| screen.says(OUTPUT) && screen.says(OTHER));
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says(OUTPUT) && !screen.says(OTHER));
}

fn filter(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    terminal.wait_for_text("everything ·");
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("without tools ·") && !screen.says(CALL));
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("only what was said ·") && !screen.says("◆ ci-watch"));
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("everything ·") && screen.says(CALL));
}

fn load_all(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript_at(&world, 60, 12, key);
    terminal.wait_for_text("44 entries");
    terminal.key(key);
    terminal.wait_for_text("all 44 entries");
    assert!(terminal.screen().says("100 %"), "it stays where it is");
}

fn search(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    searches(&terminal, key);
}

/// Searches for a word that stands in a call of a tool, an answer above it, and elsewhere.
fn searches(terminal: &Terminal, key: &str) {
    terminal.key(key);
    terminal.wait_for(|screen| screen.rows()[1].starts_with("Search:"));
    terminal.text("hyphens");
    terminal.wait_for_text("Search: hyphens");
    terminal.key("enter");
    terminal
        .wait_for(|screen| screen.says("Search: hyphens ·") && is_found(screen, "standard allows hyphens"));
}

fn is_found(screen: &Screen<'_>, says: &str) -> bool {
    screen.rows().iter().any(|row| row.starts_with('▶') && row.contains(says))
}

const ABOVE: &str = "// With hyphens throughout";

fn next_match(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    searches(&terminal, "/");
    terminal.key("shift+n");
    terminal.wait_for(|screen| is_found(screen, ABOVE));
    terminal.key(key);
    terminal.wait_for(|screen| is_found(screen, "standard allows hyphens"));
}

fn previous_match(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    searches(&terminal, "/");
    terminal.key(key);
    terminal.wait_for(|screen| is_found(screen, ABOVE));
}

fn label(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    terminal.key("up");
    terminal.wait_for(|screen| is_selected(screen, LAST_ANSWER));
    terminal.key(key);
    terminal.wait_for_text("Label:");
    terminal.text("short form");
    terminal.key("enter");
    terminal.wait_for_text("[short form]");
    let last = world.entries().pop().unwrap();
    assert_eq!((&last["type"], &last["label"]), (&"label".into(), &"short form".into()), "{last}");
}

fn copy(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    terminal.key("up");
    terminal.wait_for(|screen| is_selected(screen, LAST_ANSWER));
    terminal.key(key);
    terminal.wait_for_text("Copied");
    assert!(copied(&terminal).starts_with("`2026W535` is read as"));
}

fn tree(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    select_call(&terminal);
    terminal.key(key);
    terminal.wait_for(|screen| {
        screen.says("Tree · week 53")
            && screen
                .rows()
                .iter()
                .any(|row| row.starts_with('›') && row.contains("[bash: cargo test && cargo run"))
    });
}

fn close(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = transcript(&world, key);
    terminal.key(key);
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says(LAST_ANSWER));
}
