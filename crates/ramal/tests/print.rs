//! `ramal -p` and `ramal demo`, the real program: against recorded answers, and once against a server
//! that speaks HTTP.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "print/start.rs"]
mod start;
#[path = "print/words.rs"]
mod words;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "cli/world.rs"]
mod world;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use ramal_testing::server::{Reply, Server, Step, sse_text};
use serde_json::{Value, json};
use world::{Run, World, entries};

/// A world with recorded answers, and the option that names them.
fn playing(answers: &[Value]) -> (World, [String; 2]) {
    let world = World::new();
    let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    let path = world.write("answers.jsonl", lines);
    (world, ["--model".into(), format!("replay/{}", path.display())])
}

fn text(text: &str) -> Value {
    json!({ "events": [{ "text": text }] })
}

/// A call of `write`, and what is said behind it.
fn writes() -> [Value; 2] {
    let call = json!({ "id": "c1", "name": "write", "arguments": { "path": "new.txt", "content": "hello" } });
    [json!({ "events": [{ "text": "I write." }, { "toolCall": call }] }), text("Done.")]
}

/// Runs `-p` with more arguments.
fn say(world: &World, prompt: &str, model: &[String], more: &[&str]) -> Run {
    let mut command = world.command();
    command.args(["-p", prompt]).args(model).args(more);
    Run::of(command.output().unwrap())
}

fn say_to(world: &World, input: &[u8], args: &[&str], model: &[String]) -> Run {
    let mut command = world.command();
    command.args(args).args(model).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Run::of(child.wait_with_output().unwrap())
}

/// The files of the sessions of the working directory.
fn sessions(world: &World) -> Vec<PathBuf> {
    let root = world.path("home/.local/share/ramal/sessions");
    let Ok(folders) = fs::read_dir(root) else { return Vec::new() };
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    files
}

fn only_session(world: &World) -> Vec<Value> {
    let sessions = sessions(world);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    entries(&sessions[0])
}

