//! What models write, as elements of the page. Markup in it is text, links lead to few kinds of places, and
//! nothing is fetched.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::super::harmless::harmless;
use super::escape::{address, push_escaped};

/// Stands where a definition would be read and not be seen. Cleaned text has none of its own.
const STOP: char = '\u{2060}';

/// A text as elements.
pub(super) fn markdown(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // A line `[name]: address` is text like any other: everything that was said can be seen.
    let source = harmless(text).replace("]:", "]\u{2060}:");
    let mut page = Page::default();
    for event in Parser::new_ext(&source, options) {
        page.take(event);
    }
    page.out
}

/// The elements as far as they are written.
#[derive(Default)]
struct Page {
    out: String,
    /// What ends the elements that are open.
    ends: Vec<String>,
    in_head: bool,
    /// Links that are open: there is none within another.
    links: usize,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => {
                let end = self.ends.pop().unwrap_or_default();
                match &*end {
                    "</tr></thead>" => self.in_head = false,
                    "</a>" => self.links = self.links.saturating_sub(1),
                    _ => {}
                }
                self.out += &end;
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out += "<code>";
                self.text(&text);
                self.out += "</code>";
            }
            Event::SoftBreak | Event::HardBreak => self.out += "<br>\n",
            Event::Rule => self.out += "<hr>\n",
            Event::TaskListMarker(is_done) => self.out += if is_done { "☑ " } else { "☐ " },
            Event::FootnoteReference(name) => self.text(&name),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.element("p"),
            // The page and the entry have the first two levels.
            Tag::Heading { level, .. } => self.element(match level as usize {
                1 => "h3",
                2 => "h4",
                3 => "h5",
                _ => "h6",
            }),
            Tag::BlockQuote(_) => self.element("blockquote"),
            Tag::CodeBlock(kind) => {
                if let CodeBlockKind::Fenced(language) = &kind
                    && !language.is_empty()
                {
                    self.out += "<pre title=\"";
                    self.text(language);
                    self.out += "\"><code>";
                } else {
                    self.out += "<pre><code>";
                }
                self.ends.push("</code></pre>\n".into());
            }
            // Markup is shown as it was written.
            Tag::HtmlBlock => self.element("pre"),
            Tag::List(None) => self.element("ul"),
            Tag::List(Some(from)) => {
                self.out += &format!("<ol start=\"{from}\">");
                self.ends.push("</ol>\n".into());
            }
            Tag::Item => self.element("li"),
            Tag::Table(_) => self.element("table"),
            Tag::TableHead => {
                self.in_head = true;
                self.out += "<thead><tr>";
                self.ends.push("</tr></thead>".into());
            }
            Tag::TableRow => self.element("tr"),
            Tag::TableCell => self.element(if self.in_head { "th" } else { "td" }),
            Tag::Emphasis => self.element("em"),
            Tag::Strong => self.element("strong"),
            Tag::Strikethrough => self.element("del"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            // Nothing is fetched: a picture elsewhere is a link to it.
            Tag::Image { dest_url, .. } => self.link(&dest_url),
            _ => self.ends.push(String::new()),
        }
    }

    fn element(&mut self, name: &str) {
        self.out += &format!("<{name}>");
        let newline = if matches!(name, "em" | "strong" | "del" | "td" | "th") { "" } else { "\n" };
        self.ends.push(format!("</{name}>{newline}"));
    }

    /// A link, where its address may be one; otherwise the address stands behind the text.
    fn link(&mut self, to: &str) {
        let to = to.replace(STOP, "");
        match address(&to).filter(|_| self.links == 0) {
            Some(to) => {
                self.out += "<a rel=\"noreferrer noopener\" target=\"_blank\" href=\"";
                push_escaped(&mut self.out, to);
                self.out += "\">";
                self.links += 1;
                self.ends.push("</a>".into());
            }
            None => {
                let mut end = String::from(" (");
                push_escaped(&mut end, &to);
                self.ends.push(end + ")");
            }
        }
    }

    fn text(&mut self, text: &str) {
        match text.contains(STOP) {
            true => push_escaped(&mut self.out, &text.replace(STOP, "")),
            false => push_escaped(&mut self.out, text),
        }
    }
}
