//! Sending what was written: to the model, to the shell, or as a command of the program.

use std::sync::Arc;
use std::time::Instant;

use ramal_agent::shell::{self, ShellCommand, Surroundings};
use ramal_agent::tools::outputs_folder;
use ramal_agent::{AgentError, AgentSession, Prompt};
use ramal_session::time;
use tokio_util::sync::CancellationToken;

use super::App;
use super::extensions::until;
use super::slash::Said;
use crate::editor::Content;
use crate::transcript::Block;

/// When something is said while the model is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// As soon as it can be.
    Soon,
    /// When the model has nothing more to do.
    Afterwards,
}

impl App {
    /// Sends what stands in the editor.
    pub(super) fn submit(&mut self, when: When) {
        let text = self.editor.text();
        if text.trim().is_empty() && self.editor.content().marks().is_empty() {
            return;
        }
        if let Some(command) = Said::parse(&text) {
            match command {
                Said::Unknown(_) | Said::Elsewhere(_) if self.has_listeners() => {
                    let content = self.take_written();
                    self.command_by_extensions(content);
                }
                Said::Unknown(name) => {
                    self.hint = Some(format!("There is no command /{name}; what is written stays"));
                }
                Said::Elsewhere(says) => {
                    self.take_written();
                    self.hint = Some(says.to_owned());
                }
                Said::Command { action, rest } => {
                    self.take_written();
                    action(self, &rest);
                }
            }
            return;
        }
        if let Some(command) = ShellCommand::parse(&text) {
            if self.shell.is_some() {
                self.hint = Some("A command runs already: Escape ends it".into());
                return;
            }
            self.take_written();
            self.run(command);
            return;
        }
        // What waits in a session that is left does not follow, and would be lost.
        if self.is_on_the_way() {
            self.hint =
                Some("On the way to another session: what is written stays until one is there".into());
            return;
        }
        let content = self.take_written();
        let is_plain = content.marks().is_empty() && !text.contains('@');
        if is_plain {
            return self.say_or_have_heard(Prompt::text(text), content, when);
        }
        // Pictures are read beside the screen.
        let (host, cwd) = (Arc::clone(&self.host), self.agent.cwd());
        let said_in = self.with_session(|session| session.get_session_id().to_owned());
        let read = move || {
            let (prompt, problems) = host.prompt(&content, &cwd);
            (prompt, problems, content)
        };
        self.aside(read, move |app, (prompt, problems, content)| {
            for problem in problems {
                app.say(Block::notice(&problem));
            }
            let is_here = app.with_session(|session| session.get_session_id() == said_in);
            if !is_here || app.is_on_the_way() {
                app.editor.set_text_if_empty(content);
                app.hint = Some("That was written for the session that was left: it is in the editor".into());
                return app.typed();
            }
            app.say_or_have_heard(prompt, content, when);
        });
    }

    /// Says something to the model, once the extensions have heard it if there are any.
    fn say_or_have_heard(&mut self, prompt: Prompt, content: Content, when: When) {
        if self.has_listeners() {
            return self.say_by_extensions(prompt, content, when);
        }
        let said = self.say_to_model(prompt, when);
        self.was_said(said, content);
    }

    /// What could not be said is in the editor again.
    pub(super) fn was_said(&mut self, said: Result<(), AgentError>, content: Content) {
        if let Err(error) = said {
            self.say_wrong(&error);
            self.editor.set_text_if_empty(content);
            self.typed();
        }
    }

    /// Takes what was written out of the editor; it is the newest of the earlier prompts then.
    fn take_written(&mut self) -> Content {
        let content = self.editor.take();
        if let Some(problem) = self.host.sent(&self.agent.cwd(), &content.text()) {
            self.hint = Some(problem);
        }
        self.typed_at = None;
        self.typed();
        content
    }

    /// Says something to the model.
    pub(super) fn say_to_model(&mut self, prompt: Prompt, when: When) -> Result<(), AgentError> {
        let _in_runtime = self.runtime.enter();
        if self.agent.model_choice()?.model.is_none() {
            self.agent.set_default_model(self.host.any_model());
        }
        match when {
            When::Soon => AgentSession::steer(&self.agent, prompt),
            When::Afterwards => AgentSession::follow_up(&self.agent, prompt),
        }
    }

    /// Runs a command of the user's.
    fn run(&mut self, command: ShellCommand) {
        if let Err(error) = self.agent.must_have_directory() {
            self.say_wrong(&error);
            return;
        }
        let abort = CancellationToken::new();
        self.shell = Some((abort.clone(), command.command.clone(), Instant::now()));
        let agent = self.agent.clone();
        let given_up = abort.clone();
        let heard = self.has_listeners().then(|| {
            let (text, is_hidden) = (command.command.clone(), command.exclude_from_context);
            self.extensions.all.user_bash(text, is_hidden, abort.clone())
        });
        let work = async move {
            let cwd = agent.cwd();
            let (id, overflow) = agent.with_session(|session| {
                let folder = session.get_session_file().map(outputs_folder);
                (session.get_session_id().to_owned(), folder)
            });
            let with = Surroundings {
                cwd: &cwd,
                overflow: overflow.as_deref(),
                abort,
                timeout: None,
                update: &|_| {},
            };
            let answered = match heard {
                Some(heard) => until(given_up, heard).await.flatten(),
                None => None,
            };
            let message = match answered {
                Some(answered) => shell::ran_elsewhere(&command, &answered, time::now()),
                None => shell::run(&command, &with, time::now).await,
            };
            let is_waiting = agent.running().is_some();
            agent.append_aside(&id, message).map(|()| is_waiting)
        };
        self.job(work, |app, stored| {
            app.shell = None;
            app.refresh_files();
            match stored {
                Ok(true) => {
                    app.hint = Some("The command is done; its output is stored when the turn ends".into())
                }
                Ok(false) => app.follow(),
                Err(error) => app.say_wrong(&error),
            }
        });
    }

    /// Takes back what waits to be said, in front of what is written. Answers whether there was anything.
    pub(super) fn take_back(&mut self) -> bool {
        let (steering, follow_up) = self.agent.clear_queue();
        let waiting: Vec<Prompt> = steering.into_iter().chain(follow_up).collect();
        let on_its_way = self.take_typed();
        if waiting.is_empty() && on_its_way.is_empty() {
            return false;
        }
        if waiting.iter().any(|prompt| !prompt.images.is_empty()) {
            self.hint =
                Some("Pictures that waited do not come back with the text: name them again with @".into());
        }
        let mut texts: Vec<String> =
            waiting.into_iter().map(|prompt| prompt.typed.unwrap_or(prompt.text)).collect();
        texts.extend(on_its_way.iter().map(Content::text));
        let written = self.editor.text();
        if !written.trim().is_empty() {
            texts.push(written);
        }
        self.editor.replace_text(&texts.join("\n\n"));
        true
    }

    /// Ends what runs. Answers whether anything did.
    pub(super) fn abort(&mut self) -> bool {
        if let Some(beside) = &self.beside {
            beside.abort.cancel();
            return true;
        }
        if let Some((abort, ..)) = &self.shell {
            abort.cancel();
            return true;
        }
        let runs = self.agent.running().is_some();
        if runs {
            self.agent.abort();
        }
        self.abort_extensions() || runs
    }

    /// Says in the conversation what the user asked to be told.
    pub(super) fn tell(&mut self, text: &str) {
        self.say(Block::told(text));
    }
}
