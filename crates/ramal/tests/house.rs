//! The house as ARCHITECTURE.md draws it: which crate may lean on which, and that every file says
//! what it is for.

#![allow(clippy::unwrap_used, reason = "a test that cannot read the house fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && !line.contains("dev-");
        } else if inside && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
            found.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn arrows_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("ramal-session", &[]),
        ("ramal-model", &["ramal-session"]),
        ("ramal-agent", &["ramal-model", "ramal-session"]),
        ("ramal-extension", &["ramal-agent", "ramal-model", "ramal-session"]),
        ("ramal-tui", &["ramal-agent", "ramal-model", "ramal-session"]),
        ("ramal-testing", &["ramal-model"]),
    ];
    for (name, may) in allowed {
        if !root().join("crates").join(name).exists() {
            continue;
        }
        for other in dependencies(name).iter().filter(|other| other.starts_with("ramal")) {
            assert!(may.contains(&&**other), "{name} leans on {other}, against ARCHITECTURE.md");
        }
    }
}

#[test]
fn nothing_that_is_shipped_leans_on_what_is_for_tests() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!dependencies(&name).contains("ramal-testing"), "{name} leans on ramal-testing");
        seen += 1;
    }
    assert!(seen >= 6, "only {seen} crates were found");
}

#[test]
fn the_session_library_knows_no_runtime_network_or_terminal() {
    let dependencies = dependencies("ramal-session");
    assert!(
        dependencies.contains("serde_json"),
        "the manifest is not read as it should be: {dependencies:?}"
    );
    for stranger in ["tokio", "reqwest", "hyper", "crossterm", "ratatui", "clap", "rquickjs", "terminal_size"]
    {
        assert!(!dependencies.contains(stranger), "ramal-session must not know {stranger}");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut folders = vec![root().join("crates")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                assert!(text.starts_with("//!"), "{} does not begin with a `//!` line", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} files were found");
}

#[test]
fn modules_named_in_the_map_are_there() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut seen = 0;
    for name in ["ramal-session", "ramal-model", "ramal-agent", "ramal-testing", "ramal-tui"] {
        let section = map.split(&format!("## Inside `{name}`")).nth(1).unwrap();
        let source = root().join("crates").join(name).join("src");
        let is_there = |place: PathBuf| place.with_extension("rs").exists() || place.join("mod.rs").exists();
        for row in section.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let module = cells[1].trim_matches('`');
            for file in cells[2].split_whitespace().map(|name| name.trim_matches('`')) {
                let place = source.join(module).join(file);
                assert!(is_there(place), "ARCHITECTURE.md names {name}: {module}/{file}, which is not there");
                seen += 1;
            }
            assert!(is_there(source.join(module)), "{name}: {module} is not there");
            seen += 1;
        }
    }
    assert!(seen > 90, "only {seen} files are named");
}
