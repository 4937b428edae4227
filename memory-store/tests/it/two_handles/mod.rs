//! Each store against a map: whatever is done through two handles on the same folder, in whatever order, each of them answers what
//! the map holds.
//!
//! The second handle stands for another process: it shares nothing with the first but the folder, the time and the source of names.

mod banks;
mod conversations;
mod history;
mod kv;
mod notes;
mod topics;
