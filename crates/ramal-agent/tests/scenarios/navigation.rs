//! Going from one place of the tree to another, with and without bringing home a summary.

use std::time::Duration;

use ramal_agent::hooks::{BeforeTree, SuppliedSummary, TreeMoved};
use ramal_agent::{AgentError, AgentEvent, NavigateOptions, Navigated, Operation};
use ramal_session::Kind;

use crate::support::*;

pub(crate) fn with_summary() -> NavigateOptions {
    NavigateOptions { summarize: true, ..NavigateOptions::default() }
}

/// Two prompts and their answers; the second branch is the one to be left.
pub(crate) async fn two_turns(world: &World) -> String {
    world.model.script([text("answer one"), text("answer two")]);
    world.say("question one").await;
    world.say("question two").await;
    world.id_of("answer one")
}

pub(crate) async fn go(
    world: &World,
    target: &str,
    options: NavigateOptions,
) -> Result<Navigated, AgentError> {
    within(world.session.navigate_tree(target, options)).await
}

/// Nothing was changed by what did not go through.
async fn is_unchanged(world: &World, leaf: &str, count: usize) {
    assert_eq!(world.leaf().as_deref(), Some(leaf));
    assert_eq!(world.count(), count);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn back_to_a_message_and_said_another_way() {
    let world = World::new([]);
    two_turns(&world).await;
    let before = world.model.last();
    assert_eq!(before.len(), 3);
    let target = world.id_of("question two");
    let moved = go(&world, &target, NavigateOptions::default()).await.unwrap();
    assert_eq!(moved.editor_text.as_deref(), Some("question two"));
    assert!(!moved.cancelled && moved.summary_entry.is_none());
    world.model.script([text("answer three")]);
    world.say("question two, put better").await;
    assert_eq!(
        world.path(),
        [
            "user: question one",
            "assistant: answer one",
            "user: question two, put better",
            "assistant: answer three"
        ]
    );
    // Both branches are there.
    let fork = world.id_of("answer one");
    let children = world.session.with_session(|manager| manager.get_children(Some(&fork)).len());
    assert_eq!(children, 2);
    // Up to the fork the request is the same, byte for byte.
    let requests = world.model.requests();
    let (one, other) = (&requests[1], &requests[2]);
    assert_eq!(one.messages[..2], other.messages[..2]);
    assert_ne!(one.messages[2], other.messages[2]);
    assert_eq!((&one.system, &one.tools, &one.session_id), (&other.system, &other.tools, &other.session_id));
}

#[tokio::test]
async fn a_summary_is_brought_home() {
    let seen: Seen<TreeMoved> = Seen::default();
    let hook = watching(&seen);
    let mut world = World::hooked([], [hook]);
    let target = two_turns(&world).await;
    world.model.script([
        vec![call("c1", "write", r#"{"path":"b.txt","content":"x"}"#)],
        text("written"),
        text("What was learned."),
    ]);
    world.say("question three").await;
    let old_leaf = world.leaf().unwrap();
    world.told();
    let options = NavigateOptions { label: Some("dead end".into()), ..with_summary() };
    let moved = go(&world, &target, options).await.unwrap();
    // What is asked: the branch that is left and nothing else, as text.
    let asked = world.model.last();
    assert_eq!(asked.len(), 1);
    for said in ["question two", "answer two", "question three", "written", "b.txt"] {
        assert!(asked[0].contains(said), "{said} is missing in {}", asked[0]);
    }
    assert!(!asked[0].contains("question one") && !asked[0].contains("answer one"), "{}", asked[0]);
    assert!(world.model.requests().last().unwrap().tools.is_empty());
    // Where it stands.
    let entry: serde_json::Value = serde_json::from_str(moved.summary_entry.as_ref().unwrap()).unwrap();
    let id = entry["id"].as_str().unwrap();
    assert_eq!(entry, world.entry(id));
    assert_eq!(entry["type"], "branch_summary");
    assert_eq!(entry["parentId"], *target);
    assert_eq!(entry["fromId"], *target);
    assert_eq!(entry["abandonedLeafId"], *old_leaf);
    assert_eq!(entry["fromExtension"], false);
    assert!(entry["usage"]["cost"]["total"].is_number(), "{entry}");
    assert!(entry["summary"].as_str().unwrap().starts_with("What was learned."));
    assert_eq!(entry["details"]["modifiedFiles"], serde_json::json!(["b.txt"]));
    // The label is on it, and is the leaf.
    let label = world.session.with_session(|manager| manager.get_label(id).map(str::to_owned));
    assert_eq!(label.as_deref(), Some("dead end"));
    let leaf = world.leaf().unwrap();
    assert_eq!(world.entry(&leaf)["targetId"], id);
    let told = seen.all();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].new_leaf_id.as_deref(), Some(&*leaf));
    assert_eq!(told[0].old_leaf_id.as_deref(), Some(&*old_leaf));
    assert_eq!(told[0].from_extension, Some(false));
    assert_eq!(told[0].summary_entry, moved.summary_entry);
    assert_eq!(world.told(), ["session_tree"]);
    // The model sees it next.
    world.say("and now?").await;
    let sent = world.model.last();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent[2].starts_with("user: ") && sent[2].contains("What was learned."), "{sent:?}");
}

