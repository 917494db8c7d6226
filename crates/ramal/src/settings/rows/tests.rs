//! The table, its reader and its documentation.

use ramal_tui::settings_view::SettingKind;

use super::super::read::{Setting, Value};
use super::super::{Taken, not_done};
use super::*;

const DOCUMENTATION: &str = include_str!("../../../../../docs/settings.md");

/// The rows of the tables of settings that count: name, default, what it is for; without marks.
fn documented() -> Vec<(String, String, String)> {
    let (ours, _) = DOCUMENTATION.split_once("## Changing them").unwrap();
    let lines = ours.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let rows = lines.map(|line| {
        let [name, default, says] =
            <[&str; 3]>::try_from(line.split(" | ").map(str::trim).collect::<Vec<_>>()).expect(line);
        let says = says.replace("[hold keys](models.md#keys-and-commands)", "hold keys");
        (format!("`{name}"), default.replace(['`', '"'], ""), says.replace('`', ""))
    });
    rows.collect()
}

#[test]
fn the_documentation_tells_of_every_setting_and_no_other() {
    let rows = of(&Said::default());
    let (mut told, documented) = (Vec::new(), documented());
    for (names, default, says) in &documented {
        for name in names.split(", ").map(|name| name.trim_matches('`')) {
            let of_tool = table::PERMISSIONS.to_owned() + "TOOL";
            let keys: Vec<String> = match name == of_tool {
                true => table::tools().iter().map(|tool| format!("permissions.{tool}")).collect(),
                false => vec![name.to_owned()],
            };
            for key in keys {
                let row = rows.iter().find(|row| row.key == table::name(&key)).expect(&key);
                assert_eq!(row.says.replace('"', ""), says.replace('"', ""), "{key}");
                if !row.default.is_empty() {
                    assert_eq!(row.default, *default, "{key}");
                }
                told.push(key);
            }
        }
    }
    for row in &rows {
        assert!(told.contains(&row.key), "{} is not in docs/settings.md", row.key);
        let also = table::find(&row.key).map_or(&[][..], |known| known.also);
        assert!(also.iter().all(|name| DOCUMENTATION.contains(&format!("`{name}`"))), "{also:?}");
    }
    assert_eq!(told.len(), rows.len() + 1, "quietStartup has two names there");
}

/// A value that is not the default.
fn another(row: &SettingRow) -> (Value, String) {
    let text = |text: &str| (Value::Text(text.to_owned()), text.to_owned());
    match &row.kind {
        SettingKind::Flag => (Value::Bool(row.default != "true"), (row.default != "true").to_string()),
        SettingKind::Number => (Value::Integer(42), "42".to_owned()),
        SettingKind::Choice(choices) => {
            text(choices.iter().find(|choice| **choice != row.default).expect("another choice"))
        }
        SettingKind::Text if row.key == "extensionsFrom" => {
            (Value::Texts(vec!["pi".to_owned(), "omp".to_owned()]), r#"["pi", "omp"]"#.to_owned())
        }
        SettingKind::Text if matches!(&*row.key, "tools" | "bash.keepEnv" | "extensions") => {
            (Value::Texts(vec!["read".to_owned(), "ls".to_owned()]), r#"["read", "ls"]"#.to_owned())
        }
        SettingKind::Text => text("/some/thing"),
    }
}

#[test]
fn every_row_is_read_and_shown() {
    for row in of(&Said::default()) {
        let names = table::find(&row.key).map_or(&[][..], |known| known.also);
        for name in names.iter().copied().chain([&*row.key]) {
            assert!(not_done::take(name, &Value::Other).is_none(), "{name} is done");
            let (value, shown) = another(&row);
            let setting = Setting { key: name.to_owned(), value, line: 7 };
            let mut said = Said::default();
            let path = Path::new("/x/settings.toml");
            assert_eq!(said.settings.take(&setting, path, Origin::User), Ok(Taken::Yes), "{name}");
            let rows = of(&said);
            for now in &rows {
                let want = if now.key == row.key { &shown } else { &now.default };
                assert_eq!(now.value, *want, "{} after {name}", now.key);
            }
            // Nothing but what the kind allows.
            let wrong = Setting { key: name.to_owned(), value: Value::Other, line: 7 };
            assert!(said.settings.take(&wrong, path, Origin::User).is_err(), "{name}");
        }
        // The default can be said, too.
        if let SettingKind::Choice(choices) = &row.kind {
            assert!(row.default.is_empty() || choices.contains(&row.default), "{}", row.key);
            for choice in choices {
                let setting = Setting { key: row.key.clone(), value: Value::Text(choice.clone()), line: 1 };
                let taken = Settings::default().take(&setting, Path::new("x"), Origin::User);
                assert_eq!(taken, Ok(Taken::Yes), "{} {choice}", row.key);
            }
        }
    }
}

#[test]
fn rows_say_which_file_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    #[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
    let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
    write(
        "user.toml",
        "theme = \"light\"\nthinkingLevel = \"low\"\npermissions.bash = \"deny\"\nautoTitle = 3\n",
    );
    write(
        "project.toml",
        "defaultThinkingLevel = \"high\"\npermissions.bash = \"ask\"\npermissions.ls = \"deny\"\n",
    );
    let project = (Some(path("project.toml")), None);
    let files = Files { user: (Some(path("user.toml")), None), project };
    let rows = of(&files.read());
    let row = |key: &str| {
        let row = rows.iter().find(|row| row.key == key).unwrap();
        (&*row.value, &*row.from)
    };
    let (user, project) = (short(&path("user.toml")), "project file .ramal/settings.toml");
    assert_eq!(row("theme"), ("light", &*user));
    assert_eq!(row("thinkingLevel"), ("high", project));
    assert_eq!(row("permissions.bash"), ("deny", &*user), "a project cannot lift it");
    assert_eq!(row("permissions.ls"), ("deny", project));
    assert_eq!(row("permissions.read"), ("", ""));
    assert_eq!(row("autoTitle"), ("true", ""), "what is wrong there does not count");
    write("pi.json", r#"{"theme": "light", "sessionDir": "/pi", "startup": {"quiet": true}}"#);
    let rows =
        of(&Files { user: (Some(path("none.toml")), Some(path("pi.json"))), project: (None, None) }.read());
    let from: Vec<(&str, &str)> =
        rows.iter().filter(|row| !row.from.is_empty()).map(|row| (&*row.key, &*row.from)).collect();
    let pi = short(&path("pi.json"));
    assert_eq!(from, [("theme", &*pi), ("quietStartup", &*pi)]);
}

#[test]
fn paths_at_home_are_short() {
    let home = std::env::home_dir().unwrap();
    assert_eq!(short(&home.join("x/settings.toml")), "~/x/settings.toml");
    assert_eq!(short(Path::new("/nowhere/x")), "/nowhere/x");
}
