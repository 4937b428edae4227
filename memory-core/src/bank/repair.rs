//! Checks for damaged banks and repairs them.

use super::{BankDamage, BankError, BankName, BankRepairMode, BankScope, Banks, ScopeChoice};
use crate::Verb;

/// A defect that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedBankDamage {
    /// The scope of the bank.
    pub scope: BankScope,
    /// The defect.
    pub damage: BankDamage,
}

/// Checks one bank or all of them for damage.
///
/// With [`BankRepairMode::All`] it also retains the readable entries, and moves the damaged file to a new name next to the bank.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], or if a folder cannot be read or written.
pub fn repair(
    banks: &Banks,
    bank: Option<&BankName>,
    choice: ScopeChoice,
    repairs: BankRepairMode,
) -> Result<Vec<ScopedBankDamage>, BankError> {
    let mut checked = Vec::new();
    let mut is_there = bank.is_none();
    for (scope, store) in banks.stores(choice) {
        let told = |error: BankError| match bank {
            Some(bank) => error.with_bank(bank.as_str(), Some(scope)),
            None => BankError {
                scope: Some(scope),
                ..error
            },
        };
        is_there |= store
            .banks()
            .map_err(told)?
            .iter()
            .any(|summary| bank == Some(&summary.name));
        let found = store
            .repair(bank, repairs, &banks.operation(Verb::Repair))
            .map_err(told)?;
        checked.extend(
            found
                .into_iter()
                .map(|damage| ScopedBankDamage { scope, damage }),
        );
    }
    match bank {
        Some(bank) if !is_there => Err(BankError::bank_not_found(
            bank.as_str(),
            Some(banks.effective_scope(choice)),
        )),
        _ => Ok(checked),
    }
}
