//! The terminal: what stands between a session at work and somebody's eyes and hands.
//!
//! [`app`] is the program: a conversation at work, told what happens, answering with frames. Everything else
//! are its parts, none of which knows it.
//!
//! - Text and looks: [`text`] makes text from outside fit for a terminal, [`theme`] says what things look like,
//!   [`images`] draws pictures, [`markdown`] what models write, [`transcript`] a conversation, as lines.
//! - Hands: [`keys`] says what keys are called and do, [`editor`] is where one types, [`completing`] what a word
//!   can become meanwhile.
//! - The tree: [`tree_selector`] is the tree under one's hands, without a terminal: rows, folds, filters, search
//!   and selection as values.
//! - Views on the whole screen, drawn from a [`scene`]: [`tree_view`], [`transcript_view`], [`session_view`], and
//!   those made of a [`list_view`]: [`message_view`], [`model_view`], [`hotkeys_view`], [`settings_view`].
//!   [`question`] is what is asked on the main screen, below the conversation.
//! - [`terminal`] is the real one, [`screen`] what stands on it.

pub mod app;
pub mod completing;
pub mod editor;
pub mod hotkeys_view;
pub mod images;
pub mod keys;
pub mod list_view;
pub mod markdown;
pub mod message_view;
pub mod model_view;
pub mod question;
pub mod scene;
pub mod screen;
pub mod session_view;
pub mod settings_view;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod text;
pub mod theme;
pub mod transcript;
pub mod transcript_view;
pub mod tree_selector;
pub mod tree_view;
mod typing;
