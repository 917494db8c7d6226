//! The projection, in drawings.
//!
//! A session is written one entry a line: `id parent what`, the parent being `.` for the line above and
//! `-` for none. The drawing has `•` for the active path and `◀` behind the leaf.

use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::log::Log;

/// The session that a text in the notation above stands for.
fn session(notation: &str) -> SessionManager {
    let log = log_of(notation);
    SessionManager::read(Log::Memory(log.into()), Path::new("s.jsonl"), Path::new("/")).unwrap()
}

/// Its log.
fn log_of(notation: &str) -> String {
    let mut log = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/\"}\n");
    let mut above = String::new();
    for (second, line) in notation.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (id, parent, what) = (word(), word(), word());
        let parent = match parent {
            "-" => "null".to_owned(),
            "." => format!("\"{above}\""),
            id => format!("\"{id}\""),
        };
        let (kind, text) = what.split_once(' ').unwrap_or((what, ""));
        let body = match kind {
            "user" => message("user", text, ""),
            "answer" => message("assistant", text, r#","stopReason":"stop","usage":{"cost":{"total":0.25}}"#),
            "calls" => format!(
                r#""type":"message","message":{{"role":"assistant","stopReason":"toolUse","content":[
                {{"type":"toolCall","id":"c","name":"read","arguments":{{"path":"{text}"}}}}]}}"#
            )
            .replace('\n', ""),
            "aborted" => message("assistant", "", r#","stopReason":"aborted""#),
            "tool" => message("toolResult", text, r#","toolCallId":"c","isError":false"#),
            "failed" => message("toolResult", text, r#","toolCallId":"c","isError":true"#),
            "label" => {
                let (target, label) = text.split_once(' ').unwrap();
                format!(r#""type":"label","targetId":"{target}","label":"{label}""#)
            }
            kind => format!(r#""type":"{kind}","summary":"{text}""#),
        };
        let time = format!("2025-01-01T00:{:02}:{:02}.000Z", second / 60, second % 60);
        log += &format!("{{\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{time}\",{body}}}\n");
        above = id.to_owned();
    }
    log
}

fn message(role: &str, text: &str, more: &str) -> String {
    format!(
        r#""type":"message","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]{more}}}"#
    )
}

fn draw(session: &SessionManager, projection: &Projection) -> String {
    let mut out = String::new();
    for (at, row) in projection.rows().enumerate() {
        for guide in projection.guides(at, usize::MAX) {
            out += match guide {
                Guide::Blank => "  ",
                Guide::Line => "│ ",
                Guide::Tee => "├ ",
                Guide::Corner => "└ ",
            };
        }
        out += if row.is_active() { "•" } else { "" };
        out += &projection.entry(session, at).unwrap().id().unwrap();
        out += if row.is_folded() { "+" } else { "" };
        out += if row.is_leaf() || row.folds_leaf() { "◀" } else { "" };
        out.push('\n');
    }
    out
}

fn view(filter: &str) -> View {
    View { filter: filter.parse().unwrap(), ..View::default() }
}

#[track_caller]
fn check(notation: &str, leaf: &str, view: &View, want: &[&str]) {
    let mut session = session(notation);
    session.branch(leaf).unwrap();
    let drawn = draw(&session, &session.project(view).unwrap());
    assert_eq!(drawn.lines().collect::<Vec<_>>(), want);
}

const FORKED: &str = "
    q1 - user Find the slow part
    a1 . calls src/cache.rs
    t1 . tool fn get
    b1 . answer The cache
    q2 b1 user Make it larger
    b2 . answer Done
    l2 . label b1 cause
    q3 b1 user Remove it
    a3 . calls src/lib.rs
    f3 . failed no such file
    q4 b1 user Ask the disk
";

#[test]
fn a_chain_is_not_indented_and_only_forks_are() {
    check(FORKED, "b2", &view("default"), &["•q1", "•t1", "•b1", "├ •q2", "│ •b2◀", "├ q3", "│ f3", "└ q4"]);
}

#[test]
fn the_active_branch_comes_first_and_the_others_by_age() {
    check(FORKED, "q4", &view("no-tools"), &["•q1", "•b1", "├ •q4◀", "├ q2", "│ b2", "└ q3"]);
}

#[test]
fn connectors_lead_to_the_nearest_visible_ancestor() {
    check(FORKED, "q3", &view("user-only"), &["•q1", "├ •q3◀", "├ q2", "└ q4"]);
    check(FORKED, "q2", &view("labeled-only"), &["•b1", "•q2◀"]);
}

#[test]
fn everything_is_in_all() {
    check(
        FORKED,
        "l2",
        &view("all"),
        &["•q1", "•a1", "•t1", "•b1", "├ •q2", "│ •b2", "│ •l2◀", "├ q3", "│ a3", "│ f3", "└ q4"],
    );
}

#[test]
fn the_leaf_is_visible_in_every_filter_and_search() {
    for filter in Filter::ALL {
        for search in ["", "nothing like it"] {
            let session = session(FORKED.trim_end().rsplit_once('\n').unwrap().0);
            let mut session = session;
            session.branch("a3").unwrap();
            let view = View { filter, search: search.into(), ..View::default() };
            let projection = session.project(&view).unwrap();
            let leaf = projection.leaf().unwrap();
            assert_eq!(projection.entry(&session, leaf).unwrap().id().unwrap(), "a3", "{filter} {search}");
        }
    }
}

#[test]
fn answers_without_text_are_hidden_unless_they_broke_off() {
    let notation = "q1 - user hi\n x1 . aborted\n c1 . calls a\n q2 . user on\n b2 . answer ok";
    check(notation, "b2", &view("default"), &["•q1", "•x1", "•q2", "•b2◀"]);
    check(notation, "c1", &view("default"), &["•q1", "•x1", "•c1◀", "q2", "b2"]);
}

#[test]
fn roots_are_siblings() {
    check(
        "q1 - user one\n b1 . answer x\n q2 - user two\n b2 . answer y\n q3 - user three",
        "b2",
        &view("default"),
        &["├ •q2", "│ •b2◀", "├ q1", "│ b1", "└ q3"],
    );
}

#[test]
fn bookkeeping_is_hidden_and_unknown_types_are_not() {
    let notation = "m1 - model_change\n q1 . user hi\n h1 . hologram\n r1 . reset_boundary\n c1 . custom
        s1 . session_info\n e1 . context_edit\n k1 . compaction short\n b1 . branch_summary tried\n z1 . answer x";
    check(notation, "z1", &view("default"), &["•q1", "•h1", "•r1", "•k1", "•b1", "•z1◀"]);
}

#[test]
fn a_hidden_fork_is_drawn_at_the_entry_above_it() {
    check(
        "q1 - user a\n m1 . model_change\n b1 m1 answer x\n b2 m1 answer y\n b3 q1 answer z",
        "b2",
        &view("default"),
        &["•q1", "├ •b2◀", "├ b1", "└ b3"],
    );
}

#[test]
fn folds_hide_what_is_below_and_say_so() {
    let folded = |ids: &[usize]| View { folded: ids.iter().copied().collect(), ..View::default() };
    check(FORKED, "b2", &folded(&[7]), &["•q1", "•t1", "•b1", "├ •q2", "│ •b2◀", "├ q3+", "└ q4"]);
    check(FORKED, "b2", &folded(&[4, 10]), &["•q1", "•t1", "•b1", "├ •q2+◀", "├ q3", "│ f3", "└ q4"]);
    check(FORKED, "b2", &folded(&[0]), &["•q1+◀"]);
}

#[test]
fn every_word_must_occur_somewhere_in_what_is_said() {
    let found = |words: &str, want: &[&str]| {
        check(FORKED, "q4", &View { search: words.into(), ..View::default() }, want);
    };
    found("CACHE", &["•t1", "•b1", "•q4◀"]);
    found("it make", &["├ •q4◀", "└ q2"]);
    // A label, a role, the arguments of the call that a result answers.
    found("cause", &["•b1", "•q4◀"]);
    found("user remove", &["├ •q4◀", "└ q3"]);
    found("read lib.rs", &["├ •q4◀", "└ f3"]);
}

#[test]
fn branches_tell_what_is_in_them() {
    let mut session = session(FORKED);
    session.branch("b2").unwrap();
    let projection = session.project(&View { facts: true, ..View::default() }).unwrap();
    let facts = |row| projection.facts(row).unwrap();
    assert_eq!((facts(0).turns, facts(0).entries, facts(0).cost), (4, 11, 0.5));
    assert!(facts(0).last_tool_failed);
    assert_eq!((facts(3).turns, facts(3).entries, facts(3).cost), (1, 3, 0.25));
    assert!(!facts(3).last_tool_failed && facts(5).last_tool_failed);
    assert_eq!(facts(5).last, crate::time::parse("2025-01-01T00:00:09Z"));
    assert_eq!(projection.facts(1), None);
}

#[test]
fn a_selection_moves_to_the_nearest_visible_ancestor() {
    let session = session(FORKED);
    let projection = session.project(&view("user-only")).unwrap();
    let nearest = |id: &str| {
        let row = projection.nearest(session.get_entry(id).unwrap()).unwrap();
        projection.entry(&session, row).unwrap().id().unwrap()
    };
    assert_eq!(nearest("f3"), "q3");
    assert_eq!(nearest("b1"), "q1");
    assert_eq!(nearest("q4"), "q4");
}

#[test]
fn guides_are_given_from_the_inside_when_there_is_no_room() {
    let mut notation = String::from("r - user x\n");
    for fork in 0..50 {
        let above = if fork == 0 { "r".to_owned() } else { format!("a{}", fork - 1) };
        notation += &format!("a{fork} {above} user x\nb{fork} {above} user x\n");
    }
    let mut session = session(&notation);
    session.branch("a49").unwrap();
    let projection = session.project(&View::default()).unwrap();
    let row = projection.leaf().unwrap();
    assert_eq!(projection.row(row).unwrap().depth(), 50);
    assert_eq!(projection.guides(row, 3), [Guide::Line, Guide::Line, Guide::Tee]);
    assert_eq!(projection.guides(row, usize::MAX).len(), 50);
}

#[test]
fn as_many_forks_as_entries() {
    let mut log = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/\"}\n");
    for n in 0..200_000 {
        let parent = if n == 0 { "null".into() } else { format!("\"{:08x}\"", n - 1) };
        log += &format!(
            "{{\"type\":\"custom_message\",\"id\":\"{n:08x}\",\"parentId\":{parent},\"timestamp\":0}}\n"
        );
        // A fork at every step, so that the deepest row is as deep as the log is long.
        log += &format!(
            "{{\"type\":\"custom_message\",\"id\":\"x{n:07x}\",\"parentId\":{parent},\"timestamp\":0}}\n"
        );
    }
    let session = SessionManager::read(Log::Memory(log.into()), Path::new("s"), Path::new("/")).unwrap();
    let projection = session.project(&View { facts: true, ..View::default() }).unwrap();
    assert_eq!(projection.len(), 400_000);
    let deepest = projection.rows().map(|row| row.depth()).max();
    assert_eq!(deepest, Some(200_000));
    assert_eq!(projection.guides(200_000, 4).len(), 4);
}

/// Random trees: for each entry its parent among those above it, and what it is.
fn any_tree() -> impl Strategy<Value = (String, usize)> {
    let kinds =
        ["user x", "answer y", "calls z", "tool t", "custom", "aborted", "compaction s", "label e0 l"];
    let entry = (0usize..1000, 0..kinds.len());
    (prop::collection::vec(entry, 1..40), 0usize..1000).prop_map(move |(entries, leaf)| {
        let leaf = leaf % entries.len();
        let mut notation = String::new();
        for (n, (parent, kind)) in entries.into_iter().enumerate() {
            let parent = parent % (n + 1);
            let parent = if parent == n { "-".into() } else { format!("e{parent}") };
            notation += &format!("e{n} {parent} {}\n", kinds[kind]);
        }
        (notation, leaf)
    })
}

proptest! {
    #[test]
    fn rows_keep_to_the_tree((notation, leaf) in any_tree(), filter in 0usize..5, searched in any::<bool>()) {
        let mut session = session(&notation);
        session.branch(&format!("e{leaf}")).unwrap();
        let filter = Filter::ALL[filter];
        let search = if searched { "x" } else { "" };
        let projection = session.project(&View { filter, search: search.into(), facts: true, ..View::default() }).unwrap();
        let rows: Vec<Row> = projection.rows().collect();
        let shown: Vec<usize> = (0..rows.len()).map(|at| projection.entry(&session, at).unwrap().position()).collect();
        let mut sorted = shown.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), shown.len(), "an entry twice");
        if filter == Filter::All && !searched {
            prop_assert_eq!(shown.len(), session.entry_count());
        }
        let marks: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].is_leaf()).map(|at| shown[at]).collect();
        prop_assert_eq!(marks, vec![leaf]);
        for at in 0..rows.len() {
            let entry = projection.entry(&session, at).unwrap();
            let above = std::iter::successors(entry.parent(), |e| e.parent()).find(|e| shown.contains(&e.position()));
            let parent = projection.parent(at).map(|row| shown[row]);
            prop_assert_eq!(parent, above.map(|entry| entry.position()));
            prop_assert!(projection.parent(at).is_none_or(|parent| parent < at));
            prop_assert_eq!(projection.guides(at, usize::MAX).len(), rows[at].depth());
            // A line goes on to a later row exactly where one hangs on it.
            let siblings: Vec<usize> = (0..rows.len()).filter(|&other| projection.parent(other) == projection.parent(at)).collect();
            prop_assert_eq!(rows[at].starts_branch(), siblings.len() > 1);
            if let Some(guide) = projection.guides(at, 1).first().filter(|_| rows[at].starts_branch()) {
                prop_assert_eq!(*guide == Guide::Corner, siblings.last() == Some(&at));
            }
            if rows[at].is_active() {
                prop_assert_eq!(siblings.first(), Some(&at));
            }
        }
        let forks: Vec<usize> = (0..rows.len()).filter(|&at| rows.iter().enumerate().filter(|&(other, _)| projection.parent(other) == Some(at)).count() > 1).collect();
        for (at, row) in rows.iter().enumerate() {
            prop_assert_eq!(row.is_fork(), forks.contains(&at));
            prop_assert_eq!(projection.fork_before(at), forks.iter().copied().rfind(|&fork| fork < at));
            prop_assert_eq!(projection.fork_after(at), forks.iter().copied().find(|&fork| fork > at));
            prop_assert_eq!(projection.row_of(row.position()), Some(at));
            prop_assert!(projection.stretch_start(at).is_some_and(|start| start <= at && rows[start].starts_stretch()));
        }
        let counted: u32 = (0..rows.len()).filter(|&at| projection.parent(at).is_none()).filter_map(|at| projection.facts(at)).map(|facts| facts.entries).sum();
        let hanging = (0..session.entry_count()).filter(|&n| projection.nearest(session.handle(n as u32)).is_some()).count();
        prop_assert_eq!(counted as usize, hanging);
    }

    /// An order that was kept up to date is the order made anew, and facts that were read in pieces are
    /// those that were read at once.
    #[test]
    fn what_is_kept_up_to_date_is_what_is_made_anew((notation, _) in any_tree(), from in 0usize..40, moves in prop::collection::vec((0usize..1000, any::<bool>()), 0..12), bytes in 1u64..3000) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(log_of(&notation).as_bytes()).unwrap();
        let mut session = SessionManager::open(file.path(), None).unwrap();
        session.branch(&format!("e{}", from % session.entry_count())).unwrap();
        let mut order = TreeOrder::new(&session);
        let mut facts = EntryFacts::new(&session, Detail::All);
        for (at, moves) in moves {
            if moves {
                let id = session.get_entry_at(at % session.entry_count()).unwrap().id().unwrap();
                session.branch(&id).unwrap();
            }
            session.append_message(r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}],"stopReason":"toolUse"}"#).unwrap();
            facts.take_in(&session);
            facts.read(&session, bytes).unwrap();
            prop_assert!(order.refresh(&session));
            prop_assert!(!order.refresh(&session));
            let anew = TreeOrder::new(&session);
            prop_assert_eq!(order.entries(), anew.entries());
            prop_assert!((0..session.entry_count()).all(|at| order.is_active(at) == anew.is_active(at)));
        }
        while !facts.is_complete() {
            facts.read(&session, bytes).unwrap();
        }
        let mut anew = EntryFacts::new(&session, Detail::All);
        anew.read(&session, u64::MAX).unwrap();
        prop_assert_eq!(format!("{:?}", facts.all()), format!("{:?}", anew.all()));
    }

    /// What the bytes of lines rule out, nothing says.
    #[test]
    fn a_search_finds_what_is_said((notation, _) in any_tree(), words in "[xyzXbk/]{1,2}( (read|tool|e0|l|user))?") {
        let session = session(&notation.replace(" x", " \\u0078yX").replace(" y", " zb\\/\u{212a}"));
        let search = Search::new(&words);
        let (mut searcher, mut whole) = (Searcher::new(), Searcher::new());
        for entry in session.get_entries() {
            let finds = searcher.finds(&session, &search, entry).unwrap();
            let says = whole.says(&session, entry).unwrap().to_owned();
            prop_assert_eq!(finds, search.is_in(&says), "{}", says);
        }
    }

    /// However a line is written, also where it is broken: a search finds what is said, and no more.
    #[test]
    fn a_search_finds_what_odd_lines_say(
        lines in prop::collection::vec((any_message(), any::<bool>()), 1..6),
        words in prop::sample::select(vec!["needle", "u0041", "nneedle", "\u{e9}", "needle \u{e9}", "aneedle", "needleb", "read", "1", "type", "{", "tooluse"]),
    ) {
        let mut log = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/\"}\n");
        let mut above = "null".to_owned();
        for (n, (message, is_twice)) in lines.into_iter().enumerate() {
            let first = if is_twice { "\"message\":{\"role\":\"user\",\"content\":\"needle 1\"}," } else { "" };
            log += &format!("{{\"type\":\"message\",\"id\":\"e{n}\",\"parentId\":{above},\"timestamp\":0,{first}\"message\":{message}}}\n");
            above = format!("\"e{n}\"");
        }
        let session = SessionManager::read(Log::Memory(log.into()), Path::new("s"), Path::new("/")).unwrap();
        let search = Search::new(words);
        let (mut searcher, mut whole) = (Searcher::new(), Searcher::new());
        for entry in session.get_entries() {
            let finds = searcher.finds(&session, &search, entry).unwrap();
            let says = whole.says(&session, entry).unwrap().to_owned();
            prop_assert_eq!(finds, search.is_in(&says), "{}: {}", entry.read().unwrap().json(), says);
        }
    }
}

