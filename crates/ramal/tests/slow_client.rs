//! A client of `ramal rpc` that asks for the tree of a large session and does not read the answer:
//! nothing piles up in the program (contract, section 12), and it ends as it should.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Entries of the session; fewer by way of the environment where a million take too long.
fn entries() -> usize {
    std::env::var("RAMAL_SLOW_CLIENT_ENTRIES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000)
}

/// What the program may use: 96 bytes for each entry and 8 MB, and 8 MB for the run-time libraries.
fn limit(entries: usize) -> u64 {
    96 * entries as u64 + 16 * 1024 * 1024
}

/// A long path with a fork at every tenth entry.
fn write_session(path: &Path, entries: usize) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    out.write_all(b"{\"type\":\"session\",\"version\":3,\"id\":\"0198c0de-0000-7000-8000-000000000001\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/work\"}\n").unwrap();
    let mut line = String::new();
    for number in 0..entries {
        line.clear();
        write!(line, "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":").unwrap();
        match number {
            0 => line.push_str("null"),
            _ => {
                let parent = number - if number % 10 == 9 { 5.min(number) } else { 1 };
                write!(line, "\"{parent:08x}\"").unwrap();
            }
        }
        line.push_str(
            ",\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hm\"}}\n",
        );
        out.write_all(line.as_bytes()).unwrap();
    }
    out.flush().unwrap();
}

struct Program {
    child: Child,
}

impl Program {
    fn start(folder: &Path) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ramal"));
        command.args(["rpc", "--session"]).arg(folder.join("session.jsonl")).current_dir(folder);
        for (name, value) in [
            ("HOME", ""),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, folder.join(value));
        }
        Program { child: command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap() }
    }

    fn ask(&mut self, request: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(request.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The most memory it ever had, in bytes.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Waits until it writes and nobody reads: bytes lie in the pipe, and it sleeps.
    fn wait_until_held_up(&self) {
        let stat = format!("/proc/{}/stat", self.child.id());
        let mut quiet = 0;
        let mut before = 0;
        // Quiet for a second: no time of the processor is used any more.
        while quiet < 10 {
            std::thread::sleep(Duration::from_millis(100));
            let text = std::fs::read_to_string(&stat).unwrap();
            let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
            let used = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
            quiet = if used == before && used > 0 { quiet + 1 } else { 0 };
            before = used;
        }
    }

    fn end(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_tree_of_a_million_entries_for_a_client_that_does_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let entries = entries();
    write_session(&folder.path().join("session.jsonl"), entries);

    // One that goes on reading after a while gets all of it, and the answers that wait behind it.
    let mut program = Program::start(folder.path());
    program.ask(r#"{"id":"1","type":"get_state"}"#);
    let mut output = BufReader::new(program.child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.contains(&format!("\"entryCount\":{entries}")), "{line}");
    program.ask(r#"{"id":"2","type":"get_tree"}"#);
    program.ask(r#"{"id":"3","type":"get_state"}"#);
    program.wait_until_held_up();
    let held_up = program.peak();
    assert!(held_up <= limit(entries), "{held_up} bytes for {entries} entries");
    let (mut chunk, mut ids, mut end) = (vec![0; 1 << 16], 0, false);
    let mut last = Vec::new();
    while !end {
        let count = output.read(&mut chunk).unwrap();
        assert_ne!(count, 0, "it ended in the middle");
        // An entry cut in two by the edge of a piece is put together again.
        last.extend_from_slice(&chunk[..count]);
        let whole = last.iter().rposition(|&b| b == b'{' || b == b'\n').unwrap_or(0);
        ids += last[..whole].windows(9).filter(|part| part == b"\"message\"").count();
        end = last.ends_with(b"\n") && last[..last.len() - 1].contains(&b'\n');
        if !end {
            last.drain(..whole);
        }
    }
    // Each entry says it twice: as its type, and as the key of its message.
    assert_eq!(ids, 2 * entries);
    let reading = program.peak();
    assert!(reading <= limit(entries), "{reading} bytes for {entries} entries");
    drop(output);
    assert!(program.end().success());

    // One that goes away instead: the program ends, too, and not by a signal.
    let mut program = Program::start(folder.path());
    program.ask(r#"{"id":"1","type":"get_tree"}"#);
    program.wait_until_held_up();
    drop(program.child.stdout.take());
    let status = program.end();
    assert!(status.code().is_some(), "{status:?}");
}
