//! Where the examples lie, and that none of them is left out.

use std::path::{Path, PathBuf};

use crate::support::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/extensions")
}

/// A session with some of the examples around it, by their names in the folder, and answers of the model.
pub(crate) async fn with(names: &[&str], answers: impl IntoIterator<Item = Say>) -> World {
    let paths: Vec<String> =
        names.iter().map(|name| folder().join(name).to_str().unwrap().to_owned()).collect();
    let sources: Vec<&str> = paths.iter().map(String::as_str).collect();
    let world = world(&sources, answers).await;
    assert_eq!(world.problems, []);
    world
}

/// Files of TypeScript below a folder, relative to the examples.
fn below(folder: &Path, name: &str, found: &mut Vec<String>) {
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = format!("{name}{}", file.file_name().to_str().unwrap());
        if file.file_type().unwrap().is_dir() {
            below(&file.path(), &format!("{name}/"), found);
        } else if name.ends_with(".ts") {
            found.push(name);
        }
    }
}

#[test]
fn each_example_is_run_and_says_how_to_try_it() {
    let tests = [include_str!("git.rs"), include_str!("talk.rs"), include_str!("tree.rs")].concat();
    let mut names = Vec::new();
    below(&folder(), "", &mut names);
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        let source = std::fs::read_to_string(folder().join(&name)).unwrap();
        assert!(source.starts_with("// "), "{name} does not say what it does");
        if !source.contains("export default") {
            // A part of another.
            continue;
        }
        assert!(tests.contains(&format!("\"{name}\"")), "no test runs {name}");
        let lines = source.lines().count();
        assert!((15..=90).contains(&lines), "{name} has {lines} lines");
        assert!(
            source.contains("Try it: ramal -e examples/extensions/") || source.contains("other half of"),
            "{name} does not say how to try it"
        );
    }
}
