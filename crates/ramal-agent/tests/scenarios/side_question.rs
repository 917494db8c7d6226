//! Questions on the side: answered, and not kept.

use ramal_agent::{AgentError, Prompt};
use ramal_session::Message;
use tokio_util::sync::CancellationToken;

use crate::support::*;

async fn ask(world: &World, question: &str) -> Result<String, AgentError> {
    let answer = within(world.session.ask_aside(question, CancellationToken::new(), |_| {})).await?;
    Ok(answer.text)
}

#[tokio::test]
async fn the_answer_comes_piece_by_piece_and_is_not_kept() {
    let mut world = World::new([text("one")]);
    world.say("first").await;
    let (count, leaf, bytes) = (world.count(), world.leaf(), std::fs::read(world.file()).unwrap());
    world.told();
    world.model.script([vec![Step::Text("Well,".into()), Step::Usage(7), Step::Text("yes.".into())]]);
    let mut told = String::new();
    let asked = world.session.ask_aside("is it?", CancellationToken::new(), |text| told += text);
    let answer = within(asked).await.unwrap();
    assert_eq!((&*answer.text, &*told), ("Well,\n\nyes.", "Well,\n\nyes."));
    assert_eq!((answer.usage.input, answer.is_cut), (7, false));
    assert_eq!((world.count(), world.leaf()), (count, leaf));
    assert_eq!(std::fs::read(world.file()).unwrap(), bytes);
    assert!(world.told().is_empty());
    // What a turn would send comes first, word for word.
    let (turn, aside) = (world.model.requests()[0].clone(), world.model.requests()[1].clone());
    assert_eq!((&aside.system, aside.tools.len()), (&turn.system, turn.tools.len()));
    assert_eq!(aside.messages[..2], world.context());
    assert_eq!(aside.messages.len(), 3);
    let said = Message::new(&aside.messages[2]).text();
    assert!(said.contains("<question>\nis it?\n</question>"), "{said}");
    world.say("second").await;
    assert_eq!(world.model.last(), ["user: first", "assistant: one", "user: second"]);
}

#[tokio::test]
async fn it_may_be_asked_during_a_turn() {
    let mut world = World::new([stall("half"), text("aside"), text("after")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    assert_eq!(ask(&world, "how far?").await.unwrap(), "aside");
    assert!(world.session.must_be_idle().is_err(), "the turn goes on");
    assert_eq!(world.model.last()[0], "user: go");
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path(), ["user: go", "assistant: half"]);
}

#[tokio::test]
async fn an_abort_ends_it_and_nothing_else() {
    let world = World::new([text("one"), stall("half")]);
    world.say("first").await;
    let abort = CancellationToken::new();
    let end = abort.clone();
    let asked = world.session.ask_aside("why?", abort, |text| {
        assert_eq!(text, "half");
        end.cancel();
    });
    assert!(matches!(within(asked).await, Err(AgentError::Aborted { .. })));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn what_is_no_answer_is_an_error() {
    let world = World::new([vec![call("c", "read", "{}")], fail(refused()), vec![Step::Text(String::new())]]);
    assert!(matches!(ask(&world, "what?").await, Err(AgentError::NoAnswer)), "no tool is run");
    assert!(matches!(ask(&world, "what?").await, Err(AgentError::Model(_))));
    assert!(matches!(ask(&world, "what?").await, Err(AgentError::NoAnswer)));
    assert_eq!(world.count(), 0);
}
