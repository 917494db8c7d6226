//! What holds whatever is done, shown beside a model that is too simple to be wrong.

use proptest::prelude::*;
use ramal_tui::editor::{Content, Editor, EditorAction, Mark, Outcome};
use ramal_tui::text::width::width;
use ramal_tui::theme::Theme;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::notation::shown;

/// Pieces of text that are easy to get wrong.
fn any_piece() -> impl Strategy<Value = String> {
    let odd = [
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "日",
        "本語、",
        "e\u{301}",
        "\u{301}",
        "👩",
        "\u{200d}",
        "👧",
        "🇫",
        "🇷🇩",
        "\u{200b}",
        "\u{202e}",
        "\u{2028}",
        "لا",
        "\u{1100}",
        "\u{1161}",
        "क\u{94d}",
        "ष",
        "\\",
        "@a",
        "\u{fe0f}",
        "❤",
    ];
    prop_oneof![
        3 => "[a-c]{1,12}",
        1 => "[ -~]{1,5}",
        4 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(any_piece(), 0..12).prop_map(|pieces| pieces.concat())
}

#[derive(Debug, Clone)]
enum Step {
    Type(String),
    Paste(String),
    Mark,
    Replace(String),
    Prefill(String),
    Clear,
    Take,
    Resize(usize, usize),
    Do(EditorAction),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any_piece().prop_map(Step::Type),
        1 => any_text().prop_map(Step::Paste),
        1 => (11usize..20).prop_map(|lines| Step::Paste("p\r\n".repeat(lines))),
        1 => Just(Step::Mark),
        1 => any_text().prop_map(Step::Replace),
        1 => any_text().prop_map(Step::Prefill),
        1 => Just(Step::Clear),
        1 => Just(Step::Take),
        1 => (1usize..20, 1usize..6).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        20 => prop::sample::select(EditorAction::ALL.to_vec()).prop_map(Step::Do),
    ]
}

fn apply(editor: &mut Editor, step: &Step) {
    match step {
        Step::Type(text) => editor.insert(text),
        Step::Paste(text) => editor.paste(text),
        Step::Mark => editor.insert_mark(Mark::image("[image #1]", "x.png")),
        Step::Replace(text) => editor.replace_text(text),
        Step::Prefill(text) => {
            editor.set_text_if_empty(&**text);
        }
        Step::Clear => editor.clear(),
        Step::Take => {
            editor.take();
        }
        Step::Resize(columns, rows) => editor.resize(*columns, *rows),
        Step::Do(action) => {
            editor.handle(*action);
        }
    }
}

/// A list of clusters and a number.
#[derive(Debug, Clone, Default)]
struct Model {
    clusters: Vec<String>,
    cursor: usize,
}

impl Model {
    fn text(&self) -> String {
        self.clusters.concat()
    }

    /// The text before and behind the cursor, which changes only here.
    fn set(&mut self, before: &str, after: &str) {
        let text = format!("{before}{after}");
        self.clusters = text.graphemes(true).map(str::to_owned).collect();
        let mut end = 0;
        let ends = self.clusters.iter().map(|cluster| {
            end += cluster.len();
            end
        });
        self.cursor = ends.take_while(|end| *end < before.len()).count() + usize::from(!before.is_empty());
    }

    fn delete(&mut self, from: usize, to: usize) {
        let (before, after) = (self.clusters[..from].concat(), self.clusters[to..].concat());
        self.set(&before, &after);
    }

    fn line_start(&self) -> usize {
        self.clusters[..self.cursor].iter().rposition(|cluster| cluster == "\n").map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let newline = self.clusters[self.cursor..].iter().position(|cluster| cluster == "\n");
        newline.map_or(self.clusters.len(), |at| self.cursor + at)
    }

    fn insert(&mut self, text: &str) {
        let before = self.clusters[..self.cursor].concat() + text;
        let after = self.clusters[self.cursor..].concat();
        self.set(&before, &after);
    }

