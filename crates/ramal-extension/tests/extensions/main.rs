//! Real extensions around a real session whose model plays a script.

mod support;

mod commands;
mod events;
mod hostile;
mod modules;
mod sessions;
mod tools;
