//! The one way in: what every change passes before it reaches the store.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::{Change, MemoryId, Operation, Outcome, Reminders, Services, StoreError, secret};

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
        secret::refuse(texts(operation))?;
    }
    commit_whole(services, operation)
}

/// Commits `operation`, and with every memory that it removes the reminders that were made of it and are not done.
fn commit_whole(services: &Services, operation: &Operation) -> Result<Vec<Outcome>, StoreError> {
    let mut whole = with_reminders(services, operation)?;
    for _ in 1..ATTEMPTS {
        match services.store.commit(&whole) {
            Err(error @ StoreError::NotFound { .. }) => {
                // Perhaps somebody else took a reminder away meanwhile.
                let again = with_reminders(services, operation)?;
                if again.changes.len() == whole.changes.len() {
                    return Err(error);
                }
                whole = again;
            }
            done => return done.map(|outcomes| outcomes.into_iter().take(operation.changes.len()).collect()),
        }
    }
    services.store.commit(&whole).map(|outcomes| outcomes.into_iter().take(operation.changes.len()).collect())
}

fn with_reminders<'o>(services: &Services, operation: &'o Operation) -> Result<Cow<'o, Operation>, StoreError> {
    let mut orphans = Vec::new();
    for change in &operation.changes {
        let Change::Remove { id, .. } = change else { continue };
        let made_of_it = services.store.reminders(Reminders::Of(*id), None, None)?.memories.into_iter();
        let open = made_of_it.filter(|stored| stored.memory.reminder.is_some_and(|reminder| reminder.is_open()));
        orphans.extend(open.map(|stored| (stored.memory.id, format!("it is a reminder of {id}"))));
    }
    if orphans.is_empty() {
        return Ok(Cow::Borrowed(operation));
    }
    let named: HashSet<MemoryId> = operation.changes.iter().map(Change::id).collect();
    let mut whole = operation.clone();
    orphans.retain(|(id, _)| !named.contains(id));
    whole.changes.extend(orphans.iter().map(|(id, _)| Change::Remove { id: *id, expected: None }));
    whole.reasons.extend(orphans);
    Ok(Cow::Owned(whole))
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
        [memory.content.as_str(), memory.source.as_str()].into_iter().chain(memory.title.as_deref()).chain(names)
    })
}

/// A unit of changes that was not made, since somebody else has changed or removed one of its memories.
#[derive(Debug)]
pub struct Refused {
    /// Its number among the units.
    pub unit: usize,
    /// Why.
    pub error: StoreError,
}

/// Commits units of changes as one operation, with one sync, but for those of whose memories one has been changed or removed
/// by somebody else in the meantime. Texts that hold credentials are kept: they were there before, or are redacted already.
pub(crate) fn commit_units(
    services: &Services,
    operation: &Operation,
    units: Vec<Vec<Change>>,
) -> Result<Vec<Refused>, StoreError> {
    let mut refused = Vec::new();
    commit_from(services, operation, 0, units, &mut refused)?;
    Ok(refused)
}

fn commit_from(
    services: &Services,
    operation: &Operation,
    first: usize,
    mut units: Vec<Vec<Change>>,
    refused: &mut Vec<Refused>,
) -> Result<(), StoreError> {
    if units.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let borders: Vec<usize> = units.iter().map(Vec::len).collect();
    let whole = Operation { changes: units.into_iter().flatten().collect(), ..operation.clone() };
    match commit(services, &whole, Secrets::Keep) {
        Ok(_) => Ok(()),
        Err(error @ (StoreError::Conflict { .. } | StoreError::NotFound { .. })) if borders.len() == 1 => {
            refused.push(Refused { unit: first, error });
            Ok(())
        }
        Err(StoreError::Conflict { .. } | StoreError::NotFound { .. }) => {
            let mut changes = whole.changes.into_iter();
            units = borders.into_iter().map(|length| changes.by_ref().take(length).collect()).collect();
            let rest = units.split_off(units.len() / 2);
            let middle = first + units.len();
            commit_from(services, operation, first, units, refused)?;
            commit_from(services, operation, middle, rest, refused)
        }
        Err(error) => Err(error),
    }
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
