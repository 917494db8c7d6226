//! Making the conversation shorter: by hand, when it has to be, and what becomes of the tree.

use std::sync::Arc;

use ramal_agent::hooks::{BeforeCompact, Compacting, SuppliedCompaction};
use ramal_agent::{AgentConfig, AgentError, AgentEvent, Compacted, NavigateOptions, Prompt};
use ramal_session::Kind;

use crate::support::*;

/// A text of some 150 tokens: more than is kept as it is.
fn long(name: &str) -> String {
    format!("{name} {}", "x".repeat(600))
}

/// A text of some 60 tokens: two of them are kept as they are.
fn medium(name: &str) -> String {
    format!("{name} {}", "x".repeat(240))
}

/// Three prompts and their answers; the last ones are what is kept.
async fn three_turns(world: &World) {
    for number in 1..=3 {
        let sized = if number < 3 { long } else { medium };
        world.model.script([text(sized(&format!("answer {number}")))]);
        world.say(&sized(&format!("question {number}"))).await;
    }
}

async fn compact(world: &World) -> Result<Option<Compacted>, AgentError> {
    within(world.session.compact(None)).await
}

/// The events of compactions: reason, whether there is a result, aborted, will retry, has an error.
fn compactions(world: &mut World) -> Vec<(&'static str, bool, bool, bool, bool)> {
    let told = world.all_told();
    let mut begun = 0;
    let ended = told.iter().filter_map(|event| match &**event {
        AgentEvent::CompactionStart { .. } => {
            begun += 1;
            None
        }
        AgentEvent::CompactionEnd { reason, result, aborted, will_retry, error_message } => {
            let json: serde_json::Value = serde_json::from_str(&event.to_json()).unwrap();
            assert_eq!(json["result"].is_null(), result.is_none());
            Some((reason.name(), result.is_some(), *aborted, *will_retry, error_message.is_some()))
        }
        _ => None,
    });
    let ended: Vec<_> = ended.collect();
    assert_eq!(begun, ended.len());
    ended
}

fn small(config: &mut AgentConfig) {
    config.default_model = Some("demo/small".into());
}

#[tokio::test]
async fn by_hand() {
    let mut world = World::new([]);
    three_turns(&world).await;
    world.model.script([text("so far")]);
    world.told();
    let compacted = within(world.session.compact(Some("Mind the colours."))).await.unwrap().unwrap();
    let asked = &world.model.last()[0];
    for said in ["question 1", "answer 1", "question 2", "answer 2", "Mind the colours."] {
        assert!(asked.contains(said), "{said} is missing");
    }
    let entry: serde_json::Value = serde_json::from_str(&compacted.entry).unwrap();
    assert_eq!(world.leaf().as_deref(), entry["id"].as_str());
    assert!(entry["summary"].as_str().unwrap().starts_with("so far"));
    assert_eq!(entry["fromExtension"], false);
    assert_eq!(entry["tokensBefore"], compacted.tokens_before);
    assert_eq!(entry["firstKeptEntryId"], world.id_of(&medium("question 3")));
    assert!(entry["details"]["readFiles"].is_array());
    assert_eq!(compactions(&mut world), [("manual", true, false, false, false)]);
    world.say("on").await;
    let sent = world.model.last();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent[0].contains("so far"));
    assert_eq!(sent[2..], [format!("assistant: {}", medium("answer 3")), "user: on".to_owned()]);
}

#[tokio::test]
async fn by_the_threshold_once() {
    let mut world = World::with([], small);
    three_turns(&world).await;
    world.model.script([
        vec![Step::Text("the last straw".into()), Step::Usage(7500)],
        text("so far"),
        text("fine"),
        text("fine again"),
    ]);
    world.told();
    world.say("short").await;
    assert_eq!(compactions(&mut world), [("threshold", true, false, false, false)]);
    assert_eq!(world.count_of(Kind::Compaction), 1);
    assert_eq!(world.path().last().unwrap(), "compaction");
    world.say("on").await;
    assert!(world.model.last()[0].contains("so far"));
    // What the provider counted before does not count any more.
    world.say("and on").await;
    assert_eq!(world.count_of(Kind::Compaction), 1);
}

