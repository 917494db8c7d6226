//! What came of the examples, as a page of Markdown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::table::{Example, Kind};

/// What came of loading one.
pub(crate) enum Loaded {
    /// It is there; this was logged meanwhile.
    Yes(Vec<String>),
    /// It is not, and why.
    No(String),
}

/// An example.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) known: Option<&'static Example>,
    pub(crate) loaded: Loaded,
    /// What came of its scenario, if there is one and it was loaded.
    pub(crate) tried: Option<Result<(), String>>,
    /// What was logged while it was tried.
    pub(crate) log: Vec<String>,
}

impl Row {
    /// What is not as it is expected to be.
    pub(crate) fn wrong(&self) -> Option<String> {
        let is_refused = self.known.is_some_and(|known| known.kind == Kind::Refused);
        let why = match (&self.loaded, &self.tried) {
            (Loaded::No(why), _) if !is_refused => why.clone(),
            (Loaded::Yes(_), _) if is_refused => "it loads, and the table says it is refused".to_owned(),
            (_, Some(Err(why))) => why.clone(),
            _ if self.known.is_none() => "the table does not know it".to_owned(),
            _ => return None,
        };
        Some(format!("{}: {why}", self.name))
    }

    fn verdict(&self) -> &'static str {
        match (&self.loaded, &self.tried, self.known.map(|known| known.kind)) {
            (Loaded::No(_), ..) => "refused",
            (_, Some(Err(_)), _) => "loads, fails",
            (_, Some(Ok(())), Some(Kind::Whole)) => "works",
            (_, Some(Ok(())), _) => "works in part",
            _ => "loads",
        }
    }

    /// What it does not do, from what the program says and from the table.
    fn missing(&self, package: &Path) -> String {
        let mut all = Vec::new();
        match &self.loaded {
            Loaded::No(why) => all.push(first_sentence(why, package)),
            Loaded::Yes(log) => {
                for line in log.iter().chain(&self.log) {
                    if let Some(what) = not_here(line)
                        && !all.contains(&what)
                    {
                        all.push(what);
                    }
                }
            }
        }
        all.extend(
            self.known.filter(|known| !known.missing.is_empty()).map(|known| known.missing.to_owned()),
        );
        if let Some(Err(why)) = &self.tried {
            all.push(format!("failed: {}", why.lines().next().unwrap_or_default()));
        }
        all.join("; ")
    }
}

/// What a line of the log says that does nothing.
fn not_here(line: &str) -> Option<String> {
    let (at, _) = line
        .match_indices(" does nothing here")
        .next()
        .or_else(|| line.match_indices(" is not there;").next())?;
    let begin = line[..at].rfind(": ").map_or(0, |colon| colon + 2);
    let what = &line[begin..at];
    Some(match what.strip_prefix("the event ") {
        Some(event) => format!("the event `{event}`"),
        None => format!("`{}`", what.trim()),
    })
}

/// Why it was not loaded, without the list of all that there is, and with paths as they are in the package.
fn first_sentence(why: &str, package: &Path) -> String {
    let why = why.split("; it has ").next().unwrap_or(why).lines().next().unwrap_or_default();
    let why = why.trim_start_matches("Error: ");
    why.replace(&format!("{}/examples/extensions/", package.display()), "")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The page.
pub(crate) fn page(package: &Path, date: &str, rows: &[Row]) -> String {
    let about: Value =
        serde_json::from_str(&fs::read_to_string(package.join("package.json")).unwrap()).unwrap();
    let (name, version) = (about["name"].as_str().unwrap(), about["version"].as_str().unwrap());
    let count = |verdict: &str| rows.iter().filter(|row| row.verdict() == verdict).count();
    let mut out = format!(
        "# pi's examples in ramal\n\n\
         What becomes of the extensions that the package `{name}` {version}\n\
         brings as examples, as of {date}. Made by `scripts/pi-examples.sh`, which installs the package into a folder of its\n\
         own, loads each example as it is, and plays a scenario with it: the real program over [RPC](rpc.md) or in a terminal,\n\
         with `--yes`, recorded answers in place of a model, and its dialogs answered. What is said to work was seen from\n\
         outside: in the log, in what the model was sent, in files, in git. How to write extensions for ramal is in\n\
         [extensions](extensions.md).\n\n\
         Of {} examples {} work, {} work in part, {} load and were not tried any further, {} are refused.\n\n",
        rows.len(),
        count("works"),
        count("works in part"),
        count("loads"),
        count("refused"),
    );
    if count("loads, fails") > 0 {
        let _ = writeln!(out, "{} load and then do not what they should.\n", count("loads, fails"));
    }
    out += "What needs drawing of its own — components, overlays, editors, widgets that are functions — is refused or passed\n\
            over: ramal shows texts of extensions, and nothing that they draw.\n\n\
            | example | | what works | what is not there |\n| --- | --- | --- | --- |\n";
    for row in rows {
        let works = match (&row.loaded, &row.tried, row.known) {
            (Loaded::Yes(_), Some(Ok(())), Some(known)) => known.works,
            _ => "",
        };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            row.name,
            row.verdict(),
            cell(works),
            cell(&row.missing(package))
        );
    }
    out
}
