//! Titles of new sessions over `ramal rpc`: the real program, a server on the loopback interface.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use serde_json::{Value, json};
use support::*;

/// A model that speaks OpenAI's chat completions. Whoever asks for a title is told from the rest by the
/// tools that it does not have.
#[derive(Clone)]
struct Model {
    state: Arc<(Mutex<State>, Condvar)>,
    port: u16,
}

#[derive(Default)]
struct State {
    answers: VecDeque<Value>,
    titles: VecDeque<&'static str>,
    /// Titles wait until this is so.
    lets_titles_go: bool,
    /// The conversations that titles were asked for.
    asked: Vec<String>,
    /// Titles that were sent, the last byte included.
    sent: usize,
}

impl Model {
    /// `answers` are deltas of whole answers.
    fn start(answers: &[Value], titles: &[&'static str]) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State {
            answers: answers.iter().cloned().collect(),
            titles: titles.iter().copied().collect(),
            lets_titles_go: true,
            ..State::default()
        };
        let model = Model { state: Arc::new((Mutex::new(state), Condvar::new())), port };
        let serving = model.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (serving, stream) = (serving.clone(), stream.unwrap());
                // A client that is gone is nobody's failure.
                std::thread::spawn(move || drop(serving.answer(stream)));
            }
        });
        model
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let request = read_request(&mut stream)?;
        let is_title = request.get("tools").is_none();
        let delta = {
            let (state, changed) = &*self.state;
            let mut state = state.lock().unwrap();
            if is_title {
                state
                    .asked
                    .push(request["messages"].as_array().unwrap().last().unwrap()["content"].to_string());
                let title = state.titles.pop_front();
                changed.notify_all();
                state = changed.wait_while(state, |state| !state.lets_titles_go).unwrap();
                drop(state);
                json!({"content": title.unwrap_or("One too many")})
            } else {
                state.answers.pop_front().unwrap_or_else(|| json!({"content": "Nothing more."}))
            }
        };
        let reason = if delta.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
        let chunk = |delta: &Value, reason: Option<&str>| json!({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
            chunk(&delta, None),
            chunk(&json!({}), Some(reason))
        )?;
        stream.flush()?;
        drop(stream);
        if is_title {
            self.change(|state| state.sent += 1);
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.0.lock().unwrap());
        self.state.1.notify_all();
    }

    fn hold_titles(&self) {
        self.change(|state| state.lets_titles_go = false);
    }

    fn let_titles_go(&self) {
        self.change(|state| state.lets_titles_go = true);
    }

    /// The conversations that titles were asked for, once there are so many.
    #[track_caller]
    fn wait_for_asked(&self, count: usize) -> Vec<String> {
        self.wait(|state| state.asked.len() >= count);
        self.asked()
    }

    #[track_caller]
    fn wait_for_sent(&self, count: usize) {
        self.wait(|state| state.sent >= count);
    }

    #[track_caller]
    fn wait(&self, is: impl Fn(&State) -> bool) {
        let (state, changed) = &*self.state;
        let state = state.lock().unwrap();
        let waited = changed.wait_timeout_while(state, TOO_LONG, |state| !is(state)).unwrap();
        assert!(!waited.1.timed_out(), "it does not come");
    }

    fn asked(&self) -> Vec<String> {
        self.state.0.lock().unwrap().asked.clone()
    }
}

fn read_request(stream: &mut TcpStream) -> std::io::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

fn text(text: &str) -> Value {
    json!({ "content": text })
}

/// A folder whose settings name the model.
#[allow(clippy::disallowed_methods, reason = "the settings are made up here")]
fn scratch(model: &Model, settings: &str) -> Scratch {
    let scratch = Scratch::new(&[]);
    let folder = scratch.path("CONFIG/ramal");
    fs::create_dir_all(&folder).unwrap();
    let models = format!(
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://127.0.0.1:{}/v1\"\napi_key = \"none\"\n\
         [[providers.mine.models]]\nid = \"small\"\ncontext_window = 100000\nmax_output = 1000\n",
        model.port
    );
    fs::write(folder.join("models.toml"), models).unwrap();
    fs::write(folder.join("settings.toml"), settings).unwrap();
    scratch
}

fn start(scratch: &Scratch) -> Program {
    Program::start(scratch.command().args(["--model", "mine/small", "--yes"]))
}

/// The entries of a log.
fn entries(path: impl AsRef<Path>) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn titles(path: impl AsRef<Path>) -> Vec<Value> {
    entries(path).into_iter().filter(|entry| entry["type"] == "title_change").collect()
}

fn state(program: &mut Program) -> Value {
    program.ok(json!({"type": "get_state"}))
}

