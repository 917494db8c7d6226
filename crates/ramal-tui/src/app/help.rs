//! What the program says of itself.

use super::App;
use super::slash::COMMANDS;
use crate::keys::ActionId;
use crate::text::width::{pad, width};

impl App {
    /// `/help`: all commands, and which key shows the keys.
    pub(super) fn tell_commands(&mut self) {
        let rows = COMMANDS.iter().map(|command| {
            let names: Vec<String> = command.names.iter().map(|name| format!("/{name}")).collect();
            let names = names.join(", ");
            match command.argument {
                "" => (names, command.says),
                argument => (format!("{names} {argument}"), command.says),
            }
        });
        let rows: Vec<_> = rows.collect();
        let wide = rows.iter().map(|(names, _)| width(names)).max().unwrap_or(0);
        let mut lines: Vec<String> =
            rows.iter().map(|(names, says)| format!("{}  {says}", pad(names, wide))).collect();
        lines.push(String::new());
        lines.push("!COMMAND runs a command of your shell; with !! the model is not told of it".to_owned());
        lines.push("@FILE names a file, which Tab completes; a picture goes along".to_owned());
        if let Some(key) = self.look.keymap.hint(ActionId::Hotkeys) {
            lines.push(format!("{key} or /hotkeys shows all keys"));
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
