//! Blocks of an answer as they begin, grow and end, each step told as an event.

use std::hash::{BuildHasher, RandomState};

use crate::answer::{Answer, Block, Event, meant};

/// Where an answer grows and its growing is told.
pub(in crate::wire) struct Growing<'a> {
    pub(in crate::wire) answer: &'a mut Answer,
    pub(in crate::wire) out: &'a mut Vec<Event>,
}

impl Growing<'_> {
    /// A block of text begins.
    pub(in crate::wire) fn text(&mut self) -> usize {
        let block = self.push(Block::Text { text: String::new(), signature: None });
        self.out.push(Event::TextStart { block });
        block
    }

    /// A block of thinking begins.
    pub(in crate::wire) fn thinking(&mut self, signature: Option<String>) -> usize {
        let block = self.push(Block::Thinking { thinking: String::new(), signature, redacted: false });
        self.out.push(Event::ThinkingStart { block });
        block
    }

    /// A call takes its place. That it began is told by [`Growing::call_begins`], once it has a name.
    pub(in crate::wire) fn call(&mut self, id: String, name: String) -> usize {
        self.push(Block::ToolCall { id, name, arguments: String::new(), signature: None })
    }

    /// Tells that a call began, and what came of its arguments before that could be said.
    pub(in crate::wire) fn call_begins(&mut self, block: usize) {
        if let Some(Block::ToolCall { id, name, arguments, .. }) = self.answer.blocks.get(block) {
            self.out.push(Event::ToolCallStart { block, id: id.clone(), name: name.clone() });
            if !arguments.is_empty() {
                self.out.push(Event::ToolCallDelta { block, delta: arguments.clone() });
            }
        }
    }

    /// More of a block. What is empty is not told.
    pub(in crate::wire) fn grow(&mut self, block: usize, more: &str) {
        if more.is_empty() {
            return;
        }
        let delta = more.to_owned();
        match self.answer.blocks.get_mut(block) {
            Some(Block::Text { text, .. }) => {
                text.push_str(more);
                self.out.push(Event::TextDelta { block, delta });
            }
            Some(Block::Thinking { thinking, .. }) => {
                thinking.push_str(more);
                self.out.push(Event::ThinkingDelta { block, delta });
            }
            Some(Block::ToolCall { arguments, .. }) => {
                arguments.push_str(more);
                self.out.push(Event::ToolCallDelta { block, delta });
            }
            None => {}
        }
    }

    /// The arguments of a call are all there.
    pub(in crate::wire) fn arguments_end(&mut self, block: usize) {
        let Some(Block::ToolCall { arguments, .. }) = self.answer.blocks.get_mut(block) else { return };
        if arguments.trim().is_empty() {
            self.grow(block, "{}");
        } else if let Some(meant) = meant(arguments) {
            *arguments = meant;
        }
    }

    /// A block is complete.
    pub(in crate::wire) fn end(&mut self, block: usize) {
        self.out.push(Event::BlockEnd { block });
    }

    fn push(&mut self, block: Block) -> usize {
        self.answer.blocks.push(block);
        self.answer.blocks.len() - 1
    }
}

/// An id for a call whose server gave it none.
pub(in crate::wire) fn made_up_id() -> String {
    // The keys of a `RandomState` are all the randomness that is needed here.
    format!("call_{:016x}{:08x}", RandomState::new().hash_one(1_u8), RandomState::new().hash_one(2_u8) >> 32)
}
