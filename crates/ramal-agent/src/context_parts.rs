//! What fills the context, part by part.

use std::collections::BTreeMap;

use ramal_session::{At, Message, Role};

use crate::AgentSession;
use crate::compact::{self, CompactionSettings, ContextTokens};
use crate::error::AgentError;
use crate::system_prompt::files_in;
use crate::tokens::{BYTES, Piece, pieces};

/// What a part of the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ContextKind {
    /// The system prompt, without the context files in it.
    SystemPrompt,
    /// A context file in the system prompt; named by its path.
    ContextFile,
    /// What the tools are and how they are called.
    Tools,
    /// Summaries of compactions and of branches that were left.
    Summary,
    /// What the user said.
    User,
    /// Files that were mentioned.
    File,
    /// Commands of the user's, and what came of them.
    Command,
    /// Messages of extensions, and the brief of a handoff; named by their type.
    Custom,
    /// What the model said.
    Assistant,
    /// What the model thought.
    Thinking,
    /// Calls of tools.
    ToolCall,
    /// What came of calls; named by the tool.
    ToolResult,
    /// Images, wherever they stand.
    Image,
    /// Anything else that is in the conversation.
    Other,
}

/// A part of the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPart {
    /// What it is.
    pub kind: ContextKind,
    /// Which of its kind, where there are several. It comes from files and models: not to be printed as it is.
    pub name: Option<String>,
    /// How many texts, calls, images or tools.
    pub count: usize,
    /// About how many tokens.
    pub tokens: u64,
}

/// What fills the context at the leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextBreakdown {
    /// The parts that take something, by kind, of one kind the largest first.
    pub parts: Vec<ContextPart>,
    /// The tokens of all parts together, each estimated as compaction estimates it.
    pub estimated: u64,
    /// How many tokens there are in all, counted by the provider as far as that holds.
    pub tokens: ContextTokens,
    /// The model, as `provider/id`; none if none is chosen.
    pub model: Option<String>,
    /// Tokens that fit into the model's window; none where it is not known.
    pub window: Option<u64>,
    /// The tokens beyond which the conversation is made shorter by itself; none where it is not.
    pub compacts_beyond: Option<u64>,
}

impl ContextBreakdown {
    /// Tokens of the window that are free; none where it is not known how large that is.
    pub fn free(&self) -> Option<u64> {
        Some(self.window?.saturating_sub(self.tokens.tokens))
    }
}

impl AgentSession {
    /// What fills the context at the leaf, by the same estimate that compaction goes by. Reads the whole path
    /// from the log, with the session locked: not to be called where a screen is drawn.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn context_breakdown(&self) -> Result<ContextBreakdown, AgentError> {
        let mut parts = Parts::default();
        let config = self.config();
        let files = files_in(&config.system);
        let of_files: usize = files.iter().map(|(_, bytes)| bytes).sum();
        parts.add_beside(ContextKind::SystemPrompt, None, config.system.len().saturating_sub(of_files));
        for (path, bytes) in files {
            parts.add_beside(ContextKind::ContextFile, Some(path), bytes);
        }
        for tool in self.offered() {
            let spec = tool.spec();
            parts.add_beside(ContextKind::Tools, None, spec.description.len() + spec.parameters.len());
        }
        let (beside, measured) = (self.tokens_beside(), self.counted_answer());
        let choice = self.model_choice()?;
        let tokens = {
            let manager = self.manager();
            for message in manager.build_session_context(At::Leaf)?.messages() {
                parts.add_message(Message::new(&message?.json));
            }
            compact::context_tokens(&manager, beside, measured.as_deref())?
        };
        let endpoint = choice.model.as_deref().and_then(|name| (config.find_model)(name).ok());
        let window = endpoint.map(|endpoint| endpoint.context_window).filter(|window| *window > 0);
        let settings = CompactionSettings { enabled: true, ..config.compaction };
        Ok(ContextBreakdown {
            estimated: parts.all.values().map(|(_, tokens)| tokens).sum(),
            parts: parts.list(),
            tokens,
            model: choice.model,
            window,
            compacts_beyond: window
                .filter(|_| self.auto_compaction())
                .map(|window| settings.most_tokens(window)),
        })
    }
}

/// Parts while they are counted: how many, and their tokens.
#[derive(Default)]
struct Parts {
    all: BTreeMap<(ContextKind, Option<String>), (usize, u64)>,
    /// Bytes beside the conversation so far; they are rounded down as a whole.
    beside: usize,
}

impl Parts {
    fn add(&mut self, kind: ContextKind, name: Option<&str>, count: usize, tokens: u64) {
        let part = self.all.entry((kind, name.map(str::to_owned))).or_default();
        *part = (part.0 + count, part.1 + tokens);
    }

    fn add_beside(&mut self, kind: ContextKind, name: Option<&str>, bytes: usize) {
        let before = self.beside as u64 / BYTES;
        self.beside += bytes;
        self.add(kind, name, 1, self.beside as u64 / BYTES - before);
    }

    fn add_message(&mut self, message: Message<'_>) {
        let name_key = match message.role() {
            Role::ToolResult => "toolName",
            _ => "customType",
        };
        let name = message.get_str(name_key);
        let text = match message.role() {
            Role::User | Role::Developer => ContextKind::User,
            Role::Assistant => ContextKind::Assistant,
            Role::ToolResult => ContextKind::ToolResult,
            Role::BashExecution | Role::PythonExecution => ContextKind::Command,
            Role::FileMention => ContextKind::File,
            Role::Custom | Role::HookMessage => ContextKind::Custom,
            Role::BranchSummary | Role::CompactionSummary => ContextKind::Summary,
            _ => ContextKind::Other,
        };
        let named = matches!(text, ContextKind::ToolResult | ContextKind::Custom);
        let name = name.as_deref().filter(|name| named && !name.is_empty());
        // A message is one text, in however many pieces it comes. Rounding may leave a short piece nothing.
        let (mut of_text, mut of_thinking, mut of_calls) = (None, None, None);
        pieces(message, |piece, tokens| match piece {
            Piece::Text => *of_text.get_or_insert(0) += tokens,
            Piece::Thinking => *of_thinking.get_or_insert(0) += tokens,
            Piece::Call => *of_calls.get_or_insert(0) += tokens,
            Piece::Image => self.add(ContextKind::Image, None, 1, tokens),
        });
        let calls = message.tool_calls().count();
        let told = [
            (text, name, 1, of_text),
            (ContextKind::Thinking, None, 1, of_thinking),
            (ContextKind::ToolCall, None, calls, of_calls),
        ];
        for (kind, name, count, tokens) in told {
            if let Some(tokens) = tokens {
                self.add(kind, name, count, tokens);
            }
        }
    }

    fn list(self) -> Vec<ContextPart> {
        let parts = self.all.into_iter().map(|((kind, name), (count, tokens))| ContextPart {
            kind,
            name,
            count,
            tokens,
        });
        let mut parts: Vec<ContextPart> = parts.filter(|part| part.tokens > 0).collect();
        parts.sort_by_key(|part| (part.kind, std::cmp::Reverse(part.tokens)));
        parts
    }
}
