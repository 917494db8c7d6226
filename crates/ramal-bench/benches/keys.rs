//! From a key to the bytes of the frame, in the tree of a large session: the view, what it draws, and what of it
//! goes to the terminal. And what else the program asks a session while somebody waits for the next frame.
//!
//! Prints tables; nothing here passes or fails. `cargo bench -p ramal-bench --bench keys`.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_bench::generate::write_session;
use ramal_bench::preset::preset;
use ramal_session::{At, Filter, SessionManager};
use ramal_tui::keys::{Key, Keymap};
use ramal_tui::markdown::SyntectHighlighter;
use ramal_tui::scene::Scene;
use ramal_tui::screen::FullScreen;
use ramal_tui::theme::{Background, ColorDepth, Theme};
use ramal_tui::transcript::{Options, Transcript};
use ramal_tui::tree_selector::Selector;
use ramal_tui::tree_view::TreeView;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// The screen.
const SIZE: (u16, u16) = (160, 60);
/// Bytes that are read between two keys, as the program does it.
const PIECE: u64 = 512 << 10;
/// How often each key is pressed.
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
    let session = SessionManager::open(file, None)?;
    let megabytes = std::fs::metadata(file)?.len() / 1_000_000;
    println!("\n{} entries, {megabytes} MB\n", session.entry_count());
    println!("| what | 50 % | 99 % | worst |");
    println!("| --- | ---: | ---: | ---: |");
    asked(&session)?;
    let mut hands = Hands::new(&session);
    // While everything is still being read, one piece before each key.
    hands.press("down", "down, while facts are read", true)?;
    while !hands.view.work(&session, PIECE).done {}
    for (key, what) in [
        ("down", "down"),
        ("up", "up"),
        ("pageup", "page up"),
        ("pagedown", "page down"),
        ("home", "to the first row"),
        ("end", "to the last row"),
    ] {
        hands.press(key, what, false)?;
    }
    for letters in ["e", "r", "r", "o", "r", "backspace"] {
        hands.press_some(letters, &format!("search, {letters}"), 1, true)?;
    }
    println!("\nAll keys together: {}", row(std::mem::take(&mut hands.all)));
    Ok(())
}

/// What is asked of a session outside the tree.
fn asked(session: &SessionManager) -> Result {
    let leaf = || session.get_leaf_entry();
    once("whether anything was said", || session.get_entries().any(|entry| entry.kind().is_conversation()));
    once("the nearest fork", || leaf().and_then(|leaf| leaf.nearest_fork()).is_some());
    once("all labels", || session.get_labels().count());
    once("the latest messages of the user", || {
        let path = std::iter::successors(leaf(), |entry| entry.parent());
        path.filter(|entry| entry.role() == ramal_session::Role::User).take(50).count()
    });
    once("the context: settings and messages", || {
        session.build_session_context(At::Leaf).map(|context| context.speaking()).ok()
    });
    once("the context, again", || {
        session.build_session_context(At::Leaf).map(|context| context.speaking()).ok()
    });
    once("tokens in the context", || ramal_agent::compact::context_tokens(session, 0, None).is_ok());
    once("whether the last turn broke off", || ramal_agent::interruption(session).is_ok());
    once("the tree, until its first rows", || Selector::new(session, Filter::Default).status().rows);
    let highlighter = Arc::new(SyntectHighlighter::default());
    highlighter.load();
    let theme = Theme::built_in(Background::Dark, ColorDepth::TrueColor);
    let options = Options { highlighter: &*highlighter, ..Options::at(Timestamp::now()) };
    for rows in [40, 600, 2000] {
        let mut count = 0;
        once(&format!("{rows} lines of the end"), || {
            let mut transcript = Transcript::at_leaf(session);
            let lines = transcript.read_lines_of(session, 600, rows, 100, &theme, &options);
            count = lines.map(|lines| lines.len()).unwrap_or_default();
        });
    }
    let mut transcript = Transcript::at_leaf(session);
    once("600 entries of the end", || transcript.read_more(session, 600).is_ok());
    Ok(())
}

/// Somebody at the keyboard.
struct Hands<'s> {
    session: &'s SessionManager,
    view: TreeView,
    screen: FullScreen,
    theme: Theme,
    keymap: Keymap,
    all: Vec<Duration>,
}

impl<'s> Hands<'s> {
    fn new(session: &'s SessionManager) -> Hands<'s> {
        let begin = Instant::now();
        let mut hands = Hands {
            session,
            view: TreeView::new(Selector::new(session, Filter::Default)),
            screen: FullScreen::new(),
            theme: Theme::built_in(Background::Dark, ColorDepth::TrueColor),
            keymap: Keymap::default(),
            all: Vec::new(),
        };
        hands.frame();
        say("the tree is opened", vec![begin.elapsed()]);
        hands
    }

    fn press(&mut self, name: &str, what: &str, reads: bool) -> Result {
        self.press_some(name, what, ROUNDS, reads)
    }

    fn press_some(&mut self, name: &str, what: &str, rounds: usize, reads: bool) -> Result {
        let key: Key = name.parse().map_err(|_| format!("no key is called {name}"))?;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let begin = Instant::now();
            // The key comes at the worst moment.
            if reads {
                self.view.work(self.session, PIECE);
            }
            self.view.key(self.session, &self.keymap, key);
            self.frame();
            times.push(begin.elapsed());
        }
        self.all.extend(&times);
        say(what, times);
        Ok(())
    }

    fn frame(&mut self) {
        let zone = TimeZone::UTC;
        let scene = Scene {
            columns: SIZE.0,
            rows: SIZE.1,
            theme: &self.theme,
            keymap: &self.keymap,
            now: Timestamp::now(),
            zone: &zone,
        };
        let view = self.view.draw(self.session, &scene);
        black_box(self.screen.show(SIZE.0, view.lines, view.cursor));
    }
}

fn once<T>(what: &str, ask: impl FnOnce() -> T) {
    let begin = Instant::now();
    black_box(ask());
    say(what, vec![begin.elapsed()]);
}

fn say(what: &str, times: Vec<Duration>) {
    println!("| {what} | {} |", row(times));
}

fn row(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    let ms = |time: Option<&Duration>| match time {
        Some(time) => format!("{:.2} ms", time.as_secs_f64() * 1e3),
        None => String::new(),
    };
    format!("{} | {} | {}", ms(at(50)), ms(at(99)), ms(times.last()))
}

fn session(folder: &Path, name: &str) -> Result<PathBuf> {
    let plan = preset(name).ok_or("no such preset")?.plan;
    let path = folder.join(format!("{name}.jsonl"));
    let mut out = BufWriter::new(File::create(&path)?);
    write_session(&plan, &mut out)?;
    out.flush()?;
    Ok(path)
}
