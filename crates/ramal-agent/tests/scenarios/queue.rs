//! What is said while the model is at work.

use ramal_agent::{AgentEvent, Prompt, QueueMode};

use crate::support::*;

/// A turn that is at its first answer, which ends when it is let go.
async fn at_work(world: &mut World) {
    world.model.script([vec![Step::Text("one".into()), Step::Wait(30)]]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
}

#[tokio::test]
async fn what_steers_goes_before_what_follows_one_at_a_time() {
    let mut world = World::new([]);
    at_work(&mut world).await;
    world.model.script([text("two"), text("three"), text("four"), text("five")]);
    for said in ["follow 1", "follow 2"] {
        world.session.follow_up(Prompt::text(said)).unwrap();
    }
    for said in ["steer 1", "steer 2"] {
        world.session.steer(Prompt::text(said)).unwrap();
    }
    within(world.session.wait_for_idle()).await;
    assert_eq!(
        world.path(),
        [
            "user: go",
            "assistant: one",
            "user: steer 1",
            "assistant: two",
            "user: steer 2",
            "assistant: three",
            "user: follow 1",
            "assistant: four",
            "user: follow 2",
            "assistant: five",
        ]
    );
    // One turn of the user's, and the queue was told each time.
    let told = world.all_told();
    assert_eq!(told.iter().filter(|event| event.name() == "agent_end").count(), 1);
    let queues: Vec<(usize, usize)> = told
        .iter()
        .filter_map(|event| match &**event {
            AgentEvent::QueueUpdate { steering, follow_up } => Some((steering.len(), follow_up.len())),
            _ => None,
        })
        .collect();
    assert_eq!(queues, [(0, 1), (0, 2), (1, 2), (2, 2), (1, 2), (0, 2), (0, 1), (0, 0)]);
}

#[tokio::test]
async fn all_at_once_if_that_is_the_mode() {
    let mut world = World::new([]);
    world.session.set_steering_mode(QueueMode::All);
    world.session.set_follow_up_mode(QueueMode::All);
    at_work(&mut world).await;
    world.model.script([text("two"), text("three")]);
    for (steers, said) in [(true, "s1"), (false, "f1"), (true, "s2"), (false, "f2")] {
        let said = Prompt::text(said);
        if steers { world.session.steer(said) } else { world.session.follow_up(said) }.unwrap();
    }
    within(world.session.wait_for_idle()).await;
    assert_eq!(
        world.path(),
        [
            "user: go",
            "assistant: one",
            "user: s1",
            "user: s2",
            "assistant: two",
            "user: f1",
            "user: f2",
            "assistant: three",
        ]
    );
}

#[tokio::test]
async fn steering_goes_before_calls_that_were_not_run_yet() {
    let mut world = World::new([
        vec![
            call("c1", "bash", r#"{"command":"echo begun; sleep 0.2"}"#),
            call("c2", "write", r#"{"path":"late","content":"x"}"#),
        ],
        text("as you wish"),
    ]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("tool_execution_start").await;
    world.session.steer(Prompt::text("stop writing")).unwrap();
    within(world.session.wait_for_idle()).await;
    let path = world.path();
    assert!(path[2].contains("begun"), "{path:?}");
    assert!(path[3].contains("the user had something to say first"), "{path:?}");
    assert_eq!(path[4..], ["user: stop writing", "assistant: as you wish"]);
    assert!(!world.folder.path().join("late").exists());
    // The results stand behind their calls, what was said behind them.
    assert_eq!(world.model.last().len(), 5);
}

#[tokio::test]
async fn while_nothing_runs_it_is_a_prompt() {
    let world = World::new([text("one"), text("two")]);
    world.session.steer(Prompt::text("go")).unwrap();
    within(world.session.wait_for_idle()).await;
    world.session.follow_up(Prompt::text("on")).unwrap();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path(), ["user: go", "assistant: one", "user: on", "assistant: two"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_is_said_while_a_turn_ends_is_lost() {
    let world = World::new([]);
    for number in 0..200 {
        world.session.steer(Prompt::text(format!("say {number}"))).unwrap();
        if number % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
    within(async {
        while world.session.running().is_some() {
            world.session.wait_for_idle().await;
        }
    })
    .await;
    let said = world.path().into_iter().filter(|entry| entry.starts_with("user: ")).collect::<Vec<_>>();
    let all: Vec<_> = (0..200).map(|number| format!("user: say {number}")).collect();
    assert_eq!(said, all);
}

#[tokio::test]
async fn after_an_abort_or_a_failure_what_waits_goes_on_waiting() {
    let mut world = World::new([stall("half"), fail(refused())]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    world.session.follow_up(Prompt::text("later")).unwrap();
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path(), ["user: go", "assistant: half"]);
    world.say("again").await;
    assert_eq!(world.path().len(), 4);
    let (steering, follow_up) = world.session.clear_queue();
    assert!(steering.is_empty());
    assert_eq!(follow_up, [Prompt::text("later")]);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn an_image_comes_without_a_word() {
    let world = World::new([]);
    let image = r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#.to_owned();
    let prompt = Prompt { images: vec![image], ..Prompt::default() };
    let id = within(world.session.prompt_and_wait(prompt)).await.unwrap();
    let content = &world.entry(&id)["message"]["content"];
    assert_eq!(content.as_array().unwrap().len(), 1);
    assert_eq!(content[0]["type"], "image");
}
