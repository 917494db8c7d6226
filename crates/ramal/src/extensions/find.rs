//! Which extensions there are: the user's, the project's, those of other programs where that is wanted, and
//! those that are named.

use std::fs;
use std::path::{Path, PathBuf};

use ramal_extension::LoadProblem;
use serde_json::Value;

use crate::catalog;
use crate::settings::{Settings, read_file};

/// Endings of files that are extensions.
const ENDINGS: [&str; 4] = ["ts", "js", "mjs", "mts"];

/// What a folder begins with that is an extension and says nothing else of itself.
const BEGINNINGS: [&str; 4] = ["index.ts", "index.js", "index.mjs", "index.mts"];

/// Whose they are, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In one of the user's folders.
    User,
    /// In one of the project's: it comes from somebody else.
    Project,
    /// In the settings.
    Settings,
    /// On the command line.
    Named,
}

/// A file to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The file.
    pub(crate) path: PathBuf,
    /// Where it was found.
    pub(crate) origin: Origin,
}

/// The extensions for work in `cwd`, in the order in which they are loaded, and what was named and is not there.
/// `named` are those of the command line, relative to the directory where the user is.
pub(crate) fn find(cwd: &Path, named: &[PathBuf], settings: &Settings) -> (Vec<Found>, Vec<LoadProblem>) {
    let mut all = Finding::default();
    for folder in user_folders(settings) {
        all.folder(&folder, Origin::User);
    }
    for folder in project_folders(cwd, settings) {
        all.folder(&folder, Origin::Project);
    }
    for path in settings.extensions.paths() {
        all.named(&path, Origin::Settings);
    }
    for path in named {
        all.named(path, Origin::Named);
    }
    (all.found, all.problems)
}

/// The user's own folders: ramal's, and those of the programs that the user wants extensions of.
fn user_folders(settings: &Settings) -> Vec<PathBuf> {
    let of = &settings.extensions;
    let omp = std::env::home_dir().map(|home| home.join(".omp/agent"));
    let roots = [
        catalog::settings_folder(),
        catalog::pi_folder().filter(|_| of.from_pi),
        omp.filter(|omp| of.from_omp && omp.is_absolute()),
    ];
    roots.into_iter().flatten().map(|root| root.join("extensions")).collect()
}

/// The same of the project in `cwd`.
fn project_folders(cwd: &Path, settings: &Settings) -> Vec<PathBuf> {
    let of = &settings.extensions;
    let roots = [(true, ".ramal"), (of.from_pi, ".pi"), (of.from_omp, ".omp")];
    roots
        .iter()
        .filter(|(is_wanted, _)| *is_wanted)
        .map(|(_, root)| cwd.join(root).join("extensions"))
        .collect()
}

#[derive(Default)]
struct Finding {
    found: Vec<Found>,
    problems: Vec<LoadProblem>,
}

impl Finding {
    fn add(&mut self, path: PathBuf, origin: Origin) {
        // The same file by another name would run twice.
        let path = fs::canonicalize(&path).unwrap_or(path);
        if !self.found.iter().any(|found| found.path == path) {
            self.found.push(Found { path, origin });
        }
    }