/// Messages as programs write them, and as they might: members in any order, twice, or broken.
fn any_message() -> impl Strategy<Value = String> {
    let text = prop::collection::vec(
        prop::sample::select(vec![
            "needle",
            "NEEDLE",
            "\u{e9}",
            "\\u0041",
            "\\n",
            "\\\\",
            "\\\"",
            "\\u006eeedle",
            "nee",
            "dle",
            "a",
            "b",
            "\\ud83d",
            "\\u00e9",
        ]),
        0..5,
    );
    let text = text.prop_map(|pieces| format!("\"{}\"", pieces.concat())).boxed();
    let kind = prop::sample::select(vec!["text", "toolCall", "thinking", "image"]);
    let key = prop::sample::select(vec![
        "text",
        "thinking",
        "name",
        "arguments",
        "rawArguments",
        "data",
        "\\u0074ext",
        "type",
    ]);
    let value = prop_oneof![
        8 => text.clone(),
        1 => text.clone().prop_map(|text| format!("{{\"path\":{text}, \"n\":1}}")),
        1 => Just("1".to_owned()),
        1 => Just("oops".to_owned()),
    ];
    let member = (key, value.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
    let block = (prop::collection::vec(member, 0..4), kind, 0usize..4).prop_map(|(mut members, kind, at)| {
        members.insert(at.min(members.len()), format!("\"type\":\"{kind}\""));
        format!("{{{}}}", members.join(" , "))
    });
    let content = prop_oneof![
        1 => value,
        4 => prop::collection::vec(block, 0..4).prop_map(|blocks| format!("[ {}]", blocks.join(", "))),
    ];
    let role = prop::sample::select(vec!["user", "assistant", "toolResult", "bashExecution", "new"]);
    let more = prop::sample::select(vec![
        "",
        ",\"stopReason\":\"toolUse\"",
        ",\"command\":\"needle\"",
        ",\"role\":\"bashExecution\"",
        ",\"content\":1",
        ",\"usage\":needle",
        ",\"details\":{\"needle\":1}",
    ]);
    (role, content, more)
        .prop_map(|(role, content, more)| format!("{{\"role\":\"{role}\",\"content\":{content}{more}}}"))
}
