//! Setting a setting: it is written into the user's own `settings.toml`, with all else there left as it is.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::edit::{self, CannotEdit};
use super::read::{self, Setting, Value};
use super::replace::Replaced;
use super::rows::{PERMISSION, short};
use super::table::{self, Kind};
use super::{Files, Origin, Said, Settings, Taken, not_done, pi_model, unknown};
use crate::failure::Failure;

/// Held from reading the file to replacing it, so that two changes at once do not undo each other.
static WRITING: Mutex<()> = Mutex::new(());

/// Gives a setting a value in the user's own file, and answers what is to be told of it. `value` is as
/// [`rows`](super::rows()) has it: a text without quotes, a list as in TOML or with commas.
///
/// The default is written like any other value, so that comments keep their line. An empty value takes the
/// setting out of the file. Where only pi's file is there, what ramal knows of it goes along.
///
/// Waits for the disk.
///
/// # Errors
/// If there is no such setting, it cannot have this value, or the file cannot be read as TOML or written.
/// The file is then as it was.
pub(crate) fn set(cwd: &Path, key: &str, value: &str) -> Result<String, Failure> {
    set_in(&Files::of(cwd), key, value)
}

pub(super) fn set_in(files: &Files, key: &str, value: &str) -> Result<String, Failure> {
    let asked = Asked::read(key, value).map_err(Failure::new)?;
    let Some(path) = &files.user.0 else {
        let why = "there is no folder for settings; set HOME or XDG_CONFIG_HOME";
        return Err(Failure::new(format!("`{key}` was not set: {why}")));
    };
    let failed = |why: String| Failure::new(format!("`{key}` was not set: {why}"));
    let about = |path: &Path, why: CannotEdit| match why.line {
        Some(line) => failed(format!("{}, line {line}: {}; mend that first", short(path), why.message)),
        None => failed(format!("{}: {}; mend that first", short(path), why.message)),
    };
    let one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Replaced::read(path).map_err(|error| failed(format!("{}: {error}", short(path))))?;
    let (before, pi) = match (file.bytes(), &files.user.1) {
        (Some(bytes), _) => (text_of(bytes).map_err(|why| about(path, why))?, None),
        (None, Some(pi)) => match taken_over(pi).map_err(|why| about(pi, why))? {
            Some(text) => (text, Some(pi)),
            None => (String::new(), None),
        },
        (None, None) => (String::new(), None),
    };
    let after = edit::set(&before, &asked.names(), asked.value.as_ref()).map_err(|why| about(path, why))?;
    if !asked.is_all_that_changes(&before, &after, path) {
        let why = "it cannot be changed there without changing something else; change it by hand";
        return Err(failed(format!("{}: {why}", short(path))));
    }
    let is_changed = pi.is_some() || before != after;
    if is_changed {
        file.replace(after.as_bytes()).map_err(|error| failed(format!("{}: {error}", short(path))))?;
    }
    drop(one_at_a_time);
    let mut told = asked.told(path, is_changed);
    if let Some(pi) = pi {
        let pi = short(pi);
        told += &format!(
            "; the settings of {pi} that ramal knows stand there too, and {pi} is not read any more"
        );
    }
    told += &asked.what_holds(&files.read());
    Ok(told)
}

/// A setting that is to be set.
struct Asked {
    key: String,
    also: &'static [&'static str],
    kind: Kind,
    /// As it was asked for.
    text: String,
    /// None: it is to be taken out.
    value: Option<Value>,
    /// The settings if there were no other.
    alone: Settings,
}

impl Asked {
    fn read(key: &str, text: &str) -> Result<Asked, String> {
        let (key, also, kind) = match table::find(key) {
            Some(known) => (known.key, known.also, known.kind),
            None if key.starts_with(table::PERMISSIONS) => (key, &[][..], PERMISSION),
            None if not_done::take(key, &Value::Other).is_some() => {
                return Err(format!("`{key}` is for something that ramal does not do"));
            }
            None => return Err(unknown(key)),
        };
        let (key, text) = (key.to_owned(), text.trim().to_owned());
        let value = (!text.is_empty()).then(|| value_of(kind, &text));
        let mut alone = Settings::default();
        // Whether a permission is one of a tool can only be seen with a value.
        let tried = value.clone().unwrap_or_else(|| Value::Text("ask".to_owned()));
        if value.is_some() || key.starts_with(table::PERMISSIONS) {
            let setting = Setting { key: key.clone(), value: tried, line: 0 };
            match alone.take(&setting, Path::new(""), Origin::User) {
                Ok(Taken::Yes | Taken::PassedOver) => {}
                Ok(Taken::Unknown) => return Err(unknown(&key)),
                Err(why) => {
                    // What the reader does then is not what happens here.
                    let why = READERS_WAYS.iter().find_map(|way| why.strip_suffix(way)).unwrap_or(&why);
                    return Err(format!("`{key}` {why}"));
                }
            }
        }
        Ok(Asked { key, also, kind, text, value, alone })
    }

