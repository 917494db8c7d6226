//! What is seen: the conversation with the editor and the footer below it, or a view that covers it.

use ratatui::text::{Line, Span};

use super::extensions::shown::Side;
use super::say::When;
use super::{App, Look, spinner};
use crate::editor::Editor;
use crate::images::Protocol;
use crate::markdown::run::fit_line;
use crate::screen::{Cursor, rule};
use crate::text::width::{fit, width};
use crate::text::{clean, human};
use crate::theme::Role;

/// Rows of the editor that are seen at most, as a share of the screen's.
const EDITOR_SHARE: usize = 3;
/// Rows of messages that wait that are seen.
const WAITING: usize = 4;

/// What is to be written to the terminal.
pub(crate) struct Frame {
    /// The bytes.
    pub(crate) bytes: String,
    /// Whether they are for the alternate screen.
    pub(crate) covers: bool,
    /// What leaves the main screen clean, whatever happens from now on.
    pub(crate) parting: Option<String>,
}

/// The lines below what was printed.
struct Below {
    lines: Vec<Line<'static>>,
    cursor: Option<Cursor>,
}

impl App {
    /// Whether a frame would differ from the last one, and can be drawn.
    pub(crate) fn is_stale(&self) -> bool {
        self.is_stale && !self.is_being_dragged()
    }

    /// The next frame.
    pub(crate) fn frame(&mut self) -> Frame {
        self.is_stale = false;
        self.note_what_runs();
        self.ask_next();
        if !self.over.is_empty() {
            let view = self.over_view();
            let view = self.with_question(view);
            let bytes = self.full.show(self.columns, view.lines, view.cursor);
            return Frame { bytes, covers: true, parting: None };
        }
        let agent = self.agent.clone();
        let is_resized = std::mem::take(&mut self.is_resized)
            || (self.columns, self.rows) != (self.screen.columns(), self.screen.rows());
        if is_resized {
            if self.look.rendered.is_waiting() {
                // What is printed once as it is, and is drawn anew as it is then, would be there twice.
                self.look.rendered.give_up();
                self.follow();
            }
            // What is printed now is printed at the new width, and is a part of what is drawn anew.
            let fresh = self.take_said().len();
            let below = self.below();
            let App { conversation, look, screen, is_open, hides_thinking, .. } = self;
            let tail = |columns: u16, seen: usize, room: usize| {
                let scene = App::drawn(look, columns, *is_open, *hides_thinking);
                agent.with_session(|session| conversation.tail(session, seen + fresh, room, &scene))
            };
            // Pictures stay where they were drawn, which is not where they belong any more.
            let clear = self.graphics.map_or("", Protocol::clear);
            let resized = screen.resize(self.columns, self.rows, tail, below.lines, below.cursor);
            let bytes = format!("{clear}{resized}");
            return Frame { bytes, covers: false, parting: Some(self.screen.parting()) };
        }
        let said = self.take_said();
        let below = self.below();
        let pictures = self.take_pictures();
        let mut bytes = self.screen.show(&said, below.lines.clone(), below.cursor);
        for picture in &pictures {
            bytes += &self.screen.show_picture(picture, below.lines.clone(), below.cursor);
        }
        Frame { bytes, covers: false, parting: Some(self.screen.parting()) }
    }

    /// The frame with which the program ends: what was said, and nothing below it. None where the window has
    /// another size than what is on it, so that nobody knows where that is.
    pub(crate) fn last_frame(&mut self) -> Option<Frame> {
        if (self.columns, self.rows) != (self.screen.columns(), self.screen.rows()) {
            return None;
        }
        let said = self.take_said();
        let bytes = self.screen.show(&said, Vec::new(), None);
        Some(Frame { bytes, covers: false, parting: Some(self.screen.parting()) })
    }

