//! The policy, case by case, and what is remembered of it.

use super::*;

fn permissions(mode: Mode) -> Permissions {
    Permissions::new(Path::new("/w/project"), mode, None).0
}

fn read(path: &str) -> Access {
    Access::Read(path.into())
}

fn write(path: &str) -> Access {
    Access::Write(path.into())
}

fn run(command: &str) -> Access {
    Access::Run(command.into())
}

#[track_caller]
fn question(permissions: &Permissions, tool: &str, access: &Access) -> Question {
    match permissions.decide(tool, std::slice::from_ref(access)) {
        Decision::Ask(question) => question,
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_inside_is_allowed_and_everything_else_asked() {
    let asking = permissions(Mode::Ask);
    for path in ["/w/project", "/w/project/a/b"] {
        assert_eq!(asking.decide("read", &[read(path)]), Decision::Allow);
    }
    for (tool, access, says) in [
        ("read", read("/w/project-other/a"), "outside"),
        ("read", read("/w"), "read /w, outside"),
        ("write", write("/w/project/a"), "write a"),
        ("bash", run("ls"), "run `ls`"),
    ] {
        let reason = question(&asking, tool, &access).reason;
        assert!(reason.contains(says), "{reason}");
    }
    let both = asking.decide("x", &[read("/w/project/a"), write("/w/project/b")]);
    assert!(matches!(both, Decision::Ask(Question { reason, .. }) if reason == "write b"));
}

#[test]
fn where_nobody_can_be_asked_it_is_refused() {
    let refusing = permissions(Mode::Refuse);
    assert_eq!(refusing.decide("read", &[read("/w/project/a")]), Decision::Allow);
    let refused = refusing.decide("bash", &[run("ls")]);
    assert!(matches!(refused, Decision::Deny(reason) if reason.contains("--yes")));
    assert_eq!(permissions(Mode::Yes).decide("bash", &[run("rm -rf /")]), Decision::Allow);
}

#[test]
fn levels_stand_above_everything() {
    let mut yes = permissions(Mode::Yes);
    yes.set_level("bash", Level::Deny);
    assert!(matches!(yes.decide("bash", &[run("ls")]), Decision::Deny(_)));
    let mut asking = permissions(Mode::Ask);
    asking.set_level("write", Level::Allow);
    asking.set_level("read", Level::Ask);
    assert_eq!(asking.decide("write", &[write("/etc/x")]), Decision::Allow);
    let rules = question(&asking, "read", &read("/w/project/a")).rules;
    asking.always_in_session(&rules);
    assert_eq!(asking.decide("read", &[read("/w/project/b")]), Decision::Allow);
}

#[test]
fn an_answer_covers_what_was_meant() {
    let mut asking = permissions(Mode::Ask);
    asking.always_in_session(&question(&asking, "edit", &write("/w/project/a")).rules);
    for tool in WRITING {
        assert_eq!(asking.decide(tool, &[write("/w/project/b/c")]), Decision::Allow);
        for other in ["/w/x", "/w/project2/x", "/w/project/.git/hooks/pre-commit", "/w/project/a/.RAMAL/x"] {
            question(&asking, tool, &write(other));
        }
    }
    let guarded = question(&asking, "write", &write("/w/project/.git/config")).rules;
    assert_eq!(guarded[0].scope, Scope::Path("/w/project/.git/config".into()));
    asking.always_in_session(&guarded);
    assert_eq!(asking.decide("write", &[write("/w/project/.git/config")]), Decision::Allow);

    asking.always_in_session(&question(&asking, "read", &read("/elsewhere/docs/a")).rules);
    assert_eq!(asking.decide("grep", &[read("/elsewhere/docs")]), Decision::Allow);
    question(&asking, "grep", &read("/elsewhere"));
    assert_eq!(question(&asking, "read", &read("/x")).rules[0].scope, Scope::Path("/x".into()));

    asking.always_in_session(&question(&asking, "bash", &run("git status -s")).rules);
    asking.always_in_session(&question(&asking, "bash", &run("a | b")).rules);
    for command in ["git status", "a | b"] {
        assert_eq!(asking.decide("bash", &[run(command)]), Decision::Allow);
    }
    for command in ["git push", "git status; git push", "a | c", "a"] {
        question(&asking, "bash", &run(command));
    }
}

#[test]
fn long_outputs_may_be_read() {
    let mut asking = permissions(Mode::Ask);
    asking.allow_reading(Path::new("/data/outputs"));
    assert_eq!(asking.decide("read", &[read("/data/outputs/bash-1.log")]), Decision::Allow);
    question(&asking, "write", &write("/data/outputs/bash-1.log"));
}

#[test]
fn what_is_remembered_for_a_project_is_there_in_the_next_session() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().canonicalize().unwrap().join("config/ramal");
    let store = || Some(Store::at(config.join("permissions.toml")));
    let project = folder.path().join("pro\"ject");
    std::fs::create_dir(&project).unwrap();
    let open = |project: &Path| {
        let (permissions, problem) = Permissions::new(project, Mode::Ask, store());
        assert!(problem.is_none(), "{problem:?}");
        permissions
    };
    let mut first = open(&project);
    let real = project.canonicalize().unwrap();
    for (tool, access) in [
        ("bash", run("git status")),
        ("bash", run("echo 'a\nb' | \"c\"")),
        ("write", Access::Write(real.join("x"))),
        ("write", Access::Write(real.join("x"))),
    ] {
        let rules = question(&open(&folder.path().join("other")), tool, &access).rules;
        first.always_in_project(&rules).unwrap();
        assert_eq!(first.decide(tool, std::slice::from_ref(&access)), Decision::Allow);
        assert_eq!(open(&project).decide(tool, &[access]), Decision::Allow);
    }
    question(&open(&folder.path().join("other")), "bash", &run("git status"));
    let text = std::fs::read_to_string(config.join("permissions.toml")).unwrap();
    assert_eq!(text.matches("[[allow]]").count(), 4, "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&config), mode(&config.join("permissions.toml"))), (0o700, 0o600));
    }
}

#[test]
fn a_persons_file_is_added_to_and_a_broken_one_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("permissions.toml");
    let put = |text: &str| {
        #[allow(clippy::disallowed_methods, reason = "a scratch file of the test")]
        std::fs::write(&path, text).unwrap();
    };
    let rules = [Rule { tool: "bash".into(), scope: Scope::Command("x".into()) }];
    let open = || Permissions::new(Path::new("/w"), Mode::Ask, Some(Store::at(&path)));

    let own = "# mine\n[[allow]]\nproject = \"/w\"\ntool = \"read\"\npath = \"relative\"";
    put(own);
    let (mut permissions, problem) = open();
    assert!(problem.is_none() && permissions.rules.is_empty());
    permissions.always_in_project(&rules).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(&format!("{own}\n")));
    assert_eq!(open().0.rules, rules);

    let broken = "\n\n[[allow]\n";
    put(broken);
    let (mut permissions, problem) = open();
    assert!(matches!(problem, Some(StoreError::Malformed { line: 3, .. })), "{problem:?}");
    assert!(permissions.always_in_project(&rules).is_err());
    assert_eq!(permissions.decide("bash", &[run("x")]), Decision::Allow);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
}

