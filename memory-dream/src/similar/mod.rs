//! Detects near-duplicate texts.
//!
//! [`MinHash`]es are cached for all texts, and [`candidate_pairs()`] finds similar pairs among a hundred thousand of them. A [`TextFingerprint`] of each
//! candidate is then compared: its [`compare_texts()`] to another decides whether both are duplicates, and how they differ. [`group_duplicates()`]
//! combines duplicates into groups to merge. All functions are pure.

mod candidates;
mod comparison;
mod fingerprint;
mod min_hash;
#[cfg(test)]
mod tests;
mod word_casing;

pub use candidates::{candidate_pairs, group_duplicates, group_repeats};
pub use comparison::{TextDifference, TextSimilarity, compare_texts};
pub use fingerprint::TextFingerprint;
pub use min_hash::{MinHash, SKETCH_BYTES, SKETCH_VERSION};
pub use word_casing::WordCasing;
