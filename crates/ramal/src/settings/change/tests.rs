//! Settings that are set in files.

#![allow(clippy::disallowed_methods, reason = "files of the test's own folder")]

use std::path::PathBuf;

use super::*;

/// A folder with the files of settings of a user and a project.
struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(home.path(name), text).unwrap();
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn files(&self) -> Files {
        let of = |name: &str| Some(self.path(name));
        Files {
            user: (of("settings.toml"), of("pi.json")),
            project: (of("project.toml"), of("pi-project.json")),
        }
    }

    /// What is told, with the folder's own name left out.
    fn set(&self, key: &str, value: &str) -> Result<String, String> {
        let here = format!("{}/", short(self.0.path()));
        let told = set_in(&self.files(), key, value);
        told.map(|told| told.replace(&here, "")).map_err(|error| error.to_string().replace(&here, ""))
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    fn value(&self, key: &str) -> String {
        let rows = super::super::rows::of(&self.files().read());
        rows.into_iter().find(|row| row.key == key).unwrap().value
    }

    /// The names of what is in the folder.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn told(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn refused(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}

#[test]
fn the_file_is_changed_and_what_it_was_is_kept() {
    let before = "# mine\nautoTitle = true # yes\n\n[retry]\nmaxRetries = 5\n";
    let home = Home::new(&[("settings.toml", before)]);
    assert_eq!(home.set("autoTitle", "false"), told("`autoTitle` is false now, in settings.toml"));
    let after = before.replace("true", "false");
    assert_eq!(home.text("settings.toml"), Some(after.clone()));
    assert_eq!(home.text("settings.toml.bak").as_deref(), Some(before));
    assert_eq!(home.set("retry.baseDelayMs", "10"), told("`retry.baseDelayMs` is 10 now, in settings.toml"));
    assert_eq!(home.text("settings.toml"), Some(format!("{after}baseDelayMs = 10\n")));
    assert_eq!(home.text("settings.toml.bak"), Some(after), "the one before the last change");
    assert_eq!(home.set("autoTitle", "false"), told("`autoTitle` is false already, in settings.toml"));
    assert_eq!(home.names(), ["settings.toml", "settings.toml.bak"]);
}

#[test]
fn every_setting_can_be_set_to_what_it_can_be() {
    use ramal_tui::settings_view::SettingKind;
    let home = Home::new(&[]);
    let rows = super::super::rows::of(&home.files().read());
    for row in &rows {
        let value = match &row.kind {
            SettingKind::Flag => (row.value != "true").to_string(),
            SettingKind::Choice(choices) => {
                choices.iter().find(|choice| **choice != row.value).unwrap().clone()
            }
            SettingKind::Number => "42".to_owned(),
            SettingKind::Text if matches!(&*row.key, "tools" | "bash.keepEnv" | "extensions") => {
                r#"["ls"]"#.to_owned()
            }
            SettingKind::Text if row.key == "extensionsFrom" => r#"["omp"]"#.to_owned(),
            SettingKind::Text => "/a b".to_owned(),
        };
        home.set(&row.key, &value).unwrap();
        // Whether a conversation is summed up is said in two places.
        assert_eq!(home.value(&row.key), value, "{}", row.key);
    }
    let files = home.files().read();
    assert_eq!(files.problems.len(), 0, "{:?}", files.problems);
    for row in &rows {
        home.set(&row.key, &row.default).unwrap();
        assert_eq!(home.value(&row.key), row.default, "{}", row.key);
    }
    assert_eq!(home.files().read().in_force(), (Settings::default(), Vec::new()));
}

#[test]
fn the_first_setting_makes_the_file() {
    let home = Home::new(&[]);
    let files = Files { user: (Some(home.path("a/b/settings.toml")), None), project: (None, None) };
    set_in(&files, "theme", "light").unwrap();
    assert_eq!(home.text("a/b/settings.toml").as_deref(), Some("theme = \"light\"\n"));
    assert_eq!(std::fs::read_dir(home.path("a/b")).unwrap().count(), 1, "nothing was there to be kept");
    let none = Home::new(&[]);
    assert_eq!(none.set("model", ""), told("`model` is not set in settings.toml"));
    assert_eq!(none.names(), [""; 0]);
    let no_place = Files { user: (None, None), project: (None, None) };
    assert!(set_in(&no_place, "theme", "x").unwrap_err().to_string().contains("no folder for settings"));
}

#[test]
fn what_the_reader_refuses_is_not_written() {
    let home = Home::new(&[("settings.toml", "theme = \"x\"\n")]);
    for (key, value, why) in [
        ("autoTitle", "yes", "`autoTitle` must be true or false"),
        ("retry.maxRetries", "1.5", "`retry.maxRetries` must be a number, 0 or more"),
        ("retry.maxRetries", "-1", "`retry.maxRetries` must be a number, 0 or more"),
        (
            "compaction.thresholdPercent",
            "100",
            "`compaction.thresholdPercent` must be a number, 1 to 99, or -1 for none",
        ),
        ("steeringMode", "some", "`steeringMode` must be one of \"one-at-a-time\", \"all\""),
        (
            "compaction.strategy",
            "handoff",
            "`compaction.strategy` \"handoff\" is not done by ramal; \"context-full\" is in force",
        ),
        ("permissions.bash", "maybe", "`permissions.bash` must be one of \"ask\", \"allow\", \"deny\""),
        (
            "bash.keepEnv",
            "[1]",
            "`bash.keepEnv` must be a list of names such as [\"OPENAI_API_KEY\"]; none is kept",
        ),
        ("modle", "a/b", "there is no setting `modle`"),
        ("modle", "", "there is no setting `modle`"),
        ("checkpoint.enabled", "true", "`checkpoint.enabled` is for something that ramal does not do"),
    ] {
        assert_eq!(home.set(key, value), refused(why));
    }
    assert!(
        home.set("tools", "read, sing").unwrap_err().contains("there is no tool `sing`; the tools are read")
    );
    assert!(home.set("tools", "[\"read\"]\ntheme = \"y\"").is_err(), "one setting at a time");
    assert_eq!(home.text("settings.toml").as_deref(), Some("theme = \"x\"\n"));
    assert_eq!(home.names(), ["settings.toml"]);
}

#[test]
fn lists_are_written_with_commas_or_as_in_the_file() {
    let home = Home::new(&[]);
    for (value, text) in [
        ("read, ls", "tools = [\"read\", \"ls\"]\n"),
        ("[\"ls\"]", "tools = [\"ls\"]\n"),
        ("[]", "tools = []\n"),
        ("", ""),
    ] {
        home.set("tools", value).unwrap();
        assert_eq!(home.text("settings.toml").as_deref(), Some(text), "{value}");
    }
}

#[test]
fn every_name_of_a_setting_is_changed() {
    let home =
        Home::new(&[("settings.toml", "defaultThinkingLevel = \"low\"\nstartup = { quiet = false }\n")]);
    home.set("thinkingLevel", "high").unwrap();
    home.set("startup.quiet", "true").unwrap();
    let after = "defaultThinkingLevel = \"high\"\nstartup = { quiet = true }\n";
    assert_eq!(home.text("settings.toml").as_deref(), Some(after));
    assert_eq!((&*home.value("thinkingLevel"), &*home.value("quietStartup")), ("high", "true"));
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let wrong = "theme = \"x\"\nautoTitle = = true\n";
    let home = Home::new(&[("settings.toml", wrong)]);
    let error = home.set("theme", "light").unwrap_err();
    assert!(error.starts_with("`theme` was not set: settings.toml, line 2: "), "{error}");
    assert!(error.ends_with("; mend that first"), "{error}");
    assert_eq!(home.text("settings.toml").as_deref(), Some(wrong));
    std::fs::write(home.path("settings.toml"), b"theme = \"x\"\n# \xff\n").unwrap();
    let error = home.set("theme", "light").unwrap_err();
    assert_eq!(error, "`theme` was not set: settings.toml, line 2: it is not UTF-8; mend that first");
    std::fs::write(home.path("settings.toml"), "[theme]\nx = 1\n").unwrap();
    let error = home.set("theme", "light").unwrap_err();
    assert_eq!(
        error,
        "`theme` was not set: settings.toml, line 1: `theme` is a table there; mend that first"
    );
    assert_eq!(home.names(), ["settings.toml"]);
    // More than is ever read.
    let long = format!("{}theme = \"x\"\n", "# long\n".repeat(200_000));
    std::fs::write(home.path("settings.toml"), &long).unwrap();
    assert!(home.set("theme", "light").unwrap_err().contains("it is longer than 1048576 bytes"));
    assert_eq!(home.text("settings.toml"), Some(long));
    std::fs::remove_file(home.path("settings.toml")).unwrap();
    std::fs::create_dir(home.path("settings.toml")).unwrap();
    assert!(home.set("theme", "light").unwrap_err().contains("it is no regular file"));
}

#[test]
fn a_project_goes_before() {
    let project = "# of all\nautoTitle = false\npermissions.ls = \"ask\"\npermissions.bash = \"ask\"\n";
    let home = Home::new(&[("project.toml", project)]);
    assert_eq!(
        home.set("autoTitle", "true"),
        told(
            "`autoTitle` is true now, in settings.toml; project.toml, line 2, goes before it: here it is false"
        )
    );
    assert_eq!(
        home.set("permissions.ls", "allow"),
        told(
            "`permissions.ls` is allow now, in settings.toml; project.toml, line 3, goes before it: here it is ask"
        )
    );
    // What you forbid no project allows.
    assert_eq!(
        home.set("permissions.bash", "deny"),
        told("`permissions.bash` is deny now, in settings.toml")
    );
    assert_eq!(home.text("project.toml").as_deref(), Some(project));
}

#[test]
fn what_comes_of_it_is_told() {
    let home = Home::new(&[]);
    let said = |key, value| home.set(key, value).unwrap().split_once("settings.toml").unwrap().1.to_owned();
    assert_eq!(said("retry.maxRetries", "500"), "; that is 100");
    assert_eq!(said("doubleEscapeAction", "rewind"), "; that is branch");
    assert_eq!(said("compaction.strategy", "off"), "");
    assert_eq!(said("compaction.enabled", "true"), "; `compaction.strategy` is off, which goes before it");
    assert_eq!(said("compaction.enabled", "false"), "");
    assert_eq!(
        said("compaction.strategy", "context-full"),
        "; `compaction.enabled` is false, which goes before it"
    );
}

#[test]
fn what_is_known_of_pi_goes_along() {
    let pi = r#"{
        "defaultProvider": "anthropic", "defaultModel": "x", "defaultThinkingLevel": "low", "sessionDir": "/pi",
        "compaction": {"enabled": false, "reserveTokens": "many", "keepRecentTokens": 9}, "packages": [1],
        "tools": ["read", "ls"], "theme": "light"
    }"#;
    let home = Home::new(&[("pi.json", pi)]);
    let before = home.files().read();
    assert_eq!(
        home.set("theme", "dark"),
        told(
            "`theme` is dark now, in settings.toml; the settings of pi.json that ramal knows stand there too, and \
             pi.json is not read any more"
        )
    );
    let text = home.text("settings.toml").unwrap();
    let (comment, rest) = text.split_once("\n\n").unwrap();
    assert!(
        comment.starts_with("# From ") && comment.ends_with("pi.json, which is not read any more."),
        "{comment}"
    );
    assert_eq!(
        rest,
        "thinkingLevel = \"low\"\ntheme = \"dark\"\ntools = [\"read\", \"ls\"]\nmodel = \"anthropic/x\"\n\n\
         [compaction]\nenabled = false\nkeepRecentTokens = 9\n"
    );
    assert_eq!(home.text("pi.json").as_deref(), Some(pi));
    let mut after = home.files().read();
    assert_eq!(after.problems, []);
    assert_eq!(after.settings.screen.theme, "dark");
    after.settings.screen.theme = "light".into();
    // It says where it stands, too.
    after.settings.models.clone_from(&before.settings.models);
    assert_eq!(after.settings, before.settings);
    assert_eq!(home.set("theme", "light"), told("`theme` is light now, in settings.toml"));
}

