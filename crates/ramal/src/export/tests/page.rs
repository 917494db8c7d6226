//! Pages, some of them of sessions by somebody who means harm.

use std::path::Path;

use ramal_session::SessionManager;
use sha2::{Digest as _, Sha256};

use super::super::html::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
use super::{World, line, user};

/// An element as it begins or ends, taken apart as a browser would.
#[derive(Debug)]
pub(super) struct Tag {
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
pub(super) fn is_ours(page: &str) -> Vec<Tag> {
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
    assert!(page.contains(r#"href="https://good.example""#));
    let bad = page.chars().find(|&c| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}');
    assert_eq!(bad, None);
    // What is no link can be read all the same.
    assert!(page.contains("(javascript:steal())") && page.contains("[ref]: javascript:steal()"));
}

/// Where there is a browser: `scripts/check-export.sh` looks at the page with it.
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