/// What was said by a role, in the order of the file.
fn said(entries: &[Value], role: &str) -> Vec<String> {
    let messages = entries.iter().map(|entry| &entry["message"]).filter(|message| message["role"] == role);
    let text = |message: &Value| message["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    messages.map(text).collect()
}

#[test]
fn an_answer_is_printed_and_stored() {
    let (world, model) = playing(&[text("Four.\n\n\tReally.")]);
    let run = say(&world, "Two and two?", &model, &["-n", "sums"]).done();
    assert_eq!((&*run.out, &*run.err), ("Four.\n\n\tReally.\n", ""));
    let entries = only_session(&world);
    assert_eq!(said(&entries, "user"), ["Two and two?"]);
    let answer = &entries.last().unwrap()["message"];
    assert_eq!((&answer["provider"], &answer["stopReason"]), (&"replay".into(), &"stop".into()));
    assert!(world.run(["ls"]).done().out.contains("sums"));
    assert!(entries.iter().all(|entry| entry["type"] != "title_change"));
}

#[test]
fn nothing_is_kept_without_a_session() {
    let (world, model) = playing(&[text("Four.")]);
    say(&world, "x", &model, &["--no-session"]).done();
    assert!(sessions(&world).is_empty());
}

#[test]
fn standard_input_is_said_too() {
    let (world, model) = playing(&[text("Yes.")]);
    let new = ["-p", "--session", "one.jsonl"];
    assert_eq!(say_to(&world, b"from a pipe\n", &new, &model).done().out, "Yes.\n");
    let both = ["-p", "Read this:", "--session", "one.jsonl"];
    say_to(&world, b"a\nb\n", &both, &model).done();
    let said = said(&entries(world.path("work/one.jsonl")), "user");
    assert_eq!(said, ["from a pipe", "Read this:\n\na\nb"]);
    say_to(&world, b" \n", &["-p"], &model).failed(2, &["nothing to say"]);
    say_to(&world, b"\xff", &["-p"], &model).failed(1, &["UTF-8"]);
}

#[test]
fn everything_that_happens_as_json() {
    let (world, model) = playing(&writes());
    let run = say(&world, "write", &model, &["--mode", "json", "--yes"]).done();
    let lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], types[1], *types.last().unwrap()), ("session", "agent_start", "agent_end"));
    for wanted in ["turn_start", "message_update", "message_end", "tool_execution_end", "turn_end"] {
        assert!(types.contains(&wanted), "{wanted} in {types:?}");
    }
    let id = &lines[0]["id"];
    let header: Value =
        serde_json::from_str(fs::read_to_string(&sessions(&world)[0]).unwrap().lines().next().unwrap())
            .unwrap();
    assert_eq!(&header["id"], id);
    assert_eq!(lines.last().unwrap()["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn sessions_are_gone_on_with() {
    let (world, model) = playing(&[text("one"), json!({ "when": "three", "events": [{ "text": "three" }] })]);
    say(&world, "first", &model, &[]).done();
    say(&world, "second", &model, &["-c"]).done();
    let before = only_session(&world);
    assert_eq!(said(&before, "user"), ["first", "second"]);
    // Where the user goes is where the next word hangs, with the model of that place.
    world.run(["go", "root~0"]).done();
    let first = before.iter().find(|entry| entry["message"]["role"] == "assistant").unwrap();
    world.run(["go", first["id"].as_str().unwrap()]).done();
    say(&world, "three", &[], &["-c"]).done();
    let after = only_session(&world);
    let third = after.iter().find(|entry| entry["message"]["content"][0]["text"] == "three").unwrap();
    assert_eq!(third["parentId"], first["id"]);

    let id =
        sessions(&world)[0].file_stem().unwrap().to_string_lossy().rsplit('_').next().unwrap().to_owned();
    say(&world, "again", &[], &["-r", &id]).done();
    say(&world, "elsewhere", &[], &["--fork", &id]).done();
    let all = sessions(&world);
    assert_eq!(all.len(), 2);
    assert_eq!(said(&entries(&all[0]), "user").len(), 4);
    assert_eq!(said(&entries(&all[1]), "user").last().unwrap(), "elsewhere");
    say(&world, "x", &model, &["-r", "no-such-session"]).failed(1, &["no-such-session"]);
    assert_eq!(sessions(&world).len(), 2);
}

#[test]
fn a_session_whose_directory_is_gone_is_not_worked_in() {
    let (world, model) = playing(&[text("one")]);
    let text = world::session("s1", &world.path("gone"), &[world::user("hi")]);
    world.write("work/s.jsonl", &text);
    say(&world, "x", &model, &["--session", "s.jsonl"]).failed(1, &["/gone", "--fork"]);
    assert_eq!(fs::read_to_string(world.path("work/s.jsonl")).unwrap(), text);
    say(&world, "x", &model, &["--fork", "s.jsonl"]).done();
}

#[test]
fn tools_are_run_if_they_may_be() {
    let (world, model) = playing(&writes());
    let run = say(&world, "write", &model, &[]).done();
    assert_eq!(run.out, "Done.\n");
    assert!(run.err.contains("Not allowed: to write new.txt") && run.err.contains("--yes"), "{}", run.err);
    assert!(!world.path("work/new.txt").exists());
    assert!(said(&only_session(&world), "toolResult")[0].contains("not allowed"));
    say(&world, "write", &model, &["--yes"]).done();
    assert_eq!(fs::read_to_string(world.path("work/new.txt")).unwrap(), "hello");
}

#[test]
fn tools_that_the_model_does_not_have() {
    let (world, model) = playing(&writes());
    for without in [&["--tools", "read, grep"][..], &["--no-tools"]] {
        say(&world, "write", &model, &[&["--yes", "--session", "s.jsonl"], without].concat()).done();
    }
    let results = said(&entries(world.path("work/s.jsonl")), "toolResult");
    assert_eq!(results, ["There is no tool called write."; 2]);
    say(&world, "x", &model, &["--tools", "read,wirte"]).failed(2, &["wirte", "write"]);
    say(&world, "x", &model, &["--tools", "read", "--no-tools"]).failed(2, &["--no-tools"]);
}

#[test]
fn settings_allow_and_a_project_cannot() {
    let (world, model) = playing(&writes());
    world.write("work/.ramal/settings.toml", "[permissions]\nwrite = \"allow\"\n");
    let run = say(&world, "write", &model, &[]).done();
    assert!(run.err.contains("settings.toml, line 2: `permissions.write` cannot be allowed"), "{}", run.err);
    assert!(!world.path("work/new.txt").exists());
    world.write("home/.config/ramal/settings.toml", "[permissions]\nwrite = \"allow\"\n");
    say(&world, "write", &model, &[]).done();
    assert!(world.path("work/new.txt").exists());
    world.write("work/.ramal/settings.toml", "[permissions]\nwrite = \"deny\"\n");
    fs::remove_file(world.path("work/new.txt")).unwrap();
    let run = say(&world, "write", &model, &["--yes"]).done();
    assert!(run.err.contains("not allowed by the user's settings"), "{}", run.err);
    assert!(!world.path("work/new.txt").exists());
}

#[test]
fn wrong_settings_are_named_and_stop_nothing() {
    let (world, model) = playing(&[text("one")]);
    world.write(
        "home/.config/ramal/settings.toml",
        format!("model = {:?}\ntreeFilterMode = \"usr\"\nretry = 3\n", model[1]),
    );
    let run = say(&world, "x", &[], &[]).done();
    assert_eq!(run.out, "one\n");
    for words in ["settings.toml, line 2: `treeFilterMode` must be", "line 3: there is no setting `retry`"] {
        assert!(run.err.contains(words), "{words} in {}", run.err);
    }
    world.write("home/.config/ramal/settings.toml", "treeFilterMode = \"user-only\"\n");
    let tree = world.run(["tree"]).done();
    assert!(tree.out.contains("filter user-only") && tree.err.is_empty(), "{tree:?}");
    assert!(!world.run(["tree", "--filter", "default"]).done().out.contains("filter user-only"));
}

#[test]
fn without_a_model_nothing_is_said() {
    let world = World::new();
    say(&world, "x", &[], &[]).failed(1, &["no model", "ramal models"]);
    let unknown = ["--model".to_owned(), "anthropic/claude-opsu-5-5".to_owned()];
    say(&world, "x", &unknown, &[]).failed(1, &["did you mean", "claude-opus-5-5"]);
    let no_key = ["--model".to_owned(), "anthropic/claude-opus-5-5".to_owned()];
    say(&world, "x", &no_key, &[]).failed(1, &["ANTHROPIC_API_KEY"]);
    assert!(sessions(&world).is_empty());
    world.run(["-c"]).failed(2, &["ramal -p"]);
    world.run(["--yes"]).failed(2, &["ramal -p"]);
    world.run(["-p", "x", "tree"]).failed(2, &["-p"]);
    world.run(["-p", "x", "--thinking", "hard"]).failed(2, &["xhigh"]);
}

#[test]
fn the_model_of_a_session_that_cannot_be_used() {
    let (world, model) = playing(&[text("one")]);
    world.run(["fork", &world::sample("date-parser.jsonl")]).done();
    let before = only_session(&world);
    say(&world, "x", &[], &["-c"]).failed(1, &["anthropic/claude-opus-4-5", "hint:", "--model"]);
    assert_eq!(only_session(&world), before);
    say(&world, "x", &model, &["-c"]).done();
    // The model is chosen once, and from then on it is that of the branch.
    say(&world, "y", &[], &["-c"]).done();
    let changes = only_session(&world).split_off(before.len());
    let types: Vec<&str> = changes.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["model_change", "message", "message", "message", "message"]);
}

