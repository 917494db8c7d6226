//! Which module an import means.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::builtin;

/// What a file may end in where the import leaves it out.
const ENDINGS: [&str; 7] = ["ts", "js", "mjs", "mts", "cjs", "tsx", "json"];

/// The module that `name` means where it is imported by the module `base`: one of ours by its first name, or
/// a file.
///
/// # Errors
/// Why it cannot be had.
pub(crate) fn resolve(root: &Path, base: &str, name: &str) -> Result<String, String> {
    if let Some((first, _)) = builtin::find(name) {
        if first.starts_with("ramal:") && !is_ours(base) {
            return Err(format!("imports \"{name}\", which is ramal's own"));
        }
        return Ok(first.to_owned());
    }
    let path = match name.strip_prefix("file://") {
        Some(_) => url::Url::parse(name).ok().and_then(|url| url.to_file_path().ok()),
        None => Path::new(name).is_absolute().then(|| PathBuf::from(name)),
    };
    let folder = Path::new(base).parent().unwrap_or(root);
    if let Some(path) = path.or_else(|| is_relative(name).then(|| folder.join(name))) {
        let path = tidy(&path);
        let found = file(&path).or_else(|| path.is_dir().then(|| in_package(&path, "")).flatten());
        return found.ok_or_else(|| format!("imports \"{name}\", and {} is not there", path.display()));
    }
    if name.starts_with("node:") {
        return Err(absent(name));
    }
    match package(root, folder, name) {
        Some(found) => found,
        None => Err(absent(name)),
    }
}

fn absent(name: &str) -> String {
    format!(
        "imports \"{name}\", which ramal does not have; it has {}, files beside the extension, and plain JavaScript packages in its node_modules",
        builtin::names()
    )
}

fn is_ours(base: &str) -> bool {
    builtin::find(base).is_some()
}

fn is_relative(name: &str) -> bool {
    name == "." || name == ".." || name.starts_with("./") || name.starts_with("../")
}

/// The path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(tidy.pop()),
            other => tidy.push(other),
        }
    }
    tidy
}

/// The file that a path means: itself, with an ending, TypeScript where it says JavaScript, or an index.
fn file(path: &Path) -> Option<String> {
    let with = |path: &Path, ending: &str| PathBuf::from(format!("{}.{ending}", path.display()));
    let mut tried = vec![path.to_owned()];
    tried.extend(ENDINGS.map(|ending| with(path, ending)));
    match path.extension().and_then(std::ffi::OsStr::to_str) {
        Some("js") => tried.extend([path.with_extension("ts"), path.with_extension("tsx")]),
        Some("mjs") => tried.push(path.with_extension("mts")),
        _ => {}
    }
    tried.extend(ENDINGS.map(|ending| with(&path.join("index"), ending)));
    let found = tried.into_iter().find(|path| path.is_file())?;
    Some(found.to_string_lossy().into_owned())
}

/// A file of a package that lies in a `node_modules` between the module and the folder of the extension.
fn package(root: &Path, folder: &Path, name: &str) -> Option<Result<String, String>> {
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let end = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
    let (package, rest) = name.split_at_checked(end)?;
    let inside = rest.trim_start_matches('/');
    let places = folder.ancestors().take_while(|place| place.starts_with(root));
    let found = places.map(|place| place.join("node_modules").join(package)).find(|place| place.is_dir())?;
    Some(in_package(&found, inside).ok_or_else(|| {
        format!(
            "imports \"{name}\", and {} does not say where that is as a plain JavaScript module",
            found.display()
        )
    }))
}

fn in_package(package: &Path, inside: &str) -> Option<String> {
    let about = std::fs::read_to_string(package.join("package.json")).ok();
    let about: Value = about.and_then(|about| serde_json::from_str(&about).ok()).unwrap_or_default();
    if let Some(exports) = about.get("exports") {
        let key = if inside.is_empty() { ".".to_owned() } else { format!("./{inside}") };
        let target = match exports {
            Value::Object(members) if members.keys().any(|member| member.starts_with('.')) => {
                members.get(&key).and_then(condition)
            }
            other if inside.is_empty() => condition(other),
            _ => None,
        };
        if let Some(target) = target {
            return file(&tidy(&package.join(target)));
        }
    }
    if !inside.is_empty() {
        return file(&tidy(&package.join(inside)));
    }
    let main = ["module", "main"].iter().find_map(|key| about.get(key)?.as_str());
    file(&tidy(&package.join(main.unwrap_or("index"))))
}

/// Where a condition of `exports` leads for somebody who imports.
fn condition(target: &Value) -> Option<String> {
    match target {
        Value::String(path) => Some(path.clone()),
        Value::Object(members) => ["import", "module", "node", "default", "require"]
            .iter()
            .find_map(|key| members.get(*key).and_then(condition)),
        Value::Array(all) => all.iter().find_map(condition),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_import_means() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let put = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
            std::fs::write(&path, text).unwrap();
        };
        for name in [
            "main.ts",
            "a.ts",
            "b/index.js",
            "c.json",
            "node_modules/plain/index.js",
            "node_modules/@s/p/lib/x.mjs",
            "node_modules/old/other.js",
        ] {
            put(name, "");
        }
        put(
            "node_modules/@s/p/package.json",
            r#"{"exports":{".":{"require":"./no.cjs","import":"./lib/x.mjs"},"./sub":"./lib/x.mjs"}}"#,
        );
        put("node_modules/old/package.json", r#"{"main":"other"}"#);
        let base = root.join("main.ts");
        let base = base.to_str().unwrap();
        let found = |name: &str| {
            let found = resolve(root, base, name)?;
            Ok::<_, String>(found.strip_prefix(root.to_str().unwrap()).unwrap_or(&found).to_owned())
        };
        for (name, file) in [
            ("./a", "/a.ts"),
            ("./a.js", "/a.ts"),
            ("./b/../a.ts", "/a.ts"),
            ("./b", "/b/index.js"),
            ("./c.json", "/c.json"),
            ("plain", "/node_modules/plain/index.js"),
            ("@s/p", "/node_modules/@s/p/lib/x.mjs"),
            ("@s/p/sub", "/node_modules/@s/p/lib/x.mjs"),
            ("old", "/node_modules/old/other.js"),
            ("node:path", "node:path"),
            ("path", "node:path"),
            ("@sinclair/typebox", "typebox"),
        ] {
            assert_eq!(found(name).as_deref(), Ok(file), "{name}");
        }
        for (name, named) in [
            ("./none", "not there"),
            ("node:net", "does not have"),
            ("left-pad", "does not have"),
            ("ramal:native", "own"),
            ("@s/p/none", "does not say"),
        ] {
            let why = found(name).unwrap_err();
            assert!(why.contains(named) && why.contains(name), "{name}: {why}");
        }
    }
}
