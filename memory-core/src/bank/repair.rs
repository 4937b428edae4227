//! Seeing to damage.

use super::{BankError, BankName, BankScope, BankVerb, Banks, Damage, Repairs, ScopeChoice};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Whose bank it is.
    pub scope: BankScope,
    /// What is wrong with it.
    pub damage: Damage,
}

/// Looks for damage in one bank or in all, and if `repairs` says so, keeps what can be read and sets the rest aside, beside the bank.
///
/// # Errors
/// [`super::Trouble::BankNotFound`]; or when a folder cannot be read or written.
pub fn repair(banks: &Banks, bank: Option<&BankName>, choice: ScopeChoice, repairs: Repairs) -> Result<Vec<Checked>, BankError> {
    let mut checked = Vec::new();
    let mut is_there = bank.is_none();
    for (scope, store) in banks.places(choice) {
        let told = |error: BankError| match bank {
            Some(bank) => error.about(bank.as_str(), Some(scope)),
            None => BankError { scope: Some(scope), ..error },
        };
        is_there |= store.banks().map_err(told)?.iter().any(|summary| bank == Some(&summary.name));
        let found = store.repair(bank, repairs, &banks.operation(BankVerb::Repair)).map_err(told)?;
        checked.extend(found.into_iter().map(|damage| Checked { scope, damage }));
    }
    match bank {
        Some(bank) if !is_there => Err(BankError::no_bank(bank, Some(banks.scope_of(choice)))),
        _ => Ok(checked),
    }
}