    fn act(&mut self, action: EditorAction) {
        use EditorAction as A;
        let (cursor, end) = (self.cursor, self.clusters.len());
        match action {
            A::CursorLeft => self.cursor = cursor.saturating_sub(1),
            A::CursorRight => self.cursor = (cursor + 1).min(end),
            A::CursorLineStart => self.cursor = self.line_start(),
            A::CursorLineEnd => self.cursor = self.line_end(),
            A::CursorBufferStart => self.cursor = 0,
            A::CursorBufferEnd => self.cursor = end,
            A::DeleteCharBackward if cursor > 0 => self.delete(cursor - 1, cursor),
            A::DeleteCharForward if cursor < end => self.delete(cursor, cursor + 1),
            A::DeleteToLineStart if cursor > 0 => self.delete(self.line_start().min(cursor - 1), cursor),
            A::DeleteToLineEnd if cursor < end => self.delete(cursor, self.line_end().max(cursor + 1)),
            A::NewLine => self.insert("\n"),
            _ => {}
        }
    }
}

/// What the model knows how to do.
fn any_simple_step() -> impl Strategy<Value = Step> {
    use EditorAction as A;
    let actions = vec![
        A::CursorLeft,
        A::CursorRight,
        A::CursorLineStart,
        A::CursorLineEnd,
        A::CursorBufferStart,
        A::CursorBufferEnd,
        A::DeleteCharBackward,
        A::DeleteCharForward,
        A::DeleteToLineStart,
        A::DeleteToLineEnd,
        A::NewLine,
        A::Tab,
    ];
    prop_oneof![any_piece().prop_map(Step::Type), prop::sample::select(actions).prop_map(Step::Do)]
}

/// The text with the cursor in it, as the editor tells it by what is typed there.
fn halves(editor: &Editor) -> (String, String) {
    let mut probe = editor.clone();
    probe.insert("\u{e000}");
    let text = probe.text();
    let (before, after) = text.split_once('\u{e000}').expect("what was typed is there");
    (before.to_owned(), after.to_owned())
}

