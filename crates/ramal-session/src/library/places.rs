//! The folders in which programs of this kind keep their sessions (contract, section 13).

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};

use crate::entry::id::stable_hash;
use crate::error::OpenError;

/// Bytes that a name in a folder may have on every file system that matters.
const LONGEST_NAME: usize = 255;

/// Whose folder a session was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// This program's own.
    Ramal,
    /// pi's.
    Pi,
    /// oh-my-pi's.
    OhMyPi,
    /// A folder that somebody named.
    Elsewhere,
}

/// The folders of sessions: below each, a folder for every working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// This program's own sessions. None if neither a home nor a data folder is known.
    pub ramal: Option<PathBuf>,
    /// pi's sessions; they are read where they lie.
    pub pi: Option<PathBuf>,
    /// oh-my-pi's sessions; they are read where they lie.
    pub oh_my_pi: Option<PathBuf>,
}

impl Places {
    /// Own sessions below `root`, and nobody else's.
    pub fn own(root: impl Into<PathBuf>) -> Places {
        Places { ramal: Some(root.into()), ..Places::default() }
    }

    /// As the environment says.
    pub fn from_environment() -> Places {
        let variables = |name: &str| match name {
            "HOME" => std::env::home_dir().map(OsString::from),
            _ => std::env::var_os(name),
        };
        Places::from_variables(&variables)
    }

    /// As `variables` say. `HOME` is asked for the home of the user, on every system.
    ///
    /// Empty values count as not set, and so does a `XDG_DATA_HOME` that is not absolute.
    pub fn from_variables(variables: &dyn Fn(&str) -> Option<OsString>) -> Places {
        let set = |name| variables(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME").filter(|home| home.is_absolute());
        let below_home = |folder: &str| home.as_ref().map(|home| home.join(folder));
        let from_tilde = |path: PathBuf| match (path.strip_prefix("~"), &home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path,
        };
        let data = set("XDG_DATA_HOME").filter(|data| data.is_absolute());
        let agent = set("PI_CODING_AGENT_DIR").map(from_tilde).map(|folder| folder.join("sessions"));
        let pi_sessions = set("PI_CODING_AGENT_SESSION_DIR").map(from_tilde);
        Places {
            ramal: data.or_else(|| below_home(".local/share")).map(|data| data.join("ramal/sessions")),
            pi: pi_sessions.or_else(|| agent.clone()).or_else(|| below_home(".pi/agent/sessions")),
            oh_my_pi: agent.or_else(|| below_home(".omp/agent/sessions")),
        }
    }

    /// The folder of our own sessions for `cwd`. It need not be there yet.
    ///
    /// # Errors
    /// If none can be told, because neither a home nor a data folder is set.
    pub fn own_folder(&self, cwd: &Path) -> Result<PathBuf, OpenError> {
        let root = self.ramal.as_ref().ok_or(OpenError::NoPlace)?;
        Ok(root.join(folder_name(cwd)))
    }

    /// All of them, each once.
    pub(super) fn roots(&self) -> Vec<(Origin, &Path)> {
        let all = [(Origin::Ramal, &self.ramal), (Origin::Pi, &self.pi), (Origin::OhMyPi, &self.oh_my_pi)];
        let mut roots: Vec<(Origin, &Path)> = Vec::new();
        for (origin, root) in all {
            if let Some(root) = root
                && !roots.iter().any(|(_, other)| other == root)
            {
                roots.push((origin, root));
            }
        }
        roots
    }
}

/// The name of the folder for a working directory, as pi makes it: `/a/b` is `--a-b--`.
///
/// Different directories may get the same name; the headers of the sessions tell them apart. A name
/// that no file system would take is cut, and gets a number that follows from the whole of it.
pub(super) fn folder_name(cwd: &Path) -> String {
    let path = absolute(cwd).unwrap_or_else(|_| cwd.to_owned());
    let path = path.to_string_lossy();
    let inner = path.strip_prefix(['/', '\\']).unwrap_or(&path);
    let name = format!("--{}--", inner.replace(['/', '\\', ':'], "-"));
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let number = format!("-{:016x}--", stable_hash(&[name.as_bytes()]));
    let cut = name.floor_char_boundary(LONGEST_NAME - number.len());
    name[..cut].to_owned() + &number
}

/// Whether two paths name the same working directory, as far as that can be told; neither need exist.
pub(super) fn is_same_folder(one: &Path, other: &Path) -> bool {
    // Comparing components takes no offence at a slash at the end.
    one == other
        || matches!((std::fs::canonicalize(one), std::fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Places {
        Places::from_variables(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[track_caller]
    fn check(variables: &[(&str, &str)], want: [Option<&str>; 3]) {
        let Places { ramal, pi, oh_my_pi } = places(variables);
        assert_eq!(
            [ramal, pi, oh_my_pi].map(|place| place.map(|p| p.display().to_string())),
            want.map(|w| w.map(String::from))
        );
    }

    #[test]
    #[cfg(unix)]
    fn folders_follow_the_environment() {
        let home = ("HOME", "/h");
        let usual = [
            Some("/h/.local/share/ramal/sessions"),
            Some("/h/.pi/agent/sessions"),
            Some("/h/.omp/agent/sessions"),
        ];
        check(&[home], usual);
        check(&[], [None; 3]);
        for odd in ["", "relative/data"] {
            check(&[home, ("XDG_DATA_HOME", odd)], usual);
        }
        check(&[("XDG_DATA_HOME", "/d")], [Some("/d/ramal/sessions"), None, None]);
        check(
            &[home, ("PI_CODING_AGENT_DIR", "~/agent")],
            [usual[0], Some("/h/agent/sessions"), Some("/h/agent/sessions")],
        );
        check(
            &[home, ("PI_CODING_AGENT_DIR", "/a"), ("PI_CODING_AGENT_SESSION_DIR", "/s")],
            [usual[0], Some("/s"), Some("/a/sessions")],
        );
        assert_eq!(places(&[home, ("PI_CODING_AGENT_DIR", "/a")]).roots().len(), 2);
    }

    #[test]
    #[cfg(unix)]
    fn working_directories_have_folders() {
        for (cwd, want) in [
            ("/home/u/p", "--home-u-p--"),
            ("/home/u/p/", "--home-u-p--"),
            ("/", "----"),
            ("/a:b\\c", "--a-b-c--"),
            ("/工作/計劃", "--工作-計劃--"),
        ] {
            assert_eq!(
                folder_name(Path::new(cwd)).trim_end_matches('-'),
                want.trim_end_matches('-'),
                "{cwd}"
            );
        }
        let long = |end: &str| folder_name(Path::new(&format!("/{}{end}", "é".repeat(300))));
        assert!(long("a").len() <= LONGEST_NAME && long("a") != long("b"));
        assert_eq!(Places::own("/s").own_folder(Path::new("/w")).unwrap(), Path::new("/s/--w--"));
        assert!(matches!(Places::default().own_folder(Path::new("/w")), Err(OpenError::NoPlace)));
    }
}
