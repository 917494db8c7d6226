//! Commands that ask more of a session than to move in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ramal_agent::{AgentError, ContextBreakdown, ContextKind, HandedOff, Moved, SideAnswer};
use tokio_util::sync::CancellationToken;

use super::{App, Effect, Message};
use crate::text::{clean, human};
use crate::transcript::Block;

/// Something that is asked beside the conversation.
pub(super) struct Beside {
    /// What it is, in a few words.
    pub(super) what: String,
    pub(super) since: Instant,
    /// What was answered so far.
    pub(super) text: String,
    pub(super) abort: CancellationToken,
}

impl App {
    /// `/retry`: repeats the last turn if it failed.
    pub(super) fn retry(&mut self) {
        let _in_runtime = self.runtime.enter();
        if let Err(error) = self.agent.retry() {
            self.hint = Some(error.to_string());
        }
    }

    /// `/btw`: asks something that is not kept.
    pub(super) fn ask_beside(&mut self, question: &str) {
        if question.is_empty() {
            self.hint =
                Some("/btw QUESTION asks something beside the conversation, of which nothing is kept".into());
            return;
        }
        if !self.begin_beside(&format!("btw: {question}")) {
            return;
        }
        let Some(Beside { abort, .. }) = &self.beside else { return };
        let (agent, question, abort) = (self.agent.clone(), question.to_owned(), abort.clone());
        let messages = self.messages.clone();
        let title = format!("btw: {question}");
        let work = async move {
            let told = |piece: &str| {
                let piece = piece.to_owned();
                let _ = messages.send(Message::Done(Box::new(move |app| app.hears_beside(&piece))));
            };
            agent.ask_aside(&question, abort, told).await
        };
        self.job(work, move |app, answered| {
            app.beside = None;
            match answered {
                Ok(SideAnswer { text, is_cut, .. }) => {
                    let cut = if is_cut {
                        "\n\n(cut off: the answer is as long as the model can answer)"
                    } else {
                        ""
                    };
                    app.say(Block::beside(&title, &format!("{text}{cut}")));
                }
                Err(AgentError::Aborted { .. }) => app.hint = Some("Aborted: nothing of it is kept".into()),
                Err(error) => app.say_wrong(&error),
            }
        });
    }

    /// Something is asked beside the conversation from now on, unless something is already.
    fn begin_beside(&mut self, what: &str) -> bool {
        if self.beside.is_some() {
            self.hint = Some("Something is asked beside the conversation already: Escape ends it".into());
            return false;
        }
        self.beside = Some(Beside {
            what: what.to_owned(),
            since: Instant::now(),
            text: String::new(),
            abort: CancellationToken::new(),
        });
        true
    }

    fn hears_beside(&mut self, piece: &str) {
        if let Some(beside) = &mut self.beside {
            beside.text.push_str(piece);
        }
    }

    /// `/handoff`: a brief of the conversation, with which a new session begins.
    pub(super) fn handoff(&mut self, instructions: &str) {
        let agent = self.agent.clone();
        let instructions = Some(instructions.to_owned()).filter(|text| !text.is_empty());
        self.begin_to_leave(true);
        self.is_handing_off = true;
        self.job_away(async move { agent.handoff(instructions.as_deref()).await }, |app, handed| {
            app.is_handing_off = false;
            match handed {
                Ok(Some(HandedOff { previous_session_file, .. })) => {
                    let left = previous_session_file.unwrap_or_else(|| "memory".to_owned());
                    app.say(Block::notice(&format!(
                        "The session that was left is in {left}; /resume goes back to it"
                    )));
                }
                Ok(None) => app.hint = Some("Aborted: one is where one was".into()),
                Err(error) => app.say_wrong(&error),
            }
        });
    }

    /// `/clear`: the context begins anew.
    pub(super) fn clear_context(&mut self) {
        let agent = self.agent.clone();
        self.job(async move { agent.reset_context().await }, |app, cleared| match cleared {
            Ok(Some(_)) => {
                app.follow();
                app.look_at_session();
                let host = Arc::clone(&app.host);
                app.with_session(|session| host.remember(session));
            }
            Ok(None) => app.hint = Some("The context is empty already".into()),
            Err(error) => app.say_wrong(&error),
        });
    }

    /// `/context`: what fills the context.
    pub(super) fn tell_context(&mut self) {
        let agent = self.agent.clone();
        self.aside(
            move || agent.context_breakdown(),
            |app, parts| match parts {
                Ok(parts) => app.tell(&context_text(&parts)),
                Err(error) => app.say_wrong(&error),
            },
        );
    }

    /// `/rename` without a name: the model proposes one.
    pub(super) fn rename(&mut self, name: &str) {
        if !name.is_empty() {
            return self.name_session(name);
        }
        if !self.begin_beside("Looking for a name") {
            return;
        }
        let Some(Beside { abort, .. }) = &self.beside else { return };
        let (agent, abort) = (self.agent.clone(), abort.clone());
        let id = self.with_session(|session| session.get_session_id().to_owned());
        self.job(async move { agent.propose_title(abort).await }, move |app, proposed| {
            app.beside = None;
            let is_here = app.with_session(|session| session.get_session_id() == id);
            match proposed {
                Ok(_) if !is_here => app.hint = Some("The session was left: it keeps its name".into()),
                Ok(title) => app.name_session(&title),
                Err(AgentError::Aborted { .. }) => app.hint = Some("Aborted: the name is what it was".into()),
                Err(error) => app.say_wrong(&error),
            }
        });
    }

