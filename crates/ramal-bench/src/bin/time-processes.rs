//! Times `ramal` as a whole process against `wc -l` on the same files.
//!
//! The two take turns, so that whatever else the machine does meets both. What
//! comes out is a table for people; nothing here passes or fails.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Parser;
use ramal_bench::folder::{FolderPlan, write_file, write_folder};
use ramal_bench::preset::{Preset, preset};
use ramal_bench::rss::{self, Output, Usage};
use serde_json::Value;

const FOLDER: FolderPlan = FolderPlan { files: 2_000, total_bytes: 230_000_000, seed: 1 };

const GET_STATE: &[u8] = b"{\"id\":\"1\",\"type\":\"get_state\"}\n";

/// Times `ramal` as a whole process against `wc -l` on the same files.
///
/// Example: time-processes target/release/ramal /tmp/ramal-bench
#[derive(Parser)]
struct Arguments {
    /// The program to time
    ramal: PathBuf,
    /// Where the generated sessions are kept; 2 GB when all are there
    work: PathBuf,
    /// How often each of two programs runs
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Generate the sessions again
    #[arg(long)]
    fresh: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    fs::create_dir_all(&arguments.work)
        .with_context(|| format!("cannot make {}", arguments.work.display()))?;
    let mut bench = Bench {
        ramal: fs::canonicalize(&arguments.ramal)
            .with_context(|| format!("no program at {}", arguments.ramal.display()))?,
        work: fs::canonicalize(&arguments.work)?,
        runs: arguments.runs,
        notes: Vec::new(),
    };
    if arguments.fresh {
        bench.forget()?;
    }

    println!("| what | program | best | median | processor | ratio of medians | aim |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, aim) in [("1k", ""), ("10k", ""), ("100k", "2"), ("1m", "4"), ("1gb", "")] {
        bench.time_opening(name, aim)?;
    }
    bench.time_listing("2")?;

    println!("\n| what | peak resident | aim |");
    println!("| --- | ---: | ---: |");
    bench.measure_opening()?;
    for command in ["tree", "context"] {
        bench.measure_printing(command)?;
    }
    println!(
        "\nNo peak can be seen below that of the measuring process itself, {}.",
        megabytes(rss::own_peak())
    );
    for note in &bench.notes {
        println!("\nNot to be trusted: {note}.");
    }
    Ok(())
}

struct Bench {
    ramal: PathBuf,
    work: PathBuf,
    runs: u32,
    /// Reasons to doubt a number above.
    notes: Vec<String>,
}

impl Bench {
    /// `wc -l` against opening a session and asking for its state.
    fn time_opening(&mut self, name: &str, aim: &str) -> Result<()> {
        let (preset, file) = self.session(name)?;
        self.check_opening(&preset, &file)?;
        let rows = self.take_turns(
            || (count_lines(std::slice::from_ref(&file)), Vec::new()),
            |bench| (bench.opening(&file), GET_STATE.to_vec()),
        )?;
        print_rows(&format!("open {name}"), "`ramal rpc`", &rows, aim);
        Ok(())
    }

    /// `wc -l` against a listing of the same files.
    fn time_listing(&mut self, aim: &str) -> Result<()> {
        let folder = self.folder()?;
        let files = session_files(&folder)?;
        warm(&files)?;
        self.check_listing(&folder, &files)?;
        let rows = self
            .take_turns(|| (count_lines(&files), Vec::new()), |bench| (bench.listing(&folder), Vec::new()))?;
        let what = format!("list {} sessions", files.len());
        print_rows(&what, "`ramal ls --all --json`", &rows, aim);
        Ok(())
    }

    /// Memory for each entry of an open session.
    fn measure_opening(&mut self) -> Result<()> {
        let mut peaks = [0; 2];
        let mut entries = 1;
        for (peak, name) in peaks.iter_mut().zip(["one", "1m"]) {
            let (preset, file) = self.session(name)?;
            let usage = self.run_ramal(&mut self.opening(&file), GET_STATE, Output::Discard)?;
            self.doubt_failure(&format!("opening {name}"), &usage);
            *peak = usage.peak;
            entries = preset.plan.entries;
            println!("| open {name} | {} | |", megabytes(usage.peak));
        }
        let each = peaks[1].saturating_sub(peaks[0]) as f64 / f64::from(entries);
        println!("| each of {entries} entries | {each:.1} B | 96 B + 8 MB in all |");
        Ok(())
    }

