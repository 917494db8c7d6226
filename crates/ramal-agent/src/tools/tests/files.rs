//! Reading, writing and editing files.

use serde_json::json;

use super::*;

#[tokio::test]
async fn lines_are_read_in_ranges() {
    let place = Place::new();
    place.put("a.txt", "one\ntwo\r\nthree");
    for (arguments, want) in [
        (json!({"path": "a.txt"}), "one\ntwo\r\nthree"),
        (json!({"path": "a.txt", "offset": 0, "limit": 3}), "one\ntwo\r\nthree"),
        (json!({"path": "a.txt", "offset": 3}), "three"),
        (json!({"path": "./x/../a.txt", "offset": "2", "limit": 9}), "two\r\nthree"),
    ] {
        assert_eq!(fine(&place.run("read", arguments).await), want);
    }
    let some = place.run("read", json!({"path": "a.txt", "offset": 2, "limit": 1})).await;
    assert_eq!(fine(&some), "two\r\n\n[Lines 2-2 of 3 are shown (as asked). Go on with offset=3.]");
    let past = place.run("read", json!({"path": "a.txt", "offset": 4})).await;
    assert!(failed(&past).contains("only 3 lines"));
    place.put("empty", "");
    assert_eq!(fine(&place.run("read", json!({"path": "empty"})).await), "(The file is empty.)");
    place.put("odd", b"a\xff\n");
    assert_eq!(fine(&place.run("read", json!({"path": "odd"})).await), "a\u{fffd}\n");
}

#[tokio::test]
async fn reading_goes_on_where_the_note_says() {
    let place = Place::new();
    for line in ["x", "some words that make a longer line of some hundred bytes, again and again and again é"]
    {
        let lines: Vec<String> = (1..=4500).map(|n| format!("{n} {line}")).collect();
        place.put("long", lines.join("\n"));
        let mut seen = Vec::new();
        let mut offset = 1;
        loop {
            let result = place.run("read", json!({"path": "long", "offset": offset})).await;
            let shown = fine(&result);
            let Some((body, note)) = shown.split_once("\n\n[") else {
                seen.extend(shown.lines().map(str::to_owned));
                break;
            };
            assert!(body.len() <= MAX_BYTES && body.lines().count() <= MAX_LINES);
            assert!(note.contains("of 4500"), "{note}");
            assert_eq!(details(&result)["truncation"]["totalLines"], 4500);
            seen.extend(body.lines().map(str::to_owned));
            offset = note.split_once("offset=").unwrap().1.trim_end_matches(".]").parse().unwrap();
        }
        assert_eq!(seen, lines);
    }
}

#[tokio::test]
async fn a_line_too_long_is_cut_and_does_not_fill_memory() {
    let place = Place::new();
    place.put("long", format!("ab\n{}\nend", "é".repeat(3 << 20)));
    let first = place.run("read", json!({"path": "long"})).await;
    assert!(fine(&first).starts_with("ab\n\n[Lines 1-1 of 3"), "{first:?}");
    let second = place.run("read", json!({"path": "long", "offset": 2})).await;
    let (body, note) = fine(&second).split_once("\n\n[").unwrap();
    assert!(body.chars().all(|c| c == 'é') && body.len() == MAX_BYTES);
    assert!(note.starts_with("Line 2 of 3 is longer"), "{note}");
    assert_eq!(fine(&place.run("read", json!({"path": "long", "offset": 3})).await), "end");
}

#[tokio::test]
async fn images_are_known_by_their_first_bytes() {
    let place = Place::new();
    place.put("picture", b"\x89PNG\r\n\x1a\n\0\0");
    let result = place.run("read", json!({"path": "picture"})).await;
    let image = Content::Image { data: "iVBORw0KGgoAAA==".into(), mime_type: "image/png".into() };
    assert!(!result.is_error && result.content[1] == image, "{result:?}");
    place.put("large", [b"GIF89a".to_vec(), vec![0; 4_000_000]].concat());
    assert!(failed(&place.run("read", json!({"path": "large"})).await).contains("too large"));
    place.put("not.png", "text");
    assert_eq!(fine(&place.run("read", json!({"path": "not.png"})).await), "text");
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let place = Place::new();
    place.put("binary", b"abc\0def");
    place.put("folder/x", "");
    for (path, says) in
        [("binary", "not text (7 bytes)"), ("folder", "a folder"), ("none", "could not be read")]
    {
        let result = place.run("read", json!({"path": path})).await;
        assert!(failed(&result).contains(says), "{result:?}");
    }
    #[cfg(unix)]
    {
        // Opened, it would keep whoever opens it.
        std::process::Command::new("mkfifo").arg(place.cwd.join("fifo")).status().unwrap();
        assert!(failed(&place.run("read", json!({"path": "fifo"})).await).contains("no ordinary file"));
        assert!(
            failed(&place.run("grep", json!({"path": "fifo", "pattern": "x"})).await).contains("ordinary")
        );
    }
}

