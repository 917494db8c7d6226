//! The sessions that timings are taken on, by name.

use crate::generate::{Plan, Shape};

/// A session with a name.
#[derive(Clone, Debug)]
pub struct Preset {
    /// What it is called on the command line; its file is `<name>.jsonl`.
    pub name: &'static str,
    /// What it holds.
    pub plan: Plan,
}

/// The names of all presets.
pub const NAMES: [&str; 6] = ["one", "1k", "10k", "100k", "1m", "1gb"];

/// The preset of that name.
///
/// - `one`: a single entry, for what a process costs before it has read
///   anything;
/// - `1k`, `10k`: entries of usual size;
/// - `100k`: 400 MB;
/// - `1m`: small entries, 170 MB;
/// - `1gb`: 250,000 entries without compactions, so that the context is as
///   long as the path.
pub fn preset(name: &str) -> Option<Preset> {
    let sized = |name, entries, bytes_per_entry| Preset {
        name,
        plan: Plan { bytes_per_entry, ..Plan::new(entries, Shape::Branchy) },
    };
    Some(match name {
        "one" => sized("one", 1, 1_070),
        "1k" => sized("1k", 1_000, 1_070),
        "10k" => sized("10k", 10_000, 1_070),
        "100k" => sized("100k", 100_000, 4_000),
        "1m" => sized("1m", 1_000_000, 170),
        "1gb" => {
            let mut preset = sized("1gb", 250_000, 4_000);
            preset.plan.compact_every = None;
            preset
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_preset() {
        for name in NAMES {
            assert_eq!(preset(name).map(|preset| preset.name), Some(name));
        }
        assert!(preset("2gb").is_none());
    }
}
