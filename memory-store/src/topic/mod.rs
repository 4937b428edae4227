//! Topics stored as Markdown files.
//!
//! [`TopicFolder`] implements [`memory_core::topic::TopicStore`]. The Markdown files of any folder are the topics. A
//! change of a file edits only the values of the keys that change and the text; everything else is preserved byte for
//! byte.
//!
//! | file | content |
//! |---|---|
//! | `<name>.md` | a topic |
//! | `MEMORY.md` | the index; generated lines are replaced, lines of a person are preserved |
//! | `.trash/<yyyy-mm>.jsonl` | one line per operation: when, which verb, by which program, and which files |
//! | `.trash/<yyyy-mm>/<operation>/` | the complete files before the operation |
//! | `.index.json` | which lines of the index are generated; if it is lost, all lines count as those of a person |
//! | `.uses.json` | how often each topic was used; derived, may be deleted at any time |
//! | `.seen/` | in a watched folder, copies of the topics, to detect and undo changes by other programs |
//! | `.next/` | new files before they replace the old ones |
//! | `.lock` | locked by the writer |
//!
//! An operation changes one or more files. First the new files and the name of the operation are written below
//! `.next/`. Then the old files are linked into the trash, the line is appended, and the new files replace the old
//! ones. If the writer crashes, the name of the operation remains, and the next writer knows that the operation may be
//! incomplete. It restores the old files and appends a line that marks the operation as aborted.
//!
//! The topics of a folder are its Markdown files, regardless of the program that created them. After an edit, the
//! whole file is parsed again to check the result.

mod change;
mod error;
mod external;
mod files;
mod folder;
mod format;
mod index;
mod list;
#[cfg(test)]
mod tests;
mod trash;
mod uses;

pub use folder::TopicFolder;
#[cfg(feature = "postgres")]
pub(crate) use folder::is_shared;
