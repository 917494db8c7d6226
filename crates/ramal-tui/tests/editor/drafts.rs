//! Drafts that outlive the program.

use ramal_tui::editor::{Content, Editor, Mark, MarkKind};

use crate::notation::{editor, press, shown};

#[test]
fn everything_comes_back() {
    let mut editor = editor("see |, pl\u{e9}ase\n\t日本");
    editor.paste(&"line\n".repeat(30));
    editor.insert_mark(Mark::image("[image #1]", "/tmp/x.png"));
    press(&mut editor, "cursorLeft");
    editor.set_text_if_empty("an older question");
    let mut again = Editor::from_draft(&editor.to_draft()).unwrap();
    assert_eq!(again.content(), editor.content());
    assert_eq!(shown(&again), shown(&editor));
    assert_eq!(again.pending_prefill(), editor.pending_prefill());
    assert_eq!(again.to_draft(), editor.to_draft());
    // The next mark has another number.
    again.paste(&"line\n".repeat(12));
    let labels: Vec<_> = again.content().marks().iter().map(Mark::label).collect();
    assert!(!labels[1..].contains(&labels[0]), "{labels:?}");
}

#[test]
fn it_is_the_draft_and_not_what_is_looked_at() {
    let mut editor = editor("a dr|aft");
    editor.set_history(["earlier".to_owned()]);
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&Editor::from_draft(&editor.to_draft()).unwrap()), "a dr|aft");
}

#[test]
fn damaged_drafts() {
    for (draft, want) in [
        (r#"{"text":"abc"}"#, Some("abc|")),
        (r#"{"text":"abc","cursor":1}"#, Some("a|bc")),
        (r#"{"text":"abc","cursor":99,"marks":null}"#, Some("abc|")),
        (r#"{"text":"abc","cursor":-3,"marks":"?","pending":7,"other":[]}"#, Some("abc|")),
        (r#"{"text":"abc","pastes":18446744073709551615}"#, Some("abc|")),
        // In the middle of a character, and of a cluster.
        (r#"{"text":"éx","cursor":1}"#, Some("é|x")),
        ("{\"text\":\"e\u{301}x\",\"cursor\":1}", Some("e\u{301}|x")),
        // A hole without a mark, and a mark without a hole.
        (r#"{"text":"a\u001ab","cursor":1}"#, Some("a|b")),
        (r#"{"text":"ab","marks":[{"label":"[m]","text":"long"}],"cursor":0}"#, Some("|ab[m]")),
        (r#"{"text":"a\u001b[31m\u0000b\r\nc","cursor":0}"#, Some("|a[31mb\nc")),
        (r#"{"cursor":1}"#, None),
        (r#"{"text":"abc"#, None),
        ("", None),
        ("[]", None),
    ] {
        let restored = Editor::from_draft(draft);
        assert_eq!(restored.as_ref().ok().map(shown).as_deref(), want, "{draft}");
        // Whatever came of it can be kept again.
        if let Ok(mut editor) = restored {
            assert_eq!(Editor::from_draft(&editor.to_draft()).unwrap().content(), editor.content());
            editor.paste(&"line\n".repeat(20));
            assert!(editor.content().marks().iter().any(|mark| mark.label().starts_with("[paste #")));
        }
    }
}

#[test]
fn pictures_know_where_they_come_from() {
    let mut editor = Editor::new();
    editor.insert_mark(Mark::image("[image #1 \x1b[2Jcat.png]", "/tmp/cat.png"));
    let again = Editor::from_draft(&editor.to_draft()).unwrap();
    let mark = &again.content().marks()[0];
    assert_eq!(*mark.kind(), MarkKind::Image { source: "/tmp/cat.png".into() });
    assert_eq!(mark.label(), "[image #1 [2Jcat.png]");
    assert_eq!(Content::from(mark.clone()).text(), "[image #1 [2Jcat.png]");
}

#[test]
fn a_draft_takes_the_place_of_what_is_written() {
    let aside = {
        let mut editor = editor("what was |put aside ");
        editor.paste(&"line\n".repeat(30));
        editor
    };
    let mut editor = editor("now|");
    editor.set_history(["earlier".to_owned()]);
    let before = editor.revision();
    editor.restore_draft(&aside.to_draft()).unwrap();
    assert_eq!((editor.content(), shown(&editor)), (aside.content(), shown(&aside)));
    assert_ne!(editor.revision(), before);
    assert!(editor.restore_draft("no draft").is_err());
    assert_eq!(editor.content(), aside.content());
    press(&mut editor, "undo");
    assert_eq!(shown(&editor), "now|");
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "earlier|", "the earlier prompts are still there");
}
