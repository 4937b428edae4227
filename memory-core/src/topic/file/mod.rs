//! Operations on any file in a folder of topics, for programs that work with files and not with topics.
//!
//! A Markdown file at the top level of the folder is a topic, no matter which program created it. All other files get
//! the same path checks, trash and undo, but they are not listed in the index.

mod create;
mod delete;
mod entries;
mod insert;
mod read;
mod rename;
mod replace;

pub use create::create;
pub use delete::delete;
pub use entries::entries;
pub use insert::insert;
pub use read::read;
pub use rename::rename;
pub use replace::replace;
