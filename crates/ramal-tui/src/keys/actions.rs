//! The one table of what keys can do: name, default keys, place, and what it does in a few words.

/// Where a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// In the editor, while there is nothing in it.
    EmptyEditor,
    /// Beside the editor: what concerns the conversation.
    Conversation,
    /// In the editor, and in lines where something is typed.
    Editor,
    /// In the tree selector.
    Tree,
    /// In the session selector.
    Sessions,
    /// Among the settings.
    Settings,
    /// In the whole transcript.
    Transcript,
    /// In every list.
    List,
    /// In every place.
    Everywhere,
}

impl Place {
    /// All of them, in the order in which help shows them.
    pub const ALL: [Place; 9] = [
        Place::Conversation,
        Place::EmptyEditor,
        Place::Editor,
        Place::Tree,
        Place::Sessions,
        Place::Settings,
        Place::Transcript,
        Place::List,
        Place::Everywhere,
    ];

    /// Its name as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Place::EmptyEditor => "Empty editor",
            Place::Conversation => "Conversation",
            Place::Editor => "Editor",
            Place::Tree => "Tree",
            Place::Sessions => "Sessions",
            Place::Settings => "Settings",
            Place::Transcript => "Transcript",
            Place::List => "Lists",
            Place::Everywhere => "Everywhere",
        }
    }

    /// The places that a key pressed here may be meant for; the first that has it, has it.
    pub fn chain(self) -> &'static [Place] {
        use Place::{
            Conversation, Editor, EmptyEditor, Everywhere, List, Sessions, Settings, Transcript, Tree,
        };
        match self {
            EmptyEditor => &[EmptyEditor, Conversation, Editor, Everywhere],
            Conversation => &[Conversation, Everywhere],
            Editor => &[Conversation, Editor, Everywhere],
            Tree => &[Tree, List, Everywhere],
            Sessions => &[Sessions, List, Everywhere],
            Settings => &[Settings, List, Everywhere],
            Transcript => &[Transcript, List, Everywhere],
            List => &[List, Everywhere],
            Everywhere => &[Everywhere],
        }
    }
}

/// A row of the table.
pub(super) struct Action {
    pub(super) id: ActionId,
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
    pub(super) place: Place,
    pub(super) says: &'static str,
}