#[test]
fn no_rule_opens_the_users_own_settings() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let store = Store::at(home.join(".config/ramal/permissions.toml"));
    let (mut permissions, _) = Permissions::new(&home, Mode::Ask, Some(store));
    let rules = question(&permissions, "write", &Access::Write(home.join("x"))).rules;
    permissions.always_in_session(&rules);
    assert_eq!(permissions.decide("write", &[Access::Write(home.join("y"))]), Decision::Allow);
    let settings = Access::Write(home.join(".config/ramal/permissions.toml"));
    assert!(question(&permissions, "write", &settings).rules.is_empty());
}

#[test]
fn a_tool_of_which_nothing_is_known_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("permissions.toml"));
    let policy = || Permissions::new(folder.path(), Mode::Ask, Some(store.clone())).0;
    let mut permissions = policy();
    let Decision::Ask(asked) = permissions.decide("count", &[Access::Unknown]) else { panic!() };
    assert_eq!(asked.reason, "use count");
    permissions.always_in_project(&asked.rules).unwrap();
    for permissions in [&permissions, &policy()] {
        assert_eq!(permissions.decide("count", &[Access::Unknown]), Decision::Allow);
        assert!(matches!(permissions.decide("other", &[Access::Unknown]), Decision::Ask(_)));
        assert!(
            matches!(permissions.decide("count", &[Access::Run("ls".into())]), Decision::Ask(_)),
            "it says nothing of what is known"
        );
    }
    permissions.set_level("other", Level::Allow);
    assert_eq!(permissions.decide("other", &[Access::Unknown]), Decision::Allow);
    permissions.set_level("count", Level::Deny);
    assert!(matches!(permissions.decide("count", &[Access::Unknown]), Decision::Deny(_)));
    permissions.set_mode(Mode::Refuse);
    assert!(matches!(permissions.decide("third", &[Access::Unknown]), Decision::Deny(_)));
}
