//! Settings from files.

#![allow(clippy::disallowed_methods, reason = "files of the test's own folder")]

use super::*;

/// The settings of these files: ours and pi's of the user, ours and pi's of the project.
fn of(files: [Option<&str>; 4]) -> (Settings, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let names = ["user.toml", "pi-user.json", "project.toml", "pi-project.json"];
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
    for (path, text) in paths.iter().zip(files) {
        if let Some(text) = text {
            std::fs::write(path, text).unwrap();
        }
    }
    let path = |at: usize| Some(paths[at].clone());
    let (settings, problems) = load_from((path(0), path(1)), (path(2), path(3)));
    let tell = |problem: &Problem| {
        let name = problem.path.file_name().unwrap().to_string_lossy();
        format!("{name}:{} {}", problem.line.unwrap_or(0), problem.message)
    };
    (settings, problems.iter().map(tell).collect())
}

#[test]
fn the_project_goes_before_the_user() {
    let user = "model = \"a/b\"\nthinkingLevel = \"low\"\n[compaction]\nenabled = false\nreserveTokens = 5\n\
                [retry]\nmaxRetries = 7\nbaseDelayMs = 10\n";
    let project = "\"compaction.enabled\" = true\nthinkingLevel = \"high\"\ntreeFilterMode = \"user-only\"";
    let (settings, problems) = of([Some(user), None, Some(project), None]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(settings.model.as_deref(), Some("a/b"));
    assert_eq!(settings.thinking_level, ThinkingLevel::High);
    assert_eq!(settings.tree_filter, Filter::UserOnly);
    let compaction = CompactionSettings { enabled: true, reserve_tokens: 5, ..CompactionSettings::default() };
    assert_eq!(settings.compaction, compaction);
    assert_eq!((settings.retry.max_retries, settings.retry.base_delay), (7, Duration::from_millis(10)));
}

#[test]
fn wrong_settings_are_named_with_their_line_and_the_default_holds() {
    let user = "# mine\nthinkingLevel = \"much\"\nautoTitle = \"yes\"\nmodle = \"a/b\"\n[retry]\n\
                maxRetries = -1\nwhat = { a = { b = { c = 1 } } }\n[tools]\n";
    let (settings, problems) = of([Some(user), None, Some("steeringMode = \"all\"\nx = = 1\n"), None]);
    assert_eq!(settings, Settings { steering_mode: QueueMode::All, ..Settings::default() });
    for (at, words) in [
        "user.toml:2 `thinkingLevel` must be one of \"off\"",
        "user.toml:3 `autoTitle` must be true or false",
        "user.toml:4 there is no setting `modle`",
        "user.toml:6 `retry.maxRetries` must be a number",
        "user.toml:7 there is no setting `retry.what.a`",
        "project.toml:2 ",
    ]
    .iter()
    .enumerate()
    {
        assert!(problems[at].starts_with(words), "{words} in {problems:?}");
    }
}

#[test]
fn a_project_can_forbid_and_not_allow() {
    let user = "tools = [\"read\", \"bash\", \"grep\"]\n[permissions]\nbash = \"deny\"\ngrep = \"allow\"\n";
    let project = "sessionDir = \"/x\"\ntools = [\"write\", \"grep\", \"bash\"]\n[permissions]\n\
                   write = \"allow\"\nbash = \"ask\"\ngrep = \"ask\"\nls = \"deny\"\nrm = \"deny\"\n";
    let (settings, problems) = of([Some(user), None, Some(project), None]);
    let levels: Vec<(&str, Level)> =
        settings.permissions.iter().map(|(tool, level)| (&**tool, *level)).collect();
    assert_eq!(levels, [("bash", Level::Deny), ("grep", Level::Ask), ("ls", Level::Deny)]);
    assert_eq!(settings.tools.as_deref(), Some(&["grep".to_owned(), "bash".to_owned()][..]));
    assert_eq!(settings.session_dir, None);
    let lines: Vec<&str> = problems.iter().filter_map(|problem| problem.split(' ').next()).collect();
    assert_eq!(lines, ["project.toml:1", "project.toml:4", "project.toml:8"], "{problems:?}");
}

#[test]
fn pi_is_read_where_ours_is_not_there() {
    let pi = "{\n  \"defaultProvider\": \"anthropic\",\n  \"defaultModel\": \"x\",\n  \"packages\": [{\"a\": 1}],\n  \
              \"defaultThinkingLevel\": \"low\",\n  \"sessionDir\": \"/pi\",\n  \"compaction\": {\n    \
              \"enabled\": 3,\n    \"keepRecentTokens\": 9\n  }\n}\n";
    let (settings, problems) = of([None, Some(pi), None, Some("{\"steeringMode\": \"all\"}")]);
    assert_eq!(settings.model.as_deref(), Some("anthropic/x"));
    assert_eq!((settings.thinking_level, settings.steering_mode), (ThinkingLevel::Low, QueueMode::All));
    assert_eq!((settings.compaction.keep_recent_tokens, &settings.session_dir), (9, &None));
    assert_eq!(
        problems,
        ["pi-user.json:8 `compaction.enabled` must be true or false; the default is in force"]
    );
    let (settings, _) = of([Some(""), Some(pi), None, None]);
    assert_eq!(settings, Settings::default());
    let (settings, problems) = of([None, Some("{\n \"a\": ,}"), None, None]);
    assert_eq!(settings, Settings::default());
    assert!(problems[0].starts_with("pi-user.json:2 cannot be read"), "{problems:?}");
}

#[test]
fn retries_can_be_switched_off() {
    let (settings, _) = of([Some("[retry]\nenabled = false\nmaxRetries = 5\n"), None, None, None]);
    assert_eq!(settings.retry.max_retries, 0);
    let (settings, _) = of([Some("[retry]\nmaxRetries = 5\nenabled = false\n"), None, None, None]);
    assert_eq!(settings.retry.max_retries, 0);
}

#[test]
fn hostile_files_are_problems_and_no_more() {
    let deep = "[".repeat(100_000);
    let tables = format!("{}x = 1{}", "a = { ".repeat(100_000), " }".repeat(100_000));
    let json = format!("{{\"tools\": {}}}", "[".repeat(100_000) + &"]".repeat(100_000));
    for (at, text) in [
        (2, format!("tools = {deep}\n")),
        (2, tables),
        (2, "\0\u{feff}=\n\u{202e}".to_owned()),
        (3, json),
        (3, "{\"compaction\": {\"enabled\": {\"x\": {}}}}".to_owned()),
    ] {
        let mut files = [None; 4];
        files[at] = Some(&*text);
        let (settings, problems) = of(files);
        assert_eq!(settings, Settings::default());
        assert!(!problems.is_empty() || at == 3);
    }
    let many: String = (0..50_000).map(|n| format!("k{n} = 1\n")).collect();
    let (_, problems) = of([None, None, Some(&many), None]);
    assert_eq!(problems.len(), MOST_PROBLEMS + 1);
    assert!(problems[19].starts_with("project.toml:20 ") && problems[20].contains("and 49980 more"));
    let folder = tempfile::tempdir().unwrap();
    let (settings, problems) = load_from((Some(folder.path().into()), None), (None, None));
    assert_eq!((settings, problems.len()), (Settings::default(), 1));
}
