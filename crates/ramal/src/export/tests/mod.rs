//! Files and texts of sessions made for the purpose.

mod page;

use std::fs;
use std::path::{Path, PathBuf};

use ramal_session::SessionManager;
use tempfile::TempDir;

use self::page::is_ours;
use super::*;

/// A folder with a session in it.
struct World {
    root: TempDir,
}

impl World {
    fn new() -> World {
        World { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn session(&self, lines: &[&str]) -> SessionManager {
        self.session_with(
            r#"{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#,
            lines,
        )
    }

    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn session_with(&self, header: &str, lines: &[&str]) -> SessionManager {
        let path = self.path("s.jsonl");
        fs::write(&path, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
        SessionManager::open(&path, None).unwrap()
    }

    fn page(&self, session: &SessionManager) -> String {
        html(session, &self.path("page.html"), &Options { force: true, secrets: None }).unwrap();
        fs::read_to_string(self.path("page.html")).unwrap()
    }
}

/// A line of a session: `what` behind an envelope with an id, and a parent that may be "".
fn line(id: &str, parent: &str, what: &str) -> String {
    let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
    let kind = if what.starts_with("\"type\"") { "" } else { "\"type\":\"message\"," };
    format!(r#"{{{kind}"id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z",{what}}}"#)
}

fn user(id: &str, parent: &str, text: &str) -> String {
    line(
        id,
        parent,
        &format!(r#""message":{{"role":"user","content":{}}}"#, ramal_session::json::quote(text)),
    )
}

#[test]
fn an_empty_session_has_a_page() {
    let world = World::new();
    let mut session = world.session(&[&user("a", "", "x")]);
    session.reset_leaf();
    let page = world.page(&session);
    is_ours(&page);
    assert!(page.contains("before the first entry"));
    let session = SessionManager::in_memory("/w");
    html(&session, &world.path("empty.html"), &Options::default()).unwrap();
    is_ours(&fs::read_to_string(world.path("empty.html")).unwrap());
    assert!(jsonl(&session, &world.path("empty.jsonl"), &Options::default()).is_err());
    assert!(!world.path("empty.jsonl").exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn no_file_is_replaced_unless_asked_for() {
    let world = World::new();
    let session = world.session(&[&user("a", "", "x")]);
    for name in ["a.html", "a.jsonl", "a.md"] {
        let out = world.path(name);
        fs::write(&out, "mine").unwrap();
        let error = export(&session, &out, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("there already"), "{error}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
        export(&session, &out, &Options { force: true, secrets: None }).unwrap();
        assert_ne!(fs::read_to_string(&out).unwrap(), "mine");
    }
    let own = session.get_session_file().unwrap();
    let before = fs::read(own).unwrap();
    assert!(export(&session, own, &Options { force: true, secrets: None }).is_err());
    assert_eq!(fs::read(own).unwrap(), before);
    assert!(export(&session, &world.path("none/a.html"), &Options::default()).is_err());
    let left: Vec<_> =
        fs::read_dir(world.root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[cfg(unix)]
#[test]
fn what_is_written_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let session = world.session(&[&user("a", "", "x")]);
    for name in ["a.html", "a.jsonl", "a.txt"] {
        export(&session, &world.path(name), &Options::default()).unwrap();
        assert_eq!(fs::metadata(world.path(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_name_that_is_free_and_stays_inside() {
    let world = World::new();
    let session = world.session_with(
        r#"{"type":"session","version":3,"id":"../../outside","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#,
        &[&user("a", "", "x")],
    );
    let folder = world.path("");
    let first = free_name(&session, &folder);
    assert_eq!(first.parent(), Some(&*folder));
    html(&session, &first, &Options::default()).unwrap();
    let second = free_name(&session, &folder);
    assert_ne!(first, second);
    assert_eq!(free_name(&SessionManager::in_memory("/w"), &folder), folder.join("ramal-session.html"));
}

#[test]
fn a_file_comes_back_as_an_equal_tree() {
    let world = World::new();
    let lines = [
        user("a", "", "q1"),
        line("b", "a", r#""message":{"role":"assistant","content":"a1"},"odd":[1,2.50]"#),
        line("c", "b", r#""type":"label","targetId":"b","label":"fork here""#),
        user("d", "c", "left"),
        user("e", "b", "right"),
        line("f", "e", r#""type":"hologram","beam":"\ud83d""#),
        line("g", "f", r#""type":"session_info","name":"round trip""#),
    ];
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let session = world.session(&lines);
    jsonl(&session, &world.path("out.jsonl"), &Options::default()).unwrap();
    let made = import(&world.path("out.jsonl"), Path::new("/there"), Some(&world.path("store"))).unwrap();
    let (out, made) = (
        SessionManager::open(&world.path("out.jsonl"), None).unwrap(),
        SessionManager::open(&made, None).unwrap(),
    );
    let origin = |session: &SessionManager| session.get_header().parent_session().map(PathBuf::from);
    assert_eq!(origin(&out).as_deref(), session.get_session_file());
    assert_eq!(origin(&made).unwrap(), fs::canonicalize(world.path("out.jsonl")).unwrap());
    assert_eq!(made.get_cwd(), "/there");
    let ids = [session.get_session_id(), out.get_session_id(), made.get_session_id()];
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    let raw = |session: &SessionManager, id: &str| session.get_raw(id).unwrap();
    for id in ["a", "b", "e", "f", "g"] {
        assert_eq!(raw(&made, id), raw(&session, id), "{id}");
    }
    for copy in [&out, &made] {
        assert!(copy.get_entry("d").is_none(), "it is on another branch");
        assert_eq!(copy.get_label("b"), Some("fork here"));
        assert_eq!(copy.get_session_name().as_deref(), Some("round trip"));
    }
    let of = |session: &SessionManager| -> Vec<Vec<u8>> {
        session.get_entries().map(|entry| raw(session, &entry.id().unwrap()).unwrap()).collect()
    };
    assert_eq!(of(&out), of(&made));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn what_is_no_session_is_refused_with_a_reason() {
    let world = World::new();
    let session = world.session(&[&user("a", "", "x")]);
    export(&session, &world.path("page.html"), &Options::default()).unwrap();
    // The name says nothing.
    fs::copy(world.path("page.html"), world.path("page.jsonl")).unwrap();
    export(&session, &world.path("text.md"), &Options::default()).unwrap();
    for (name, content) in [
        ("list.json", r#"[{"role":"user"}]"#),
        ("empty.jsonl", " \n"),
        (
            "claude.jsonl",
            r#"{"type":"user","uuid":"u","parentUuid":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#,
        ),
        ("headless.jsonl", &user("a", "", "x")),
        ("words.jsonl", "hello"),
        ("future.jsonl", r#"{"kind":"header","version":4}"#),
    ] {
        fs::write(world.path(name), content).unwrap();
    }
    for (name, reason) in [
        ("page.html", "a web page"),
        ("page.jsonl", "a web page"),
        ("text.md", "a text"),
        ("list.json", "a list"),
        ("empty.jsonl", "empty"),
        ("claude.jsonl", "no"),
        ("headless.jsonl", "no header"),
        ("words.jsonl", "no session"),
        ("future.jsonl", "format"),
        ("", "a folder"),
        ("not-there.jsonl", "not-there.jsonl"),
    ] {
        let error = import(&world.path(name), Path::new("/w"), Some(&world.path("store"))).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains(reason), "{name}: {error}");
    }
    assert!(!world.path("store").exists());
}

#[test]
fn a_path_as_text() {
    let world = World::new();
    let lines = [
        user("a", "", "why?\u{1b}[2J\ttab"),
        line(
            "b",
            "a",
            r#""message":{"role":"assistant","stopReason":"aborted","content":[{"type":"thinking","thinking":"hm\nhm"},{"type":"text","text":"because"},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}]}"#,
        ),
        line(
            "c",
            "b",
            r#""message":{"role":"toolResult","toolCallId":"c","isError":true,"content":[{"type":"text","text":"a\n```\nb"},{"type":"image","mimeType":"image/png","data":"x"}]}"#,
        ),
        line("d", "c", r#""type":"label","targetId":"b","label":"here""#),
        user("e", "b", "on another branch"),
        line("f", "d", r#""type":"session_info","name":"a name""#),
        line("g", "f", r#""message":{"role":"bashExecution","command":"false","output":"out","exitCode":1}"#),
    ];
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let session = world.session(&lines);
    let text = dump(&session, &Options::default()).unwrap();
    let want = "# a name\n\n## User\n\nwhy?␛[2J\ttab\n\n## Assistant [here]\n\n> hm\n> hm\n\nbecause\n\n→ bash ls\n\n✗ aborted\n\n\
        ## Result of bash\n\n(failed)\n\n````\na\n```\nb\n````\n\n(image/png)\n\n## Command\n\n```\n$ false\n```\n\n```\nout\n```\n\n(exit 1)\n";
    assert_eq!(text, want);
}

#[test]
fn a_blanked_export_has_no_secret_in_any_place() {
    let world = World::new();
    // Only one place says what it is; another is known by its shape.
    let (plain, shaped) = ("Zebra-crossing-4711", "ghp_0123456789abcdefghijABCDEFGHIJ012345");
    let both = format!("{plain} and {shaped}");
    let quoted = ramal_session::json::quote(&both);
    let lines = [
        user("a", "", &format!("my token is {plain}")),
        line(
            "b",
            "a",
            &format!(
                r#""message":{{"role":"assistant","model":{quoted},"content":[{{"type":"text","text":"used **{both}**"}},{{"type":"toolCall","id":"c1","name":"bash","arguments":{{"command":"curl -H 'X-Key: {plain}' {shaped}"}}}}]}}"#
            ),
        ),
        line(
            "c",
            "b",
            &format!(
                r#""message":{{"role":"toolResult","toolCallId":"c1","toolName":"bash","details":{{"diff":{quoted}}},"content":[{{"type":"text","text":{quoted}}},{{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}}]}}"#
            ),
        ),
        line("d", "c", &format!(r#""type":"label","targetId":"b","label":{quoted}"#)),
        line("e", "d", &format!(r#""type":"session_info","name":{quoted}"#)),
        line("f", "e", &format!(r#""type":"branch_summary","summary":{quoted}"#)),
        line("g", "f", &format!(r#""type":"custom","customType":{quoted},"data":{{{quoted}:[{quoted}]}}"#)),
        line("h", "g", &format!(r#""type":{quoted},"x":{quoted}"#)),
    ];
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let header = format!(
        r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w/{plain}","parentSession":"/x/{plain}","title":{quoted}}}"#
    );
    let session = world.session_with(&header, &lines);
    for name in ["b.html", "b.jsonl", "b.md"] {
        let secrets = Some(Secrets::of(&session, &[]).unwrap());
        export(&session, &world.path(name), &Options { force: false, secrets }).unwrap();
        let text = fs::read_to_string(world.path(name)).unwrap();
        for secret in [plain, &plain[..13], shaped, "ghp_", "iVBORw0KGgo"] {
            assert!(!text.contains(secret), "{secret} is in {name}: {text}");
        }
        assert!(text.contains("[redacted]"), "{name}");
    }
    let copy = SessionManager::open(&world.path("b.jsonl"), None).unwrap();
    assert_eq!((copy.damaged_lines(), copy.get_label("b")), (0, Some("[redacted] and [redacted]")));
    let result = copy.get_entry("c").unwrap().read().unwrap();
    assert!(result.json().contains("[picture left out]"));
}

#[test]
fn what_cannot_be_looked_into_is_not_given_away() {
    let world = World::new();
    let lines = [
        user("a", "", "x"),
        line("b", "a", r#""message":{"role":"user","content":sk-oops}"#),
        user("c", "b", "y"),
    ];
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let session = world.session(&lines);
    let redact = || Options { force: false, secrets: Some(Secrets::of(&session, &[]).unwrap()) };
    let error = jsonl(&session, &world.path("c.jsonl"), &redact()).unwrap_err().to_string();
    assert!(error.contains("entry b"), "{error}");
    assert!(!world.path("c.jsonl").exists());
    html(&session, &world.path("c.html"), &redact()).unwrap();
    assert!(!fs::read_to_string(world.path("c.html")).unwrap().contains("sk-oops"));
}
