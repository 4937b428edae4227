//! Persists the suggestions that a person rejected on the web page.

use std::fs;
use std::path::{Path, PathBuf};

use memory_core::StoreError;

use crate::cache_file;
use crate::error::io_error;

/// The file, below the index; it may be deleted at any time.
const FILE: &str = "index/rejected-suggestions.txt";

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
        let text = fs::read_to_string(self.root.join(FILE)).unwrap_or_default();
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
        let refused = |error| io_error(format!("write to {FILE}"), error);
        cache_file::write(&self.root, FILE, keys.join("\n").as_bytes()).map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
