//! Examples that work with a repository.

use serde_json::json;

use crate::scene::{Scene, calls, says, slowly};

pub(crate) fn dirty_repo_guard(scene: &Scene) {
    scene.repository();
    let mut talk = scene.answered(&[says("Done.")]);
    talk.say("hello");
    talk.ask("clean", json!({"type": "new_session"}));
    assert_eq!(talk.answer("clean")["cancelled"], false);
    scene.write("kept.txt", "two\n");
    for (option, is_cancelled) in [("No", true), ("Yes", false)] {
        talk.ask("new", json!({"type": "new_session"}));
        talk.choose("You have 1 uncommitted file(s). new session anyway?", option);
        assert_eq!(talk.answer("new")["cancelled"], is_cancelled);
    }
    talk.notified("Commit your changes first");
    talk.close();
}

pub(crate) fn git_checkpoint(scene: &Scene) {
    scene.repository();
    scene.write("kept.txt", "before\n");
    let mut talk = scene.answered(&[
        calls("write", json!({"path": "kept.txt", "content": "after\n"})),
        calls("ls", json!({})),
        slowly(" done."),
    ]);
    talk.begin("change it");
    talk.0.wait(|line| line["assistantMessageEvent"]["type"] == "text_delta");
    talk.done();
    // Commits that no branch leads to: what the work tree was like at the beginning of each turn.
    let lost = scene.git(&["fsck", "--no-reflogs", "--unreachable", "--no-progress"]);
    let commits = lost.lines().filter_map(|line| line.strip_prefix("unreachable commit "));
    let kept: Vec<String> = commits.map(|id| scene.git(&["show", &format!("{id}:kept.txt")])).collect();
    assert!(kept.contains(&"before\n".to_owned()) && kept.contains(&"after\n".to_owned()), "{kept:?}");
    assert_eq!(scene.git(&["stash", "list"]), "");
    talk.close();
}

pub(crate) fn auto_commit_on_exit(scene: &Scene) {
    scene.repository();
    let mut talk = scene.answered(&[says("The second line is better.\nReally.")]);
    talk.say("hello");
    scene.write("kept.txt", "one\ntwo\n");
    talk.close();
    assert_eq!(scene.git(&["log", "-1", "--format=%s"]).trim(), "[pi] The second line is better.");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

pub(crate) fn git_merge_and_resolve(scene: &Scene) {
    scene.repository();
    scene.git(&["clone", "--quiet", "--bare", ".", "theirs.git"]);
    scene.git(&["remote", "add", "origin", "theirs.git"]);
    scene.git(&["fetch", "--quiet", "origin"]);
    scene.git(&["branch", "--quiet", "--set-upstream-to=origin/main"]);
    for (text, says) in [("theirs\n", "theirs"), ("ours\n", "ours")] {
        scene.write("kept.txt", text);
        scene.git(&["commit", "--quiet", "-am", says]);
        if says == "theirs" {
            scene.git(&["push", "--quiet", "origin", "main"]);
            scene.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        }
    }
    scene.answers(&[
        json!({"when": "Resolve these conflicts", "events": [{"text": "I will."}]}),
        json!({"events": [{"text": "Hello."}]}),
    ]);
    let mut talk = scene.start(&[]);
    talk.begin("hello");
    talk.notified("fetching origin, merging origin/main");
    scene.until("the model is asked to resolve it", || {
        scene.told().iter().any(|told| told == "assistant: I will.")
    });
    let asked = scene.told().into_iter().find(|told| told.contains("Resolve these conflicts")).unwrap();
    assert!(asked.contains("kept.txt:1-5 (ours 2, theirs 4)"), "{asked}");
    talk.0.signalled(15);
}

pub(crate) fn input_transform_streaming(scene: &Scene) {
    scene.repository();
    scene.write("kept.txt", "one\ntwo\n");
    let mut talk = scene.answered(&[slowly(" be it."), says("And so on.")]);
    talk.begin("explain the changes");
    talk.0.wait(|line| line["assistantMessageEvent"]["type"] == "text_delta");
    talk.ok(json!({"type": "steer", "message": "only the diff of today"}));
    talk.done();
    let told = scene.told();
    let said: Vec<&String> = told.iter().filter(|told| told.starts_with("user:")).collect();
    assert!(said[0].contains("Current uncommitted changes") && said[0].contains("kept.txt"), "{said:?}");
    assert_eq!(said[1], "user: only the diff of today");
    talk.close();
}
