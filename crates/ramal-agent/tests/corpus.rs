//! Compaction and summaries over real session files, where there are any: `RAMAL_CORPUS`, or
//! `shared/corpus` beside the workspace.

#![allow(clippy::unwrap_used, reason = "a test may fail this way")]

use std::path::{Path, PathBuf};

use ramal_agent::compact::{CompactionSettings, plan_compaction};
use ramal_agent::summary::{SummaryOptions, abandoned_path, summary_request};
use ramal_session::{At, Compaction, Message, Role, SessionManager};
use ramal_testing::endpoint::demo;

/// The session files of pi and oh-my-pi; none if there are none here.
fn files() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("RAMAL_CORPUS").map_or(beside, PathBuf::from);
    let folders = ["pi", "oh-my-pi"].map(|name| std::fs::read_dir(folder.join(name)));
    let files = folders.into_iter().flatten().flatten().map(|file| file.unwrap().path());
    let files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "jsonl")).collect();
    if files.is_empty() {
        eprintln!("skipped: no corpus in {}", folder.display());
    }
    files
}

fn messages(session: &SessionManager) -> Vec<String> {
    let context = session.build_session_context(At::Leaf).unwrap();
    context.messages().map(|message| message.unwrap().json).collect()
}

/// Results that a provider would be sent.
fn results(session: &SessionManager) -> Vec<String> {
    let context = session.build_session_context(At::Leaf).unwrap();
    let messages = context.model_messages().map(|message| message.unwrap());
    messages.filter(|message| Message::new(message).role() == Role::ToolResult).collect()
}

#[test]
fn a_compaction_keeps_what_it_does_not_sum_up() {
    let mut plans = 0;
    for file in files() {
        for keep_recent_tokens in [300, 20000] {
            let folder = tempfile::tempdir().unwrap();
            let copy = folder.path().join("session.jsonl");
            std::fs::copy(&file, &copy).unwrap();
            let mut session = SessionManager::open(&copy, None).unwrap();
            // A second time over what the first one kept, and less of it.
            for keep_recent_tokens in [keep_recent_tokens, keep_recent_tokens / 3] {
                let settings = CompactionSettings { keep_recent_tokens, ..CompactionSettings::default() };
                let (before, sent) = (messages(&session), results(&session));
                let Some(plan) = plan_compaction(&session, settings).unwrap() else { continue };
                plans += 1;
                let told = plan.preparation(&session, None).unwrap();
                let summed_up = [told.messages_to_summarize, told.turn_prefix_messages].concat();
                let compaction = Compaction {
                    summary: "so far",
                    first_kept_entry_id: &plan.first_kept_entry_id,
                    ..Compaction::default()
                };
                session.append_compaction(&compaction).unwrap();
                let after = messages(&session);
                let previous = usize::from(plan.previous_summary.is_some());
                let name = file.display();
                assert_eq!(before.len(), previous + summed_up.len() + after.len() - 1, "{name}");
                assert!(before.ends_with(&after[1..]), "{name}");
                assert!(sent.ends_with(&results(&session)), "{name}: a call lost its result");
            }
        }
    }
    assert!(plans > 20 || files().is_empty(), "only {plans} compactions");
}

#[test]
fn every_branch_can_be_left() {
    let endpoint = demo(40_000);
    let mut requests = 0;
    for file in files() {
        let session = SessionManager::open(&file, None).unwrap();
        let Some(old) = session.get_leaf_id().unwrap() else { continue };
        for target in session.get_entries().step_by(101) {
            let path = abandoned_path(&session, Some(&old), &target.id().unwrap()).unwrap();
            let request = summary_request(&session, &path, &endpoint, SummaryOptions::default()).unwrap();
            let Some(request) = request else { continue };
            requests += 1;
            let text = Message::new(&request.request.messages[0]).text();
            assert!(text.len() < 40_000 * 4, "{}", file.display());
            assert_eq!(text.matches("</conversation>").count(), 1, "{}", file.display());
        }
    }
    assert!(requests > 20 || files().is_empty(), "only {requests} requests");
}
