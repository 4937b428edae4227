//! The file of the index.

use memory_core::topic::{INDEX_FILE, TopicError, TopicIndex, TopicUsages, index_text};
use serde::{Deserialize, Serialize};

use super::error::{damaged_error, write_error};
use super::files::{read_bytes, read_json};
use super::list::list_topics;
use super::trash;
use super::uses;
use crate::disk::{Disk, replace_file};
use crate::gitignore;
use crate::markdown::lossy_text;
use crate::oplog::hash_bytes;
use memory_core::Operation;

/// The temporary file of the index.
const TEMP_FILE: &str = ".index.tmp";

/// The file that records which lines of the index are generated.
pub(super) const GENERATED_FILE: &str = ".index.json";

/// The temporary file of [`GENERATED_FILE`].
const GENERATED_TEMP_FILE: &str = ".index.json.tmp";

/// Maximum number of attempts when another program changes the index during a rebuild.
const MAX_ATTEMPTS: usize = 3;

/// The last two generated indexes. The last one may not have replaced the file yet.
#[derive(Debug, Default, Serialize, Deserialize)]
struct GeneratedIndexes {
    written: Vec<GeneratedIndex>,
    /// Whether `.gitignore` was written. After that it belongs to the user.
    #[serde(default)]
    has_gitignore: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GeneratedIndex {
    /// The hash of the whole text.
    hash: String,
    /// The generated lines.
    lines: Vec<String>,
}

impl GeneratedIndex {
    fn of(index: &TopicIndex) -> Self {
        Self {
            hash: hash_bytes(index.text.as_bytes()),
            lines: index.ours.clone(),
        }
    }
}

impl GeneratedIndexes {
    fn read(disk: &dyn Disk) -> Self {
        read_json(disk, GENERATED_FILE)
    }

    /// Writes the file before the index, since unknown lines would be preserved for ever.
    fn save(&self, disk: &dyn Disk) -> Result<(), TopicError> {
        let bytes = serde_json::to_vec(self).expect("strings have a JSON form");
        replace_file(disk, GENERATED_TEMP_FILE, GENERATED_FILE, &bytes)
            .map_err(write_error(GENERATED_FILE))
    }

    /// Returns the generated index with this text, or the last one if the text was edited.
    fn of(&self, text: &str) -> Option<&GeneratedIndex> {
        let hash = hash_bytes(text.as_bytes());
        self.written
            .iter()
            .find(|own| own.hash == hash)
            .or(self.written.last())
    }
}

fn read_text(disk: &dyn Disk) -> Result<Option<String>, TopicError> {
    let Some(bytes) = read_bytes(disk, INDEX_FILE)? else {
        return Ok(None);
    };
    match lossy_text(&bytes) {
        (_, Some(fault)) => Err(damaged_error(INDEX_FILE, fault)),
        (text, None) => Ok(Some(text.into_owned())),
    }
}

/// Returns the index file, or `None` if it does not exist.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<TopicIndex>, TopicError> {
    let Some(text) = read_text(disk)? else {
        return Ok(None);
    };
    let ours = GeneratedIndexes::read(disk)
        .of(&text)
        .map(|own| own.lines.clone())
        .unwrap_or_default();
    Ok(Some(TopicIndex { text, ours }))
}

/// Inspects an index that was not generated here, before an operation changes its topics.
///
/// An index equal to the one that would be generated counts as generated. The lines of any other index are those of a
/// person, and the first time a copy is stored in the trash. The caller holds the lock.
pub(super) fn adopt_index(disk: &dyn Disk, operation: &Operation) -> Result<(), TopicError> {
    let own = GeneratedIndexes::read(disk);
    if !own.has_gitignore {
        gitignore::write(disk);
    }
    // If the index cannot be read, the update of the index reports it later.
    let Ok(Some(text)) = read_text(disk) else {
        return Ok(());
    };
    let known = hash_bytes(text.as_bytes());
    if own.written.iter().any(|own| own.hash == known) {
        return Ok(());
    }
    let made = [
        index_text(&list_topics(disk)?.topics, &uses::read_uses(disk), None),
        index_text(&[], &TopicUsages::new(), None),
    ];
    match made.iter().find(|made| made.text == text) {
        Some(made) => GeneratedIndexes {
            written: vec![GeneratedIndex::of(made)],
            has_gitignore: true,
        }
        .save(disk),
        None if own.written.is_empty() => trash::copy_index_to_trash(disk, operation),
        None => Ok(()),
    }
}

/// Rebuilds the index, and returns whether the file changed. The caller holds the lock.
pub(super) fn rebuild(disk: &dyn Disk, uses: &TopicUsages) -> Result<bool, TopicError> {
    let told = write_error(INDEX_FILE);
    for _ in 0..MAX_ATTEMPTS {
        let former = read(disk)?;
        let next = index_text(&list_topics(disk)?.topics, uses, former.as_ref());
        let is_same = former
            .as_ref()
            .is_some_and(|former| former.text == next.text);
        let mut own = GeneratedIndexes {
            written: vec![GeneratedIndex::of(&next)],
            has_gitignore: true,
        };
        if !is_same {
            own.written
                .splice(..0, former.as_ref().map(GeneratedIndex::of));
        }
        let known = GeneratedIndexes::read(disk);
        if known.written.last() != own.written.last() || !known.has_gitignore {
            own.save(disk)?;
        }
        if is_same {
            return Ok(false);
        }
        disk.check_writable(INDEX_FILE).map_err(&told)?;
        disk.write(TEMP_FILE, next.text.as_bytes())
            .and_then(|()| disk.sync_file(TEMP_FILE))
            .map_err(&told)?;
        if former.is_some() {
            disk.copy_permissions(TEMP_FILE, INDEX_FILE)
                .map_err(&told)?;
        }
        if read_text(disk)? == former.map(|former| former.text) {
            disk.rename(TEMP_FILE, INDEX_FILE).map_err(&told)?;
            return Ok(true);
        }
    }
    Err(TopicError::Conflict {
        name: INDEX_FILE.to_owned(),
    })
}
