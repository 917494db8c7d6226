//! The program's extensions, as the conversation asks for them.

use std::path::PathBuf;
use std::sync::Arc;

use ramal_agent::{AgentSession, Prompt};
use ramal_extension::{CommandInfo, Input, RunError, ShortcutInfo, name_of};
use ramal_tui::app::{Eventually, ExtensionCommand, ExtensionKey, Extensions, Unrun};
use tokio_util::sync::CancellationToken;

use crate::extensions::{self, Crew};
use crate::workshop::Workshop;

/// All of them, around the session of the conversation.
pub(super) struct Around {
    pub(super) crew: Arc<Crew>,
    pub(super) agent: AgentSession,
    pub(super) workshop: Arc<Workshop>,
}

impl Extensions for Around {
    fn are_there(&self) -> bool {
        self.crew.may_answer()
    }

    fn begin(&self) -> Eventually<()> {
        let (crew, agent, workshop) =
            (Arc::clone(&self.crew), self.agent.clone(), Arc::clone(&self.workshop));
        Box::pin(async move { crew.begin(&agent, &workshop).await })
    }

    fn reload(&self) -> Eventually<()> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move { crew.reload().await })
    }

    fn end(&self) -> Eventually<()> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move { crew.end().await })
    }

    fn commands(&self) -> Vec<ExtensionCommand> {
        let all = self.crew.now().map(|now| now.commands()).unwrap_or_default();
        let shown = |command: CommandInfo| ExtensionCommand {
            name: command.name,
            description: command.description.unwrap_or_default(),
            completes: command.completes,
            extension: name_of(&command.extension),
        };
        all.into_iter().map(shown).collect()
    }

    fn keys(&self) -> Vec<ExtensionKey> {
        let all = self.crew.now().map(|now| now.shortcuts()).unwrap_or_default();
        let shown = |shortcut: ShortcutInfo| ExtensionKey {
            key: shortcut.key,
            description: shortcut.description.unwrap_or_default(),
            extension: name_of(&shortcut.extension),
        };
        all.into_iter().map(shown).collect()
    }

    fn command(&self, text: String) -> Eventually<Option<(String, String)>> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move {
            let (name, rest) = crew.command(&text).await?;
            Some((name.to_owned(), rest.to_owned()))
        })
    }

    fn run_command(
        &self,
        name: String,
        rest: String,
        abort: CancellationToken,
    ) -> Eventually<Result<(), Unrun>> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move { crew.run_command(&name, &rest, abort).await.map_err(unrun) })
    }

    fn run_key(&self, key: String, abort: CancellationToken) -> Eventually<Result<(), Unrun>> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move { crew.run_shortcut(&key, abort).await.map_err(unrun) })
    }

    fn complete(&self, name: String, typed: String) -> Eventually<Vec<(String, String)>> {
        let now = self.crew.now();
        Box::pin(async move {
            match now {
                // One that fails at it offers nothing.
                Some(now) => now.complete(&name, &typed).await.unwrap_or_default(),
                None => Vec::new(),
            }
        })
    }

    fn input(
        &self,
        prompt: Prompt,
        streaming: Option<&'static str>,
        abort: CancellationToken,
    ) -> Eventually<Option<Prompt>> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move {
            match crew.input(prompt, "interactive", streaming, &abort).await {
                Input::Say(prompt) => Some(prompt),
                Input::Handled => None,
            }
        })
    }

    fn user_bash(
        &self,
        command: String,
        exclude_from_context: bool,
        abort: CancellationToken,
    ) -> Eventually<Option<String>> {
        let crew = Arc::clone(&self.crew);
        Box::pin(async move { crew.user_bash(&command, exclude_from_context, &abort).await })
    }

    fn render(&self, custom_type: String, entry: String, is_open: bool) -> Eventually<Option<Vec<String>>> {
        let now = self.crew.now();
        Box::pin(async move { now?.render(&custom_type, &entry, is_open).await })
    }

    fn log(&self) -> Option<PathBuf> {
        extensions::log_place()
    }
}

fn unrun(error: RunError) -> Unrun {
    match error {
        RunError::None { .. } => Unrun::Unknown,
        RunError::Aborted { .. } => Unrun::Aborted,
        error @ RunError::Failed { .. } => Unrun::Failed(error.to_string()),
    }
}
