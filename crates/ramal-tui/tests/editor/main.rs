//! The editor, without a terminal.

mod changing;
mod completing;
mod drafts;
mod drawings;
mod earlier;
mod notation;
mod properties;
