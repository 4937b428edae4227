//! How much banks hold.

/// How much banks hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest value, in bytes of JSON without spaces.
    pub value_bytes: usize,
    /// The longest file of a bank, in bytes before it is compressed.
    pub bank_bytes: usize,
    /// The most keys of one bank.
    pub keys: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { value_bytes: 1024 * 1024, bank_bytes: 10 * 1024 * 1024, keys: 10_000 }
    }
}
