//! Files that may be deleted at any time, such as the memories that a session has received and the suggestions that a person rejected.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memory_core::{ContentHash, ShownMemories, StoreError};

use crate::error::io_error;
use crate::system::private_folder_builder;

/// Writes a file that may be deleted at any time, atomically.
///
/// Readers see the previous content or the new one; a power cut may lose the file. The file and the folders below `root`, which
/// are created if missing, are accessible only to their owner.
pub(crate) fn write(root: &Path, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let folders: Vec<&Path> = path
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    folders
        .into_iter()
        .rev()
        .try_for_each(|folder| create_folder(&root.join(folder)))?;
    let place = root.join(path);
    let mut file = tempfile::Builder::new()
        .prefix(".derived-")
        .tempfile_in(place.parent().unwrap_or(root))?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
}

/// Creates a folder in an existing parent.
///
/// It does not create parents, so that a home that was moved away does not reappear at its old path.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    match private_folder_builder().create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// The folder of the lists of sessions, below the index.
const SHOWN_FOLDER: &str = "index/sessions";

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
            path: Path::new(SHOWN_FOLDER).join(format!("{}.txt", ContentHash::of(session))),
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
    pub fn save(&self, given: &ShownMemories, now: SystemTime) -> Result<(), StoreError> {
        let mut entries = given.entries();
        entries.sort_unstable_by_key(|(id, _)| *id);
        let lines: Vec<String> = entries
            .iter()
            .map(|(id, hash)| format!("{id} {hash}"))
            .collect();
        let refused = |error| io_error(format!("write to {}", self.path.display()), error);
        write(&self.root, &self.path, lines.join("\n").as_bytes()).map_err(refused)?;
        delete_expired(&self.root.join(SHOWN_FOLDER), now);
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

/// The file of rejected suggestions, below the index.
const REJECTED_FILE: &str = "index/rejected-suggestions.txt";

/// The file with the keys of rejected suggestions, one per line. If it is lost, the suggestions are shown again.
#[derive(Debug)]
pub struct RejectedSuggestionsFile {
    root: PathBuf,
}

impl RejectedSuggestionsFile {
    /// Returns the file of the home at `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Reads the keys; a missing or unreadable file counts as empty.
    pub fn load(&self) -> Vec<String> {
        let text = fs::read_to_string(self.root.join(REJECTED_FILE)).unwrap_or_default();
        text.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Replaces the keys, which have no line breaks.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, keys: &[String]) -> Result<(), StoreError> {
        let refused = |error| io_error(format!("write to {REJECTED_FILE}"), error);
        write(&self.root, REJECTED_FILE, keys.join("\n").as_bytes()).map_err(refused)
    }
}

/// The file of the state of the start page, below the index.
const START_PAGE_FILE: &str = "index/start-page.txt";

/// The file with the state of the start page of the web page, as a text. If it is lost, the page shows the changes of the last days.
#[derive(Debug)]
pub struct StartPageFile {
    root: PathBuf,
}

impl StartPageFile {
    /// Returns the file of the home at `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Reads the state; a missing or unreadable file counts as empty.
    pub fn load(&self) -> String {
        fs::read_to_string(self.root.join(START_PAGE_FILE)).unwrap_or_default()
    }

    /// Replaces the state.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, state: &str) -> Result<(), StoreError> {
        let refused = |error| io_error(format!("write to {START_PAGE_FILE}"), error);
        write(&self.root, START_PAGE_FILE, state.as_bytes()).map_err(refused)
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

    #[test]
    fn rejected_suggestions_are_known_to_the_next_process() {
        let home = tempfile::tempdir().unwrap();
        let file = || RejectedSuggestionsFile::of(home.path());
        assert!(file().load().is_empty());
        let keys = ["a1", "b2"].map(str::to_owned);
        file().save(&keys).unwrap();
        assert_eq!(file().load(), keys);
        file().save(&[]).unwrap();
        assert!(file().load().is_empty());
    }

    #[test]
    fn the_state_of_the_start_page_is_known_to_the_next_process() {
        let home = tempfile::tempdir().unwrap();
        let file = || StartPageFile::of(home.path());
        assert_eq!(file().load(), "");
        file().save("last 2026-05-31").unwrap();
        assert_eq!(file().load(), "last 2026-05-31");
    }
}
