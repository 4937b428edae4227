//! The identity of a model, computed from its files.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// Number of bytes at each end of the weights that are hashed.
const HASHED_END: usize = 64 << 10;

/// Returns the name of the model and a hash of its files.
///
/// `parts` are the small files and settings; they are hashed as a whole. Of the weights, which are large, only the
/// size, the header and both ends are hashed. Two training runs of one network differ in every layer, so they also
/// differ there. The path and the modification time of the files have no effect.
pub(super) fn model_identity(name: &str, parts: &[&[u8]], weights: &[u8], header: usize) -> String {
    let mut hash = Sha256::new();
    let (head, tail) = (weights.len().min(header + HASHED_END), weights.len().saturating_sub(HASHED_END));
    let size = weights.len().to_le_bytes();
    for part in parts.iter().copied().chain([&size[..], &weights[..head], &weights[tail..]]) {
        // The length prefix separates each part from the next one.
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let mut identity = format!("{name}@");
    for byte in &hash.finalize()[..8] {
        write!(identity, "{byte:02x}").expect("a string takes everything");
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts_and_so_does_its_border() {
        let weights = vec![7_u8; 3 * HASHED_END];
        let of = |parts: &[&[u8]], weights: &[u8]| model_identity("model", parts, weights, 10);
        let one = of(&[b"config", b"pooling"], &weights);
        assert_eq!(one, of(&[b"config", b"pooling"], &weights));
        assert_eq!(one.len(), "model@".len() + 16);
        assert_ne!(one, of(&[b"configp", b"ooling"], &weights));
        for place in [0, HASHED_END + 9, 3 * HASHED_END - 1] {
            let mut other = weights.clone();
            other[place] = 8;
            assert_ne!(one, of(&[b"config", b"pooling"], &other), "{place}");
        }
        assert_ne!(one, of(&[b"config", b"pooling"], &weights[1..]), "another size");
        assert!(of(&[], &[]).starts_with("model@"));
    }
}
