//! Earlier prompts, and walking through them without losing what one was about to say.

use std::collections::VecDeque;

use super::content::Content;

/// Earlier prompts, newest first.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    prompts: VecDeque<Content>,
    walk: Option<Walk>,
}

/// Somebody is among the earlier prompts.
#[derive(Debug, Clone)]
struct Walk {
    /// Which one is seen.
    index: usize,
    draft: Draft,
}

/// What was there before the walk began.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) content: Content,
    pub(super) cursor: usize,
}

impl History {
    pub(super) fn replace(&mut self, prompts: impl IntoIterator<Item = Content>) {
        self.prompts = prompts.into_iter().collect();
    }

    pub(super) fn prompts(&self) -> impl Iterator<Item = &Content> {
        self.prompts.iter()
    }

    /// Adds a prompt as the newest, unless it is blank or there already.
    pub(super) fn push(&mut self, prompt: Content) {
        if !prompt.is_blank() && self.prompts.front() != Some(&prompt) {
            self.prompts.push_front(prompt);
        }
    }

    /// As [`Self::push`], while an earlier prompt may be seen, which stays the one that is.
    pub(super) fn push_unseen(&mut self, prompt: Content) {
        let before = self.prompts.len();
        self.push(prompt);
        if let Some(walk) = &mut self.walk {
            walk.index += self.prompts.len() - before;
        }
    }

    /// The prompt before the one that is seen. `draft` is what stands in the editor.
    pub(super) fn older(&mut self, draft: Draft) -> Option<Content> {
        let index = self.walk.as_ref().map_or(0, |walk| walk.index + 1);
        let prompt = self.prompts.get(index)?.clone();
        let draft = self.walk.take().map_or(draft, |walk| walk.draft);
        self.walk = Some(Walk { index, draft });
        Some(prompt)
    }

    /// The prompt after the one that is seen, or at the end the draft.
    pub(super) fn newer(&mut self) -> Option<Newer> {
        let walk = self.walk.as_mut()?;
        match walk.index.checked_sub(1) {
            None => self.leave().map(Newer::Draft),
            Some(index) => {
                walk.index = index;
                self.prompts.get(index).cloned().map(Newer::Prompt)
            }
        }
    }

    /// Ends the walk and gives the draft back.
    pub(super) fn leave(&mut self) -> Option<Draft> {
        self.walk.take().map(|walk| walk.draft)
    }

    /// The draft, while an earlier prompt is seen.
    pub(super) fn draft(&self) -> Option<&Draft> {
        self.walk.as_ref().map(|walk| &walk.draft)
    }
}

/// What comes after an earlier prompt.
#[derive(Debug)]
pub(super) enum Newer {
    Prompt(Content),
    Draft(Draft),
}
