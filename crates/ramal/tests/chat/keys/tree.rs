//! In the tree selector.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramal_testing::terminal::{Screen, Terminal};
use ramal_tui::keys::ActionId;

use super::super::support::says;
use super::super::world::{LAST_ANSWER, World};
use super::{Row, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::TreePageUp, scenario: page_up },
    Row { action: ActionId::TreePageDown, scenario: page_down },
    Row { action: ActionId::FoldOrUp, scenario: fold_or_up },
    Row { action: ActionId::UnfoldOrDown, scenario: unfold_or_down },
    Row { action: ActionId::ToggleFold, scenario: toggle_fold },
    Row { action: ActionId::UnfoldAll, scenario: unfold_all },
    Row {
        action: ActionId::PreviousTurn,
        scenario: |key| jumps("", &[(key, LAST_ANSWER), (key, "Wrong guess"), (key, "user: Last thing")]),
    },
    Row {
        action: ActionId::NextTurn,
        scenario: |key| {
            jumps("home", &[(key, "assistant: Week dates have"), (key, "assistant: The year is not lost")])
        },
    },
    Row {
        action: ActionId::PreviousFork,
        scenario: |key| jumps("end", &[(key, "assistant: December is right")]),
    },
    Row { action: ActionId::NextFork, scenario: |key| jumps("", &[(key, "assistant: December is right")]) },
    Row {
        action: ActionId::PreviousLabel,
        scenario: |key| jumps("", &[(key, "[day numbers]"), (key, "[two cures]")]),
    },
    Row { action: ActionId::NextLabel, scenario: |key| jumps("", &[(key, "[works, but ugly]")]) },
    Row { action: ActionId::ChooseSummarising, scenario: choose_summarising },
    Row { action: ActionId::EditLabel, scenario: edit_label },
    Row { action: ActionId::ToggleLabelTimes, scenario: toggle_label_times },
    Row { action: ActionId::CopyEntry, scenario: copy_entry },
    Row { action: ActionId::EraseSearch, scenario: erase_search },
    Row { action: ActionId::FilterDefault, scenario: filter_default },
    Row { action: ActionId::FilterNoTools, scenario: |key| toggles(key, "no-tools") },
    Row { action: ActionId::FilterUserOnly, scenario: |key| toggles(key, "user-only") },
    Row { action: ActionId::FilterLabeledOnly, scenario: |key| toggles(key, "labeled-only") },
    Row { action: ActionId::FilterAll, scenario: |key| toggles(key, "all") },
    Row { action: ActionId::SetFilterNoTools, scenario: |key| sets(key, "no-tools") },
    Row { action: ActionId::SetFilterUserOnly, scenario: |key| sets(key, "user-only") },
    Row { action: ActionId::SetFilterLabeledOnly, scenario: |key| sets(key, "labeled-only") },
    Row { action: ActionId::SetFilterAll, scenario: |key| sets(key, "all") },
    Row {
        action: ActionId::NextFilter,
        scenario: |key| cycles(key, &["no-tools", "user-only", "labeled-only", "all", ""]),
    },
    Row {
        action: ActionId::PreviousFilter,
        scenario: |key| cycles(key, &["all", "labeled-only", "user-only", "no-tools", ""]),
    },
];

/// The tree, with the leaf selected.
fn tree(world: &World, key: &str) -> Terminal {
    let terminal = world.start(terminal(100, 40, key));
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && is_selected(screen, "◀ leaf"));
    terminal
}

fn is_selected(screen: &Screen<'_>, says: &str) -> bool {
    screen.rows().iter().any(|row| row.starts_with('›') && row.contains(says))
}

#[track_caller]
fn wait_until_selected(terminal: &Terminal, says: &str) {
    terminal.wait_for(|screen| is_selected(screen, says));
}

/// The row that is selected, counted from 1.
fn number(screen: &Screen<'_>) -> usize {
    let title = screen.rows().into_iter().next().unwrap_or_default();
    let (number, _) = title.rsplit(' ').next().and_then(|count| count.split_once('/')).unwrap_or_default();
    number.parse().unwrap_or_default()
}

/// Rows of the tree that are seen, without the one that stays when a page is turned.
fn page(screen: &Screen<'_>) -> usize {
    screen.rows().iter().position(|row| row.starts_with('─')).unwrap() - 2 - 1
}

fn page_up(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    let (at, page) = (number(&terminal.screen()), page(&terminal.screen()));
    assert!(at > page, "{at} {page}");
    terminal.key(key);
    terminal.wait_for(|screen| number(screen) == at - page);
}

fn page_down(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key("home");
    terminal.wait_for(|screen| number(screen) == 1);
    let page = page(&terminal.screen());
    terminal.key(key);
    terminal.wait_for(|screen| number(screen) == 1 + page);
}

/// Where the branch of the leaf begins.
const BEGIN: &str = "user: Not released yet";

fn fold_or_up(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key(key);
    wait_until_selected(&terminal, BEGIN);
    assert!(!terminal.screen().says("⊞"));
    terminal.key(key);
    wait_until_selected(&terminal, "⊞");
    assert!(is_selected(&terminal.screen(), "◁ leaf inside"));
}

