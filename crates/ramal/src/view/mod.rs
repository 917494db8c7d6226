//! Text fit for a terminal.
//!
//! What stands in a session file was written by models, tools and strangers'
//! web pages, and a terminal obeys what it is sent. So foreign text takes one
//! road to the screen: [`clean`] makes it harmless, [`width`] makes it fit,
//! [`style`] colours it, in that order. [`human`] writes numbers and times as
//! people read them, and [`terminal`] asks how much room there is.
//!
//! None of these knows what a session is. [`says`] puts an entry into a line, [`tree_row`] draws a row of
//! the tree, and [`transcript`] an entry of a conversation.

pub(crate) mod clean;
pub(crate) mod human;
pub(crate) mod line;
pub(crate) mod says;
pub(crate) mod style;
pub(crate) mod terminal;
pub(crate) mod transcript;
pub(crate) mod tree_row;
pub(crate) mod width;
