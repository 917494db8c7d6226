//! What extensions do to files, and to which they may.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use ramal_extension::{Identity, Options, Permits, Wish};
use serde_json::json;

use crate::support::*;

/// Refuses everything, and keeps what it was asked.
#[derive(Default)]
struct Refuses(Mutex<Vec<Wish>>);

impl Permits for Refuses {
    fn may<'a>(&'a self, _: &'a Identity, wish: &'a Wish) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        self.0.lock().unwrap().push(wish.clone());
        Box::pin(async { false })
    }
}

/// A command that does something and keeps what came of it, with an extension that may do nothing outside.
async fn refused(work: &str) -> (World, serde_json::Value, Vec<Wish>) {
    let permits = Arc::new(Refuses::default());
    let asked = Arc::clone(&permits);
    let world = world_with(work, move |options| options.permits = permits).await;
    world.command("do", "").await.unwrap();
    let kept = world.kept("did").pop().unwrap();
    let wishes = asked.0.lock().unwrap().clone();
    (world, kept, wishes)
}

pub(crate) async fn world_with(work: &str, change: impl FnOnce(&mut Options)) -> World {
    let source = format!(
        r#"
        import * as fs from "node:fs";
        import * as fsp from "node:fs/promises";
        import * as os from "node:os";
        import * as path from "node:path";
        import * as cp from "node:child_process";
        const tried = async (work) => {{
            try {{ return await work(); }} catch (error) {{ return error.code ?? error.message; }}
        }};
        export default (pi) => {{
            pi.registerCommand("do", {{ handler: async (args, ctx) => {{
                const result = await (async () => {{ {work} }})();
                pi.appendEntry("did", result ?? null);
            }} }});
        }};
        "#
    );
    let world = World::new(&[&source], [], change).await;
    assert_eq!(world.problems, []);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_written_and_listed_in_all_three_ways() {
    let (world, kept, wishes) = refused(
        r#"
        fs.mkdirSync("d/e", { recursive: true });
        fs.writeFileSync("d/a.txt", "eins\n");
        fs.appendFileSync("d/a.txt", Buffer.from("zwei"));
        await fsp.writeFile("d/b.bin", new Uint8Array([0, 255]));
        await new Promise((resolve, reject) => fs.copyFile("d/a.txt", "d/e/c.txt", (error) => error ? reject(error) : resolve()));
        fs.symlinkSync("a.txt", "d/link");
        fs.renameSync("d/b.bin", "d/b2.bin");
        const about = fs.statSync("d/link");
        const listed = await fsp.readdir("d", { withFileTypes: true });
        const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "ramal-test-"));
        fs.rmdirSync(temporary);
        fs.chmodSync("d/a.txt", 0o600);
        fs.utimesSync("d/a.txt", 5, new Date(7000));
        const result = {
            text: fs.readFileSync("d/link", "utf-8"),
            hex: await fsp.readFile("d/b2.bin", { encoding: "hex" }),
            buffer: Buffer.isBuffer(fs.readFileSync("d/b2.bin")),
            called: await new Promise((resolve) => fs.readFile("d/a.txt", "base64", (error, text) => resolve([error, text]))),
            about: [about.isFile(), about.isDirectory(), about.size, about.mtime.getTime() === Math.floor(about.mtimeMs)],
            link: [fs.lstatSync("d/link").isSymbolicLink(), fs.readlinkSync("d/link"), fs.realpathSync("d/link") === fs.realpathSync("d/a.txt")],
            changed: [fs.statSync("d/a.txt").mode & 0o777, fs.statSync("d/a.txt").mtimeMs],
            listed: listed.map((one) => [one.name, one.isDirectory(), one.isSymbolicLink(), one.parentPath]),
            deep: fs.readdirSync("d", { recursive: true }),
            exists: [fs.existsSync("d/e"), fs.existsSync("d/x"), fs.existsSync("")],
            temporary: [path.basename(temporary).startsWith("ramal-test-"), fs.existsSync(temporary)],
            access: [await tried(() => fsp.access("d/a.txt", fs.constants.R_OK)) ?? "fine"],
        };
        fs.unlinkSync("d/link");
        await fsp.rm("d", { recursive: true });
        fs.rmSync("d", { force: true });
        result.gone = fs.existsSync("d");
        return result;
        "#,
    )
    .await;
    assert_eq!(
        kept,
        json!({
            "text": "eins\nzwei", "hex": "00ff", "buffer": true, "called": [null, "ZWlucwp6d2Vp"],
            "about": [true, false, 9, true], "link": [true, "a.txt", true], "changed": [0o600, 7000],
            "listed": [["a.txt", false, false, "d"], ["b2.bin", false, false, "d"], ["e", true, false, "d"], ["link", false, true, "d"]],
            "deep": ["a.txt", "b2.bin", "e", "e/c.txt", "link"],
            "exists": [true, false, false], "temporary": [true, false], "access": ["fine"], "gone": false,
        })
    );
    assert_eq!(wishes, []);
    assert!(!world.folder.path().join("d").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_and_written_piece_by_piece() {
    let (world, kept, _) = refused(
        r#"
        const out = fs.createWriteStream("out");
        for (let at = 0; at < 100; at++) out.write("x".repeat(2000));
        await new Promise((resolve) => out.end("end", resolve));
        const more = fs.createWriteStream("out", { flags: "a" });
        more.end("\u20ac");
        await new Promise((resolve) => more.on("close", resolve));
        let size = 0, pieces = 0;
        for await (const piece of fs.createReadStream("out")) { size += piece.length; pieces++; }
        const text = await new Promise((resolve, reject) => {
            let text = "";
            fs.createReadStream("out", { encoding: "utf8", start: 199998, highWaterMark: 4 })
                .on("data", (more) => { text += more; }).on("end", () => resolve(text)).on("error", reject);
        });
        const part = fs.createReadStream("out", { start: 1, end: 3 });
        let length = 0;
        part.on("data", (bytes) => { length += bytes.length; });
        await new Promise((resolve) => part.on("close", resolve));
        return [
            size, pieces > 2, text, length, out.bytesWritten,
            await new Promise((resolve) => fs.createReadStream("none").on("error", (error) => resolve(error.code))),
            await tried(async () => { for await (const piece of fs.createReadStream("/etc/passwd")) return piece.length; }),
            await new Promise((resolve) => fs.createWriteStream("no/where").on("error", (error) => resolve(error.code))),
        ];
        "#,
    )
    .await;
    let euro = "xxend\u{20ac}";
    assert_eq!(kept, json!([200_006, true, euro, 3, 200_003, "ENOENT", "EACCES", "ENOENT"]));
    assert_eq!(std::fs::metadata(world.folder.path().join("out")).unwrap().len(), 200_006);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_those_of_node() {
    let (_, kept, _) = refused(
        r#"
        fs.mkdirSync("full/inner", { recursive: true });
        fs.writeFileSync("file", "");
        let said;
        try { fs.readFileSync("none"); } catch ({ code, errno, syscall, path, message }) { said = { code, errno, syscall, path, message }; }
        return { said, codes: [
            await tried(() => fsp.readdir("file")), await tried(() => fs.readFileSync("full")), await tried(() => fsp.rmdir("full")),
            await tried(() => fs.mkdirSync("full")), await tried(() => fsp.rm("full")), await tried(() => fs.writeFileSync("file", "", { flag: "wx" })),
            await tried(() => fs.readFileSync("a\0b")), await tried(() => fs.readFileSync(7)), await tried(() => fs.readFileSync("file", "klingon")),
            await tried(() => fs.copyFileSync("file", "file2", fs.constants.COPYFILE_EXCL)), await tried(() => fs.renameSync("x", "y")),
            await tried(() => fs.statSync("gone", { throwIfNoEntry: false }) ?? "undefined"),
        ] };
        "#,
    )
    .await;
    assert_eq!(
        kept["said"],
        json!({ "code": "ENOENT", "errno": -2, "syscall": "open", "path": "none",
                "message": "ENOENT: no such file or directory, open 'none'" })
    );
    assert_eq!(
        kept["codes"],
        json!([
            "ENOTDIR",
            "EISDIR",
            "ENOTEMPTY",
            "EEXIST",
            "ERR_FS_EISDIR",
            "EEXIST",
            "ERR_INVALID_ARG_VALUE",
            "ERR_INVALID_ARG_TYPE",
            "ERR_INVALID_ARG_VALUE",
            null,
            "ENOENT",
            "undefined"
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_is_touched_without_permission() {
    let (_, kept, wishes) = refused(
        r#"
        const up = "../".repeat(30);
        fs.symlinkSync("/etc", "etc");
        fs.symlinkSync("/etc/passwd", "passwd");
        fs.symlinkSync("/var/ramal-is-not-here", "dangling");
        fs.mkdirSync("d");
        return [
            await tried(() => fs.readFileSync("/etc/passwd", "utf8")),
            await tried(() => fsp.readFile(up + "etc/passwd", "utf8")),
            await tried(() => fs.readFileSync("etc/passwd", "utf8")),
            await tried(() => fsp.readFile("passwd")),
            await tried(() => fs.readdirSync("d/../etc")),
            await tried(() => fs.statSync("d/../etc/../etc/passwd")),
            await tried(() => fs.writeFileSync("dangling", "x")),
            await tried(() => fsp.mkdir("/var/ramal-is-not-here/a", { recursive: true })),
            await tried(() => fs.copyFileSync("/etc/passwd", "mine")),
            await tried(() => fs.renameSync("d", "/var/ramal-is-not-here")),
            await tried(() => fsp.rm("/etc/passwd", { force: true })),
            await tried(() => import("/etc/../etc/none.json")),
            fs.existsSync("/etc/passwd"),
            fs.readdirSync("."),
        ];
        "#,
    )
    .await;
    let kept = kept.as_array().unwrap();
    for (at, said) in kept[..11].iter().enumerate() {
        assert_eq!(said, "EACCES", "{at}");
    }
    assert_eq!(kept[12], false);
    assert!(!kept[13].as_array().unwrap().contains(&json!("mine")));
    assert!(!std::path::Path::new("/var/ramal-is-not-here").exists());
    let shown: Vec<String> = wishes.iter().map(ToString::to_string).collect();
    assert_eq!(shown[..4], ["read /etc/passwd"; 4].map(String::from));
    assert!(shown.contains(&"write /var/ramal-is-not-here".into()), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_outside_is_done_and_guarded_folders_are_outside() {
    let guarded = |options: &mut Options| {
        options.guarded = vec![options.cwd.join("keys"), options.cwd.join("hidden/deep/keys")];
    };
    let work = r#"
        return [
            fs.readFileSync("/etc/passwd", "utf8").includes("root"),
            await tried(() => fs.readFileSync("keys/auth.json", "utf8")),
            await tried(() => fs.writeFileSync("keys/auth.json", "{}")),
            await tried(() => fs.renameSync("hidden", "open")),
            await tried(() => fs.rmSync("hidden", { recursive: true })),
        ];
    "#;
    let world = world_with(work, guarded).await;
    std::fs::create_dir(world.folder.path().join("keys")).unwrap();
    std::fs::create_dir_all(world.folder.path().join("hidden/deep/keys")).unwrap();
    std::fs::write(world.folder.path().join("keys/auth.json"), "secret").unwrap();
    world.command("do", "").await.unwrap();
    assert_eq!(world.kept("did"), [json!([true, "secret", null, null, "ENOENT"])]);

    let permits = Arc::new(Refuses::default());
    let world = world_with(work.replace("/etc/passwd", "ext0.ts").as_str(), |options| {
        guarded(options);
        options.permits = permits;
    })
    .await;
    std::fs::create_dir(world.folder.path().join("keys")).unwrap();
    std::fs::create_dir_all(world.folder.path().join("hidden/deep/keys")).unwrap();
    std::fs::write(world.folder.path().join("keys/auth.json"), "secret").unwrap();
    world.command("do", "").await.unwrap();
    assert_eq!(world.kept("did"), [json!([true, "EACCES", "EACCES", "EACCES", "EACCES"])]);
    assert_eq!(std::fs::read_to_string(world.folder.path().join("keys/auth.json")).unwrap(), "secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_code_outside_of_the_extension_is_no_module() {
    let outside = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = outside.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    // What is wrong with such a module would say the key.
    let hidden = [put("auth.json", "{\"key\": 1}"), put(".env", "KEY=secret"), put("netrc", "KEY=secret")];
    let code = put("code.ts", "export default 'code' as string;");
    let work = format!(
        "const all = [...{hidden:?}, {code:?}];
        fs.symlinkSync({:?}, 'link.js');
        all.push(path.resolve('link.js'));
        return await Promise.all(all.map((one) => tried(async () => (await import(one)).default)));",
        hidden[1]
    );
    let world = world_with(&work, |_| {}).await;
    world.command("do", "").await.unwrap();
    let kept = world.kept("did").pop().unwrap();
    for at in [0, 1, 2, 4] {
        assert!(kept[at].as_str().unwrap().contains("outside of the extension's folder"), "{kept}");
    }
    assert_eq!(kept[3], "code");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_the_session_is_read_and_never_written() {
    let work = r#"
        const log = ctx.sessionManager.getSessionFile();
        fs.symlinkSync(log, "link.jsonl");
        return [
            fs.readFileSync(log, "utf8").split("\n").length > 1,
            await tried(() => fs.writeFileSync(log, "")), await tried(() => fsp.appendFile("link.jsonl", "{}")),
            await tried(() => fsp.unlink(log)), await tried(() => fs.renameSync(log, "x")), await tried(() => fs.renameSync("ext0.ts", log)),
            await tried(() => fs.rmSync(path.dirname(log), { recursive: true })), await tried(() => fs.truncateSync(log)),
            await fsp.writeFile(log, "").catch((error) => /pi\.appendEntry/.test(error.message)),
        ];
    "#;
    let world = world_with(work, |_| {}).await;
    world.say("something").await;
    world.command("do", "").await.unwrap();
    let refused = "EPERM";
    assert_eq!(
        world.kept("did"),
        [json!([true, refused, refused, refused, refused, refused, refused, refused, true])]
    );
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_larger_than_the_memory_is_an_error_and_a_pipe_holds_up_nobody() {
    let work = r#"
        cp.execFileSync("mkfifo", ["pipe"]);
        return [
            await tried(() => fs.readFileSync("large")), await tried(() => fsp.readFile("large", "utf8")),
            await tried(() => fsp.readFile("/dev/zero")), String(fs.readFileSync("pipe")),
        ];
    "#;
    let world = world_with(work, |options| options.memory = 32 << 20).await;
    std::fs::File::create(world.folder.path().join("large")).unwrap().set_len(2 << 30).unwrap();
    world.command("do", "").await.unwrap();
    let large = "ERR_FS_FILE_TOO_LARGE";
    assert_eq!(world.kept("did"), [json!([large, large, large, ""])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changes_is_noticed() {
    let source = r#"
        import * as fs from "node:fs";
        export default (pi) => {
            let watcher;
            pi.on("session_start", (_, ctx) => {
                fs.writeFileSync("trigger", "");
                watcher = fs.watch("trigger", () => pi.appendEntry("seen", fs.readFileSync("trigger", "utf8")));
            });
            pi.registerCommand("close", { handler: async () => { watcher.close(); pi.appendEntry("closed"); } });
        };
    "#;
    let world = world(&[source], []).await;
    let trigger = world.folder.path().join("trigger");
    std::fs::write(&trigger, "one").unwrap();
    world.until(|| world.kept("seen").contains(&json!("one"))).await;
    std::fs::write(&trigger, "three").unwrap();
    world.until(|| world.kept("seen").contains(&json!("three"))).await;
    world.command("close", "").await.unwrap();
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_line_by_line() {
    let source = r#"
        import { createReadStream } from "node:fs";
        import { createInterface } from "node:readline";
        export default (pi) => pi.registerCommand("read", { handler: async () => {
            const lines = [];
            for await (const line of createInterface({ input: createReadStream("lines", { highWaterMark: 5 }), crlfDelay: Infinity })) lines.push(line);
            const first = [];
            for await (const line of createInterface({ input: createReadStream("lines") })) { first.push(line); break; }
            const heard = [];
            const reader = createInterface(createReadStream("lines", "utf8"));
            reader.on("line", (line) => heard.push(line));
            await new Promise((resolve) => reader.on("close", resolve));
            const failed = await (async () => { for await (const line of createInterface({ input: createReadStream("none") })) return line; })().catch((error) => error.code);
            let asked;
            try { reader.question("Name?"); } catch (error) { asked = error.message; }
            pi.appendEntry("read", { lines, first, heard, failed, asked });
        } });
    "#;
    let mut world = world(&[source], []).await;
    std::fs::write(world.folder.path().join("lines"), "erste Zeile\r\n\nö, die letzte").unwrap();
    world.command("read", "").await.unwrap();
    let lines = json!(["erste Zeile", "", "ö, die letzte"]);
    let asked = "readline.question is not there: extensions ask by ctx.ui.input";
    assert_eq!(
        world.kept("read"),
        [
            json!({ "lines": lines, "first": ["erste Zeile"], "heard": lines, "failed": "ENOENT", "asked": asked })
        ]
    );
    assert_eq!(world.failures(), []);
}