fn unfold_or_down(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = folded(&world, key);
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("⊞"));
    wait_until_selected(&terminal, BEGIN);
    // What is not folded is left for what comes next.
    let at = number(&terminal.screen());
    terminal.key(key);
    terminal.wait_for(|screen| number(screen) > at + 1);
}

/// The tree with the branch of the leaf folded, and its beginning selected.
fn folded(world: &World, key: &str) -> Terminal {
    let terminal = tree(world, key);
    terminal.key("alt+left");
    wait_until_selected(&terminal, BEGIN);
    terminal.key("alt+left");
    wait_until_selected(&terminal, "⊞");
    terminal
}

fn toggle_fold(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = folded(&world, key);
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("⊞"));
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("⊞"));
    assert!(is_selected(&terminal.screen(), BEGIN));
}

fn unfold_all(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = folded(&world, key);
    terminal.key("end");
    terminal.wait_for(|screen| !is_selected(screen, BEGIN));
    assert!(terminal.screen().says("⊞"));
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("⊞"));
}

/// Goes somewhere, or stays where the leaf is, and then from row to row.
fn jumps(from: &str, steps: &[(&str, &str)]) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, steps[0].0);
    if !from.is_empty() {
        terminal.key(from);
        terminal.wait_for(|screen| !is_selected(screen, "◀ leaf"));
    }
    for (key, says) in steps {
        terminal.key(key);
        wait_until_selected(&terminal, says);
    }
}

fn choose_summarising(key: &str) {
    let world = World::with_sample(&[says("## Goal\nThe short form is read, too.")]);
    let terminal = tree(&world, key);
    terminal.key("ctrl+down");
    wait_until_selected(&terminal, "December is right");
    terminal.key(key);
    // Nothing is asked.
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("The short form is read, too."));
    let last = world.entries().pop().unwrap();
    assert_eq!((&last["type"], &last["fromId"]), (&"branch_summary".into(), &"50e74b35".into()), "{last}");
}

fn edit_label(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key("up");
    wait_until_selected(&terminal, LAST_ANSWER);
    terminal.key(key);
    terminal.wait_for_text("Label:");
    terminal.text("short form");
    terminal.key("enter");
    wait_until_selected(&terminal, "[short form]");
    let last = world.entries().pop().unwrap();
    assert_eq!((&last["type"], &last["label"]), (&"label".into(), &"short form".into()), "{last}");
}

fn toggle_label_times(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key("home");
    terminal.wait_for_text("[two cures] ");
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("[two cures ") && !screen.says("[two cures]"));
    terminal.key(key);
    terminal.wait_for_text("[two cures] ");
}

fn copy_entry(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key("home");
    wait_until_selected(&terminal, "almanac parse 2026-W53-5");
    terminal.key(key);
    terminal.wait_for_text("Copied");
    assert!(copied(&terminal).starts_with("`almanac parse 2026-W53-5`"));
}

/// What was given to the clipboard last.
pub(super) fn copied(terminal: &Terminal) -> String {
    let written = terminal.recording().output();
    let written = String::from_utf8_lossy(&written);
    let (_, last) = written.rsplit_once("\x1b]52;c;").unwrap();
    let text = last.split(['\x07', '\x1b']).next().unwrap();
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

fn erase_search(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.text("week");
    let searches = |words: &'static str| move |screen: &Screen<'_>| screen.rows()[1] == words;
    terminal.wait_for(searches("Search: week"));
    terminal.key(key);
    terminal.wait_for(searches("Search: wee"));
}

fn filter_default(key: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key("alt+l");
    terminal.wait_for(|screen| is_filtered(screen, "labeled-only"));
    terminal.key(key);
    terminal.wait_for(|screen| is_filtered(screen, "") && screen.says("[edit:"));
}

/// What filters are called.
const FILTERS: [&str; 4] = ["no-tools", "user-only", "labeled-only", "all"];

/// Whether the title names that filter; none has no name.
fn is_filtered(screen: &Screen<'_>, name: &str) -> bool {
    let title = screen.rows().into_iter().next().unwrap_or_default();
    let mut names = title.split_whitespace().filter(|word| FILTERS.contains(word));
    if name.is_empty() { names.next().is_none() } else { names.any(|word| word == name) }
}

fn toggles(key: &str, name: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key(key);
    terminal.wait_for(|screen| is_filtered(screen, name));
    terminal.key(key);
    terminal.wait_for(|screen| is_filtered(screen, "") && screen.says("[edit:"));
}

fn sets(key: &str, name: &str) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    terminal.key("alt+d");
    terminal.key(key);
    terminal.wait_for(|screen| is_filtered(screen, name));
    // Once more is the same.
    terminal.key(key);
    terminal.key("home");
    terminal.wait_for(|screen| number(screen) == 1);
    assert!(is_filtered(&terminal.screen(), name));
}

fn cycles(key: &str, names: &[&str]) {
    let world = World::with_sample(&[]);
    let terminal = tree(&world, key);
    for name in names {
        terminal.key(key);
        terminal.wait_for(|screen| is_filtered(screen, name));
    }
}
