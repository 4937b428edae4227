//! The state of a replica: a position, and the hashes of the files that users see.
//!
//! It is a file with one JSON value in each line: first the id of the database, then the changes of the state. A change is appended, so its
//! cost does not depend on the number of files.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::io;

use serde::{Deserialize, Serialize};

use crate::disk::{BackwardLines, Disk, ForwardLines, append_line, replace_file};

/// The file is written anew when it is this many bytes longer than twice its former size.
const COMPACT_ABOVE: u64 = 64 * 1024;

/// The state of a replica.
#[derive(Debug)]
pub(super) struct FolderState {
    /// The id of the database.
    pub database: String,
    pub position: i64,
    /// Whether the file exists.
    pub is_saved: bool,
    /// The hashes that changed since the state was saved; `None` for a deleted file.
    changed: BTreeMap<String, Option<String>>,
    /// The saved hashes, if they were read.
    saved: OnceCell<HashMap<String, String>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StateHeader {
    database: String,
    /// The size of the file after it was written anew.
    size: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct StateLine {
    position: i64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, Option<String>>,
}

impl FolderState {
    /// Returns the state of a new replica.
    pub(super) fn new(database: String) -> Self {
        let (changed, saved) = Default::default();
        Self {
            database,
            position: 0,
            is_saved: false,
            changed,
            saved,
        }
    }

    /// Reads the state in the file at `path`; `None` if it does not exist.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] for a file with other content.
    pub(super) fn read(disk: &dyn Disk, path: &str) -> io::Result<Option<Self>> {
        let Some(header) = read_header(disk, path)? else {
            return Ok(None);
        };
        let Some(file) = disk.open(path)? else {
            return Ok(None);
        };
        let end = file.metadata()?.len();
        let mut position = None;
        for line in BackwardLines::new(file, end) {
            // A crash may have left an incomplete line.
            position = serde_json::from_slice::<StateLine>(&line?.bytes)
                .ok()
                .map(|line| line.position);
            if position.is_some() {
                break;
            }
        }
        let position = position.ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some(Self {
            position,
            is_saved: true,
            ..Self::new(header.database)
        }))
    }

    /// Returns the recorded hash of a file.
    ///
    /// # Errors
    /// If the file at `path` cannot be read.
    pub(super) fn hash(
        &self,
        disk: &dyn Disk,
        path: &str,
        file: &str,
    ) -> io::Result<Option<&String>> {
        if let Some(hash) = self.changed.get(file) {
            return Ok(hash.as_ref());
        }
        if self.saved.get().is_none() {
            let hashes = if self.is_saved {
                read_hashes(disk, path)?
            } else {
                HashMap::new()
            };
            let _ = self.saved.set(hashes);
        }
        Ok(self.saved.get().and_then(|saved| saved.get(file)))
    }

    /// Sets the hash of a file; `None` for a deleted file.
    pub(super) fn set_hash(&mut self, file: &str, hash: Option<String>) {
        self.changed.insert(file.to_owned(), hash);
    }

    /// Saves the state with the position `position`. `temporary` is the name of a temporary file.
    ///
    /// # Errors
    /// On an I/O error.
    pub(super) fn save(
        &mut self,
        disk: &dyn Disk,
        path: &str,
        temporary: &str,
        position: i64,
    ) -> io::Result<()> {
        self.position = position;
        let line = StateLine {
            position,
            files: self.changed.clone(),
        };
        if self.is_saved {
            append_line(disk, path, &to_json(&line))?;
            let size = disk.stat(path)?.map_or(0, |found| found.size);
            let former = read_header(disk, path)?.map_or(0, |header| header.size);
            if size <= 2 * former + COMPACT_ABOVE {
                self.merge();
                return Ok(());
            }
            self.saved.take();
        }
        self.hash(disk, path, "")?;
        self.merge();
        let hashes = self.saved.get().into_iter().flatten();
        let line = |(file, hash): (&String, &String)| {
            to_json(&StateLine {
                position,
                files: BTreeMap::from([(file.clone(), Some(hash.clone()))]),
            })
        };
        let mut lines: Vec<Vec<u8>> = hashes.map(line).collect();
        lines.push(to_json(&StateLine {
            position,
            ..StateLine::default()
        }));
        let size = lines.iter().map(|line| line.len() as u64 + 1).sum();
        lines.insert(
            0,
            to_json(&StateHeader {
                database: self.database.clone(),
                size,
            }),
        );
        replace_file(
            disk,
            temporary,
            path,
            &[lines.join(&b'\n'), b"\n".to_vec()].concat(),
        )?;
        self.is_saved = true;
        Ok(())
    }

    /// Adds the changed hashes to the saved ones.
    fn merge(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        let Some(saved) = self.saved.get_mut() else {
            return;
        };
        for (file, hash) in changed {
            match hash {
                Some(hash) => drop(saved.insert(file, hash)),
                None => drop(saved.remove(&file)),
            }
        }
    }
}

fn read_header(disk: &dyn Disk, path: &str) -> io::Result<Option<StateHeader>> {
    let Some(file) = disk.open(path)? else {
        return Ok(None);
    };
    let end = file.metadata()?.len();
    let line = ForwardLines::new(file, end)
        .next()
        .ok_or(io::ErrorKind::InvalidData)??;
    serde_json::from_slice(&line.bytes)
        .map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn read_hashes(disk: &dyn Disk, path: &str) -> io::Result<HashMap<String, String>> {
    let mut hashes = HashMap::new();
    let Some(file) = disk.open(path)? else {
        return Ok(hashes);
    };
    let end = file.metadata()?.len();
    for line in ForwardLines::new(file, end).skip(1) {
        let Ok(line) = serde_json::from_slice::<StateLine>(&line?.bytes) else {
            continue;
        };
        for (file, hash) in line.files {
            match hash {
                Some(hash) => drop(hashes.insert(file, hash)),
                None => drop(hashes.remove(&file)),
            }
        }
    }
    Ok(hashes)
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers have a JSON form")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::disk::RealDisk;

    const PATH: &str = "state.jsonl";

    fn save(state: &mut FolderState, disk: &dyn Disk, position: i64) {
        state.save(disk, PATH, "state.tmp", position).unwrap();
    }

    proptest! {
        #[test]
        fn a_state_has_the_last_hash_of_each_file_and_the_last_position(
            changes in proptest::collection::vec((0..5_usize, proptest::option::of("[a-f]{4}"), any::<bool>()), 1..40),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let disk = RealDisk::open(folder.path()).unwrap();
            let (mut state, mut expected) = (FolderState::new("one".into()), HashMap::new());
            for (position, (file, hash, is_read_again)) in (1..).zip(changes) {
                state.set_hash(&file.to_string(), hash.clone());
                expected.insert(file, hash);
                save(&mut state, &disk, position);
                if is_read_again {
                    state = FolderState::read(&disk, PATH).unwrap().unwrap();
                }
                prop_assert_eq!((state.database.as_str(), state.position), ("one", position));
                for file in 0..5 {
                    let hash = state.hash(&disk, PATH, &file.to_string()).unwrap();
                    prop_assert_eq!(hash, expected.get(&file).and_then(Option::as_ref));
                }
            }
        }
    }

    #[test]
    fn the_file_of_a_state_does_not_grow_with_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(folder.path()).unwrap();
        let mut state = FolderState::new("one".into());
        for position in 0..3_000 {
            state.set_hash("a", Some(position.to_string().repeat(16)));
            save(&mut state, &disk, position);
        }
        assert!(fs::metadata(folder.path().join(PATH)).unwrap().len() < 2 * COMPACT_ABOVE);
        let state = FolderState::read(&disk, PATH).unwrap().unwrap();
        assert_eq!(
            (state.position, state.hash(&disk, PATH, "a").unwrap()),
            (2_999, Some(&"2999".repeat(16)))
        );
    }

    #[test]
    fn an_incomplete_line_is_omitted() {
        let folder = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(folder.path()).unwrap();
        let mut state = FolderState::new("one".into());
        for position in [1, 2] {
            state.set_hash("a", Some(position.to_string()));
            save(&mut state, &disk, position);
        }
        let text = fs::read(folder.path().join(PATH)).unwrap();
        fs::write(folder.path().join(PATH), &text[..text.len() - 4]).unwrap();
        let mut state = FolderState::read(&disk, PATH).unwrap().unwrap();
        assert_eq!(
            (state.position, state.hash(&disk, PATH, "a").unwrap()),
            (1, Some(&"1".to_owned()))
        );
        save(&mut state, &disk, 3);
        let state = FolderState::read(&disk, PATH).unwrap().unwrap();
        assert_eq!(
            (state.position, state.hash(&disk, PATH, "a").unwrap()),
            (3, Some(&"1".to_owned()))
        );
        fs::write(folder.path().join(PATH), "{}").unwrap();
        assert_eq!(
            FolderState::read(&disk, PATH).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
