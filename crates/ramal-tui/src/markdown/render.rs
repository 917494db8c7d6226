//! One chunk of a text as lines.
//!
//! The blocks come as a flat sequence of events and are drawn as such: what they stand in is a stack of
//! containers, each with the columns that it puts before a line. Nothing recurses, however deep they nest.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::Look;
use super::chunk::options;
use super::fence::{Painter, caption, language};
use super::run::{Runs, fit_line, wrap};
use super::table::Table;
use crate::text::width;
use crate::theme::Role;

/// A chunk as lines.
pub(super) struct Rendered {
    pub(super) lines: Vec<Line<'static>>,
    /// The lines at which the items begin, if it is a list.
    pub(super) items: Vec<usize>,
}

/// The lines of a chunk, at most `width` wide.
pub(super) fn render(source: &str, width: usize, look: &Look<'_>) -> Rendered {
    let mut renderer = Renderer::new(width, look);
    for event in Parser::new_ext(source, options()) {
        renderer.event(event);
    }
    renderer.flush();
    Rendered { lines: renderer.lines, items: renderer.items }
}

/// What blocks stand in: the document, a quotation, an item of a list.
#[derive(Default)]
struct Container {
    /// What stands before its first line, until that is drawn.
    mark: Option<Span<'static>>,
    /// What stands before the others.
    rest: Option<Span<'static>>,
    has_lines: bool,
    is_item: bool,
}

struct Renderer<'a> {
    width: usize,
    look: &'a Look<'a>,
    lines: Vec<Line<'static>>,
    /// Where the items of the list at the top begin.
    items: Vec<usize>,
    containers: Vec<Container>,
    /// The number of the next item of each list around; none for those without.
    lists: Vec<Option<u64>>,
    runs: Runs,
    styles: Vec<Style>,
    /// Addresses of the links around, and where their texts begin.
    links: Vec<(String, usize)>,
    code: Option<Code>,
    table: Option<Table>,
}

struct Code {
    info: String,
    text: String,
}

