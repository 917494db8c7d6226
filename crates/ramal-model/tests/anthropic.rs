//! Anthropic's Messages over a server that speaks it.
mod support;
