//! The effects of age on memories.
//!
//! [`fate()`] decides on the index data alone, and [`spared()`] returns an exemption that the file shows. Both are pure functions.

mod action;
mod exemption;

pub use action::{LifecycleAction, fate};
pub use exemption::{Exemption, spared};
