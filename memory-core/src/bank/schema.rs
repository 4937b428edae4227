//! Reads and sets the JSON Schema of a bank.

use super::{Bank, BankChange, BankError, BankName, BankScope, BankVerb, Banks, ScopeChoice, Trouble};
use crate::json::JsonText;

/// The behavior for a bank that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Returns an error.
    Refuse,
    /// Creates the bank.
    Make,
}

/// Returns the JSON Schema of a bank, if it has one.
///
/// # Errors
/// [`Trouble::BankNotFound`], or if the bank cannot be read.
pub fn schema(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<(BankScope, Option<JsonText>), BankError> {
    let (scope, _, found) = banks.place_of(bank, choice)?;
    Ok((scope, found.meta.schema))
}

/// Sets the JSON Schema that all values of a bank must satisfy, or removes it if `schema` is `None`.
///
/// It fails if an existing value that has not expired does not satisfy the schema.
///
/// # Errors
/// [`Trouble::InvalidSchema`]; [`Trouble::SchemaViolation`] with the key; [`Trouble::BankNotFound`] with [`Absent::Refuse`]; or a disk
/// error.
pub fn set_schema(
    banks: &Banks,
    bank: &BankName,
    schema: Option<&JsonText>,
    choice: ScopeChoice,
    absent: Absent,
) -> Result<BankScope, BankError> {
    if let Some(schema) = schema {
        let checked = banks.schemas.check_schema(schema);
        checked.map_err(|why| BankError::new(Trouble::InvalidSchema { why }).about(bank.as_str(), None))?;
    }
    let (scope, store) = match (banks.place_of(bank, choice), absent) {
        (Ok((scope, store, _)), _) => (scope, store),
        (Err(error), Absent::Make) if matches!(error.trouble, Trouble::BankNotFound) => banks.place_to_write(bank, choice)?,
        (Err(error), _) => return Err(error),
    };
    let operation = banks.operation(BankVerb::Schema);
    let mut decide = |seen: Option<&Bank>| {
        if seen.is_none() && absent == Absent::Refuse {
            return Err(BankError::no_bank(bank, Some(scope)));
        }
        if seen.is_some_and(|seen| seen.meta.schema.as_ref() == schema) {
            return Ok(BankChange::Nothing);
        }
        if let (Some(seen), Some(schema)) = (seen, schema) {
            for (key, entry) in seen.living(operation.at) {
                let fits = banks.schemas.check(schema, &entry.value);
                fits.map_err(|why| BankError::new(Trouble::SchemaViolation { why }).of_key(key))?;
            }
        }
        Ok(BankChange::Schema(schema.cloned()))
    };
    store.change(bank, &operation, &mut decide).map_err(|error| error.about(bank.as_str(), Some(scope)))?;
    Ok(scope)
}
