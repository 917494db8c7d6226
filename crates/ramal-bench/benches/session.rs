//! What the library's operations cost, each beside the least that could do the same work.
//!
//! The two of a pair take turns in one run, so that whatever else the machine does meets both.
//! Prints a table; nothing here passes or fails. `cargo bench -p ramal-bench`, or with a name:
//! `cargo bench -p ramal-bench -- context`.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use ramal_bench::generate::{Plan, Shape, write_session};
use ramal_session::{At, LogTail, NewEntry, SessionManager};
use ramal_tui::theme::Theme;
use ramal_tui::transcript::{Options, Transcript};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn main() -> Result {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    println!("| what | ours | beside it | ratio |");
    println!("| --- | ---: | ---: | ---: |");
    for (name, bench) in BENCHES {
        if name.contains(&*wanted) {
            bench(folder.path())?;
        }
    }
    Ok(())
}

type Bench = fn(&Path) -> Result;

const BENCHES: &[(&str, Bench)] = &[
    ("open", open),
    ("tail", tail),
    ("path", path),
    ("move", moves),
    ("children", children),
    ("context", context),
    ("append", append),
];

/// Opening, the check that every line is whole included, beside counting the newlines.
fn open(folder: &Path) -> Result {
    for (entries, bytes) in
        [(1_000, 1_070), (10_000, 1_070), (100_000, 1_070), (100_000, 4_000), (1_000_000, 170)]
    {
        let file =
            session(folder, "open", Plan { bytes_per_entry: bytes, ..Plan::new(entries, Shape::Branchy) })?;
        let size = std::fs::metadata(&file)?.len();
        let rounds = if size > 50_000_000 { 7 } else { 50 };
        let name = format!("open {entries} entries, {:.1} MB, beside counting newlines", size as f64 / 1e6);
        compare(
            &name,
            rounds,
            || Ok(SessionManager::open(&file, None)?.entry_count()),
            || count_newlines(&file),
        )?;
        std::fs::remove_file(file)?;
    }
    Ok(())
}

/// What a first look at a long session shows, from the end of its log, beside a short one.
fn tail(folder: &Path) -> Result {
    let plan = Plan { bytes_per_entry: 4_000, ..Plan::new(100_000, Shape::Branchy) };
    let long = session(folder, "long-tail", plan)?;
    let short = session(folder, "short-tail", Plan::new(1, Shape::Deep))?;
    let theme = Theme::dark();
    let look = |file: &Path| {
        let tail = LogTail::open(file, 1 << 20)?.ok_or("a log without an end")?;
        let options = Options::at(Timestamp::UNIX_EPOCH);
        Ok(Transcript::lines_of_tail(&tail, 60, 120, &theme, &options)?.map(|lines| lines.len()))
    };
    let name = "60 lines from the end of 100,000 entries, 400 MB, beside one entry";
    compare(name, 50, || look(&long), || look(&short))?;
    Ok(std::fs::remove_file(long)?)
}

/// The path of a leaf, beside one of a tenth of its length.
fn path(folder: &Path) -> Result {
    let long = SessionManager::open(&session(folder, "long", Plan::new(10_000, Shape::Deep))?, None)?;
    let short = SessionManager::open(&session(folder, "short", Plan::new(1_000, Shape::Deep))?, None)?;
    let name = "get_branch of 10,000 entries, beside 1,000";
    compare(name, 200, || Ok(long.get_branch(None).len()), || Ok(short.get_branch(None).len()))
}

/// Moving the leaf from one end of a long path to the other, and before it.
fn moves(folder: &Path) -> Result {
    let mut long = SessionManager::open(&session(folder, "moves", Plan::new(10_000, Shape::Deep))?, None)?;
    let mut short = SessionManager::open(&session(folder, "few", Plan::new(10, Shape::Deep))?, None)?;
    let ends = |session: &SessionManager| -> Result<(String, String)> {
        let path = session.get_branch(None);
        let end = |entry: Option<&ramal_session::EntryRef<'_>>| match entry {
            Some(entry) => Ok::<_, Box<dyn std::error::Error>>(entry.id()?.to_string()),
            None => Err("an empty session".into()),
        };
        Ok((end(path.first())?, end(path.last())?))
    };
    let (first, last) = ends(&long)?;
    let (other_first, other_last) = ends(&short)?;
    let go = |session: &mut SessionManager, first: &str, last: &str| {
        session.branch(first)?;
        session.branch(last)?;
        session.reset_leaf();
        Ok(session.branch(last)?)
    };
    let name = "branch and reset_leaf in 10,000 entries, beside 10";
    compare(name, 500, || go(&mut long, &first, &last), || go(&mut short, &other_first, &other_last))
}

