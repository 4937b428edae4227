//! The embedding vectors of the texts of documents.
//!
//! Each model has its own folder, so vectors of different models never mix. A folder contains two files. The *rows* are an append-only file
//! that is memory-mapped. The *head* records the number of rows and which of them are dead. The head is written last and replaced
//! atomically. New rows are invisible until then, and a process with the previous head continues to use that state. Like the rest of the
//! index the folder may be deleted at any time.
//!
//! | topic | modules |
//! |---|---|
//! | the position of a vector in the file | `layout`, `view` |
//! | the current state | `head`, `open` |
//! | how vectors are added and removed | `write` |
//! | the search for the nearest vectors | `nearest`, `scan`, `quantized_vector` |
//! | which documents have a vector | `open` |

mod head;
mod layout;
mod nearest;
mod open;
mod quantized_vector;
mod scan;
#[cfg(test)]
mod tests;
mod view;
mod write;

pub use nearest::NearestVectors;
pub use open::ModelVectors;
pub use write::DocumentVector;
