//! Compaction over sessions drawn as lines of words (see `testing::draw`).

use ramal_model::ModelError;
use ramal_session::{At, Message, NewEntry, SessionManager};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testing::{Say, Scripted, compacted, draw, drawn, endpoint, word};

fn keeping(keep_recent_tokens: u64) -> CompactionSettings {
    CompactionSettings { keep_recent_tokens, ..CompactionSettings::default() }
}

/// What the plan does with the path, drawn: `/` before the turn that is cut, `|` before what is kept.
fn picture(session: &SessionManager, keep: u64) -> String {
    let Some(plan) = plan_compaction(session, keeping(keep)).unwrap() else { return "nothing".into() };
    let preparation = plan.preparation(session, None).unwrap();
    assert_eq!(preparation.is_split_turn, !preparation.turn_prefix_messages.is_empty());
    let words = |messages: &[String]| {
        messages.iter().map(|message| word(&Message::new(message).text())).collect::<Vec<_>>()
    };
    let mut out = words(&preparation.messages_to_summarize);
    if plan.is_split_turn {
        out.push("/".into());
        out.extend(words(&preparation.turn_prefix_messages));
    }
    out.push("|".into());
    let path = session.get_branch(None);
    let first = path.iter().position(|entry| *entry.id().unwrap() == *plan.first_kept_entry_id).unwrap();
    for entry in &path[first..] {
        let entry = entry.read().unwrap();
        let name = entry.type_name().into_owned();
        out.push(if entry.text().is_empty() { name } else { word(&entry.text()) });
    }
    out.join(" ")
}

#[track_caller]
fn check(drawing: &str, keep: u64, want: &str) {
    assert_eq!(picture(&drawn(drawing).0, keep), want, "{drawing}");
}

#[test]
fn where_a_cut_may_be() {
    for (drawing, keep, want) in [
        ("u9 a9 u9 a9", 18, "u0 a1 | u2 a3"),
        ("u9 a9 u9 a9", 10, "u0 a1 | u2 a3"),
        ("u9 a9 b9 u9 a9", 20, "u0 a1 | b2 u3 a4"),
        ("u9 a9 x9 a9", 18, "u0 a1 | x2 a3"),
        ("u9 a9 s9 a9", 18, "u0 a1 | s2 a3"),
        // Never a result, never between a call and its result.
        ("u9 c9 r9 u9", 18, "u0 c1 r2 | u3"),
        ("u9 c9 r9 a9 u9", 25, "/ u0 c1 r2 | a3 u4"),
        ("u9 c9 x9 r9 a9", 20, "/ u0 c1 x2 r3 | a4"),
        ("u9 c9 b9 r9 a9", 25, "/ u0 c1 b2 r3 | a4"),
        // A last result that alone is more than is kept goes with its call.
        ("u9 a9 u9 c9 r90", 20, "u0 a1 / u2 | c3 r4"),
        // A turn that is cut.
        ("u9 a9 u9 c9 r9 a9 c9 r9", 20, "u0 a1 / u2 c3 r4 a5 | c6 r7"),
        ("u9 c9 r9 c9 r9", 15, "/ u0 c1 r2 | c3 r4"),
        // Records just before the cut stay with it; what stands before other messages does not.
        ("u9 a9 m n u9 a9", 18, "u0 a1 | model_change session_info u4 a5"),
        ("u9 m a9 l u9 a9", 18, "u0 a2 | label u4 a5"),
        ("u9 a9 B u9 a9 u9 a9", 18, "u3 a4 | u5 a6"),
    ] {
        check(drawing, keep, want);
    }
}

#[test]
fn where_there_is_nothing_to_sum_up() {
    for (drawing, keep) in
        [("", 0), ("u9 a9", 100), ("u9", 0), ("m n l", 0), ("u9 a9 u9 a9", 36), ("h9 u9", 5)]
    {
        check(drawing, keep, "nothing");
    }
}

