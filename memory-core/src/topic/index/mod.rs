//! The index of topics: one line per topic, grouped by type.
//!
//! The generated lines are replaced on each update; every other line belongs to the user and is preserved. The
//! generated part keeps the index under [`INDEX_LINES`] lines and [`INDEX_BYTES`] bytes: topics that do not fit, the
//! least used first, are replaced by one line with their number for each type, or by one line for all types if the
//! lines of the user leave no more space.
//!
//! Only lines that are recorded as generated are replaced. If another program created the index, each of its
//! lines belongs to the user, and the file moves to the trash before its first change, unless it equals the
//! generated index exactly. A topic that a line of the user links to has no generated line. The generation is a
//! pure function, and generating an index from its own result changes nothing. The index is derived: views are
//! computed from the files as they are, and the index file is updated with each change, in the same step.

mod entry;
mod generate;
mod merge;
mod page;

#[cfg(test)]
mod tests;

pub use generate::{INDEX_BYTES, INDEX_LINES, TopicUsage, TopicUsages, index_text};
pub(super) use generate::{overflow_message, truncate_index};
pub use page::TopicIndex;
