//! Any file of a folder of topics: what a program does that knows files and no topics.
//!
//! A Markdown file at the top of the folder is a topic, whoever made it; all others are kept, undone and confined the same way, but stand
//! in no index.

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
