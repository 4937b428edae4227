//! Reads and sets the JSON Schema of a bank.

use super::{Bank, BankChange, BankError, BankErrorKind, BankName, BankScope, Banks, ScopeChoice};
use crate::json::JsonText;
use crate::secret::Checked;
use crate::{SecretPolicy, Verb};

/// The behavior for a bank that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingBank {
    /// Returns an error.
    Refuse,
    /// Creates the bank.
    Make,
}

/// Returns the JSON Schema of a bank, if it has one.
///
/// # Errors
/// [`BankErrorKind::BankNotFound`], or if the bank cannot be read.
pub fn schema(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
) -> Result<(BankScope, Option<JsonText>), BankError> {
    let (scope, _, found) = banks.find_bank(bank, choice)?;
    Ok((scope, found.meta.schema))
}

/// Sets the JSON Schema that all values of a bank must satisfy, or removes it if `schema` is `None`.
///
/// It fails if an existing value that has not expired does not satisfy the schema.
///
/// # Errors
/// [`BankErrorKind::InvalidSchema`]; [`BankErrorKind::SchemaViolation`] with the key; [`BankErrorKind::BankNotFound`] with [`MissingBank::Refuse`]; or a disk
/// error.
pub fn set_schema(
    banks: &Banks,
    bank: &BankName,
    schema: Option<&JsonText>,
    choice: ScopeChoice,
    absent: MissingBank,
) -> Result<BankScope, BankError> {
    if let Some(schema) = schema {
        let checked = banks.schemas.check_schema(schema);
        checked.map_err(|why| {
            BankError::new(BankErrorKind::InvalidSchema { why }).with_bank(bank.as_str(), None)
        })?;
    }
    let (scope, store) = match (banks.find_bank(bank, choice), absent) {
        (Ok((scope, store, _)), _) => (scope, store),
        (Err(error), MissingBank::Make) if matches!(error.trouble, BankErrorKind::BankNotFound) => {
            banks.store_to_write(bank, choice)?
        }
        (Err(error), _) => return Err(error),
    };
    let operation = banks.operation(Verb::Schema);
    let mut decide = |seen: Option<&Bank>| {
        if seen.is_none() && absent == MissingBank::Refuse {
            return Err(BankError::bank_not_found(bank.as_str(), Some(scope)));
        }
        if seen.is_some_and(|seen| seen.meta.schema.as_ref() == schema) {
            return Ok(BankChange::Nothing);
        }
        if let (Some(seen), Some(schema)) = (seen, schema) {
            for (key, entry) in seen.unexpired_entries(operation.at) {
                let fits = banks.schemas.check(schema, &entry.value);
                fits.map_err(|why| {
                    BankError::new(BankErrorKind::SchemaViolation { why }).with_key(key.as_str())
                })?;
            }
        }
        let schema = schema
            .cloned()
            .map(|schema| Checked::new(schema, [], SecretPolicy::Refuse))
            .transpose()?;
        Ok(BankChange::Schema(schema))
    };
    store
        .change(bank, &operation, &mut decide)
        .map_err(|error| error.with_bank(bank.as_str(), Some(scope)))?;
    Ok(scope)
}
