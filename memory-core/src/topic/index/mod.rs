//! The index of topics: one line per topic, grouped by type.
//!
//! The generated lines are replaced on each update; every other line belongs to the user and is preserved. The
//! generated part keeps the index under [`INDEX_LINES`] lines and [`INDEX_BYTES`] bytes: topics that do not fit, the
//! least used first, are replaced by one line with their number for each type, or by one line for all types if the
//! lines of the user leave no more space.

mod align;
mod entry;
mod hidden;
mod limits;
mod make;
mod page;
mod uses;
mod weave;
mod written;

#[cfg(test)]
mod tests;

pub(super) use limits::cut;
pub use limits::{INDEX_BYTES, INDEX_LINES};
pub use make::index_text;
pub(super) use make::overflow;
pub use uses::{Use, Uses};
pub use written::WrittenIndex;
