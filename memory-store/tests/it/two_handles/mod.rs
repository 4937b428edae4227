//! Each store behaves like a map, also if two handles on one folder are used in any order.
//!
//! The second handle represents another process: the handles share only the folder, the clock and the source of ids.

mod banks;
mod conversations;
mod history;
mod kv;
mod notes;
mod topics;
