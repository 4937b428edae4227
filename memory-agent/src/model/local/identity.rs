//! What tells one model from every other.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// How much of each end of the weights is looked at.
const END: usize = 64 << 10;

/// Returns a model's name with a hash of what makes its answers what they are.
///
/// `parts` are the small files and settings, whole. Of the weights, which are large, the size, the header and both ends
/// are looked at: two trainings of one network differ in every layer, so they differ there. Where the files lie and when
/// they were written does not matter.
pub(super) fn identity(name: &str, parts: &[&[u8]], weights: &[u8], header: usize) -> String {
    let mut hash = Sha256::new();
    let (head, tail) = (weights.len().min(header + END), weights.len().saturating_sub(END));
    let size = weights.len().to_le_bytes();
    for part in parts.iter().copied().chain([&size[..], &weights[..head], &weights[tail..]]) {
        // With its length before it, no part can pass for the end of the one before.
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
        let weights = vec![7_u8; 3 * END];
        let of = |parts: &[&[u8]], weights: &[u8]| identity("model", parts, weights, 10);
        let one = of(&[b"config", b"pooling"], &weights);
        assert_eq!(one, of(&[b"config", b"pooling"], &weights));
        assert_eq!(one.len(), "model@".len() + 16);
        assert_ne!(one, of(&[b"configp", b"ooling"], &weights));
        for place in [0, END + 9, 3 * END - 1] {
            let mut other = weights.clone();
            other[place] = 8;
            assert_ne!(one, of(&[b"config", b"pooling"], &other), "{place}");
        }
        assert_ne!(one, of(&[b"config", b"pooling"], &weights[1..]), "another size");
        assert!(of(&[], &[]).starts_with("model@"));
    }
}
