//! Writes a value under a key.

use super::{
    Bank, BankChange, BankEntry, BankEntryChange, BankError, BankErrorKind, BankName, BankScope,
    Banks, Key, ScopeChoice,
};
use chrono::{DateTime, Utc};

use crate::json::JsonText;
use crate::secret::{self, Checked};
use crate::{SecretPolicy, Verb};

/// A request to write a value.
#[derive(Debug, Clone)]
pub struct BankWriteRequest {
    /// The bank.
    pub bank: BankName,
    /// The key.
    pub key: Key,
    /// The value.
    pub value: JsonText,
    /// The time to live in seconds; `None` if the value never expires.
    pub ttl: Option<u64>,
    /// The precondition on the key.
    pub condition: BankWriteCondition,
    /// The scopes in which the bank is searched.
    pub scope: ScopeChoice,
    /// Whether credentials are refused.
    pub secrets: SecretPolicy,
}

/// The precondition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BankWriteCondition {
    /// The key may exist or not.
    #[default]
    Any,
    /// The key must not exist.
    Absent,
    /// The key must exist.
    Present,
    /// The key must have the value that was written at this time.
    WrittenAt(DateTime<Utc>),
}

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankWriteResult {
    /// The bank.
    pub bank: BankName,
    /// The key.
    pub key: Key,
    /// The scope of the bank.
    pub scope: BankScope,
    /// Whether the key is new.
    pub created: bool,
    /// The new entry.
    pub entry: BankEntry,
}

/// Writes a value under a key, and creates the bank if it does not exist.
///
/// The previous value is retained, and undo restores it.
///
/// # Errors
/// If a limit, the schema, the credential check or the condition refuses the value, or a disk error.
///
/// # Panics
/// If the store changes a bank without a call to `decide`.
pub fn write(banks: &Banks, request: &BankWriteRequest) -> Result<BankWriteResult, BankError> {
    let BankWriteRequest {
        bank,
        key,
        value,
        ttl,
        condition,
        scope,
        secrets,
    } = request;
    check_names(banks, bank, [key], *scope, *secrets)?;
    let (scope, store) = banks
        .store_to_write(bank, *scope)
        .map_err(|error| error.with_bank(bank.as_str(), None))?;
    let place = |error: BankError| {
        error
            .with_bank(bank.as_str(), Some(scope))
            .with_key(key.as_str())
    };
    let operation = banks.operation(Verb::Write);
    let mut written = None;
    let mut decide = |seen: Option<&Bank>| {
        let former = seen.and_then(|seen| seen.entry(key));
        let living = former.filter(|former| !former.is_expired(operation.at));
        match (condition, living, former) {
            (BankWriteCondition::Absent, Some(_), _) => {
                return Err(BankError::new(BankErrorKind::KeyExists));
            }
            (BankWriteCondition::WrittenAt(at), Some(living), _) if living.updated_at != *at => {
                return Err(BankError::new(BankErrorKind::Conflict));
            }
            (BankWriteCondition::Present | BankWriteCondition::WrittenAt(_), None, Some(_)) => {
                return Err(BankError::new(BankErrorKind::Expired));
            }
            (BankWriteCondition::Present | BankWriteCondition::WrittenAt(_), None, None)
                if seen.is_none() =>
            {
                return Err(BankError::bank_not_found(bank.as_str(), Some(scope)));
            }
            (BankWriteCondition::Present | BankWriteCondition::WrittenAt(_), None, None) => {
                return Err(BankError::key_not_found(bank.as_str(), key.as_str(), scope));
            }
            _ => {}
        }
        let value = check(
            banks,
            seen.and_then(|seen| seen.meta.schema.as_ref()),
            key,
            value,
            *secrets,
        )?;
        let created_at = living.map_or(operation.at, |living| living.created_at);
        let entry = value.map(|value| BankEntry {
            value,
            created_at,
            updated_at: operation.at,
            ttl: *ttl,
        });
        written = Some((living.is_none(), entry.clone().into_inner()));
        Ok(BankChange::Entries(vec![BankEntryChange::Put(
            key.clone(),
            entry,
        )]))
    };
    store.change(bank, &operation, &mut decide).map_err(place)?;
    let (created, entry) = written.expect("nothing is changed before it was decided");
    Ok(BankWriteResult {
        bank: bank.clone(),
        key: key.clone(),
        scope,
        created,
        entry,
    })
}

/// Refuses names that contain credentials.
///
/// The error never repeats a name with a credential: it names the bank only if a key is refused.
pub(super) fn check_names<'k>(
    banks: &Banks,
    bank: &BankName,
    keys: impl IntoIterator<Item = &'k Key>,
    choice: ScopeChoice,
    secrets: SecretPolicy,
) -> Result<(), BankError> {
    if secrets == SecretPolicy::Refuse {
        let scope = banks.effective_scope(choice);
        secret::reject_secrets([bank.as_str()])
            .map_err(|error| BankError::from(error).with_scope(scope))?;
        secret::reject_secrets(keys.into_iter().map(Key::as_str))
            .map_err(|error| BankError::from(error).with_bank(bank.as_str(), Some(scope)))?;
    }
    Ok(())
}

/// Checks and returns a value before it is written to a bank with this schema. Every write uses this check.
pub(super) fn check(
    banks: &Banks,
    schema: Option<&JsonText>,
    key: &Key,
    value: &JsonText,
    secrets: SecretPolicy,
) -> Result<Checked<JsonText>, BankError> {
    check_changed(banks, schema, key, None, value, secrets)
}

/// Checks and returns a value like [`check`]; credentials that `former` already contains are accepted.
pub(super) fn check_changed(
    banks: &Banks,
    schema: Option<&JsonText>,
    key: &Key,
    former: Option<&JsonText>,
    value: &JsonText,
    secrets: SecretPolicy,
) -> Result<Checked<JsonText>, BankError> {
    let (length, most) = (value.as_str().len(), banks.limits.value_bytes);
    if most < length {
        let what = format!("The value has {length} bytes; the maximum is {most}");
        return Err(BankError::new(BankErrorKind::TooLarge { what }));
    }
    let checked = Checked::new_version(value.clone(), former, [key.as_str()], secrets)?;
    if let Some(schema) = schema {
        banks
            .schemas
            .check(schema, value)
            .map_err(|why| BankError::new(BankErrorKind::SchemaViolation { why }))?;
    }
    Ok(checked)
}