#[test]
fn a_reader_that_leaves_ends_the_turn() {
    let slow = json!({ "events": [{ "text": "one" }, { "text": "two", "after": 200 }] });
    let (world, model) = playing(&[slow]);
    let mut command = world.command();
    command.args(["-p", "x", "--mode", "json"]).args(&model);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.status, &*run.err), (0, ""));
}

#[test]
fn an_error_of_the_model_is_one_of_the_program() {
    let error = json!({ "kind": "badRequest", "message": "too odd", "status": 400 });
    let (world, model) = playing(&[json!({ "events": [{ "text": "Half" }], "error": error })]);
    say(&world, "x", &model, &[]).failed(1, &["error:", "too odd"]);
    let entries = only_session(&world);
    let answer = &entries.last().unwrap()["message"];
    assert_eq!((&answer["stopReason"], &answer["content"][0]["text"]), (&"error".into(), &"Half".into()));
}

#[test]
fn what_passes_is_asked_again() {
    let error = json!({ "error": { "kind": "overloaded", "message": "busy" } });
    let (world, model) = playing(&[error.clone(), text("Now.")]);
    world.write("home/.config/ramal/settings.toml", "[retry]\nbaseDelayMs = 1\n");
    assert_eq!(say(&world, "x", &model, &[]).done().out, "Now.\n");
    world.write("home/.config/ramal/settings.toml", "[retry]\nenabled = false\n");
    say(&world, "x", &model, &[]).failed(1, &["busy"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_came() {
    let slow = json!({ "events": [{ "text": "one " }, { "text": "two ", "after": 600_000 }] });
    let (world, model) = playing(&[slow]);
    let mut command = world.command();
    command.args(["-p", "x", "--mode", "json"]).args(&model);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"text_delta\"")));
    // SAFETY: a signal to a child that has not been waited for.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), libc::SIGINT) };
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.last().unwrap().contains("\"agent_end\""), "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let entries = only_session(&world);
    let answer = &entries.last().unwrap()["message"];
    assert_eq!((&answer["stopReason"], &answer["content"][0]["text"]), (&"aborted".into(), &"one ".into()));
}

