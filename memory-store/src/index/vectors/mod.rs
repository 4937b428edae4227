//! The vectors of the documents' texts, as a model gave them.
//!
//! Each model has a folder of its own, so vectors of different models never meet. In it lie the *rows*, a file that only
//! grows and is mapped, not read; and the *head*, which says how many rows there are and which of them are dead. The head is
//! written last and replaced as a whole: until then nobody looks at new rows, and whoever holds the former head goes on
//! seeing what it says. Like all of the index the folder may be deleted at any time.
//!
//! | you want to know | look at |
//! |---|---|
//! | where a vector lies | `layout`, `view` |
//! | what holds at this moment | `head`, `open` |
//! | how vectors come and go | `write`, `row` |
//! | how the nearest are found | `nearest`, `scan`, `unit` |
//! | which documents have one | `keys` |

mod head;
mod keys;
mod layout;
mod nearest;
mod open;
mod row;
mod scan;
#[cfg(test)]
mod tests;
mod unit;
mod view;
mod write;

pub use nearest::Nearest;
pub use open::Vectors;
pub use write::Embedded;
