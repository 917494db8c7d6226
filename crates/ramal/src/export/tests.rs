//! Pages, files and texts of sessions made for the purpose, some of them by somebody who means harm.

use std::fs;
use std::path::{Path, PathBuf};

use ramal_session::SessionManager;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::html::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
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

/// An element as it begins or ends, taken apart as a browser would.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// The tags of a page; the texts of scripts and styles are checked and passed over.
fn tags(page: &str) -> Vec<Tag> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut tags = Vec::new();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '/').unwrap();
        let mut tag = Tag { name: rest[..end].to_owned(), attributes: Vec::new() };
        rest = &rest[end..];
        while !rest.starts_with('>') {
            rest = rest.trim_start();
            let end = rest.find(['=', ' ', '>']).unwrap();
            let name = rest[..end].to_owned();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix('=') {
                let quoted = quoted.strip_prefix('"').unwrap_or_else(|| panic!("{name} is not quoted"));
                let end = quoted.find('"').unwrap();
                value = quoted[..end].to_owned();
                rest = &quoted[end + 1..];
            }
            tag.attributes.push((name, value));
        }
        rest = &rest[1..];
        for (name, text) in [("script", SCRIPT), ("style", STYLE)] {
            if tag.name == name {
                rest = rest.strip_prefix(text).unwrap_or_else(|| panic!("another {name} than ours"));
                assert!(rest.starts_with(&format!("</{name}>")));
            }
        }
        tags.push(tag);
    }
    tags
}

const ELEMENTS: &[&str] = &[
    "html",
    "head",
    "meta",
    "title",
    "style",
    "script",
    "body",
    "header",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "span",
    "div",
    "section",
    "form",
    "select",
    "option",
    "input",
    "button",
    "main",
    "noscript",
    "article",
    "time",
    "a",
    "strong",
    "em",
    "del",
    "code",
    "pre",
    "details",
    "summary",
    "dl",
    "dt",
    "dd",
    "img",
    "ul",
    "ol",
    "li",
    "blockquote",
    "br",
    "hr",
    "table",
    "thead",
    "tr",
    "th",
    "td",
];

const ATTRIBUTES: &[&str] = &[
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "id",
    "class",
    "aria-label",
    "hidden",
    "value",
    "selected",
    "type",
    "placeholder",
    "autocomplete",
    "role",
    "tabindex",
    "title",
    "datetime",
    "data-up",
    "data-marks",
    "data-kind",
    "data-who",
    "data-says",
    "data-label",
    "open",
    "start",
    "href",
    "rel",
    "target",
    "src",
    "alt",
];

/// Nothing in a page is anybody's but ours: every element, attribute and address is of a kind that we write.
#[track_caller]
fn is_ours(page: &str) -> Vec<Tag> {
    let tags = tags(page);
    for tag in &tags {
        assert!(ELEMENTS.contains(&tag.name.trim_start_matches('/')), "{tag:?}");
        for (name, value) in &tag.attributes {
            assert!(ATTRIBUTES.contains(&&**name), "{tag:?}");
            match &**name {
                "href" => assert!(
                    value.starts_with("#n")
                        || value.starts_with("https://")
                        || value.starts_with("http://")
                        || value.starts_with("mailto:"),
                    "{tag:?}"
                ),
                "src" => {
                    let data =
                        value.strip_prefix("data:image/png;base64,").unwrap_or_else(|| panic!("{tag:?}"));
                    assert!(
                        data.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)),
                        "{tag:?}"
                    );
                }
                _ => {}
            }
        }
    }
    assert_eq!(tags.iter().filter(|tag| tag.name == "script").count(), 1);
    assert_eq!(tags.iter().filter(|tag| tag.name == "style").count(), 1);
    tags
}

const EVIL: &str = r#"</script></style></textarea></pre></title><!--<script>steal()</script><img src=x onerror="steal()"> '"><svg onload=steal()> [x](javascript:steal()) [y](JaVaScRiPt:steal()) [d](data:text/html,<script>steal()</script>) ![i](javascript:steal()) ![j](https://evil.example/x.png) [ok](https://good.example/?a="b"&c=<d>) <https://good.example> <script>

<script>
steal()
</script>

<div onclick="steal()">

# h <b onmouseover=steal()>

| a | `</td>` |
|---|---|
| <script> | b |

```html" onload="steal()
</code></pre><script>steal()</script>
```