    /// The lines that are to be printed for good.
    pub(super) fn take_said(&mut self) -> Vec<Line<'static>> {
        let scene = App::drawn(&self.look, self.columns, self.is_open, self.hides_thinking);
        self.conversation.take_said(&scene)
    }

    fn note_what_runs(&mut self) {
        let running = self.agent.running();
        if running != self.busy.map(|(operation, _)| operation) {
            self.busy = running.map(|operation| (operation, std::time::Instant::now()));
        }
    }

    fn below(&mut self) -> Below {
        let columns = usize::from(self.columns);
        let rows = usize::from(self.rows);
        let scene = App::drawn(&self.look, self.columns, self.is_open, self.hides_thinking);
        let mut lines = self.conversation.open_lines(&scene);
        lines.push(Line::default());
        if let Some(beside) = self.beside.as_ref().filter(|beside| !beside.text.is_empty()) {
            let theme = &self.look.theme;
            let text = crate::markdown::lines(&beside.text, columns, &crate::markdown::Look::plain(theme));
            let skip = text.len().saturating_sub(rows / 2);
            lines.extend(text.into_iter().skip(skip));
        }
        lines.extend(self.working_lines());
        if let Some(hint) = &self.hint {
            let style = self.look.theme.style(Role::Warning);
            let text = clean::one_line(hint, columns);
            lines.push(Line::styled(fit(&text, columns).into_owned(), style));
        }
        let theme = &self.look.theme;
        lines.extend(self.extensions.shown.widgets(Side::Above, columns, rows, theme));
        let below = self.extensions.shown.widgets(Side::Below, columns, rows, theme);
        let footer = self.footer();
        let mut cursor = None;
        let mut put = |lines: &mut Vec<Line<'static>>, more: Vec<Line<'static>>, at: Option<Cursor>| {
            cursor = at.map(|at| Cursor { row: at.row.saturating_add(clamp(lines.len())), ..at });
            lines.extend(more);
        };
        match &mut self.question {
            Some(asked) => {
                asked.settle(self.columns, self.rows, below.len() + footer.len());
                let (more, at) = asked.question.lines(self.columns, &self.look.theme, &self.look.keymap);
                put(&mut lines, more, at);
            }
            None => {
                let has_stash = self.drafts.as_ref().is_some_and(|drafts| drafts.has_stash());
                let stash = has_stash.then(|| {
                    let key = self.look.keymap.hint(crate::keys::ActionId::StashDraft);
                    format!("something is put aside: {}", key.unwrap_or_default())
                });
                let Written { lines: more, cursor: at } =
                    written(&mut self.editor, stash, self.columns, self.rows, &self.look);
                put(&mut lines, more, Some(at));
                // The editor stays in sight, whatever there is to choose from.
                let room = rows.saturating_sub(lines.len() + footer.len());
                let list = self.completer.lines(columns, &self.look.theme);
                lines.extend(around_selected(list, room));
            }
        }
        lines.extend(below);
        lines.extend(footer);
        Below { lines, cursor }
    }

    /// What goes on, and what waits.
    fn working_lines(&self) -> Vec<Line<'static>> {
        let columns = usize::from(self.columns);
        let (dim, accent) = (self.look.theme.style(Role::Dim), self.look.theme.style(Role::Accent));
        let key = self.look.keymap.hint(crate::keys::ActionId::Interrupt).unwrap_or_default();
        let mut lines = Vec::new();
        let mut goes_on = |what: &str, since: std::time::Instant| {
            let since = since.elapsed();
            // Where something is asked, the key is an answer.
            let ends = if self.question.is_none() { format!(" · {key} ends it") } else { String::new() };
            let rest = format!(" · {}{ends}", spinner::lasting(since));
            let room = columns.saturating_sub(2 + width(&rest));
            let what = fit(&clean::one_line(what, columns), room).into_owned();
            let spans = vec![
                Span::styled(format!("{} ", spinner::sign(since)), accent),
                Span::styled(what, accent),
                Span::styled(rest, dim),
            ];
            lines.push(fit_line(Line::from(spans), columns));
        };
        if let Some((operation, since)) = self.busy {
            goes_on(self.names(operation), since);
        }
        if let Some((_, command, since)) = &self.shell {
            goes_on(&format!("! {command}"), *since);
        }
        if let Some(beside) = &self.beside {
            goes_on(&beside.what, beside.since);
        }
        for (what, since) in self.extensions.running() {
            goes_on(what, since);
        }
        let (soon, afterwards) = &self.waiting;
        let on_its_way = self.on_its_way().map(|(when, text)| match when {
            When::Soon => ("soon", text),
            When::Afterwards => ("then", text),
        });
        let marked: Vec<(&str, String)> = (soon.iter().map(|text| ("soon", text.clone())))
            .chain(afterwards.iter().map(|text| ("then", text.clone())))
            .chain(on_its_way)
            .collect();
        for (when, text) in marked.iter().take(WAITING) {
            let text = clean::one_line(text, columns);
            lines.push(fit_line(Line::styled(format!("  {when}: {text}"), dim), columns));
        }
        let more = marked.len().saturating_sub(WAITING);
        if more > 0 {
            lines.push(fit_line(Line::styled(format!("  and {more} more"), dim), columns));
        }
        lines
    }

    fn names(&self, operation: ramal_agent::Operation) -> &'static str {
        use ramal_agent::Operation;
        match operation {
            Operation::Turn => "Working",
            Operation::Navigation if self.is_summing_up => "Summing up the branch that is left",
            Operation::Navigation => "Going there",
            Operation::Replacement => "Going to another session",
            Operation::Compaction => "Making the conversation shorter",
        }
    }

    /// Where one is; and what the model is and has used.
    fn footer(&self) -> Vec<Line<'static>> {
        let columns = usize::from(self.columns);
        let theme = &self.look.theme;
        let (dim, warning) = (theme.style(Role::Dim), theme.style(Role::Warning));
        let facts = &self.facts;
        let mut place = vec![shown_path(&facts.cwd, self.home.as_deref())];
        if let Some(git) = &facts.git {
            place.push(format!("({})", clean::one_line(git, 40)));
        }
        let mut left = vec![Span::styled(place.join(" "), dim)];
        if let Some(name) = &facts.name {
            left.push(Span::styled(format!(" · {}", clean::one_line(name, 60)), theme.style(Role::Text)));
        }
        let mut right = Vec::new();
        if let Some((index, count)) = facts.place.fork {
            right.push(Span::styled(format!("‹{index}/{count}› "), theme.style(Role::Accent)));
        }
        if let Some(label) = &facts.place.label {
            right.push(Span::styled(format!("[{}] ", clean::one_line(label, 30)), theme.style(Role::Label)));
        }
        if let Some(leaf) = &facts.place.leaf {
            right.push(Span::styled(clean::one_line(leaf, 12), dim));
        }
        let first = spread(left, right, columns);
        let used = &facts.used;
        let mut numbers = Vec::new();
        if used.input + used.output > 0.0 {
            let sent = used.input + used.cache_read + used.cache_write;
            numbers.push(Span::styled(format!("↑{} ↓{}", tokens(sent), tokens(used.output)), dim));
        }
        if used.cost > 0.0 {
            numbers.push(Span::styled(human::cost(used.cost), dim));
        }
        if let Some((count, window)) = facts.context {
            let (text, is_full) = match window.filter(|window| *window > 0) {
                Some(window) => {
                    let share = count as f64 * 100.0 / window as f64;
                    (format!("{share:.0}% of {}", tokens(window as f64)), share > 80.0)
                }
                None => (format!("{} tokens", tokens(count as f64)), false),
            };
            let text = if is_full { format!("{text} !") } else { text };
            numbers.push(Span::styled(text, if is_full { warning } else { dim }));
        }
        if facts.is_damaged {
            numbers.push(Span::styled("damaged lines: `ramal check`", warning));
        }
        let model = match &facts.model {
            Some(model) if facts.thinking == "off" => clean::one_line(model, 60),
            Some(model) => format!("{} · thinking: {}", clean::one_line(model, 60), facts.thinking),
            None if facts.is_known() => "no model: /model".to_owned(),
            None => String::new(),
        };
        // What counts most stands last; what has no room is left out whole.
        let room = columns.saturating_sub(width(&model) + 2);
        let taken = |numbers: &[Span<'_>]| {
            numbers.iter().map(|number| width(&number.content)).sum::<usize>()
                + 3 * numbers.len().saturating_sub(1)
        };
        let mut numbers = numbers.as_slice();
        while let [_, rest @ ..] = numbers
            && !rest.is_empty()
            && taken(numbers) > room
        {
            numbers = rest;
        }
        let mut left = Vec::new();
        for (index, number) in numbers.iter().enumerate() {
            left.extend((index > 0).then(|| Span::styled(" · ", dim)));
            left.push(number.clone());
        }
        let second = spread(left, vec![Span::styled(model, dim)], columns);
        let status = self.extensions.shown.status(columns, theme);
        [first, second].into_iter().chain(status).collect()
    }
}