    /// Memory for printing the whole of the largest session.
    fn measure_printing(&mut self, subcommand: &str) -> Result<()> {
        let (_, file) = self.session("1gb")?;
        let mut command = self.command();
        command.arg(subcommand).arg(&file);
        let usage = self.run_ramal(&mut command, b"", Output::Discard)?;
        self.doubt_failure(&format!("`ramal {subcommand}`"), &usage);
        println!(
            "| `ramal {subcommand}` of 1gb, {} | {} | 128 MB |",
            seconds(usage.wall),
            megabytes(usage.peak)
        );
        Ok(())
    }

    /// Runs two commands in turn, each with its input.
    fn take_turns(
        &self,
        theirs: impl Fn() -> (Command, Vec<u8>),
        ours: impl Fn(&Self) -> (Command, Vec<u8>),
    ) -> Result<[Vec<Usage>; 2]> {
        let mut rows = [Vec::new(), Vec::new()];
        for _ in 0..self.runs {
            let (mut command, input) = theirs();
            rows[0].push(rss::run(&mut command, &input, Output::Discard)?);
            let (mut command, input) = ours(self);
            rows[1].push(self.run_ramal(&mut command, &input, Output::Discard)?);
        }
        Ok(rows)
    }

    /// Notes it when opening does not find every entry.
    fn check_opening(&mut self, preset: &Preset, file: &Path) -> Result<()> {
        let usage = self.run_ramal(&mut self.opening(file), GET_STATE, Output::Capture)?;
        let answer: Value = serde_json::from_slice(&usage.output).unwrap_or_default();
        let count = &answer["data"]["entryCount"];
        if !usage.status.success() || count.as_u64() != Some(preset.plan.entries.into()) {
            let name = preset.name;
            let status = usage.status;
            self.notes.push(format!("opening {name} gave {count} entries ({status})"));
        }
        Ok(())
    }

    /// Notes it when a listing leaves sessions out.
    fn check_listing(&mut self, folder: &Path, files: &[PathBuf]) -> Result<()> {
        let usage = self.run_ramal(&mut self.listing(folder), b"", Output::Capture)?;
        let text = String::from_utf8_lossy(&usage.output);
        let words: HashSet<&str> = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').collect();
        let ids = files.iter().filter_map(|file| session_id(file));
        let listed = ids.filter(|id| words.contains(id)).count();
        if !usage.status.success() || listed != files.len() {
            let (all, status) = (files.len(), usage.status);
            self.notes.push(format!("the listing named {listed} of {all} ({status})"));
        }
        Ok(())
    }

    fn doubt_failure(&mut self, what: &str, usage: &Usage) {
        if !usage.status.success() {
            self.notes.push(format!("{what} ended with {}", usage.status));
        }
    }

    fn opening(&self, file: &Path) -> Command {
        let mut command = self.command();
        command.arg("rpc").arg("--session").arg(file);
        command
    }

    fn listing(&self, folder: &Path) -> Command {
        let mut command = self.command();
        command.args(["ls", "--all", "--json"]);
        command.env("PI_CODING_AGENT_SESSION_DIR", folder);
        command
    }

    /// The program, in a home of its own and away from the user's sessions.
    fn command(&self) -> Command {
        let home = self.home();
        let mut command = Command::new(&self.ramal);
        command
            .current_dir(&self.work)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("HOME", home)
            .env_remove("PI_CODING_AGENT_DIR")
            .env_remove("PI_CODING_AGENT_SESSION_DIR");
        command
    }

