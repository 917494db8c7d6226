//! The program as a whole: help, statuses, pipes.

use std::io::Read;
use std::process::Stdio;

use super::world::{World, sample};

const COMMANDS: [&str; 20] = [
    "tree",
    "log",
    "show",
    "context",
    "go",
    "label",
    "labels",
    "branch",
    "clone",
    "fork",
    "diff",
    "export",
    "import",
    "ls",
    "check",
    "models",
    "demo",
    "rpc",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_with_an_example() {
    let world = World::new();
    let all = world.run::<&str>([]).done().out;
    for command in COMMANDS {
        assert!(all.contains(&format!("\n  {command} ")), "{command} in {all}");
        let help = world.run([command, "--help"]).done().out;
        assert!(help.contains("Example"), "{help}");
    }
}

#[test]
fn wrong_use_is_status_2() {
    let world = World::new();
    for args in [
        &["frobnicate"][..],
        &["go"],
        &["label", "leaf", "text", "--clear"],
        &["completions", "cobol"],
        &["ls", "--color", "sometimes"],
        &["man", "frobnicate"],
    ] {
        world.run(args).failed(2, &["error:"]);
    }
}

#[test]
fn what_is_not_there_is_status_1() {
    let world = World::new();
    world.run(["labels"]).failed(1, &["error: no session of ", "/work", "hint: `ramal ls --all`"]);
    world.run(["labels", "--session", "/no/such.jsonl"]).failed(1, &["/no/such.jsonl", "hint:"]);
    world.run(["fork", "0199"]).failed(1, &["'0199'"]);
    let junk = world.write("work/junk.jsonl", "not a session\n");
    world.run(["labels", "--session", junk.to_str().unwrap()]).failed(1, &["junk.jsonl is no session"]);
    assert!(!world.path("work/such.jsonl").exists());
}

#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    let long = "long ".repeat(100_000);
    let text = super::world::session("s1", &world.path("work"), &[super::world::user(&long)]);
    let path = world.write("work/s.jsonl", text);
    let mut command = world.command();
    command.args(["go", "root", "--session"]).arg(path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(child.wait().unwrap().success(), "{err}");
    assert!(!err.contains("error"), "{err}");
}

#[test]
fn colours_when_asked_for_and_not_otherwise() {
    let world = World::with_sample();
    let coloured = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = world.command();
        command.envs(variables.iter().copied()).arg("labels").args(args);
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains("\x1b[")
    };
    assert!(coloured(&[], &["--color", "always"]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(!coloured(&[], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color=never"]));
}

#[test]
fn completions_for_every_shell_and_manual_pages() {
    let world = World::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = world.run(["completions", shell]).done().out;
        assert!(script.contains("labels") && script.contains("session-dir"), "{shell}");
    }
    assert!(world.run(["man"]).done().out.contains(".TH ramal 1"));
    for command in COMMANDS {
        let page = world.run(["man", command]).done().out;
        assert!(page.contains(&format!(".TH ramal-{command} 1")), "{page}");
    }
}

#[test]
fn sessions_are_named_by_path_id_and_name() {
    let world = World::with_sample();
    let id = world.json(&["ls"])["sessionId"].as_str().unwrap().to_owned();
    let file = sample("date-parser.jsonl");
    for name in [&id[..], &id[..13], "week 53", "WEEK 53", &file] {
        let labels = world.run(["labels", "--session", name]).done().out;
        assert_eq!(labels.lines().count(), 3, "{name}: {labels}");
    }
    world.run(["labels", "--session", "wek 53"]).failed(1, &["did you mean week 53?"]);
    world.run(["clone"]).done();
    world.run(["labels", "--session", "week 53"]).failed(1, &["2 sessions", &id[..8]]);
    // Elsewhere it is found, but not taken for the most recent one.
    let mut command = world.command();
    command.current_dir(world.path("other")).args(["labels", "--session", &id]);
    assert!(command.output().unwrap().status.success());
    let mut command = world.command();
    command.current_dir(world.path("other")).arg("labels");
    assert_eq!(command.output().unwrap().status.code(), Some(1));
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_takes_nothing_is_an_error() {
    let world = World::with_sample();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = world.command().arg("labels").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write the output: "));
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_gone_still_has_its_sessions() {
    let world = World::with_sample();
    let work = world.path("work");
    let mut command = world.command();
    command.args(["ls", "--all"]).env("PWD", &work);
    let kept = command.output().unwrap();
    let gone = world.path("gone");
    let (gone, work) = (gone.display(), work.display());
    let script =
        format!("mkdir '{gone}' && cd '{gone}' && rmdir '{gone}' && PWD='{work}' exec \"$0\" \"$@\"");
    for args in [&["ls", "--all"][..], &["tree"], &["labels"]] {
        let program = world.command().get_program().to_owned();
        let mut command = std::process::Command::new("sh");
        for (name, value) in world.command().get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let output = command.arg("-c").arg(&script).arg(program).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        if args[0] == "ls" {
            assert_eq!(output.stdout, kept.stdout);
        }
    }
}

#[test]
fn folders_and_nothing_are_no_names() {
    let world = World::with_sample();
    let run = world.run(["tree", "."]);
    assert!(run.err.contains("is a folder, not a session") && run.status == 1, "{}", run.err);
    let run = world.run(["tree", ""]);
    assert!(run.err.contains("names no session") && run.status == 2, "{}", run.err);
}

#[test]
fn an_empty_file_is_empty() {
    let world = World::new();
    world.write("work/zero.jsonl", "");
    let run = world.run(["check", "zero.jsonl"]).done();
    assert_eq!(run.out.trim_end(), "zero.jsonl: whole, 0 entries, 0 B");
}
