//! The file format of a memory.
//!
//! A file is Markdown with a YAML front matter, see [`encode()`]. [`decode()`] never fails: it returns all readable fields, and reports
//! the first defect. [`rewrite`] edits only the lines of changed keys, and leaves all other bytes as the user wrote them.

mod access_count;
mod decode;
mod encode;
mod format;
mod lines;
mod list;
mod plain_front_matter;
mod rewrite;
mod scalar;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use access_count::{is_version, with_access_count};
pub use decode::{DecodedFile, decode};
pub use encode::encode;
pub(crate) use encode::in_order;
pub use format::path_category;
pub(crate) use plain_front_matter::{
    PlainFrontMatter, body, has_whole_front_matter, lossy_text, set_values,
};
pub use rewrite::rewrite;
pub(crate) use scalar::double_quoted;
