//! Remembering something new.

use crate::commit::commit;
use crate::{Change, Draft, Duplicates, MemoryId, Outcome, Secrets, Services, StoreError, Verb};

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The memory that holds the text now.
    pub id: MemoryId,
    /// Where it is, below the home.
    pub path: String,
    /// Whether it is new; if not, the same text was kept in the same scope already.
    pub created: bool,
}

/// Keeps `draft` as a memory. If the same text is kept in the same scope already, nothing is written and that one is named.
///
/// # Errors
/// [`StoreError::Invalid`] if there is no text, [`StoreError::Secret`] if it holds a credential, and whatever the store
/// says.
pub fn write(services: &Services, draft: Draft, secrets: Secrets) -> Result<Written, StoreError> {
    if draft.content.trim().is_empty() {
        return Err(StoreError::Invalid { why: "there is nothing to remember: the text is empty".into() });
    }
    let mut operation = services.operation(Verb::Write);
    let memory = draft.into_memory(services.ids.memory_id(), operation.at);
    operation.duplicates = Duplicates::Skip;
    operation.changes.push(Change::Create { memory: Box::new(memory), front_matter: String::new() });
    match commit(services, &operation, secrets)?.pop() {
        Some(Outcome::Kept { id, path } | Outcome::Removed { id, path }) => Ok(Written { id, path, created: true }),
        Some(Outcome::Duplicate { id, path }) => Ok(Written { id, path, created: false }),
        None => unreachable!("a store returns one outcome for each change"),
    }
}
