//! Persists the list of memories that a session has already received.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memory_core::{ContentHash, ShownMemories};

use crate::cache_file;
use crate::error::io_error;

/// The folder, below the index; its content may be deleted at any time.
const FOLDER: &str = "index/sessions";

/// A session without activity for longer than this has ended.
const EXPIRY: Duration = Duration::from_hours(7 * 24);

/// The file with the memories that one session has already received.
///
/// The next process of the session reads it. A lost entry only means that a memory is shown again.
#[derive(Debug)]
pub struct AlreadyShownFile {
    root: PathBuf,
    path: PathBuf,
}

impl AlreadyShownFile {
    /// Returns the file of the session with the name `session`, in the home at `root`.
    pub fn of(root: &Path, session: &str) -> Self {
        Self {
            root: root.to_owned(),
            path: Path::new(FOLDER).join(format!("{}.txt", ContentHash::of(session))),
        }
    }

    /// Reads the list; a missing file and unreadable lines count as empty.
    pub fn load(&self) -> ShownMemories {
        let text = fs::read_to_string(self.root.join(&self.path)).unwrap_or_default();
        let entry = |line: &str| {
            let (id, hash) = line.split_once(' ')?;
            Some((id.parse().ok()?, hash.parse().ok()?))
        };
        text.lines().filter_map(entry).collect()
    }

    /// Writes the list, and deletes the files of sessions that have ended at `now`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(
        &self,
        given: &ShownMemories,
        now: SystemTime,
    ) -> Result<(), memory_core::StoreError> {
        let mut entries = given.entries();
        entries.sort_unstable_by_key(|(id, _)| *id);
        let lines: Vec<String> = entries
            .iter()
            .map(|(id, hash)| format!("{id} {hash}"))
            .collect();
        let refused = |error| io_error(format!("write to {}", self.path.display()), error);
        cache_file::write(&self.root, &self.path, lines.join("\n").as_bytes()).map_err(refused)?;
        delete_expired(&self.root.join(FOLDER), now);
        Ok(())
    }
}

fn delete_expired(folder: &Path, now: SystemTime) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = file.metadata().and_then(|found| found.modified());
        if changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| EXPIRY < age)) {
            // A failure is ignored: the next session tries again.
            let _ = fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_given_is_known_to_the_next_process_until_the_session_is_over() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("index")).unwrap();
        let file = |session: &str| AlreadyShownFile::of(home.path(), session);
        assert!(file("a/../b").load().entries().is_empty());
        let entry = (
            "550e8400-e29b-41d4-a716-446655440000".parse().unwrap(),
            ContentHash::of("tea"),
        );
        let now = SystemTime::from(memory_core::Clock::now(&memory_core::SystemClock));
        file("a/../b")
            .save(&[entry].into_iter().collect(), now)
            .unwrap();
        assert_eq!(file("a/../b").load().entries(), [entry]);
        let mode = fs::metadata(home.path().join(&file("a/../b").path))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(file("b").load().entries().is_empty());
        file("b")
            .save(&ShownMemories::default(), now + 2 * EXPIRY)
            .unwrap();
        assert!(file("a/../b").load().entries().is_empty(), "it is over");
    }
}
