//! What was typed goes through the extensions before it is said: one after the other, in the order in which it was
//! typed.

use std::sync::Arc;
use std::time::Instant;

use ramal_agent::{Operation, Prompt};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::app::say::When;
use crate::app::slash::Said;
use crate::editor::Content;

/// Something that was typed and is on its way.
pub(in crate::app) struct Typed {
    number: u64,
    /// What stood in the editor.
    content: Content,
    what: What,
    when: When,
    /// The session in which it is to be said.
    session_id: String,
    pub(super) since: Instant,
}

/// What it is.
enum What {
    /// Something for the model, with what goes along.
    Said(Prompt),
    /// Perhaps a command of an extension's.
    Command,
}

impl App {
    /// Whether what is typed goes through the extensions.
    pub(in crate::app) fn has_listeners(&self) -> bool {
        !self.extensions.typed.is_empty() || self.extensions.all.are_there()
    }

    /// Has the extensions hear something before it is said to the model.
    pub(in crate::app) fn say_by_extensions(&mut self, prompt: Prompt, content: Content, when: When) {
        self.goes_on_its_way(What::Said(prompt), content, when);
    }

    /// Has the extensions do what may be a command of theirs.
    pub(in crate::app) fn command_by_extensions(&mut self, content: Content) {
        self.goes_on_its_way(What::Command, content, When::Soon);
    }

    fn goes_on_its_way(&mut self, what: What, content: Content, when: When) {
        let session_id = self.with_session(|session| session.get_session_id().to_owned());
        let state = &mut self.extensions;
        state.numbers += 1;
        let (number, since) = (state.numbers, Instant::now());
        state.typed.push_back(Typed { number, content, what, when, session_id, since });
        self.is_stale = true;
        if self.extensions.hearing.is_none() {
            self.hear_next();
        }
    }

    /// Has them hear what was typed first.
    fn hear_next(&mut self) {
        let Some(typed) = self.extensions.typed.front() else { return };
        let (abort, number) = (CancellationToken::new(), typed.number);
        let all = Arc::clone(&self.extensions.all);
        match &typed.what {
            What::Said(prompt) => {
                let streaming = self.agent.running().map(|_| match typed.when {
                    When::Soon => "steer",
                    When::Afterwards => "followUp",
                });
                let heard = all.input(prompt.clone(), streaming, abort.clone());
                self.job(until(abort.clone(), heard), move |app, heard| app.was_heard(number, heard));
            }
            What::Command => {
                let meant = all.command(typed.content.text().trim().to_owned());
                self.job(until(abort.clone(), meant), move |app, meant| app.was_looked_up(number, meant));
            }
        }
        self.extensions.hearing = Some(abort);
    }

    /// Takes out what was heard. None if it is not there any more: it was taken back.
    fn is_through(&mut self, number: u64) -> Option<Typed> {
        if self.extensions.typed.front().is_none_or(|typed| typed.number != number) {
            return None;
        }
        self.extensions.hearing = None;
        self.extensions.typed.pop_front()
    }

    /// What they made of a prompt; the inner none if one of them took care of it.
    fn was_heard(&mut self, number: u64, heard: Option<Option<Prompt>>) {
        let Some((heard, Typed { content, when, session_id, .. })) = heard.zip(self.is_through(number))
        else {
            return;
        };
        if let Some(prompt) = heard {
            let is_here = self.with_session(|session| session.get_session_id() == session_id);
            if is_here && !self.is_on_the_way() {
                let said = self.say_to_model(prompt, when);
                self.was_said(said, content);
            } else {
                self.comes_back(
                    content,
                    "That was written for the session that was left: it is in the editor",
                );
            }
        }
        self.hear_next();
    }

    /// The command of theirs that was meant, and what stands behind it.
    fn was_looked_up(&mut self, number: u64, meant: Option<Option<(String, String)>>) {
        let Some((meant, Typed { content, .. })) = meant.zip(self.is_through(number)) else { return };
        match meant {
            Some((name, rest)) => self.run_command(name, rest),
            None => match Said::parse(&content.text()) {
                Some(Said::Elsewhere(says)) => self.hint = Some(says.to_owned()),
                Some(Said::Unknown(name)) => {
                    let hint = format!("There is no command /{name}; what is written stays");
                    self.comes_back(content, &hint);
                }
                _ => self.comes_back(content, "There is no such command any more"),
            },
        }
        self.hear_next();
    }

    /// What could not be said is in the editor again.
    fn comes_back(&mut self, content: Content, why: &str) {
        self.editor.set_text_if_empty(content);
        self.hint = Some(why.to_owned());
        self.typed();
    }

    /// Ends what runs of theirs. What is on its way is in the editor again. Answers whether anything was ended.
    pub(in crate::app) fn abort_extensions(&mut self) -> bool {
        if !self.extensions.is_running() {
            return false;
        }
        for running in &self.extensions.running {
            running.abort.cancel();
        }
        let mut typed = self.take_typed();
        if let [only] = &*typed
            && self.editor.is_empty()
        {
            self.editor.set_text_if_empty(only.clone());
        } else if !typed.is_empty() {
            typed.extend((!self.editor.is_empty()).then(|| self.editor.content().clone()));
            let texts: Vec<String> = typed.iter().map(Content::text).collect();
            self.editor.replace_text(&texts.join("\n\n"));
        }
        self.typed();
        true
    }

    /// Takes back what is on its way: it is not said any more.
    pub(in crate::app) fn take_typed(&mut self) -> Vec<Content> {
        self.extensions.hearing.take().inspect(CancellationToken::cancel);
        self.extensions.typed.drain(..).map(|typed| typed.content).collect()
    }

    /// What is on its way, as it was typed.
    pub(in crate::app) fn on_its_way(&self) -> impl Iterator<Item = (When, String)> {
        self.extensions.typed.iter().map(|typed| (typed.when, typed.content.text()))
    }

    /// Whether one is between two sessions, so that nothing can be said.
    pub(in crate::app) fn is_on_the_way(&self) -> bool {
        self.agent.running() == Some(Operation::Replacement) && !self.is_handing_off
    }
}

/// What comes of something, unless it is ended before.
pub(in crate::app) async fn until<T>(abort: CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = abort.cancelled() => None,
        done = work => Some(done),
    }
}
