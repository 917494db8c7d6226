//! `ls`.

use super::world::{World, session, user};

#[test]
fn sessions_of_this_directory_and_of_all() {
    let world = World::new();
    let cwd = world.path("work");
    world.write("home/.pi/agent/sessions/--x--/a.jsonl", session("pi-one", &cwd, &[user("said in pi")]));
    world.write(
        "home/.omp/agent/sessions/--x--/b.jsonl",
        session("omp-one", &world.path("other"), &[user("y")]),
    );
    let run = world.run(["ls"]).done();
    assert_eq!(run.out, "", "folders are told apart by name: {}", run.err);
    assert!(run.err.contains("This directory: 0 sessions, all: 2"), "{}", run.err);
    let run = world.run(["ls", "--all"]).done();
    assert!(
        run.out.contains("said in pi") && run.out.contains(" pi") && run.out.contains(" omp"),
        "{}",
        run.out
    );
    let rows = world.run(["ls", "--all", "--json"]).done().out;
    let rows: Vec<serde_json::Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let one = rows.iter().find(|row| row["sessionId"] == "pi-one").unwrap();
    let wanted: [(&str, serde_json::Value); 6] = [
        ("source", "pi".into()),
        ("firstMessage", "said in pi".into()),
        ("messageCount", 1.into()),
        ("branchCount", 1.into()),
        ("isReadOnly", false.into()),
        ("version", "3".into()),
    ];
    for (key, want) in wanted {
        assert_eq!(one[key], want, "{key}");
    }
}

#[test]
fn copies_stand_below_what_they_were_made_of() {
    let world = World::with_sample();
    world.run(["clone"]).done();
    let run = world.run(["ls"]).done();
    let rows: Vec<_> = run.out.lines().collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(!rows[0].contains('└') && rows[1].contains("└ week 53"), "{rows:?}");
    // What stands first names the session.
    for row in rows {
        world.run(["labels", "--session", row.split(' ').next().unwrap()]).done();
    }
}

#[test]
fn files_that_are_no_sessions_are_told_last() {
    let world = World::with_sample();
    world.write("home/.pi/agent/sessions/--x--/bad.jsonl", "rubbish\n");
    let run = world.run(["ls", "--all"]).done();
    assert_eq!(run.out.lines().filter(|line| line.contains("week 53")).count(), 1);
    assert!(run.err.contains("warning:") && run.err.contains("bad.jsonl is no session"), "{}", run.err);
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let world = World::with_sample();
    world.run(["clone"]).done();
    for columns in [1, 7, 13, 20, 31, 60, 80, 120, 200] {
        let commands = [
            &["ls", "--all"][..],
            &["labels"],
            &["diff", "leaf~9", "leaf"],
            &["context"],
            &["tree"],
            &["log"],
        ];
        for args in commands {
            let mut command = world.command();
            let output = command.env("COLUMNS", columns.to_string()).args(args).output().unwrap();
            assert!(output.status.success(), "{args:?} {columns}");
            let text = String::from_utf8(output.stdout).unwrap();
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            // What is read as prose wants 20.
            let prose = args[0] == "log";
            assert!(
                widest <= if prose { columns.max(20) } else { columns },
                "{args:?} {columns}: {widest}\n{text}"
            );
        }
    }
}
