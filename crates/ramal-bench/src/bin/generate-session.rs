//! Writes a made-up session of any size.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use ramal_bench::folder::write_file;
use ramal_bench::generate::{Plan, SMALLEST_ENTRY_BYTES, Shape};
use ramal_bench::preset;

/// Writes a made-up session: the same arguments give the same bytes.
///
/// Example: generate-session --entries 100000 --shape branchy /tmp/100k.jsonl
#[derive(Parser)]
struct Arguments {
    /// Number of entries, the header not counted
    #[arg(long, required_unless_present = "preset")]
    entries: Option<u32>,
    /// Average size of an entry in bytes; below 600 only bare messages
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(SMALLEST_ENTRY_BYTES)..))]
    bytes_per_entry: Option<u32>,
    /// How the entries hang together
    #[arg(long, value_enum)]
    shape: Option<ShapeName>,
    /// No compactions, whatever the shape
    #[arg(long)]
    no_compactions: bool,
    /// What everything random is drawn from
    #[arg(long)]
    seed: Option<u64>,
    /// The working directory in the header
    #[arg(long, value_name = "PATH")]
    cwd: Option<String>,
    /// A session that timings are taken on: one, 1k, 10k, 100k, 1m or 1gb
    #[arg(long, conflicts_with_all = ["entries", "shape"])]
    preset: Option<String>,
    /// The file to write
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum ShapeName {
    /// One path with compactions
    Linear,
    /// A long path with forks
    Branchy,
    /// Every turn a branch at the first answer
    Fan,
    /// One path without compactions
    Deep,
}

impl From<ShapeName> for Shape {
    fn from(name: ShapeName) -> Self {
        match name {
            ShapeName::Linear => Self::Linear,
            ShapeName::Branchy => Self::Branchy,
            ShapeName::Fan => Self::Fan,
            ShapeName::Deep => Self::Deep,
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bytes = write_file(&plan(&arguments)?, &arguments.out)
        .with_context(|| format!("cannot write {}", arguments.out.display()))?;
    println!("{bytes} bytes in {}", arguments.out.display());
    Ok(())
}

fn plan(arguments: &Arguments) -> Result<Plan> {
    let mut plan = match (&arguments.preset, arguments.entries) {
        (Some(name), _) => match preset::preset(name) {
            Some(preset) => preset.plan,
            None => bail!("no preset {name}: there are {}", preset::NAMES.join(", ")),
        },
        (None, entries) => {
            let shape = arguments.shape.unwrap_or(ShapeName::Linear);
            Plan::new(entries.unwrap_or(0), shape.into())
        }
    };
    if let Some(bytes) = arguments.bytes_per_entry {
        plan.bytes_per_entry = bytes;
    }
    if let Some(seed) = arguments.seed {
        plan.seed = seed;
    }
    if let Some(cwd) = &arguments.cwd {
        plan.cwd.clone_from(cwd);
    }
    if arguments.no_compactions {
        plan.compact_every = None;
    }
    Ok(plan)
}
