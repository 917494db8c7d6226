//! Commands as rules see them: which words one begins with, and whether it is one plain command.

/// What makes more of a command than one program and its arguments, or could.
const SPECIAL: &[char] = &[';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '\\', '\n', '\r', '\0'];

/// Programs that run what they are given: a rule for them would be one for everything.
const RUNNERS: &[&str] = &[
    ".", "awk", "bash", "busybox", "chroot", "command", "dash", "deno", "doas", "env", "eval", "exec", "fd",
    "find", "fish", "ksh", "nice", "node", "nohup", "parallel", "perl", "php", "python", "python3", "ruby",
    "sed", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo", "tar", "time", "timeout",
    "watch", "xargs", "zsh",
];

/// Programs whose second word says what they do.
const WITH_COMMANDS: &[&str] = &[
    "apt",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "dnf",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "hg",
    "jj",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "svn",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// The words of a command, parted where the shell parts them.
fn parted(command: &str) -> impl Iterator<Item = &str> {
    command.split([' ', '\t']).filter(|word| !word.is_empty())
}

/// Whether a command is one plain command that begins with these words.
pub(super) fn begins_with(command: &str, words: &[String]) -> bool {
    let mut given = parted(command);
    !words.is_empty()
        && !command.contains(SPECIAL)
        && words.iter().all(|word| given.next().is_some_and(|given| given == word))
}

/// The words of a command that a rule may remember; none if only the whole command can be.
pub(super) fn words_to_remember(command: &str) -> Option<Vec<String>> {
    let mut given = parted(command);
    let program = given.next()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if command.contains(SPECIAL) || !is_plain(program) || RUNNERS.contains(&name) {
        return None;
    }
    if !WITH_COMMANDS.contains(&name) {
        return Some(vec![program.to_owned()]);
    }
    // An option before the subcommand may mean anything, as with `git -c`.
    let second = given.next().filter(|word| is_plain(word) && !word.starts_with('-'))?;
    Some(vec![program.to_owned(), second.to_owned()])
}

/// A word that says what it says: no quotes, no patterns, no assignment.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+:@".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_remembered_where_they_say_enough() {
        for (command, want) in [
            ("ls -la", Some("ls")),
            ("  git   status --short", Some("git status")),
            ("cargo test -p x", Some("cargo test")),
            ("./run.sh a", Some("./run.sh")),
            ("git -c alias.x='!rm' x", None),
            ("git", None),
            ("sudo ls", None),
            ("/usr/bin/env ls", None),
            ("python3 -c 'x'", None),
            ("X=1 ls", None),
            ("ls; rm x", None),
            ("ls\nrm x", None),
            ("ls $(rm x)", None),
            ("'ls' x", None),
            ("find . -delete", None),
            ("git\u{c}log", None),
            ("", None),
        ] {
            assert_eq!(words_to_remember(command).map(|words| words.join(" ")).as_deref(), want, "{command}");
        }
    }

    #[test]
    fn a_rule_covers_plain_commands_only() {
        let words = ["git".to_owned(), "log".to_owned()];
        for command in ["git log", "git  log --oneline 'a b'", "git log *.rs"] {
            assert!(begins_with(command, &words), "{command}");
        }
        for command in [
            "git logs",
            "git",
            "git push",
            "git log; ls",
            "git log && ls",
            "git log | sh",
            "git log > x",
            "git log `x`",
            "git log $X",
            "git log \"$(x)\"",
            "git log\nls",
            "git log & ls",
            "git log <(x)",
            "x=1 git log",
            "git -C / log",
        ] {
            assert!(!begins_with(command, &words), "{command}");
        }
        assert!(!begins_with("git log", &[]));
    }
}
