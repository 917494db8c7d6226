//! What the program prints for people.
//!
//! Text from a session is made harmless and fit by `ramal_tui::text`, which the terminal shares with us;
//! [`style`] colours it after that, [`line`] puts a line together, and [`terminal`] asks how much room
//! there is. [`tree_row`] draws a row of the tree, and [`transcript`] an entry of a conversation.

pub(crate) mod line;
pub(crate) mod style;
pub(crate) mod terminal;
pub(crate) mod transcript;
pub(crate) mod tree_row;

pub(crate) use ramal_tui::text::{clean, human, says, width};
