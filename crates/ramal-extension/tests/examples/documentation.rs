//! The tables of `docs/extensions.md` are those of the program: each row is something that is there, and
//! nothing that is there is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::*;

fn documentation() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/extensions.md");
    std::fs::read_to_string(path).unwrap()
}

/// The cells of a table's rows below a heading, without its head.
fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let mut lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let section: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with('#')).collect();
    let table: Vec<&str> = section.into_iter().filter(|line| line.starts_with('|')).collect();
    assert!(table.len() > 2, "docs/extensions.md has no table below {heading:?}");
    let cells = |line: &&str| {
        let inner = line.trim_matches('|');
        inner.split(" | ").map(|cell| cell.trim_matches(['|', ' ']).to_owned()).collect()
    };
    table.iter().skip(2).map(cells).collect()
}

/// What stands between backticks, up to its arguments.
fn names(cell: &str) -> Vec<String> {
    let coded = cell.split('`').skip(1).step_by(2);
    coded.map(|name| name.split('(').next().unwrap_or_default().to_owned()).collect()
}

/// Both ways, with the rows that are wrong.
fn assert_same(what: &str, documented: &BTreeSet<String>, there: &BTreeSet<String>) {
    let missing: Vec<&String> = there.difference(documented).collect();
    let gone: Vec<&String> = documented.difference(there).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "docs/extensions.md, {what}: rows to add: {missing:?}; rows about what is not there: {gone:?}"
    );
}

#[test]
fn every_event_has_a_row() {
    let text = documentation();
    let mut documented = BTreeMap::new();
    for row in rows(&text, "## Events") {
        for name in names(&row[0]) {
            let again = documented.insert(name, row[1].clone());
            assert_eq!(again, None, "an event has two rows: {row:?}");
        }
    }
    let there = ramal_extension::events();
    let all = there.iter().map(|event| event.name.to_owned()).collect();
    assert_same("Events", &documented.keys().cloned().collect(), &all);
    for event in there {
        let how = &documented[event.name];
        assert!(
            ["asked", "waited for", "told"].iter().any(|known| how.starts_with(known)),
            "{}: {how:?}",
            event.name
        );
        assert_eq!(how.starts_with("told"), event.is_told, "docs/extensions.md says {}: {how}", event.name);
    }
}

#[test]
fn every_import_has_a_row() {
    let documented = rows(&documentation(), "## Imports").iter().flat_map(|row| names(&row[0])).collect();
    let there = ramal_extension::imports().flatten().map(|name| (*name).to_owned()).collect();
    assert_same("Imports", &documented, &there);
}

