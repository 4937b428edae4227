//! What the values of a bank must be like.

use super::{Bank, BankChange, BankError, BankName, BankScope, BankVerb, Banks, ScopeChoice, Trouble};
use crate::json::JsonText;

/// What becomes of a bank that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It is refused.
    Refuse,
    /// It is made.
    Make,
}

/// Returns the JSON Schema of a bank, if it has one.
///
/// # Errors
/// [`Trouble::BankNotFound`]; or when it cannot be read.
pub fn schema(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<(BankScope, Option<JsonText>), BankError> {
    let (scope, _, found) = banks.place_of(bank, choice)?;
    Ok((scope, found.meta.schema))
}

/// Gives a bank a JSON Schema that all its values must fit from now on, or takes it away. It is refused where a value that is there
/// does not fit.
///
/// # Errors
/// [`Trouble::InvalidSchema`]; [`Trouble::SchemaViolation`], which names the key; or when the disk refuses.
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
