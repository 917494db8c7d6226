//! Which theme was meant: a built-in one, the user's own, or one that was made for pi (docs/themes.md).

use std::path::{Path, PathBuf};

use ramal_tui::theme::{Background, ColorDepth, Theme, ThemeProblem};

use crate::{catalog, settings};

/// The theme that is dark or light as the terminal is.
pub(crate) const AUTO: &str = "auto";

/// What files of themes end in: ours, and pi's.
const ENDS: [&str; 2] = ["toml", "json"];

/// Problems of one file that are told.
const MOST_PROBLEMS: usize = 10;

/// The theme of that name in the colours that there are, and what of it could not be used. One that is not there is
/// `auto`, and that is told, too. `brought` are files, and folders of them, that extensions bring besides.
pub(crate) fn load(
    name: &str,
    background: Background,
    depth: ColorDepth,
    brought: &[PathBuf],
) -> (Theme, Vec<String>) {
    Folders::usual(brought).load(name, background, depth)
}

/// Folders with themes.
struct Folders {
    own: Option<PathBuf>,
    pi: Option<PathBuf>,
    /// Of extensions: folders, and files.
    brought: Vec<PathBuf>,
}

impl Folders {
    fn usual(brought: &[PathBuf]) -> Folders {
        let themes = |folder: Option<PathBuf>| folder.map(|folder| folder.join("themes"));
        let (own, pi) = (themes(catalog::settings_folder()), themes(catalog::pi_folder()));
        Folders { own, pi, brought: brought.to_owned() }
    }

    /// Where a theme of that name may be, in order, and in which form.
    fn places(&self, name: &str) -> Vec<(PathBuf, &'static str)> {
        if !is_file_name(name) {
            return Vec::new();
        }
        let file = |folder: &Path, end: &'static str| (folder.join(format!("{name}.{end}")), end);
        let mut places: Vec<_> = self.own.iter().map(|own| file(own, "toml")).collect();
        places.extend(self.pi.iter().map(|pi| file(pi, "json")));
        for brought in &self.brought {
            if brought.is_dir() {
                places.extend(ENDS.map(|end| file(brought, end)));
            } else if brought.file_stem().is_some_and(|stem| stem == name) {
                let end = ENDS.into_iter().find(|end| brought.extension().is_some_and(|there| there == *end));
                places.extend(end.map(|end| (brought.clone(), end)));
            }
        }
        places
    }

    fn load(&self, name: &str, background: Background, depth: ColorDepth) -> (Theme, Vec<String>) {
        let built_in = |background| (Theme::built_in(background, depth), Vec::new());
        match name {
            AUTO => return built_in(background),
            "dark" => return built_in(Background::Dark),
            "light" => return built_in(Background::Light),
            _ => {}
        }
        for (path, end) in self.places(name) {
            match settings::read_file(&path) {
                Ok(Some(text)) => {
                    let (theme, problems) = match end {
                        "toml" => Theme::read(&text, depth),
                        _ => Theme::read_pi(&text, background, depth),
                    };
                    return (theme, told(&path, &problems));
                }
                Ok(None) => {}
                Err(error) => {
                    let text = format!("{} cannot be read: {error}; the theme is {AUTO}", path.display());
                    return (Theme::built_in(background, depth), vec![text]);
                }
            }
        }
        let there = self.names().join(", ");
        let text = format!("no theme is called {name:?}; the theme is {AUTO}; there are {there}");
        (Theme::built_in(background, depth), vec![text])
    }

    fn names(&self) -> Vec<String> {
        let mut own: Vec<String> = [(&self.own, "toml"), (&self.pi, "json")]
            .iter()
            .flat_map(|(folder, end)| files(folder.as_deref(), end))
            .collect();
        for brought in &self.brought {
            match brought.is_dir() {
                true => own.extend(ENDS.iter().flat_map(|end| files(Some(brought), end))),
                false => own.extend(brought.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned)),
            }
        }
        own.sort_unstable();
        own.dedup();
        let built_in = [AUTO, "dark", "light"].map(str::to_owned);
        own.retain(|name| !built_in.contains(name));
        built_in.into_iter().chain(own).collect()
    }
}

/// Whether a name is nothing but the name of a file: a project can name a theme, and must not name other places.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
}

/// The names of a folder's files with an end, without it.
fn files(folder: Option<&Path>, end: &str) -> Vec<String> {
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let name = |path: PathBuf| {
        let has_end = path.extension().is_some_and(|there| there == end);
        has_end.then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten()
    };
    entries.filter_map(|entry| name(entry.ok()?.path())).filter(|name| is_file_name(name)).collect()
}