    /// All that lie in a folder. One that is not there has none.
    fn folder(&mut self, folder: &Path, origin: Origin) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.package(&path).into_iter().for_each(|path| self.add(path, origin));
            } else if is_extension(&path) {
                self.add(path, origin);
            }
        }
    }

    /// What somebody named: a file, a folder that is one, or a folder of several.
    fn named(&mut self, path: &Path, origin: Origin) {
        let before = self.found.len();
        if path.is_file() {
            return self.add(path.to_owned(), origin);
        }
        match self.package(path) {
            files if files.is_empty() => self.folder(path, origin),
            files => files.into_iter().for_each(|path| self.add(path, origin)),
        }
        if self.found.len() > before {
            return;
        }
        let is_known = fs::canonicalize(path)
            .is_ok_and(|path| self.found.iter().any(|found| found.path.starts_with(&path)));
        if !is_known {
            let why = match path.is_dir() {
                true => {
                    "the folder has no extension in it: neither package.json with \"extensions\", nor index.ts, nor other .ts or .js files"
                }
                false => "it is not there",
            };
            self.problems.push(LoadProblem { path: path.to_owned(), why: why.into() });
        }
    }

    /// The files that a folder begins with which is an extension: what its package.json names, or an index.
    fn package(&mut self, folder: &Path) -> Vec<PathBuf> {
        let about = folder.join("package.json");
        let about = match read_file(&about) {
            Ok(text) => text.and_then(|text| serde_json::from_str::<Value>(&text).ok()),
            Err(error) => {
                let why = format!("{} cannot be read: {error}", about.display());
                self.problems.push(LoadProblem { path: folder.to_owned(), why });
                None
            }
        };
        let programs = ["ramal", "pi", "omp"];
        let named = about.as_ref().and_then(|about| {
            programs.iter().find_map(|program| about.get(program)?.get("extensions")?.as_array())
        });
        if let Some(named) = named {
            let named: Vec<PathBuf> =
                named.iter().filter_map(|path| Some(folder.join(path.as_str()?))).collect();
            let (there, absent): (Vec<_>, Vec<_>) = named.into_iter().partition(|path| path.exists());
            for path in absent {
                let why = format!("package.json of {} names it, and it is not there", folder.display());
                self.problems.push(LoadProblem { path, why });
            }
            return there
                .into_iter()
                .filter_map(|path| if path.is_dir() { beginning(&path) } else { Some(path) })
                .collect();
        }
        beginning(folder).into_iter().collect()
    }
}

fn beginning(folder: &Path) -> Option<PathBuf> {
    BEGINNINGS.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn is_extension(path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    let has_ending = ENDINGS.iter().any(|ending| path.extension().is_some_and(|given| given == *ending));
    has_ending && !name.starts_with('.') && !name.ends_with(".d.ts") && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_and_packages_each_once_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let put = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
            fs::write(path, text).unwrap();
        };
        for name in [
            ".ramal/extensions/b.ts",
            ".ramal/extensions/a.js",
            ".ramal/extensions/types.d.ts",
            ".ramal/extensions/notes.md",
            ".ramal/extensions/one/index.ts",
            ".ramal/extensions/one/part.ts",
            ".ramal/extensions/two/src/main.ts",
            ".ramal/extensions/empty/readme.md",
            ".pi/extensions/of-pi.ts",
            "more/x.ts",
        ] {
            put(name, "");
        }
        put(".ramal/extensions/two/package.json", r#"{"pi":{"extensions":["./src/main.ts","gone.ts"]}}"#);
        let named = [root.join("more"), root.join("none.ts"), root.join("more/x.ts"), root.join(".ramal")];
        let names = |settings: &Settings| {
            let mut all = Finding::default();
            project_folders(&root, settings).iter().for_each(|folder| all.folder(folder, Origin::Project));
            named.iter().for_each(|path| all.named(path, Origin::Named));
            let name = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
            let found: Vec<String> = all.found.iter().map(|found| name(&found.path)).collect();
            let problems: Vec<String> = all.problems.iter().map(|problem| name(&problem.path)).collect();
            (found, problems)
        };
        let own = [
            ".ramal/extensions/a.js",
            ".ramal/extensions/b.ts",
            ".ramal/extensions/one/index.ts",
            ".ramal/extensions/two/src/main.ts",
        ];
        let mut settings = Settings::default();
        let (found, problems) = names(&settings);
        assert_eq!(found, [&own[..], &["more/x.ts"]].concat());
        assert_eq!(problems, [".ramal/extensions/two/gone.ts", "none.ts"]);
        settings.extensions.from_pi = true;
        assert_eq!(names(&settings).0, [&own[..], &[".pi/extensions/of-pi.ts", "more/x.ts"]].concat());
    }
}
