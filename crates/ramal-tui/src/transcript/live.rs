//! The blocks of a turn that is going on.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use ramal_agent::AgentEvent;
use ramal_model::{Block as Part, Event};
use ramal_session::{Entry, EntryId, Message, ToolCall, json};
use ratatui::text::Line;

use super::Options;
use super::block::{Block, Body, dimmed, thinking_line};
use super::entries::{self, Shown, of_message};
use super::rendered::Rendered;
use super::tool::{Outcome, State, Tool};
use crate::markdown::StreamedMarkdown;
use crate::text::says;
use crate::theme::{Role, Theme};

/// A turn while it goes on: told what happens, it knows the lines to show for it. Those that cannot change
/// any more are taken away to be printed; those that can are drawn anew each time.
///
/// Lines that were taken stay as they were printed, also when the window changes its width: what is
/// taken next goes on behind them.
#[derive(Default)]
pub struct LiveTurn {
    cwd: String,
    items: VecDeque<Item>,
    /// The answer that is being written.
    answer: Option<Answer>,
    answers: usize,
    /// What was taken last, once it is whole.
    above: Option<Block>,
}

/// An answer that is being written.
#[derive(Default)]
struct Answer {
    number: usize,
    /// The parts that have been met.
    parts: Vec<usize>,
}

struct Item {
    /// Of which answer it is, and which part of it.
    part: Option<(usize, usize)>,
    what: What,
    is_final: bool,
    /// Some of its lines were taken.
    is_begun: bool,
}

enum What {
    Text(StreamedMarkdown),
    Thinking(StreamedMarkdown),
    Block(Block),
}

impl LiveTurn {
    /// Nothing has happened yet, in a session whose working directory is `cwd`.
    pub fn new(cwd: &str) -> LiveTurn {
        LiveTurn { cwd: cwd.to_owned(), ..LiveTurn::default() }
    }

    /// Begins below a block that stands there already.
    pub fn below(cwd: &str, above: Option<Block>) -> LiveTurn {
        LiveTurn { above, ..LiveTurn::new(cwd) }
    }