#[tokio::test]
async fn files_are_written_with_their_folders() {
    let place = Place::new();
    let made = place.run("write", json!({"path": "a/b/c.txt", "content": "é\r\n"})).await;
    assert_eq!(fine(&made), "Created a/b/c.txt (4 bytes).");
    assert_eq!(place.bytes("a/b/c.txt"), "é\r\n".as_bytes());
    let again = place.run("write", json!({"path": "a/b/c.txt", "content": ""})).await;
    assert_eq!(
        (fine(&again), details(&again)["created"].as_bool()),
        ("Replaced a/b/c.txt (0 bytes).", Some(false))
    );
    assert!(place.bytes("a/b/c.txt").is_empty());
    failed(&place.run("write", json!({"path": "a/b", "content": "x"})).await);
    failed(&place.run("write", json!({"path": "a/b/c.txt/d", "content": "x"})).await);
    failed(&place.run("write", json!({"path": "new"})).await);
    place.abort.cancel();
    failed(&place.run("write", json!({"path": "late", "content": "x"})).await);
    let names: Vec<_> = std::fs::read_dir(&place.cwd).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new();
    let mode = |name: &str| std::fs::metadata(place.cwd.join(name)).unwrap().permissions().mode() & 0o7777;
    let file = place.put("script", "old");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o751)).unwrap();
    symlink("script", place.cwd.join("link")).unwrap();
    symlink("not/there/yet", place.cwd.join("dangling")).unwrap();
    fine(&place.run("write", json!({"path": "link", "content": "new"})).await);
    assert_eq!((place.bytes("script"), mode("script")), (b"new".to_vec(), 0o751));
    fine(&place.run("edit", json!({"path": "link", "oldText": "new", "newText": "newer"})).await);
    assert_eq!((place.bytes("script"), mode("script")), (b"newer".to_vec(), 0o751));
    assert!(place.cwd.join("link").is_symlink());
    fine(&place.run("write", json!({"path": "dangling", "content": "x"})).await);
    assert!(place.cwd.join("dangling").is_symlink() && place.bytes("not/there/yet") == b"x");
    // As any other program would have made it.
    let usual = std::process::Command::new("sh").args(["-c", "touch usual"]).current_dir(&place.cwd).status();
    assert!(usual.unwrap().success());
    assert_eq!(mode("not/there/yet"), mode("usual"));
    // Root may write everything.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    if std::fs::File::options().append(true).open(&file).is_err() {
        failed(&place.run("write", json!({"path": "script", "content": "x"})).await);
        assert_eq!(place.bytes("script"), b"newer");
    }
}

#[tokio::test]
async fn edits_are_made_all_or_none() {
    let place = Place::new();
    let before = "\u{feff}one\r\ntwo\r\nthree\r\n";
    place.put("a", before);
    let edits = |second: &str| {
        json!({"path": "a", "edits": [
            {"oldText": "one\ntwo", "newText": "1\n2"}, {"oldText": second, "newText": "3"}]})
    };
    for (second, says) in [("four", "edits[1]"), ("two\nthree", "overlap"), ("", "empty"), ("e", "3 places")]
    {
        let result = place.run("edit", edits(second)).await;
        assert!(failed(&result).contains(says) && text(&result).contains("a was not changed"), "{result:?}");
        assert_eq!(place.bytes("a"), before.as_bytes());
    }
    let done = place.run("edit", edits("three")).await;
    assert_eq!(fine(&done), "Replaced 2 parts of a.");
    assert_eq!(place.bytes("a"), "\u{feff}1\r\n2\r\n3\r\n".as_bytes());
    let details = details(&done);
    assert_eq!(details["firstChangedLine"], 1);
    assert!(
        details["patch"].as_str().unwrap().starts_with("--- a\n+++ a\n@@ -1,3 +1,3 @@\n-one"),
        "{details}"
    );
    assert_eq!(details["diff"], "-1 one\n-2 two\n-3 three\n+1 1\n+2 2\n+3 3");
}

#[tokio::test]
async fn edits_are_taken_in_the_forms_in_which_models_write_them() {
    let place = Place::new();
    for arguments in [
        json!({"path": "a", "oldText": "x", "newText": "y"}),
        json!({"path": "a", "edits": "[{\"oldText\":\"x\",\"newText\":\"y\"}]"}),
        json!({"file_path": "a", "edits": {"oldText": "x", "newText": "y"}}),
        json!({"path": "a", "edits": [], "oldText": "x", "newText": "y"}),
    ] {
        place.put("a", "<x>");
        fine(&place.run("edit", arguments).await);
        assert_eq!(place.bytes("a"), b"<y>");
    }
    for arguments in [
        json!({"path": "a"}),
        json!({"path": "a", "edits": []}),
        json!({"path": "a", "edits": [{"oldText": "x"}]}),
        json!({"path": "a", "edits": 5}),
        json!({"path": "none", "oldText": "x", "newText": "y"}),
        json!({"path": ".", "oldText": "x", "newText": "y"}),
    ] {
        failed(&place.run("edit", arguments).await);
    }
    place.put("latin", b"x\xe9");
    assert!(
        failed(&place.run("edit", json!({"path": "latin", "oldText": "x", "newText": ""})).await)
            .contains("UTF-8")
    );
    assert_eq!(place.bytes("latin"), b"x\xe9");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_edits_of_a_file_at_once_are_both_there() {
    let place = Place::new();
    let lines: String = (0..8).map(|n| format!("<{n}>\n")).collect();
    place.put("a", &lines);
    let edits = (0..8).map(|n| {
        place.run("edit", json!({"path": "a", "oldText": format!("<{n}>"), "newText": format!("[{n}]")}))
    });
    for result in futures_util::future::join_all(edits).await {
        fine(&result);
    }
    assert_eq!(place.bytes("a"), lines.replace('<', "[").replace('>', "]").as_bytes());
}