#[test]
fn a_second_compaction_sees_what_the_first_kept() {
    let (mut session, ids) = drawn("u9 a9 u9 a9 u9 a9");
    compacted(&mut session, "first", &ids[2]);
    draw(&mut session, "u9 a9");
    assert_eq!(picture(&session, 18), "u2 a3 u4 a5 | u7 a8");
    let plan = plan_compaction(&session, keeping(18)).unwrap().unwrap();
    assert_eq!(plan.previous_summary.as_deref(), Some("first"));
    // Back to before it there is no summary to bring up to date.
    session.branch(&ids[5]).unwrap();
    let plan = plan_compaction(&session, keeping(18)).unwrap().unwrap();
    assert_eq!(plan.previous_summary, None);
}

#[test]
fn twice_in_a_row_is_once() {
    let (mut session, _) = drawn("u9 a9 u9 c9 r9 a9 u9 a9");
    let plan = plan_compaction(&session, keeping(20)).unwrap().unwrap();
    compacted(&mut session, "first", &plan.first_kept_entry_id);
    assert_eq!(picture(&session, 20), "nothing");
    assert_eq!(picture(&session, 1000), "nothing");
}

#[test]
fn an_anchor_is_never_an_id_that_others_have() {
    let mut session = SessionManager::in_memory("/work");
    draw(&mut session, "u9 a9 u9 a9");
    let bytes: Vec<_> = session.get_entries().map(|entry| entry.read().unwrap().json().to_owned()).collect();
    let third = session.get_entries().nth(2).unwrap().id().unwrap();
    let last = session.get_leaf_id().unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let again = format!(
        r#"{{"type":"message","id":"{third}","parentId":"{last}","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"again {}"}}}}"#,
        "x".repeat(40)
    );
    let log = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}}\n{}\n{again}\n",
        bytes.join("\n")
    );
    #[allow(clippy::disallowed_methods, reason = "the file is this test's own")]
    std::fs::write(&path, log).unwrap();
    let session = SessionManager::open(&path, None).unwrap();
    for keep in [5, 18, 25] {
        if let Some(plan) = plan_compaction(&session, keeping(keep)).unwrap() {
            assert_ne!(plan.first_kept_entry_id, third, "{keep}");
        }
    }
}

