//! What is said: words wherever they stand on the command line, files, and commands of the user's own.

use super::*;

/// What the user said last in the only session.
fn last_said(world: &World) -> Value {
    let entries = only_session(world);
    let mut users = entries.into_iter().filter(|entry| entry["message"]["role"] == "user");
    users.next_back().unwrap()["message"]["content"].take()
}

#[test]
fn words_may_stand_anywhere() {
    let (world, model) = playing(&[text("Yes.")]);
    let [flag, name] = &model;
    for (args, want) in [
        (vec!["-p", flag, name, "what is this?"], "what is this?"),
        (vec!["what is this?", "-c", "-p", flag, name], "what is this?"),
        (vec!["-c", flag, name, "--print", "what is this?"], "what is this?"),
        (vec!["-c", "-p", "what", "is", flag, name, "this?"], "what is this?"),
        (vec!["is", flag, name, "-c", "-p", "this?"], "is this?"),
        (vec!["-c", "-p", flag, name, "--", "--help"], "--help"),
        (vec!["-c", flag, name, "-p", "- item\n- item"], "- item\n- item"),
        (vec!["-c", flag, name, "--print=- item"], "- item"),
        (vec![flag, name, "-cp", "--help is not shown, why?"], "--help is not shown, why?"),
        // The name of a command is a word where it cannot be a command.
        (vec!["-c", flag, name, "-p", "tree"], "tree"),
    ] {
        assert_eq!(world.run(&args).done().out, "Yes.\n", "{args:?}");
        assert_eq!(last_said(&world)[0]["text"], want, "{args:?}");
    }
}

#[test]
fn a_mistyped_command_is_never_said() {
    let (world, model) = playing(&[text("Yes.")]);
    let [flag, name] = &model;
    world.run(["tre"]).failed(2, &["unrecognized subcommand 'tre'", "tree"]);
    world.run(["what is this?"]).failed(2, &["'what is this?'", "hint: `ramal -p"]);
    world.run([flag, name, "tre"]).failed(2, &["tre"]);
    world.run(["labels", "-p", flag, name]).failed(2, &["-p"]);
    world.run(["-p", flag, name, "tree", "leaf", "more"]).failed(2, &["error:"]);
    world.run(["-p", "x", flag, name, "--thnking", "low"]).failed(2, &["--thnking"]);
    world.run(["-p", "--help"]).done();
    assert!(sessions(&world).is_empty());
}

#[test]
fn files_are_said_by_their_names() {
    let (world, model) = playing(&[text("Yes.")]);
    let notes = world.write("work/notes.md", "one\ntwo\n");
    let image = world.write("home/a b.png", b"\x89PNG\r\n\x1a\nrest");
    let mut command = world.command();
    command.args(["-p", "@notes.md", "what is wrong?", "@~/a b.png"]).args(&model);
    // A sentence is a file only if there is one of that name.
    command.args(["@somebody said so"]);
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    let said = last_said(&world);
    let notes = format!("<file path=\"{}\">\none\ntwo\n</file>", notes.display());
    let seen = format!("<file path=\"{}\"></file>", image.display());
    assert_eq!(said[0]["text"], format!("{notes}\n\n{seen}\n\nwhat is wrong? @somebody said so"));
    assert_eq!((&said[1]["type"], &said[1]["mimeType"]), (&"image".into(), &"image/png".into()));
    assert_eq!(said[1]["data"], "iVBORw0KGgpyZXN0");
    say(&world, "@notes.md", &model, &["-c"]).done();
    assert_eq!(last_said(&world)[0]["text"], notes);
}

#[test]
fn a_file_that_cannot_be_said() {
    let (world, model) = playing(&[text("Yes.")]);
    world.write("work/bytes", b"a\xff\0");
    say(&world, "@none.md", &model, &[]).failed(1, &["none.md cannot be read", "hint:"]);
    say(&world, "@bytes", &model, &[]).failed(1, &["bytes is neither text"]);
    say(&world, "@.", &model, &[]).failed(1, &["no regular file"]);
    assert!(sessions(&world).is_empty());
}

