//! The way back.

use std::collections::HashSet;

use crate::{Memory, MemoryId, OperationId, Outcome, Record, Services, StoreError, Trashed, Verb};

/// Takes back the operation whose id begins with `reference`, or the last one that was not taken back; returns what it was.
/// That a reminder was shown is nothing that somebody asked for: it is taken back by its name, or before what it stands in the
/// way of.
///
/// Taking back an undo does the operation again.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is none, [`StoreError::Conflict`] if one of its files was changed since.
pub fn undo(services: &Services, reference: Option<&str>) -> Result<Undone, StoreError> {
    // What was interrupted, perhaps an undo, is taken back before it could be taken for done.
    services.history.recover()?;
    services.store.refresh()?;
    let record = match reference {
        Some(reference) => named(services, reference)?,
        None => last(services)?,
    };
    let operation = services.operation(Verb::Undo);
    services.history.revert(&record.id, &operation)?;
    Ok(Undone { record, undo: operation.id })
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The operation that was taken back.
    pub record: Record,
    /// The operation that took it back; taking back this one does the first again.
    pub undo: OperationId,
}

/// Returns the operation that would be taken back next, if there is one.
pub(crate) fn last_open(services: &Services) -> Result<Option<Record>, StoreError> {
    services.history.recover()?;
    match last(services) {
        Err(StoreError::OperationNotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

fn last(services: &Services) -> Result<Record, StoreError> {
    let mut passed = Vec::new();
    for record in services.history.records() {
        let record = record?;
        let is_open = record.verb != Verb::Undo && record.undone_by.is_none();
        if is_open && record.verb == Verb::Notify {
            passed.push(record);
        } else if is_open && has_way_back(services, &record)? {
            return in_the_way(services, passed, &record).map(|later| later.unwrap_or(record));
        }
    }
    Err(StoreError::OperationNotFound { wanted: "there is no operation to take back".into() })
}

/// Returns the last of `later` that changed a file of `record`, which can only be taken back before that.
fn in_the_way(services: &Services, later: Vec<Record>, record: &Record) -> Result<Option<Record>, StoreError> {
    if later.is_empty() {
        return Ok(None);
    }
    let changed = |record: &Record| -> Result<HashSet<MemoryId>, StoreError> {
        services.history.changes(&record.id).map(|change| change.map(|change| change.id)).collect()
    };
    let own = changed(record)?;
    for later in later {
        if !changed(&later)?.is_disjoint(&own) {
            return Ok(Some(later));
        }
    }
    Ok(None)
}

/// Tells whether an operation did anything: a repair may have done no more than write down what others did.
fn has_way_back(services: &Services, record: &Record) -> Result<bool, StoreError> {
    if record.verb != Verb::Repair {
        return Ok(true);
    }
    for change in services.history.changes(&record.id) {
        if change?.was_ours() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn named(services: &Services, reference: &str) -> Result<Record, StoreError> {
    let wanted = reference.trim().to_lowercase();
    let mut found = None::<Record>;
    for record in services.history.records() {
        let record = record?;
        if 4 <= wanted.len() && record.id.as_str().starts_with(&wanted) {
            if let Some(other) = &found {
                let candidates = vec![other.id.to_string(), record.id.to_string()];
                return Err(StoreError::Ambiguous { reference: wanted, candidates });
            }
            found = Some(record);
        }
    }
    let record = found.ok_or_else(|| StoreError::OperationNotFound { wanted: format!("no operation is called {wanted}") })?;
    match &record.undone_by {
        Some(undo) => Err(StoreError::Invalid { why: format!("{} was taken back already, by {undo}", record.id) }),
        None if !has_way_back(services, &record)? => Err(StoreError::Invalid {
            why: format!("{} did no more than write down what another program had deleted", record.id),
        }),
        None => Ok(record),
    }
}

/// Brings back what was last put in the trash under `reference`: an id, a prefix of one (4 digits or more) or a file stem of
/// a memory that is there no longer, or whose text was summarised; or the path of any file in the trash, whose later version then takes its place there.
///
/// # Errors
/// [`StoreError::TrashNotFound`] if there is none, [`StoreError::Conflict`] if another memory's file stands there now.
pub fn restore(services: &Services, reference: &str) -> Result<(Trashed, Outcome), StoreError> {
    services.store.refresh()?;
    let wanted = reference.trim().to_lowercase();
    for trashed in services.history.trashed() {
        let trashed = trashed?;
        let is_path = trashed.trash.to_lowercase() == wanted;
        if is_path || (is_called(&trashed, &wanted) && is_gone_or_whole(services, &trashed)?) {
            let operation = services.operation(Verb::Restore);
            let outcome = services.history.bring_back(&trashed, &operation)?;
            return Ok((trashed, outcome));
        }
    }
    Err(StoreError::TrashNotFound { reference: reference.to_owned() })
}

fn is_called(trashed: &Trashed, wanted: &str) -> bool {
    let stem = trashed.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md").to_lowercase();
    (4 <= wanted.len() && trashed.id.to_string().starts_with(wanted)) || stem == wanted.trim_end_matches(".md")
}

/// Returns the file in the trash with the text that the summary in `memory` stands for; `None` if it was removed for good, or
/// `memory` is no summary.
///
/// # Errors
/// When the trash cannot be read.
pub fn whole_text(services: &Services, memory: &Memory) -> Result<Option<Trashed>, StoreError> {
    if memory.summarised_by.is_none() {
        return Ok(None);
    }
    for trashed in services.history.trashed() {
        let trashed = trashed?;
        if is_whole_text(&trashed, memory) {
            return Ok(Some(trashed));
        }
    }
    Ok(None)
}

fn is_whole_text(trashed: &Trashed, memory: &Memory) -> bool {
    trashed.id == memory.id && memory.summarised_by.as_ref() == Some(&trashed.operation)
}

/// Tells whether a file in the trash is of a memory that is gone, or is what the summary stands for that is there.
fn is_gone_or_whole(services: &Services, trashed: &Trashed) -> Result<bool, StoreError> {
    match services.store.get(&trashed.id) {
        Ok(stored) => Ok(is_whole_text(trashed, &stored.memory)),
        Err(StoreError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
