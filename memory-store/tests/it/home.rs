//! A home folder of its own for each test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::testing::{CountingIds, FakeClock};
use memory_core::{History, MemoryStore, Services};
use memory_store::{FileStore, Options};

/// A home folder that is gone when this is dropped.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn services(&self) -> Services {
        services(FileStore::open(self.path(), Options::default()).unwrap())
    }

    /// Returns the temporary files that writes have left behind.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        self.files("categories").into_keys().filter(|path| path.strip_suffix(".tmp").is_some()).collect()
    }

    /// Returns all files below `folder` with what they hold, by their paths below the home.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.path(), &self.path().join(folder), &mut files);
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Returns services over `store`, with real ids, so that several processes or handles do not make the same ones.
pub(crate) fn services(store: FileStore) -> Services {
    let store = Arc::new(store);
    Services {
        store: Arc::clone(&store) as Arc<dyn MemoryStore>,
        history: store as Arc<dyn History>,
        clock: Arc::new(FakeClock::default()),
        ids: Arc::new(memory_store::RandomIds),
        embedder: None,
        reranking: None,
        chat: None,
        banks: None,
        topics: None,
        actor: "test".into(),
    }
}

/// Returns services over `store` with ids that are the same in every run.
pub(crate) fn repeatable_services(store: FileStore) -> Services {
    Services { ids: Arc::new(CountingIds::default()), ..services(store) }
}
