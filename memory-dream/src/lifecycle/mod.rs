//! The effects of age on memories.
//!
//! [`fate()`] decides on the index data alone, and [`spared()`] returns an exemption that the file shows. Both are pure functions.

mod fate;
mod spared;

pub use fate::{Fate, fate};
pub use spared::{Spared, spared};
