//! The effects of age on memories.
//!
//! [`lifecycle_action()`] decides on the index data alone, and [`find_exemption()`] returns an exemption that the file shows. Both are pure functions.

mod action;
mod exemption;

pub use action::{LifecycleAction, lifecycle_action};
pub use exemption::{Exemption, find_exemption};
