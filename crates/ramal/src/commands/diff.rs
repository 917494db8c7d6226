//! `ramal diff`: two branches side by side.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;

use ramal_session::{Calls, Entry, EntryId, EntryRef, Kind, Role as Who, SessionManager, ToolCall, time};
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use super::Json;
use super::notices::several;
use crate::cli::Globals;
use crate::failure::Status;
use crate::output::json_line;
use crate::resolve;
use crate::view::says::{preview, says, says_for_preview};
use crate::view::style::{Palette, Role};
use crate::view::width::{fit, pad, wrap};
use crate::view::{clean, human};

/// Compare two branches
///
/// Shows the deepest entry that is on the way to both, and what each has behind it that the other has
/// not: its entries, what they cost, and which files its tools read and changed. Side by side where the
/// terminal has 100 columns, otherwise below each other.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal diff 'works, but ugly'
  ramal diff 5f3e 'day numbers' --session parser")]
pub(crate) struct Args {
    /// The end of one branch: an id, a label, leaf, root, and ~n for the nth ancestor
    one: String,
    /// The end of the other
    #[arg(default_value = "leaf")]
    other: String,
    #[command(flatten)]
    session: resolve::SessionOption,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let session = resolve::session(args.session.name(), globals)?;
    let one = resolve::entry_ref(&session, &args.one)?;
    let other = resolve::entry_ref(&session, &args.other)?;
    let ancestor = session.common_ancestor(&one.id()?, &other.id()?);
    let left = Side::new(&session, one, ancestor)?;
    let right = Side::new(&session, other, ancestor)?;
    if args.json.json {
        return print_json(&left, &right, ancestor, out);
    }
    let page = Page { palette: globals.palette(), columns: globals.columns() };
    page.print_ancestor(&session, ancestor, left.above, out)?;
    match page.columns {
        SIDE_BY_SIDE.. => page.print_beside(left, right, out)?,
        _ => {
            page.print_alone(left, out)?;
            writeln!(out)?;
            page.print_alone(right, out)?;
        }
    }
    Ok(Status::Done)
}

/// Columns from which on two branches have room beside each other.
const SIDE_BY_SIDE: usize = 100;

/// One branch, from behind the common ancestor to its end.
struct Side<'a> {
    session: &'a SessionManager,
    end: EntryId,
    label: Option<&'a str>,
    is_leaf: bool,
    /// How many entries are above it, on both branches.
    above: usize,
    entries: Vec<EntryRef<'a>>,
    touched: Touched,
    calls: Calls,
}

impl<'a> Side<'a> {
    fn new(
        session: &'a SessionManager,
        end: EntryRef<'a>,
        ancestor: Option<EntryRef<'a>>,
    ) -> anyhow::Result<Side<'a>> {
        let path = session.get_branch(Some(&end.id()?));
        let behind = |found: usize| found + 1;
        let above = ancestor.and_then(|a| path.iter().position(|&entry| entry == a)).map_or(0, behind);
        Ok(Side {
            session,
            end: end.id()?,
            label: end.label(),
            is_leaf: session.get_leaf_entry() == Some(end),
            above,
            entries: path[above..].to_vec(),
            touched: Touched::default(),
            calls: Calls::default(),
        })
    }

    fn messages(&self) -> usize {
        self.entries.iter().filter(|entry| entry.kind() == Kind::Message).count()
    }

    /// Its name: the label of its end, or the end's id.
    fn heading(&self) -> String {
        let mut heading = clean::one_line(&self.end, 40);
        if let Some(label) = self.label {
            heading += &format!(" [{}]", clean::name(label));
        }
        if self.is_leaf {
            heading += " (leaf)";
        }
        heading
    }

    fn counts(&self) -> String {
        match (self.entries.len(), self.messages()) {
            (0, _) => "nothing that the other has not".into(),
            (entries, messages) => format!(
                "{}, {}",
                several(entries as u64, "entry", "entries"),
                several(messages as u64, "message", "messages")
            ),
        }
    }
}

/// What a branch did, gathered while its entries are read.
#[derive(Default)]
struct Touched {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
    cost: f64,
}

