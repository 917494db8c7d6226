//! The whole program in a pseudo-terminal: how soon something is seen, what a stream of an answer costs, and how
//! much memory the tree takes.
//!
//! Times go from starting the process to the screen of the emulator behind it, which reads whatever the program
//! writes at once. Prints tables; nothing here passes or fails.
//! `cargo bench -p ramal-bench --bench screen -- PROGRAM [start|stream|memory]`, PROGRAM being
//! `target/release/ramal` if none is named.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ramal_bench::generate::write_session;
use ramal_bench::preset::preset;
use ramal_testing::program::Scratch;
use ramal_testing::terminal::{Options, Terminal};
use serde_json::json;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// How often each is started; in turns, so that a machine that is busy for a while is so for all of them.
const RUNS: usize = 15;
/// How long a stream is looked at.
const STREAM: Duration = Duration::from_secs(5);
/// Milliseconds between the words of an answer: two hundred a second.
const PACE: u64 = 5;
/// What the footer says once a session is open that names no model.
const OPEN: &str = "no model";
/// What it says before.
const OPENING: &str = "opening the session";

fn main() -> Result {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_part = |word: &&String| ["start", "stream", "memory"].contains(&word.as_str());
    let program = words.iter().find(|word| !is_part(word));
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/ramal");
    let program = fs::canonicalize(program.map_or(Path::new(default), |program| Path::new(program)))?;
    let wants =
        |part: &str| !words.iter().any(|word| is_part(&word)) || words.iter().any(|word| word == part);
    let bench = Bench { scratch: Scratch::new(program) };
    if wants("start") {
        bench.start()?;
    }
    if wants("stream") {
        bench.stream()?;
    }
    if wants("memory") {
        bench.memory()?;
    }
    Ok(())
}

struct Bench {
    scratch: Scratch,
}

impl Bench {
    /// From nothing to the first frame, and to the session.
    fn start(&self) -> Result {
        let names = ["one", "1k", "100k", "1m"];
        let files = names.iter().map(|name| self.session(name)).collect::<Result<Vec<_>>>()?;
        let mut times = vec![(Vec::new(), Vec::new(), Vec::new()); names.len()];
        for _ in 0..RUNS {
            for (file, times) in files.iter().zip(&mut times) {
                let begin = Instant::now();
                let mut terminal = self.terminal(&["--session", &file.to_string_lossy()]);
                terminal.wait_for(|screen| screen.says(OPEN) || screen.says(OPENING));
                times.0.push(begin.elapsed());
                terminal.wait_for(|screen| {
                    let rows = screen.rows();
                    let footer = rows.iter().rposition(|row| row.starts_with("───")).unwrap_or(0);
                    rows.iter().take(footer).filter(|row| !row.trim().is_empty()).count() > 4
                });
                times.1.push(begin.elapsed());
                terminal.wait_for_text(OPEN);
                times.2.push(begin.elapsed());
                terminal.key("ctrl+d");
                terminal.end();
            }
        }
        println!("\n| session | editor and footer | and its last entries | open | slowest, open |");
        println!("| --- | ---: | ---: | ---: | ---: |");
        for (name, (first, entries, open)) in names.iter().zip(times) {
            let slowest = open.iter().max().copied().unwrap_or_default();
            let [first, entries, open] = [first, entries, open].map(|times| ms(median(times)));
            println!("| {name} | {first} | {entries} | {open} | {} |", ms(slowest));
        }
        Ok(())
    }

    /// What the program costs while an answer comes.
    fn stream(&self) -> Result {
        println!("\n| an answer of {} words a second | processor | written |", 1000 / PACE);
        println!("| --- | ---: | ---: |");
        let code = "\n\n```rust\nfn main() {\n    let list = vec![1, 2, 3];\n}\n```\n\nAnd so it goes on: ";
        for (what, text) in [("prose", "one two **three** four `five` six seven, eight. "), ("code", code)] {
            let answer = json!({"events": [{"text": text.repeat(400), "pace": PACE}]});
            self.scratch.write("answers.jsonl", answer.to_string());
            let mut terminal =
                self.terminal(&["--no-session", "--no-title", "--model", "replay/answers.jsonl"]);
            terminal.wait_for_text("replay/answers");
            terminal.text("Tell me.");
            terminal.key("enter");
            terminal.wait_for_text("Working");
            // Languages are loaded meanwhile.
            std::thread::sleep(Duration::from_secs(2));
            let (cpu, bytes) = (processor(&terminal)?, terminal.bytes_written());
            std::thread::sleep(STREAM);
            let cpu = processor(&terminal)?.saturating_sub(cpu).as_secs_f64() / STREAM.as_secs_f64();
            let bytes = (terminal.bytes_written() - bytes) as f64 / STREAM.as_secs_f64();
            println!("| {what} | {:.1} % | {:.1} kB a second |", cpu * 100.0, bytes / 1e3);
            terminal.key("ctrl+c");
            terminal.wait_for(|screen| !screen.says("Working"));
            terminal.key("ctrl+d");
            terminal.end();
        }
        Ok(())
    }

    /// What the whole program takes with the tree of a session on the screen.
    fn memory(&self) -> Result {
        println!("\n| tree open on | resident | most |");
        println!("| --- | ---: | ---: |");
        for name in ["one", "100k", "1m"] {
            let file = self.session(name)?;
            let mut terminal = self.terminal(&["--session", &file.to_string_lossy()]);
            terminal.wait_for_text(OPEN);
            terminal.key("alt+t");
            terminal.wait_for(|screen| screen.is_alternate());
            // All facts are read, and what the footer tells is found.
            terminal.wait_until_quiet(Duration::from_secs(3));
            let id = terminal.process_id();
            let now = status(id, "VmRSS:")?;
            println!("| {name} | {} | {} |", megabytes(now), megabytes(status(id, "VmHWM:")?));
            terminal.key("esc");
            terminal.wait_for(|screen| !screen.is_alternate());
            terminal.key("ctrl+d");
            terminal.end();
        }
        Ok(())
    }

    fn terminal(&self, arguments: &[&str]) -> Terminal {
        let mut command: Command = self.scratch.bare();
        command.args(arguments);
        Terminal::start(command, Options::new(100, 40))
    }

    /// The file of a preset, in the page cache.
    fn session(&self, name: &str) -> Result<PathBuf> {
        let plan = preset(name).ok_or("no such preset")?.plan;
        let path = self.scratch.path(&format!("{name}.jsonl"));
        if !path.exists() {
            let mut out = BufWriter::new(File::create(&path)?);
            write_session(&plan, &mut out)?;
            out.flush()?;
        }
        Ok(path)
    }
}

/// What a process has taken of processors.
fn processor(terminal: &Terminal) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", terminal.process_id()))?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no such process")?;
    let ticks = |number: usize| -> Result<u64> {
        Ok(fields.split_whitespace().nth(number).ok_or("no such number")?.parse()?)
    };
    // In hundredths of a second, whatever the kernel counts in itself.
    Ok(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// A number of bytes that the system tells of a process.
fn status(id: u32, name: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such number")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1e3)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}
