//! A folder of banks that is a symlink.

use chrono::{DateTime, Utc};
use memory_core::bank::{
    Bank, BankChange, BankError, BankName, BankOperation, BankRecord, BankStore, BankSummary, Changed, Damage, Found, Key,
    Repairs, Trouble,
};
use memory_core::{OperationId, StoreError};
use std::path::PathBuf;

/// A folder of banks that is a symlink, or behind one, where symlinks are not permitted.
///
/// All operations fail with [`Trouble::Symlink`], except those on the history, which is empty.
#[derive(Debug, Clone)]
pub struct SymlinkedBanks {
    link: PathBuf,
}

impl SymlinkedBanks {
    /// Returns the folder of banks at `link`.
    pub fn new(link: PathBuf) -> Self {
        Self { link }
    }

    fn refusal(&self) -> BankError {
        BankError::new(Trouble::Symlink { path: self.folder() })
    }
}

impl BankStore for SymlinkedBanks {
    fn folder(&self) -> String {
        self.link.display().to_string()
    }

    fn has(&self, _: &BankName) -> Result<bool, BankError> {
        Err(self.refusal())
    }

    fn banks(&self) -> Result<Vec<BankSummary>, BankError> {
        Err(self.refusal())
    }

    fn bank(&self, _: &BankName) -> Result<Option<Bank>, BankError> {
        Err(self.refusal())
    }

    fn entry(&self, _: &BankName, _: &Key) -> Result<Found, BankError> {
        Err(self.refusal())
    }

    fn document(&self, _: &BankName, _: DateTime<Utc>) -> Result<Option<String>, BankError> {
        Err(self.refusal())
    }

    fn change(
        &self,
        _: &BankName,
        _: &BankOperation,
        _: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<Changed, BankError> {
        Err(self.refusal())
    }

    fn history(&self) -> Result<Vec<BankRecord>, BankError> {
        // No operation was ever executed in this folder.
        Ok(Vec::new())
    }

    fn undo(&self, undone: &OperationId, _: &BankOperation) -> Result<BankRecord, BankError> {
        Err(StoreError::OperationNotFound { wanted: format!("no operation has the id {undone}") }.into())
    }

    fn purge(&self, _: DateTime<Utc>) -> Result<(u64, u64), BankError> {
        Ok((0, 0))
    }

    fn repair(&self, _: Option<&BankName>, _: Repairs, _: &BankOperation) -> Result<Vec<Damage>, BankError> {
        Err(self.refusal())
    }
}