#[test]
fn an_inner_compaction_parts_no_call_from_its_result() {
    let (mut session, ids) = drawn("u9 a9 u9 c9");
    compacted(&mut session, "inner", &ids[2]);
    // The result stands behind the compaction, its call before it.
    session
        .append_message(r#"{"role":"toolResult","toolCallId":"call3","toolName":"read","content":"r5.................................."}"#)
        .unwrap();
    draw(&mut session, "a9");
    assert_eq!(picture(&session, 15), "/ u2 c3 r5 | a6");
    // What a compaction brings by itself cannot be kept, and is summed up.
    let mut session = SessionManager::in_memory("/work");
    draw(&mut session, "u9 a9");
    session
        .append(
            &NewEntry::from_json(
                r#"{"type":"compaction","summary":"tail","tokensBefore":1,"retainedTail":[{"role":"user","content":"kept tail"},{"role":"assistant","content":[{"type":"text","text":"its answer"}]}]}"#,
            )
            .unwrap(),
        )
        .unwrap();
    draw(&mut session, "u9 a9");
    assert_eq!(picture(&session, 18), "kept tail its answer | u3 a4");
    assert_eq!(picture(&session, 20), "kept tail its answer | u3 a4");
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn messages(session: &SessionManager) -> Vec<String> {
    let context = session.build_session_context(At::Leaf).unwrap();
    context.messages().map(|message| message.unwrap().json).collect()
}

#[test]
fn nothing_falls_between_two_compactions() {
    let words = ["u", "u", "a", "c", "r", "r", "f", "b", "h", "x", "s", "m", "n", "B"];
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut session = SessionManager::in_memory("/work");
        for _ in 0..6 {
            for _ in 0..dice.roll(12) {
                let word = words[dice.roll(words.len() as u64) as usize];
                draw(&mut session, &format!("{word}{}", 3 + dice.roll(20)));
            }
            let before = messages(&session);
            let Some(plan) = plan_compaction(&session, keeping(dice.roll(80))).unwrap() else { continue };
            let told = plan.preparation(&session, None).unwrap();
            compacted(&mut session, "so far", &plan.first_kept_entry_id);
            let after = messages(&session);
            let summed_up = [told.messages_to_summarize, told.turn_prefix_messages].concat();
            assert!(!summed_up.is_empty());
            let previous = usize::from(plan.previous_summary.is_some());
            assert_eq!(before[previous..], [&summed_up[..], &after[1..]].concat(), "seed {seed}");
            // No call is parted from its result: what is kept makes up no more results than before.
            assert!(Message::new(&after[1]).role() != ramal_session::Role::ToolResult, "seed {seed}");
            for kept in &after[1..] {
                let kept = Message::new(kept);
                if let Some(id) = kept.get_str("toolCallId") {
                    let call_is = |messages: &[String]| {
                        messages
                            .iter()
                            .any(|message| Message::new(message).tool_calls().any(|call| call.id == id))
                    };
                    let is_orphan = !call_is(&before);
                    let is_late = is_late(&before, &id);
                    assert!(is_orphan || is_late || call_is(&after), "seed {seed}");
                }
            }
        }
    }
}

/// Whether some result of a call stands behind the next answer, where no model is shown it.
fn is_late(messages: &[String], id: &str) -> bool {
    let at = messages.iter().position(|message| Message::new(message).tool_calls().any(|call| call.id == id));
    let behind = &messages[at.unwrap_or_default() + 1..];
    let next =
        behind.iter().position(|message| Message::new(message).role() == ramal_session::Role::Assistant);
    let results: Vec<usize> = behind
        .iter()
        .enumerate()
        .filter(|(_, message)| Message::new(message).get_str("toolCallId").as_deref() == Some(id))
        .map(|(place, _)| place)
        .collect();
    results.len() > 1 || results.iter().any(|&place| next.is_some_and(|next| place > next))
}

#[test]
fn an_estimate_can_be_made_piece_by_piece() {
    let mut session = SessionManager::in_memory("/w");
    let say = |session: &mut SessionManager, text: &str| {
        session.append_message(&format!(r#"{{"role":"user","content":"{text}"}}"#)).unwrap()
    };
    let first = say(&mut session, "one two three four");
    say(&mut session, "five six seven");
    let mut estimate = Estimate::default();
    assert!(!estimate.go_on(&session, 1).unwrap(), "one more is to be read");
    assert!(estimate.go_on(&session, 1).unwrap());
    assert_eq!(estimate.tokens(7), context_tokens(&session, 7, None).unwrap());
    // Elsewhere it begins anew.
    session.branch(&first).unwrap();
    say(&mut session, "something else that is longer");
    while !estimate.go_on(&session, 1).unwrap() {}
    assert_eq!(estimate.tokens(7), context_tokens(&session, 7, None).unwrap());
}

#[test]
fn a_count_holds_for_its_own_context_only() {
    let usage = r#""usage":{"input":100000,"output":1000,"cacheRead":89000,"cacheWrite":0}"#;
    let answer = |stop: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"done"}}],{usage},"stopReason":"{stop}"}}"#
        )
    };
    let count = |session: &SessionManager, id: Option<&str>| {
        let count = context_tokens(session, 500, id).unwrap();
        (count.tokens, count.is_measured)
    };
    let (mut session, ids) = drawn("u10 a10");
    let measured = session.append_message(&answer("stop")).unwrap();
    assert_eq!(count(&session, Some(&measured)), (190_000, true));
    draw(&mut session, "n u25");
    assert_eq!(count(&session, Some(&measured)), (190_025, true));
    assert_eq!(count(&session, None), (500 + 21 + 25, false));
    for change in ["compaction", "model", "edit", "boundary", "jump"] {
        let at = session.get_leaf_id().unwrap().unwrap();
        match change {
            "compaction" => drop(compacted(&mut session, "12345678", &measured)),
            "model" => drop(draw(&mut session, "m")),
            "edit" => drop(session.append_context_edit(&ids[0], None).unwrap()),
            "boundary" => drop(draw(&mut session, "B")),
            _ => session.branch(&ids[1]).unwrap(),
        }
        assert!(!count(&session, Some(&measured)).1, "{change}");
        session.branch(&at).unwrap();
    }
    let failed = session.append_message(&answer("error")).unwrap();
    assert!(!count(&session, Some(&failed)).1);
    assert!(!count(&session, Some("ffffffff")).1);
    let huge = r#"{"role":"assistant","content":[],"usage":{"input":1e300},"stopReason":"stop"}"#;
    let huge = session.append_message(huge).unwrap();
    draw(&mut session, "u9");
    assert_eq!(count(&session, Some(&huge)), (u64::MAX, true));
}