impl<'a> Renderer<'a> {
    fn new(width: usize, look: &'a Look<'a>) -> Renderer<'a> {
        Renderer {
            width: width.max(1),
            look,
            lines: Vec::new(),
            items: Vec::new(),
            containers: vec![Container::default()],
            lists: Vec::new(),
            runs: Runs::default(),
            styles: vec![look.theme.style(Role::Text)],
            links: Vec::new(),
            code: None,
            table: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.say(&text),
            },
            Event::Code(text) => self.inline_code(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.say(&text),
            Event::SoftBreak | Event::HardBreak => self.say("\n"),
            Event::Rule => self.rule(),
            Event::TaskListMarker(true) => self.styled("[x] ", Role::Success),
            Event::TaskListMarker(false) => self.styled("[ ] ", Role::Dim),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.say(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.heading(level),
            Tag::BlockQuote(_) => self.quote(),
            Tag::CodeBlock(kind) => self.code_block(kind),
            Tag::List(first) => self.list(first),
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                self.rows(|table| table.rows.push(Vec::new()));
                self.push_style(|style| style.add_modifier(Modifier::BOLD));
            }
            Tag::TableRow => self.rows(|table| table.rows.push(Vec::new())),
            Tag::Emphasis => self.push_style(|style| style.add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.push_style(|style| style.add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.push_style(|style| style.add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { link_type, dest_url, .. } => self.link(link_type, dest_url),
            Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.runs.chars()));
                self.styled("[image: ", Role::Dim);
            }
            Tag::Paragraph | Tag::HtmlBlock => self.flush(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.styles.pop();
                self.leave();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.runs);
                self.rows(|table| table.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone())));
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.end_link();
            }
            TagEnd::Image => {
                self.styled("]", Role::Dim);
                self.end_link();
            }
            _ => {}
        }
    }

    // Text within a line.

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, change: impl FnOnce(Style) -> Style) {
        self.styles.push(change(self.style()));
    }

    fn say(&mut self, text: &str) {
        self.runs.push(text, self.style());
    }

    fn styled(&mut self, text: &str, role: Role) {
        self.runs.push(text, self.style().patch(self.look.theme.style(role)));
    }

    fn inline_code(&mut self, text: &str) {
        // Nothing is told by colour alone: where code has no look of its own, it keeps its marks.
        match self.look.theme.style(Role::Code) == Style::new() {
            true => self.say(&format!("`{text}`")),
            false => self.styled(text, Role::Code),
        }
    }

    fn link(&mut self, kind: LinkType, address: CowStr<'_>) {
        let address = match kind {
            LinkType::Email => String::new(),
            _ => address.into_string(),
        };
        self.links.push((address, self.runs.chars()));
        let style = self.look.theme.style(Role::Link);
        self.push_style(|own| own.patch(style));
    }

    fn end_link(&mut self) {
        let Some((address, from)) = self.links.pop() else { return };
        let text = self.runs.text_from(from);
        if !address.is_empty() && text != address && format!("mailto:{text}") != address {
            self.styled(&format!(" ({address})"), Role::Dim);
        }
    }

    // Blocks.

    /// Draws the text that has come together.
    fn flush(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        if runs.is_empty() {
            return;
        }
        self.begin_block();
        let lines = wrap(&runs, self.room());
        self.draw(lines);
    }

    /// A blank line, if something stands above in the same container.
    fn begin_block(&mut self) {
        if self.containers.last().is_some_and(|container| container.has_lines) {
            self.draw(vec![Line::default()]);
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        self.flush();
        let mut style = self.style().patch(self.look.theme.style(Role::Heading));
        if level == HeadingLevel::H1 {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        self.styles.push(style.add_modifier(Modifier::BOLD));
        if level >= HeadingLevel::H3 {
            self.say(&format!("{} ", "#".repeat(level as usize)));
        }
    }

    fn quote(&mut self) {
        self.flush();
        self.begin_block();
        let bar = Span::styled("│ ", self.look.theme.style(Role::Quote));
        self.containers.push(Container { rest: Some(bar), ..Container::default() });
        let style = self.look.theme.style(Role::Quote);
        self.push_style(|own| own.patch(style));
    }

    fn list(&mut self, first: Option<u64>) {
        self.flush();
        // A list below the text of an item belongs to it.
        if self.containers.last().is_some_and(|container| !container.is_item) {
            self.begin_block();
        }
        self.lists.push(first);
    }

    fn item(&mut self) {
        self.flush();
        if self.containers.len() == 1 {
            self.items.push(self.lines.len());
        }
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "• ".to_owned(),
        };
        let rest = Span::raw(" ".repeat(width::width(&mark)));
        let mark = Span::styled(mark, self.look.theme.style(Role::Accent));
        self.containers.push(Container {
            mark: Some(mark),
            rest: Some(rest),
            has_lines: false,
            is_item: true,
        });
    }

    fn end_item(&mut self) {
        self.flush();
        if self.containers.last().is_some_and(|item| !item.has_lines) {
            self.draw(vec![Line::default()]);
        }
        self.leave();
    }

    fn leave(&mut self) {
        if self.containers.len() > 1 {
            self.containers.pop();
        }
    }

    fn code_block(&mut self, kind: CodeBlockKind<'_>) {
        self.flush();
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.into_string(),
            CodeBlockKind::Indented => String::new(),
        };
        self.code = Some(Code { info, text: String::new() });
    }

    fn end_code(&mut self) {
        let Some(Code { info, text }) = self.code.take() else { return };
        let room = self.room();
        let mut painter = Painter::new(language(&info), self.look);
        let mut lines: Vec<_> = caption(&info, room, self.look).into_iter().collect();
        lines.extend(text.lines().flat_map(|line| painter.line(line, room, self.look)));
        if !lines.is_empty() {
            self.begin_block();
            self.draw(lines);
        }
    }

    fn rule(&mut self) {
        self.flush();
        self.begin_block();
        let rule = "─".repeat(self.room());
        self.draw(vec![Line::from(Span::styled(rule, self.look.theme.style(Role::Border)))]);
    }

    fn rows(&mut self, change: impl FnOnce(&mut Table)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.begin_block();
        let lines = table.lines(self.room(), self.look);
        self.draw(lines);
    }

    // Lines.

    /// The columns beside what stands before the lines, which never gets more than half.
    fn room(&self) -> usize {
        let rests = self.containers.iter().filter_map(|container| container.rest.as_ref());
        let wanted: usize = rests.map(|rest| width::width(&rest.content)).sum();
        self.width - wanted.min(self.width / 2)
    }

    fn draw(&mut self, lines: Vec<Line<'static>>) {
        for mut line in lines {
            let mut spans = self.before();
            if line.spans.is_empty() {
                spans = trimmed(spans);
            }
            spans.append(&mut line.spans);
            self.lines.push(fit_line(Line::from(spans), self.width));
        }
        for container in &mut self.containers {
            container.has_lines = true;
        }
    }

    /// What stands before the next line; if that is too much, the end of it.
    fn before(&mut self) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        for container in &mut self.containers {
            spans.extend(container.mark.take().or_else(|| container.rest.clone()));
        }
        let mut room = self.width / 2;
        let mut kept = Vec::new();
        for span in spans.into_iter().rev() {
            let chars = span.content.chars().count();
            let text: String = span.content.chars().skip(chars.saturating_sub(room)).collect();
            room = room.saturating_sub(chars);
            if !text.is_empty() {
                kept.push(Span::styled(text, span.style));
            }
        }
        kept.reverse();
        kept
    }
}

/// Without spaces at the end.
fn trimmed(mut spans: Vec<Span<'static>>) -> Vec<Span<'static>> {
    while let Some(last) = spans.pop() {
        let text = last.content.trim_end();
        if !text.is_empty() {
            let text = text.to_owned();
            spans.push(Span::styled(text, last.style));
            break;
        }
    }
    spans
}
