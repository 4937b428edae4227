//! The index: one line a topic, by what they are about.
//!
//! What we write in it is made anew each time; lines of a person stay where they are. It is always under [`INDEX_LINES`] lines and
//! [`INDEX_BYTES`] bytes, as far as it is ours: what does not fit is counted in one line for each kind, least used first.

mod entry;
mod limits;
mod make;
mod page;
mod uses;
mod weave;

#[cfg(test)]
mod tests;

pub(super) use limits::cut;
pub use limits::{INDEX_BYTES, INDEX_LINES};
pub use make::index_text;
pub use uses::{Use, Uses};
