//! How a turn begins: settings that are wrong, starts that fail, what is known of the user, and which
//! variables the commands see.

use super::*;

const SETTINGS: &str = "home/.config/ramal/settings.toml";

#[test]
fn a_model_of_the_settings_that_is_not_there_is_named_and_stops_nothing() {
    let (world, model) = playing(&[text("one")]);
    world.write(SETTINGS, format!("# mine\nmodel = {:?}\n", model[1]));
    world.write("work/.ramal/settings.toml", "\nmodel = \"nope/x\"\n");
    let run = say(&world, "x", &[], &[]).done();
    assert_eq!(run.out, "one\n");
    let told = ".ramal/settings.toml, line 2: `model`: there is no model \"nope/x\"";
    assert!(run.err.contains(told), "{}", run.err);
    // On the command line it is a mistake.
    let nope = ["--model".to_owned(), "nope/x".to_owned()];
    say(&world, "x", &nope, &[]).failed(1, &["the model nope/x cannot be used"]);

    // Where no other is set, the first that can be used answers.
    let server = Server::beside(vec![Reply::sse(chunk("Here.") + &end())]);
    world.write("home/.config/ramal/models.toml", models_at(&server, ""));
    let wrong = "autoTitle = false\nmodel = \"nope/y\"\n";
    world.write(SETTINGS, wrong);
    let run = say(&world, "x", &[], &[]).done();
    assert_eq!(run.out, "Here.\n");
    for told in
        ["ramal/settings.toml, line 2: `model`", "line 2: `model`: there is no", "The model is mine/small"]
    {
        assert!(run.err.contains(told), "{told} in {}", run.err);
    }
}

#[test]
fn a_model_of_the_settings_without_a_key_is_placed() {
    let world = World::new();
    world.write(SETTINGS, "model = \"anthropic/claude-opus-5-5\"\n");
    say(&world, "x", &[], &[]).failed(1, &["ANTHROPIC_API_KEY", "settings.toml, line 1", "ramal models"]);
}

#[test]
fn a_program_is_served_whatever_model_is_set() {
    let world = World::new();
    world.write(SETTINGS, "model = \"nope/x\"\n");
    let run = say_to(&world, b"{\"type\":\"get_state\"}\n", &["rpc", "--no-session"], &[]).done();
    assert!(run.err.contains("settings.toml, line 1: `model`: there is no model"), "{}", run.err);
    let state: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert_eq!((&state["success"], state["data"]["model"].is_string()), (&true.into(), false), "{state}");
}

#[test]
fn a_failed_start_leaves_nothing() {
    let (world, model) = playing(&[text("one")]);
    say(&world, "first", &model, &[]).done();
    let before = fs::read(&sessions(&world)[0]).unwrap();
    let id =
        sessions(&world)[0].file_stem().unwrap().to_string_lossy().rsplit('_').next().unwrap().to_owned();
    let nope = ["--model".to_owned(), "nope/x".to_owned()];
    for session in [&["--fork", &id][..], &["-c"], &["-r", &id], &[]] {
        for (model, more) in [
            (&nope[..], &[][..]),
            (&model, &["--tools", "wirte"]),
            (&model, &["--system-prompt", "unreadable"]),
            (&model, &["@none.md"]),
        ] {
            world.write("work/unreadable", b"\xff");
            let run = say(&world, "hi", model, &[session, &["--name", "X"], more].concat());
            assert!(run.status > 0 && run.out.is_empty(), "{session:?} {more:?}: {run:?}");
            assert_eq!(sessions(&world).len(), 1, "{session:?} {more:?}");
            assert_eq!(fs::read(&sessions(&world)[0]).unwrap(), before, "{session:?} {more:?}");
        }
    }
    // With nothing missing, all of it is done.
    say(&world, "hi", &model, &["--fork", &id, "--name", "X"]).done();
    assert_eq!(sessions(&world).len(), 2);
    assert!(world.run(["ls"]).done().out.contains('X'));
}

#[test]
fn retries_are_told_where_nobody_looks() {
    let error = json!({ "error": { "kind": "overloaded", "message": "busy\u{1b}[31m" } });
    let (world, model) = playing(&[error.clone(), error, text("Now.")]);
    world.write(SETTINGS, "[retry]\nbaseDelayMs = 1\n");
    let run = say(&world, "x", &model, &[]).done();
    assert_eq!(run.out, "Now.\n");
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.err);
    assert!(lines[0].contains("busy") && lines[0].ends_with("(1 of 3)"), "{}", run.err);
    assert!(lines[1].ends_with("(2 of 3)") && !run.err.contains('\u{1b}'), "{}", run.err);
    // In JSON the events say it.
    let run = say(&world, "x", &model, &["--mode", "json"]).done();
    assert_eq!((&*run.err, run.out.matches("\"auto_retry_start\"").count()), ("", 2));
}

/// A provider in `models.toml`.
fn models_at(server: &Server, key: &str) -> String {
    format!(
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"{}/v1\"\n{key}\n\
         [[providers.mine.models]]\nid = \"small\"\ncontext_window = 100000\nmax_output = 1000\n",
        server.url()
    )
}

