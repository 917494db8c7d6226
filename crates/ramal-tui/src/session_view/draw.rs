//! The view as lines of a screen.

use std::path::Path;

use ramal_session::library::Query;
use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::preview::{Previewed, preview};
use super::row::{Beside, Shown, counts, directory_columns, row, title};
use super::{Asked, SessionOrder, SessionScope, SessionView};
use crate::editor::Editor;
use crate::keys::ActionId;
use crate::scene::{Scene, View};
use crate::text::width::{fit, pad, width};
use crate::text::{clean, human};
use crate::theme::Role;
use crate::tree_view::side_by_side;

/// Screens at least so wide have the preview beside the rows.
const BESIDE: usize = 130;
/// Screens at least so high have it below them otherwise.
const BELOW: usize = 14;
/// Rows that a preview below has at most, the line above it included.
const BELOW_AT_MOST: usize = 12;

/// How the rows of a screen are shared out.
struct Shares {
    /// Title and search.
    head: usize,
    list: usize,
    /// Rows of the preview below, the line above it included.
    below: usize,
    /// Columns of the preview beside, the line left of it included.
    beside: usize,
    /// Hints.
    foot: usize,
}

impl Shares {
    fn of(columns: usize, rows: usize, is_asking: bool) -> Shares {
        let head = match rows {
            // What is asked has to be seen, whatever else is not.
            0..=3 => usize::from(is_asking),
            4..=7 => 1,
            _ => 2,
        };
        let foot = usize::from(rows > 5);
        let middle = rows - head - foot;
        let beside = if columns >= BESIDE { columns * 2 / 5 } else { 0 };
        let below = if beside == 0 && rows >= BELOW { (middle / 3).min(BELOW_AT_MOST) } else { 0 };
        Shares { head, list: middle - below, below, beside, foot }
    }
}

impl SessionView {
    /// What is seen: as many lines as there are rows, none wider than the screen.
    pub fn draw(&mut self, scene: &Scene<'_>) -> View {
        self.freshen();
        let (columns, rows) = (usize::from(scene.columns.max(1)), usize::from(scene.rows.max(1)));
        let shares = Shares::of(columns, rows, !matches!(self.asked, Asked::Nothing));
        self.look(shares.list);
        let left = columns - shares.beside;
        // What stands at the right of the rows keeps off the line beside it.
        let list = self.list_lines(scene, left - usize::from(shares.beside > 0), shares.list);
        let mut lines = Vec::with_capacity(rows);
        let mut cursor = None;
        if shares.head > 1 {
            lines.push(self.title(scene, columns));
        }
        if shares.head > 0 {
            let (line, at) = self.line(scene, columns);
            cursor = at.map(|column| Position::new(column, lines.len() as u16));
            lines.push(line);
        }
        if shares.beside > 0 {
            let preview = self.preview_lines(scene, shares.beside.saturating_sub(2), shares.list, true);
            lines.extend(side_by_side(list, preview, left, scene.theme));
        } else {
            lines.extend(list);
            if shares.below > 0 {
                lines.push(crate::screen::rule(scene.columns, "", scene.theme.style(Role::Border)));
                lines.extend(self.preview_lines(scene, columns, shares.below - 1, false));
            }
        }
        if shares.foot > 0 {
            lines.push(self.foot(scene, columns));
        }
        lines.truncate(rows);
        View { lines, cursor }
    }

    /// Brings the selected row into what is seen, and keeps in mind which one that is.
    fn look(&mut self, rows: usize) {
        let at = if self.selected.is_some() { self.position() } else { 0 };
        self.seen = (self.info_of(at).map(|info| info.path.clone()), at);
        self.page = rows.max(2) - 1;
        let rows = rows.max(1);
        let most = self.rows.list.len().saturating_sub(rows);
        self.top = self.top.min(most).clamp((at + 1).saturating_sub(rows), at);
    }