#[tokio::test]
async fn the_summary_hangs_where_one_goes_not_where_one_was() {
    // To a user message: at its parent. To a root: before everything.
    for (to, parent) in [("question two", Some("answer one")), ("question one", None)] {
        let world = World::new([]);
        two_turns(&world).await;
        world.model.script([text("learned")]);
        let moved = go(&world, &world.id_of(to), with_summary()).await.unwrap();
        assert_eq!(moved.editor_text.as_deref(), Some(to));
        let entry: serde_json::Value = serde_json::from_str(&moved.summary_entry.unwrap()).unwrap();
        match parent {
            Some(parent) => {
                assert_eq!(entry["parentId"], world.id_of(parent));
                assert_eq!(entry["fromId"], world.id_of(parent));
            }
            None => {
                assert!(entry["parentId"].is_null());
                assert_eq!(entry["fromId"], "root");
            }
        }
        assert_eq!(world.leaf().as_deref(), entry["id"].as_str());
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn instructions_are_added_or_stand_in_place_of_the_prompt() {
    let world = World::new([]);
    let target = two_turns(&world).await;
    let mut asked = Vec::new();
    for (instructions, replace) in
        [(None, false), (Some("Mind the colours."), false), (Some("Only colours."), true), (Some("  "), true)]
    {
        let leaf = world.leaf().unwrap();
        world.model.script([text("learned")]);
        let options = NavigateOptions {
            custom_instructions: instructions.map(str::to_owned),
            replace_instructions: replace,
            ..with_summary()
        };
        go(&world, &target, options).await.unwrap();
        asked.push(world.model.last().remove(0));
        world.session.with_session(|manager| manager.branch(&leaf)).unwrap();
    }
    let conversation = asked[0].find("</conversation>").unwrap();
    let (plain, added, replaced, empty) = (&asked[0], &asked[1], &asked[2], &asked[3]);
    assert_eq!(plain, empty);
    assert!(added.starts_with(plain.trim_end()) && added.ends_with("Mind the colours."), "{added}");
    assert!(replaced.ends_with("</conversation>\n\nOnly colours."), "{replaced}");
    assert_eq!(plain[..conversation], replaced[..conversation]);
}

#[tokio::test]
async fn an_abort_while_the_model_writes_leaves_everything_as_it_was() {
    let mut world = World::new([]);
    let target = two_turns(&world).await;
    let (leaf, count) = (world.leaf().unwrap(), world.count());
    world.model.script([stall("half a summary")]);
    world.told();
    let session = world.session.clone();
    let going = tokio::spawn(async move { session.navigate_tree(&target, with_summary()).await });
    let model = std::sync::Arc::clone(&world.model);
    within(async {
        while model.count() < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    assert_eq!(world.session.running(), Some(Operation::Navigation));
    world.session.abort();
    let navigated = within(going).await.unwrap().unwrap();
    assert_eq!(navigated, Navigated { cancelled: true, aborted: true, ..Navigated::default() });
    assert!(world.told().is_empty());
    is_unchanged(&world, &leaf, count).await;
}

#[tokio::test]
async fn an_abort_while_a_hook_runs_counts_whatever_the_hook_answers() {
    let later = Later::default();
    let at = later.clone();
    let hook = TestHook {
        before_tree: on(move |(_, signal): (_, tokio_util::sync::CancellationToken)| {
            at.get().abort();
            assert!(signal.is_cancelled());
            async { Ok(BeforeTree::default()) }
        }),
        ..TestHook::default()
    };
    let mut world = World::hooked([], [hook]);
    later.set(&world);
    let target = two_turns(&world).await;
    let (leaf, count) = (world.leaf().unwrap(), world.count());
    world.told();
    let navigated = go(&world, &target, NavigateOptions::default()).await.unwrap();
    assert!(navigated.cancelled && navigated.aborted);
    assert!(world.told().is_empty());
    is_unchanged(&world, &leaf, count).await;
}

#[tokio::test]
async fn a_summary_that_cannot_be_made_leaves_everything_as_it_was() {
    for answer in [
        fail(refused()),
        text(""),
        text("  \n"),
        Vec::new(),
        vec![Step::Text("half".into()), Step::Fail(refused())],
    ] {
        let world = World::new([]);
        let target = two_turns(&world).await;
        let (leaf, count) = (world.leaf().unwrap(), world.count());
        world.model.script([answer]);
        let error = go(&world, &target, with_summary()).await.unwrap_err();
        assert!(matches!(error, AgentError::Model(_) | AgentError::EmptySummary), "{error}");
        is_unchanged(&world, &leaf, count).await;
    }
}

#[tokio::test]
async fn a_hook_refuses() {
    let hook = TestHook {
        before_tree: on(|_| async { Ok(BeforeTree { cancel: true, ..BeforeTree::default() }) }),
        ..TestHook::default()
    };
    let never = TestHook {
        before_tree: on(|_| async { panic!("the first cancel ends it") }),
        tree: on(|_| async { panic!("nothing was moved") }),
        ..TestHook::default()
    };
    let mut world = World::hooked([], [hook, never]);
    let target = two_turns(&world).await;
    let (leaf, count) = (world.leaf().unwrap(), world.count());
    world.told();
    let navigated = go(&world, &target, with_summary()).await.unwrap();
    assert!(navigated.cancelled && !navigated.aborted);
    assert_eq!(world.model.count(), 2);
    assert!(world.told().is_empty());
    is_unchanged(&world, &leaf, count).await;
}

/// Keeps what is told of moves.
fn watching(seen: &Seen<TreeMoved>) -> TestHook {
    let moves = seen.clone();
    TestHook {
        tree: on(move |moved| {
            moves.push(moved);
            async { Ok(()) }
        }),
        ..TestHook::default()
    }
}

fn supplying(summary: &'static str) -> TestHook {
    TestHook {
        before_tree: on(move |_| async move {
            let details = Some(r#"{"by":"hook"}"#.to_owned());
            let summary = Some(SuppliedSummary { summary: summary.into(), details });
            Ok(BeforeTree { summary, label: Some("by hook".into()), ..BeforeTree::default() })
        }),
        ..TestHook::default()
    }
}

#[tokio::test]
async fn a_hook_supplies_the_summary() {
    // Also where there is nothing to summarise: going forward again.
    for forward in [false, true] {
        let world = World::hooked([], [supplying("never"), supplying("mine")]);
        let target = two_turns(&world).await;
        let end = world.leaf().unwrap();
        if forward {
            go(&world, &target, NavigateOptions::default()).await.unwrap();
        }
        let old = world.leaf().unwrap();
        let target = if forward { end } else { target };
        let moved = go(&world, &target, with_summary()).await.unwrap();
        assert_eq!(world.model.count(), 2, "the model is not asked");
        let entry: serde_json::Value = serde_json::from_str(&moved.summary_entry.unwrap()).unwrap();
        assert_eq!(entry["summary"], "mine");
        assert_eq!(entry["details"]["by"], "hook");
        assert_eq!(entry["fromExtension"], true);
        assert_eq!(entry["abandonedLeafId"], *old);
        let id = entry["id"].as_str().unwrap();
        let label = world.session.with_session(|manager| manager.get_label(id).map(str::to_owned));
        assert_eq!(label.as_deref(), Some("by hook"));
    }
}

#[tokio::test]
async fn a_supplied_summary_that_is_empty_or_not_wanted_is_none() {
    for (summary, wanted) in [("", true), (" ", true), ("mine", false)] {
        let world = World::hooked([], [supplying(summary)]);
        let target = two_turns(&world).await;
        let options = NavigateOptions { summarize: wanted, ..NavigateOptions::default() };
        let moved = go(&world, &target, options).await.unwrap();
        assert!(moved.summary_entry.is_none() && !moved.cancelled);
        assert_eq!(world.model.count(), 2);
        assert_eq!(world.count_of(Kind::BranchSummary), 0);
        // The label goes on the target then.
        let label = world.session.with_session(|manager| manager.get_label(&target).map(str::to_owned));
        assert_eq!(label.as_deref(), Some("by hook"));
    }
}

#[tokio::test]
async fn a_hook_is_told_everything_and_changes_the_instructions() {
    let seen = Seen::default();
    let told = seen.clone();
    let hook = TestHook {
        before_tree: on(move |(preparation, _)| {
            told.push(preparation);
            async {
                Ok(BeforeTree {
                    custom_instructions: Some("Hook's own.".into()),
                    replace_instructions: Some(true),
                    ..BeforeTree::default()
                })
            }
        }),
        ..TestHook::default()
    };
    let world = World::hooked([], [hook]);
    let target = two_turns(&world).await;
    let leaf = world.leaf().unwrap();
    world.model.script([text("learned")]);
    let options = NavigateOptions { custom_instructions: Some("user's".into()), ..with_summary() };
    go(&world, &target, options).await.unwrap();
    assert!(world.model.last()[0].ends_with("</conversation>\n\nHook's own."));
    let told = seen.all().remove(0);
    assert_eq!(told.target_id, target);
    assert_eq!(told.old_leaf_id.as_deref(), Some(&*leaf));
    assert_eq!(told.common_ancestor_id.as_deref(), Some(&*target));
    assert_eq!(told.entries_to_summarize.len(), 2);
    assert!(told.entries_to_summarize[0].contains("question two"));
    assert!(told.user_wants_summary && !told.replace_instructions);
    assert_eq!(told.custom_instructions.as_deref(), Some("user's"));
}

#[tokio::test]
async fn without_a_model_a_summary_is_an_error_before_anything_else() {
    let seen = Seen::default();
    let told = seen.clone();
    let hook = TestHook {
        before_tree: on(move |_| {
            told.push(());
            async { Ok(BeforeTree::default()) }
        }),
        ..TestHook::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut manager = ramal_session::SessionManager::in_memory(folder.path());
    let first = manager.append_message(r#"{"role":"user","content":"one"}"#).unwrap();
    manager.append_message(r#"{"role":"user","content":"two"}"#).unwrap();
    let mut world = World::of(folder, manager, [], |config| {
        config.default_model = None;
        config.hooks = vec![std::sync::Arc::new(hook)];
    });
    let leaf = world.leaf();
    assert!(matches!(go(&world, &first, with_summary()).await, Err(AgentError::NoModel)));
    assert!(seen.all().is_empty() && world.told().is_empty());
    assert_eq!(world.leaf(), leaf);
    // Without a summary no model is needed.
    go(&world, &first, NavigateOptions::default()).await.unwrap();
    assert_eq!(world.leaf(), None);
}

#[tokio::test]
async fn where_nothing_is_to_be_summarised_no_model_is_called() {
    let world = World::new([]);
    let target = two_turns(&world).await;
    let end = world.leaf().unwrap();
    go(&world, &target, NavigateOptions::default()).await.unwrap();
    // Only settings and labels are left behind.
    world.session.set_label(&target, Some("here")).unwrap();
    world.session.set_thinking_level(ramal_model::ThinkingLevel::Low).unwrap();
    let moved = go(&world, &end, with_summary()).await.unwrap();
    assert_eq!(moved, Navigated::default());
    assert_eq!(world.model.count(), 2);
    assert_eq!(world.leaf(), Some(end));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn to_the_first_message_is_before_everything() {
    let mut world = World::new([]);
    two_turns(&world).await;
    world.told();
    let moved = go(&world, &world.id_of("question one"), NavigateOptions::default()).await.unwrap();
    assert_eq!(moved.editor_text.as_deref(), Some("question one"));
    assert_eq!(world.leaf(), None);
    let told = world.all_told();
    assert!(matches!(
        &*told[0],
        AgentEvent::SessionTree {
            new_leaf_id: None,
            old_leaf_id: Some(_),
            summary_entry: None,
            from_extension: None
        }
    ));
    assert!(told[0].to_json().contains("\"newLeafId\":null"));
    world.say("a new beginning").await;
    assert_eq!(world.model.last(), ["user: a new beginning"]);
}

#[tokio::test]
async fn to_where_one_is_nothing_happens_and_to_nowhere_is_an_error() {
    let hook = TestHook { before_tree: on(|_| async { panic!("nothing happens") }), ..TestHook::default() };
    let mut world = World::hooked([], [hook]);
    two_turns(&world).await;
    let (leaf, count) = (world.leaf().unwrap(), world.count());
    world.told();
    let options = NavigateOptions { label: Some("x".into()), ..with_summary() };
    assert_eq!(go(&world, &leaf, options).await.unwrap(), Navigated::default());
    assert!(matches!(
        go(&world, "00000000", NavigateOptions::default()).await,
        Err(AgentError::NoSuchEntry(_))
    ));
    assert!(world.told().is_empty());
    assert_eq!(world.model.count(), 2);
    is_unchanged(&world, &leaf, count).await;
}

#[tokio::test]
async fn an_injected_message_is_said_again_as_well() {
    let world = World::new([]);
    let parent = two_turns(&world).await;
    go(&world, &parent, NavigateOptions::default()).await.unwrap();
    let note = world.session.with_session(|manager| {
        manager.append_custom_message_entry(
            "note",
            r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
            true,
            None,
        )
    });
    world.say("go on").await;
    let moved = go(&world, &note.unwrap(), NavigateOptions::default()).await.unwrap();
    assert_eq!(moved.editor_text.as_deref(), Some("ab"));
    assert_eq!(world.leaf(), Some(parent));
}

#[tokio::test]
async fn a_move_without_a_summary_is_told_without_one() {
    let seen: Seen<TreeMoved> = Seen::default();
    let hook = watching(&seen);
    let world = World::hooked([], [hook]);
    let target = two_turns(&world).await;
    let old = world.leaf();
    let options = NavigateOptions { label: Some("here".into()), ..NavigateOptions::default() };
    go(&world, &target, options).await.unwrap();
    // The label entry is where one is now.
    let leaf = world.leaf().unwrap();
    assert_eq!(world.entry(&leaf)["targetId"], *target);
    assert_eq!(world.entry(&leaf)["parentId"], *target);
    go(&world, &world.id_of("question one"), NavigateOptions::default()).await.unwrap();
    let plain = |new: Option<&str>, old: Option<String>| TreeMoved {
        new_leaf_id: new.map(str::to_owned),
        old_leaf_id: old,
        summary_entry: None,
        from_extension: None,
    };
    assert_eq!(seen.all(), [plain(Some(&leaf), old), plain(None, Some(leaf.clone()))]);
    // From before everything nothing is abandoned, so nothing is summarised.
    let count = world.model.count();
    go(&world, &target, with_summary()).await.unwrap();
    assert_eq!(world.model.count(), count);
    assert_eq!(world.leaf(), Some(target));
}

#[tokio::test]
async fn a_leaf_entry_stands_for_where_it_leads() {
    let world = World::new([]);
    let target = two_turns(&world).await;
    let leaf = world.leaf().unwrap();
    let mark = world.session.with_session(|manager| {
        let entry = format!(r#"{{"type":"leaf","targetId":"{target}"}}"#);
        manager.append(&ramal_session::NewEntry::from_json(&entry).unwrap()).unwrap()
    });
    assert_eq!(world.leaf().as_deref(), Some(&*target));
    assert_eq!(go(&world, &mark, with_summary()).await.unwrap(), Navigated::default());
    assert_eq!(world.model.count(), 2);
    go(&world, &leaf, NavigateOptions::default()).await.unwrap();
    go(&world, &mark, NavigateOptions::default()).await.unwrap();
    assert_eq!(world.leaf(), Some(target));
}