impl Touched {
    fn take(&mut self, entry: &Entry) {
        let Some(message) = entry.message() else { return };
        if message.role() != Who::Assistant {
            return;
        }
        self.cost += message.usage().map(|usage| usage.cost).unwrap_or_default();
        for call in message.tool_calls() {
            let files = match &*call.name {
                "read" => &mut self.read,
                "write" | "edit" => &mut self.modified,
                _ => continue,
            };
            files.extend(path_of(&call));
        }
    }

    /// Files that were only read: what was changed was seen, too.
    fn only_read(&self) -> impl Iterator<Item = &str> {
        self.read.difference(&self.modified).map(String::as_str)
    }
}

fn path_of(call: &ToolCall<'_>) -> Option<String> {
    let arguments = call.arguments.as_bytes();
    let path = ["path", "file_path"].iter().find_map(|key| ramal_session::json::get_str(arguments, key));
    path.filter(|path| !path.is_empty()).map(|path| path.into_owned())
}

/// What is printed for people, and how wide.
struct Page {
    palette: Palette,
    columns: usize,
}

/// A line of one column: clean, cut to its width, and its look.
struct Cell {
    text: String,
    role: Role,
}

impl Page {
    fn print_ancestor(
        &self,
        session: &SessionManager,
        ancestor: Option<EntryRef<'_>>,
        count: usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Some(ancestor) = ancestor else {
            writeln!(out, "{}\n", self.palette.paint(Role::Heading, "The two have no common ancestor."))?;
            return Ok(());
        };
        let heading = format!("Common ancestor, after {}", several(count as u64, "entry", "entries"));
        writeln!(out, "{}", self.palette.paint(Role::Heading, &fit(&heading, self.columns)))?;
        let cell = cell(session, ancestor, &ancestor.read()?, &mut Calls::default(), self.columns)?;
        writeln!(out, "{}\n", self.palette.paint(cell.role, &cell.text))?;
        Ok(())
    }

    fn print_beside(&self, left: Side<'_>, right: Side<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
        let columns = (self.columns - 3) / 2;
        let (mut left, mut right) = (Column::new(left, columns), Column::new(right, columns));
        loop {
            let (one, other) = (left.next()?, right.next()?);
            if one.is_none() && other.is_none() {
                return Ok(());
            }
            let one = one.unwrap_or(Cell { text: String::new(), role: Role::Dim });
            let padded = pad(&one.text, columns);
            let rule = self.palette.paint(Role::Guide, "│");
            write!(out, "{} {rule}", self.palette.paint(one.role, &padded))?;
            if let Some(other) = other.filter(|other| !other.text.is_empty()) {
                write!(out, " {}", self.palette.paint(other.role, &other.text))?;
            }
            writeln!(out)?;
        }
    }

    fn print_alone(&self, side: Side<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut column = Column::new(side, self.columns);
        while let Some(cell) = column.next()? {
            writeln!(out, "{}", self.palette.paint(cell.role, &cell.text))?;
        }
        Ok(())
    }
}

/// A branch as lines, its entries read one by one as they are asked for.
struct Column<'a> {
    side: Side<'a>,
    columns: usize,
    at: usize,
    /// The lines behind the entries, the last first; none before they are made.
    foot: Option<Vec<Cell>>,
}

/// Lines above the entries.
const HEAD: usize = 2;

