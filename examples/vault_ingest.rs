//! Ingests an Obsidian vault twice: `cargo run -p examples --bin vault_ingest [VAULT]`.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use memory_core::{IngestOptions, backlinks, ingest};
use memory_ingest::Obsidian;

fn main() -> Result<(), Box<dyn Error>> {
    let sample =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../memory-cli/src/commands/tour/vault");
    let vault = Obsidian::open(&env::args_os().nth(1).map_or_else(sample, PathBuf::from))?;
    let folder = tempfile::tempdir()?;
    let memories = memory_store::open(folder.path().join("home"))?;
    for round in ["first", "second"] {
        let report = ingest(
            memories.services(),
            &vault,
            &IngestOptions::default(),
            &mut |_| {},
        )?;
        println!(
            "{round} run: {} new, {} unchanged, {} links",
            report.new, report.unchanged, report.links.resolved
        );
    }
    for hit in memories
        .search("how do we deploy Harbour?")?
        .hits
        .into_iter()
        .take(1)
    {
        let id = hit.memory.id.to_string();
        println!(
            "{}, linked from {} notes",
            hit.memory.headline(),
            backlinks(memories.services(), &id)?.len()
        );
    }
    Ok(())
}
