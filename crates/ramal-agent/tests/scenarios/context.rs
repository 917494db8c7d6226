//! The context begun anew, and its parts told; a title for what is in it.

use ramal_agent::compact::estimate_tokens;
use ramal_agent::{AgentError, AgentEvent, ContextBreakdown, ContextKind, Prompt};
use ramal_session::{At, Kind, Message};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[tokio::test]
async fn the_context_begins_anew() {
    let mut world = World::new([text("one"), text("two")]);
    world.session.set_model("demo/beta").unwrap();
    world.say("first").await;
    world.told();
    let boundary = within(world.session.reset_context()).await.unwrap().unwrap();
    let told = world.all_told();
    assert_eq!(*told[0], AgentEvent::ContextReset { entry_id: boundary.to_string() });
    assert_eq!(told.len(), 1);
    assert_eq!(world.leaf().as_deref(), Some(&*boundary));
    assert!(world.context().is_empty());
    assert_eq!(within(world.session.reset_context()).await.unwrap(), None, "it is empty already");
    assert_eq!(world.count_of(Kind::ResetBoundary), 1);
    world.say("second").await;
    assert_eq!(world.model.last(), ["user: second"]);
    assert_eq!(world.model.models(), ["beta", "beta"], "settings stay");
    assert_eq!(world.path().len(), 6, "nothing is lost");
}

#[tokio::test]
async fn nothing_is_cleared_where_nothing_was_said() {
    let world = World::new([]);
    assert_eq!(within(world.session.reset_context()).await.unwrap(), None);
    assert_eq!(world.count(), 0);
}

#[tokio::test]
async fn a_turn_is_ended_before_the_context_begins_anew() {
    let mut world = World::new([stall("half"), text("after")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    within(world.session.reset_context()).await.unwrap().unwrap();
    assert_eq!(world.path(), ["user: go", "assistant: half", "reset_boundary"]);
    assert!(matches!(world.session.retry(), Err(AgentError::NothingToRetry)), "what was cleared");
    world.say("anew").await;
    assert_eq!(world.model.last(), ["user: anew"]);
}

fn part(breakdown: &ContextBreakdown, kind: ContextKind, name: Option<&str>) -> (usize, u64) {
    let is = |part: &&ramal_agent::ContextPart| part.kind == kind && part.name.as_deref() == name;
    breakdown.parts.iter().find(is).map_or((0, 0), |part| (part.count, part.tokens))
}

#[tokio::test]
async fn the_parts_are_what_compaction_counts() {
    let file = ramal_agent::ContextFile { path: "/p/AGENTS.md".into(), text: "a".repeat(400) };
    let world = World::with([], |config| {
        config.system = ramal_agent::system_prompt(&config.cwd, &[file], Some("Own lines."), None);
    });
    world.put("a", "c".repeat(80));
    world.model.script([
        vec![Step::Text("Let me.".into()), call("c1", "read", r#"{"path":"a"}"#), call("c2", "ls", "{}")],
        text("It is c."),
    ]);
    let mut prompt = Prompt::text("u".repeat(41));
    prompt.images = vec![r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#.into()];
    within(world.session.prompt_and_wait(prompt)).await.unwrap();
    world.session.with_session(|manager| {
        let thought = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"1234567890"},{"type":"text","text":"x"}]}"#;
        manager.append_message(thought).unwrap();
        manager.append_custom_message_entry("note", "\"12345678\"", true, None).unwrap();
        let leaf = manager.get_leaf_id().unwrap();
        manager.branch_with_summary(leaf.as_deref(), "summed up", None, None).unwrap();
    });
    // Where nobody has counted, the whole is the sum of the parts.
    world.session.set_model("demo/small").unwrap();
    let told = world.session.context_breakdown().unwrap();
    assert_eq!(told.estimated, told.parts.iter().map(|part| part.tokens).sum::<u64>());
    assert!(!told.tokens.is_measured);
    assert_eq!((told.tokens, told.tokens.tokens), (world.session.context_tokens().unwrap(), told.estimated));
    let conversation = world.session.with_session(|manager| {
        let context = manager.build_session_context(At::Leaf).unwrap();
        context.messages().map(|message| estimate_tokens(Message::new(&message.unwrap().json))).sum::<u64>()
    });
    let beside = [ContextKind::SystemPrompt, ContextKind::ContextFile, ContextKind::Tools];
    let of_beside = told.parts.iter().filter(|part| beside.contains(&part.kind));
    assert_eq!(told.estimated - of_beside.map(|part| part.tokens).sum::<u64>(), conversation);

    assert_eq!(part(&told, ContextKind::User, None), (1, 11));
    assert_eq!(part(&told, ContextKind::Image, None), (1, 1200));
    assert_eq!(part(&told, ContextKind::ToolCall, None).0, 2);
    assert_eq!(part(&told, ContextKind::Assistant, None).0, 3);
    assert_eq!(part(&told, ContextKind::Thinking, None), (1, 3));
    assert_eq!(part(&told, ContextKind::Custom, Some("note")), (1, 2));
    assert_eq!(part(&told, ContextKind::Summary, None).0, 1);
    assert!(part(&told, ContextKind::ToolResult, Some("read")).1 >= 20);
    assert_eq!(part(&told, ContextKind::ToolResult, Some("ls")).0, 1);
    assert_eq!(part(&told, ContextKind::ContextFile, Some("/p/AGENTS.md")).0, 1);
    assert!(part(&told, ContextKind::ContextFile, Some("/p/AGENTS.md")).1 >= 100);
    assert!(part(&told, ContextKind::SystemPrompt, None).1 < 60);
    assert_eq!(part(&told, ContextKind::Tools, None).0, 7);

    assert_eq!((told.model.as_deref(), told.window), (Some("demo/small"), Some(8000)));
    assert_eq!(told.compacts_beyond, Some(7000));
    assert_eq!(told.free(), Some(8000 - told.tokens.tokens));
    world.session.set_auto_compaction(false);
    assert_eq!(world.session.context_breakdown().unwrap().compacts_beyond, None);
}

#[tokio::test]
async fn what_the_provider_counted_goes_before_the_estimate() {
    let world = World::new([vec![Step::Text("one".into()), Step::Usage(5000)]]);
    world.say("first").await;
    let told = world.session.context_breakdown().unwrap();
    assert_eq!((told.tokens.tokens, told.tokens.is_measured), (5001, true));
    assert!(told.estimated < 5000);
    assert_eq!(told.free(), Some(200_000 - 5001));
}

#[tokio::test]
async fn the_model_proposes_a_title() {
    let world =
        World::new([text("one"), text("two"), text("\"A fine title.\"\n"), text(""), fail(refused())]);
    let propose = || within(world.session.propose_title(CancellationToken::new()));
    assert!(matches!(propose().await, Err(AgentError::NothingToName)));
    world.say("about weeks").await;
    world.say("and about years").await;
    let count = world.count();
    assert_eq!(propose().await.unwrap(), "A fine title");
    let asked = Message::new(&world.model.requests()[2].messages[0]).text();
    assert!(asked.contains("about weeks") && asked.contains("and about years"), "{asked}");
    assert!(matches!(propose().await, Err(AgentError::NoTitle)));
    assert!(matches!(propose().await, Err(AgentError::Model(_))));
    let abort = CancellationToken::new();
    abort.cancel();
    let aborted = within(world.session.propose_title(abort)).await;
    assert!(matches!(aborted, Err(AgentError::Aborted { .. })));
    assert_eq!(world.count(), count);
    assert_eq!(world.session.with_session(|manager| manager.get_session_name()), None);
}
