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
//! | how the index follows the files | `update`, `refresh`, `scan` |
//! | how pending rows become full text | `flush` |
//! | the cache of parsed files | `kept` |
//! | how the index is opened, and recovers from errors | `memory_index`, `open`, `rebuild`, `trouble` |
//! | how queries are executed | `search`, `list`, `lookup`, `facets`; `names` for shell completion |
//! | the embedding vectors of the texts | `vectors`, `embeddings` |
//!
//! With a few hundred pending rows, one commit flushes them: a log-structured merge tree of two levels. A pending
//! row has its words in a small inverted index in SQLite; a search asks tantivy, drops the documents that pending
//! rows replace, and ranks both together. The index is the only component that depends on this.

mod check;
mod connections;
mod document_terms;
mod documents;
mod embeddings;
mod error;
mod facets;
mod file_cache;
mod file_reader;
mod filter;
mod flush;
mod list;
mod lookup;
mod lookup_key;
mod memory_index;
mod names;
mod open;
mod rebuild;
mod refresh;
mod reminders;
mod row;
mod scan;
mod schema;
mod search;
mod sessions;
mod summaries;
#[cfg(test)]
mod tests;
mod text;
mod text_directory;
mod update;
mod vectors;
mod vocabulary;

pub(crate) use lookup::MemoryLocation;
pub(crate) use memory_index::MemoryIndex;
pub use names::{IndexedNames, NamedGroup, NamedMemory};
pub(crate) use open::{FOLDER, REHEARSAL, SESSIONS};
pub(crate) use refresh::RefreshDepth;
pub(crate) use scan::{CATEGORIES, ENTRIES};
pub(crate) use update::AppliedChange;
pub use vectors::{DocumentVector, ModelVectors, NearestVectors};