fn chunk(text: &str) -> String {
    sse_text([(
        "",
        &*json!({ "id": "x", "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string(),
    )])
}

fn end() -> String {
    let end =
        json!({ "id": "x", "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }).to_string();
    sse_text([("", &*end), ("", "[DONE]")])
}

/// A `models.toml` with one model at `url`.
fn provider(url: &str) -> String {
    format!(
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"{url}/v1\"\napi_key = \"sk-secret-key\"\n\
         [[providers.mine.models]]\nid = \"small\"\ncontext_window = 100000\nmax_output = 1000\n"
    )
}

#[test]
fn over_http_with_a_title() {
    let first = Reply::sse(chunk("Lost in ")).then(Step::Pause(Duration::from_secs(4)));
    let first = first.text(&chunk("January.")).text(&end());
    let title = Reply::sse(chunk("\"Week 53.\"") + &end());
    let again = Reply::sse(chunk("Yes.") + &end()).cut(7);
    let server = Server::beside(vec![first, title, again]);
    let world = World::new();
    world.write("home/.config/ramal/models.toml", provider(server.url()));
    world.write("work/AGENTS.md", "Mind the weeks.");
    let model = ["--model".to_owned(), "mine/small".to_owned()];
    let run = say(&world, "Where is it?", &model, &["--append-system-prompt", "Be brief."]).done();
    assert_eq!((&*run.out, &*run.err), ("Lost in January.\n", ""));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let body = requests[0].json();
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-secret-key"));
    assert_eq!(body["model"], "small");
    let system = body["messages"][0]["content"].to_string();
    assert!(system.contains("Mind the weeks.") && system.contains("Be brief."), "{system}");
    assert_eq!(body["tools"].as_array().unwrap().len(), 7);
    assert!(requests[1].json().get("tools").is_none());
    let entries = only_session(&world);
    let named = entries.iter().find(|entry| entry["type"] == "title_change").unwrap();
    assert_eq!((&named["title"], &named["source"]), (&"Week 53".into(), &"auto".into()));

    // The session has its model and its title; the beginning of the conversation is the same.
    assert_eq!(say(&world, "Sure?", &[], &["-c"]).done().out, "Yes.\n");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let (before, after) = (body["messages"].as_array().unwrap().clone(), requests[2].json());
    assert_eq!(after["messages"][1], before[1]);
    assert_eq!(after["messages"].as_array().unwrap().len(), before.len() + 2);
    for path in sessions(&world) {
        assert!(!fs::read_to_string(path).unwrap().contains("sk-secret-key"));
    }
}

#[test]
fn a_malformed_call_costs_no_turn() {
    let call = |index: usize, arguments: &str| json!({ "index": index, "id": format!("c{index}"), "function": { "name": "read", "arguments": arguments } });
    let calls = [call(0, r#"{"path":"a.txt"}"#), call(1, r#"{"path": "a.txt""#), call(2, "[1]")];
    let calls = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls }, "finish_reason": "tool_calls" }] });
    let calls = sse_text([("", &*calls.to_string()), ("", "[DONE]")]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let replies =
        vec![Reply::sse(calls), Reply::sse(chunk("I see.") + &end()), Reply::sse(chunk("A") + &end())];
    let server = runtime.block_on(Server::start(replies));
    let world = World::new();
    world.write("home/.config/ramal/models.toml", provider(server.url()));
    world.write("work/a.txt", "what stands in a");
    let model = ["--model".to_owned(), "mine/small".to_owned()];
    assert_eq!(say(&world, "Read it.", &model, &["-n", "Titled"]).done().out, "I see.\n");
    let entries = only_session(&world);
    let results = said(&entries, "toolResult");
    assert_eq!(results.len(), 3);
    assert!(results[0].contains("what stands in a"), "{results:?}");
    for (result, came) in [(&results[1], r#"{"path": "a.txt""#), (&results[2], "[1]")] {
        assert!(
            result.starts_with("The arguments were no JSON object: ") && result.ends_with(came),
            "{result}"
        );
    }
    let sent = server.requests()[1].json();
    let sent = sent["messages"].as_array().unwrap();
    let answer = sent.iter().find(|message| message.get("tool_calls").is_some()).unwrap();
    let arguments = |at: usize| answer["tool_calls"][at]["function"]["arguments"].as_str().unwrap();
    assert_eq!([arguments(0), arguments(1), arguments(2)], [r#"{"path":"a.txt"}"#, "{}", "{}"]);
    assert_eq!(sent.iter().filter(|message| message["role"] == "tool").count(), 3);
    // What the model wrote can be seen.
    let shown = world.run(["log"]).done().out;
    assert!(shown.contains(r#"read {"path": "a.txt""#), "{shown}");
}

#[test]
fn the_demo_needs_no_key() {
    let world = World::new();
    let told = world.run(["demo"]).done().out;
    let session = world.path("home/.cache/ramal/demo/session.jsonl");
    let untouched = fs::read_to_string(&session).unwrap();
    // The commands that it names work as they stand there.
    let mut tried = 0;
    for line in told.lines().filter_map(|line| line.strip_prefix("  ramal ")) {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("\"$RAMAL\" {line}")]).env_clear().stdin(Stdio::null());
        command.env("RAMAL", env!("CARGO_BIN_EXE_ramal")).env("HOME", world.path("home"));
        let run = Run::of(command.current_dir(world.path("work")).output().unwrap()).done();
        assert!(!run.out.is_empty() || line.starts_with("go "), "{line}");
        tried += 1;
    }
    assert_eq!(tried, 8);
    assert_eq!(fs::read_to_string(&session).unwrap(), untouched);
    let kept = entries(world.path("home/.cache/ramal/demo/session-1.jsonl"));
    assert!(said(&kept, "toolResult").last().unwrap().contains("answers.jsonl"));
    assert!(said(&kept, "user").contains(&"And with a pipe?".to_owned()));
}

#[test]
fn a_folder_for_sessions_by_setting() {
    let (world, model) = playing(&[text("one")]);
    let setting = "sessionDir = \"~/mine\"\n";
    world.write("work/.ramal/settings.toml", setting);
    let run = say(&world, "x", &model, &[]).done();
    assert!(run.err.contains("line 1: `sessionDir` cannot be set by a project"), "{}", run.err);
    fs::remove_file(world.path("work/.ramal/settings.toml")).unwrap();
    world.write("home/.config/ramal/settings.toml", setting);
    say(&world, "y", &model, &[]).done();
    say(&world, "z", &model, &["-c"]).done();
    let made: Vec<_> = fs::read_dir(world.path("home/mine")).unwrap().collect();
    assert_eq!((made.len(), sessions(&world).len()), (1, 1));
    assert!(world.run(["log"]).done().out.contains('z'));
    // A flag goes before it.
    say(&world, "w", &model, &["--session-dir", "here"]).done();
    assert!(world.path("work/here").is_dir());
}