macro_rules! actions {
    ($($place:ident { $($id:ident $name:literal [$($key:literal),*] $says:literal)* })*) => {
        /// Something that a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ActionId {
            $($(#[doc = $says] $id,)*)*
        }

        /// What keys can do, place by place.
        pub(super) const ACTIONS: &[Action] = &[
            $($(Action {
                id: ActionId::$id,
                name: $name,
                keys: &[$($key),*],
                place: Place::$place,
                says: $says,
            },)*)*
        ];
    };
}

actions! {
    Conversation {
        Interrupt "app.interrupt" ["escape"] "Abort what is going on"
        Clear "app.clear" ["ctrl+c"] "Clear the editor"
        Tree "app.session.tree" ["alt+t"] "Open the tree"
        Fork "app.session.fork" [] "Branch off before a message into a new session"
        Resume "app.session.resume" [] "Open another session"
        NewSession "app.session.new" [] "Begin a new session"
        PreviousSibling "app.message.previousSibling" ["alt+,"] "Go to the previous branch beside this one"
        NextSibling "app.message.nextSibling" ["alt+."] "Go to the next branch beside this one"
        OpenTranscript "app.transcript.open" ["alt+o"] "Open the whole transcript"
        ExpandTools "app.tools.expand" ["ctrl+o"] "Open or close tool output"
        SelectModel "app.model.select" ["ctrl+l"] "Choose the model"
        NextModel "app.model.cycleForward" ["ctrl+p"] "Go to the next model"
        PreviousModel "app.model.cycleBackward" ["ctrl+shift+p"] "Go to the previous model"
        CycleThinking "app.thinking.cycle" ["shift+tab"] "Go to the next thinking level"
        ToggleThinking "app.thinking.toggle" ["ctrl+t"] "Show or hide thinking"
        FollowUp "app.message.followUp" ["alt+enter", "ctrl+enter"] "Send once the model has finished"
        Dequeue "app.message.dequeue" ["alt+up"] "Take waiting messages back into the editor"
        ExternalEditor "app.editor.external" ["ctrl+g"] "Write in your own editor"
        SearchHistory "app.history.search" ["ctrl+r"] "Search what was sent before"
        TakeOffered "app.editor.takeOffered" ["alt+i"] "Bring the offered text into the editor"
        StashDraft "app.editor.stash" ["alt+s"] "Put what is written aside, or bring it back"
        CopyPrompt "app.clipboard.copyPrompt" ["alt+shift+c"] "Copy what is written"
        CopyLine "app.clipboard.copyLine" ["alt+shift+l"] "Copy the line of the cursor"
    }
    EmptyEditor {
        Exit "app.exit" ["ctrl+d"] "Leave"
    }
    Editor {
        Submit "tui.input.submit" ["enter"] "Send"
        NewLine "tui.input.newLine" ["shift+enter", "ctrl+j"] "Begin a new line"
        Complete "tui.input.tab" ["tab"] "Complete"
        CopySelection "tui.input.copy" [] "Copy all that is written"
        CursorUp "tui.editor.cursorUp" ["up"] "A line up, or to what was sent before"
        CursorDown "tui.editor.cursorDown" ["down"] "A line down, or to what was sent after"
        CursorLeft "tui.editor.cursorLeft" ["left", "ctrl+b"] "A character to the left"
        CursorRight "tui.editor.cursorRight" ["right", "ctrl+f"] "A character to the right"
        CursorWordLeft "tui.editor.cursorWordLeft" ["alt+left", "ctrl+left", "alt+b"] "A word to the left"
        CursorWordRight "tui.editor.cursorWordRight" ["alt+right", "ctrl+right", "alt+f"] "A word to the right"
        CursorLineStart "tui.editor.cursorLineStart" ["home", "ctrl+a"] "To the start of the line"
        CursorLineEnd "tui.editor.cursorLineEnd" ["end", "ctrl+e"] "To the end of the line"
        DeleteCharBackward "tui.editor.deleteCharBackward" ["backspace", "shift+backspace", "ctrl+h"] "Delete the character before the cursor"
        DeleteCharForward "tui.editor.deleteCharForward" ["delete", "ctrl+d"] "Delete the character behind the cursor"
        DeleteWordBackward "tui.editor.deleteWordBackward" ["ctrl+w", "alt+backspace"] "Delete the word before the cursor"
        DeleteWordForward "tui.editor.deleteWordForward" ["alt+d", "alt+delete"] "Delete the word behind the cursor"
        DeleteToLineStart "tui.editor.deleteToLineStart" ["ctrl+u"] "Delete to the start of the line"
        DeleteToLineEnd "tui.editor.deleteToLineEnd" ["ctrl+k"] "Delete to the end of the line"
        Yank "tui.editor.yank" ["ctrl+y"] "Bring back what was deleted last"
        YankPop "tui.editor.yankPop" ["alt+y"] "Take what was deleted before that instead"
        Undo "tui.editor.undo" ["ctrl+-"] "Undo"
    }
    Tree {
        TreePageUp "app.tree.pageUp" ["left", "ctrl+b"] "A page up"
        TreePageDown "app.tree.pageDown" ["right", "ctrl+f"] "A page down"
        FoldOrUp "app.tree.foldOrUp" ["ctrl+left", "alt+left"] "Fold, or up to the start of the branch"
        UnfoldOrDown "app.tree.unfoldOrDown" ["ctrl+right", "alt+right"] "Unfold, or down to the next branch"
        ToggleFold "app.tree.toggleFold" ["alt+z"] "Fold or unfold"
        UnfoldAll "app.tree.unfoldAll" ["alt+shift+z"] "Unfold everything"
        PreviousTurn "app.tree.previousTurn" ["alt+up"] "To the previous message or answer"
        NextTurn "app.tree.nextTurn" ["alt+down"] "To the next message or answer"
        PreviousFork "app.tree.previousFork" ["ctrl+up", "alt+shift+f"] "To the previous fork"
        NextFork "app.tree.nextFork" ["ctrl+down", "alt+f"] "To the next fork"
        PreviousLabel "app.tree.previousLabel" ["shift+up", "alt+shift+n"] "To the previous label"
        NextLabel "app.tree.nextLabel" ["shift+down", "alt+n"] "To the next label"
        ChooseSummarising "app.tree.chooseSummarising" ["shift+enter", "alt+enter"] "Go there with a summary, unasked"
        EditLabel "app.tree.editLabel" ["shift+l"] "Edit the label"
        ToggleLabelTimes "app.tree.toggleLabelTimestamp" ["shift+t"] "Show or hide when labels were set"
        CopyEntry "app.tree.copy" ["alt+c"] "Copy the entry"
        EraseSearch "app.tree.erase" ["backspace", "shift+backspace", "ctrl+h"] "Take a character off the search"
        FilterDefault "app.tree.filter.default" ["ctrl+d", "alt+d"] "Show the conversation"
        FilterNoTools "app.tree.filter.noTools" ["ctrl+t"] "Without tool results, on or off"
        FilterUserOnly "app.tree.filter.userOnly" ["ctrl+u"] "Only your messages, on or off"
        FilterLabeledOnly "app.tree.filter.labeledOnly" ["ctrl+l"] "Only what has a label, on or off"
        FilterAll "app.tree.filter.all" ["ctrl+a"] "Everything, on or off"
        SetFilterNoTools "app.tree.filter.setNoTools" ["alt+t"] "Without tool results"
        SetFilterUserOnly "app.tree.filter.setUserOnly" ["alt+u"] "Only your messages"
        SetFilterLabeledOnly "app.tree.filter.setLabeledOnly" ["alt+l"] "Only what has a label"
        SetFilterAll "app.tree.filter.setAll" ["alt+a"] "Everything"
        NextFilter "app.tree.filter.cycleForward" ["ctrl+o"] "The next filter"
        PreviousFilter "app.tree.filter.cycleBackward" ["ctrl+shift+o"] "The previous filter"
    }
    Sessions {
        ToggleScope "app.session.toggleScope" ["tab"] "This directory, or all projects"
        ToggleSort "app.session.toggleSort" ["ctrl+s"] "The next order"
        ToggleNamed "app.session.toggleNamedFilter" ["ctrl+n"] "Only sessions with a name, on or off"
        TogglePath "app.session.togglePath" ["ctrl+p"] "Show or hide paths"
        Rename "app.session.rename" ["ctrl+r"] "Rename"
        Delete "app.session.delete" ["ctrl+d", "delete"] "Delete, after a question"
        DeleteUnlessSearching "app.session.deleteNoninvasive" ["ctrl+backspace"] "Delete, unless there is a search"
    }
    Settings {
        NextValue "app.settings.next" ["space", "right"] "The next value"
        PreviousValue "app.settings.previous" ["left"] "The previous value"
        DefaultValue "app.settings.default" ["alt+d"] "Back to the default"
    }
    Transcript {
        LineUp "app.transcript.lineUp" ["k", "ctrl+up"] "A line up"
        LineDown "app.transcript.lineDown" ["j", "ctrl+down"] "A line down"
        TranscriptPageUp "app.transcript.pageUp" ["b", "ctrl+b"] "A page up"
        TranscriptPageDown "app.transcript.pageDown" ["space", "ctrl+f"] "A page down"
        TranscriptTop "app.transcript.top" ["g"] "To the beginning"
        TranscriptBottom "app.transcript.bottom" ["shift+g"] "To the end"
        TranscriptPreviousSibling "app.transcript.previousSibling" ["left", "alt+,"] "To the previous branch beside this one"
        TranscriptNextSibling "app.transcript.nextSibling" ["right", "alt+."] "To the next branch beside this one"
        TranscriptPreviousTurn "app.transcript.previousTurn" ["alt+up", "["] "To the previous message of yours"
        TranscriptNextTurn "app.transcript.nextTurn" ["alt+down", "]"] "To the next message of yours"
        OpenEntry "app.transcript.toggle" ["o", "tab"] "Open or close the entry"
        OpenAll "app.transcript.toggleAll" ["ctrl+o"] "Open or close everything"
        TranscriptFilter "app.transcript.filter" ["f"] "The next filter"
        TranscriptLoadAll "app.transcript.loadAll" ["a"] "Load everything"
        TranscriptSearch "app.transcript.search" ["/"] "Search"
        NextMatch "app.transcript.nextMatch" ["n"] "To the next match"
        PreviousMatch "app.transcript.previousMatch" ["shift+n"] "To the previous match"
        TranscriptLabel "app.transcript.editLabel" ["shift+l"] "Edit the label"
        TranscriptCopy "app.transcript.copy" ["y", "alt+c"] "Copy the entry"
        TranscriptTree "app.transcript.tree" ["t", "alt+t"] "Open the tree here"
        CloseTranscript "app.transcript.close" ["q", "alt+o"] "Close"
    }
    List {
        Up "tui.select.up" ["up"] "A row up"
        Down "tui.select.down" ["down"] "A row down"
        PageUp "tui.select.pageUp" ["pageUp"] "A page up"
        PageDown "tui.select.pageDown" ["pageDown"] "A page down"
        First "tui.select.first" ["home"] "To the first row"
        Last "tui.select.last" ["end"] "To the last row"
        TogglePreview "app.tree.togglePreview" ["alt+v"] "Show or hide the preview"
        PreviewUp "app.tree.previewUp" ["alt+pageUp", "alt+k"] "Scroll the preview up"
        PreviewDown "app.tree.previewDown" ["alt+pageDown", "alt+j"] "Scroll the preview down"
        Confirm "tui.select.confirm" ["enter"] "Choose"
        Cancel "tui.select.cancel" ["escape", "ctrl+c"] "Back"
    }
    Everywhere {
        Suspend "app.suspend" ["ctrl+z"] "Back to the shell, to return with fg"
        Hotkeys "app.hotkeys" ["f1"] "Show all keys"
        Redraw "app.redraw" ["f5"] "Draw the screen anew"
    }
}

impl ActionId {
    /// All of them, as they stand in the table.
    pub fn all() -> impl Iterator<Item = ActionId> {
        ACTIONS.iter().map(|action| action.id)
    }

    /// The action that files call so.
    pub fn named(name: &str) -> Option<ActionId> {
        ACTIONS.iter().find(|action| action.name == name).map(|action| action.id)
    }

    /// What files call it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Where it can be done.
    pub fn place(self) -> Place {
        self.row().place
    }

    /// What it does, in a few words.
    pub fn description(self) -> &'static str {
        self.row().says
    }

    pub(super) fn row(self) -> &'static Action {
        // The rows stand in the order of the variants, both being made from one list.
        &ACTIONS[self as usize]
    }
}