fn told(path: &Path, problems: &[ThemeProblem]) -> Vec<String> {
    let mut told: Vec<String> =
        problems.iter().take(MOST_PROBLEMS).map(|problem| format!("{}, {problem}", path.display())).collect();
    if problems.len() > MOST_PROBLEMS {
        told.push(format!("{}: and {} more such lines", path.display(), problems.len() - MOST_PROBLEMS));
    }
    told
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
mod tests {
    use std::fs;

    use ramal_tui::theme::Role;

    use super::*;

    const DEPTH: ColorDepth = ColorDepth::TrueColor;

    struct World {
        _scratch: tempfile::TempDir,
        folders: Folders,
    }

    impl World {
        fn new(files: &[(&str, &str)]) -> World {
            let scratch = tempfile::tempdir().unwrap();
            let folder = |name: &str| Some(scratch.path().join(name));
            let brought = ["brought", "one/file.json"].map(|name| scratch.path().join(name)).to_vec();
            let folders = Folders { own: folder("own"), pi: folder("pi"), brought };
            for name in ["own", "pi", "brought", "one"] {
                fs::create_dir(scratch.path().join(name)).unwrap();
            }
            for (path, text) in files {
                fs::write(scratch.path().join(path), text).unwrap();
            }
            World { _scratch: scratch, folders }
        }

        #[track_caller]
        fn check(&self, name: &str, is: &Theme) {
            assert_eq!(self.folders.load(name, Background::Light, DEPTH), (is.clone(), Vec::new()));
        }

        /// What is said of a theme, which then is the one of the background.
        fn told(&self, name: &str) -> Vec<String> {
            let (theme, told) = self.folders.load(name, Background::Light, DEPTH);
            assert_eq!(theme, Theme::light(), "{name}");
            told
        }
    }

    #[test]
    fn a_name_is_built_in_or_a_file() {
        let own = "name = \"Harbour\"\nbase = \"light\"\n[roles]\naccent = \"red\"\n";
        let pis =
            r##"{"name": "pier", "vars": {}, "colors": {"accent": "#ff0000", "selectedBg": "#ffffff"}}"##;
        let world = World::new(&[
            ("own/harbour.toml", own),
            ("own/dark.toml", own),
            ("pi/pier.json", pis),
            ("pi/harbour.json", pis),
            ("own/.hidden.toml", own),
            ("own/notes.md", ""),
            ("brought/quay.toml", own),
            ("brought/pier.toml", own),
            ("one/file.json", pis),
            ("one/other.json", pis),
        ]);
        world.check("auto", &Theme::light());
        world.check("dark", &Theme::dark());
        world.check("light", &Theme::light());
        world.check("harbour", &Theme::read(own, DEPTH).0);
        world.check("pier", &Theme::read_pi(pis, Background::Light, DEPTH).0);
        assert_eq!(world.folders.names(), ["auto", "dark", "light", "file", "harbour", "pier", "quay"]);
        world.check("quay", &Theme::read(own, DEPTH).0);
        world.check("file", &Theme::read_pi(pis, Background::Light, DEPTH).0);
        assert!(world.told("other")[0].starts_with("no theme is called"));
        let nowhere = Folders { own: None, pi: None, brought: Vec::new() };
        assert_eq!(nowhere.names(), ["auto", "dark", "light"]);
        assert_eq!(nowhere.load("dark", Background::Light, DEPTH).0, Theme::dark());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_file_and_line() {
        let many: String = (0..30).map(|number| format!("r{number} = 1\n")).collect();
        let world = World::new(&[
            ("own/odd.toml", "base = \"light\"\n[roles]\naccent = \"nothing\"\nerror = \"red\"\n"),
            ("own/many.toml", &format!("base = \"light\"\n[roles]\n{many}")),
            ("pi/torn.json", "{"),
        ]);
        let (theme, told) = world.folders.load("odd", Background::Light, DEPTH);
        assert_eq!(theme.style(Role::Accent), Theme::light().style(Role::Accent));
        assert_ne!(theme.style(Role::Error), Theme::light().style(Role::Error));
        assert!(told.len() == 1 && told[0].contains("odd.toml, line 3: no colour"), "{told:?}");
        let (_, told) = world.folders.load("many", Background::Light, DEPTH);
        assert!(told.len() == MOST_PROBLEMS + 1 && told[MOST_PROBLEMS].ends_with("and 20 more such lines"));
        assert!(world.told("torn")[0].contains("torn.json, line 1: not JSON"));
        assert!(world.told("gone")[0].contains("no theme is called \"gone\""), "{:?}", world.told("gone"));
    }

    #[test]
    fn a_name_leads_to_no_other_place() {
        let world = World::new(&[("out.toml", "base = \"dark\"\n"), ("own/folder", "")]);
        fs::create_dir(world.folders.own.as_ref().unwrap().join("dir.toml")).unwrap();
        for name in ["../out", "..", "", "a/../../out", "/etc/passwd", "..\\out", "a\0"] {
            assert!(world.told(name)[0].starts_with("no theme is called"), "{name:?}");
        }
        assert!(world.told("dir")[0].contains("cannot be read"));
    }
}