    /// `/move`: goes on in another directory.
    pub(super) fn move_session(&mut self, dir: &str) {
        if dir.is_empty() {
            self.hint = Some("/move DIRECTORY goes on with this session in another directory".into());
            return;
        }
        let dir = match (dir.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(dir),
        };
        let (agent, session_dir) = (self.agent.clone(), self.host.session_dir());
        self.begin_to_leave(true);
        self.job_away(async move { agent.move_to(&dir, session_dir.as_deref()).await }, |app, moved| {
            match moved {
                Ok(Some(Moved { cwd, left_file, .. })) => {
                    let left =
                        left_file.map(|file| format!("; the file of before stays at {}", file.display()));
                    let text =
                        format!("This session works in {} now{}", cwd.display(), left.unwrap_or_default());
                    app.say(Block::notice(&text));
                    app.watch_files();
                }
                Ok(None) => app.hint = Some("Aborted: one is where one was".into()),
                Err(error) => app.say_wrong(&error),
            }
        });
    }

    /// `/export`: a page, or the path in the format of the log.
    pub(super) fn export(&mut self, path: &str) {
        let path = Some(path).filter(|path| !path.is_empty()).map(|path| self.agent.cwd().join(path));
        let (agent, host) = (self.agent.clone(), Arc::clone(&self.host));
        let file = self.session_file();
        self.write(
            move || host.export(&agent, file.as_deref(), path.as_deref()),
            |app, written| match written {
                Ok(path) => app.say(Block::notice(&format!("Written to {}", path.display()))),
                Err(why) => app.say(Block::wrong(&why)),
            },
        );
    }

    fn session_file(&self) -> Option<PathBuf> {
        self.with_session(|session| {
            session.get_session_file().filter(|_| session.is_on_disk()).map(Path::to_owned)
        })
    }

    /// `/import`: a copy of a file of the log's format, gone on with.
    pub(super) fn import(&mut self, path: &str) {
        if path.is_empty() {
            self.hint = Some("/import FILE.jsonl opens a copy of a session that lies elsewhere".into());
            return;
        }
        let path = self.agent.cwd().join(path);
        let (host, cwd) = (Arc::clone(&self.host), self.agent.cwd());
        self.aside(
            move || host.import(&path, &cwd),
            |app, imported| match imported {
                Ok(path) => app.open_session(&path),
                Err(why) => app.say(Block::wrong(&why)),
            },
        );
    }

    /// `/dump`: the whole path as text, to the clipboard.
    pub(super) fn dump(&mut self) {
        let (agent, host) = (self.agent.clone(), Arc::clone(&self.host));
        self.aside(
            move || agent.with_session(|session| host.dump(session)),
            |app, text| match text {
                Ok(text) => {
                    app.effects.push(Effect::Copy(text));
                    app.notice("Copied");
                }
                Err(why) => app.notice(&why),
            },
        );
    }

    /// `/reload`: reads keys, settings, theme and files of the project anew.
    pub(super) fn reload(&mut self) {
        let cwd = self.agent.cwd();
        let (keymap, problem) = self.host.keymap();
        self.look.keymap = keymap;
        self.wishes = self.host.wishes(&cwd);
        self.hides_thinking = self.wishes.hides_thinking;
        self.choose_theme();
        self.watch_files();
        self.host.renew(&self.agent);
        let has_problem = problem.is_some();
        self.hint =
            Some(problem.unwrap_or_else(|| "Keys, settings, theme and context files were read again".into()));
        self.job(self.extensions.all.reload(), move |app, ()| {
            app.has_extensions();
            if app.extensions.all.are_there() && !has_problem {
                app.hint = Some("Extensions were loaded again".into());
            }
        });
    }
}

/// What fills the context, as a table.
fn context_text(parts: &ContextBreakdown) -> String {
    let mut lines = Vec::new();
    for part in &parts.parts {
        let name = part.name.as_deref().map(|name| format!(" {}", clean::one_line(name, 60)));
        let what = format!("{}{}", kind_name(part.kind), name.unwrap_or_default());
        let count = match part.count {
            0 | 1 => String::new(),
            count => format!(" ({})", human::count(count as u64)),
        };
        lines.push((format!("{what}{count}"), part.tokens));
    }
    let wide = lines.iter().map(|(what, _)| crate::text::width::width(what)).max().unwrap_or(0);
    let all = parts.estimated.max(1);
    let mut text: Vec<String> = lines
        .into_iter()
        .map(|(what, tokens)| {
            let share = (tokens * 30 / all) as usize;
            let bar = "▇".repeat(share.max(usize::from(tokens > 0)));
            format!("{} {:>9}  {bar}", crate::text::width::pad(&what, wide), human::count(tokens))
        })
        .collect();
    let counted = if parts.tokens.is_measured { "counted by the provider" } else { "estimated" };
    text.push(String::new());
    text.push(format!("In all {} tokens, {counted}", human::count(parts.tokens.tokens)));
    if let (Some(window), Some(free)) = (parts.window, parts.free()) {
        text.push(format!("Of {} that fit, {} are free", human::count(window), human::count(free)));
    }
    if let Some(beyond) = parts.compacts_beyond {
        text.push(format!("Beyond {} the conversation is made shorter by itself", human::count(beyond)));
    }
    text.join("\n")
}

fn kind_name(kind: ContextKind) -> &'static str {
    match kind {
        ContextKind::SystemPrompt => "System prompt",
        ContextKind::ContextFile => "Context file",
        ContextKind::Tools => "Tools",
        ContextKind::Summary => "Summaries",
        ContextKind::User => "What you said",
        ContextKind::File => "Files that were mentioned",
        ContextKind::Command => "Your commands",
        ContextKind::Custom => "Messages of",
        ContextKind::Assistant => "Answers",
        ContextKind::Thinking => "Thinking",
        ContextKind::ToolCall => "Calls of tools",
        ContextKind::ToolResult => "Results of",
        ContextKind::Image => "Images",
        _ => "Other",
    }
}
