//! Settings from files.

#![allow(clippy::disallowed_methods, reason = "files of the test's own folder")]

use std::time::Duration;

use super::screen::DoubleEscape;
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
    let files = Files { user: (path(0), path(1)), project: (path(2), path(3)) };
    let (settings, problems) = files.read().in_force();
    let tell = |problem: &Problem| {
        let name = problem.path.file_name().unwrap().to_string_lossy();
        format!("{name}:{} {}", problem.line.unwrap_or(0), problem.message)
    };
    (settings, problems.iter().map(tell).collect())
}

fn model(settings: &Settings) -> Option<&str> {
    settings.models.last().map(|model| &*model.name)
}

#[test]
fn the_project_goes_before_the_user() {
    let user = "model = \"a/b\"\nthinkingLevel = \"low\"\n[compaction]\nenabled = false\nreserveTokens = 5\n\
                [retry]\nmaxRetries = 7\nbaseDelayMs = 10\n";
    let project = "\"compaction.enabled\" = true\nthinkingLevel = \"high\"\ntreeFilterMode = \"user-only\"";
    let (settings, problems) = of([Some(user), None, Some(project), None]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(model(&settings), Some("a/b"));
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
    // Of which extension it may be a tool is not known here.
    let want = [("bash", Level::Deny), ("grep", Level::Ask), ("ls", Level::Deny), ("rm", Level::Deny)];
    assert_eq!(levels, want);
    assert_eq!(settings.tools.as_deref(), Some(&["grep".to_owned(), "bash".to_owned()][..]));
    assert_eq!(settings.session_dir, None);
    let lines: Vec<&str> = problems.iter().filter_map(|problem| problem.split(' ').next()).collect();
    assert_eq!(lines, ["project.toml:1", "project.toml:4"], "{problems:?}");
}

#[test]
fn pi_is_read_where_ours_is_not_there() {
    let pi = "{\n  \"defaultProvider\": \"anthropic\",\n  \"defaultModel\": \"x\",\n  \"packages\": [{\"a\": 1}],\n  \
              \"defaultThinkingLevel\": \"low\",\n  \"sessionDir\": \"/pi\",\n  \"compaction\": {\n    \
              \"enabled\": 3,\n    \"keepRecentTokens\": 9\n  }\n}\n";
    let (settings, problems) = of([None, Some(pi), None, Some("{\"steeringMode\": \"all\"}")]);
    assert_eq!(model(&settings), Some("anthropic/x"));
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
    let files = Files { user: (Some(folder.path().into()), None), project: (None, None) };
    let (settings, problems) = files.read().in_force();
    assert_eq!((settings, problems.len()), (Settings::default(), 1));
}

/// One file of the user's, and what is wrong with it.
fn one(text: &str) -> (Settings, Vec<String>) {
    of([Some(text), None, None, None])
}

#[test]
fn models_are_known_with_their_place() {
    let (settings, _) = of([Some("# mine\nmodel = \"a/b\"\n"), None, Some("model = \"c/d\"\n"), None]);
    let places: Vec<_> = settings
        .models
        .iter()
        .map(|model| (&*model.name, model.path.file_name().unwrap().to_str().unwrap(), model.line))
        .collect();
    assert_eq!(places, [("a/b", "user.toml", 2), ("c/d", "project.toml", 1)]);
}

#[test]
fn when_a_conversation_is_made_shorter() {
    let set = |text: &str| one(&format!("[compaction]\n{text}\n"));
    let (settings, problems) = set("thresholdPercent = 80\nthresholdTokens = 5000");
    assert_eq!(problems, [""; 0]);
    let compaction = settings.compaction;
    assert_eq!((compaction.threshold_percent, compaction.threshold_tokens), (Some(80), Some(5000)));
    assert_eq!(set("thresholdPercent = -1\nthresholdTokens = -1"), (Settings::default(), Vec::new()));
    for wrong in
        ["thresholdPercent = 100", "thresholdPercent = 0", "thresholdTokens = -2", "thresholdTokens = \"x\""]
    {
        let (settings, problems) = set(wrong);
        assert_eq!((settings, problems.len()), (Settings::default(), 1), "{wrong}");
        assert!(problems[0].contains("user.toml:2 `compaction.threshold") && problems[0].contains("or -1"));
    }
    assert!(!set("strategy = \"off\"").0.compaction.enabled);
    assert!(!set("strategy = \"off\"\nenabled = true").0.compaction.enabled);
    assert_eq!(set("strategy = \"context-full\""), (Settings::default(), Vec::new()));
    let (settings, problems) = set("strategy = \"handoff\"");
    assert_eq!(settings, Settings::default());
    let told =
        "user.toml:2 `compaction.strategy` \"handoff\" is not done by ramal; \"context-full\" is in force";
    assert_eq!(problems, [told]);
    // A project's word goes before the user's.
    let project = "compaction.strategy = \"context-full\"\n";
    let user = "compaction.strategy = \"off\"\n";
    assert!(of([Some(user), None, Some(project), None]).0.compaction.enabled);
}

#[test]
fn settings_of_a_full_screen_have_types() {
    let text = "autoResume = true\ntheme = \"light\"\ndoubleEscapeAction = \"rewind\"\nhideThinkingBlock = true\n\
                startup.quiet = true\nbranchSummary.enabled = false\nbranchSummary.skipPrompt = true\n\
                display.transcriptReplayLimit = 50\n";
    let (settings, problems) = one(text);
    assert_eq!(problems, [""; 0]);
    let screen = Screen {
        auto_resume: true,
        theme: "light".into(),
        double_escape: DoubleEscape::Branch,
        summary_skip_prompt: true,
        summary_enabled: false,
        hide_thinking: true,
        quiet_startup: true,
        replay_limit: 50,
    };
    assert_eq!(settings, Settings { screen, ..Settings::default() });
    let wrong = "autoResume = 1\ntheme = 2\ndoubleEscapeAction = \"beep\"\nquietStartup = \"no\"\n\
                 display.transcriptReplayLimit = 0\nbranchSummary.enabled = \"ask\"\n";
    let (settings, problems) = one(wrong);
    assert_eq!((settings, problems.len()), (Settings::default(), 6), "{problems:?}");
}

#[test]
fn what_is_not_done_is_told_where_it_is_wanted() {
    let quiet = "checkpoint.enabled = false\nshare = { store = \"gist\", serverUrl = \"\", redactSecrets = true }\n\
                 [compaction]\nautoContinue = true\nidleEnabled = true\nidleThresholdTokens = 200000\n\
                 idleTimeoutSeconds = 300\nremoteEnabled = true\nremoteEndpoint = \"\"\nhandoffSaveToDisk = false\n\
                 skipPrompt = true\nmethodOrder = [\"soft\"]\nmodelOverrides = {}\n";
    assert_eq!(one(quiet), (Settings::default(), Vec::new()));
    let wanted = "checkpoint.enabled = true\nshare.serverUrl = \"http://x\"\n[compaction]\nautoContinue = false\n\
                  idleThresholdTokens = 5\nidleTimeoutSeconds = 5\nremoteEndpoint = \"http://x\"\n\
                  handoffSaveToDisk = true\nmethodOrder = [\"shake\", \"soft\"]\n\
                  [compaction.modelOverrides]\n\"a/b\" = { reserveTokens = 1 }\n\"c/d\" = { reserveTokens = 1 }\n";
    let (settings, problems) = one(wanted);
    assert_eq!(settings, Settings::default());
    let lines: Vec<&str> = problems.iter().filter_map(|problem| problem.split(' ').next()).collect();
    let places = [1, 2, 4, 5, 6, 7, 8, 9, 11].map(|line| format!("user.toml:{line}"));
    assert_eq!(lines, places, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains(" is not done by ramal: ")), "{problems:?}");
    let (_, problems) = one("checkpoint.enabled = 3\ncompaction.methodOrder = 3\nshare.store = \"x\"\n");
    assert!(
        problems.len() == 3 && problems.iter().all(|problem| problem.contains("must be")),
        "{problems:?}"
    );
    // What pi is to do is none of our business.
    let pi = "{\"compaction\": {\"modelOverrides\": {\"a/b\": {}}, \"handoffSaveToDisk\": true}}";
    assert_eq!(of([None, Some(pi), None, None]), (Settings::default(), Vec::new()));
}