    /// Takes in what happened, in the order in which it did. `now` is the time at which.
    pub fn event(&mut self, event: &AgentEvent, now: Timestamp) {
        match event {
            AgentEvent::MessageStart { message } => self.message_starts(Message::new(message)),
            AgentEvent::MessageUpdate { message, event, block } => {
                self.message_grows(message, event, block.as_ref());
            }
            AgentEvent::MessageEnd { message, entry_id } => {
                self.message_ends(Message::new(message), entry_id)
            }
            AgentEvent::ToolExecutionStart { tool_call_id, tool_name, args } => {
                let cwd = self.cwd.clone();
                self.tool(tool_call_id, tool_name, |tool| {
                    tool.set_arguments(args, &cwd);
                    tool.state = State::Running;
                });
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, tool_name, partial_result, .. } => {
                let outcome = Outcome::of_content(Message::new(partial_result));
                self.tool(tool_call_id, tool_name, |tool| tool.outcome = Some(outcome));
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, tool_name, result, is_error } => {
                let outcome = Outcome::of_content(Message::new(result)).failed(*is_error);
                self.tool(tool_call_id, tool_name, |tool| tool.set_outcome(outcome));
            }
            AgentEvent::TurnEnd { .. } | AgentEvent::AgentEnd { .. } => self.end_all(),
            AgentEvent::CompactionStart { .. } => {
                self.add(Body::Change("compacting the conversation…".to_owned()), false);
            }
            AgentEvent::CompactionEnd { result, aborted, error_message, .. } => {
                self.compacted(result.as_deref(), *aborted, error_message.as_deref());
            }
            AgentEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
                self.end_retry();
                let wait = Duration::from_millis(*delay_ms);
                let until = now.checked_add(wait).unwrap_or(Timestamp::MAX);
                let (attempt, most, error) = (*attempt, *max_attempts, error_message.clone());
                self.add(Body::Retry { until, attempt, most, error }, false);
            }
            AgentEvent::AutoRetryEnd { .. } => self.end_retry(),
            AgentEvent::HookError { hook, event, error } => {
                self.add(Body::Wrong(format!("{hook} failed at {event}: {error}")), true);
            }
            AgentEvent::Notice { message } => self.add(Body::Warning(message.clone()), true),
            _ => {}
        }
    }

    /// Adds a block that nobody has told of, below what has happened so far.
    pub fn push(&mut self, block: Block) {
        self.items.push_back(Item { part: None, what: What::Block(block), is_final: true, is_begun: false });
    }

    /// Adds what is shown of an entry of which nobody has told otherwise, below what has happened so far.
    pub fn entry(&mut self, entry: &Entry) {
        if let Shown::Blocks(bodies) = entries::shown(entry, &self.cwd) {
            for body in bodies {
                self.push(Block { entry: Some(entry.id().clone()), ..body.into() });
            }
        }
    }

    /// Takes away the lines that cannot change any more.
    pub fn take_final(&mut self, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        while let Some(item) = self.items.front_mut() {
            if options.rendered.is_some_and(|rendered| item.is_awaited(rendered)) {
                break;
            }
            let mut more = item.final_lines(width, theme, options);
            if !more.is_empty() && !item.is_begun {
                item.is_begun = true;
                if self.above.as_ref().is_some_and(|above| item.stands_apart_from(above)) {
                    lines.push(Line::default());
                }
            }
            lines.append(&mut more);
            if !item.is_final {
                break;
            }
            if let Some(item) = self.items.pop_front().filter(|item| item.is_begun) {
                self.above = Some(item.as_block());
            }
        }
        lines
    }

    /// The lines that can still change, below those that were taken.
    pub fn open_lines(&mut self, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        let mut above = self.above.clone();
        for item in &mut self.items {
            let mut more = item.lines(width, theme, options);
            if more.is_empty() {
                continue;
            }
            if !item.is_begun && above.as_ref().is_some_and(|above| item.stands_apart_from(above)) {
                lines.push(Line::default());
            }
            lines.append(&mut more);
            above = Some(item.as_block());
        }
        lines
    }

    /// Whether everything was taken.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The last block of which all was taken.
    pub fn last_taken(&self) -> Option<&Block> {
        self.above.as_ref()
    }

    // Messages.

    fn message_starts(&mut self, message: Message<'_>) {
        if message.role() == ramal_session::Role::Assistant {
            self.end_retry();
            self.answers += 1;
            self.answer = Some(Answer { number: self.answers, parts: Vec::new() });
        }
    }

    fn message_grows(&mut self, message: &str, event: &Event, block: Option<&Part>) {
        if self.answer.is_none() {
            self.message_starts(Message::new(message));
        }
        match event {
            Event::TextStart { block } => self.part(*block, || What::Text(StreamedMarkdown::new())),
            Event::ThinkingStart { block } => {
                self.part(*block, || What::Thinking(StreamedMarkdown::new()));
            }
            Event::TextDelta { block, delta } | Event::ThinkingDelta { block, delta } => {
                self.text_grows(message, *block, delta);
            }
            Event::ToolCallStart { block, id, name } => {
                let tool = Tool::named(id, name, State::Written);
                self.part(*block, || What::Block(Body::Tool(Box::new(tool)).into()));
            }
            Event::BlockEnd { block: number } => self.part_ends(*number, block),
            _ => {}
        }
    }

    fn text_grows(&mut self, message: &str, number: usize, delta: &str) {
        if self.has_met(number) {
            if let Some(Item { what: What::Text(text) | What::Thinking(text), .. }) = self.met(number) {
                text.push(delta);
            }
            return;
        }
        // Whoever listens only since the middle of an answer has missed how it began.
        self.catch_up(Message::new(message));
    }

    /// Takes over parts of an answer of which nobody has told.
    fn catch_up(&mut self, message: Message<'_>) {
        for (number, part) in entries::parts(message).enumerate() {
            if self.has_met(number) {
                continue;
            }
            match part {
                entries::Part::Text(text) => self.part(number, || What::Text(streamed(&text))),
                entries::Part::Thinking(text) => self.part(number, || What::Thinking(streamed(&text))),
                entries::Part::Call(call) => {
                    let tool = Tool::new(&call, &self.cwd, State::Written);
                    self.part(number, || What::Block(Body::Tool(Box::new(tool)).into()));
                }
                entries::Part::Other => {}
            }
        }
    }

    fn part_ends(&mut self, number: usize, block: Option<&Part>) {
        let cwd = self.cwd.clone();
        let Some(item) = self.met(number) else { return };
        match (&mut item.what, block) {
            (What::Text(text) | What::Thinking(text), _) => {
                text.finish();
                item.is_final = true;
            }
            (
                What::Block(Block { body: Body::Tool(tool), .. }),
                Some(Part::ToolCall { id, name, arguments, .. }),
            ) => {
                let call = ToolCall { id: id.into(), name: name.into(), arguments };
                **tool = Tool::new(&call, &cwd, State::Running);
            }
            _ => {}
        }
    }

    fn message_ends(&mut self, message: Message<'_>, entry_id: &str) {
        let entry = Some(entry_id).filter(|id| !id.is_empty()).map(EntryId::from);
        if message.role() == ramal_session::Role::Assistant {
            return self.answer_ends(message, entry.as_ref());
        }
        match of_message(message, entry.as_ref(), &self.cwd) {
            Shown::Blocks(bodies) => {
                for body in bodies {
                    let block = Block { entry: entry.clone(), ..body.into() };
                    self.items.push_back(Item {
                        part: None,
                        what: What::Block(block),
                        is_final: true,
                        is_begun: false,
                    });
                }
            }
            Shown::Result { call, name, outcome } => {
                self.tool(&call, &name, |tool| tool.set_outcome(*outcome));
                if let Some(item) = self.items.iter_mut().rev().find(|item| item.is_call(&call)) {
                    item.is_final = true;
                }
            }
        }
    }

    fn answer_ends(&mut self, message: Message<'_>, entry: Option<&EntryId>) {
        if self.answer.is_none() {
            self.message_starts(message);
        }
        self.catch_up(message);
        let wrong = entries::wrong(message);
        for (number, part) in entries::parts(message).enumerate() {
            let cwd = self.cwd.clone();
            let Some(item) = self.met(number) else { continue };
            item.name_entry(entry);
            match (&mut item.what, part) {
                (What::Text(text), entries::Part::Text(whole))
                | (What::Thinking(text), entries::Part::Thinking(whole)) => {
                    if !text.is_finished() {
                        text.set(&whole);
                        text.finish();
                    }
                    item.is_final = true;
                }
                (What::Block(Block { body: Body::Tool(tool), .. }), entries::Part::Call(call)) => {
                    if tool.state == State::Written {
                        **tool = Tool::new(&call, &cwd, State::Running);
                    }
                    // What is not run will have no result.
                    if wrong.is_some() {
                        tool.state = State::NotRun;
                        item.is_final = true;
                    }
                }
                _ => item.is_final = true,
            }
        }
        let number = self.answer.take().map(|answer| answer.number);
        // Parts that the answer does not have after all.
        for item in self.items.iter_mut().filter(|item| item.part.map(|(answer, _)| answer) == number) {
            item.end_text();
        }
        if let Some(wrong) = wrong {
            let block = Block { entry: entry.cloned(), ..Body::Wrong(wrong).into() };
            self.items.push_back(Item {
                part: None,
                what: What::Block(block),
                is_final: true,
                is_begun: false,
            });
        }
    }

    // Items.

    fn add(&mut self, body: Body, is_final: bool) {
        self.items.push_back(Item { part: None, what: What::Block(body.into()), is_final, is_begun: false });
    }

    fn has_met(&self, number: usize) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.parts.contains(&number))
    }

    /// A part of the answer that has been met and not been taken.
    fn met(&mut self, number: usize) -> Option<&mut Item> {
        let part = (self.answer.as_ref()?.number, number);
        self.items.iter_mut().rev().find(|item| item.part == Some(part))
    }

    /// Adds a part of the answer, unless it has been met.
    fn part(&mut self, number: usize, what: impl FnOnce() -> What) {
        let Some(answer) = self.answer.as_mut().filter(|answer| !answer.parts.contains(&number)) else {
            return;
        };
        answer.parts.push(number);
        let part = Some((answer.number, number));
        self.items.push_back(Item { part, what: what(), is_final: false, is_begun: false });
    }

    /// Changes the call with an id, which is made if nobody has told of it.
    fn tool(&mut self, id: &str, name: &str, change: impl FnOnce(&mut Tool)) {
        if !self.items.iter().any(|item| item.is_call(id) && !item.is_final) {
            self.add(Body::Tool(Box::new(Tool::named(id, name, State::Running))), false);
        }
        let item = self.items.iter_mut().rev().find(|item| item.is_call(id) && !item.is_final);
        if let Some(Item { what: What::Block(Block { body: Body::Tool(tool), .. }), .. }) = item {
            change(tool);
        }
    }

    fn end_all(&mut self) {
        self.end_retry();
        for item in &mut self.items {
            item.end_text();
            if let What::Block(Block { body: Body::Tool(tool), .. }) = &mut item.what
                && tool.state != State::Done
            {
                tool.state = State::NotRun;
            }
            item.is_final = true;
        }
    }

    fn end_retry(&mut self) {
        for item in &mut self.items {
            if let What::Block(Block { body: Body::Retry { until, .. }, .. }) = &mut item.what {
                // The wait is over.
                *until = Timestamp::MIN;
                item.is_final = true;
            }
        }
    }

    fn compacted(&mut self, result: Option<&str>, aborted: bool, error: Option<&str>) {
        let body = match (result, error) {
            (Some(result), _) => {
                let bytes = result.as_bytes();
                let text = json::get_str(bytes, "summary").unwrap_or_default().into_owned();
                let tokens = json::get(bytes, "tokensBefore").unwrap_or_default();
                let title = says::compaction_of(std::str::from_utf8(tokens).ok());
                Body::Card { title, text, role: Role::Summary }
            }
            (None, Some(error)) => Body::Wrong(format!("compaction failed: {error}")),
            (None, None) if aborted => Body::Change("the compaction was aborted".to_owned()),
            (None, None) => Body::Change("nothing was compacted".to_owned()),
        };
        let running = self.items.iter_mut().rev().find(|item| {
            !item.is_final && matches!(&item.what, What::Block(Block { body: Body::Change(_), .. }))
        });
        match running {
            Some(item) => {
                item.what = What::Block(body.into());
                item.is_final = true;
            }
            None => self.add(body, true),
        }
    }
}

