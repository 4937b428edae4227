//! Detects near-duplicate texts.
//!
//! [`MinHash`]es are cached for all texts, and [`candidates()`] finds similar pairs among a hundred thousand of them. A [`TextFingerprint`] of each
//! candidate is then compared: its [`likeness()`] to another decides whether both are duplicates, and how they differ. [`groups()`]
//! combines duplicates into groups to merge. All functions are pure.

mod alignment;
mod candidates;
mod comparison;
mod fingerprint;
mod groups;
mod literal;
mod min_hash;
mod shingle;
#[cfg(test)]
mod tests;
mod word_casing;
mod word_effect;

pub use candidates::candidates;
pub use comparison::{TextDifference, TextSimilarity, likeness};
pub use fingerprint::TextFingerprint;
pub use groups::groups;
pub use min_hash::{MinHash, SKETCH_BYTES, SKETCH_VERSION};
pub use word_casing::WordCasing;
