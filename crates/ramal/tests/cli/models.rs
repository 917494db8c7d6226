//! `models`.

use serde_json::Value;

use super::world::{Run, World};

const KEY: &str = "sk-not-to-be-seen";

fn run(world: &World, args: &[&str], set: &[&str]) -> Run {
    let mut command = world.command();
    command.args(args).envs(set.iter().map(|name| (*name, KEY)));
    let run = Run::of(command.output().unwrap());
    assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "a key is told: {run:?}");
    run
}

#[test]
fn what_can_be_used_and_why_others_cannot() {
    let world = World::new();
    let run_ = run(&world, &["models"], &["GEMINI_API_KEY"]).done();
    let line = run_.out.lines().find(|line| line.contains("google/gemini-2.5-pro ")).unwrap();
    assert!(line.contains("$1.25 / $10") && line.contains("thinks, sees"), "{line}");
    assert!(!run_.out.contains("anthropic/"), "{}", run_.out);
    assert!(run_.out.contains("no key: set ANTHROPIC_API_KEY"), "{}", run_.out);
    let all = run(&world, &["models", "--all"], &[]).done();
    let line = all.out.lines().find(|line| line.contains("anthropic/claude-haiku-4-5")).unwrap();
    assert!(line.contains("no key: set ANTHROPIC_API_KEY"), "{line}");
}

#[test]
fn for_programs() {
    let world = World::new();
    world.write(
        "home/.config/ramal/models.toml",
        format!(
            "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://x\"\napi_key = \"{KEY}\"\n\
             [[providers.mine.models]]\nid = \"a\\u001b[2J\"\ncontext_window = 9\nmax_output = 3\nwrong = 1\n"
        ),
    );
    let rows = |args: &[&str]| -> (Vec<Value>, String) {
        let run = run(&world, args, &[]).done();
        (run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), run.err)
    };
    let (usable, err) = rows(&["models", "--json"]);
    let mine = usable.iter().find(|row| row["provider"] == "mine").unwrap();
    assert_eq!(
        (&mine["source"], &mine["isUsable"], &mine["contextWindow"]),
        (&"models.toml".into(), &true.into(), &9.into())
    );
    assert!(usable.iter().all(|row| row["isUsable"] == true && row.get("whyNot").is_none()));
    assert!(err.contains("models.toml, line 9: `wrong` means nothing for a model"), "{err}");
    let (all, _) = rows(&["models", "--all", "--json"]);
    let other = all.iter().find(|row| row["model"] == "anthropic/claude-haiku-4-5").unwrap();
    assert_eq!(
        (&other["isUsable"], &other["whyNot"]),
        (&false.into(), &"no key: set ANTHROPIC_API_KEY".into())
    );
    let text = run(&world, &["models"], &[]).done();
    assert!(!text.out.contains('\u{1b}') && text.out.contains("mine/a"), "{}", text.out);
}

#[test]
fn a_file_of_pi_stands_in_for_ours() {
    let world = World::new();
    let pi = r#"{"providers":{"ollama-there":{"baseUrl":"http://x","api":"openai-completions","apiKey":"x","models":[{"id":"m"}]}}}"#;
    world.write("home/.pi/agent/models.json", pi);
    let listed = run(&world, &["models"], &[]).done();
    assert!(listed.out.contains("ollama-there/m"), "{}", listed.out);
}

#[test]
fn what_is_wrong_in_a_file_is_said_without_what_stands_there() {
    let pi = format!("{{\"providers\":{{\n\"p\":{{\"headers\":\"Bearer {KEY}\",\n\"api\":\"{KEY}\"}}}}}}");
    let own = format!("[providers.p]\nheaders = \"Bearer {KEY}\"\napi = \"{KEY}\"\napi_key = {KEY}\n");
    for (file, text, lines) in [
        ("home/.pi/agent/models.json", pi, ["line 2: `headers` must be", "line 3: `api` must be"]),
        ("home/.config/ramal/models.toml", own, ["line 2: `headers`", "line 3: `api` must be"]),
    ] {
        let world = World::new();
        world.write(file, text);
        for args in [&["models"][..], &["models", "--all", "--json"], &["-p", "x", "--model", "p/x"]] {
            let run = run(&world, args, &[]);
            assert!(lines.iter().all(|line| run.err.contains(line)), "{args:?}: {}", run.err);
        }
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let world = World::new();
    for columns in [1, 20, 60, 80, 120] {
        for args in [&["models"][..], &["models", "--all"]] {
            let mut command = world.command();
            command.env("COLUMNS", columns.to_string()).env("OPENAI_API_KEY", KEY).args(args);
            let run = Run::of(command.output().unwrap()).done();
            let widest = run.out.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns.max(16), "{args:?} {columns}: {widest}\n{}", run.out);
        }
    }
}
