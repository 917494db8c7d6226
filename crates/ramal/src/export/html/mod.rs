//! A session as one page that needs nothing else: all branches in it, the tree at the left, a path at the
//! right. Without JavaScript the active path is there.
//!
//! What a session says is text wherever it stands ([`escape`]); elements come of [`markdown`], which knows
//! the few there are. The page forbids every script and style but its own two, and every address but those
//! of pictures within it.

mod body;
mod escape;
mod forks;
mod markdown;

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::{
    CallOf, Calls, Detail, Entry, EntryFacts, EntryRef, Filter, Kind, Projection, Role, SessionManager,
    Shown, TreeOrder, time,
};

use self::escape::escape;
use self::forks::Forks;
use super::{NewFile, Options};
use crate::view::human;
use crate::view::says::{Says, compaction, says};

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("script.js");

/// What the page lets run and look: the hashes of the two texts above. A test has the right ones.
pub(super) const STYLE_HASH: &str = "sha256-Vag93zStnqUCJCuaB6eJE+DsNPmPU5ZzDuaRNOxGh80=";
pub(super) const SCRIPT_HASH: &str = "sha256-RheZx/dFpqAZsNczXcF9sySWPEpA+nuY9Z8nlBjK38M=";

/// Columns of an entry's text in its row of the tree.
const ROW: usize = 140;

/// The filters, in the order of their bits; the script knows the same.
const FILTERS: [Filter; 5] =
    [Filter::Default, Filter::NoTools, Filter::UserOnly, Filter::LabeledOnly, Filter::All];
const ACTIVE: u32 = 32;
const LEAF: u32 = 64;

/// Writes a session as a page, every entry in it. An entry is in memory at a time.
///
/// # Errors
/// If a file stands there that is not to be replaced, the session cannot be read, or the file not be
/// written. Then nothing is left behind.
pub(crate) fn html(session: &SessionManager, out: &Path, options: &Options) -> anyhow::Result<()> {
    let mut file = NewFile::begin(session, out, options)?;
    let mut facts = EntryFacts::new(session, Detail::Text);
    facts.read(session, u64::MAX)?;
    let order = TreeOrder::new(session);
    let shown = Shown { filter: Filter::All, ..Shown::default() };
    let projection = Projection::new(&order, &facts, &shown);
    let page =
        Page { session, options, facts: &facts, order: &order, rows: &projection, zone: human::local_zone() };
    file.write(page.head()?.as_bytes())?;
    let mut forks = Forks::default();
    let mut calls = Calls::default();
    for row in 0..projection.len() {
        let Some(handle) = projection.entry(session, row) else { continue };
        let original = handle.read()?;
        let call = page.call(calls.of_entry(session, handle, &original)?);
        let entry = match &options.secrets {
            None => original,
            Some(_) => options.entry(handle)?,
        };
        let heading = page.heading(row, handle, &entry, call.as_ref(), &mut forks)?;
        file.write(heading.as_bytes())?;
        if let Err(error) = body::write(file.out(), &entry, &options.text(session.get_cwd())) {
            return Err(file.failed(error));
        }
        file.write(b"</article>\n")?;
    }
    file.write(b"</main>\n</div>\n<script>")?;
    file.write(SCRIPT.as_bytes())?;
    file.write(b"</script>\n</body>\n</html>\n")?;
    file.finish()
}

/// What the parts of a page are made of.
struct Page<'s> {
    session: &'s SessionManager,
    options: &'s Options,
    facts: &'s EntryFacts,
    order: &'s TreeOrder,
    rows: &'s Projection,
    zone: TimeZone,
}