#[cfg(unix)]
#[test]
fn a_command_of_the_users_asks_no_model() {
    let world = World::new();
    let run = say(&world, "!printf 'a\\n\\tb\\n'; echo c >&2", &[], &["-n", "mine"]).done();
    assert_eq!((&*run.out, &*run.err), ("a\n\tb\nc\n", ""));
    let run = say(&world, "!! exit 3", &[], &["-c"]);
    assert_eq!((run.status, &*run.out, run.err.contains("exit code 3")), (1, "", true), "{run:?}");
    let messages: Vec<Value> =
        only_session(&world).into_iter().filter(|entry| entry["type"] == "message").collect();
    let (first, second) = (&messages[0]["message"], &messages[1]["message"]);
    assert_eq!((&first["role"], &first["exitCode"]), (&"bashExecution".into(), &0.into()));
    assert_eq!((&first["output"], first.get("excludeFromContext")), (&"a\n\tb\nc".into(), None));
    assert_eq!((&second["command"], &second["excludeFromContext"]), (&"exit 3".into(), &true.into()));
    assert_eq!(messages[1]["parentId"], messages[0]["id"]);
    let context = world.run(["context"]).done().out;
    assert!(context.contains("printf") && !context.contains("exit 3"), "{context}");
    assert!(world.run(["ls"]).done().out.contains("mine"));
}

#[cfg(unix)]
#[test]
fn a_command_as_json_and_in_a_copy() {
    let world = World::new();
    say(&world, "!echo one", &[], &["--session", "one.jsonl"]).done();
    let run = say(&world, "!echo two", &[], &["--fork", "one.jsonl", "--mode", "json"]).done();
    let lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["session", "message_start", "message_end"]);
    assert_eq!(lines[2]["message"]["output"], "two");
    let copied = only_session(&world);
    assert_eq!((copied.len(), &copied[1]["id"]), (2, &lines[2]["entryId"]));
    assert_eq!(entries(world.path("work/one.jsonl")).len(), 1);
}

#[cfg(unix)]
#[test]
fn standard_input_is_no_command() {
    let (world, model) = playing(&[text("Yes.")]);
    assert_eq!(say_to(&world, b"!touch made\n", &["-p"], &model).done().out, "Yes.\n");
    assert!(!world.path("work/made").exists());
    assert_eq!(last_said(&world)[0]["text"], "!touch made");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_command_and_keeps_it() {
    let world = World::new();
    let mut command = world.command();
    command.args(["-p", "!echo begun; touch begun; exec sleep 600"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !world.path("work/begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: a signal to a child that has not been waited for.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), libc::SIGINT) };
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.status, &*run.out), (130, "begun\n"), "{run:?}");
    let message = only_session(&world)[0]["message"].take();
    assert_eq!((&message["cancelled"], &message["output"]), (&true.into(), &"begun".into()));
}

#[cfg(unix)]
#[test]
fn what_a_command_printed_is_not_lost() {
    let world = World::new();
    let run = say(&world, "!seq 3000", &[], &[]).done();
    assert!(run.out.ends_with("2999\n3000\n") && run.out.lines().count() < 3000);
    assert!(run.err.contains("all of it is in ") && run.err.contains(".outputs/"), "{}", run.err);
    let run = say(&world, "!seq 3000", &[], &["--no-session"]).done();
    assert!(run.out.ends_with("3000\n") && run.err.contains("the end of the output"), "{}", run.err);
    // It is printed also where it cannot be kept.
    let newer = world::session("s1", &world.path("work"), &[]).replace("\"version\":3", "\"version\":9");
    world.write("work/newer.jsonl", newer);
    let run = say(&world, "!echo here", &[], &["--session", "newer.jsonl"]);
    assert_eq!((run.status, &*run.out), (1, "here\n"), "{run:?}");
    assert!(run.err.contains("error:"), "{}", run.err);
}
