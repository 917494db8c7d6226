//! What keys set, and what is seen of the settings.

use super::*;
use crate::testing::{key, letters, sizes, text, view};

fn setting(key: &str, value: &str, default: &str, kind: SettingKind, from: &str) -> SettingRow {
    let says = format!("What {key} is for.");
    SettingRow {
        key: key.into(),
        value: value.into(),
        default: default.into(),
        kind,
        says,
        from: from.into(),
    }
}

fn settings() -> Vec<SettingRow> {
    let choices = ["default", "no-tools", "all"].map(str::to_owned).into();
    vec![
        setting("compaction.enabled", "true", "true", SettingKind::Flag, ""),
        setting("treeFilter", "no-tools", "default", SettingKind::Choice(choices), "~/.ramal/settings.toml"),
        setting("retry.maxRetries", "3", "3", SettingKind::Number, ""),
        setting("sessionDir", "", "", SettingKind::Text, ""),
    ]
}

fn press(view: &mut SettingsView, names: &str) -> Told {
    let keymap = Keymap::default();
    names.split_whitespace().map(|name| view.key(&keymap, key(name))).last().unwrap()
}

fn write(view: &mut SettingsView, text: &str) {
    letters(text).for_each(|letter| assert_eq!(view.key(&Keymap::default(), letter), Told::Redraw));
}

fn set(key: &str, value: &str) -> Told {
    Told::Set { key: key.into(), value: value.into() }
}

#[test]
fn flags_and_choices_go_round() {
    let mut view = SettingsView::new(settings());
    assert_eq!(press(&mut view, "enter"), set("compaction.enabled", "false"));
    assert_eq!(press(&mut view, "space"), set("compaction.enabled", "true"));
    for (keys, value) in [
        ("down enter", "all"),
        ("space", "default"),
        ("left", "all"),
        ("left", "no-tools"),
        ("right", "all"),
        ("alt+d", "default"),
    ] {
        assert_eq!(press(&mut view, keys), set("treeFilter", value), "{keys}");
        assert_eq!(view.selected().map(|setting| &*setting.value), Some(value), "it is shown at once");
    }
    assert_eq!(press(&mut view, "alt+d"), Told::Redraw, "it is the default already");
    // What a file says may be none of the choices.
    let mut strange = settings();
    strange[1].value = "strange".into();
    for (name, value) in [("right", "default"), ("left", "all")] {
        let mut view = SettingsView::new(strange.clone());
        press(&mut view, "down");
        assert_eq!(press(&mut view, name), set("treeFilter", value));
    }
}

#[test]
fn numbers_and_texts_are_written() {
    let mut settings = SettingsView::new(settings());
    press(&mut settings, "down down enter");
    let seen = view(60, 20, |scene| settings.draw(scene));
    assert!(seen.lines[1].to_string().starts_with("retry.maxRetries: 3"));
    assert_eq!(seen.cursor.map(|cursor| (cursor.x, cursor.y)), Some((19, 1)));
    write(&mut settings, "x");
    assert_eq!(press(&mut settings, "enter"), Told::Redraw);
    let seen = text(&view(60, 20, |scene| settings.draw(scene)).lines);
    assert!(seen.ends_with("retry.maxRetries is a number, such as 3"), "{seen}");
    press(&mut settings, "backspace");
    write(&mut settings, "0");
    assert_eq!(press(&mut settings, "enter"), set("retry.maxRetries", "30"));
    // A text may be empty, and may have spaces.
    press(&mut settings, "down space");
    settings.paste("/tmp/my sessions\n");
    write(&mut settings, " x");
    assert_eq!(press(&mut settings, "enter"), set("sessionDir", "/tmp/my sessions x"));
    press(&mut settings, "enter ctrl+u");
    assert_eq!(press(&mut settings, "escape"), Told::Redraw, "it is left as it was");
    assert_eq!(settings.selected().map(|setting| &*setting.value), Some("/tmp/my sessions x"));
    press(&mut settings, "enter ctrl+u");
    assert_eq!(press(&mut settings, "enter"), set("sessionDir", ""));
    assert_eq!(press(&mut settings, "escape"), Told::Close);
}

#[test]
fn a_space_is_a_space_while_one_searches() {
    let mut view = SettingsView::new(settings());
    write(&mut view, "what max");
    assert_eq!(view.selected().map(|setting| &*setting.key), Some("retry.maxRetries"));
    assert_eq!(press(&mut view, "space"), Told::Redraw);
    assert_eq!(press(&mut view, "escape"), Told::Redraw);
    assert_eq!(view.selected().map(|setting| &*setting.key), Some("compaction.enabled"));
    write(&mut view, "zzz");
    assert_eq!(press(&mut view, "right"), Told::Nothing);
    assert_eq!(press(&mut view, "enter"), Told::Nothing);
}

#[test]
fn what_could_not_be_written_is_shown_as_it_is() {
    let mut view = SettingsView::new(settings());
    assert_eq!(press(&mut view, "down enter"), set("treeFilter", "all"));
    view.set_rows(settings());
    view.notice("It could not be written");
    assert_eq!(
        view.selected().map(|setting| (&*setting.key, &*setting.value)),
        Some(("treeFilter", "no-tools"))
    );
}

#[test]
fn settings_are_drawn() {
    let mut settings = SettingsView::new(settings());
    press(&mut settings, "down");
    let seen = view(100, 24, |scene| settings.draw(scene));
    assert_eq!(
        text(&seen.lines),
        "\
Settings                                                                                         2/4
Type to search
  compaction.enabled  true
› treeFilter          no-tools (default default)                              ~/.ramal/settings.toml
  retry.maxRetries    3
  sessionDir          –










────────────────────────────────────────────────────────────────────────────────────────────────────
What treeFilter is for.
Value    no-tools
Default  default
Set in   ~/.ramal/settings.toml
One of   default, no-tools, all

Enter next value · Esc back · Left previous · Alt+D default · Alt+V preview"
    );
    for (columns, rows) in sizes() {
        let mut settings = SettingsView::new(self::settings());
        view(columns, rows, |scene| settings.draw(scene));
        press(&mut settings, "up enter 日");
        view(columns, rows, |scene| settings.draw(scene));
    }
}