impl Page<'_> {
    /// All that stands before the first entry.
    fn head(&self) -> anyhow::Result<String> {
        let title = self.title()?;
        let title = escape(&self.options.text(&title));
        let header = self.session.get_header();
        let mut facts = Vec::new();
        let mut fact = |what: &str, text: Option<&str>| {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                facts.push(format!("<span>{what} {}</span>", escape(&self.options.text(text))));
            }
        };
        fact("session", Some(header.id()));
        fact("begun", header.timestamp());
        fact("in", Some(header.cwd()));
        fact("copied from", header.parent_session());
        let count = |number: usize, one: &str, more: &str| {
            format!("{} {}", human::count(number as u64), if number == 1 { one } else { more })
        };
        fact("", Some(&count(self.session.entry_count(), "entry", "entries")));
        fact("", Some(&count(self.session.branch_count(), "branch", "branches")));
        let damaged = usize::try_from(self.session.damaged_lines()).unwrap_or(usize::MAX);
        if damaged > 0 {
            fact("not in here:", Some(&count(damaged, "damaged line", "damaged lines")));
        }
        if self.options.secrets.is_some() {
            fact("", Some("secrets and pictures were left out"));
        }
        fact("written by ramal", Some(env!("CARGO_PKG_VERSION")));
        let nowhere = match self.session.get_leaf_entry() {
            Some(_) => "",
            None => "<p class=\"plain\">The position is before the first entry.</p>\n",
        };
        Ok(format!(
            "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{SCRIPT_HASH}'; style-src '{STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'\">
<meta name=\"referrer\" content=\"no-referrer\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"generator\" content=\"ramal {}\">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{title}</h1><p class=\"facts\">{}</p></header>
<div id=\"page\">
<section id=\"tree\" aria-label=\"Tree\" hidden>
<form id=\"controls\">
<select id=\"filter\" aria-label=\"What is shown\"><option value=\"default\" selected>default</option>\
<option value=\"no-tools\">no tools</option><option value=\"user\">user</option>\
<option value=\"labelled\">labelled</option><option value=\"all\">all</option></select>
<input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" autocomplete=\"off\">
<button id=\"open\" type=\"button\">Open all</button>
<span id=\"count\" role=\"status\"></span>
</form>
<div id=\"rows\" role=\"tree\" tabindex=\"0\" aria-label=\"Entries\"><div id=\"space\"></div></div>
</section>
<main>
<noscript><p class=\"plain\">This is the active path. Where it passes a fork, a link leads to the beginning of the \
other branches; with JavaScript the whole tree stands beside it.</p></noscript>
{nowhere}",
            env!("CARGO_PKG_VERSION"),
            facts.join(""),
        ))
    }

    /// The name of the session, or how it begins.
    fn title(&self) -> anyhow::Result<String> {
        if let Some(name) = self.session.get_session_name() {
            return Ok(name);
        }
        let is_user = |entry: &EntryRef<'_>| entry.kind() == Kind::Message && entry.role() == Role::User;
        let Some(first) = self.session.get_entries().find(is_user) else { return Ok("Session".into()) };
        let says = self.says(&self.options.entry(first)?, None);
        Ok(if says.text.is_empty() { "Session".into() } else { says.text })
    }

    fn says(&self, entry: &Entry, call: Option<&CallOf>) -> Says {
        says(entry, call, &self.options.text(self.session.get_cwd()), ROW)
    }

    /// A call as it may be given away.
    fn call(&self, call: Option<&CallOf>) -> Option<CallOf> {
        let call = call?;
        let Some(secrets) = &self.options.secrets else { return Some(call.clone()) };
        Some(CallOf {
            id: secrets.blank(&call.id).into_owned(),
            name: secrets.blank(&call.name).into_owned(),
            arguments: secrets.blank_json(&call.arguments).into_owned(),
        })
    }

    /// The beginning of an article: what the tree needs of the entry, and who it is from.
    fn heading(
        &self,
        row: usize,
        handle: EntryRef<'_>,
        entry: &Entry,
        call: Option<&CallOf>,
        forks: &mut Forks,
    ) -> anyhow::Result<String> {
        let is_active = self.order.is_active(handle.position());
        let is_leaf = self.session.get_leaf_entry() == Some(handle);
        let shown = FILTERS.iter().enumerate().filter(|(_, filter)| self.facts.is_shown(**filter, handle));
        let mut marks: u32 = shown.map(|(bit, _)| 1 << bit).sum();
        marks |= if is_active { ACTIVE } else { 0 } | if is_leaf { LEAF } else { 0 };
        let up = self.rows.parent(row).map_or(-1, |row| i64::try_from(row).unwrap_or(-1));
        let says = self.says(entry, call);
        let (kind, is_hidden) = (kind(entry), is_hidden(entry));
        let wrong = says.wrong.as_ref().map(|wrong| format!("✗ {wrong} ")).unwrap_or_default();
        let class = format!(
            "{kind}{}{}",
            if says.wrong.is_some() { " wrong" } else { "" },
            if is_hidden { " hidden-message" } else { "" }
        );
        let label = handle.label().map(|label| escape(&self.options.text(label)));
        let mut out = format!(
            "<article id=\"n{row}\" class=\"{class}\" data-up=\"{up}\" data-marks=\"{marks}\" data-kind=\"{class}\" data-who=\"{}\" data-says=\"{}\"{}{}>\n<header><h2>{}</h2>",
            escape(&says.who),
            escape(&format!("{wrong}{}", says.text)),
            label.as_ref().map(|label| format!(" data-label=\"{label}\"")).unwrap_or_default(),
            if is_active { "" } else { " hidden" },
            escape(&who(entry, &says)),
        );
        if is_hidden {
            out += "<span>(hidden: only the model is shown this)</span>";
        }
        if let Some(label) = label {
            out += &format!("<span class=\"label\">[{label}]</span>");
        }
        if let Some(branch) = forks.branch(self.session, handle) {
            let link = |to: Option<usize>, sign: &str, name: &str| {
                let row = to.and_then(|position| self.rows.row_of(position));
                row.map(|row| format!("<a href=\"#n{row}\" title=\"{name}\">{sign}</a>")).unwrap_or_default()
            };
            out += &format!(
                "<span class=\"fork\">{} branch {} of {} {}</span>",
                link(branch.before, "‹", "the branch before"),
                branch.place,
                branch.of,
                link(branch.after, "›", "the branch behind")
            );
        }
        if let Some(at) = handle.time() {
            out += &format!("<time datetime=\"{}\">{}</time>", time::format(at), local(at, &self.zone));
        }
        out += &model(entry);
        let id = handle.id()?;
        out += &format!("<a class=\"id\" href=\"#n{row}\">{}</a>", escape(&self.options.text(&id)));
        if handle.irregular().is_some() {
            out += "<span>(begins anew: what it hangs on is not in the log)</span>";
        }
        if is_leaf {
            out += "<strong>◀ leaf</strong>";
        }
        out += "</header>\n";
        Ok(out)
    }
}

