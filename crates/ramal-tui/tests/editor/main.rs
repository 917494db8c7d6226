//! The editor, without a terminal.

mod changing;
mod drafts;
mod drawings;
mod earlier;
mod notation;
mod properties;
