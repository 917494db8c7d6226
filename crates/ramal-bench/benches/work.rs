//! What a session at work costs: from a prompt to the request that goes over the wire, and how many
//! events reach a listener. Prints a table; nothing here passes or fails.
//! `cargo bench -p ramal-bench --bench work`.

#[path = "shared/at_work.rs"]
mod at_work;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ramal_agent::compact::CompactionSettings;
use ramal_agent::{AgentConfig, AgentSession, Prompt, tools};
use ramal_bench::generate::{Plan, Shape, write_session};
use ramal_model::{
    AnswerStream, Api, Cost, Endpoint, LanguageModel, Request, RetryPolicy, ThinkingLevel, Watch, wire,
};
use ramal_session::{At, Compaction, SessionManager};
use tokio_util::sync::CancellationToken;

use self::at_work::{Never, Words};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Counts what is allocated.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is handed on to the system's allocator as it is; only a number is counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of `dealloc`, and `alloc` above is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes the time at which a request is complete, and answers with so many events.
#[derive(Default)]
struct Probe {
    asked: Mutex<Option<(Instant, u64, usize)>>,
    deltas: usize,
}

impl LanguageModel for Probe {
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        _: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        let body = wire::of(endpoint.api).map(|wire| wire.request(endpoint, request).body.len());
        let now = (Instant::now(), ALLOCATIONS.load(Ordering::Relaxed), body.unwrap_or(0));
        if let Ok(mut asked) = self.asked.lock() {
            *asked = Some(now);
        }
        AnswerStream::new(Words { left: self.deltas }, abort)
    }
}

fn endpoint() -> Endpoint {
    Endpoint {
        api: Api::AnthropicMessages,
        provider: "bench".into(),
        model: "probe".into(),
        base_url: "http://127.0.0.1:9".into(),
        key: None,
        headers: Vec::new(),
        context_window: 10_000_000,
        max_output: 8_192,
        thinks: false,
        sees: true,
        cost: Cost::default(),
    }
}

fn work(manager: SessionManager, model: Arc<Probe>, folder: &Path) -> AgentSession {
    AgentSession::new(
        manager,
        AgentConfig {
            model,
            find_model: Arc::new(|_| Ok(endpoint())),
            default_model: Some("bench/probe".into()),
            default_thinking: ThinkingLevel::Off,
            system: "You help.".into(),
            tools: tools::all(),
            permit: Arc::new(Never),
            hooks: Vec::new(),
            hook_limit: Duration::from_secs(1),
            retry: RetryPolicy::default(),
            cwd: folder.to_owned(),
            summary_reserve: 16_384,
            compaction: CompactionSettings { enabled: false, ..CompactionSettings::default() },
        },
    )
}

/// A session of so many entries whose context is the newest 200 messages behind a compaction.
fn session(folder: &Path, entries: u32) -> Result<PathBuf> {
    let path = folder.join(format!("{entries}.jsonl"));
    let mut out = BufWriter::new(File::create(&path)?);
    let plan = Plan { bytes_per_entry: 2_500, compact_every: None, ..Plan::new(entries, Shape::Deep) };
    write_session(&plan, &mut out)?;
    out.flush()?;
    drop(out);
    let mut session = SessionManager::open(&path, None)?;
    let kept = {
        let branch = session.get_branch(None);
        branch[branch.len().saturating_sub(210)].id()?
    };
    session.append_compaction(&Compaction {
        summary: "What was before.",
        first_kept_entry_id: &kept,
        ..Compaction::default()
    })?;
    session.sync()?;
    Ok(path)
}

fn main() -> Result {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    println!("| from a prompt to the request | median | allocations | messages | body |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for entries in [1_000, 10_000, 100_000] {
        let path = session(folder.path(), entries)?;
        let model = Arc::new(Probe::default());
        let session = work(SessionManager::open(&path, None)?, Arc::clone(&model), folder.path());
        let messages = session.with_session(|manager| {
            manager.build_session_context(At::Leaf).map(|context| context.model_messages().count())
        })?;
        let start = session.with_session(|manager| manager.get_leaf_id())?;
        let mut runs = Vec::new();
        for _ in 0..30 {
            // Each run begins where the first did.
            if let Some(start) = &start {
                session.with_session(|manager| manager.branch(start))?;
            }
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            let begin = Instant::now();
            runtime.block_on(session.prompt_and_wait(Prompt::text("And now?")))?;
            let asked = model.asked.lock().map_err(|_| "a run failed")?.take().ok_or("nothing was asked")?;
            runs.push((asked.0.duration_since(begin), asked.1 - before, asked.2));
        }
        runs.sort();
        let (time, allocations, body) = runs[runs.len() / 2];
        println!(
            "| {entries} entries | {:.2} ms | {allocations} | {messages} | {} kB |",
            time.as_secs_f64() * 1e3,
            body / 1000
        );
    }

    println!("\n| events to a listener | a second |");
    println!("| --- | ---: |");
    let model = Arc::new(Probe { deltas: 200_000, ..Probe::default() });
    let session = work(SessionManager::in_memory(folder.path()), model, folder.path());
    let mut events = session.subscribe();
    let begin = Instant::now();
    let count = runtime.block_on(async {
        let counting = tokio::spawn(async move {
            let mut count = 0u64;
            while let Some(event) = events.recv().await {
                count += 1;
                if event.name() == "agent_end" {
                    break;
                }
            }
            count
        });
        session.prompt_and_wait(Prompt::text("Talk.")).await?;
        Ok::<_, Box<dyn std::error::Error>>(counting.await?)
    })?;
    println!("| {count} in one answer | {:.0} |", count as f64 / begin.elapsed().as_secs_f64());
    Ok(())
}
