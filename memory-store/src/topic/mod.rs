//! Topics as Markdown files.
//!
//! [`TopicFolder`] is the driver behind [`memory_core::topic::TopicStore`]: a folder, whoever made it, whose Markdown files are the
//! topics. What we change in one is the words under the keys that change and the text; all else stays byte for byte.
//!
//! | file | what it is |
//! |---|---|
//! | `<name>.md` | a topic |
//! | `MEMORY.md` | the index; what we write in it is derived, lines of a person stay |
//! | `.trash/<yyyy-mm>.jsonl` | one line an operation: when, what, who, and which files |
//! | `.trash/<yyyy-mm>/<operation>/` | the files as they were before, whole |
//! | `.index.json` | which lines of the index we wrote; where that is lost, all of them are a person's |
//! | `.uses.json` | how often which topic was used; derived, may be deleted at any time |
//! | `.next/` | what waits until it may take its place |
//! | `.lock` | held by whoever is writing |
//!
//! An operation changes one file or many. The new files are written below `.next/`, beside the name of the operation; then the former ones
//! get a second name in the trash; then the line is appended; then the new files take their places. Whoever dies on the way leaves the
//! name of the operation, by which the next writer knows that its line was perhaps not carried out: it takes back what was, and says so
//! in the next line.

mod change;
mod error;
mod files;
mod folder;
mod format;
mod index;
mod list;
mod recover;
#[cfg(test)]
mod tests;
mod trash;
mod undo;
mod uses;

pub use folder::TopicFolder;
