//! What extensions are made of: files, packages, our own modules, and what is not there.

use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn files_packages_and_types() {
    let world = world(&["parts/index.ts"], []).await;
    assert_eq!(world.problems, []);
    world.command("parts", "").await.unwrap();
    assert_eq!(
        world.kept("parts"),
        [
            json!({ "color": 2, "helper": "help me", "data": "from json", "packaged": "PLAIN", "later": 7, "url": "index.ts" })
        ]
    );
    assert_eq!(world.extensions.all()[0].identity().name, "parts");
    assert_eq!(world.extensions.all()[0].identity().hash.len(), 64);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_named_with_its_place() {
    let missing =
        "import type { X } from 'left-pad';\nimport * as net from 'node:net';\nexport default () => net;\n";
    let wrong = "export default (pi) => {\n  const a: = 1;\n};\n";
    let none = "export const x = 1;\n";
    let throws = "type A = 1;\n\nexport default (pi: A) => {\n  throw new Error('not today');\n};\n";
    let rest = "import * as os from 'node:os';\n\nimport { gunzipSync } from 'node:zlib';\nexport default () => gunzipSync(os);\n";
    let far = "import './gone';\nexport default () => {};\n";
    let fine = "export default (pi) => {\n  pi.registerCommand('fine', { handler: async () => {} });\n};\n";
    let world = world(&[missing, wrong, none, throws, far, rest, fine], []).await;
    let told: Vec<String> = world.problems.iter().map(ToString::to_string).collect();
    for (said, parts) in told.iter().zip([
        &["ext0.ts:2:", "imports \"node:net\"", "does not have"][..],
        &["ext1.ts:2:"],
        &["default export is no function"],
        &["not today", "ext3.ts:4:"],
        &["ext4.ts:1:", "./gone", "is not there"],
        &["ext5.ts:3:", "imports \"node:zlib\"", "node:child_process, node:crypto"],
    ]) {
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    assert_eq!(told.len(), 6);
    world.command("fine", "").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_for_the_web_or_for_node_expects() {
    let world = world(&["platform.ts"], []).await;
    assert_eq!(world.problems, []);
    world.command("platform", "").await.unwrap();
    let seen = world.kept("platform").pop().unwrap();
    for (name, holds) in seen.as_object().unwrap() {
        assert_eq!(holds, &json!(true), "{name}");
    }
    assert!(seen.as_object().unwrap().len() > 40);
    let log = world.log.lock().unwrap();
    let lines: Vec<(&str, &str)> = log.iter().map(|line| (&*line.level, &*line.text)).collect();
    assert_eq!(lines, [("info", "a 1 { b: [ 2 ] }"), ("error", "wrong")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_extensions_use_of_node() {
    let world = world(&["node.ts"], []).await;
    assert_eq!(world.problems, []);
    world.command("node", "").await.unwrap();
    let seen = world.kept("node").pop().unwrap();
    let failed: Vec<_> =
        seen.as_object().unwrap().iter().filter(|(_, holds)| **holds != json!(true)).collect();
    assert_eq!(failed, Vec::<(&String, &serde_json::Value)>::new());
    assert!(seen.as_object().unwrap().len() > 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_in_the_manner_of_commonjs() {
    let world = world(&["commonjs.ts"], []).await;
    assert_eq!(world.problems, []);
    world.command("old", "").await.unwrap();
    assert_eq!(
        world.kept("old"),
        [json!({
            "here": "index.js lib", "version": "1.0.0", "reads": true, "octal": 8, "self": true, "cycle": "function",
            "four": 4, "called": "hi!", "same": true, "place": true,
        })]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_is_made_of_is_known_while_it_is_loaded_and_later() {
    use std::sync::{Arc, Mutex};

    use ramal_extension::{Identity, Permits, Wish};

    #[derive(Default)]
    struct Hashes(Mutex<Vec<String>>);
    impl Permits for Hashes {
        fn may<'a>(
            &'a self,
            extension: &'a Identity,
            _: &'a Wish,
        ) -> std::pin::Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
            self.0.lock().unwrap().push(extension.hash.clone());
            Box::pin(async { true })
        }
    }

    let source = r#"
        import { execSync } from "node:child_process";
        execSync("true");
        export default (pi) => {
            pi.registerCommand("more", { handler: async () => { await import("./more.js"); execSync("true"); } });
        };
    "#;
    let permits = Arc::new(Hashes::default());
    let asked = Arc::clone(&permits);
    let world = World::new(&[source], [], |options| {
        std::fs::write(options.cwd.join("more.js"), "export const x = 1;").unwrap();
        options.permits = permits;
    })
    .await;
    assert_eq!(world.problems, []);
    let loaded = world.extensions.all()[0].identity().hash;
    world.command("more", "").await.unwrap();
    let hashes = asked.0.lock().unwrap().clone();
    assert_eq!((hashes.len(), hashes[0].len(), &hashes[0]), (2, 64, &loaded));
    assert_ne!(hashes[1], loaded);
}
