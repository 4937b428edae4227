//! Lookup of speakers in the index.

use chrono::DateTime;
use memory_core::{Filter, Scope, StoreError};

use super::pending_rows::{PendingDocument, read_pending};
use super::segments::SegmentsView;
use crate::index::error::{IndexError, IndexErrorKind};
use crate::index::lookup_key::LookupKey;
use crate::index::open::{MemoryIndex, OpenIndex};
use crate::index::schema::IndexMeta;

impl MemoryIndex {
    /// Returns those of `names` that are speakers, restricted to the scopes `within` if given.
    pub(crate) fn speakers(&self, names: &[String], within: Option<&[Scope]>) -> Result<Vec<String>, StoreError> {
        let found = self.query("find speakers", |_, opened| match find_speakers(opened, names, within) {
            // The search that follows detects the damage and triggers the repair.
            Err(trouble) if trouble.kind() == IndexErrorKind::TextDamaged => Ok(Vec::new()),
            found => found,
        })?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }
}

fn find_speakers(opened: &mut OpenIndex, names: &[String], within: Option<&[Scope]>) -> Result<Vec<(String, i64)>, IndexError> {
    let epoch = IndexMeta::read(&opened.connection)?.epoch;
    let filter = Filter { within: within.map(<[Scope]>::to_vec), ..Filter::all() };
    let (connection, text, _) = opened.text(epoch)?;
    // The rows are read in one transaction, before the full-text index is opened.
    let rows = connection.transaction()?;
    let meta = IndexMeta::read(&rows)?;
    let (pending, keys) = read_pending(&rows, &filter, DateTime::UNIX_EPOCH)?;
    let (searcher, generation) = text.searcher(meta.generation)?;
    if meta.epoch != epoch || generation < meta.generation {
        return Err(IndexError::Mismatch);
    }
    known_speakers(names, &SegmentsView::new(&searcher, text.fields, &keys, within)?, &pending)
}

/// Returns those of `names` that are speakers of a document, with their handles.
pub(super) fn known_speakers(
    names: &[String],
    flushed: &SegmentsView<'_>,
    pending: &[PendingDocument],
) -> Result<Vec<(String, i64)>, IndexError> {
    let mut speakers = Vec::new();
    for name in names {
        let bits = LookupKey::Speaker(name).bits();
        if flushed.has_handle(bits)? || pending.iter().any(|document| document.filters.contains(&bits)) {
            speakers.push((name.clone(), bits));
        }
    }
    Ok(speakers)
}
