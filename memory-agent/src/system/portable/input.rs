//! The standard input of this process.

/// Returns whether bytes wait on the standard input; `false` where that cannot be known without waiting.
pub const fn has_waiting_input() -> bool {
    false
}