/// Lists what the objects really have, and calls what the tables say is refused or has no effect.
const LIST: &str = r#"
    const keys = (object) => Object.keys(object);
    export default (pi) => {
        let event;
        pi.on("session_start", (_, ctx) => { event = ctx; });
        pi.registerCommand("list", { handler: async (_, ctx) => {
            const found = {
                pi: keys(pi), events: keys(pi.events), logger: keys(pi.logger), ctx: keys(event), ui: keys(ctx.ui),
                sessionManager: keys(ctx.sessionManager), modelRegistry: keys(ctx.modelRegistry),
            };
            found.command = keys(ctx).filter((key) => !found.ctx.includes(key));
            await ctx.newSession({
                setup: async (manager) => {
                    const refuses = (object, key) => {
                        try { object[key](); } catch (error) { return error.message.includes("only reads"); }
                        return false;
                    };
                    found.setup = keys(manager).filter((key) => refuses(ctx.sessionManager, key) && !refuses(manager, key));
                },
                withSession: async (next) => { found.with = keys(next).filter((key) => !(key in ctx)); },
            });
            pi.appendEntry("found", found);
        } });
        pi.registerCommand("call", { handler: async (args, ctx) => {
            const [of, name] = args.split(" ");
            const object = of === "pi" ? pi : ctx[of];
            let what = "nothing";
            try { await object[name]("x"); } catch (error) { what = error.message; }
            pi.appendEntry("called", [args, what]);
        } });
    };
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_method_has_a_row() {
    let mut world = world(&[LIST], []).await;
    world.command("list", "").await.unwrap();
    let mut found = world.kept("found").remove(0);
    let text = documentation();
    for (heading, objects) in [
        ("### `pi`", &["pi"][..]),
        ("### `pi.events`", &["events"]),
        ("### `pi.logger`", &["logger"]),
        ("### `ctx`", &["ctx"]),
        ("### `ctx.ui`", &["ui"]),
        ("### `ctx.sessionManager`", &["sessionManager"]),
        ("### `ctx.modelRegistry`", &["modelRegistry"]),
        ("### What commands can do besides", &["command"]),
        ("### Of `setup` and `withSession`", &["setup", "with"]),
    ] {
        let there = objects.iter().flat_map(|object| {
            let keys: Vec<String> = serde_json::from_value(found[*object].take()).unwrap();
            assert!(!keys.is_empty(), "{object}");
            keys
        });
        let documented = rows(&text, heading).iter().flat_map(|row| names(&row[0])).collect();
        assert_same(heading, &documented, &there.collect());
    }
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_effect_can_be_called_and_what_is_refused_says_so() {
    let world = world(&[LIST], []).await;
    let text = documentation();
    let mut seen = BTreeSet::new();
    for (heading, object) in [
        ("### `pi`", "pi"),
        ("### `ctx.ui`", "ui"),
        ("### `ctx.sessionManager`", "sessionManager"),
        ("### `ctx.modelRegistry`", "modelRegistry"),
    ] {
        for row in rows(&text, heading) {
            let status = row[1].clone();
            assert!(["works", "in part", "nothing", "refused"].contains(&&*status), "{heading}: {row:?}");
            seen.insert(status.clone());
            if status != "nothing" && status != "refused" {
                continue;
            }
            for name in names(&row[0]) {
                world.command("call", &format!("{object} {name}")).await.unwrap();
                let what = world.kept("called").pop().unwrap()[1].clone();
                if status == "nothing" {
                    assert_eq!(what, Value::from("nothing"), "{object}.{name}");
                } else {
                    assert!(what.as_str().unwrap().contains(&name), "{object}.{name}: {what}");
                }
            }
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_extension_of_the_documentation_works() {
    let text = documentation();
    let source = text.split("```ts\n").nth(1).unwrap().split("```").next().unwrap();
    let world = world(&[source], []).await;
    assert_eq!(world.problems, []);
    world.command("greet", "Ann").await.unwrap();
    assert_eq!(world.shown(), ["notify ext0 info Hello Ann"]);
    let first = world.say("first").await;
    world.user.answers.lock().unwrap().push_back("no".into());
    let moved = within(world.session.navigate_tree(&first, Default::default())).await.unwrap();
    assert!(moved.cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_are_those_of_the_documentation() {
    let text = documentation();
    let usual = ramal_extension::Options::new(".");
    let rows = rows(&text, "## Limits");
    let limits: Vec<&str> = rows.iter().map(|row| &*row[1]).collect();
    assert_eq!(
        limits,
        [
            format!("{} s", usual.running_time.as_secs()),
            format!("{} s", usual.event_time.as_secs()),
            format!("{} MB", usual.memory >> 20),
            format!("{} MB", usual.stack >> 20),
            format!("{} MB, a part of its memory", usual.memory >> 25),
        ]
    );
}

#[test]
fn every_example_is_named() {
    let text = documentation();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/extensions");
    for file in std::fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            text.contains(&format!("(../examples/extensions/{name}")),
            "docs/extensions.md misses {name}"
        );
    }
    for link in text.split("(../examples/").skip(1) {
        let file = link.split(')').next().unwrap();
        assert!(folder.join("..").join(file).exists(), "docs/extensions.md names {file}, which is not there");
    }
}

/// All that tests and examples have an extension do, but for this file.
fn tried() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("tests"), here.join("../../examples/extensions")];
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_source = path.extension().is_some_and(|end| end == "rs" || end == "ts");
            if path.is_dir() {
                folders.push(path);
            } else if is_source && !path.ends_with("examples/documentation.rs") {
                text += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    text
}

#[test]
fn everything_that_works_is_used_by_a_test() {
    let (text, tried) = (documentation(), tried());
    let words: BTreeSet<&str> =
        tried.split(|char: char| !char.is_alphanumeric() && !"_$.".contains(char)).collect();
    let is_used = |name: &str| words.iter().any(|word| word.split('.').any(|part| part == name));
    let events = rows(&text, "## Events");
    let events = events.iter().flat_map(|row| names(&row[0]));
    let unheard: Vec<String> = events.filter(|name| !words.contains(&**name)).collect();
    assert_eq!(unheard, Vec::<String>::new(), "no extension of the tests hears these");
    let headings = text.lines().filter(|line| line.starts_with("### "));
    let methods = headings.flat_map(|heading| rows(&text, heading));
    let works = methods.filter(|row| row[1] == "works" || row[1] == "in part");
    let unused: Vec<String> = works.flat_map(|row| names(&row[0])).filter(|name| !is_used(name)).collect();
    assert_eq!(unused, Vec::<String>::new(), "no extension of the tests uses these");
}
