//! Commands: what they say, how they end, and that nothing is left of them.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

/// Longer than any test may take; whoever sleeps so long is to be ended.
const LONG: &str = "300";

impl Place {
    async fn bash(&self, command: &str) -> ToolResult {
        self.run("bash", json!({ "command": command })).await
    }

    /// Waits until a command has written the ids of its processes to a file, and answers them.
    async fn ids(&self, count: usize) -> Vec<String> {
        loop {
            let text = std::fs::read_to_string(self.cwd.join("ids")).unwrap_or_default();
            if text.lines().count() == count && text.ends_with('\n') {
                return text.lines().map(str::to_owned).collect();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Whether a process is there and is not only waiting to be asked for its end.
fn lives(id: &str) -> bool {
    let ps = std::process::Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
    let state = String::from_utf8_lossy(&ps.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

#[tokio::test]
async fn a_command_says_what_it_has_to_say() {
    let place = Place::new();
    for (command, want) in [
        ("echo out; echo err >&2; echo out", "out\nerr\nout"),
        ("pwd -P", place.cwd.to_str().unwrap()),
        ("true", "(no output)"),
        ("printf 'a\\377b\\033[31mred\\033[0m\\n'", "a\u{fffd}bred"),
        ("cat; test -t 0 || echo none", "none"),
        ("(exec < /dev/tty) 2>/dev/null || echo no terminal", "no terminal"),
        ("x=(1 2); echo ${x[1]}", "2"),
    ] {
        assert_eq!(fine(&place.bash(command).await), want, "{command}");
    }
    let failing = place.bash("echo x; exit 7").await;
    assert_eq!(failed(&failing), "x\n\n[The command ended with exit code 7.]");
    assert_eq!(details(&failing)["exitCode"], 7);
    assert!(failed(&place.bash("kill -9 $$").await).contains("signal 9"));
    assert!(failed(&place.bash("-x").await).contains("exit code 127"));
    assert!(failed(&place.bash("a\0b").await).contains("could not be started"));
}

#[tokio::test]
async fn variables_that_hold_keys_are_not_seen() {
    let place = Place::new();
    let look =
        "printf '%s|' \"$CARGO_PKG_NAME\" \"${CARGO_MANIFEST_DIR:+there}\"; env | grep -c ^CARGO_PKG_NAME=";
    assert!(fine(&place.bash(look).await).starts_with("ramal-agent|there|1"));
    hide_variables(["CARGO_PKG_NAME".to_owned(), "RAMAL_NOT_SET".to_owned(), "a=b".to_owned()]);
    let hidden = place.bash(look).await;
    hide_variables([]);
    assert!(failed(&hidden).starts_with("|there|0"), "{hidden:?}");
}

#[tokio::test]
async fn of_a_long_output_the_end_is_shown_and_the_whole_kept() {
    let place = Place::new();
    let result = place.bash("seq 1 30000").await;
    let (body, note) = fine(&result).split_once("\n\n[").unwrap();
    assert_eq!((body.lines().next(), body.lines().last()), (Some("28001"), Some("30000")));
    assert!(note.contains("The last 2000 of 30000 lines"), "{note}");
    let details = details(&result);
    assert_eq!(
        (&details["truncation"]["totalLines"], &details["truncation"]["truncatedBy"]),
        (&json!(30000), &json!("lines"))
    );
    let path = PathBuf::from(details["fullOutputPath"].as_str().unwrap());
    assert!(note.contains(path.to_str().unwrap()) && path.starts_with(&place.overflow));
    let want: String = (1..=30000).map(|n| format!("{n}\n")).collect();
    assert!(std::fs::read_to_string(&path).unwrap() == want);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    let line = place.bash("head -c 3000000 /dev/zero | tr '\\0' x").await;
    let (body, note) = fine(&line).split_once("\n\n[").unwrap();
    assert!(body.len() == MAX_BYTES && note.starts_with("The end of line 1 is shown"), "{note}");
}

#[tokio::test]
async fn a_short_output_leaves_no_file() {
    let place = Place::new();
    fine(&place.bash("seq 1 2000").await);
    assert!(!place.overflow.exists());
    // More than may be shown, but nothing once the colours are taken out.
    let coloured = place.bash("for n in $(seq 1 1500); do printf '\\033[1;31m%0.40d\\033[0m\\033[0m\\033[0m\\r\\n' 1 | cut -c 1-20; done").await;
    assert!(!fine(&coloured).contains("limit"), "{coloured:?}");
    let left = std::fs::read_dir(&place.overflow).map(|folder| folder.count()).unwrap_or_default();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn output_is_told_while_a_command_runs_but_not_too_often() {
    let place = Place::new();
    let start = Instant::now();
    fine(&place.bash("for n in 1 2 3 4 5 6 7 8 9 10; do echo $n; seq 1 100 >&2; sleep 0.05; done").await);
    let most = start.elapsed().as_millis() / 100 + 2;
    let updates = place.updates.lock().unwrap();
    assert!(!updates.is_empty() && updates.len() as u128 <= most, "{} of {most}", updates.len());
    assert!(updates[0].starts_with('1') && updates.windows(2).all(|pair| pair[0].len() <= pair[1].len()));
}

#[tokio::test]
async fn a_command_is_over_although_what_it_started_goes_on() {
    let place = Place::new();
    for background in [format!("sleep {LONG}"), "yes".to_owned()] {
        let result = place.bash(&format!("{background} & echo $! > id; echo done")).await;
        assert!(!result.is_error, "{result:?}");
        let id = std::fs::read_to_string(place.cwd.join("id")).unwrap();
        if background != "yes" {
            assert_eq!(text(&result), "done");
            assert!(lives(id.trim()));
        }
        std::process::Command::new("kill")
            .args(["-9", id.trim()])
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
    }
}

/// A tree of processes that do not listen: in the background, in a group of its own, in a session of
/// its own, and stopped.
fn stubborn() -> String {
    format!(
        "trap '' TERM HUP INT
         echo $$ >> ids
         (trap '' TERM; echo $BASHPID >> ids; while :; do sleep 0.05; done) &
         bash -c 'trap \"\" TERM; set -m; sleep {LONG} & echo $! >> ids; wait' &
         setsid bash -c 'trap \"\" TERM; echo $$ >> ids; while :; do sleep 0.05; done' &
         bash -c 'echo $$ >> ids; kill -STOP $$; sleep {LONG}' &
         echo started
         while :; do sleep 0.05; done"
    )
}

#[tokio::test]
async fn nothing_is_left_after_an_abort() {
    let place = Place::new();
    let command = stubborn();
    let aborting = async {
        let ids = place.ids(5).await;
        assert!(ids.iter().all(|id| lives(id)));
        place.abort.cancel();
        ids
    };
    let (result, ids) = tokio::join!(place.bash(&command), aborting);
    assert!(failed(&result).contains("[The command was aborted"), "{result:?}");
    for id in ids {
        assert!(!lives(&id), "{id}");
    }
    failed(&place.bash("touch never").await);
    assert!(!place.cwd.join("never").exists());
}

#[tokio::test]
async fn nothing_is_left_when_the_time_is_over() {
    let place = Place::new();
    let arguments = json!({ "command": stubborn(), "timeout": 2.5 });
    let result = place.run("bash", arguments).await;
    assert!(failed(&result).contains("its time of 2.5 s was over"), "{result:?}");
    // As many as there were by then.
    for id in std::fs::read_to_string(place.cwd.join("ids")).unwrap_or_default().lines() {
        assert!(!lives(id), "{id}");
    }
    let tidy = json!({ "command": "trap 'echo tidied; exit 0' TERM; sleep 300 & wait", "timeout": 2 });
    assert!(failed(&place.run("bash", tidy).await).starts_with("tidied\n"));
    // More than a pipe holds.
    let long = json!({ "command": "trap 'seq 1 60000; exit 0' TERM; sleep 300 & wait", "timeout": 2 });
    assert!(failed(&place.run("bash", long).await).contains("60000\n\n[The last 2000 of 60000 lines"));
    for timeout in [json!(0), json!(-1), json!("soon")] {
        failed(&place.run("bash", json!({ "command": "true", "timeout": timeout })).await);
    }
}

#[tokio::test]
async fn nothing_is_left_when_the_call_is_dropped() {
    let place = Place::new();
    let command = stubborn();
    let ids = tokio::select! {
        _ = place.bash(&command) => panic!("it ended by itself"),
        ids = place.ids(5) => ids,
    };
    while ids.iter().any(|id| lives(id)) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn without_a_folder_the_rest_is_left_out() {
    let place = Place::new();
    let arguments = json!({ "command": "seq 1 5000" }).to_string();
    let call = Call {
        id: "c1",
        arguments: &arguments,
        cwd: &place.cwd,
        overflow: None,
        abort: place.abort.clone(),
        update: &|_| {},
    };
    let result = Bash::default().run(call).await;
    assert!(fine(&result).ends_with("[The last 2000 of 5000 lines are shown (limit 2000 lines).]"));
    assert!(details(&result).get("fullOutputPath").is_none());
}
