//! Commands and keys of extensions, run beside the screen; and what can stand behind their commands.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::{Running, Unrun};
use crate::app::App;
use crate::completing::Arguments;
use crate::keys::Key;
use crate::text::clean;
use crate::transcript::Block;

impl App {
    /// Runs a command of an extension's.
    pub(super) fn run_command(&mut self, name: String, rest: String) {
        let all = Arc::clone(&self.extensions.all);
        let what = format!("/{}", clean::one_line(&format!("{name} {rest}"), 200));
        self.run_theirs(what.trim_end(), |abort| all.run_command(name, rest, abort));
    }

    /// Runs what a key of an extension's stands for. Answers whether there is such a key.
    pub(in crate::app) fn run_key_of_extension(&mut self, key: Key) -> bool {
        let found = self.extensions.keys.iter().find(|(other, _)| *other == key);
        let Some(name) = found.map(|(_, theirs)| theirs.key.clone()) else { return false };
        let all = Arc::clone(&self.extensions.all);
        self.run_theirs(&key.to_string(), |abort| all.run_key(name, abort));
        true
    }

    fn run_theirs(
        &mut self,
        what: &str,
        run: impl FnOnce(CancellationToken) -> super::Eventually<Result<(), Unrun>>,
    ) {
        let abort = CancellationToken::new();
        self.extensions.numbers += 1;
        let number = self.extensions.numbers;
        let work = run(abort.clone());
        self.extensions.running.push(Running { number, what: what.to_owned(), since: Instant::now(), abort });
        self.job(work, move |app, ran| app.has_run(number, ran));
    }

    fn has_run(&mut self, number: u64, ran: Result<(), Unrun>) {
        let running = &mut self.extensions.running;
        let Some(at) = running.iter().position(|running| running.number == number) else { return };
        let what = running.remove(at).what;
        match ran {
            Ok(()) => {}
            Err(Unrun::Unknown) => self.hint = Some(format!("No extension has {what} any more")),
            Err(Unrun::Aborted) => self.hint = Some(format!("{what} was ended")),
            Err(Unrun::Failed(why)) => {
                let log = self.extensions.all.log();
                let log = log.map(|log| format!(" (the extensions' log: {})", log.display()));
                self.say(Block::wrong(&format!("{why}{}", log.unwrap_or_default())));
            }
        }
        // It may have appended something, or moved.
        self.look_after_extensions();
    }

    /// Asks what can stand behind a command, if one is being written that says so.
    pub(in crate::app) fn complete_arguments(&mut self) {
        if self.extensions.commands.is_empty() {
            return;
        }
        let Some((name, typed)) = self.command_being_written() else {
            (self.extensions.completed, self.sources.arguments) = (None, None);
            return;
        };
        let wanted = Some((name.clone(), typed.clone()));
        if self.extensions.completed == wanted {
            return;
        }
        self.extensions.completed = wanted;
        let found = self.extensions.all.complete(name.clone(), typed.clone());
        self.job(found, move |app, found| {
            // Something else may be written by now.
            if app.extensions.completed.as_ref() == Some(&(name.clone(), typed.clone())) {
                app.sources.arguments = Some(Arc::new(Arguments { command: name, typed, found }));
                app.completer.has_more(&app.editor, &app.sources);
            }
        });
    }

    /// A command of theirs that completes what stands behind it, and what does so far.
    fn command_being_written(&self) -> Option<(String, String)> {
        let (name, typed) = self.editor.command()?;
        let is_theirs = |name: &str| {
            self.extensions.commands.iter().any(|command| command.name == name && command.completes)
        };
        is_theirs(name).then(|| (name.to_owned(), typed.to_owned()))
    }
}
