//! Shows how a dream would file and merge memories: `cargo run -p examples --bin dream_dry_run`.

use std::error::Error;
use std::ops::ControlFlow;

use chrono::Utc;
use memory_core::{MemStore, Memories, Verb};
use memory_dream::{DreamLevel, DreamRequest, DreamRules, ProgressCallback, dream};

fn main() -> Result<(), Box<dyn Error>> {
    let memories = Memories::builder(MemStore::default()).build();
    for text in [
        "I prefer short answers without emoji",
        "Decision: we chose Postgres instead of SQLite because several servers write at once",
        "The ferry timetable is published every Friday morning by the harbour office",
        "The ferry timetable is published every Friday morning by the harbour office. It covers one week.",
    ] {
        memories.write(text)?;
    }
    let tasks = DreamLevel::Medium.tasks();
    let request = DreamRequest {
        verb: Verb::Dream,
        tasks,
        rules: DreamRules::default(),
        is_rehearsal: true,
        zone: &Utc,
        recalls: None,
    };
    let mut progress = |_| ControlFlow::Continue(());
    let report = dream(
        memories.services(),
        &request,
        &mut ProgressCallback::new(&mut progress),
    )?;
    for filing in &report.filed {
        println!(
            "{} would move to {}",
            memories.read(&filing.id.to_string())?.memory.headline(),
            filing.category
        );
    }
    println!(
        "{} would be merged, {} would stay in the inbox",
        report.merged.len(),
        report.unsure.len()
    );
    Ok(())
}