#[tokio::test]
async fn by_the_threshold_between_calls_and_their_next_request() {
    let world = World::with([], small);
    three_turns(&world).await;
    world.model.script([vec![call("c1", "ls", "{}"), Step::Usage(7500)], text("so far"), text("listed")]);
    world.say("list").await;
    let sent = world.model.last();
    assert!(sent[0].contains("so far"), "{sent:?}");
    let position = sent.iter().position(|said| said == "assistant: <ls>").unwrap();
    assert!(sent[position + 1].starts_with("toolResult: "), "{sent:?}");
    assert_eq!(
        world.path()[6..],
        ["user: list", "assistant: <ls>", &world.path()[8], "compaction", "assistant: listed"]
    );
}

#[tokio::test]
async fn by_an_overflow_with_one_retry() {
    let mut world = World::new([]);
    three_turns(&world).await;
    world.model.script([fail(too_long()), text("so far"), text("fits now")]);
    world.told();
    world.say("on").await;
    let path = world.path();
    assert_eq!(path[6..], ["user: on", "compaction", "assistant: fits now"]);
    let sent = world.model.last();
    assert!(sent[0].contains("so far"), "{sent:?}");
    assert_eq!(sent.last().unwrap(), "user: on");
    assert_eq!(compactions(&mut world), [("overflow", true, false, true, false)]);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn an_overflow_again_is_an_error() {
    let mut world = World::new([]);
    three_turns(&world).await;
    world.model.script([
        vec![Step::Text("a word".into()), Step::Fail(too_long())],
        text("so far"),
        fail(too_long()),
        text("never asked"),
    ]);
    world.told();
    let id = world.say("on").await;
    assert_eq!(world.count_of(Kind::Compaction), 1);
    let leaf = world.entry(&world.leaf().unwrap());
    assert_eq!(leaf["message"]["stopReason"], "error");
    assert_eq!(world.entry(leaf["parentId"].as_str().unwrap())["type"], "compaction");
    // What the first attempt said is beside it.
    assert_eq!(world.entry(&world.id_of("a word"))["parentId"], *id);
    assert_eq!(world.told().last(), Some(&"agent_end"));
    assert_eq!(world.model.count(), 6);
}

#[tokio::test]
async fn an_overflow_without_anything_to_compact_is_an_error_in_the_log() {
    for first in [fail(too_long()), vec![Step::Text("a word".into()), Step::Fail(too_long())]] {
        for enabled in [true, false] {
            let mut world = World::with([first.clone()], |config| config.compaction.enabled = enabled);
            let id = world.say("on").await;
            let leaf = world.entry(&world.leaf().unwrap());
            assert_eq!(leaf["parentId"], *id);
            assert_eq!(leaf["message"]["stopReason"], "error");
            assert!(leaf["message"]["errorMessage"].as_str().unwrap().contains("too long"));
            assert_eq!(world.count(), 2);
            let expected = [("overflow", false, false, false, true)];
            assert_eq!(compactions(&mut world), expected[..usize::from(enabled)]);
            world.takes_a_prompt().await;
        }
    }
}

#[tokio::test]
async fn a_turn_that_is_cut_gets_a_summary_of_its_own() {
    let mut world = World::new([text(long("answer 1"))]);
    world.say(&long("question 1")).await;
    let content = "y".repeat(600);
    world.put("y", &content);
    world.model.script([
        vec![Step::Text(long("step 1")), call("c1", "read", r#"{"path":"y"}"#)],
        vec![Step::Text(long("step 2")), call("c2", "read", r#"{"path":"y"}"#)],
        text(long("answer 2")),
        text("the history"),
        text("the beginning"),
    ]);
    world.say(&long("question 2")).await;
    world.told();
    let compacted = compact(&world).await.unwrap().unwrap();
    let asked: Vec<_> =
        world.model.requests()[4..].iter().map(|request| drawn(&request.messages[0])).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].contains("question 1") && !asked[0].contains("question 2"));
    assert!(
        asked[1].contains("question 2") && asked[1].contains("step 2") && !asked[1].contains("question 1")
    );
    assert!(compacted.summary.contains("the history") && compacted.summary.contains("the beginning"));
    world.say("on").await;
    let sent = world.model.last();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[1].starts_with("assistant: answer 2"));
}

#[tokio::test]
async fn twice_and_back_to_before_it() {
    let world = World::new([]);
    three_turns(&world).await;
    let before = world.context();
    let target = world.leaf().unwrap();
    world.model.script([text("summary one")]);
    compact(&world).await.unwrap().unwrap();
    three_turns(&world).await;
    world.model.script([text("summary two")]);
    compact(&world).await.unwrap().unwrap();
    let asked = &world.model.last()[0];
    assert!(asked.contains("summary one"), "{asked}");
    // What the first one kept is not lost between the two.
    assert!(asked.contains("answer 3") && asked.contains("question 1"), "{asked}");
    assert_eq!(world.count_of(Kind::Compaction), 2);
    world.say("on").await;
    let sent = world.model.last();
    assert!(sent[0].contains("summary two") && !sent[0].contains("summary one"), "{sent:?}");
    within(world.session.navigate_tree(&target, NavigateOptions::default())).await.unwrap();
    assert_eq!(world.context(), before);
    world.say("another way").await;
    assert_eq!(world.model.requests().last().unwrap().messages[..6], before);
}

#[tokio::test]
async fn refused_by_a_hook() {
    let hook = TestHook {
        before_compact: on(|_| async { Ok(BeforeCompact { cancel: true, compaction: None }) }),
        ..TestHook::default()
    };
    let mut world = World::hooked([], [hook]);
    three_turns(&world).await;
    world.told();
    assert_eq!(compact(&world).await.unwrap(), None);
    assert_eq!(world.model.count(), 3);
    assert_eq!(compactions(&mut world), [("manual", false, true, false, false)]);
    assert_eq!(world.count_of(Kind::Compaction), 0);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn supplied_by_a_hook() {
    let hook = TestHook {
        before_compact: on(|preparation: ramal_agent::hooks::CompactPreparation| async move {
            assert_eq!(preparation.messages_to_summarize.len() + preparation.turn_prefix_messages.len(), 4);
            let compaction = Some(SuppliedCompaction {
                summary: "mine".into(),
                first_kept_entry_id: preparation.first_kept_entry_id,
                tokens_before: preparation.tokens_before,
                details: Some(r#"{"by":"hook"}"#.into()),
            });
            Ok(BeforeCompact { cancel: false, compaction })
        }),
        compacting: on(|_| async { panic!("there is nothing to be made") }),
        ..TestHook::default()
    };
    let world = World::hooked([], [hook]);
    three_turns(&world).await;
    let compacted = compact(&world).await.unwrap().unwrap();
    assert_eq!(world.model.count(), 3);
    let entry: serde_json::Value = serde_json::from_str(&compacted.entry).unwrap();
    assert_eq!((&entry["summary"], &entry["fromExtension"]), (&"mine".into(), &true.into()));
    assert_eq!(entry["details"]["by"], "hook");
    world.takes_a_prompt().await;
    assert!(world.model.last()[0].contains("mine"));
}

#[tokio::test]
async fn hooks_change_the_prompt_and_are_told_of_the_entry() {
    let told = Seen::default();
    let seen = told.clone();
    let say = |text: &'static str| {
        on(move |messages: Vec<String>| async move {
            assert_eq!(messages.len(), 4);
            Ok(Some(Compacting {
                context: vec![format!("A line from {text}.")],
                prompt: Some(format!("Prompt of {text}.")),
                preserve_data: Some(format!(r#"{{"by":"{text}"}}"#)),
            }))
        })
    };
    let one = TestHook { compacting: say("one"), ..TestHook::default() };
    let other = TestHook {
        compacting: say("other"),
        compact: on(move |compacted| {
            seen.push(compacted);
            async { Ok(()) }
        }),
        ..TestHook::default()
    };
    let world = World::hooked([], [one, other, TestHook::default()]);
    three_turns(&world).await;
    world.model.script([text("so far")]);
    let compacted = compact(&world).await.unwrap().unwrap();
    let asked = &world.model.last()[0];
    assert!(asked.contains("Prompt of other.") && asked.contains("A line from other."), "{asked}");
    assert!(!asked.contains("of one.") && !asked.contains("from one."), "{asked}");
    let entry: serde_json::Value = serde_json::from_str(&compacted.entry).unwrap();
    assert_eq!(entry["preserveData"]["by"], "other");
    assert_eq!(told.all(), [(compacted.entry, false)]);
}

#[tokio::test]
async fn one_that_cannot_be_made_leaves_everything_as_it_was() {
    for answer in [fail(refused()), text(""), vec![Step::Text("half".into()), Step::Fail(refused())]] {
        let mut world = World::new([]);
        three_turns(&world).await;
        let (leaf, count) = (world.leaf(), world.count());
        world.model.script([answer]);
        world.told();
        assert!(compact(&world).await.is_err());
        assert_eq!((world.leaf(), world.count()), (leaf, count));
        assert_eq!(compactions(&mut world), [("manual", false, false, false, true)]);
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn an_automatic_one_that_cannot_be_made_does_not_end_the_turn() {
    let mut world = World::with([], small);
    three_turns(&world).await;
    world.model.script([
        vec![call("c1", "ls", "{}"), Step::Usage(7500)],
        fail(refused()),
        text("listed"),
        fail(refused()),
    ]);
    world.told();
    world.say("list").await;
    assert_eq!(world.path().last().unwrap(), "assistant: listed");
    // It is tried again when the turn is over.
    assert_eq!(compactions(&mut world), [("threshold", false, false, false, true); 2]);
    assert_eq!(world.count_of(Kind::Compaction), 0);
}

#[tokio::test]
async fn aborted() {
    let mut world = World::new([]);
    three_turns(&world).await;
    world.model.script([stall("half")]);
    let (leaf, count) = (world.leaf(), world.count());
    let (session, model) = (world.session.clone(), Arc::clone(&world.model));
    world.told();
    let compacting = tokio::spawn(async move { session.compact(None).await });
    within(async {
        while model.count() < 4 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    })
    .await;
    // What is said meanwhile is sent afterwards.
    world.session.follow_up(Prompt::text("said meanwhile")).unwrap();
    assert!(matches!(world.session.prompt(Prompt::text("no")), Err(AgentError::Busy { .. })));
    world.session.abort();
    assert_eq!(within(compacting).await.unwrap().unwrap(), None);
    within(world.session.wait_for_idle()).await;
    assert_eq!(compactions(&mut world), [("manual", false, true, false, false)]);
    assert_eq!(world.count(), count + 2);
    let path = world.path();
    assert_eq!(path[6..], ["user: said meanwhile", "assistant: done"]);
    assert_eq!(world.entry(&world.id_of("said meanwhile"))["parentId"], *leaf.unwrap());
}

#[tokio::test]
async fn nothing_to_compact() {
    let world = World::new([text("short")]);
    assert!(matches!(compact(&world).await, Err(AgentError::NothingToCompact)));
    world.say("short").await;
    assert!(matches!(compact(&world).await, Err(AgentError::NothingToCompact)));
    assert_eq!((world.model.count(), world.count()), (1, 2));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn without_a_model_it_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut manager = ramal_session::SessionManager::in_memory(folder.path());
    for role in ["user", "assistant", "user", "assistant"] {
        let said = format!(r#"{{"role":"{role}","content":"{}"}}"#, long(role));
        manager.append_message(&said).unwrap();
    }
    let world = World::of(folder, manager, [], |config| config.default_model = None);
    assert!(matches!(compact(&world).await, Err(AgentError::NoModel)));
    assert_eq!(world.count(), 4);
    world.session.must_be_idle().unwrap();
}
