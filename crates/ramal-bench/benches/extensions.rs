//! What extensions cost: memory, loading, a turn with some that hear nothing, a navigation with one that is asked.
//! Each pair is measured in turns. Prints tables; nothing here passes or fails.
//! `cargo bench -p ramal-bench --bench extensions`.

#[path = "shared/at_work.rs"]
mod at_work;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramal_agent::compact::CompactionSettings;
use ramal_agent::{AgentConfig, AgentSession, NavigateOptions, Prompt, tools};
use ramal_bench::rss::{self, Output};
use ramal_extension::{Always, Extensions, Options};
use ramal_model::{AnswerStream, Endpoint, LanguageModel, Request, RetryPolicy, ThinkingLevel, Watch};
use ramal_session::SessionManager;
use ramal_testing::endpoint::demo;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use self::at_work::{Never, Words};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Words of an answer, each an event.
const WORDS: usize = 20_000;

/// One that hears nothing of a turn.
const DEAF: &str = "export default (pi) => pi.registerCommand('nothing', { handler: async () => {} });\n";

/// One that hears each word.
const HEARS: &str = "export default (pi) => pi.on('message_update', () => {});\n";

/// One that is asked before a navigation, and lets it be.
const ASKED: &str = "export default (pi) => pi.on('session_before_tree', async () => undefined);\n";

/// Answers with so many words.
struct Talks;

impl LanguageModel for Talks {
    fn stream_watched(
        &self,
        _: &Endpoint,
        _: &Request,
        _: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        AnswerStream::new(Words { left: WORDS }, abort)
    }
}

/// So many files with the same text.
fn files(folder: &Path, name: &str, text: &str, count: usize) -> Result<Vec<PathBuf>> {
    let file = |at: usize| {
        let path = folder.join(format!("{name}{at}.ts"));
        File::create(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    };
    (0..count).map(file).collect()
}

async fn load(folder: &Path, files: &[PathBuf]) -> Result<Extensions> {
    let options = Options { permits: Arc::new(Always::Allow), ..Options::new(folder) };
    let (extensions, problems) = Extensions::load(files, options).await;
    match problems.into_iter().next() {
        Some(problem) => Err(problem.into()),
        None => Ok(extensions),
    }
}

/// A session with a few entries, and extensions around it.
async fn session(folder: &Path, files: &[PathBuf]) -> Result<(AgentSession, Extensions)> {
    let extensions = load(folder, files).await?;
    let mut manager = SessionManager::in_memory(folder);
    for at in 0..10 {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let message = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"entry {at}"}}]}}"#);
        manager.append_message(&message)?;
    }
    let config = AgentConfig {
        model: Arc::new(Talks),
        find_model: Arc::new(|_| Ok(demo(10_000_000))),
        default_model: Some("demo/alpha".into()),
        default_thinking: ThinkingLevel::Off,
        system: "You help.".into(),
        tools: extensions.tools(tools::all()),
        permit: Arc::new(Never),
        hooks: extensions.hooks(),
        hook_limit: Duration::from_secs(1),
        retry: RetryPolicy::default(),
        cwd: folder.to_owned(),
        summary_reserve: 16_384,
        compaction: CompactionSettings { enabled: false, ..CompactionSettings::default() },
    };
    let session = AgentSession::new(manager, config);
    // Whoever shows it hears everything.
    session.listen(|event| {
        std::hint::black_box(event.name());
        true
    });
    extensions.begin(&session, "startup").await;
    Ok((session, extensions))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The process that only holds extensions: how many it was told to.
fn hold(folder: &Path, count: usize) -> Result {
    let runtime = runtime()?;
    let files = files(folder, "held", DEAF, count)?;
    let extensions = runtime.block_on(load(folder, &files))?;
    runtime.block_on(extensions.end("quit"));
    Ok(())
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

fn memory(folder: &Path) -> Result {
    println!("| a process with extensions | peak resident | each |\n| --- | ---: | ---: |");
    let me = std::env::current_exe()?;
    let mut none = 0;
    for count in [0usize, 10, 100] {
        let mut command = Command::new(&me);
        command.arg("hold").arg(folder).arg(count.to_string());
        let usage = rss::run(&mut command, b"", Output::Discard)?;
        if !usage.status.success() {
            return Err(format!("it could not hold {count} extensions").into());
        }
        none = if count == 0 { usage.peak } else { none };
        let each = usage.peak.saturating_sub(none).checked_div(count as u64);
        let each = each.map_or(String::new(), |each| format!("{} kB", each / 1000));
        println!("| {count} | {:.1} MB | {each} |", usage.peak as f64 / 1e6);
    }
    Ok(())
}

/// Ten of the repository's own.
fn examples() -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/extensions");
    let entries = std::fs::read_dir(&folder)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "ts"));
    paths.sort();
    paths.truncate(10);
    Ok(paths)
}

