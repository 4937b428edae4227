//! The one way in: what every change passes before it reaches the store.

use crate::{Change, Operation, Outcome, Services, StoreError, secret};

/// What becomes of a text that holds a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// It is refused.
    Refuse,
    /// It is kept: the person said so, or it was there before.
    Keep,
}

/// How often a change that adds to a memory is thought out anew after somebody else was faster.
pub(crate) const ATTEMPTS: usize = 50;

/// Commits `operation` unless one of its texts holds a credential.
pub(crate) fn commit(services: &Services, operation: &Operation, secrets: Secrets) -> Result<Vec<Outcome>, StoreError> {
    refuse_nul(operation)?;
    if secrets == Secrets::Refuse {
        refuse_secrets(operation)?;
    }
    services.store.commit(operation)
}

/// Says why `text` cannot be kept, if it cannot: a NUL character makes a file one that nobody opens as text.
pub(crate) fn unkeepable(text: &str) -> Option<&'static str> {
    text.contains('\0').then_some("it holds a NUL character, which no text file may")
}

fn refuse_nul(operation: &Operation) -> Result<(), StoreError> {
    let is_text = |text: &str| unkeepable(text).is_none();
    if texts(operation).all(is_text) {
        return Ok(());
    }
    Err(StoreError::Invalid { why: "the text holds a NUL character, which no text file may".into() })
}

/// Iterates over everything that `operation` would write as text.
fn texts(operation: &Operation) -> impl Iterator<Item = &str> {
    let memories = operation.changes.iter().filter_map(|change| match change {
        Change::Create { memory, .. } | Change::Replace { memory, .. } => Some(memory.as_ref()),
        Change::Remove { .. } => None,
    });
    memories.flat_map(|memory| {
        let names = memory.tags.iter().chain(&memory.aliases).map(String::as_str);
        std::iter::once(memory.content.as_str()).chain(memory.title.as_deref()).chain(names)
    })
}

fn refuse_secrets(operation: &Operation) -> Result<(), StoreError> {
    let mut kinds: Vec<_> = texts(operation).flat_map(secret::find).map(|found| found.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() { Ok(()) } else { Err(StoreError::Secret { kinds }) }
}

/// Repeats `attempt` while somebody else is faster.
pub(crate) fn persist<T>(mut attempt: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(StoreError::Conflict { .. }) => {}
            done => return done,
        }
    }
    attempt()
}
