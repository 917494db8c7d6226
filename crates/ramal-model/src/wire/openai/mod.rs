//! What OpenAI's two interfaces have in common: how the conversation is looked at before it is sent,
//! how blocks grow, what a failure means.

pub(super) mod blocks;
pub(super) mod conversation;
pub(super) mod effort;
pub(super) mod failure;
pub(super) mod ids;
#[cfg(test)]
pub(super) mod testing;
