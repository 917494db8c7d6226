//! Extensions in the place of others, while a session is at work.

use std::sync::Arc;

use ramal_agent::AgentConfig;
use ramal_agent::tools;
use ramal_extension::{Always, Extensions, Options};

use crate::support::*;

fn source(name: &str) -> String {
    format!(
        r#"
        export default (pi) => {{
            const notice = (what, ctx) => ctx.ui.notify(`{name} ${{what}}`);
            pi.on("session_start", (event, ctx) => notice(`start ${{event.reason}}`, ctx));
            pi.registerCommand("greet", {{ handler: async (_, ctx) => notice("greets", ctx) }});
            pi.on("session_shutdown", (event, ctx) => notice(`shutdown ${{event.reason}}`, ctx));
            pi.on("agent_end", (event, ctx) => notice("end", ctx));
            pi.on("context", (event, ctx) => notice("context", ctx));
            pi.registerTool({{ name: "{name}_tool", description: "d", execute: async () => "{name}" }});
            pi.registerTool({{ name: "shared", description: "d", execute: async () => "{name}" }});
        }};
    "#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_those_before_is_called_any_more() {
    let world = world(&[&source("old")], [text("one"), Say::Call("shared", "{}".into()), text("two")]).await;
    let old_tool = world.extensions.tools(Vec::new()).into_iter().next().unwrap();
    world.say("go").await;
    world.until(|| world.user.shown.lock().unwrap().iter().any(|line| line.ends_with("old end"))).await;
    world.session.set_active_tools(Some(vec!["read".into(), "old_tool".into()]));

    let path = world.folder.path().join("new.ts");
    std::fs::write(&path, source("new")).unwrap();
    let options = Options { permits: Arc::new(Always::Allow), ..Options::new(world.folder.path()) };
    let (fresh, problems) = within(Extensions::load(&[path], options)).await;
    assert_eq!(problems, []);
    fresh.set_ui(Arc::clone(&world.user) as Arc<dyn ramal_extension::Ui>);
    within(world.extensions.end("reload")).await;
    world.session.configure(|config| AgentConfig {
        hooks: fresh.hooks(),
        tools: fresh.tools(tools::all()),
        ..config.clone()
    });
    within(fresh.begin(&world.session, "reload")).await;
    let shown = world.shown();
    assert!(shown.iter().any(|line| line.ends_with("old shutdown reload")), "{shown:?}");
    assert!(shown.iter().any(|line| line.ends_with("new start reload")), "{shown:?}");

    world.say("again").await;
    world.until(|| world.user.shown.lock().unwrap().iter().any(|line| line.ends_with("new end"))).await;
    let shown = world.shown();
    assert!(!shown.iter().any(|line| line.contains("old")), "{shown:?}");
    assert_eq!(shown.iter().filter(|line| line.ends_with("new end")).count(), 1, "{shown:?}");
    let active = world.session.active_tools();
    assert!(active.contains(&"new_tool".into()) && active.contains(&"bash".into()), "all are offered again");
    assert!(!active.contains(&"old_tool".into()));
    let entries = world.entries();
    let result = entries.iter().find(|entry| entry["message"]["role"] == "toolResult").unwrap();
    assert_eq!(result["message"]["content"][0]["text"], "new");

    // One that somebody still holds says that it is over.
    let update = |_| {};
    let call = tools::Call {
        id: "c",
        arguments: "{}",
        cwd: world.folder.path(),
        overflow: None,
        abort: tokio_util::sync::CancellationToken::new(),
        update: &update,
    };
    let result = within(old_tool.run(call)).await;
    assert!(result.is_error && result.content_json().contains("has ended"), "{result:?}");
    let error = world.command("greet", "").await.unwrap_err().to_string();
    assert!(error.contains("has ended"), "{error}");
    assert_eq!(world.shown(), Vec::<String>::new());
    within(fresh.end("quit")).await;
}