#[test]
fn when_to_compact() {
    let settings = CompactionSettings::default();
    for (tokens, window, want) in [
        (183_616, 200_000, false),
        (183_617, 200_000, true),
        (4096, 8192, false),
        (4097, 8192, true),
        (1_000_000, 0, false),
    ] {
        assert_eq!(should_compact(tokens, window, settings), want, "{tokens} of {window}");
    }
    assert!(!should_compact(500_000, 200_000, CompactionSettings { enabled: false, ..settings }));
    for (window, reserve, keep) in [(200_000, 16384, 20000), (8192, 4096, 2048), (32768, 16384, 8192)] {
        let fitted = settings.for_window(window);
        assert_eq!((fitted.reserve_tokens, fitted.keep_recent_tokens), (reserve, keep));
    }
}

#[test]
fn other_points_at_which_to_compact() {
    let of = |threshold_percent, threshold_tokens| CompactionSettings {
        threshold_percent,
        threshold_tokens,
        ..CompactionSettings::default()
    };
    for (percent, tokens, window, most) in [
        (Some(50), None, 200_000, 100_000),
        (Some(99), None, 200_000, 198_000),
        (Some(50), Some(30_000), 200_000, 30_000),
        (None, Some(300_000), 200_000, 199_999),
        (None, Some(0), 200_000, 1),
        (Some(99), None, u64::MAX, u64::MAX / 100 * 99 + 14),
    ] {
        let settings = of(percent, tokens);
        assert!(!should_compact(most, window, settings), "{most} of {window}");
        assert!(should_compact(most + 1, window, settings), "{most} of {window}");
        assert!(!should_compact(most + 1, window, CompactionSettings { enabled: false, ..settings }));
        // What is kept leaves room for what comes next.
        let kept = settings.for_window(window).keep_recent_tokens;
        assert_eq!(kept, 20000.min(most / 2), "{most} of {window}");
    }
    assert!(!should_compact(u64::MAX, 0, of(Some(1), Some(1))));
}

async fn run(
    session: &SessionManager,
    keep: u64,
    window: u64,
    model: &Scripted,
    extra: Option<&Compacting>,
) -> Result<CompactionText, SummaryError> {
    let plan = plan_compaction(session, keeping(keep)).unwrap().unwrap();
    let abort = CancellationToken::new();
    compact(model, &endpoint(window), &plan, Some("mind the tests"), extra, abort).await
}

