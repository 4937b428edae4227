//! Changes a value with a jq filter.

use std::time::Duration;

use super::write::{check_changed, check_names};
use super::{
    Bank, BankChange, BankError, BankName, BankScope, BankVerb, Banks, Done, Entry, EntryChange, FilterTrouble, Found, Key,
    ScopeChoice, Trouble,
};
use crate::Secrets;
use crate::json::JsonText;

/// The behavior for an update of a key that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Returns an error.
    Refuse,
    /// Runs the filter on `null`.
    Create,
}

/// The number of attempts without the lock, before the filter runs under the lock.
const ATTEMPTS: usize = 3;

/// The timeout of the filter when it runs under the lock of the bank.
const UNDER_LOCK: Duration = Duration::from_secs(1);

/// Replaces the value under a key by the output of `filter`, which must be exactly one value.
///
/// The time to live restarts. The filter runs without a lock. Its output is written if the value is still the input; otherwise the filter
/// runs again. After three attempts it runs under the lock of the bank, again if a program that does not use the lock changes the value,
/// with a timeout of one second in total. So no update is lost, and a slow filter delays other writers no longer than that.
///
/// # Errors
/// Those of [`super::write()`], and a failure of the filter; [`Trouble::Conflict`] if the value changed during each attempt.
///
/// # Panics
/// Under the same conditions as [`super::write()`].
pub fn update(
    banks: &Banks,
    bank: &BankName,
    key: &Key,
    filter: &str,
    scope: ScopeChoice,
    missing: Missing,
    secrets: Secrets,
) -> Result<Done, BankError> {
    let (scope, store) = place(banks, bank, key, scope, missing).map_err(|error| error.about(bank.as_str(), None).of_key(key))?;
    let told = |error: BankError| error.about(bank.as_str(), Some(scope)).of_key(key);
    for attempt in 0..=ATTEMPTS {
        let operation = banks.operation(BankVerb::Update);
        let is_living = |entry: &Entry| !entry.is_expired(operation.at);
        let seen = match store.entry(bank, key).map_err(told)? {
            Found::Entry(entry) => Some(*entry).filter(is_living),
            Found::NoKey | Found::NoBank => None,
        };
        if seen.is_none() {
            check_names(banks, bank, [key], ScopeChoice::Only(scope), secrets)?;
        }
        let before = |entry: Option<&Entry>| entry.map_or_else(JsonText::null, |entry| entry.value.clone());
        let input = before(seen.as_ref());
        let is_asked = attempt < ATTEMPTS && (seen.is_some() || missing == Missing::Create);
        let output = is_asked.then(|| one(banks.filter.run(filter, input.as_str())?)).transpose().map_err(told)?;
        let (mut outcome, mut deadline) = (None, None);
        let mut decide = |now: Option<&Bank>| {
            let former = now.and_then(|now| now.entry(key));
            let living = former.filter(|former| is_living(former));
            match (missing, living, former) {
                (Missing::Refuse, None, Some(_)) => return Err(BankError::new(Trouble::Expired)),
                (Missing::Refuse, None, None) if now.is_none() => return Err(BankError::no_bank(bank, Some(scope))),
                (Missing::Refuse, None, None) => return Err(BankError::no_key(bank, key, scope)),
                _ => {}
            }
            let current = before(living);
            let value = match &output {
                Some(output) if current == input => output.clone(),
                None if attempt == ATTEMPTS => {
                    let now = banks.clock.now();
                    let left = *deadline.get_or_insert(now + UNDER_LOCK) - now;
                    let left = left.to_std().unwrap_or_default().min(UNDER_LOCK);
                    let output = banks.filter.run_within(filter, current.as_str(), left);
                    one(output.map_err(|trouble| match trouble {
                        FilterTrouble::Timeout { .. } => BankError::new(Trouble::Conflict),
                        other => other.into(),
                    })?)?
                }
                // Another writer has changed the value.
                _ => {
                    outcome = None;
                    return Ok(BankChange::Nothing);
                }
            };
            if living.is_some_and(|living| living.value == value && living.ttl.is_none()) {
                outcome = living.cloned().map(|entry| (false, entry));
                return Ok(BankChange::Nothing);
            }
            let schema = now.and_then(|now| now.meta.schema.as_ref());
            check_changed(banks, schema, living.map(|living| &living.value), &value, secrets)?;
            let created_at = living.map_or(operation.at, |living| living.created_at);
            let ttl = living.and_then(|living| living.ttl);
            let entry = Entry { value, created_at, updated_at: operation.at, ttl };
            outcome = Some((living.is_none(), entry.clone()));
            Ok(BankChange::Entries(vec![EntryChange::Put(key.clone(), entry)]))
        };
        store.change(bank, &operation, &mut decide).map_err(told)?;
        if let Some((created, entry)) = outcome {
            return Ok(Done { bank: bank.clone(), key: key.clone(), scope, created, entry });
        }
    }
    Err(told(BankError::new(Trouble::Conflict)))
}

/// Returns the folder that contains the key, or in which it is created.
fn place<'a>(
    banks: &'a Banks,
    bank: &BankName,
    key: &Key,
    choice: ScopeChoice,
    missing: Missing,
) -> Result<(BankScope, &'a std::sync::Arc<dyn super::BankStore>), BankError> {
    let places = banks.places(choice);
    let (mut expired, mut with_bank) = (None, None);
    for (scope, store) in places {
        match store.entry(bank, key).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
            Found::Entry(entry) if !entry.is_expired(banks.clock.now()) => return Ok((scope, store)),
            Found::Entry(_) => expired = expired.or(Some((scope, store))),
            Found::NoKey => with_bank = with_bank.or(Some((scope, store))),
            Found::NoBank => {}
        }
    }
    match (missing, expired.or(with_bank)) {
        (Missing::Create, _) => banks.place_to_write(bank, choice),
        (Missing::Refuse, Some(place)) => Ok(place),
        (Missing::Refuse, None) => Err(BankError::no_bank(bank, Some(banks.scope_of(choice)))),
    }
}

fn one(mut values: Vec<JsonText>) -> Result<JsonText, BankError> {
    match (values.pop(), values.len()) {
        (Some(only), 0) => Ok(only),
        (last, others) => Err(BankError::new(Trouble::NotOneValue { count: others + usize::from(last.is_some()) })),
    }
}
