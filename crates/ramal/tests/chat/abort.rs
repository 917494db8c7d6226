//! Escape ends what runs, whatever that is; what has come is kept, and the log is whole.

use ramal_testing::terminal::{Options, Terminal};
use serde_json::{Value, json};

use super::doing::{eventually, say, settings, wait_until_idle};
use super::support::{calls, dawdles, says};
use super::world::{World, leave};

/// Says something, presses Escape once `shows` is there, and answers what was stored last.
#[track_caller]
fn end_when(world: &World, terminal: &mut Terminal, shows: &str) -> Value {
    say(terminal, "Do it.");
    terminal.wait_for(|screen| screen.says(shows) && screen.says("ends it"));
    terminal.key("esc");
    wait_until_idle(terminal);
    // One can go on.
    world.scratch.record(&[says("Yes?")]);
    let last = world.entries().pop().unwrap();
    leave(terminal);
    last
}

#[test]
fn while_the_model_thinks() {
    let thinks = json!({"events": [{"thinking": "I wonder."}, {"after": 600_000, "text": "So."}]});
    let world = World::new(&[thinks]);
    let mut terminal = world.start(Options::new(80, 24));
    let last = end_when(&world, &mut terminal, "I wonder.");
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
    assert!(last.to_string().contains("I wonder."), "{last}");
}

#[test]
fn before_anything_has_come() {
    let world = World::new(&[json!({"events": [{"after": 600_000, "text": "So."}]})]);
    let mut terminal = world.start(Options::new(80, 24));
    let last = end_when(&world, &mut terminal, "Working");
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
}

#[test]
fn while_it_writes() {
    let world = World::new(&[dawdles("It begins.")]);
    let mut terminal = world.start(Options::new(80, 24));
    let last = end_when(&world, &mut terminal, "It begins.");
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
    assert!(last.to_string().contains("It begins."), "{last}");
}

#[test]
fn while_it_writes_a_call_of_a_tool() {
    let call = json!({"id": "t1", "name": "bash", "arguments": {"command": "touch never made"}});
    let world =
        World::new(&[json!({"events": [{"text": "I make it."}, {"toolCall": call, "pace": 600_000}]})]);
    let mut terminal = world.start_with(&["--yes"], Options::new(80, 24));
    let last = end_when(&world, &mut terminal, "bash");
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
    assert!(!world.scratch.path("never").exists());
}

#[test]
fn while_a_tool_runs() {
    let world = World::new(&[calls("bash", json!({"command": "echo $$ > pid; echo begun; sleep 600"}))]);
    let mut terminal = world.start_with(&["--yes"], Options::new(80, 24));
    say(&terminal, "Do it.");
    let pid = world.scratch.pid();
    terminal.wait_for_text("ends it");
    terminal.key("esc");
    wait_until_idle(&terminal);
    // SAFETY: it asks whether there is such a process, and does nothing to it.
    eventually("the end of the command", || (unsafe { libc::kill(pid, 0) } != 0).then_some(()));
    leave(&mut terminal);
    // Whoever asked for it is told what became of it.
    let result = world.entries().into_iter().find(|entry| entry["message"]["role"] == "toolResult").unwrap();
    assert_eq!(result["message"]["isError"], true, "{result}");
    assert!(result.to_string().contains("begun"), "{result}");
}

#[test]
fn while_it_waits_to_ask_again() {
    let overloaded = json!({"error": {"kind": "overloaded", "message": "Too many ask"}});
    let world = World::new(&[overloaded, says("Never asked for.")]);
    settings(&world.scratch, "[retry]\nbaseDelayMs = 600000\nmaxDelayMs = 600000\n");
    let mut terminal = world.start(Options::new(80, 24));
    let last = end_when(&world, &mut terminal, "Too many ask");
    assert!(last.to_string().contains("Too many ask"), "{last}");
}

#[test]
fn while_a_permission_is_asked_for() {
    let world = World::new(&[calls("bash", json!({"command": "touch made"})), dawdles("As you like.")]);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "Do it.");
    terminal.wait_for_text("Run bash?");
    // To the question it means no, and then it ends the turn.
    terminal.key("esc");
    terminal.wait_for_text("As you like.");
    terminal.key("esc");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert!(!world.scratch.path("made").exists());
    let last = world.entries().pop().unwrap();
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
}

#[test]
fn while_a_branch_is_summed_up() {
    let world = World::with_sample(&[dawdles("## Goal")]);
    let before = world.entries().len();
    let mut terminal = world.start(Options::new(100, 40));
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    // To another branch, found by what was said there.
    terminal.text("not proud");
    terminal.wait_for(|screen| {
        screen.rows().iter().any(|row| row.starts_with('›') && row.contains("I am not proud"))
    });
    let selected = selected_row(&terminal);
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("2");
    terminal.wait_for_text("Summing up the branch that is left");
    terminal.key("esc");
    // One is back in the tree, at the same row.
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("not proud"));
    assert_eq!(selected_row(&terminal), selected);
    assert!(world.entries().len() <= before + 1);
    // From there one can go all the same. The model may not even have been asked the first time.
    let answer = says("## Goal\nThe second time.");
    world.scratch.record(&[answer.clone(), answer]);
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("2");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("The second time."));
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

/// What the selected row says.
#[track_caller]
fn selected_row(terminal: &Terminal) -> String {
    let rows = terminal.screen().rows();
    rows.into_iter().find(|row| row.starts_with('›')).unwrap()
}

#[test]
fn while_it_is_made_shorter() {
    let world = World::new(&[says(&"long ".repeat(60_000)), says("Short."), dawdles("## Goal")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, "Be long.");
    terminal.wait_for_text("long long");
    wait_until_idle(&terminal);
    say(&terminal, "Be short.");
    terminal.wait_for_text("Short.");
    wait_until_idle(&terminal);
    let before = world.log();
    say(&terminal, "/compact");
    terminal.wait_for_text("Making the conversation shorter");
    terminal.key("esc");
    wait_until_idle(&terminal);
    terminal.wait_for_text("aborted");
    leave(&mut terminal);
    assert_eq!(world.log(), before);
}

#[test]
fn while_something_is_asked_beside() {
    let world = World::with_sample(&[dawdles("A week has")]);
    let mut terminal = world.start(Options::new(100, 40));
    let before = world.log();
    say(&terminal, "/btw how long is a week?");
    terminal.wait_for_text("A week has");
    terminal.key("esc");
    terminal.wait_for_text("nothing of it is kept");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert_eq!(world.log(), before);
}

#[test]
fn while_a_command_of_ones_own_runs() {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "!echo $$ > pid; echo begun; sleep 600");
    let pid = world.scratch.pid();
    terminal.wait_for_text("ends it");
    terminal.key("esc");
    wait_until_idle(&terminal);
    // SAFETY: it asks whether there is such a process, and does nothing to it.
    eventually("the end of the command", || (unsafe { libc::kill(pid, 0) } != 0).then_some(()));
    leave(&mut terminal);
    let last = world.entries().pop().unwrap();
    assert_eq!(
        (&last["message"]["role"], &last["message"]["cancelled"]),
        (&"bashExecution".into(), &true.into())
    );
    assert!(last["message"]["output"].as_str().unwrap().contains("begun"), "{last}");
}
