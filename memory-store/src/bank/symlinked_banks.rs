//! A folder of banks that is a symlink.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use memory_core::bank::{
    Bank, BankChange, BankChangeResult, BankDamage, BankError, BankErrorKind, BankLookup, BankName,
    BankRecord, BankRepairMode, BankStore, BankSummary, Key,
};
use memory_core::{Operation, OperationId};

use crate::oplog::not_found_error;

/// A folder of banks that is a symlink, or behind one, where symlinks are not permitted.
///
/// All operations fail with [`BankErrorKind::Symlink`], except those on the history, which is empty.
#[derive(Debug, Clone)]
pub struct SymlinkedBanks {
    link: PathBuf,
}

impl SymlinkedBanks {
    /// Returns the folder of banks at `link`.
    pub fn new(link: PathBuf) -> Self {
        Self { link }
    }

    fn symlink_error(&self) -> BankError {
        BankError::new(BankErrorKind::Symlink {
            path: self.folder(),
        })
    }
}

impl BankStore for SymlinkedBanks {
    fn folder(&self) -> String {
        self.link.display().to_string()
    }

    fn has(&self, _: &BankName) -> Result<bool, BankError> {
        Err(self.symlink_error())
    }

    fn banks(&self) -> Result<Vec<BankSummary>, BankError> {
        Err(self.symlink_error())
    }

    fn bank(&self, _: &BankName) -> Result<Option<Bank>, BankError> {
        Err(self.symlink_error())
    }

    fn entry(&self, _: &BankName, _: &Key) -> Result<BankLookup, BankError> {
        Err(self.symlink_error())
    }

    fn document(&self, _: &BankName, _: DateTime<Utc>) -> Result<Option<String>, BankError> {
        Err(self.symlink_error())
    }

    fn change(
        &self,
        _: &BankName,
        _: &Operation,
        _: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<BankChangeResult, BankError> {
        Err(self.symlink_error())
    }

    fn history(&self) -> Result<Vec<BankRecord>, BankError> {
        // No operation was ever executed in this folder.
        Ok(Vec::new())
    }

    fn undo(&self, undone: &OperationId, _: &Operation) -> Result<BankRecord, BankError> {
        Err(not_found_error(undone).into())
    }

    fn purge(&self, _: DateTime<Utc>) -> Result<(u64, u64), BankError> {
        Ok((0, 0))
    }

    fn repair(
        &self,
        _: Option<&BankName>,
        _: BankRepairMode,
        _: &Operation,
    ) -> Result<Vec<BankDamage>, BankError> {
        Err(self.symlink_error())
    }
}