[ref]: javascript:steal() "title\" onload=x"
[ref]
"#;

fn hostile(world: &World) -> SessionManager {
    let evil = ramal_session::json::quote(EVIL);
    let odd = "../../x\\\"><script>steal()</script>";
    let mut lines = vec![
        user("e1", "", EVIL),
        line(odd, "e1", &format!(r#""message":{{"role":"assistant","model":{evil},"stopReason":"error","errorMessage":{evil},"content":[
            {{"type":"thinking","thinking":{evil}}},{{"type":"text","text":{evil}}},{{"type":{evil},"x":{evil}}},
            {{"type":"toolCall","id":"c1","name":{evil},"arguments":{{"path":{evil},{evil}:{evil}}}}}]}}"#).replace('\n', "")),
        line("e3", odd, &format!(r#""message":{{"role":"toolResult","toolCallId":"c1","toolName":{evil},"isError":true,"details":{{"diff":{evil}}},"content":[{{"type":"text","text":{evil}}}]}}"#)),
        line("e4", "e3", &format!(r#""message":{{"role":{evil},"content":{evil}}}"#)),
        line("e5", "e4", r#""message":{"role":"user","content":[
            {"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="},
            {"type":"image","mimeType":"text/html","data":"PHNjcmlwdD4="},
            {"type":"image","mimeType":"image/svg+xml","data":"PHN2Zz4="},
            {"type":"image","mimeType":"image/png\" onload=\"steal()","data":"iVBORw0KGgo="},
            {"type":"image","mimeType":"image/png","data":"\"><script>steal()</script>"},
            {"type":"image","mimeType":"image/png","data":"blob:\"><script>"}]}"#.replace('\n', "").as_str()),
        line("e6", "e5", &format!(r#""message":{{"role":"bashExecution","command":{evil},"output":{evil},"exitCode":3}}"#)),
        line("e7", "e6", &format!(r#""message":{{"role":"fileMention","files":[{{"path":{evil},"content":{evil}}}]}}"#)),
        line("e8", "e3", &format!(r#""type":"custom_message","customType":{evil},"content":{evil},"display":false"#)),
        line("e9", "e8", &format!(r#""type":"branch_summary","summary":{evil}"#)),
        line("ea", "e9", &format!(r#""type":"compaction","summary":{evil},"tokensBefore":90000,"firstKeptEntryId":{evil}"#)),
        line("eb", "ea", &format!(r#""type":{evil},"data":{evil}"#)),
        line("ec", "eb", &format!(r#""type":"label","targetId":"e3","label":{evil}"#)),
        line("ed", "ec", &format!(r#""type":"session_info","name":{evil}"#)),
        line("ee", "ed", &format!(r#""type":"model_change","model":{evil}"#)),
    ];
    lines.push(user("ef", "ee", "\u{1b}[2J\u{202e}turned\u{0}"));
    let header = format!(
        r#"{{"type":"session","version":3,"id":{evil},"timestamp":{evil},"cwd":{evil},"parentSession":{evil}}}"#
    );
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let session = world.session_with(&header, &lines);
    assert_eq!((session.entry_count(), session.damaged_lines()), (15, 0));
    session
}

#[test]
fn nothing_that_a_session_says_is_more_than_text() {
    let world = World::new();
    let session = hostile(&world);
    let page = world.page(&session);
    let tags = is_ours(&page);
    assert_eq!(tags.iter().filter(|tag| tag.name == "img").count(), 1, "one picture is one");
    assert_eq!(tags.iter().filter(|tag| tag.name == "article").count(), session.entry_count());
    let good = r#"href="https://good.example/?a=&quot;b&quot;&amp;c=&lt;d&gt;""#;
    assert!(tags.iter().any(|tag| tag.name == "a") && page.contains("https://good.example"), "{good}");
    let bad = page.chars().find(|&c| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}');
    assert_eq!(bad, None);
    // What is no link can be read all the same.
    assert!(page.contains("(javascript:steal())") && page.contains("[ref]: javascript:steal()"));
}

/// The folder of a browser's test, if one is asked for: `scripts/check-export.sh` looks at this page.
#[test]
fn a_browser_runs_nothing_but_our_script() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/check-export.sh");
    let world = World::new();
    world.page(&hostile(&world));
    let run = std::process::Command::new("bash").arg(script).arg(world.path("page.html")).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    match run.status.code() {
        Some(77) => println!("no browser here, so that none was asked: {said}"),
        code => assert_eq!(code, Some(0), "{said}"),
    }
}

#[test]
fn the_page_lets_its_own_script_and_style_in_and_nothing_else() {
    use base64::Engine as _;
    let hash = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(digest))
    };
    assert_eq!((SCRIPT_HASH, STYLE_HASH), (&*hash(SCRIPT), &*hash(STYLE)), "put these into html/mod.rs");
    let world = World::new();
    let page = world.page(&world.session(&[&user("a", "", "x")]));
    let policy =
        format!("default-src 'none'; script-src '{SCRIPT_HASH}'; style-src '{STYLE_HASH}'; img-src data:;");
    assert!(page.contains(&policy));
    for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http"] {
        assert!(!SCRIPT.contains(way), "{way}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
}

#[test]
fn the_whole_tree_is_in_the_page() {
    let world = World::new();
    let lines = [
        user("a", "", "question"),
        line(
            "b",
            "a",
            r#""message":{"role":"assistant","content":[{"type":"text","text":"an **answer**"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"/w/f.rs"}}]}"#,
        ),
        line(
            "c",
            "b",
            r#""message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"fn main() {}"}]}"#,
        ),
        user("d", "c", "left"),
        user("e", "c", "right"),
        line("f", "e", r#""type":"label","targetId":"b","label":"fork here""#),
        line(
            "g",
            "e",
            r#""type":"custom_message","customType":"note","content":"hidden note","display":false"#,
        ),
        line("h", "g", r#""message":{"role":"developer","content":"approved plan"}"#),
        line("i", "h", r#""type":"compaction","summary":"summary text","tokensBefore":90000"#),
        line("j", "i", r#""type":"hologram","beam":"blue light""#),
        line("k", "missing", r#""message":{"role":"user","content":"an orphan"}"#),
        line("l", "j", r#""message":{"role":"user","content":oops}"#),
        line("m", "l", r#""type":"reset_boundary""#),
        user("n", "m", "last"),
    ];
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let session = world.session(&lines);
    let page = world.page(&session);
    let tags = is_ours(&page);
    let articles: Vec<&Tag> = tags.iter().filter(|tag| tag.name == "article").collect();
    let get = |tag: &Tag, name: &str| {
        tag.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    };
    assert_eq!(articles.len(), 14);
    for text in [
        "<strong>answer</strong>",
        "fn main() {}",
        "left",
        "hidden note",
        "(hidden:",
        "approved plan",
        "developer",
        "compaction of 90k tokens",
        "summary text",
        "hologram",
        "blue light",
        "an orphan",
        "cannot be read",
        "the model sees nothing above",
        "[fork here]",
        "branch 1 of 2",
        "branch 2 of 2",
        "[read: f.rs]",
        "◀ leaf",
    ] {
        assert!(page.contains(text), "{text:?} is not in the page");
    }
    // Everybody stands behind their parent, and only the active path is open at first.
    for (row, article) in articles.iter().enumerate() {
        assert_eq!(get(article, "id"), Some(format!("n{row}")));
        let up: i64 = get(article, "data-up").unwrap().parse().unwrap();
        assert!(up < i64::try_from(row).unwrap());
        let marks: u32 = get(article, "data-marks").unwrap().parse().unwrap();
        assert_eq!(marks & 32 == 0, get(article, "hidden").is_some(), "{article:?}");
    }
    let open: Vec<_> = articles.iter().filter(|article| get(article, "hidden").is_none()).collect();
    assert_eq!(open.len(), session.get_branch(None).len());
    let labelled: Vec<_> = articles.iter().filter_map(|article| get(article, "data-label")).collect();
    assert_eq!(labelled, ["fork here"]);
    // The filters are those of the tree.
    let with = |bit: u32| {
        articles
            .iter()
            .filter(|article| get(article, "data-marks").unwrap().parse::<u32>().unwrap() & bit != 0)
            .count()
    };
    for (bit, filter) in [(1, "default"), (2, "no-tools"), (4, "user-only"), (8, "labeled-only"), (16, "all")]
    {
        let view = ramal_session::View { filter: filter.parse().unwrap(), ..Default::default() };
        let rows = session.project(&view).unwrap();
        let leaf_only = rows.leaf().is_some_and(|_| filter == "labeled-only");
        assert_eq!(with(bit), rows.len() - usize::from(leaf_only), "{filter}");
    }
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