/// Waits for the title, which may have come already.
#[track_caller]
fn titled(program: &mut Program, name: &str) {
    let is = |line: &Value| line["type"] == "session_info_changed";
    let told = match program.passed.iter().position(is) {
        Some(at) => program.passed.remove(at),
        None => program.wait(is),
    };
    assert_eq!(told, json!({"type": "session_info_changed", "name": name}));
    assert_eq!(state(program)["sessionName"], name);
}

#[test]
fn a_new_session_gets_one_title() {
    let model = Model::start(&[text("One."), text("Two."), text("Three.")], &["\"Counting.\""]);
    let scratch = scratch(&model, "");
    let mut program = start(&scratch);
    program.say("Count for me");
    titled(&mut program, "Counting");
    program.say("Go on");
    program.close();
    let asked = model.asked();
    assert!(asked.len() == 1 && asked[0].contains("Count for me"), "{asked:?}");
    let title = titles(scratch.path("session.jsonl"));
    assert_eq!(title.len(), 1);
    assert_eq!((&title[0]["title"], &title[0]["source"]), (&json!("Counting"), &json!("auto")));
    // A session that is there already is not new, whether it has a name or not.
    let mut program = start(&scratch);
    assert_eq!(state(&mut program)["sessionName"], "Counting");
    program.say("And on");
    program.close();
    let said: Vec<String> = scratch.said().into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["Count for me", "One.", "Go on", "Two.", "And on", "Three."]);
    assert_eq!(model.asked().len(), 1);
}

#[test]
fn nobody_is_asked_where_no_title_is_wanted() {
    let model = Model::start(&[], &[]);
    let off = scratch(&model, "autoTitle = false\n");
    let on = scratch(&model, "");
    let named = scratch(&model, "");
    for (scratch, arguments) in [(&off, &[][..]), (&on, &["--no-title"]), (&named, &[])] {
        let mut command = scratch.command();
        let mut program = Program::start(command.args(["--model", "mine/small"]).args(arguments));
        if std::ptr::eq(scratch, &named) {
            program.ok(json!({"type": "set_session_name", "name": "Mine"}));
        }
        program.say("First");
        program.say("Second");
        program.close();
        assert!(titles(scratch.path("session.jsonl")).is_empty());
    }
    // Nothing is kept of this one.
    let mut program = Program::start(on.bare().args(["rpc", "--no-session", "--model", "mine/small"]));
    program.say("First");
    program.close();
    // `ramal -p` has the same option.
    let mut command = on.bare();
    command.args(["-p", "x", "--session", "other.jsonl", "--model", "mine/small", "--no-title"]);
    assert!(command.stdin(std::process::Stdio::null()).output().unwrap().status.success());
    assert!(on.path("other.jsonl").exists());
    assert_eq!(model.asked(), Vec::<String>::new());
}

#[test]
fn a_title_that_comes_during_a_turn_waits_for_its_end() {
    let run = json!({"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function":
        {"name": "bash", "arguments": "{\"command\":\"until [ -e go ]; do sleep 0.01; done\"}"}}]});
    let model = Model::start(&[text("One."), run, text("Two.")], &["Counting"]);
    model.hold_titles();
    let scratch = scratch(&model, "");
    let mut program = start(&scratch);
    program.say("First");
    model.wait_for_asked(1);
    // A second prompt before the title is no reason to ask again.
    program.ok(json!({"type": "prompt", "message": "Second"}));
    program.event("tool_execution_start");
    model.let_titles_go();
    model.wait_for_sent(1);
    // It may take a moment to get through; whoever stored it at once would do so by now.
    for _ in 0..50 {
        assert_eq!(state(&mut program).get("sessionName"), None);
    }
    fs::File::create(scratch.path("go")).unwrap();
    program.event("agent_end");
    titled(&mut program, "Counting");
    program.close();
    let entries = entries(scratch.path("session.jsonl"));
    let at = entries.iter().position(|entry| entry["type"] == "title_change").unwrap();
    assert_eq!(text_of(&entries[at - 1]["message"]), "Two.", "behind the turn");
    assert_eq!(entries[at]["parentId"], entries[at - 1]["id"]);
    assert_eq!(model.asked().len(), 1);
}

#[test]
fn a_title_that_comes_too_late_is_dropped() {
    let model = Model::start(&[], &["Late", "Later", "In time"]);
    model.hold_titles();
    let scratch = scratch(&model, "");
    let mut program = start(&scratch);
    program.say("First");
    model.wait_for_asked(1);
    // The user has named it meanwhile.
    program.ok(json!({"type": "set_session_name", "name": "Mine"}));
    titled(&mut program, "Mine");
    model.let_titles_go();
    model.wait_for_sent(1);
    program.say("Second");
    assert_eq!(state(&mut program)["sessionName"], "Mine");

    // The session was left meanwhile; the new one gets its own.
    model.hold_titles();
    program.ok(json!({"type": "new_session"}));
    program.say("Third");
    model.wait_for_asked(2);
    let left = string(&state(&mut program)["sessionFile"]);
    program.ok(json!({"type": "new_session"}));
    program.say("Fourth");
    let asked = model.wait_for_asked(3);
    assert!(asked[1].contains("Third") && asked[2].contains("Fourth"), "{asked:?}");
    let there = string(&state(&mut program)["sessionFile"]);
    model.let_titles_go();
    titled(&mut program, "In time");
    model.wait_for_sent(3);
    program.say("Fifth");
    program.close();
    assert_eq!(titles(&there)[0]["title"], "In time");
    for file in [scratch.path("session.jsonl"), left.into()] {
        assert!(titles(file).is_empty());
    }
}

