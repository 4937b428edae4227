//! Taking away what has expired, or is old.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Bank, BankChange, BankError, BankName, BankScope, BankVerb, Banks, Entry, EntryChange, Key, ScopeChoice};

/// An entry that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// Its bank.
    pub bank: BankName,
    /// Whose bank.
    pub scope: BankScope,
    /// Its key.
    pub key: Key,
    /// Why it goes.
    pub why: Gone,
}

/// Why an entry goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// Its time to live is over.
    Expired,
    /// It was last written too long ago.
    Old,
}

/// Takes away the entries that have expired, and those last written longer ago than `older_than`; or, as a `dry_run`, only tells
/// which. Undo brings them back.
///
/// Banks and entries that cannot be read are returned beside them, and left alone.
///
/// # Errors
/// When a folder cannot be read or a bank cannot be written.
pub fn gc(
    banks: &Banks,
    choice: ScopeChoice,
    older_than: Option<TimeDelta>,
    dry_run: bool,
) -> Result<(Vec<Collected>, Vec<BankError>), BankError> {
    let operation = banks.operation(BankVerb::Gc);
    let horizon = older_than.and_then(|age| operation.at.checked_sub_signed(age));
    let (mut collected, mut unreadable) = (Vec::new(), Vec::new());
    for (scope, store) in banks.places(choice) {
        for summary in store.banks().map_err(|error| error.in_scope(scope))? {
            let name = summary.name;
            let told = |error: BankError| error.about(name.as_str(), Some(scope));
            let seen = match store.bank(&name) {
                Ok(Some(bank)) => bank,
                Ok(None) => continue,
                Err(error) => {
                    unreadable.push(told(error));
                    continue;
                }
            };
            unreadable.extend(seen.damaged.iter().map(|(key, why)| BankError::damaged_entry(&name, scope, key, why)));
            let mut going = plan(&seen, operation.at, horizon);
            if !going.is_empty() && !dry_run {
                let mut decide = |seen: Option<&Bank>| {
                    going = seen.map_or_else(Vec::new, |seen| plan(seen, operation.at, horizon));
                    let changes: Vec<_> = going.iter().map(|(key, _)| EntryChange::Remove(key.clone())).collect();
                    // Somebody else was faster, and perhaps the bank is gone.
                    Ok(if changes.is_empty() { BankChange::Nothing } else { BankChange::Entries(changes) })
                };
                let operation = super::BankOperation { id: banks.ids.operation_id(), ..operation.clone() };
                store.change(&name, &operation, &mut decide).map_err(told)?;
            }
            collected.extend(going.into_iter().map(|(key, why)| Collected { bank: name.clone(), scope, key, why }));
        }
    }
    Ok((collected, unreadable))
}

/// Decides which entries go.
fn plan(bank: &Bank, now: DateTime<Utc>, horizon: Option<DateTime<Utc>>) -> Vec<(Key, Gone)> {
    let fate = |entry: &Entry| {
        let is_old = horizon.is_some_and(|horizon| entry.updated_at < horizon);
        if entry.is_expired(now) { Some(Gone::Expired) } else { is_old.then_some(Gone::Old) }
    };
    bank.entries.iter().filter_map(|(key, entry)| Some((key.clone(), fate(entry)?))).collect()
}
