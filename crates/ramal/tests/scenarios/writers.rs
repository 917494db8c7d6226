//! Two programs at work in one session: each where it is, and nothing of either is lost.

use ramal_testing::says::says;
use ramal_testing::server::{Gate, Step};
use serde_json::json;

use crate::world::{API, World, text};

#[test]
fn two_at_once() {
    let (one, two) = (Gate::closed(), Gate::closed());
    let paused = |words: &str, gate: &Gate| says(words).paused(API, Step::Until(gate.clone()));
    let script =
        vec![text("Trunk."), paused("ONE", &one), paused("TWO", &two), text("One more."), text("Two more.")];
    let world = World::new(script);
    let mut first = world.start();
    first.say("Begin");
    let mut second = world.start();
    assert_eq!(second.state()["leafId"], first.state()["leafId"]);
    first.begin("For one");
    second.begin("For two");
    two.open();
    second.event("agent_end");
    one.open();
    first.event("agent_end");
    // Each goes on from where it was, and sees what the other wrote.
    first.say("More for one");
    second.say("More for two");
    let leaves = [first.state()["leafId"].clone(), second.state()["leafId"].clone()];
    for program in [&mut first, &mut second] {
        let tree = program.ok(json!({"type": "get_tree"}))["tree"].clone();
        assert_eq!(tree[0]["children"][0]["children"].as_array().unwrap().len(), 2, "{tree}");
    }
    first.close();
    world.finish(second);

    let asked = world.asked();
    let trunk = ["user: Begin", "assistant: Trunk."];
    assert_eq!(
        asked[3].said,
        [&trunk[..], &["user: For one", "assistant: ONE", "user: More for one"]].concat()
    );
    assert_eq!(
        asked[4].said,
        [&trunk[..], &["user: For two", "assistant: TWO", "user: More for two"]].concat()
    );
    assert_eq!(world.entries().len(), 10);
    let of = |index: usize| world.path_to(&leaves[index])[2..].to_vec();
    assert_eq!(of(0), ["user: For one", "assistant: ONE", "user: More for one", "assistant: One more."]);
    assert_eq!(of(1), ["user: For two", "assistant: TWO", "user: More for two", "assistant: Two more."]);
}