#[test]
fn copies_have_the_name_they_bring() {
    let model = Model::start(&[], &["Of the first", "Of the copy"]);
    let scratch = scratch(&model, "");
    let mut program = start(&scratch);
    program.say("First");
    titled(&mut program, "Of the first");
    program.ok(json!({"type": "clone"}));
    program.say("In the clone");
    assert_eq!(state(&mut program)["sessionName"], "Of the first");
    program.close();
    assert_eq!(model.asked().len(), 1);

    // One without a name gets one.
    fs::remove_file(scratch.path("session.jsonl")).unwrap();
    let mut command = scratch.command();
    let mut program = Program::start(command.args(["--model", "mine/small"]));
    let entry = json!({"type": "message", "message": {"role": "user", "content": "Old"}});
    program.ok(json!({"type": "append", "entry": entry}));
    program.close();
    let mut program = start(&scratch);
    program.say("Goes on");
    assert_eq!(model.asked().len(), 1, "a session that was there is not new");
    program.ok(json!({"type": "clone"}));
    program.say("In the copy");
    titled(&mut program, "Of the copy");
    program.close();
    let asked = model.asked();
    assert!(asked.len() == 2 && asked[1].contains("In the copy"), "{asked:?}");
}

#[test]
fn a_title_that_is_about_to_come_is_waited_for_at_the_end() {
    for over_rpc in [true, false] {
        let model = Model::start(&[], &["About to come"]);
        model.hold_titles();
        let scratch = scratch(&model, "");
        let mut child = if over_rpc {
            let mut program = start(&scratch);
            program.say("First");
            program.input.take();
            program
        } else {
            let mut command = scratch.bare();
            command.args(["-p", "First", "--session", "session.jsonl", "--model", "mine/small"]);
            Program::start(command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()))
        };
        model.wait_for_asked(1);
        model.let_titles_go();
        assert!(child.child.wait().unwrap().success());
        let titles = titles(scratch.path("session.jsonl"));
        assert!(titles.len() == 1 && titles[0]["title"] == "About to come", "{titles:?}");
    }
}

#[test]
fn the_end_does_not_wait_for_ever_for_a_title() {
    let model = Model::start(&[], &["Never"]);
    model.hold_titles();
    let scratch = scratch(&model, "");
    let mut program = start(&scratch);
    program.say("First");
    model.wait_for_asked(1);
    let begun = Instant::now();
    program.input.take();
    while program.child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < TOO_LONG, "it waits");
        std::thread::yield_now();
    }
    assert!(titles(scratch.path("session.jsonl")).is_empty());
}

#[test]
fn a_title_moves_nobody() {
    let model = Model::start(&[], &["A walk", "Another walk"]);
    // To before the first entry, where a title would stand in front of what is said next.
    model.hold_titles();
    let scratch = scratch(&model, "");
    let mut program = start(&scratch);
    program.say("First");
    model.wait_for_asked(1);
    let first = program.ok(json!({"type": "get_fork_messages"}))["messages"][0]["entryId"].clone();
    program.ok(json!({"type": "navigate_tree", "targetId": first}));
    model.let_titles_go();
    titled(&mut program, "A walk");
    assert_eq!(state(&mut program)["leafId"], json!(null));
    program.close();
    let mut program = start(&scratch);
    assert_eq!(state(&mut program)["leafId"], json!(null));
    program.close();

    // To the middle of a path: whoever comes back is on it still.
    fs::remove_file(scratch.path("session.jsonl")).unwrap();
    model.hold_titles();
    let mut program = start(&scratch);
    program.say("First");
    let middle = state(&mut program)["leafId"].clone();
    program.say("Second");
    model.wait_for_asked(2);
    program.ok(json!({"type": "navigate_tree", "targetId": middle}));
    model.let_titles_go();
    titled(&mut program, "Another walk");
    program.close();
    let mut program = start(&scratch);
    let path = program.ok(json!({"type": "get_branch"}));
    let ids: Vec<&Value> = path["entries"].as_array().unwrap().iter().map(|entry| &entry["id"]).collect();
    assert!(ids.contains(&&middle), "{path}");
    assert!(!path.to_string().contains("Second"), "{path}");
    program.close();
}