/// The children of one entry in a large log, beside the same in a small one.
fn children(folder: &Path) -> Result {
    let large = SessionManager::open(&session(folder, "large", Plan::new(200_000, Shape::Branchy))?, None)?;
    let small = SessionManager::open(&session(folder, "small", Plan::new(200, Shape::Branchy))?, None)?;
    let middle = |session: &SessionManager| -> Result<String> {
        let path = session.get_branch(None);
        Ok(path.get(path.len() / 2).ok_or("an empty session")?.id()?.to_string())
    };
    let (one, other) = (middle(&large)?, middle(&small)?);
    let name = "get_children among 200,000 entries, beside 200";
    compare(
        name,
        2_000,
        || Ok(large.get_children(Some(&one)).len()),
        || Ok(small.get_children(Some(&other)).len()),
    )
}

/// The context of a long path, beside parsing its lines.
fn context(folder: &Path) -> Result {
    let file = session(folder, "context", Plan { compact_every: None, ..Plan::new(5_000, Shape::Deep) })?;
    let session = SessionManager::open(&file, None)?;
    let path = session.get_branch(None);
    let lines: Vec<(u64, u64)> = path.iter().map(|entry| (entry.offset(), entry.size())).collect();
    let ours = || {
        let context = session.build_session_context(At::Leaf)?;
        let mut bytes = 0;
        for message in context.messages() {
            bytes += message?.json.len();
        }
        Ok(bytes)
    };
    let parse = || {
        let log = File::open(&file)?;
        let mut fields = 0;
        for &(offset, size) in &lines {
            let mut line = vec![0; size as usize];
            read_at(&log, offset, &mut line)?;
            fields += serde_json::from_slice::<serde_json::Value>(&line)?
                .as_object()
                .map_or(0, |entry| entry.len());
        }
        Ok(fields)
    };
    compare("context of 5,000 entries, beside parsing their lines", 20, ours, parse)
}

/// A persisted append, beside the calls to the system that it cannot do without.
fn append(folder: &Path) -> Result {
    let file = session(folder, "append", Plan::new(1_000, Shape::Deep))?;
    let mut session = SessionManager::open(&file, None)?;
    let text = "x".repeat(400);
    let entry = NewEntry::from_json(&format!(
        r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#
    ))?;
    let size = {
        let before = std::fs::metadata(&file)?.len();
        session.append(&entry)?;
        usize::try_from(std::fs::metadata(&file)?.len() - before)?
    };
    let bare = folder.join("bare.jsonl");
    File::create(&bare)?;
    let mut log = OpenOptions::new().append(true).open(&bare)?;
    let line = vec![b'x'; size];
    let calls = || {
        log.lock()?;
        black_box(std::fs::metadata(&bare)?.len());
        log.write_all(&line)?;
        Ok(log.unlock()?)
    };
    compare("append, beside lock, stat, write, unlock", 5_000, || Ok(session.append(&entry)?), calls)
}

/// Runs two things in turns and prints the medians of their times and the ratio of these.
fn compare<A, B>(
    name: &str,
    rounds: usize,
    mut ours: impl FnMut() -> Result<A>,
    mut other: impl FnMut() -> Result<B>,
) -> Result {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..rounds + rounds / 10 + 1 {
        let begin = Instant::now();
        black_box(ours()?);
        let middle = Instant::now();
        black_box(other()?);
        // The first rounds only warm the caches.
        if round > rounds / 10 {
            a.push(middle.duration_since(begin).as_secs_f64() * 1e6);
            b.push(middle.elapsed().as_secs_f64() * 1e6);
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (a, b) = (median(&mut a), median(&mut b));
    println!("| {name} | {} | {} | {:.2} |", time(a), time(b), a / b);
    Ok(())
}

fn time(us: f64) -> String {
    if us >= 1000.0 { format!("{:.1} ms", us / 1000.0) } else { format!("{us:.2} us") }
}

fn session(folder: &Path, name: &str, plan: Plan) -> Result<PathBuf> {
    let path = folder.join(format!("{name}.jsonl"));
    let mut out = BufWriter::new(File::create(&path)?);
    write_session(&plan, &mut out)?;
    out.flush()?;
    Ok(path)
}

/// As `wc -l` does it, with one thread.
fn count_newlines(file: &Path) -> Result<usize> {
    let mut file = File::open(file)?;
    let mut buffer = vec![0; 256 * 1024];
    let mut count = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(count),
            read => count += memchr::memchr_iter(b'\n', &buffer[..read]).count(),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}
