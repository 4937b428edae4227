//! The size limits of banks.

/// The size limits of banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankLimits {
    /// The maximum size of a value, in bytes of JSON without whitespace.
    pub value_bytes: usize,
    /// The maximum size of a bank file, in bytes before compression.
    pub bank_bytes: usize,
    /// The maximum number of keys in a bank.
    pub keys: usize,
}

impl Default for BankLimits {
    fn default() -> Self {
        Self { value_bytes: 1024 * 1024, bank_bytes: 10 * 1024 * 1024, keys: 10_000 }
    }
}