    fn list_lines(&self, scene: &Scene<'_>, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let seen = self.rows.list.iter().enumerate().skip(self.top).take(rows);
        let infos: Vec<_> =
            seen.filter_map(|(number, row)| Some((number, row, self.info_of(number)?))).collect();
        let nothing = Query::default();
        let home = self.around.home.as_deref();
        let widest = |of: &dyn Fn(&_) -> usize| infos.iter().map(|(_, _, info)| of(info)).max().unwrap_or(0);
        let beside = Beside {
            columns,
            scene,
            query: self.query.as_ref().unwrap_or(&nothing),
            home,
            counts: (widest(&|info| width(&counts(info).0)), widest(&|info| width(&counts(info).1))),
            directories: match self.scope {
                SessionScope::Directory => 0,
                SessionScope::All => widest(&|info| directory_columns(info, home)),
            },
            shows_paths: self.shows_paths,
        };
        let draw = |(number, of, info): (usize, _, _)| {
            let shown = Shown {
                row: of,
                info,
                said: self.texts.of(&info.path),
                is_selected: number == self.seen.1,
                is_open: self.is_open(&info.path),
            };
            row(&shown, beside)
        };
        let mut lines: Vec<Line<'static>> = infos.into_iter().map(draw).collect();
        if lines.is_empty()
            && let Some((said, role)) = self.nothing(scene)
        {
            let said = clean::one_line(&said, columns);
            lines
                .push(Line::styled(fit(&format!("  {said}"), columns).into_owned(), scene.theme.style(role)));
        }
        lines.resize(rows, Line::default());
        lines.truncate(rows);
        lines
    }

    /// Why there is no row.
    fn nothing(&self, scene: &Scene<'_>) -> Option<(String, Role)> {
        if let Err(why) = &self.query {
            return Some((why.clone(), Role::Error));
        }
        let store = &self.stores[self.scope as usize];
        let with = |action, says: &str| match scene.keymap.hint(action) {
            Some(key) => format!("; {key} {says}"),
            None => String::new(),
        };
        let said = if store.all().is_empty() {
            match (store.reading(), self.scope) {
                (Some(_), _) => "Looking for sessions".into(),
                (None, SessionScope::Directory) => {
                    format!(
                        "No sessions of this directory{}",
                        with(ActionId::ToggleScope, "shows those of all projects")
                    )
                }
                (None, SessionScope::All) => "No sessions yet".into(),
            }
        } else if self.rows.hidden == store.all().len() {
            let count = human::count(self.rows.hidden as u64);
            format!("{count} sessions without a name{}", with(ActionId::ToggleNamed, "shows them"))
        } else if self.texts.searching().is_some() {
            "Nothing found yet".into()
        } else {
            "Nothing has been found".into()
        };
        Some((said, Role::Dim))
    }

    fn title(&self, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        let total = self.rows.list.len();
        let at = if total == 0 { 0 } else { self.seen.1 + 1 };
        let mut right = format!("{}/{}", human::count(at as u64), human::count(total as u64));
        let of =
            |(done, of): (usize, usize)| format!("{}/{}", human::count(done as u64), human::count(of as u64));
        if let Some(searching) = self.texts.searching() {
            right = format!("searched {}  {right}", of(searching));
        }
        if let Some(reading) = self.stores[self.scope as usize].reading() {
            right = format!("reading {}  {right}", of(reading));
        }
        let mut left = vec![
            "Sessions",
            match self.scope {
                SessionScope::Directory => "this directory",
                SessionScope::All => "all projects",
            },
            match (self.order, self.search.is_empty()) {
                (SessionOrder::Threaded, true) => "threaded",
                (SessionOrder::Recent, _) | (SessionOrder::Relevance, true) => "recent",
                (SessionOrder::Threaded | SessionOrder::Relevance, false) => "relevance",
            },
        ];
        if self.named_only {
            left.push("only named");
        }
        let room = columns.saturating_sub(width(&right) + 1);
        if room < 4 {
            return Line::styled(fit(&right, columns).into_owned(), scene.theme.style(Role::Dim));
        }
        Line::from(vec![
            Span::styled(pad(&left.join(" · "), room), scene.theme.style(Role::Heading)),
            Span::styled(format!(" {right}"), scene.theme.style(Role::Dim)),
        ])
    }