fn check_drawing(editor: &Editor, columns: usize, rows: usize) {
    let drawing = editor.lines(columns, &Theme::plain());
    assert!((1..=rows).contains(&drawing.lines.len()));
    for line in &drawing.lines {
        let text = line.to_string();
        assert!(width(&text) <= columns, "{text:?} in {columns}");
        // As ratatui counts as well.
        assert!(line.width() <= columns, "{text:?} in {columns}");
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
    assert!(usize::from(drawing.cursor.x) < columns);
    assert!(usize::from(drawing.cursor.y) < drawing.lines.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn it_does_what_the_model_does(steps in prop::collection::vec(any_simple_step(), 1..40)) {
        let (mut editor, mut model) = (Editor::new(), Model::default());
        for step in &steps {
            apply(&mut editor, step);
            match step {
                Step::Type(text) => model.insert(text),
                Step::Do(action) => model.act(*action),
                _ => {}
            }
            prop_assert_eq!(editor.text(), model.text());
            let before = model.clusters[..model.cursor].concat();
            prop_assert_eq!(halves(&editor).0, before, "after {:?}", step);
        }
    }

    #[test]
    fn the_cursor_is_between_clusters(steps in prop::collection::vec(any_step(), 1..40)) {
        let mut editor = Editor::new();
        editor.set_history(["one", "two\nlines", ""].map(String::from));
        for step in &steps {
            apply(&mut editor, step);
            let (before, after) = halves(&editor);
            let text = format!("{before}{after}");
            prop_assert_eq!(&text, &editor.text());
            let mut places = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]);
            // A mark stands apart even where its text would join with what is beside it.
            if editor.content().marks().is_empty() {
                prop_assert!(places.any(|at| at == before.len()), "{:?} | {:?} after {:?}", before, after, step);
            }
        }
    }

    #[test]
    fn everything_can_be_taken_back_and_made_again(
        beginning in any_text(),
        steps in prop::collection::vec(any_step(), 1..30),
    ) {
        let mut editor = Editor::new();
        editor.set_text_if_empty(&*beginning);
        editor.take();
        for step in steps.iter().filter(|step| !matches!(step, Step::Take)) {
            apply(&mut editor, step);
        }
        // What is only looked at ends here, one way or another.
        editor.insert("x");
        let end = editor.content().clone();
        let mut undone = 0;
        while editor.handle(EditorAction::Undo) == Outcome::Done {
            undone += 1;
        }
        prop_assert!(editor.is_empty());
        for _ in 0..undone {
            prop_assert_eq!(editor.handle(EditorAction::Redo), Outcome::Done);
        }
        prop_assert_eq!(editor.content(), &end);
        prop_assert_eq!(editor.handle(EditorAction::Redo), Outcome::Nothing);
    }

    #[test]
    fn nothing_is_wider_than_it_may_be(
        steps in prop::collection::vec(any_step(), 1..30),
        columns in 1usize..30,
        rows in 1usize..6,
    ) {
        let mut editor = Editor::new();
        editor.set_placeholder("日本 placeholder");
        for step in &steps {
            apply(&mut editor, step);
            editor.resize(columns, rows);
            check_drawing(&editor, columns, rows);
            // Also where nobody has said so before.
            check_drawing(&editor, 1, rows);
            check_drawing(&editor, columns + 7, rows);
        }
    }

    #[test]
    fn every_character_is_seen_once(text in any_text(), columns in 60usize..100) {
        // Numbers stand for what must not be seen as it is, and are not typed here.
        prop_assume!(!text.contains("u{"));
        let mut editor = Editor::new();
        editor.insert(&text);
        editor.resize(columns, 1000);
        let drawing = editor.lines(columns, &Theme::plain());
        let seen: String = drawing.lines.iter().map(ToString::to_string).collect();
        let without_numbers = seen.split("\\u{").enumerate().map(|(n, part)| {
            if n == 0 { part } else { part.split_once('}').map_or("", |(_, rest)| rest) }
        });
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        prop_assert_eq!(letters(&without_numbers.collect::<String>()), letters(&text));
    }

    #[test]
    fn up_and_down_lead_through_all_rows(text in any_text(), columns in 1usize..20) {
        let mut editor = Editor::new();
        editor.insert(&text);
        editor.resize(columns, 1000);
        let rows = editor.lines(columns, &Theme::plain()).lines.len();
        editor.handle(EditorAction::CursorBufferStart);
        for row in 0..rows {
            prop_assert_eq!(usize::from(editor.lines(columns, &Theme::plain()).cursor.y), row);
            editor.handle(EditorAction::CursorDown);
        }
        editor.handle(EditorAction::CursorBufferEnd);
        for row in (0..rows).rev() {
            prop_assert_eq!(usize::from(editor.lines(columns, &Theme::plain()).cursor.y), row);
            editor.handle(EditorAction::CursorUp);
        }
    }

    #[test]
    fn drafts_keep_everything(steps in prop::collection::vec(any_step(), 1..30)) {
        let mut editor = Editor::new();
        for step in &steps {
            apply(&mut editor, step);
        }
        let draft = editor.to_draft();
        let again = Editor::from_draft(&draft).unwrap();
        prop_assert_eq!(again.to_draft(), draft);
        // Without earlier prompts nothing but the draft can be seen, unless some were sent.
        if !steps.iter().any(|step| matches!(step, Step::Take | Step::Prefill(_))) {
            prop_assert_eq!(shown(&again), shown(&editor));
        }
    }

    #[test]
    fn any_draft_will_do(draft in "\\PC{0,40}|[{}\"a-z:0-9,]{0,40}") {
        let _ = Editor::from_draft(&draft);
        let damaged = format!("{{\"text\":\"abc\\u001a\u{301}\",\"cursor\":{draft}}}");
        if let Ok(editor) = Editor::from_draft(&damaged) {
            prop_assert_eq!(editor.text(), "abc\u{301}");
        }
    }

    #[test]
    fn what_was_typed_is_somewhere(
        typed in "[a-z]{5,9}",
        steps in prop::collection::vec(any_step(), 0..20),
    ) {
        let destroys = |step: &Step| {
            matches!(step, Step::Clear | Step::Replace(_) | Step::Do(EditorAction::Undo))
                || matches!(step, Step::Do(action) if action.id().contains("delete") || *action == EditorAction::YankPop)
        };
        let mut editor = Editor::new();
        // A word of its own, in which nothing else is typed.
        editor.insert_mark(Mark::image(&typed, "x"));
        for step in steps.iter().filter(|step| !destroys(step)) {
            apply(&mut editor, step);
        }
        let holds = |content: &Content| content.text().contains(&typed);
        let mut found = holds(editor.content()) || editor.pending_prefill().is_some_and(holds);
        for _ in 0..400 {
            editor.handle(EditorAction::CursorUp);
            found |= holds(editor.content());
        }
        for _ in 0..400 {
            editor.handle(EditorAction::CursorDown);
            found |= holds(editor.content());
        }
        prop_assert!(found);
    }
}