/// Whether nothing is known of a thought.
fn is_silent(text: &StreamedMarkdown) -> bool {
    text.given().trim().is_empty()
}

fn streamed(text: &str) -> StreamedMarkdown {
    let mut streamed = StreamedMarkdown::new();
    streamed.push(text);
    streamed
}

impl Item {
    fn is_awaited(&self, rendered: &Rendered) -> bool {
        matches!(&self.what, What::Block(block) if rendered.is_awaited(block.entry.as_ref()))
    }

    fn is_call(&self, id: &str) -> bool {
        matches!(&self.what, What::Block(Block { body: Body::Tool(tool), .. }) if tool.id == id)
    }

    fn name_entry(&mut self, entry: Option<&EntryId>) {
        if let What::Block(block) = &mut self.what {
            block.entry = entry.cloned();
        }
    }

    fn end_text(&mut self) {
        if let What::Text(text) | What::Thinking(text) = &mut self.what {
            text.finish();
            self.is_final = true;
        }
    }

    /// A block of its sort, for what stands next to it.
    fn as_block(&self) -> Block {
        match &self.what {
            What::Text(_) => Body::Answer(String::new()).into(),
            What::Thinking(_) => Body::Thinking(String::new()).into(),
            What::Block(block) => block.clone(),
        }
    }

