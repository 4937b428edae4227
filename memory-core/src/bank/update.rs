//! Changing a value by a filter.

use super::write::{check, check_names};
use super::{
    Bank, BankChange, BankError, BankName, BankScope, BankVerb, Banks, Done, Entry, EntryChange, Key, ScopeChoice, Trouble,
};
use crate::Secrets;
use crate::json::JsonText;

/// What becomes of an update of a key that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It is refused.
    Refuse,
    /// The filter is given `null`.
    Create,
}

/// Changes the value under a key to what `filter` puts out for it, which must be one value. Its time to live begins anew.
///
/// Other writers wait meanwhile, so no update of anybody is lost.
///
/// # Errors
/// As [`super::write()`], and when the filter fails.
///
/// # Panics
/// As [`super::write()`].
pub fn update(
    banks: &Banks,
    bank: &BankName,
    key: &Key,
    filter: &str,
    scope: ScopeChoice,
    missing: Missing,
    secrets: Secrets,
) -> Result<Done, BankError> {
    check_names(bank, [key], secrets)?;
    let (scope, store) = place(banks, bank, key, scope, missing).map_err(|error| error.about(bank.as_str(), None))?;
    let operation = banks.operation(BankVerb::Update);
    let mut written = None;
    let mut decide = |seen: Option<&Bank>| {
        let former = seen.and_then(|seen| seen.entry(key));
        let living = former.filter(|former| !former.is_expired(operation.at));
        match (missing, living, former) {
            (Missing::Refuse, None, Some(_)) => return Err(BankError::new(Trouble::Expired)),
            (Missing::Refuse, None, None) if seen.is_none() => return Err(BankError::no_bank(bank, Some(scope))),
            (Missing::Refuse, None, None) => return Err(BankError::no_key(bank, key, scope)),
            _ => {}
        }
        let before = living.map_or_else(JsonText::null, |living| living.value.clone());
        let value = one(banks.filter.run(filter, before.as_str())?)?;
        if living.is_some_and(|living| living.value == value && living.ttl.is_none()) {
            written = living.cloned().map(|entry| (false, entry));
            return Ok(BankChange::Nothing);
        }
        check(banks, seen.and_then(|seen| seen.meta.schema.as_ref()), &value, secrets)?;
        let created_at = living.map_or(operation.at, |living| living.created_at);
        let ttl = living.and_then(|living| living.ttl);
        let entry = Entry { value, created_at, updated_at: operation.at, ttl };
        written = Some((living.is_none(), entry.clone()));
        Ok(BankChange::Entries(vec![EntryChange::Put(key.clone(), entry)]))
    };
    let told = |error: BankError| error.about(bank.as_str(), Some(scope)).of_key(key);
    store.change(bank, &operation, &mut decide).map_err(told)?;
    let (created, entry) = written.expect("nothing is changed before it was decided");
    Ok(Done { bank: bank.clone(), key: key.clone(), scope, created, entry })
}

/// Returns where the key is, or where it would be made.
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
            super::Found::Entry(entry) if !entry.is_expired(banks.clock.now()) => return Ok((scope, store)),
            super::Found::Entry(_) => expired = expired.or(Some((scope, store))),
            super::Found::NoKey => with_bank = with_bank.or(Some((scope, store))),
            super::Found::NoBank => {}
        }
    }
    match (missing, expired.or(with_bank)) {
        (Missing::Create, _) => banks.place_to_write(choice),
        (Missing::Refuse, Some(place)) => Ok(place),
        (Missing::Refuse, None) => Err(BankError::no_bank(bank, super::services::named(choice))),
    }
}

fn one(mut values: Vec<JsonText>) -> Result<JsonText, BankError> {
    match (values.pop(), values.len()) {
        (Some(only), 0) => Ok(only),
        (last, others) => Err(BankError::new(Trouble::NotOneValue { count: others + usize::from(last.is_some()) })),
    }
}
