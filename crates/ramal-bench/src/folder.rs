//! A folder of many sessions, laid out as pi lays them out.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};

use crate::generate::{Plan, Shape, write_session};
use crate::random::Random;

const CWDS: &[&str] = &[
    "/home/user/work/date-parser",
    "/home/user/work/web-shop",
    "/home/user/work/web-shop/packages/cart",
    "/home/user/notes",
    "/home/user/src/kernel-module",
    "/home/user/src/größenrechner",
    "/tmp/scratch",
    "/srv/build/agent-7",
];

const NAMES: &[&str] =
    &["leap years", "fix the cart", "\"quick\" look", "日付の解析", "release 1.4", "why is it slow?"];

/// Bytes of the smallest session: a header and a short exchange.
const SMALLEST: u64 = 1_500;

/// What to write.
#[derive(Clone, Debug)]
pub struct FolderPlan {
    /// Number of session files.
    pub files: u32,
    /// Size of all of them together, about.
    pub total_bytes: u64,
    /// What everything random is drawn from.
    pub seed: u64,
}

/// Writes the sessions of `plan` below `out`, and returns their paths in the
/// order in which they began. Sizes are few large ones among many small ones.
///
/// # Errors
///
/// When a folder or file cannot be made or written.
pub fn write_folder(plan: &FolderPlan, out: &Path) -> io::Result<Vec<PathBuf>> {
    let mut random = Random::new(plan.seed);
    let weights: Vec<u64> = (0..plan.files).map(|_| random.skewed() * random.skewed()).collect();
    let all_weights = weights.iter().sum::<u64>().max(1);

    let mut paths: Vec<PathBuf> = Vec::with_capacity(weights.len());
    let mut start = Timestamp::constant(1_759_300_000, 0);
    let mut planned = 0;
    let mut written = 0;
    for (number, weight) in weights.into_iter().enumerate() {
        planned += (u128::from(plan.total_bytes) * u128::from(weight) / u128::from(all_weights)) as u64;
        // What earlier files had too much, later ones have less.
        let size = planned.saturating_sub(written).max(SMALLEST);

        start += SignedDuration::from_millis(random.between(60_000, 12_000_000) as i64);
        let cwd = CWDS[(random.below(CWDS.len() as u64) * random.below(4) / 3) as usize];
        let folder = out.join(encoded(cwd));
        fs::create_dir_all(&folder)?;
        let shape = match random.below(10) {
            0..6 => Shape::Linear,
            6..9 => Shape::Branchy,
            _ => Shape::Fan,
        };
        let session = Plan {
            seed: plan.seed.wrapping_mul(1_000_003).wrapping_add(number as u64),
            cwd: cwd.to_owned(),
            start,
            name: random.chance(30).then(|| random.pick(NAMES).to_owned()),
            parent_session: if random.chance(10) {
                paths.last().map(|path| path.display().to_string())
            } else {
                None
            },
            ..Plan::new(entries_for(size, &mut random), shape)
        };
        let session = Plan {
            bytes_per_entry: (size / u64::from(session.entries)).clamp(600, 20_000) as u32,
            ..session
        };
        let path = folder.join(session.file_name());
        written += write_file(&session, &path)?;
        paths.push(path);
    }
    Ok(paths)
}

/// How many entries a file of `size` bytes has.
fn entries_for(size: u64, random: &mut Random) -> u32 {
    let each = random.between(700, 1_600);
    (size / each).clamp(2, u64::from(u32::MAX)) as u32
}

/// Writes one session to a new file, which is as old as its last entry.
///
/// # Errors
///
/// When the file cannot be made or written.
pub fn write_file(plan: &Plan, path: &Path) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(256 * 1024, File::create(path)?);
    let written = write_session(plan, &mut out)?;
    out.flush()?;
    let age = Duration::from_millis(written.end.as_millisecond().unsigned_abs());
    out.get_ref().set_modified(SystemTime::UNIX_EPOCH + age)?;
    Ok(written.bytes)
}

/// The name that pi gives the folder of a working directory.
fn encoded(cwd: &str) -> String {
    let inner = cwd.trim_start_matches('/').replace(['/', '\\', ':'], "-");
    format!("--{inner}--")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::*;

    fn plan() -> FolderPlan {
        FolderPlan { files: 120, total_bytes: 4_000_000, seed: 3 }
    }

    #[test]
    fn the_folder_has_what_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let paths = write_folder(&plan(), folder.path()).unwrap();
        let unique: HashSet<&PathBuf> = paths.iter().collect();
        assert_eq!(unique.len(), 120);

        let mut sizes = Vec::new();
        let (mut named, mut labelled, mut descended) = (0, 0, 0);
        let mut folders = HashSet::new();
        for path in &paths {
            let text = fs::read_to_string(path).unwrap();
            sizes.push(text.len());
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(name.ends_with(&format!("_{}", lines[0]["id"].as_str().unwrap())));
            let directory = path.parent().unwrap().file_name().unwrap();
            assert_eq!(directory.to_str().unwrap(), encoded(lines[0]["cwd"].as_str().unwrap()));
            folders.insert(directory.to_owned());
            named += usize::from(lines.iter().any(|line| line["type"] == "session_info"));
            labelled += usize::from(lines.iter().any(|line| line["type"] == "label"));
            if let Some(parent) = lines[0]["parentSession"].as_str() {
                assert!(Path::new(parent).is_file());
                descended += 1;
            }
        }
        let total: usize = sizes.iter().sum();
        assert!((3_400_000..4_600_000).contains(&total), "{total}");
        sizes.sort_unstable();
        assert!(sizes[60] * 2 < sizes[115], "sizes vary: {sizes:?}");
        assert!(folders.len() >= 4, "{folders:?}");
        assert!(named > 5 && labelled > 5 && descended > 3);
    }

    #[test]
    fn a_seed_gives_the_same_files() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = write_folder(&plan(), one.path()).unwrap();
        let second = write_folder(&plan(), two.path()).unwrap();
        for (a, b) in first.iter().zip(&second) {
            assert_eq!(a.strip_prefix(one.path()).unwrap(), b.strip_prefix(two.path()).unwrap());
            // Only lineage names the place.
            let tail = |path: &Path| {
                let text = fs::read_to_string(path).unwrap();
                text.split_once('\n').unwrap().1.to_owned()
            };
            assert_eq!(tail(a), tail(b));
        }
    }
}
