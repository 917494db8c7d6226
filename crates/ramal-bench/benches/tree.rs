//! What the tree selector costs in a large session: how long a key takes, and what is read behind it.
//!
//! A key includes drawing: the values of sixty rows. Prints tables; nothing here passes or fails.
//! `cargo bench -p ramal-bench --bench tree`.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ramal_bench::generate::write_session;
use ramal_bench::preset::preset;
use ramal_session::{Filter, SessionManager};
use ramal_tui::tree_selector::{Command, Direction, Landmark, Selector};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Lines of a screen.
const LINES: usize = 60;
/// Bytes that are read between two looks at the keyboard.
const PIECE: u64 = 1 << 20;
/// Between two drawings while something is read.
const FRAME: Duration = Duration::from_millis(33);
/// How often a key is pressed.
const ROUNDS: usize = 200;

fn main() -> Result {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    for name in ["100k", "1m"] {
        if name.contains(&*wanted) {
            let file = session(folder.path(), name)?;
            measure(&file)?;
            std::fs::remove_file(file)?;
        }
    }
    Ok(())
}

fn measure(file: &Path) -> Result {
    let mut session = SessionManager::open(file, None)?;
    let megabytes = std::fs::metadata(file)?.len() / 1_000_000;
    println!("\n{} entries, {megabytes} MB\n", session.entry_count());
    println!("| what | median | worst |");
    println!("| --- | ---: | ---: |");
    let before = resident();
    let begin = Instant::now();
    let mut selector = Selector::new(&session, Filter::Default);
    draw(&mut selector, &session);
    say("first rows", begin.elapsed(), None);
    whole("facts, to the last entry", &mut selector, &session);
    keys(&mut selector, &session);
    searches(&mut selector, &session);
    appends(&mut selector, &mut session)?;
    if let (Some(before), Some(after)) = (before, resident()) {
        let entries = session.entry_count() as u64;
        println!(
            "\nresident: {} bytes an entry more than without it",
            after.saturating_sub(before) / entries
        );
    }
    Ok(())
}

/// Keys that move, filter and fold.
fn keys(selector: &mut Selector, session: &SessionManager) {
    let all = Filter::ALL;
    let forks = |way| Command::Jump(way, Landmark::Fork);
    key("move down", selector, session, |_| Command::Down);
    key("page up", selector, session, |_| Command::PageUp(LINES));
    key("to the first row, to the last", selector, session, |n| {
        if n % 2 == 0 { Command::Home } else { Command::End }
    });
    key("to the next fork", selector, session, |_| forks(Direction::Back));
    key("change of filter", selector, session, |n| Command::SetFilter(all[n % all.len()]));
    selector.handle(session, Command::SetFilter(Filter::Default));
    selector.handle(session, Command::Home);
    key("fold, unfold", selector, session, |_| Command::ToggleFold);
    selector.handle(session, Command::UnfoldAll);
}

fn searches(selector: &mut Selector, session: &SessionManager) {
    for words in ["e", "error", "error qqq", "zzzz"] {
        selector.handle(session, Command::Search(String::new()));
        let begin = Instant::now();
        selector.handle(session, Command::Search(words.into()));
        draw(selector, session);
        say(&format!("search for “{words}”: first answer"), begin.elapsed(), None);
        whole(&format!("search for “{words}”: to the last entry"), selector, session);
        println!("| … found | {} rows | |", selector.status().rows);
    }
    selector.handle(session, Command::Search("err".into()));
    while !selector.work(session, PIECE).done {}
    let begin = Instant::now();
    selector.handle(session, Command::Type('o'));
    draw(selector, session);
    say("a letter more: first answer", begin.elapsed(), None);
    whole("a letter more: to the last entry", selector, session);
    selector.handle(session, Command::Escape);
}

fn appends(selector: &mut Selector, session: &mut SessionManager) -> Result {
    let mut times = Vec::new();
    for _ in 0..20 {
        session.append_message(r#"{"role":"user","content":"one more"}"#)?;
        let begin = Instant::now();
        draw(selector, session);
        times.push(begin.elapsed());
    }
    summary("an entry was appended", times);
    Ok(())
}

/// Presses a key again and again, and draws each time.
fn key(name: &str, selector: &mut Selector, session: &SessionManager, command: impl Fn(usize) -> Command) {
    let times = (0..ROUNDS).map(|round| {
        let begin = Instant::now();
        black_box(selector.handle(session, command(round)));
        draw(selector, session);
        begin.elapsed()
    });
    summary(name, times.collect());
}

/// Reads on to the end, and draws as often as a screen does; tells how long all took, and the longest time in
/// which no key would have been taken.
fn whole(name: &str, selector: &mut Selector, session: &SessionManager) {
    let begin = Instant::now();
    let mut drawn = begin;
    let mut worst = Duration::ZERO;
    loop {
        let piece = Instant::now();
        let done = selector.work(session, PIECE).done;
        if done || drawn.elapsed() > FRAME {
            draw(selector, session);
            drawn = Instant::now();
        }
        worst = worst.max(piece.elapsed());
        if done {
            break;
        }
    }
    say(name, begin.elapsed(), Some(worst));
}

fn draw(selector: &mut Selector, session: &SessionManager) {
    let window = selector.window(session, LINES);
    black_box(selector.rows(session, window, 20));
    black_box(selector.status());
}

fn summary(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    say(name, median, times.last().copied());
}

fn say(name: &str, time: Duration, worst: Option<Duration>) {
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    println!("| {name} | {} | {} |", ms(time), worst.map(ms).unwrap_or_default());
}

fn session(folder: &Path, name: &str) -> Result<PathBuf> {
    let plan = preset(name).ok_or("no such preset")?.plan;
    let path = folder.join(format!("{name}.jsonl"));
    let mut out = BufWriter::new(File::create(&path)?);
    write_session(&plan, &mut out)?;
    out.flush()?;
    Ok(path)
}

/// Bytes of this process in memory, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}
