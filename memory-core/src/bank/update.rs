//! Changes a value with a jq filter.

use std::time::Duration;

use super::write::{check_changed, check_names};
use super::{
    Bank, BankChange, BankEntry, BankEntryChange, BankError, BankErrorKind, BankLookup, BankName,
    BankScope, BankWriteResult, Banks, JsonFilterError, Key, ScopeChoice,
};
use crate::json::JsonText;
use crate::{SecretPolicy, Verb};

/// The behavior for an update of a key that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingKey {
    /// Returns an error.
    Refuse,
    /// Runs the filter on `null`.
    Create,
}

/// The number of attempts without the lock, before the filter runs under the lock.
const ATTEMPTS: usize = 3;

/// The timeout of the filter when it runs under the lock of the bank.
const LOCKED_TIMEOUT: Duration = Duration::from_secs(1);

/// Replaces the value under a key by the output of `filter`, which must be exactly one value.
///
/// The time to live restarts. The filter runs without a lock. Its output is written if the value is still the input; otherwise the filter
/// runs again. After three attempts it runs under the lock of the bank, again if a program that does not use the lock changes the value,
/// with a timeout of one second in total. So no update is lost, and a slow filter delays other writers no longer than that.
///
/// # Errors
/// Those of [`super::write()`], and a failure of the filter; [`BankErrorKind::Conflict`] if the value changed during each attempt.
///
/// # Panics
/// Under the same conditions as [`super::write()`].
pub fn update(
    banks: &Banks,
    bank: &BankName,
    key: &Key,
    filter: &str,
    scope: ScopeChoice,
    missing: MissingKey,
    secrets: SecretPolicy,
) -> Result<BankWriteResult, BankError> {
    let (scope, store) = find_store(banks, bank, key, scope, missing)
        .map_err(|error| error.with_bank(bank.as_str(), None).with_key(key.as_str()))?;
    let told = |error: BankError| {
        error
            .with_bank(bank.as_str(), Some(scope))
            .with_key(key.as_str())
    };
    for attempt in 0..=ATTEMPTS {
        let operation = banks.operation(Verb::Update);
        let is_living = |entry: &BankEntry| !entry.is_expired(operation.at);
        let seen = match store.entry(bank, key).map_err(told)? {
            BankLookup::Entry(entry) => Some(*entry).filter(is_living),
            BankLookup::NoKey | BankLookup::NoBank => None,
        };
        if seen.is_none() {
            check_names(banks, bank, [key], ScopeChoice::Only(scope), secrets)?;
        }
        let before = |entry: Option<&BankEntry>| {
            entry.map_or_else(JsonText::null, |entry| entry.value.clone())
        };
        let input = before(seen.as_ref());
        let is_asked = attempt < ATTEMPTS && (seen.is_some() || missing == MissingKey::Create);
        let output = is_asked
            .then(|| single_value(banks.filter.run(filter, input.as_str())?))
            .transpose()
            .map_err(told)?;
        let (mut outcome, mut begun) = (None, None);
        let mut decide = |now: Option<&Bank>| {
            let former = now.and_then(|now| now.entry(key));
            let living = former.filter(|former| is_living(former));
            match (missing, living, former) {
                (MissingKey::Refuse, None, Some(_)) => {
                    return Err(BankError::new(BankErrorKind::Expired));
                }
                (MissingKey::Refuse, None, None) if now.is_none() => {
                    return Err(BankError::bank_not_found(bank.as_str(), Some(scope)));
                }
                (MissingKey::Refuse, None, None) => {
                    return Err(BankError::key_not_found(bank.as_str(), key.as_str(), scope));
                }
                _ => {}
            }
            let current = before(living);
            let value = match &output {
                Some(output) if current == input => output.clone(),
                None if attempt == ATTEMPTS => {
                    let now = banks.clock.now();
                    let since = now - *begun.get_or_insert(now);
                    let left = LOCKED_TIMEOUT.saturating_sub(since.to_std().unwrap_or_default());
                    let output = banks
                        .filter
                        .run_with_timeout(filter, current.as_str(), left);
                    single_value(output.map_err(|trouble| match trouble {
                        JsonFilterError::Timeout { .. } => BankError::new(BankErrorKind::Conflict),
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
            let value = check_changed(
                banks,
                schema,
                key,
                living.map(|living| &living.value),
                &value,
                secrets,
            )?;
            let created_at = living.map_or(operation.at, |living| living.created_at);
            let ttl = living.and_then(|living| living.ttl);
            let entry = value.map(|value| BankEntry {
                value,
                created_at,
                updated_at: operation.at,
                ttl,
            });
            outcome = Some((living.is_none(), entry.clone().into_inner()));
            Ok(BankChange::Entries(vec![BankEntryChange::Put(
                key.clone(),
                entry,
            )]))
        };
        store.change(bank, &operation, &mut decide).map_err(told)?;
        if let Some((created, entry)) = outcome {
            return Ok(BankWriteResult {
                bank: bank.clone(),
                key: key.clone(),
                scope,
                created,
                entry,
            });
        }
    }
    Err(told(BankError::new(BankErrorKind::Conflict)))
}

/// Returns the folder that contains the key, or in which it is created.
fn find_store<'a>(
    banks: &'a Banks,
    bank: &BankName,
    key: &Key,
    choice: ScopeChoice,
    missing: MissingKey,
) -> Result<(BankScope, &'a std::sync::Arc<dyn super::BankStore>), BankError> {
    let places = banks.stores(choice);
    let (mut expired, mut with_bank) = (None, None);
    for (scope, store) in places {
        match store
            .entry(bank, key)
            .map_err(|error| error.with_bank(bank.as_str(), Some(scope)))?
        {
            BankLookup::Entry(entry) if !entry.is_expired(banks.clock.now()) => {
                return Ok((scope, store));
            }
            BankLookup::Entry(_) => expired = expired.or(Some((scope, store))),
            BankLookup::NoKey => with_bank = with_bank.or(Some((scope, store))),
            BankLookup::NoBank => {}
        }
    }
    match (missing, expired.or(with_bank)) {
        (MissingKey::Create, _) => banks.store_to_write(bank, choice),
        (MissingKey::Refuse, Some(place)) => Ok(place),
        (MissingKey::Refuse, None) => Err(BankError::bank_not_found(
            bank.as_str(),
            Some(banks.effective_scope(choice)),
        )),
    }
}

fn single_value(mut values: Vec<JsonText>) -> Result<JsonText, BankError> {
    match (values.pop(), values.len()) {
        (Some(only), 0) => Ok(only),
        (last, others) => Err(BankError::new(BankErrorKind::NotOneValue {
            count: others + usize::from(last.is_some()),
        })),
    }
}
