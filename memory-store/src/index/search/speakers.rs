//! Lookup of speakers in the index.

use chrono::DateTime;
use memory_core::{Filter, Scope, StoreError};

use super::flushed::Flushed;
use super::pending::{Pending, pending};
use crate::index::handle::Handle;
use crate::index::open::{Index, Opened};
use crate::index::schema::Meta;
use crate::index::trouble::{Meaning, Trouble};

impl Index {
    /// Returns those of `names` that are speakers, restricted to the scopes `within` if given.
    pub(crate) fn speakers(&self, names: &[String], within: Option<&[Scope]>) -> Result<Vec<String>, StoreError> {
        let found = self.ask("find speakers", |_, opened| match who_speaks(opened, names, within) {
            // The search that follows detects the damage and triggers the repair.
            Err(trouble) if trouble.meaning() == Meaning::TextDamaged => Ok(Vec::new()),
            found => found,
        })?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }
}

fn who_speaks(opened: &mut Opened, names: &[String], within: Option<&[Scope]>) -> Result<Vec<(String, i64)>, Trouble> {
    let epoch = Meta::read(&opened.connection)?.epoch;
    let filter = Filter { within: within.map(<[Scope]>::to_vec), ..Filter::everything() };
    let (connection, text, _) = opened.text(epoch)?;
    // The rows are read in one transaction, before the full-text index is opened.
    let rows = connection.transaction()?;
    let meta = Meta::read(&rows)?;
    let (pending, keys) = pending(&rows, &filter, DateTime::UNIX_EPOCH)?;
    let (searcher, generation) = text.searcher(meta.generation)?;
    if meta.epoch != epoch || generation < meta.generation {
        return Err(Trouble::Mismatch);
    }
    speakers(names, &Flushed::new(&searcher, text.fields, &keys, within)?, &pending)
}

/// Returns those of `names` that are speakers of a document, with their handles.
pub(super) fn speakers(names: &[String], flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<(String, i64)>, Trouble> {
    let mut speakers = Vec::new();
    for name in names {
        let bits = Handle::Speaker(name).bits();
        if flushed.has_handle(bits)? || pending.iter().any(|document| document.filters.contains(&bits)) {
            speakers.push((name.clone(), bits));
        }
    }
    Ok(speakers)
}