#[tokio::test]
async fn a_split_turn_is_summed_up_by_itself() {
    let (session, _) = drawn("u9 c9 r9 a9 u9 c9 f9 c9 r9");
    let model = Scripted::new([Say::Text("old\n\n<read-files>\nx\n</read-files>"), Say::Text("turn")]);
    let done = run(&session, 15, 200_000, &model, None).await.unwrap();
    // The failed read of p5 is none.
    assert_eq!(
        done.summary,
        "old\n\n## The turn that is going on: its beginning\n\nturn\n\n<read-files>\np1\n</read-files>"
    );
    assert_eq!(done.details, r#"{"readFiles":["p1"],"modifiedFiles":[]}"#);
    assert_eq!((done.usage.input, done.usage.output), (20, 2));
    let asked = model.asked();
    assert!(asked[0].contains("u0") && asked[0].contains("[Result of read: succeeded]"), "{}", asked[0]);
    assert!(!asked[0].contains("u4") && asked[0].contains("mind the tests"));
    assert!(asked[1].contains("u4") && asked[1].contains("[Result of read: failed]"));
    assert!(!asked[1].contains("c7"), "what is kept is not summed up");
    assert!(!asked[0].contains("<previous-summary>"));
}

#[tokio::test]
async fn the_earlier_summary_is_brought_up_to_date() {
    let (mut session, ids) = drawn("u9 a9 u9 a9");
    session
        .append_compaction(&ramal_session::Compaction {
            summary: "first\n\n<modified-files>\nsrc/a.rs\n</modified-files>",
            first_kept_entry_id: &ids[2],
            details: Some(r#"{"readFiles":["old.md"],"modifiedFiles":["src/a.rs"]}"#),
            ..Default::default()
        })
        .unwrap();
    draw(&mut session, "u9 a9");
    let model = Scripted::new([Say::Text("both")]);
    let extra = Compacting {
        context: vec!["the build is red".into()],
        prompt: Some("Only the facts.".into()),
        preserve_data: None,
    };
    let done = run(&session, 18, 200_000, &model, Some(&extra)).await.unwrap();
    assert_eq!(
        done.summary,
        "both\n\n<read-files>\nold.md\n</read-files>\n\n<modified-files>\nsrc/a.rs\n</modified-files>"
    );
    let asked = &model.asked()[0];
    assert!(asked.contains("<previous-summary>\nfirst\n</previous-summary>"), "{asked}");
    assert!(asked.contains("u2") && asked.contains("a3") && !asked.contains("u0"));
    assert!(asked.contains("Only the facts.") && asked.contains("the build is red"));
    assert!(!asked.contains("## Progress"), "the hook's prompt stands in place of ours");
}

#[tokio::test]
async fn what_does_not_fit_is_summed_up_piece_by_piece() {
    let (session, _) = drawn("u1500 a1500 u1500 a1500 u9 a9");
    let model = Scripted::new([Say::Text("one"), Say::Text("two"), Say::Text("three"), Say::Text("four")]);
    let done = run(&session, 18, 8192, &model, None).await.unwrap();
    let asked = model.asked();
    for word in ["u0", "a1", "u2", "a3"] {
        assert!(asked.iter().any(|asked| asked.contains(&format!("{word}."))), "{word} is lost");
    }
    assert!(asked.len() > 1 && asked[1].contains("<previous-summary>\none\n"));
    assert!(asked.iter().all(|asked| asked.len() < 8192 * 4));
    assert!(done.summary == "two" || done.summary == "three" || done.summary == "four");
}

#[tokio::test]
async fn no_summary_is_an_error() {
    let (session, _) = drawn("u9 a9 u9 a9");
    assert_eq!(
        run(&session, 18, 0, &Scripted::new([Say::Text(" \n")]), None).await,
        Err(SummaryError::Empty)
    );
    let lost = ModelError::ConnectionLost { provider: "demo".into(), message: "gone".into() };
    let failed = run(&session, 18, 0, &Scripted::new([Say::Fail(lost.clone())]), None).await;
    assert_eq!(failed, Err(SummaryError::Model(lost)));
    let plan = plan_compaction(&session, keeping(18)).unwrap().unwrap();
    let abort = CancellationToken::new();
    abort.cancel();
    let model = Scripted::new([Say::Text("late")]);
    let aborted = compact(&model, &endpoint(0), &plan, None, None, abort).await;
    assert_eq!(aborted, Err(SummaryError::Aborted));
    assert!(model.asked().is_empty());
}
