//! The file format of a memory.
//!
//! A file is Markdown with a YAML front matter, see [`encode()`]. [`decode()`] never fails: it returns all readable fields, and reports
//! the first defect. [`rewrite`] edits only the lines of changed keys, and leaves all other bytes as the user wrote them.

mod decode;
mod encode;
mod fence;
mod format;
mod front;
mod lines;
mod list;
mod place;
mod plain;
mod problem;
mod rewrite;
mod scalar;
mod text;
mod value;
mod yaml;

#[cfg(test)]
mod tests;

pub use decode::{Parsed, decode, misfiled};
pub use encode::encode;
pub(crate) use front::{Front, as_text, body, is_whole, with_values};
pub use place::filed;
pub use rewrite::rewrite;
pub(crate) use scalar::double_quoted;
