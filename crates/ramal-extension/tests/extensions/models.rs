//! Models that extensions ask themselves.

use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_asks_a_model() {
    let source = r#"
        import { complete, getModel } from "@earendil-works/pi-ai";
        import { completeSimple, stream, uuidv7, calculateCost } from "@mariozechner/pi-ai/compat";
        const said = (text) => ({ messages: [{ role: "user", content: [{ type: "text", text }], timestamp: 1 }] });
        export default (pi) => {
            // What it asks itself no hook sees.
            pi.on("before_provider_request", () => pi.appendEntry("watched"));
            pi.registerCommand("ask", { handler: async (_, ctx) => {
                const model = ctx.modelRegistry.find("demo", "beta");
                const auth = await ctx.modelRegistry.getApiKeyAndHeaders(model);
                const answer = await ctx.modelRegistry.complete(model, { systemPrompt: "Be brief.", ...said("one") }, { maxTokens: 77, apiKey: auth.apiKey });
                const { role, content, stopReason, usage } = answer;
                const second = await complete(getModel("demo", "alpha"), said("two"), { signal: ctx.signal });
                const third = await completeSimple(ctx.model, said("three"), { reasoning: "high" });
                const events = [];
                const streamed = stream(ctx.model, said("four"));
                for await (const event of streamed) events.push(event.type);
                pi.appendEntry("answer", { role, content, stopReason, ok: auth.ok, key: auth.apiKey ?? null, counted: typeof usage.input });
                pi.appendEntry("more", [second.content[0].text, third.content[0].text, (await streamed.result()).content[0].text, events]);
                pi.appendEntry("helpers", [/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(uuidv7()), calculateCost(ctx.model, { input: 10 }).total, getModel("none", "x") ?? null]);
            } });
            pi.registerCommand("none", { handler: async (_, ctx) => { await complete({ provider: "no", id: "model" }, said("x")); } });
        };
    "#;
    let mut world = world(&[source], ["1", "2", "3", "4"].map(text)).await;
    assert_eq!(world.problems, []);
    let before = world.entries().len();
    world.command("ask", "").await.unwrap();
    assert_eq!(
        world.kept("answer"),
        [json!({
            "role": "assistant", "content": [{ "type": "text", "text": "1" }], "stopReason": "stop",
            "ok": true, "key": null, "counted": "number",
        })]
    );
    let events = ["start", "text_start", "text_delta", "text_end", "done"];
    assert_eq!(world.kept("more"), [json!(["2", "3", "4", events])]);
    assert_eq!(world.kept("helpers"), [json!([true, 0, null])]);
    let requests = world.model.requests.lock().unwrap().clone();
    assert_eq!((&*requests[0].system, requests[0].max_output), ("Be brief.", Some(77)));
    assert!(requests.iter().all(|request| request.tools.is_empty()));
    assert_eq!(requests[2].thinking, ramal_model::ThinkingLevel::High);
    assert_eq!(world.entries().len(), before + 3, "nothing of it is kept: {:?}", world.entries());
    let error = world.command("none", "").await.unwrap_err().to_string();
    assert!(error.contains("no/model") && error.contains("there is none"), "{error}");
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_waited_for_and_an_abort_ends_it() {
    let source = r#"
        import { complete } from "@mariozechner/pi-ai";
        export default (pi) => {
            pi.registerCommand("ask", { handler: async (_, ctx) => {
                const abort = new AbortController();
                const asked = complete(ctx.model, { messages: [{ role: "user", content: "x" }] }, { signal: abort.signal });
                setTimeout(() => abort.abort(), 300);
                pi.appendEntry("ended", (await asked).stopReason);
            } });
        };
    "#;
    let world = World::new(&[source], [Say::Never], |options| {
        options.running_time = std::time::Duration::from_millis(200);
    })
    .await;
    world.command("ask", "").await.unwrap();
    assert_eq!(world.kept("ended"), [json!("aborted")]);
}