#[test]
fn what_of_pi_cannot_be_read_is_not_lost() {
    let home = Home::new(&[("pi.json", "{\n \"theme\": ,\n}")]);
    let error = home.set("theme", "light").unwrap_err();
    assert!(error.starts_with("`theme` was not set: pi.json, line 2: cannot be read"), "{error}");
    assert_eq!(home.names(), ["pi.json"]);
    // Nothing that is known: nothing to be told.
    let home = Home::new(&[("pi.json", "{\"packages\": []}")]);
    assert_eq!(home.set("theme", "light"), told("`theme` is light now, in settings.toml"));
    assert_eq!(home.text("settings.toml").as_deref(), Some("theme = \"light\"\n"));
}

#[cfg(unix)]
#[test]
fn mode_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::new(&[]);
    let mode = |name: &str| std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
    home.set("theme", "light").unwrap();
    assert_eq!(mode("settings.toml"), 0o600);
    std::fs::create_dir(home.path("dots")).unwrap();
    std::fs::rename(home.path("settings.toml"), home.path("dots/mine.toml")).unwrap();
    std::fs::set_permissions(home.path("dots/mine.toml"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("dots/mine.toml", home.path("settings.toml")).unwrap();
    home.set("theme", "dark").unwrap();
    assert!(home.path("settings.toml").is_symlink());
    assert_eq!(home.text("dots/mine.toml").as_deref(), Some("theme = \"dark\"\n"));
    assert_eq!((mode("dots/mine.toml"), mode("dots/mine.toml.bak")), (0o640, 0o640));
    std::fs::remove_file(home.path("dots/mine.toml")).unwrap();
    let error = home.set("theme", "light").unwrap_err();
    assert!(error.contains("it is a link to what is not there"), "{error}");
}

#[test]
fn what_another_program_wrote_meanwhile_stays() {
    let home = Home::new(&[("settings.toml", "theme = \"x\"\n")]);
    let (there, not_there) = (home.path("settings.toml"), home.path("new.toml"));
    let replaced = [Replaced::read(&there).unwrap(), Replaced::read(&not_there).unwrap()];
    for (path, file) in [there, not_there].iter().zip(replaced) {
        std::fs::write(path, "theme = \"theirs\"\n").unwrap();
        assert!(file.replace(b"theme = \"ours\"\n").unwrap_err().to_string().contains("another program"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "theme = \"theirs\"\n");
    }
    assert_eq!(home.names(), ["new.toml", "settings.toml"], "no draft is left behind");
}
