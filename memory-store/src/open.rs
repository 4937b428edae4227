//! Opens a home for programs that embed the crates.

use std::borrow::Cow;
use std::path::Path;

use memory_core::{Memories, MemoriesBuilder, StoreError};

use crate::{FileStore, FileStoreOptions};

/// Opens the memories of a home, and creates the home if it is missing.
///
/// A `~` at the start of the path is the home directory of the user.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("home");
/// let memories = memory_store::open(path)?;
/// memories.write("The user prefers dark mode")?;
/// for hit in memories.search("dark mode")?.hits {
///     println!("{}", hit.memory.content);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`FileStore::open`]; [`StoreError::Invalid`] if the home directory of the user is unknown.
pub fn open(home: impl AsRef<Path>) -> Result<Memories, StoreError> {
    Ok(builder(home)?.build())
}

/// Opens a home as [`open()`] does, for programs with models, an actor or a clock of their own.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("home");
/// let memories = memory_store::builder(path)?.actor("my-program").build();
/// # assert_eq!(memories.services().actor, "my-program");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`FileStore::open`]; [`StoreError::Invalid`] if the home directory of the user is unknown.
pub fn builder(home: impl AsRef<Path>) -> Result<MemoriesBuilder, StoreError> {
    let home = expand_tilde(home.as_ref())?;
    Ok(Memories::builder(FileStore::open(
        &home,
        FileStoreOptions::default(),
    )?))
}

fn expand_tilde(path: &Path) -> Result<Cow<'_, Path>, StoreError> {
    let Ok(rest) = path.strip_prefix("~") else {
        return Ok(Cow::Borrowed(path));
    };
    let missing = || StoreError::Invalid {
        why: format!("the home directory for {} is unknown", path.display()),
    };
    std::env::home_dir()
        .map(|home| Cow::Owned(home.join(rest)))
        .ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leading_tilde_is_expanded() {
        let home = std::env::home_dir().unwrap();
        assert_eq!(
            expand_tilde(Path::new("~/.memory")).unwrap(),
            home.join(".memory")
        );
        for path in ["/srv/~/memory", "~user/memory", "memory"] {
            assert_eq!(
                expand_tilde(Path::new(path)).unwrap(),
                Path::new(path),
                "{path}"
            );
        }
    }

    #[test]
    fn a_home_is_created_once_and_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        open(&home)
            .unwrap()
            .write("The user prefers dark mode")
            .unwrap();
        let hits = open(&home).unwrap().search("dark mode").unwrap().hits;
        assert_eq!(hits[0].memory.content, "The user prefers dark mode");
    }
}
