//! The inputs and environments of targets.

use std::path::Path;
use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use memory_agent::Agent;
use memory_core::MemStore;
use memory_core::testing::services;
use tempfile::TempDir;

/// Returns the values that the bytes of libFuzzer denote; `None` if there are too few.
pub(crate) fn parse_input<'a, T: Arbitrary<'a>>(bytes: &'a [u8]) -> Option<T> {
    if bytes.len() < T::size_hint(0).0 {
        return None;
    }
    T::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

/// Returns an empty folder, in shared memory if available.
///
/// Most inputs take less time than a disk access.
pub(crate) fn folder() -> TempDir {
    let shared_memory = Path::new("/dev/shm");
    let folder = if shared_memory.is_dir() {
        tempfile::tempdir_in(shared_memory)
    } else {
        tempfile::tempdir()
    };
    folder.expect("there is room")
}

/// Returns an agent with an empty store.
pub(crate) fn agent() -> Arc<Agent> {
    Agent::builder(services(Arc::new(MemStore::default())))
        .build()
        .expect("no name is taken twice")
}
