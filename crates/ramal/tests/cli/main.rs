//! The commands, run as people run them: the real program, in a home of its own.

mod change;
mod copies;
mod diff;
mod hostile;
mod look;
mod ls;
mod program;
mod world;
