//! What extensions ask of servers.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use ramal_extension::{Identity, Permits, Wish};
use ramal_testing::server::{Reply, Server};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::files::world_with;
use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_and_what_comes_back() {
    let server = Server::start(vec![
        Reply::json(201, "{\"a\": \"ä\"}").header("x-one", "1"),
        Reply::json(200, "form"),
        Reply::json(200, "bytes").cut(2),
        Reply::json(404, "pieces").cut(2),
    ])
    .await;
    let work = format!(
        r#"
        const url = {:?};
        const one = await fetch(url + "/a?b=c", {{ method: "POST", headers: {{ "X-Key": "k" }}, body: JSON.stringify({{ n: 1 }}) }});
        const twice = await one.json().then((value) => [value, one.bodyUsed]);
        const again = await tried(() => one.text());
        const form = await (await fetch(new URL("/form", url), {{ method: "put", body: new URLSearchParams({{ q: "a b" }}) }})).text();
        const bytes = await (await fetch(new Request(url, {{ method: "POST", body: new Uint8Array([0, 255, 1]).subarray(0, 2) }}))).arrayBuffer();
        const last = await fetch(url);
        let pieces = "";
        for await (const piece of last.body) pieces += Buffer.from(piece);
        return [one.status, one.ok, one.headers.get("X-One"), one.redirected, one.url === url + "/a?b=c", twice, again, form, Buffer.from(bytes).toString(), last.ok, pieces];
        "#,
        server.url()
    );
    let world = world_with(&work, |_| {}).await;
    world.command("do", "").await.unwrap();
    assert_eq!(
        world.kept("did"),
        [json!([
            201, true, "1", false, true, [{ "a": "ä" }, true], "the body has been read already", "form",
            "bytes", false, "pieces"
        ])]
    );
    let asked = server.requests();
    let told: Vec<_> =
        asked.iter().map(|one| (&*one.method, &*one.path, one.header("content-type"))).collect();
    assert_eq!(
        told,
        [
            ("POST", "/a?b=c", Some("text/plain;charset=UTF-8")),
            ("PUT", "/form", Some("application/x-www-form-urlencoded;charset=UTF-8")),
            ("POST", "/", None),
            ("GET", "/", None),
        ]
    );
    assert_eq!(asked[0].json(), json!({ "n": 1 }));
    assert_eq!(asked[0].header("x-key"), Some("k"));
    assert_eq!((&*asked[1].body, &*asked[2].body), (&b"q=a+b"[..], &[0, 255][..]));
}

/// Allows one host.
struct Only(&'static str, Mutex<Vec<String>>);

impl Permits for Only {
    fn may<'a>(&'a self, _: &'a Identity, wish: &'a Wish) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        let host = match wish {
            Wish::Network(host) => host.clone(),
            other => other.to_string(),
        };
        let may = host == self.0;
        self.1.lock().unwrap().push(host);
        Box::pin(async move { may })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_host_needs_a_permission_also_after_a_redirect() {
    let other = Server::start(vec![Reply::json(200, "secret")]).await;
    let port = other.url().rsplit(':').next().unwrap().to_owned();
    let server = Server::start(vec![
        Reply::json(302, "").header("location", "/next"),
        Reply::json(200, "here"),
        Reply::json(307, "").header("location", &format!("http://localhost:{port}/far")),
        Reply::json(302, "").header("location", "/manual"),
        Reply::json(302, "").header("location", "/error"),
        Reply::json(302, "").header("location", "file:///etc/passwd"),
    ])
    .await;
    let work = format!(
        r#"
        const url = {:?};
        const followed = await fetch(url, {{ method: "POST", body: "x", headers: {{ authorization: "k" }} }});
        const said = await followed.text();
        const failed = (work) => work.then(() => "came", (error) => `${{error.name}}: ${{error.message}}`);
        return [
            said, followed.redirected, followed.url === url + "/next", await failed(fetch(url)),
            (await fetch(url, {{ redirect: "manual" }})).status, await failed(fetch(url, {{ redirect: "error" }})), await failed(fetch(url)),
            await failed(fetch("http://example.invalid/")), await failed(fetch("file:///etc/passwd")),
        ];
        "#,
        server.url()
    );
    let permits = Arc::new(Only("127.0.0.1", Mutex::default()));
    let asked = Arc::clone(&permits);
    let world = world_with(&work, |options| options.permits = permits).await;
    world.command("do", "").await.unwrap();
    let kept = world.kept("did").pop().unwrap();
    assert_eq!(
        (&kept[0], &kept[1], &kept[2], &kept[4]),
        (&json!("here"), &json!(true), &json!(true), &json!(302))
    );
    for (at, named) in [
        (3, "not allowed to speak to localhost"),
        (5, "redirected"),
        (6, "http and https"),
        (7, "not allowed to speak to example.invalid"),
        (8, "http and https"),
    ] {
        let said = kept[at].as_str().unwrap();
        assert!(said.starts_with("TypeError: fetch failed: ") && said.contains(named), "{said}");
    }
    assert_eq!(other.requests().len(), 0);
    let requests = server.requests();
    assert_eq!((&*requests[1].method, &*requests[1].body), ("GET", &b""[..]));
    assert_eq!(requests[1].header("authorization"), Some("k"));
    assert!(asked.1.lock().unwrap().contains(&"localhost".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_and_signals_end_what_never_answers() {
    let server = Server::start(vec![Reply::silence()]).await;
    let work = format!(
        r#"
        const late = await fetch({0:?}, {{ signal: AbortSignal.timeout(20) }}).catch((error) => error.name);
        pi.appendEntry("late", late);
        await fetch({0:?});
        "#,
        server.url()
    );
    let world = world_with(&work, |_| {}).await;
    let abort = CancellationToken::new();
    let extensions = world.extensions.clone();
    let running = tokio::spawn({
        let abort = abort.clone();
        async move { extensions.run_command("do", "", abort).await }
    });
    world.until(|| server.requests().len() == 2).await;
    assert_eq!(world.kept("late"), [json!("TimeoutError")]);
    abort.cancel();
    assert!(within(running).await.unwrap().is_err());
    assert!(server.hang_up().await.is_some());
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_larger_than_the_memory_is_an_error() {
    let server = Server::start(vec![Reply::json(200, &"x".repeat(20 << 20)).cut(1 << 20)]).await;
    let work = format!("return (await fetch({:?})).text().catch((error) => error.message);", server.url());
    let world = world_with(&work, |options| options.memory = 16 << 20).await;
    world.command("do", "").await.unwrap();
    let kept = world.kept("did").pop().unwrap();
    assert!(kept.as_str().unwrap().contains("body is too large"), "{kept}");
}