/// Ids that files had before they got places, as pi still reads them.
pub(super) const OLD_NAMES: &[(&str, &str)] = &[
    ("interrupt", "app.interrupt"),
    ("clear", "app.clear"),
    ("exit", "app.exit"),
    ("suspend", "app.suspend"),
    ("cycleThinkingLevel", "app.thinking.cycle"),
    ("toggleThinking", "app.thinking.toggle"),
    ("cycleModelForward", "app.model.cycleForward"),
    ("cycleModelBackward", "app.model.cycleBackward"),
    ("selectModel", "app.model.select"),
    ("selectModelTemporary", "app.model.selectTemporary"),
    ("togglePlanMode", "app.plan.toggle"),
    ("expandTools", "app.tools.expand"),
    ("externalEditor", "app.editor.external"),
    ("followUp", "app.message.followUp"),
    ("dequeue", "app.message.dequeue"),
    ("historySearch", "app.history.search"),
    ("pasteImage", "app.clipboard.pasteImage"),
    ("copyLine", "app.clipboard.copyLine"),
    ("copyPrompt", "app.clipboard.copyPrompt"),
    ("newSession", "app.session.new"),
    ("tree", "app.session.tree"),
    ("fork", "app.session.fork"),
    ("resume", "app.session.resume"),
    ("observeSessions", "app.session.observe"),
    ("toggleSessionPath", "app.session.togglePath"),
    ("toggleSessionSort", "app.session.toggleSort"),
    ("toggleSessionNamedFilter", "app.session.toggleNamedFilter"),
    ("renameSession", "app.session.rename"),
    ("deleteSession", "app.session.delete"),
    ("deleteSessionNoninvasive", "app.session.deleteNoninvasive"),
    ("treeFoldOrUp", "app.tree.foldOrUp"),
    ("treeUnfoldOrDown", "app.tree.unfoldOrDown"),
    ("treeEditLabel", "app.tree.editLabel"),
    ("treeToggleLabelTimestamp", "app.tree.toggleLabelTimestamp"),
    ("cursorUp", "tui.editor.cursorUp"),
    ("cursorDown", "tui.editor.cursorDown"),
    ("cursorLeft", "tui.editor.cursorLeft"),
    ("cursorRight", "tui.editor.cursorRight"),
    ("cursorWordLeft", "tui.editor.cursorWordLeft"),
    ("cursorWordRight", "tui.editor.cursorWordRight"),
    ("cursorLineStart", "tui.editor.cursorLineStart"),
    ("cursorLineEnd", "tui.editor.cursorLineEnd"),
    ("jumpForward", "tui.editor.jumpForward"),
    ("jumpBackward", "tui.editor.jumpBackward"),
    ("pageUp", "tui.editor.pageUp"),
    ("pageDown", "tui.editor.pageDown"),
    ("deleteCharBackward", "tui.editor.deleteCharBackward"),
    ("deleteCharForward", "tui.editor.deleteCharForward"),
    ("deleteWordBackward", "tui.editor.deleteWordBackward"),
    ("deleteWordForward", "tui.editor.deleteWordForward"),
    ("deleteToLineStart", "tui.editor.deleteToLineStart"),
    ("deleteToLineEnd", "tui.editor.deleteToLineEnd"),
    ("yank", "tui.editor.yank"),
    ("yankPop", "tui.editor.yankPop"),
    ("undo", "tui.editor.undo"),
    ("newLine", "tui.input.newLine"),
    ("submit", "tui.input.submit"),
    ("tab", "tui.input.tab"),
    ("copy", "tui.input.copy"),
    ("selectUp", "tui.select.up"),
    ("selectDown", "tui.select.down"),
    ("selectPageUp", "tui.select.pageUp"),
    ("selectPageDown", "tui.select.pageDown"),
    ("selectConfirm", "tui.select.confirm"),
    ("selectCancel", "tui.select.cancel"),
];

/// Beginnings of ids that pi and oh-my-pi have and ramal has no use for. They are no mistakes of the user's.
pub(super) const OTHER_PROGRAMS: &[&str] = &[
    "app.clipboard.paste",
    "app.display.",
    "app.model.selectTemporary",
    "app.models.",
    "app.plan.",
    "app.session.observe",
    "app.stt.",
    "app.retry",
    "tui.editor.jump",
    "tui.editor.page",
];
