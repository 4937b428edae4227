//! What becomes of memories with time.
//!
//! [`fate()`] tells it from what is known without a look at the file, and [`spared()`] why the file says otherwise. Both are pure.

mod fate;
mod spared;

pub use fate::{Fate, fate};
pub use spared::{Spared, spared};
