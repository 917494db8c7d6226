//! Settings that only a full-screen program asks for.

use super::read::Value;
use super::values::{flag, one_of, some, text};

/// What a full-screen program is to look like, and what it does by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Begin in the latest session of the directory.
    pub(crate) auto_resume: bool,
    /// The name of the colours; `auto` is dark or light as the terminal is.
    pub(crate) theme: String,
    /// What Escape, pressed twice, opens.
    pub(crate) double_escape: DoubleEscape,
    /// Ask at a navigation whether to sum up what is left: pi's key says no when it is true, …
    pub(crate) summary_skip_prompt: bool,
    /// … oh-my-pi's when it is false.
    pub(crate) summary_enabled: bool,
    /// Do not show what the model thinks.
    pub(crate) hide_thinking: bool,
    /// Begin without a greeting.
    pub(crate) quiet_startup: bool,
    /// Entries that are drawn when a long session is opened.
    pub(crate) replay_limit: u64,
}

/// What Escape opens that is pressed twice on an empty editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DoubleEscape {
    /// The tree.
    Tree,
    /// The user's messages, to begin a session before one of them.
    Branch,
    /// Nothing.
    None,
}

impl Default for Screen {
    fn default() -> Screen {
        Screen {
            auto_resume: false,
            theme: crate::themes::AUTO.into(),
            double_escape: DoubleEscape::Tree,
            summary_skip_prompt: false,
            summary_enabled: true,
            hide_thinking: false,
            quiet_startup: false,
            replay_limit: 600,
        }
    }
}

impl Screen {
    /// Takes in a setting. Answers whether it is one of these; an error says what is wrong with it.
    pub(super) fn take(&mut self, key: &str, value: &Value) -> Result<bool, String> {
        match key {
            "autoResume" => self.auto_resume = flag(value)?,
            "theme" => self.theme = text(value, "the name of a theme")?,
            "doubleEscapeAction" => {
                self.double_escape = match one_of(value, &["tree", "branch", "fork", "rewind", "none"])? {
                    "tree" => DoubleEscape::Tree,
                    "none" => DoubleEscape::None,
                    _ => DoubleEscape::Branch,
                };
            }
            "branchSummary.skipPrompt" => self.summary_skip_prompt = flag(value)?,
            "branchSummary.enabled" => self.summary_enabled = flag(value)?,
            "hideThinkingBlock" => self.hide_thinking = flag(value)?,
            "quietStartup" => self.quiet_startup = flag(value)?,
            "display.transcriptReplayLimit" => self.replay_limit = some(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