#[test]
fn folders_of_sessions_may_be_relative() {
    for (text, want) in [("sessions", PathBuf::from("sessions")), ("/x", "/x".into())] {
        let (settings, problems) = one(&format!("sessionDir = {text:?}\n"));
        assert_eq!((settings.session_dir, problems), (Some(want), Vec::new()));
    }
    let home = std::env::home_dir().unwrap();
    assert_eq!(one("sessionDir = \"~/x\"\n").0.session_dir, Some(home.join("x")));
}

#[test]
fn a_project_cannot_let_keys_through() {
    let text = "bash.keepEnv = [\"OPENAI_API_KEY\"]\n";
    assert_eq!(one(text).0.kept_variables, ["OPENAI_API_KEY"]);
    let (settings, problems) = of([None, None, Some(text), None]);
    assert_eq!((settings, problems.len()), (Settings::default(), 1));
    assert!(problems[0].contains("cannot be set by a project"));
    assert_eq!(one("bash.keepEnv = \"X\"\n").1.len(), 1);
}

#[test]
fn extensions_are_for_the_user_alone_to_name() {
    let text = "extensions = [\"mine.ts\", \"/abs\"]\nextensionsFrom = [\"pi\"]\nextensionMemoryMb = 7\n";
    let (settings, problems) = of([Some(text), None, None, None]);
    assert_eq!(problems, [""; 0]);
    let paths = settings.extensions.paths();
    assert!(
        paths[0].ends_with("mine.ts") && paths[0].is_absolute() && paths[1] == Path::new("/abs"),
        "{paths:?}"
    );
    assert!(settings.extensions.from_pi && !settings.extensions.from_omp);
    assert_eq!(settings.extensions.memory, 7 << 20);
    let (settings, problems) = of([None, None, Some(text), None]);
    assert_eq!((problems.len(), settings.extensions), (3, Settings::default().extensions), "{problems:?}");
    let (_, problems) =
        of([Some("extensionsFrom = [\"vi\"]\nextensions = 1\nextensionRunningMs = 0\n"), None, None, None]);
    assert_eq!(problems.len(), 3, "{problems:?}");
}
