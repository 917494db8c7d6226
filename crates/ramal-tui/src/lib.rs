//! The terminal: what stands between a session at work and somebody's eyes and hands.
//!
//! [`text`] makes text from outside fit for a terminal. [`tree_selector`] is the tree under one's hands,
//! without a terminal: rows, folds, filters, search and selection as values. [`theme`] says what things look
//! like, [`keys`] what keys are called and do; [`terminal`] is the real one, [`screen`] what stands on it. [`editor`] is where one types.
//! [`scene`] is what views on the whole screen are drawn from. [`markdown`] draws what models write, [`transcript`] a conversation, both as lines.

pub mod editor;
pub mod keys;
pub mod markdown;
pub mod scene;
pub mod screen;
pub mod session_view;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod transcript;
pub mod tree_selector;
pub mod tree_view;
