//! What several targets need.

use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_agent::{Agent, Offer};
use memory_core::testing::{FakeStore, services};
use tempfile::TempDir;

/// Returns an empty folder, in memory where the system has that: most inputs are over before a disk has turned.
pub fn folder() -> TempDir {
    let shared_memory = Path::new("/dev/shm");
    let folder = if shared_memory.is_dir() { tempfile::tempdir_in(shared_memory) } else { tempfile::tempdir() };
    folder.expect("there is room")
}

/// Returns an agent with nothing in its memory.
pub fn agent() -> Arc<Agent> {
    let services = services(Arc::new(FakeStore::default()));
    let local_time = Arc::new(|moment: DateTime<Utc>| moment.fixed_offset());
    Arc::new(Agent::new(services, local_time, &Offer::usual(), Vec::new(), None).expect("no tool is named"))
}
