//! In lists: of models, and of messages to go back to.

use ramal_testing::terminal::{Screen, Terminal};
use ramal_tui::keys::ActionId;

use super::super::support::says;
use super::{Row, World, ask, leave, put, say, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::Up, scenario: |key| moves(key, &["down", "down"], 3, |at| at == 2) },
    Row { action: ActionId::Down, scenario: |key| moves(key, &["down"], 2, |at| at == 3) },
    Row {
        action: ActionId::PageUp,
        scenario: |key| moves(key, &["end"], COUNT, |at| (3..COUNT - 3).contains(&at)),
    },
    Row { action: ActionId::PageDown, scenario: |key| moves(key, &[], 1, |at| (4..COUNT - 2).contains(&at)) },
    Row { action: ActionId::First, scenario: |key| moves(key, &["down", "down"], 3, |at| at == 1) },
    Row { action: ActionId::Last, scenario: |key| moves(key, &["down"], 2, |at| at == COUNT) },
    Row { action: ActionId::TogglePreview, scenario: toggle_preview },
    Row { action: ActionId::PreviewUp, scenario: preview_up },
    Row { action: ActionId::PreviewDown, scenario: preview_down },
    Row { action: ActionId::Confirm, scenario: confirm },
    Row { action: ActionId::Cancel, scenario: cancel },
];

const COUNT: usize = 60;

/// A world with so many models, and the list of them.
fn models(key: &str) -> (World, Terminal) {
    let world = World::new(&[]);
    let mut file = String::from(
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"none\"\n",
    );
    for number in 1..=COUNT {
        file += &format!(
            "[[providers.mine.models]]\nid = \"m{number:02}\"\ncontext_window = 10000\nmax_output = 1000\n"
        );
    }
    put(&world, "CONFIG/ramal/models.toml", &file);
    let terminal = world.start(terminal(100, 30, key));
    terminal.key("ctrl+l");
    terminal.wait_for(|screen| screen.is_alternate() && selected(screen) == Some(1));
    (world, terminal)
}

/// Which row is selected, as the title says.
fn selected(screen: &Screen<'_>) -> Option<usize> {
    let end = format!("/{COUNT}");
    screen.rows().first()?.strip_suffix(&*end)?.rsplit(' ').next()?.parse().ok()
}

/// Goes to a row of the list of models with keys that lead there from the first, and presses the key.
#[track_caller]
fn moves(key: &str, way: &[&str], from: usize, is_there: fn(usize) -> bool) {
    let (_world, mut terminal) = models(key);
    terminal.keys(way);
    terminal.wait_for(|screen| selected(screen) == Some(from));
    terminal.key(key);
    terminal.wait_for(|screen| selected(screen).is_some_and(is_there));
    // What is told of it below is of the same model.
    let at = selected(&terminal.screen()).unwrap();
    terminal.wait_for(|screen| screen.text().matches(&format!("mine/m{at:02}")).count() == 2);
    close(&mut terminal);
}

fn close(terminal: &mut Terminal) {
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(terminal);
}

/// What the preview of a message begins with.
const PREVIEW: &str = "on the active path";

/// The list of messages, with one in it that is longer than its preview.
fn messages(key: &str) -> (World, Terminal) {
    let world = World::new(&[says("Long indeed.")]);
    let terminal = world.start(terminal(100, 30, key));
    terminal.paste(&(1..=80).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n"));
    ask(&terminal, "", "Long indeed.");
    say(&terminal, "/fork");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("line 1 line 2"));
    // The message, whatever else is offered below it.
    terminal.key("home");
    terminal.wait_for_text(PREVIEW);
    (world, terminal)
}

fn toggle_preview(key: &str) {
    let (_world, mut terminal) = messages(key);
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says(PREVIEW) && screen.says("Begin a session"));
    terminal.key(key);
    terminal.wait_for_text(PREVIEW);
    close(&mut terminal);
}

fn preview_up(key: &str) {
    let (_world, mut terminal) = messages(key);
    terminal.key("alt+j");
    terminal.wait_for(|screen| !screen.says(PREVIEW));
    terminal.key(key);
    terminal.wait_for_text(PREVIEW);
    close(&mut terminal);
}

fn preview_down(key: &str) {
    let (_world, mut terminal) = messages(key);
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says(PREVIEW) && screen.rows().iter().any(|row| row == "line 11"));
    close(&mut terminal);
}

fn confirm(key: &str) {
    let (_world, mut terminal) = models(key);
    terminal.text("m07");
    terminal.wait_for_text("Search: m07");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("mine/m07"));
    leave(&mut terminal);
}

fn cancel(key: &str) {
    let (_world, mut terminal) = models(key);
    terminal.text("m07");
    terminal.wait_for_text("Search: m07");
    // First the search is given up, then the list.
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && !screen.says("Search:"));
    terminal.key(key);
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("replay/answers.jsonl"));
    leave(&mut terminal);
}
