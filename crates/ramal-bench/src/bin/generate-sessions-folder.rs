//! Writes a folder of made-up sessions.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use ramal_bench::folder::{FolderPlan, write_folder};

/// Writes a folder of made-up sessions, laid out as pi lays them out.
///
/// Example: generate-sessions-folder --out /tmp/sessions
#[derive(Parser)]
struct Arguments {
    /// Number of session files
    #[arg(long, default_value_t = 2_000)]
    files: u32,
    /// Size of all of them together, about
    #[arg(long, value_name = "BYTES", default_value_t = 230_000_000)]
    total_bytes: u64,
    /// What everything random is drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder to write into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let plan =
        FolderPlan { files: arguments.files, total_bytes: arguments.total_bytes, seed: arguments.seed };
    let paths = write_folder(&plan, &arguments.out)
        .with_context(|| format!("cannot write below {}", arguments.out.display()))?;
    println!("{} sessions in {}", paths.len(), arguments.out.display());
    Ok(())
}
