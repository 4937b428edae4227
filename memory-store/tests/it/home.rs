//! A separate home folder for each test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::Services;
use memory_core::testing::{CountingIds, FakeClock};
use memory_store::{FileStore, FileStoreOptions};

/// A home folder that is deleted on drop.
pub(crate) struct TestHome {
    folder: tempfile::TempDir,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn services(&self) -> Services {
        services(FileStore::open(self.path(), FileStoreOptions::default()).unwrap())
    }

    /// Returns the temporary files that writes left.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        self.files("categories")
            .into_keys()
            .filter(|path| path.strip_suffix(".tmp").is_some())
            .collect()
    }

    /// Returns all files below `folder` with their content, by their paths below the home.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect_files(self.path(), &self.path().join(folder), &mut files);
        files
    }
}

/// Saves every note in a folder as another program does, and returns the texts that it adds.
///
/// Each text contains the name of its note.
pub(crate) fn save_all(folder: &Path) -> Vec<String> {
    let mut files = BTreeMap::new();
    collect_files(folder, folder, &mut files);
    files.retain(|name, _| {
        name.strip_suffix(".md").is_some() && !name.starts_with('.') && !name.contains("/.")
    });
    let save = |(name, bytes): (String, Vec<u8>)| {
        let (path, next, text) = (
            folder.join(&name),
            folder.join("saved~"),
            format!("\nsaved by hand: {name}.\n"),
        );
        fs::write(&next, [bytes.as_slice(), text.as_bytes()].concat()).unwrap();
        fs::rename(next, path).unwrap();
        text
    };
    files.into_iter().map(save).collect()
}

/// Asserts that each text of another program is in some file of a folder.
pub(crate) fn assert_texts_exist(saved: &[String], folder: &Path, when: &str) {
    let mut files = BTreeMap::new();
    collect_files(folder, folder, &mut files);
    for text in saved {
        let is_there = files
            .values()
            .any(|bytes| String::from_utf8_lossy(bytes).contains(text));
        assert!(is_there, "{when}: what was{text}is gone");
    }
}

fn collect_files(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect_files(root, &path, files);
        } else {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Returns services over `store` with random ids, which differ between processes and handles.
pub(crate) fn services(store: FileStore) -> Services {
    Services {
        clock: Arc::new(FakeClock::default()),
        actor: "test".into(),
        ..Services::new(Arc::new(store))
    }
}

/// Returns services over `store` with the same ids in every run.
pub(crate) fn repeatable_services(store: FileStore) -> Services {
    Services {
        ids: Arc::new(CountingIds::default()),
        ..services(store)
    }
}