/// What an entry looks like.
fn kind(entry: &Entry) -> &'static str {
    match (entry.kind(), entry.role()) {
        (Kind::Message, Role::User) => "user",
        (Kind::Message, Role::Assistant) => "assistant",
        (Kind::Message, Role::ToolResult | Role::BashExecution | Role::PythonExecution) => "tool",
        (Kind::Message, Role::BranchSummary | Role::CompactionSummary)
        | (Kind::BranchSummary | Kind::Compaction | Kind::ResetBoundary, _) => "summary",
        (Kind::Message | Kind::CustomMessage, _) => "other",
        _ => "record",
    }
}

/// Whether an entry is a message that was put in without anybody being shown it.
fn is_hidden(entry: &Entry) -> bool {
    let message = entry.message().and_then(|message| message.get("display"));
    let display = if entry.kind() == Kind::CustomMessage { entry.get("display") } else { message };
    display == Some("false")
}

/// Who an entry is from, for its heading.
fn who<'e>(entry: &Entry, says: &'e Says) -> Cow<'e, str> {
    match entry.kind() {
        Kind::Compaction => Cow::Owned(compaction(entry)),
        Kind::ResetBoundary => "reset: the model sees nothing above".into(),
        _ => says.who.as_str().into(),
    }
}

/// A time as the clock of this machine shows it.
fn local(at: i64, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(at).map(|at| zone.to_datetime(at));
    at.map(|at| at.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}

/// Which model answered, and what it cost.
fn model(entry: &Entry) -> String {
    let Some(message) = entry.message().filter(|_| entry.role() == Role::Assistant) else {
        return String::new();
    };
    let mut out = String::new();
    if let Some(model) = message.get_str("model").filter(|model| !model.is_empty()) {
        out += &format!("<span>{}</span>", escape(&model));
    }
    if let Some(usage) = message.usage().filter(|usage| usage.cost > 0.0) {
        out += &format!("<span>{}</span>", escape(&human::cost(usage.cost)));
    }
    out
}
