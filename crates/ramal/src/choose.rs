//! The tree on the whole screen, for somebody to choose an entry.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use jiff::Timestamp;
use ramal_session::{EntryId, SessionManager};
use ramal_tui::hotkeys_view::{self, HotkeysView};
use ramal_tui::keys::{Key, Keymap};
use ramal_tui::scene::Scene;
use ramal_tui::screen::FullScreen;
use ramal_tui::terminal::{Input, Options, Terminal, TerminalWriter};
use ramal_tui::text::human;
use ramal_tui::text::says::copied;
use ramal_tui::theme::{Background, ColorDepth, Theme};
use ramal_tui::tree_selector::Selector;
use ramal_tui::tree_view::{Told, TreeView};

use crate::catalog;
use crate::cli::Globals;
use crate::failure::Failure;
use crate::view::style::ColorChoice;
use crate::{settings, themes};

/// Bytes of entries that are read between two looks at the keys.
const SLICE: u64 = 2 << 20;

/// How long nothing may be drawn while keys keep coming or entries are read.
const FRAME: Duration = Duration::from_millis(16);

/// How often it is looked whether another program has appended.
const LOOK: Duration = Duration::from_millis(500);

/// What was chosen.
pub(crate) enum Chosen {
    /// An entry.
    Entry(EntryId),
    /// The entry where one is.
    Here,
    /// Nothing.
    Nothing,
    /// A signal ended it.
    Signal(i32),
}

/// Refuses a command that names no entry where nobody can choose one.
///
/// # Errors
/// If input and output are not both a terminal.
pub(crate) fn must_be_possible() -> anyhow::Result<()> {
    if crate::view::terminal::is_both_ways() {
        return Ok(());
    }
    Err(Failure::usage("no entry is named, and this is no terminal to choose one in")
        .hint("`ramal go ENTRY` goes to an entry; `ramal tree` shows them")
        .into())
}

/// Lets somebody choose an entry of a session. Labels that are set meanwhile are stored.
///
/// # Errors
/// If there is no terminal, or it cannot be written to.
pub(crate) fn entry(session: &mut SessionManager, globals: &Globals) -> anyhow::Result<Chosen> {
    let (settings, problems) = settings::load(Path::new(session.get_cwd()));
    settings::warn(&problems);
    let (keymap, wrong_key) = keymap();
    let mut terminal = Terminal::start(&Options::default())?;
    let (sender, inputs) = channel();
    let _reader = terminal.listen(move |input| sender.send(input).is_ok()).context("no keys can be read")?;
    let mut view = TreeView::new(Selector::new(session, settings.tree_filter));
    let depth = depth(globals.color);
    let (theme, wrong_theme) = theme(&terminal, &settings.screen.theme, depth);
    if let Some(problem) = wrong_key.or(wrong_theme) {
        view.notice(problem);
    }
    let mut chooser = Chooser {
        writer: terminal.writer(),
        terminal: &terminal,
        screen: FullScreen::new(),
        theme,
        follows: settings.screen.theme == themes::AUTO,
        depth,
        keymap,
        view,
        hotkeys: None,
        zone: human::local_zone(),
    };
    chooser.writer.alternate_screen(true);
    let chosen = chooser.run(session, &inputs);
    drop(chooser);
    terminal.leave().context("the terminal cannot be set back")?;
    chosen
}

/// The keys: the defaults, and what the user's own file says, or pi's where there is none; and the first
/// thing in it that cannot be used.
pub(crate) fn keymap() -> (Keymap, Option<String>) {
    let folders = [catalog::settings_folder(), catalog::pi_folder()].into_iter().flatten();
    for path in folders.map(|folder| folder.join("keybindings.json")) {
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let keymap = Keymap::read(&text);
                let first = keymap.problems().first().map(|problem| format!("{}, {problem}", path.display()));
                return (keymap, first);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return (Keymap::default(), Some(format!("{} cannot be read: {error}", path.display())));
            }
        }
    }
    (Keymap::default(), None)
}

/// The colours that there are, as the user and the environment say.
fn depth(choice: ColorChoice) -> ColorDepth {
    match choice {
        ColorChoice::Never => ColorDepth::None,
        _ => ColorDepth::from_environment(|name| std::env::var(name).ok()),
    }
}

/// The theme of that name, and the first thing in it that cannot be used.
fn theme(terminal: &Terminal, name: &str, depth: ColorDepth) -> (Theme, Option<String>) {
    let colorfgbg = std::env::var("COLORFGBG").ok();
    let background = Background::choose(terminal.answers().background, colorfgbg.as_deref());
    let (theme, problems) = themes::load(name, background, depth, &[]);
    (theme, problems.into_iter().next())
}

struct Chooser<'a> {
    terminal: &'a Terminal,
    writer: TerminalWriter,
    screen: FullScreen,
    theme: Theme,
    /// Whether the theme is the one for the terminal's background.
    follows: bool,
    /// The colours that it may have, whatever the background turns out to be.
    depth: ColorDepth,
    keymap: Keymap,
    view: TreeView,
    /// All keys, above the tree.
    hotkeys: Option<HotkeysView>,
    zone: jiff::tz::TimeZone,
}

