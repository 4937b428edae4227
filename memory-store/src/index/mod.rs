//! How memories are found.
//!
//! Two engines, each for what it does best, and both derived from the files. SQLite knows every document; tantivy
//! answers full text. A commit of tantivy is dear, so a changed document first becomes a *pending* row in SQLite, which
//! a search scores itself, by the same formula and the same statistics; a flush moves the pending rows to tantivy.
//!
//! | you want to know | look at |
//! |---|---|
//! | what is known of a document | `row`, `words`, `handle` |
//! | where that is written down | `schema`, `update`, `text` |
//! | how it keeps up with the files | `apply`, `refresh`, `changed`, `scan` |
//! | how pending rows become full text | `flush` |
//! | how files that were read are kept | `kept` |
//! | how it comes back when something is wrong | `open`, `rebuild`, `trouble` |
//! | how questions are answered | `search`, `list`, `lookup` |
//! | what a model made of the texts | `vectors`, `embeddings` |

mod apply;
mod changed;
mod check;
mod claim;
mod documents;
mod embeddings;
mod filter;
mod flush;
mod handle;
mod kept;
mod list;
mod lookup;
mod now;
mod open;
mod outlines;
mod reading;
mod rebuild;
mod refresh;
mod reminders;
mod row;
mod scan;
mod schema;
mod search;
#[cfg(test)]
mod tests;
mod text;
mod trouble;
mod update;
mod vectors;
mod vocabulary;
mod words;

pub(crate) use apply::Applied;
pub(crate) use lookup::Place;
pub(crate) use now::now_ns;
pub(crate) use open::{FOLDER, Index, REHEARSAL};
pub(crate) use refresh::Depth;
pub(crate) use scan::{CATEGORIES, ENTRIES};
pub use vectors::{Embedded, Nearest, Vectors};