    /// Runs the program with nothing left from an earlier run: what it may have
    /// cached would make it look faster than it is.
    fn run_ramal(&self, command: &mut Command, input: &[u8], output: Output) -> Result<Usage> {
        let home = self.home();
        match fs::remove_dir_all(&home) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => fs::create_dir_all(&home)?,
        }
        rss::run(command, input, output).with_context(|| format!("cannot run {command:?}"))
    }

    fn home(&self) -> PathBuf {
        self.work.join("home")
    }

    /// The file of a preset, generated if it is not there, in the page cache.
    fn session(&self, name: &str) -> Result<(Preset, PathBuf)> {
        let Some(preset) = preset(name) else {
            bail!("no preset {name}");
        };
        let file = self.work.join(format!("{name}.jsonl"));
        self.ensure(&file, &preset.plan, |file| write_file(&preset.plan, file).map(drop))?;
        warm(std::slice::from_ref(&file))?;
        Ok((preset, file))
    }

    /// The folder of many sessions, generated if it is not there.
    fn folder(&self) -> Result<PathBuf> {
        let folder = self.work.join("sessions");
        self.ensure(&folder, &FOLDER, |folder| {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
            write_folder(&FOLDER, folder).map(drop)
        })?;
        Ok(folder)
    }

    /// Makes `path` unless it was made from the same plan before. The plan is
    /// written beside it last, so that a broken attempt does not count.
    fn ensure(
        &self,
        path: &Path,
        plan: &impl std::fmt::Debug,
        make: impl Fn(&Path) -> io::Result<()>,
    ) -> Result<()> {
        let plan = format!("{plan:?}\n");
        let record = path.with_extension("plan");
        let same = fs::read_to_string(&record).is_ok_and(|made| made == plan);
        if same && path.exists() {
            return Ok(());
        }
        make(path)
            .and_then(|()| File::create(&record)?.write_all(plan.as_bytes()))
            .with_context(|| format!("cannot generate {}", path.display()))
    }

    /// Forgets what was generated, so that it is generated again.
    fn forget(&self) -> Result<()> {
        for entry in fs::read_dir(&self.work)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "plan") {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

fn count_lines(files: &[PathBuf]) -> Command {
    let mut command = Command::new("wc");
    command.arg("-l").args(files);
    command
}

/// Reads the files once, so that the page cache has them.
fn warm(files: &[PathBuf]) -> Result<()> {
    rss::run(Command::new("cat").args(files), b"", Output::Discard)?;
    Ok(())
}

/// The session files in the subfolders of `folder`, by name.
fn session_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for subfolder in fs::read_dir(folder)? {
        for file in fs::read_dir(subfolder?.path())? {
            files.push(file?.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The session id in a file's name.
fn session_id(file: &Path) -> Option<&str> {
    let (_, id) = file.file_stem()?.to_str()?.rsplit_once('_')?;
    Some(id)
}

fn print_rows(what: &str, ours: &str, rows: &[Vec<Usage>; 2], aim: &str) {
    let [theirs_wall, ours_wall] = [&rows[0], &rows[1]].map(|row| sorted(row, |run| run.wall));
    let [theirs_cpu, ours_cpu] = [&rows[0], &rows[1]].map(|row| sorted(row, |run| run.cpu));
    let ratio = median(&ours_wall).as_secs_f64() / median(&theirs_wall).as_secs_f64();
    let times = |wall: &[Duration], cpu: &[Duration]| {
        let best = wall.first().copied().unwrap_or_default();
        [best, median(wall), median(cpu)].map(seconds).join(" | ")
    };
    println!("| {what} | `wc -l` | {} | | |", times(&theirs_wall, &theirs_cpu));
    println!("| | {ours} | {} | {ratio:.2} | {aim} |", times(&ours_wall, &ours_cpu));
}

fn sorted(runs: &[Usage], time: impl Fn(&Usage) -> Duration) -> Vec<Duration> {
    let mut times: Vec<Duration> = runs.iter().map(time).collect();
    times.sort();
    times
}

/// The middle of sorted times; of two in the middle, their mean.
fn median(times: &[Duration]) -> Duration {
    let high = times.get(times.len() / 2).copied().unwrap_or_default();
    let low = times.get(times.len().saturating_sub(1) / 2).copied();
    (low.unwrap_or_default() + high) / 2
}

fn seconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1_000_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        let times = [1, 2, 9].map(Duration::from_secs);
        assert_eq!(median(&times), Duration::from_secs(2));
        assert_eq!(median(&times[..2]), Duration::from_millis(1_500));
        assert_eq!(median(&[]), Duration::ZERO);
    }

    #[test]
    fn the_session_id_is_the_end_of_the_name() {
        let file = Path::new("--x--/2026-01-01T00-00-00-000Z_0199a1b2-c3d4.jsonl");
        assert_eq!(session_id(file), Some("0199a1b2-c3d4"));
    }
}