    fn stands_apart_from(&self, above: &Block) -> bool {
        match &self.what {
            What::Block(block) => block.stands_apart_from(above),
            What::Text(_) | What::Thinking(_) => true,
        }
    }

    fn final_lines(&mut self, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
        match &mut self.what {
            What::Text(text) => text.drain_stable(width, &options.look(theme)),
            What::Thinking(text) if options.hide_thinking || is_silent(text) => {
                // One line for all of it, once.
                let lines = if self.is_final && !self.is_begun {
                    vec![thinking_line(width, theme)]
                } else {
                    Vec::new()
                };
                text.drain_stable(width, &options.look(theme));
                lines
            }
            What::Thinking(text) => dimmed(text.drain_stable(width, &options.look(theme)), theme),
            What::Block(block) if self.is_final => block.lines(width, theme, options),
            What::Block(_) => Vec::new(),
        }
    }

    fn lines(&mut self, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
        match &mut self.what {
            What::Text(text) => text.lines(width, &options.look(theme)),
            What::Thinking(_) if options.hide_thinking && self.is_begun => Vec::new(),
            What::Thinking(text) if options.hide_thinking || is_silent(text) => {
                vec![thinking_line(width, theme)]
            }
            What::Thinking(text) => dimmed(text.lines(width, &options.look(theme)), theme),
            What::Block(block) => block.lines(width, theme, options),
        }
    }
}
