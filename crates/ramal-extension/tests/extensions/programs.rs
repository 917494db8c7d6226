//! Programs that extensions run.

use std::sync::Arc;
use std::time::Duration;

use ramal_extension::Always;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::files::world_with;
use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_run_in_all_ways() {
    let work = r#"
        const { promisify } = await import("node:util");
        const shell = promisify(cp.exec);
        const failed = await shell("echo out; echo err >&2; exit 3").catch((error) => error);
        const sync = (work) => { try { return work(); } catch (error) { return [error.status, String(error.stderr), error.code ?? null, error.signal ?? null]; } };
        const child = cp.spawn("sh", ["-c", "read line; echo got $line; echo oops >&2; exit 4"]);
        const heard = [];
        child.stdout.setEncoding("utf8");
        child.stdout.on("data", (text) => heard.push(text));
        child.stdout.on("end", () => heard.push("end"));
        let wrong = "";
        child.stderr.on("data", (bytes) => { wrong += bytes; });
        child.on("exit", (code, signal) => heard.push(`exit ${code} ${signal}`));
        const pid = child.pid;
        child.stdin.write("a li");
        child.stdin.end("ne\n");
        const closed = await new Promise((resolve) => child.on("close", (code, signal) => resolve([code, signal])));
        const missing = await new Promise((resolve) => cp.spawn("no-such-program-here").on("error", resolve));
        const many = cp.spawn("sh", ["-c", "head -c 3000000 /dev/zero"]);
        let count = 0;
        for await (const bytes of many.stdout) count += bytes.length;
        const all = cp.spawnSync("sh", ["-c", "cat; echo e >&2; kill -9 $$"], { input: "in", encoding: "utf8" });
        return {
            exec: await shell("printf hi; printf there >&2", { encoding: "utf8" }),
            failed: [failed.code, failed.stdout, failed.stderr, failed.killed, failed.message.startsWith("Command failed: echo out")],
            file: (await promisify(cp.execFile)("printf", ["%s-%s", "a", "b c"])).stdout,
            called: await new Promise((resolve) => cp.exec("echo $X", { env: { ...process.env, X: "y" } }, (error, stdout) => resolve([error, stdout]))),
            sync: cp.execSync("pwd", { cwd: "/", encoding: "utf8" }), bytes: Buffer.isBuffer(cp.execSync("true")),
            fileSync: cp.execFileSync("cat", { input: Buffer.from("x"), encoding: "latin1" }),
            syncFailed: sync(() => cp.execSync("echo no >&2; exit 2", { stdio: "pipe" })),
            late: sync(() => cp.execSync("sleep 50", { timeout: 50 })).slice(2), much: sync(() => cp.execSync("yes", { maxBuffer: 1000 }))[2],
            lateLater: await shell("sleep 50", { timeout: 50 }).catch((error) => [error.killed, error.signal, error.code]),
            muchLater: await shell("yes", { maxBuffer: 1000 }).catch((error) => [error.code, error.stdout.length]),
            heard: [heard.filter((one) => !one.startsWith("exit")).join(""), heard.find((one) => one.startsWith("exit")), wrong, closed, child.exitCode, pid > 1],
            missing: [missing.code, missing.path, cp.spawnSync("no-such-program-here").error.code, (await shell("x", { cwd: "/nowhere" }).catch((error) => error)).code],
            count, all: [all.status, all.signal, all.stdout, all.stderr, all.output.length],
            inherited: cp.spawnSync("echo", ["to the log"], { stdio: "inherit" }).stdout,
            hidden: [cp.execSync("echo -$CARGO_PKG_NAME-", { encoding: "utf8" }), (await shell("env", { env: process.env })).stdout.includes("CARGO_PKG_NAME="), process.env.CARGO_PKG_NAME ?? null, process.env.CARGO_PKG_VERSION !== undefined],
        };
    "#;
    // It is there: cargo sets it for tests.
    ramal_agent::tools::hide_variables(["CARGO_PKG_NAME".to_owned()]);
    let world = world_with(work, |_| {}).await;
    world.command("do", "").await.unwrap();
    let kept = world.kept("did").pop().unwrap();
    for (name, expected) in [
        ("exec", json!({ "stdout": "hi", "stderr": "there" })),
        ("failed", json!([3, "out\n", "err\n", false, true])),
        ("file", json!("a-b c")),
        ("called", json!([null, "y\n"])),
        ("sync", json!("/\n")),
        ("bytes", json!(true)),
        ("fileSync", json!("x")),
        ("syncFailed", json!([2, "no\n", null, null])),
        ("late", json!(["ETIMEDOUT", "SIGTERM"])),
        ("much", json!("ENOBUFS")),
        ("lateLater", json!([true, "SIGTERM", null])),
        ("muchLater", json!(["ERR_CHILD_PROCESS_STDIO_MAXBUFFER", 1000])),
        ("heard", json!(["got a line\nend", "exit 4 null", "oops\n", [4, null], 4, true])),
        ("missing", json!(["ENOENT", "no-such-program-here", "ENOENT", "ENOENT"])),
        ("count", json!(3_000_000)),
        ("all", json!([null, "SIGKILL", "in", "e\n", 3])),
        ("inherited", json!(null)),
        ("hidden", json!(["--\n", false, null, true])),
    ] {
        assert_eq!(kept[name], expected, "{name}");
    }
    let log = world.log.lock().unwrap();
    assert!(log.iter().any(|line| line.text == "to the log"), "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_program_is_run_without_permission() {
    let work = r#"
        const later = await new Promise((resolve) => cp.exec("touch made", resolve));
        const spawned = await new Promise((resolve) => cp.spawn("touch", ["made"]).on("error", resolve));
        return [await tried(() => cp.execSync("touch made")), later.code, spawned.code, /not allowed to run touch made/.test(spawned.message)];
    "#;
    let world = world_with(work, |options| options.permits = Arc::new(Always::Refuse)).await;
    world.command("do", "").await.unwrap();
    assert_eq!(world.kept("did"), [json!(["EACCES", "EACCES", "EACCES", true])]);
    assert!(!world.folder.path().join("made").exists());
}

/// Whether a process is there, by its number in a file that it wrote.
fn is_there(world: &World, file: &str) -> bool {
    let text = std::fs::read_to_string(world.folder.path().join(file)).unwrap_or_default();
    let status = std::fs::read_to_string(format!("/proc/{}/stat", text.trim())).unwrap_or_default();
    !text.trim().is_empty() && !status.is_empty() && !status.contains(") Z ")
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn escape_ends_what_never_ends() {
    for work in [
        "cp.execSync('echo $$ > pid; sleep 1000 & wait'); return 'went on';",
        "for (;;) { try { cp.execSync('echo $$ > pid; sleep 1000'); } catch {} }",
        "await new Promise((resolve) => cp.spawn('sh', ['-c', 'echo $$ > pid; sleep 1000']).on('close', resolve)); await new Promise(() => {});",
    ] {
        let world = world_with(work, |options| options.event_time = Duration::from_millis(250)).await;
        let abort = CancellationToken::new();
        let extensions = world.extensions.clone();
        let running = tokio::spawn({
            let abort = abort.clone();
            async move { extensions.run_command("do", "", abort).await }
        });
        world.until(|| is_there(&world, "pid")).await;
        // Waiting is not running.
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert!(!running.is_finished(), "{work}");
        abort.cancel();
        assert!(within(running).await.unwrap().is_err(), "{work}");
        world.until(|| !is_there(&world, "pid")).await;
        assert_eq!(world.kept("did"), Vec::<serde_json::Value>::new());
        world.goes_on().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn programs_end_with_the_extension_unless_they_were_let_go() {
    let work = r#"
        cp.spawn("sh", ["-c", "echo $$ > kept; sleep 1000"]);
        cp.spawn("sh", ["-c", "echo $$ > free; exec sleep 1000"], { detached: true, stdio: "ignore" }).unref();
        const ended = cp.spawn("sleep", ["1000"]);
        const close = new Promise((resolve) => ended.on("close", (code, signal) => resolve([code, signal])));
        return [ended.kill("SIGINT"), ended.killed, await close, ended.kill()];
    "#;
    let world = world_with(work, |_| {}).await;
    world.command("do", "").await.unwrap();
    assert_eq!(world.kept("did"), [json!([true, true, [null, "SIGINT"], false])]);
    world.until(|| is_there(&world, "kept") && is_there(&world, "free")).await;
    within(world.extensions.end("quit")).await;
    world.until(|| !is_there(&world, "kept")).await;
    assert!(is_there(&world, "free"));
    let free = std::fs::read_to_string(world.folder.path().join("free")).unwrap();
    assert!(std::process::Command::new("kill").args(["-9", free.trim()]).status().unwrap().success());
}
