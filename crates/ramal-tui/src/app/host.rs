//! What the conversation needs of the program around it: files, settings, models, other sessions.
//!
//! Whatever may take longer than a moment is asked for on a thread of its own.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ramal_agent::{AgentSession, Prompt};
use ramal_session::library::Heard;
use ramal_session::{Filter, SessionManager};

use super::drafts::{Drafts, Owner};
use crate::editor::{Content, Editor};
use crate::keys::Keymap;
use crate::model_view::ModelRow;
use crate::session_view::SessionScope;
use crate::settings_view::SettingRow;
use crate::theme::{Background, Theme};

/// What the user wants of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wishes {
    /// What Escape opens that is pressed twice on an empty editor.
    pub double_escape: DoubleEscape,
    /// Whether it is asked, at a navigation, if the branch that is left is to be summed up.
    pub asks_for_summary: bool,
    /// Whether what the model thinks is shown.
    pub hides_thinking: bool,
    /// No greeting at the start.
    pub is_quiet: bool,
    /// Entries that are printed when a session is opened.
    pub replay_limit: usize,
    /// What the tree shows when it is opened.
    pub tree_filter: Filter,
    /// The name of the theme.
    pub theme: String,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            double_escape: DoubleEscape::Tree,
            asks_for_summary: true,
            hides_thinking: false,
            is_quiet: false,
            replay_limit: 600,
            tree_filter: Filter::Default,
            theme: "auto".to_owned(),
        }
    }
}

/// What Escape opens that is pressed twice (contract, section 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoubleEscape {
    /// The tree; `/branch` opens it, too.
    Tree,
    /// The user's messages, to begin a session before one of them.
    Branch,
    /// Nothing.
    None,
}

/// The program around the conversation.
pub trait Host: Send + Sync + 'static {
    /// What the user wants of the screen, as the settings for a directory have it.
    fn wishes(&self, cwd: &Path) -> Wishes;

    /// The theme of a name for a background, and what is wrong with the user's own.
    fn theme(&self, name: &str, background: Background) -> (Theme, Vec<String>);

    /// Remembers where one is in a session.
    fn remember(&self, session: &SessionManager);

    /// The tokens that fit into a conversation with a model, as far as they are known.
    fn window(&self, model: &str) -> Option<u64>;

    /// The branch of git that is checked out in a directory. May take long.
    fn git_branch(&self, cwd: &Path) -> Option<String>;

    /// The first model that can be used, for sessions that name none.
    fn any_model(&self) -> Option<String>;

    /// The models that can be used, of which `present` is at work. May take long.
    fn models(&self, present: Option<&str>) -> Vec<ModelRow>;

    /// The settings for a directory, as they can be changed.
    fn settings(&self, cwd: &Path) -> Vec<SettingRow>;

    /// Sets one of them in the user's own file. Answers what is to be told of it: where it stands, or that a
    /// project's file goes before it.
    ///
    /// # Errors
    /// Why it could not be set.
    fn set(&self, cwd: &Path, key: &str, value: &str) -> Result<String, String>;

    /// Keys as the user's file has them, and the first thing in it that cannot be used.
    fn keymap(&self) -> (Keymap, Option<String>);

    /// Makes a session ready for work anew: the files of its directory may say something else by now.
    fn renew(&self, agent: &AgentSession);

    /// The prompt that is written, with its pictures; and what of them could not go along. May take long.
    fn prompt(&self, content: &Content, cwd: &Path) -> (Prompt, Vec<String>);

    /// What is kept of what is written, which is put into the editor. None where nothing can be kept.
    fn drafts(&self, owner: Owner, editor: &mut Editor) -> Option<Box<dyn Drafts>>;

    /// What was `said` in a session, and below it what was sent in its directory before: the newest first.
    fn earlier(&self, cwd: &Path, said: Vec<String>) -> Vec<String>;

    /// Where the command line wants sessions to be made; none: in the usual folder.
    fn session_dir(&self) -> Option<PathBuf>;

    /// Lists sessions one by one, until `hear` breaks off. May take long.
    fn list_sessions(&self, cwd: &Path, scope: SessionScope, hear: &mut dyn FnMut(Heard) -> ControlFlow<()>);

    /// The file of a session that is named as on the command line.
    ///
    /// # Errors
    /// If there is none such, or several are meant.
    fn find_session(&self, cwd: &Path, name: &str) -> Result<PathBuf, String>;

    /// Names a session that is not open; an empty name takes it off.
    ///
    /// # Errors
    /// If it takes no entry.
    fn rename_session(&self, file: &Path, name: &str) -> Result<(), String>;

    /// Puts a session into the trash, and says where it is. May take long.
    ///
    /// # Errors
    /// If it is the one that is `open`, or could not be moved; then it stays where it is.
    fn trash_session(&self, file: &Path, open: Option<&Path>) -> Result<String, String>;

    /// Writes a session as a page, or the path as a session of its own if the name ends in `.jsonl`. `file` is
    /// where the session lies, if it does. Answers what was written. May take long.
    ///
    /// # Errors
    /// If it could not be written.
    fn export(&self, agent: &AgentSession, file: Option<&Path>, to: Option<&Path>)
    -> Result<PathBuf, String>;

    /// Makes a copy of a file for a directory, and answers where it is.
    ///
    /// # Errors
    /// If it is no session, or the copy could not be made.
    fn import(&self, file: &Path, cwd: &Path) -> Result<PathBuf, String>;

    /// The active path as text.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn dump(&self, session: &SessionManager) -> Result<String, String>;

    /// Something was sent in a directory: it is one of the earlier prompts from now on.
    /// Answers what went wrong with that before.
    fn sent(&self, cwd: &Path, text: &str) -> Option<String>;

    /// Gives a text to the user's own editor, and answers what came of it; none if nothing was changed.
    /// The terminal is lent to it meanwhile.
    ///
    /// # Errors
    /// If there is no editor, or it failed.
    fn edit(&self, text: &str) -> io::Result<Option<String>>;

    /// Tells the user something once the terminal is theirs again.
    fn complain(&self, message: &str);
}
