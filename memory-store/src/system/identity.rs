//! The identity of a file.

/// Identifies a file or folder while it exists, regardless of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    pub(super) volume: u64,
    pub(super) number: u64,
}

impl FileIdentity {
    /// Returns whether both files are on the same file system.
    pub fn is_on_same_volume(self, other: Self) -> bool {
        self.volume == other.volume
    }
}