    /// The line in which one writes or is asked, and the column of the cursor.
    fn line(&self, scene: &Scene<'_>, columns: usize) -> (Line<'static>, Option<u16>) {
        let theme = scene.theme;
        match &self.asked {
            Asked::Delete(path) => {
                let name = self.name_of(path, columns);
                let asks = "Move to the trash? ";
                let line = Line::from(vec![
                    Span::styled(fit(asks, columns).into_owned(), theme.style(Role::Warning)),
                    Span::raw(fit(&name, columns.saturating_sub(width(asks))).into_owned()),
                ]);
                (line, None)
            }
            Asked::Name(_, editor) => written("Name: ", editor, scene, columns),
            Asked::Nothing if self.search.is_empty() => {
                let hint = fit("Type to search: words, \"a phrase\", re:pattern", columns).into_owned();
                (Line::styled(hint, theme.style(Role::Dim)), Some(0))
            }
            Asked::Nothing => written("Search: ", &self.search, scene, columns),
        }
    }

    fn name_of(&self, path: &Path, columns: usize) -> String {
        let store = &self.stores[self.scope as usize];
        let info = store.find(path).and_then(|at| store.get(at));
        match info {
            Some(info) => title(info, columns).0,
            None => clean::name(&path.to_string_lossy()),
        }
    }

    fn foot(&self, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        if let Some(notice) = &self.notice {
            let text = clean::one_line(notice, columns);
            return Line::styled(fit(&text, columns).into_owned(), scene.theme.style(Role::Warning));
        }
        let hints: &[(ActionId, &str)] = match self.asked {
            Asked::Name(..) => &[(ActionId::Confirm, "save"), (ActionId::Cancel, "leave it")],
            Asked::Delete(_) => &[(ActionId::Confirm, "delete"), (ActionId::Cancel, "keep it")],
            Asked::Nothing => &[
                (ActionId::Confirm, "open"),
                (ActionId::Cancel, "back"),
                match self.scope {
                    SessionScope::Directory => (ActionId::ToggleScope, "all projects"),
                    SessionScope::All => (ActionId::ToggleScope, "this directory"),
                },
                (ActionId::ToggleSort, "order"),
                (ActionId::Rename, "rename"),
                (ActionId::Delete, "delete"),
                (ActionId::ToggleNamed, "named"),
                (ActionId::TogglePath, "paths"),
            ],
        };
        let mut text = String::new();
        for (action, says) in hints {
            let Some(key) = scene.keymap.hint(*action) else { continue };
            let next = format!("{}{key} {says}", if text.is_empty() { "" } else { " · " });
            if width(&text) + width(&next) > columns {
                break;
            }
            text += &next;
        }
        Line::styled(text, scene.theme.style(Role::Dim))
    }

    fn preview_lines(
        &self,
        scene: &Scene<'_>,
        columns: usize,
        rows: usize,
        has_title: bool,
    ) -> Vec<Line<'static>> {
        let nothing = Query::default();
        let shown = self.info_of(self.seen.1).map(|info| Previewed {
            info,
            parent: self.parent_of(self.seen.1),
            said: self.texts.of(&info.path),
            query: self.query.as_ref().unwrap_or(&nothing),
            home: self.around.home.as_deref(),
            has_title,
        });
        let mut lines = shown.map(|shown| preview(&shown, scene, columns, rows)).unwrap_or_default();
        lines.resize(rows, Line::default());
        lines
    }
}

/// A line that is being written, and the column of the cursor.
fn written(what: &str, editor: &Editor, scene: &Scene<'_>, columns: usize) -> (Line<'static>, Option<u16>) {
    let room = columns.saturating_sub(width(what)).max(1);
    let drawing = editor.lines(room, scene.theme);
    let shown = drawing.lines.into_iter().nth(usize::from(drawing.cursor.y)).unwrap_or_default();
    let mut spans = vec![Span::styled(fit(what, columns).into_owned(), scene.theme.style(Role::Accent))];
    if columns > width(what) {
        spans.extend(shown.spans);
    }
    let column = width(what) + usize::from(drawing.cursor.x);
    (Line::from(spans), Some(column.min(columns - 1) as u16))
}
