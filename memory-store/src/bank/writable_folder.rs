//! The options of a folder of banks, and the folder while its writer holds a lock.

use std::path::Path;
use std::time::Duration;

use memory_core::bank::BankLimits;

use crate::disk::Disk;
use crate::lock::PATIENCE;

/// The options of a folder of banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankOptions {
    /// The limits of each bank.
    pub limits: BankLimits,
    /// The size in bytes above which a bank is compressed; `None` disables compression.
    pub compress_above: Option<usize>,
    /// The timeout for locks.
    pub patience: Duration,
    /// Whether the folder is two levels below one of a project: its first write adds a `.gitignore`, and neither level is a symlink.
    pub is_in_project: bool,
}

impl Default for BankOptions {
    fn default() -> Self {
        Self {
            limits: BankLimits::default(),
            compress_above: Some(1024 * 1024),
            patience: PATIENCE,
            is_in_project: false,
        }
    }
}

/// A folder of banks that the caller may write to.
#[derive(Debug, Clone, Copy)]
pub(super) struct WritableBankFolder<'a> {
    pub disk: &'a dyn Disk,
    pub root: &'a Path,
    pub options: &'a BankOptions,
}
