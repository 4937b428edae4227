//! The index of memories: full-text search, filters and vectors.
//!
//! Two engines, both derived from the files. SQLite holds a row for every document; tantivy holds the full text. A commit of tantivy is
//! expensive, so a changed document first becomes a *pending* row in SQLite. A search scores pending rows itself, with the same formula and
//! the same statistics. A flush moves the pending rows to tantivy.
//!
//! | topic | modules |
//! |---|---|
//! | the data stored for a document | `row`, `words`, `handle` |
//! | where it is stored | `schema`, `update`, `text` |
//! | how the index follows the files | `apply`, `refresh`, `changed`, `scan` |
//! | how pending rows become full text | `flush` |
//! | the cache of parsed files | `kept` |
//! | how the index recovers from errors | `open`, `rebuild`, `trouble` |
//! | how queries are executed | `search`, `list`, `lookup` |
//! | the embedding vectors of the texts | `vectors`, `embeddings` |

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