impl<'a> Column<'a> {
    fn new(side: Side<'a>, columns: usize) -> Column<'a> {
        Column { side, columns, at: 0, foot: None }
    }

    fn next(&mut self) -> anyhow::Result<Option<Cell>> {
        let at = self.at;
        self.at += 1;
        if at < HEAD {
            let (text, role) = match at {
                0 => (self.side.heading(), Role::Heading),
                _ => (self.side.counts(), Role::Dim),
            };
            return Ok(Some(Cell { text: fit(&text, self.columns).into_owned(), role }));
        }
        if let Some(handle) = self.side.entries.get(at - HEAD) {
            let entry = handle.read()?;
            self.side.touched.take(&entry);
            return Ok(Some(cell(self.side.session, *handle, &entry, &mut self.side.calls, self.columns)?));
        }
        let (side, columns) = (&self.side, self.columns);
        Ok(self.foot.get_or_insert_with(|| foot(side, columns)).pop())
    }
}

/// Files and cost, the last line first.
fn foot(side: &Side<'_>, columns: usize) -> Vec<Cell> {
    let mut lines = Vec::new();
    if side.entries.is_empty() {
        return lines;
    }
    let touched = &side.touched;
    let modified: Vec<_> = touched.modified.iter().map(String::as_str).collect();
    let read: Vec<_> = touched.only_read().collect();
    for (what, files) in [("changed", modified), ("read", read)] {
        if files.is_empty() {
            continue;
        }
        let names: Vec<_> = files.iter().map(|file| clean::name(file)).collect();
        let text = format!("{what}: {}", names.join(", "));
        lines.extend(wrap(&text, columns).map(|line| Cell { text: line.to_string(), role: Role::Tool }));
    }
    if touched.cost != 0.0 {
        let text = format!("cost: {}", human::cost(touched.cost));
        lines.push(Cell { text: fit(&text, columns).into_owned(), role: Role::Dim });
    }
    if !lines.is_empty() {
        lines.insert(0, Cell { text: String::new(), role: Role::Dim });
    }
    lines.reverse();
    lines
}

/// An entry as a line of its own.
fn cell(
    session: &SessionManager,
    handle: EntryRef<'_>,
    entry: &Entry,
    calls: &mut Calls,
    columns: usize,
) -> anyhow::Result<Cell> {
    let call = calls.of_entry(session, handle, entry)?;
    let says = says(entry, call, session.get_cwd(), columns);
    let label = handle.label().map(|label| format!("[{}] ", clean::name(label))).unwrap_or_default();
    let text = format!("{}  {label}{}", pad(&clean::one_line(entry.id(), ID), ID), says.line());
    Ok(Cell { text: fit(text.trim_end(), columns).into_owned(), role: says.role })
}

/// Columns of an id.
const ID: usize = 8;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Compared<'a> {
    common_ancestor_id: Option<&'a str>,
    left: JsonSide<'a>,
    right: JsonSide<'a>,
}

/// A branch that is read while it is written; the files it touched are known behind its entries.
struct JsonSide<'a> {
    side: &'a Side<'a>,
    touched: RefCell<Touched>,
}

impl Serialize for JsonSide<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.side.end.as_str())?;
        map.serialize_entry("entryCount", &self.side.entries.len())?;
        map.serialize_entry("messageCount", &self.side.messages())?;
        map.serialize_entry("entries", &JsonEntries(self))?;
        let touched = self.touched.borrow();
        map.serialize_entry("readFiles", &touched.only_read().collect::<Vec<_>>())?;
        map.serialize_entry("modifiedFiles", &touched.modified)?;
        map.serialize_entry("cost", &touched.cost)?;
        map.end()
    }
}

struct JsonEntries<'a>(&'a JsonSide<'a>);

impl Serialize for JsonEntries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.side.entries.len()))?;
        let (side, mut calls) = (self.0.side, Calls::default());
        for handle in &side.entries {
            let entry = handle.read().map_err(serde::ser::Error::custom)?;
            self.0.touched.borrow_mut().take(&entry);
            let call = calls.of_entry(side.session, *handle, &entry);
            let call = call.map_err(serde::ser::Error::custom)?;
            let says = says_for_preview(&entry, call, side.session.get_cwd());
            list.serialize_element(&JsonEntry {
                id: entry.id(),
                r#type: &entry.type_name(),
                role: entry.role().name(),
                timestamp: entry.time().map(time::format),
                preview: &preview(&says),
                error: says.wrong.as_deref(),
                label: handle.label(),
            })?;
        }
        list.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonEntry<'a> {
    id: &'a str,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    timestamp: Option<String>,
    preview: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

fn print_json(
    left: &Side<'_>,
    right: &Side<'_>,
    ancestor: Option<EntryRef<'_>>,
    out: &mut dyn Write,
) -> anyhow::Result<Status> {
    let ancestor = ancestor.map(EntryRef::id).transpose()?;
    let side = |side| JsonSide { side, touched: RefCell::default() };
    let compared = Compared { common_ancestor_id: ancestor.as_deref(), left: side(left), right: side(right) };
    json_line(out, &compared)?;
    Ok(Status::Done)
}