fn loading(runtime: &Runtime, folder: &Path) -> Result {
    let cases = [
        ("ten of examples/extensions", examples()?),
        ("ten of a line each", files(folder, "deaf", DEAF, 10)?),
        ("one of a line", files(folder, "single", DEAF, 1)?),
    ];
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
    for _ in 0..21 {
        for ((_, files), times) in cases.iter().zip(&mut times) {
            let begun = Instant::now();
            let extensions = runtime.block_on(load(folder, files))?;
            times.push(begun.elapsed());
            runtime.block_on(extensions.end("quit"));
        }
    }
    println!("\n| loading | median | first |\n| --- | ---: | ---: |");
    for ((name, _), times) in cases.iter().zip(times) {
        let first = times.first().copied().unwrap_or_default();
        println!("| {name} | {:.1} ms | {:.1} ms |", milliseconds(median(times)), milliseconds(first));
    }
    Ok(())
}

fn turns(runtime: &Runtime, folder: &Path) -> Result {
    let cases = [
        ("none", Vec::new()),
        ("ten that hear nothing", files(folder, "deaf", DEAF, 10)?),
        ("one that hears each word", files(folder, "hears", HEARS, 1)?),
    ];
    let mut sessions = Vec::new();
    for (name, files) in &cases {
        sessions.push((*name, runtime.block_on(session(folder, files))?, Vec::new()));
    }
    for _ in 0..15 {
        for (_, (session, _), times) in &mut sessions {
            let begun = Instant::now();
            runtime.block_on(session.prompt_and_wait(Prompt::text("And now?")))?;
            times.push(begun.elapsed());
        }
    }
    println!("\n| a turn of {WORDS} words, extensions | median | beside none |\n| --- | ---: | ---: |");
    let mut none = None;
    for (name, (_, extensions), times) in sessions {
        let time = median(times);
        let ratio = time.as_secs_f64() / none.get_or_insert(time).as_secs_f64();
        println!("| {name} | {:.1} ms | {ratio:.2} |", milliseconds(time));
        runtime.block_on(extensions.end("quit"));
    }
    Ok(())
}

fn navigation(runtime: &Runtime, folder: &Path) -> Result {
    let cases = [
        ("without a hook", Vec::new()),
        ("with ten that hear nothing", files(folder, "deaf", DEAF, 10)?),
        ("with one that is asked", files(folder, "asked", ASKED, 1)?),
    ];
    let mut sessions = Vec::new();
    for (name, files) in &cases {
        let (session, extensions) = runtime.block_on(session(folder, files))?;
        let ids = session.with_session(|manager| {
            let ids: std::result::Result<Vec<_>, _> =
                manager.get_branch(None).iter().map(|entry| entry.id()).collect();
            ids
        })?;
        sessions.push((*name, session, extensions, ids, Vec::new()));
    }
    for at in 0..2_000 {
        for (_, session, _, ids, times) in &mut sessions {
            // Back and forth between two answers.
            let Some(target) = ids.get(if at % 2 == 0 { 3 } else { 7 }) else { continue };
            let begun = Instant::now();
            runtime.block_on(session.navigate_tree(target, NavigateOptions::default()))?;
            times.push(begun.elapsed());
            if session.with_session(|manager| manager.get_leaf_id())?.as_ref() != Some(target) {
                return Err(format!("it did not go to {target}").into());
            }
        }
    }
    println!("\n| `navigate_tree` | median | 99 % | more |\n| --- | ---: | ---: | ---: |");
    let mut none = None;
    for (name, _, extensions, _, mut times) in sessions {
        times.sort();
        let worst = times.get(times.len() / 100 * 99).copied().unwrap_or_default();
        let time = median(times);
        let more = time.saturating_sub(*none.get_or_insert(time));
        println!(
            "| {name} | {:.3} ms | {:.3} ms | {:.3} ms |",
            milliseconds(time),
            milliseconds(worst),
            milliseconds(more)
        );
        runtime.block_on(extensions.end("quit"));
    }
    Ok(())
}

fn main() -> Result {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().is_some_and(|first| first == "hold") {
        let (folder, count) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
        return hold(Path::new(&folder), count.parse()?);
    }
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    // First: what a child takes is never told below what this process has taken.
    memory(folder)?;
    let runtime = runtime()?;
    loading(&runtime, folder)?;
    turns(&runtime, folder)?;
    navigation(&runtime, folder)
}
