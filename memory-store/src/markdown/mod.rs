//! What a memory looks like as a file.
//!
//! A file is Markdown under a front matter of YAML, see [`encode`]. Reading one with [`decode`] never fails: what cannot be
//! read is reported beside what can. Changing one with [`rewrite`] edits the lines of the keys that changed and leaves
//! every other byte as its author wrote it.

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