impl Chooser<'_> {
    fn run(&mut self, session: &mut SessionManager, inputs: &Receiver<Input>) -> anyhow::Result<Chosen> {
        let (mut is_stale, mut is_done) = (true, false);
        let mut looked = Instant::now();
        let mut drawn = None;
        loop {
            let waits = drawn.is_some_and(|at: Instant| at.elapsed() < FRAME);
            if is_stale && !waits {
                self.draw(session)?;
                (is_stale, drawn) = (false, Some(Instant::now()));
            }
            let patience = match (is_done, is_stale) {
                (false, _) => Duration::ZERO,
                (true, true) => FRAME,
                (true, false) => LOOK,
            };
            match inputs.recv_timeout(patience) {
                Ok(input) => {
                    if let Some(chosen) = self.input(session, input, &mut is_stale)? {
                        return Ok(chosen);
                    }
                    is_done = false;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if looked.elapsed() >= LOOK {
                        looked = Instant::now();
                        if let Err(error) = session.refresh() {
                            self.view.notice(error.to_string());
                            is_stale = true;
                        }
                    }
                    let work = self.view.work(session, SLICE);
                    is_stale |= work.changed;
                    is_done = work.done;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(Chosen::Nothing),
            }
        }
    }

    /// Acts on what came from the terminal; answers what was chosen by it.
    fn input(
        &mut self,
        session: &mut SessionManager,
        input: Input,
        is_stale: &mut bool,
    ) -> anyhow::Result<Option<Chosen>> {
        let told = match input {
            Input::Key(key) if self.hotkeys.is_some() => self.hotkeys_key(key),
            Input::Key(key) => self.view.key(session, &self.keymap, key),
            Input::Paste(text) => self.view.paste(session, &text),
            Input::Background(color) => {
                // It may answer late.
                if self.follows {
                    self.theme = Theme::built_in(Background::of(color), self.depth);
                }
                Told::Redraw
            }
            Input::Resize(..) | Input::Resumed => {
                self.screen.forget();
                Told::Redraw
            }
            Input::Quit(signal) => return Ok(Some(Chosen::Signal(signal))),
            Input::Closed => return Ok(Some(Chosen::Nothing)),
            Input::FocusGained | Input::FocusLost => Told::Nothing,
        };
        *is_stale |= told != Told::Nothing;
        match told {
            Told::Nothing | Told::Redraw => {}
            Told::Close => return Ok(Some(Chosen::Nothing)),
            Told::AlreadyHere => return Ok(Some(Chosen::Here)),
            Told::Go { id, .. } => return Ok(Some(Chosen::Entry(id))),
            Told::Label { id, label } => {
                if let Err(error) = session.append_label_change(&id, label.as_deref()) {
                    self.view.notice(format!("{:#}", anyhow::Error::new(error)));
                }
            }
            Told::Copy(position) => self.copy(session, position),
            Told::Suspend => self.terminal.suspend()?,
            Told::Hotkeys => self.show_hotkeys(),
        }
        Ok(None)
    }

    fn hotkeys_key(&mut self, key: Key) -> Told {
        let told = self.hotkeys.as_mut().map(|hotkeys| hotkeys.key(&self.keymap, key));
        match told {
            Some(hotkeys_view::Told::Close) | None => {
                self.hotkeys = None;
                self.screen.forget();
                Told::Redraw
            }
            Some(hotkeys_view::Told::Suspend) => Told::Suspend,
            Some(hotkeys_view::Told::Nothing | hotkeys_view::Told::Redraw) => Told::Redraw,
        }
    }

    fn show_hotkeys(&mut self) {
        self.hotkeys = Some(HotkeysView::new(&self.keymap));
        self.screen.forget();
    }

    fn copy(&mut self, session: &SessionManager, position: usize) {
        let entry = session.get_entry_at(position).map(|entry| entry.read());
        let said = match entry {
            Some(Ok(entry)) => {
                let in_tmux = std::env::var_os("TMUX").is_some();
                match self.writer.copy(&copied(&entry), in_tmux) {
                    Ok(()) => "Copied".to_owned(),
                    Err(_) => "This entry is too long for the clipboard of a terminal".to_owned(),
                }
            }
            Some(Err(error)) => error.to_string(),
            None => return,
        };
        self.view.notice(said);
    }

    fn draw(&mut self, session: &SessionManager) -> io::Result<()> {
        let (columns, rows) = crate::view::terminal::size();
        let scene = Scene {
            columns,
            rows,
            theme: &self.theme,
            keymap: &self.keymap,
            now: Timestamp::now(),
            zone: &self.zone,
        };
        let view = match &mut self.hotkeys {
            Some(hotkeys) => hotkeys.draw(&scene),
            None => self.view.draw(session, &scene),
        };
        let bytes = self.screen.show(columns, view.lines, view.cursor);
        self.writer.write_all(bytes.as_bytes())?;
        self.writer.flush()
    }
}
