//! What extensions need to be allowed: the door to whoever asks the user and remembers the answer.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

/// An extension as one allows it something: if one byte of it changes it is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its file.
    pub path: PathBuf,
    /// What it is called.
    pub name: String,
    /// SHA-256 over the sources that it was loaded from, in hexadecimal.
    pub hash: String,
}

/// Something that an extension wants to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Run a program: what it is called, and its arguments.
    Run(Vec<String>),
    /// Read a file or a folder outside of the session's directory.
    Read(PathBuf),
    /// Write a file or a folder outside of it.
    Write(PathBuf),
    /// Speak to a host over the network.
    Network(String),
}

impl fmt::Display for Wish {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wish::Run(command) => write!(out, "run {}", command.join(" ")),
            Wish::Read(path) => write!(out, "read {}", path.display()),
            Wish::Write(path) => write!(out, "write {}", path.display()),
            Wish::Network(host) => write!(out, "speak to {host}"),
        }
    }
}

/// Decides what extensions may do.
pub trait Permits: Send + Sync {
    /// Whether it may. Asked each time; may take as long as the user does.
    fn may<'a>(
        &'a self,
        extension: &'a Identity,
        wish: &'a Wish,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// Allows all, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Always {
    /// Everything is allowed (`--yes`).
    Allow,
    /// Nothing is.
    Refuse,
}

impl Permits for Always {
    fn may<'a>(&'a self, _: &'a Identity, _: &'a Wish) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        let allows = *self == Always::Allow;
        Box::pin(async move { allows })
    }
}