/// As many of the lines of a list as there is room for, the selected one among them.
fn around_selected(lines: Vec<Line<'static>>, room: usize) -> Vec<Line<'static>> {
    let is_selected = |line: &Line<'_>| line.spans.first().is_some_and(|span| span.content.starts_with('>'));
    let selected = lines.iter().position(is_selected).unwrap_or(0);
    let from = (selected + 1).saturating_sub(room);
    lines.into_iter().skip(from).take(room).collect()
}

/// An editor between two lines.
pub(super) struct Written {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) cursor: Cursor,
}

/// What is written, as a part of a screen of that size. `says` stands in the line above it.
pub(super) fn written(
    editor: &mut Editor,
    says: Option<String>,
    columns: u16,
    rows: u16,
    look: &Look,
) -> Written {
    let border = look.theme.style(Role::Border);
    editor.resize(usize::from(columns), (usize::from(rows) / EDITOR_SHARE).max(1));
    let drawing = editor.lines(usize::from(columns), &look.theme);
    let above = (drawing.above > 0).then(|| format!("↑ {}", drawing.above));
    let above = [above, says].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let under = if drawing.below > 0 { format!("↓ {}", drawing.below) } else { String::new() };
    let mut lines = vec![rule(columns, &above, border)];
    lines.extend(drawing.lines);
    lines.push(rule(columns, &under, border));
    let cursor = Cursor { column: drawing.cursor.x, row: drawing.cursor.y.saturating_add(1) };
    Written { lines, cursor }
}

/// A line with something at its left and something at its right end; the left gives way.
fn spread(left: Vec<Span<'static>>, right: Vec<Span<'static>>, columns: usize) -> Line<'static> {
    let wide = |spans: &[Span<'_>]| spans.iter().map(|span| width(&span.content)).sum::<usize>();
    let taken = wide(&right);
    if taken + 2 >= columns {
        return fit_line(Line::from(left), columns);
    }
    let mut line = fit_line(Line::from(left), columns - taken - 1);
    let gap = columns - taken - wide(&line.spans);
    line.spans.push(Span::raw(" ".repeat(gap)));
    line.spans.extend(right);
    line
}

/// A directory, with `~` for the user's own.
pub(super) fn shown_path(path: &std::path::Path, home: Option<&std::path::Path>) -> String {
    let shown = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    clean::name(&shown)
}

fn tokens(number: f64) -> String {
    human::short_count(number.clamp(0.0, 1e15) as u64)
}

fn clamp(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
