//! What the program says of itself.

use super::App;
use super::slash::COMMANDS;
use crate::keys::ActionId;
use crate::text::clean;
use crate::text::width::{pad, width};

impl App {
    /// `/help`: all commands, and which key shows the keys.
    pub(super) fn tell_commands(&mut self) {
        let rows = COMMANDS.iter().map(|command| {
            let names: Vec<String> = command.names.iter().map(|name| format!("/{name}")).collect();
            let names = names.join(", ");
            match command.argument {
                "" => (names, command.says.to_owned()),
                argument => (format!("{names} {argument}"), command.says.to_owned()),
            }
        });
        let theirs = self.extensions.commands().iter().map(|command| {
            let says = clean::name(&command.description);
            let about = if says.is_empty() { String::new() } else { format!("{says} · ") };
            let from = clean::name(&command.extension);
            (format!("/{}", clean::name(&command.name)), format!("{about}from {from}"))
        });
        let rows: Vec<_> = rows.chain(theirs).collect();
        let wide = rows.iter().map(|(names, _)| width(names)).max().unwrap_or(0);
        let mut lines: Vec<String> =
            rows.iter().map(|(names, says)| format!("{}  {says}", pad(names, wide))).collect();
        lines.push(String::new());
        lines.push("!COMMAND runs a command of your shell; with !! the model is not told of it".to_owned());
        lines.push("@FILE names a file, which Tab completes; a picture goes along".to_owned());
        if let Some(key) = self.look.keymap.hint(ActionId::Hotkeys) {
            lines.push(format!("{key} or /hotkeys shows all keys"));
        }
        if let Some(log) = self.extensions.all.log().filter(|_| self.extensions.all.are_there()) {
            lines.push(format!("What extensions log stands in {}", log.display()));
        }
        self.tell(&lines.join("\n"));
    }

    /// `/changelog`: the version, and where it stands what changed.
    pub(super) fn tell_version(&mut self) {
        let version = env!("CARGO_PKG_VERSION");
        self.tell(&format!(
            "This is ramal {version}; what has changed stands in CHANGELOG.md, beside its source"
        ));
    }
}
