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
    let far = "import './gone';\nexport default () => {};\n";
    let fine = "export default (pi) => {\n  pi.registerCommand('fine', { handler: async () => {} });\n};\n";
    let world = world(&[missing, wrong, none, throws, far, fine], []).await;
    let told: Vec<String> = world.problems.iter().map(ToString::to_string).collect();
    for (said, parts) in told.iter().zip([
        &["ext0.ts:2:", "imports \"node:net\"", "does not have"][..],
        &["ext1.ts:2:"],
        &["default export is no function"],
        &["not today", "ext3.ts:4:"],
        &["ext4.ts:1:", "./gone", "is not there"],
    ]) {
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    assert_eq!(told.len(), 5);
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
