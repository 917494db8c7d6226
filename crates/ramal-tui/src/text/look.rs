//! The parts that texts play on the screen. Which colours go with them is decided by who draws.

/// The part a text plays on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// What a person wrote.
    User,
    /// What the model wrote.
    Assistant,
    /// What a tool did.
    Tool,
    /// What a tool failed to do.
    ToolFailed,
    /// What stands for a longer text.
    Summary,
    /// A name somebody gave.
    Label,
    /// What can be passed over: times, sizes, ids.
    Dim,
    /// Where one is.
    Active,
    /// What went wrong.
    Error,
    /// What is above other things.
    Heading,
    /// The lines that draw the tree.
    Guide,
    /// What was searched for.
    Match,
}
