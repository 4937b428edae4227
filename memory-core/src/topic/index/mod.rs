//! The index: one line a topic, by what they are about.
//!
//! What we wrote in it is made anew each time; every other line is a person's and stays where it is. It is always under [`INDEX_LINES`]
//! lines and [`INDEX_BYTES`] bytes, as far as it is ours: what does not fit is counted in one line for each kind, least used first, and
//! in one line for all where a person's lines leave no more room.

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