    /// All names that it can have in a file.
    fn names(&self) -> Vec<&str> {
        std::iter::once(&*self.key).chain(self.also.iter().copied()).collect()
    }

    /// Whether two texts say the same but for this setting, and the second what was asked for.
    fn is_all_that_changes(&self, before: &str, after: &str, path: &Path) -> bool {
        let mut problems = Vec::new();
        let mut of = |text: &str| {
            let all = read::toml(text, path, &mut problems);
            let (ours, mut others): (Vec<_>, Vec<_>) = all
                .into_iter()
                .map(|setting| (setting.key, setting.value))
                .partition(|(key, _)| self.names().contains(&&**key));
            others.sort_by(|one, other| one.0.cmp(&other.0));
            (ours, others)
        };
        let ((_, before), (ours, after)) = (of(before), of(after));
        let is_said = match &self.value {
            Some(value) => !ours.is_empty() && ours.iter().all(|(_, said)| said == value),
            None => ours.is_empty(),
        };
        is_said && before == after && problems.is_empty()
    }

    fn told(&self, path: &Path, is_changed: bool) -> String {
        let (key, text, path) = (&self.key, &self.text, short(path));
        match (&self.value, is_changed) {
            (Some(_), true) => format!("`{key}` is {text} now, in {path}"),
            (Some(_), false) => format!("`{key}` is {text} already, in {path}"),
            (None, true) => format!("`{key}` is not set any more in {path}"),
            (None, false) => format!("`{key}` is not set in {path}"),
        }
    }

    /// What is in force, if that is something else.
    fn what_holds(&self, said: &Said) -> String {
        let of = |settings: &Settings| match self.key.strip_prefix(table::PERMISSIONS) {
            Some(tool) => table::permission(settings, tool),
            None => table::find(&self.key).map(|known| (known.value)(settings)).unwrap_or_default(),
        };
        if let Some(place) = said.places.get(&self.key).filter(|place| place.origin.is_project()) {
            let now = of(&said.settings);
            return format!(
                "; {}, line {}, goes before it: here it is {now}",
                short(&place.path),
                place.line
            );
        }
        let compaction = &said.settings.compaction;
        match &*self.key {
            "compaction.enabled" if compaction.enabled && said.settings.strategy_is_off => {
                return "; `compaction.strategy` is off, which goes before it".to_owned();
            }
            "compaction.strategy" if !compaction.enabled && !said.settings.strategy_is_off => {
                return "; `compaction.enabled` is false, which goes before it".to_owned();
            }
            _ => {}
        }
        let taken = of(&self.alone);
        // A list has more than one spelling.
        match self.value.is_none() || matches!(self.kind, Kind::List) || taken == self.text {
            true => String::new(),
            false => format!("; that is {taken}"),
        }
    }
}

/// What the reader does with a setting that is wrong, at the end of what it says.
const READERS_WAYS: &[&str] = &["; the default is in force", "; it is passed over"];

fn value_of(kind: Kind, text: &str) -> Value {
    let as_text = || Value::Text(text.to_owned());
    match kind {
        Kind::Flag => text.parse().map_or_else(|_| as_text(), Value::Bool),
        Kind::Number => text.parse().map_or_else(|_| as_text(), Value::Integer),
        Kind::Text | Kind::Choice(_) => as_text(),
        Kind::List if text.starts_with('[') => {
            let mut problems = Vec::new();
            let mut list = read::toml(&format!("list = {text}\n"), Path::new(""), &mut problems);
            match (list.pop(), list.is_empty() && problems.is_empty()) {
                (Some(Setting { value, .. }), true) => value,
                _ => Value::Other,
            }
        }
        Kind::List => {
            let names = text.split(|letter: char| letter == ',' || letter.is_whitespace());
            Value::Texts(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
        }
    }
}

/// The text of a file, all of it.
fn text_of(bytes: &[u8]) -> Result<String, CannotEdit> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(CannotEdit { line: Some(line), message: "it is not UTF-8".to_owned() })
        }
    }
}

/// What ramal knows of pi's file, as a file of ours; none if there is nothing.
fn taken_over(pi: &Path) -> Result<Option<String>, CannotEdit> {
    let text = read::text(pi).map_err(|error| CannotEdit { line: None, message: error.to_string() })?;
    let Some(text) = text else { return Ok(None) };
    let mut problems = Vec::new();
    let settings = pi_model(read::json(&text, pi, &mut problems));
    // In force there is nothing of it; but its owner believes otherwise.
    if let Some(problem) = problems.into_iter().next() {
        return Err(CannotEdit { line: problem.line, message: problem.message });
    }
    let (mut ours, mut alone) = (String::new(), Settings::default());
    for setting in settings {
        if alone.take(&setting, pi, Origin::PiUser) == Ok(Taken::Yes) {
            ours = edit::set(&ours, &[table::name(&setting.key)], Some(&setting.value))?;
        }
    }
    let from = short(pi).replace(char::is_control, "?");
    Ok((!ours.is_empty()).then(|| format!("# From {from}, which is not read any more.\n\n{ours}")))
}

#[cfg(test)]
mod tests;
