//! In the session selector.

use std::fs;

use ramal_testing::terminal::{Screen, Terminal};
use ramal_tui::keys::ActionId;

use super::super::library;
use super::super::world::World;
use super::{Row, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::ToggleScope, scenario: toggle_scope },
    Row { action: ActionId::ToggleSort, scenario: toggle_sort },
    Row { action: ActionId::ToggleNamed, scenario: toggle_named },
    Row { action: ActionId::TogglePath, scenario: toggle_path },
    Row { action: ActionId::Rename, scenario: rename },
    Row { action: ActionId::Delete, scenario: delete },
    Row { action: ActionId::DeleteUnlessSearching, scenario: delete_unless_searching },
];

/// A session with a name, and one without, both of this directory.
const NAMED: &str = "tide tables";
const UNNAMED: &str = "Why does the gull test fail";
/// One of another directory.
const ELSEWHERE: &str = "planks";

fn world() -> World {
    let world = World::with_sample(&[]);
    library::fill(&world);
    world
}

/// The selector, with the sessions of the directory in it.
fn sessions(world: &World, key: &str) -> Terminal {
    let terminal = world.start(terminal(120, 40, key));
    terminal.text("/resume");
    terminal.wait_for_text("> resume ");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("1/5") && screen.says(UNNAMED));
    terminal
}

fn says(screen: &Screen<'_>, text: &str) -> bool {
    screen.is_alternate() && screen.says(text)
}

fn toggle_scope(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    assert!(terminal.screen().says("this directory") && !terminal.screen().says(ELSEWHERE));
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("all projects") && screen.says(ELSEWHERE));
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("this directory") && !screen.says(ELSEWHERE));
}

fn toggle_sort(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    let order = |order: &'static str| {
        move |screen: &Screen<'_>| screen.rows().first().is_some_and(|title| title.contains(order))
    };
    terminal.wait_for(order("threaded"));
    // Copies hang on what they were copied from, and otherwise do not.
    assert!(terminal.screen().says("└─ neap tides only"));
    terminal.key(key);
    terminal.wait_for(order("recent"));
    assert!(!terminal.screen().says("└─"));
    // What the search fits best is the last of the orders; without a search it is that of before.
    terminal.key(key);
    terminal.key(key);
    terminal.wait_for(order("threaded"));
}

fn toggle_named(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    terminal.key(key);
    terminal.wait_for(|screen| says(screen, NAMED) && !screen.says(UNNAMED));
    terminal.key(key);
    terminal.wait_for(|screen| says(screen, UNNAMED));
}

fn toggle_path(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    let shows = |screen: &Screen<'_>| {
        screen.rows().iter().any(|row| row.contains(UNNAMED) && row.contains("gull.jsonl"))
    };
    assert!(!shows(&terminal.screen()));
    terminal.key(key);
    terminal.wait_for(shows);
    terminal.key(key);
    terminal.wait_for(|screen| says(screen, UNNAMED) && !shows(screen));
}

/// Goes to the last session, which is `koyomi`.
fn last(terminal: &Terminal) {
    terminal.key("end");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.starts_with('›') && row.contains("暦")));
}

fn rename(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    last(&terminal);
    terminal.key(key);
    terminal.wait_for_text("Enter save");
    terminal.key("ctrl+u");
    terminal.text("months");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.starts_with("› months ")));
    let log = fs::read_to_string(library::file(&world, "koyomi")).unwrap();
    let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["name"]), (&"session_info".into(), &"months".into()), "{log}");
}

fn delete(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    deletes(&world, &terminal, key);
}

/// Deletes the last session, once with Escape and once in earnest.
fn deletes(world: &World, terminal: &Terminal, key: &str) {
    last(terminal);
    let file = library::file(world, "koyomi");
    for (answer, is_there) in [("esc", true), ("enter", false)] {
        terminal.key(key);
        terminal.wait_for_text("Move to the trash?");
        terminal.key(answer);
        terminal.wait_for(|screen| !screen.says("Move to the trash?") && screen.says("暦") == is_there);
        assert_eq!(file.exists(), is_there);
    }
}

fn delete_unless_searching(key: &str) {
    let world = world();
    let terminal = sessions(&world, key);
    terminal.text("tide tables");
    terminal.wait_for_text("Search: tide tables");
    // In a search it takes a word away.
    terminal.key(key);
    terminal.wait_for(|screen| screen.rows()[1].trim_end() == "Search: tide");
    terminal.key("esc");
    terminal.wait_for(|screen| says(screen, UNNAMED));
    deletes(&world, &terminal, key);
}