#[test]
fn the_users_context_file_is_pis_where_ours_is_missing() {
    let replies = (0..4).map(|_| Reply::sse(chunk("Yes.") + &end())).collect();
    let server = Server::beside(replies);
    let world = World::new();
    world.write("home/.config/ramal/models.toml", models_at(&server, ""));
    world.write(SETTINGS, "autoTitle = false\n");
    world.write("home/.pi/agent/AGENTS.md", "As pi knows.");
    world.write("home/pi2/CLAUDE.md", "As the other pi knows.");
    let system = |pi: Option<&str>| {
        let mut command = world.command();
        command.args(["-p", "x", "--no-session"]).envs(pi.map(|folder| ("PI_CODING_AGENT_DIR", folder)));
        Run::of(command.output().unwrap()).done();
        server.requests().last().unwrap().json()["messages"][0]["content"].to_string()
    };
    assert!(system(None).contains("As pi knows."));
    assert!(system(Some("~/pi2")).contains("As the other pi knows."));
    let ours = world.write("home/.config/ramal/AGENTS.md", "As we know.");
    let both = system(None);
    assert!(both.contains("As we know.") && !both.contains("As pi knows."), "{both}");
    // An empty one is there all the same.
    world.write("home/.config/ramal/AGENTS.md", "");
    assert!(ours.exists() && !system(None).contains("As pi knows."));
}

#[cfg(unix)]
#[test]
fn commands_do_not_see_keys() {
    let call = json!({ "id": "c1", "name": "bash", "arguments": { "command": "env; echo the end" } });
    let (world, model) = playing(&[json!({ "events": [{ "toolCall": call }] }), text("Done.")]);
    world.write(
        "home/.config/ramal/models.toml",
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"MYKEY\"\n\
         models = [{ id = \"m\", context_window = 10, max_output = 5 }]\n",
    );
    let env = |prompt: &str, more: &[&str]| {
        let mut command = world.command();
        command.args(["-p", prompt, "--yes", "--session", "s.jsonl"]).args(more).args(&model);
        command.envs([
            ("MYKEY", "sk-secret-1"),
            ("OPENAI_API_KEY", "sk-secret-2"),
            ("OTHER_KEY", "sk-other"),
        ]);
        Run::of(command.output().unwrap()).done();
        let file = world.path("work/s.jsonl");
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_file(file).unwrap();
        assert!(text.contains("the end") && text.contains("sk-other"), "{text}");
        text
    };
    for prompt in ["look", "!env; echo the end"] {
        let text = env(prompt, &[]);
        assert!(!text.contains("sk-secret") && !text.contains("MYKEY="), "{prompt}: {text}");
    }
    world.write(SETTINGS, "bash.keepEnv = [\"OPENAI_API_KEY\"]\n");
    let text = env("look", &[]);
    assert!(text.contains("sk-secret-2") && !text.contains("sk-secret-1"), "{text}");
}

#[cfg(unix)]
#[test]
fn what_a_killed_turn_left_is_told_as_the_model_is_told() {
    let call = json!({ "id": "c1", "name": "bash", "arguments": { "command": "echo $$ > begun.tmp; mv begun.tmp begun; exec sleep 600" } });
    let (world, model) = playing(&[json!({ "events": [{ "toolCall": call }] }), text("Done.")]);
    let mut command = world.command();
    command.args(["-p", "go", "--yes"]).args(&model).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !world.path("work/begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Nobody is left to end what it had begun.
    let left: i32 = fs::read_to_string(world.path("work/begun")).unwrap().trim().parse().unwrap();
    // SAFETY: a signal to the process that the command said it is.
    unsafe { libc::kill(left, libc::SIGKILL) };
    let words = "othing is known of its effects";
    let run = say(&world, "again", &model, &["-c"]).done();
    assert!(run.err.contains(words) && !run.err.contains("did not run"), "{}", run.err);
    assert!(world.run(["context", "--json"]).done().out.contains(words));
}

#[test]
fn a_relative_folder_of_sessions_lies_where_one_is() {
    let (world, model) = playing(&[text("one")]);
    world.write(SETTINGS, "sessionDir = \"kept\"\n");
    say(&world, "x", &model, &[]).done();
    assert_eq!(fs::read_dir(world.path("work/kept")).unwrap().count(), 1);
    say(&world, "y", &model, &["-c"]).done();
    assert_eq!(fs::read_dir(world.path("work/kept")).unwrap().count(), 1);
}

#[test]
fn a_conversation_is_made_shorter_where_the_settings_say() {
    let (world, model) = playing(&[text(&"word ".repeat(400))]);
    let begins = |more: &str| {
        world.write(SETTINGS, format!("[compaction]\n{more}\n"));
        let run = say(&world, "x", &model, &["--session", "s.jsonl", "--mode", "json"]).done();
        run.out.contains("\"compaction_start\"")
    };
    assert!(!begins(""));
    assert!(!begins("thresholdTokens = 100000"));
    assert!(!begins("thresholdTokens = 300\nstrategy = \"off\""));
    assert!(begins("thresholdTokens = 300"));
}
