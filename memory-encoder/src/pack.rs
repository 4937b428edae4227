//! The file of the model.
//!
//! | part | numbers |
//! |---|---|
//! | mark | the 8 bytes `MEMENC\0\1` |
//! | number of pieces *P*, number of nodes *N* | 2 × u32 |
//! | lowest and highest logarithm of a scale | 2 × f32 |
//! | first child of each node, and the end | (*N* + 1) × u32 |
//! | piece that ends at each node, or 0xffff | *N* × u16 |
//! | byte that leads to each node | *N* × u8 |
//! | score of each piece | *P* × f16 |
//! | mean of the rows of the token table | 512 × f32 |
//! | centroids of 4 numbers, 256 for each of 128 parts of a row | 128 × 256 × 4 × f16 |
//! | scale of each row: 0 to 255 from the lowest logarithm to the highest | *P* × u8 |
//! | centroids of each row | *P* × 128 × u8 |
//! | matrices of the network, see [`QuantisedMatrix`] | |
//! | vectors of the network | f16 |
//!
//! All numbers are little-endian. The trie of the pieces is stored breadth first, so that the children of a node are neighbours
//! in the order of their bytes. The last three pieces are the unknown, the start and the end; they are not in the trie.

use crate::DIMENSION;
use crate::matrix::QuantisedMatrix;

const MARK: &[u8] = b"MEMENC\0\x01";

/// The parts of a row of the token table, each replaced by the nearest of its centroids.
pub(crate) const PARTS: usize = 128;

/// Numbers of a centroid.
const PART_WIDTH: usize = DIMENSION / PARTS;

const CENTROIDS: usize = 256;

/// The branches of the network: length of the n-gram, and how many of its tokens stand before the present one.
pub(crate) const BRANCHES: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];

/// Width of a branch.
pub(crate) const BRANCH_WIDTH: usize = 256;

/// Width of the concatenated branches.
pub(crate) const BRANCHES_WIDTH: usize = BRANCHES.len() * BRANCH_WIDTH;

/// Width of the features of a token: its row of the table and the branches.
pub(crate) const FEATURES: usize = DIMENSION + BRANCHES_WIDTH;

/// Width of the hidden layers of the head.
const HIDDEN: usize = 320;

/// The model, read in place.
pub(crate) struct Pack<'p> {
    pub(crate) unknown: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The lowest score of a piece.
    pub(crate) lowest_score: f32,
    first_children: &'p [u8],
    node_pieces: &'p [u8],
    labels: &'p [u8],
    scores: &'p [u8],
    mean: Vec<f32>,
    centroids: &'p [u8],
    scales: &'p [u8],
    /// The scale for each value of a byte.
    scale_values: Vec<f32>,
    codes: &'p [u8],
    pub(crate) projection: NormalisedLayer<'p>,
    pub(crate) branches: [[Layer<'p>; 2]; 3],
    pub(crate) features_gain: Vec<f32>,
    pub(crate) features_shift: Vec<f32>,
    pub(crate) pooling: Layer<'p>,
    /// Two blocks of the head: the inner matrices, and the matrix past them.
    pub(crate) head: [[QuantisedMatrix<'p>; 3]; 2],
}

/// A matrix and what is added to its product.
pub(crate) struct Layer<'p> {
    pub(crate) matrix: QuantisedMatrix<'p>,
    pub(crate) bias: Vec<f32>,
}

/// A layer with a normalisation of its result.
pub(crate) struct NormalisedLayer<'p> {
    pub(crate) layer: Layer<'p>,
    pub(crate) gain: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

impl<'p> Pack<'p> {
    /// Reads the file; `None` if it is damaged.
    pub(crate) fn read(bytes: &'p [u8]) -> Option<Self> {
        let mut parts = PackParts {
            bytes: bytes.strip_prefix(MARK)?,
        };
        let [pieces, nodes] = [parts.integer()?, parts.integer()?];
        let (count, nodes) = (usize::try_from(pieces).ok()?, usize::try_from(nodes).ok()?);
        let [low, high] = [parts.float()?, parts.float()?];
        let first_children = parts.take(4 * (nodes + 1))?;
        let node_pieces = parts.take(2 * nodes)?;
        let labels = parts.take(nodes)?;
        let scores = parts.take(2 * count)?;
        let mean = parts
            .take(4 * DIMENSION)?
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        let centroids = parts.take(2 * DIMENSION * CENTROIDS)?;
        let scales = parts.take(count)?;
        let codes = parts.take(PARTS * count)?;
        let projection = parts.matrix(DIMENSION, BRANCHES_WIDTH)?;
        let mut inner = || {
            let [two, three, five] =
                BRANCHES.map(|(length, _)| parts.matrix(length * BRANCH_WIDTH, BRANCH_WIDTH));
            Some([two?, three?, five?])
        };
        let (first, second) = (inner()?, inner()?);
        let pooling = parts.matrix(FEATURES, DIMENSION)?;
        let d0 = parts.matrix(DIMENSION, HIDDEN)?;
        let p1 = parts.matrix(DIMENSION, HIDDEN)?;
        let d1 = parts.matrix(HIDDEN, HIDDEN)?;
        let d2 = parts.matrix(HIDDEN, DIMENSION)?;
        let p3 = parts.matrix(HIDDEN, DIMENSION)?;
        let d3 = parts.matrix(DIMENSION, DIMENSION)?;
        let projection = NormalisedLayer {
            layer: Layer {
                matrix: projection,
                bias: parts.vector(BRANCHES_WIDTH)?,
            },
            gain: parts.vector(BRANCHES_WIDTH)?,
            shift: parts.vector(BRANCHES_WIDTH)?,
        };
        let mut with_biases = |matrices: [QuantisedMatrix<'p>; 3]| {
            let [two, three, five] = matrices.map(|matrix| {
                Some(Layer {
                    matrix,
                    bias: parts.vector(BRANCH_WIDTH)?,
                })
            });
            Some([two?, three?, five?])
        };
        let [one, two, three] = with_biases(first)?;
        let [four, five, six] = with_biases(second)?;
        let pack = Self {
            unknown: pieces.checked_sub(3)?,
            start: pieces - 2,
            end: pieces - 1,
            lowest_score: lowest(&scores[..2 * (count - 3)]),
            first_children,
            node_pieces,
            labels,
            scores,
            mean,
            centroids,
            scales,
            scale_values: (0..=u8::MAX)
                .map(|byte| (low + f32::from(byte) / 255.0 * (high - low)).exp())
                .collect(),
            codes,
            projection,
            branches: [[one, four], [two, five], [three, six]],
            features_gain: parts.vector(FEATURES)?,
            features_shift: parts.vector(FEATURES)?,
            pooling: Layer {
                matrix: pooling,
                bias: parts.vector(DIMENSION)?,
            },
            head: [[d0, d1, p1], [d2, d3, p3]],
        };
        parts.bytes.is_empty().then_some(pack)
    }

    /// Returns the node that a byte leads to.
    pub(crate) fn child(&self, node: usize, byte: u8) -> Option<usize> {
        let first = self.first_child(node);
        let labels = self.labels.get(first..self.first_child(node + 1))?;
        let place = labels.binary_search(&byte).ok()?;
        Some(first + place)
    }

    fn first_child(&self, node: usize) -> usize {
        let bytes = self.first_children.as_chunks().0[node];
        u32::from_le_bytes(bytes) as usize
    }

    /// Returns the piece that ends at a node.
    pub(crate) fn piece_at(&self, node: usize) -> Option<u32> {
        let piece = u16::from_le_bytes(self.node_pieces.as_chunks().0[node]);
        (piece != u16::MAX).then(|| piece.into())
    }

    /// Returns the score of a piece.
    pub(crate) fn score(&self, piece: u32) -> f32 {
        half(self.scores.as_chunks().0[piece as usize])
    }

    /// Writes the row of a piece in the token table.
    pub(crate) fn write_row(&self, piece: u32, row: &mut [f32]) {
        let piece = piece as usize;
        let scale = self.scale_values[usize::from(self.scales[piece])];
        let codes = &self.codes[PARTS * piece..PARTS * (piece + 1)];
        let centroids = self.centroids.as_chunks::<{ 2 * PART_WIDTH }>().0;
        let parts = row.as_chunks_mut::<PART_WIDTH>().0;
        let means = self.mean.as_chunks::<PART_WIDTH>().0;
        let centroids = centroids.chunks_exact(CENTROIDS);
        for (((part, mean), code), centroids) in
            parts.iter_mut().zip(means).zip(codes).zip(centroids)
        {
            let centroid = centroids[usize::from(*code)].as_chunks().0;
            for ((number, mean), centre) in part.iter_mut().zip(mean).zip(centroid) {
                *number = half(*centre) * scale + mean;
            }
        }
    }
}

/// The bytes of a pack that are not read yet.
struct PackParts<'p> {
    bytes: &'p [u8],
}

impl<'p> PackParts<'p> {
    fn take(&mut self, count: usize) -> Option<&'p [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn integer(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.as_array()?))
    }

    fn float(&mut self) -> Option<f32> {
        Some(f32::from_le_bytes(*self.take(4)?.as_array()?))
    }

    fn matrix(&mut self, inputs: usize, outputs: usize) -> Option<QuantisedMatrix<'p>> {
        Some(QuantisedMatrix::new(
            self.take(QuantisedMatrix::size(inputs, outputs))?,
            inputs,
            outputs,
        ))
    }

    fn vector(&mut self, count: usize) -> Option<Vec<f32>> {
        Some(halves(self.take(2 * count)?).collect())
    }
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().copied().map(half)
}

/// Returns the lowest of the numbers, which are negative.
fn lowest(bytes: &[u8]) -> f32 {
    let halves = bytes.as_chunks().0.iter().copied();
    // The bits of a negative number are the higher, the lower it is.
    let bits = halves.map(u16::from_le_bytes).max().unwrap_or_default();
    half(bits.to_le_bytes())
}

/// 2^112, the difference of the biases of the exponents of 32 and 16 bits.
pub(crate) const HALF_FACTOR: f32 = f32::from_bits((127 + 112) << 23);

/// Converts a number of 16 bits (IEEE 754 binary16), which is neither infinite nor NaN.
fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let size = f32::from_bits((bits & 0x7fff) << 13) * HALF_FACTOR;
    f32::from_bits(size.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_converted_exactly() {
        for (bits, expected) in [
            (0x0000_u16, 0.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x03ff, 1023.0 * 2.0_f32.powi(-24)),
            (0x0400, 2.0_f32.powi(-14)),
            (0x3c00, 1.0),
            (0xc500, -5.0),
            (0x7bff, 65_504.0),
        ] {
            assert_eq!(half(bits.to_le_bytes()).to_bits(), f32::to_bits(expected));
        }
    }

    #[test]
    fn a_damaged_pack_is_not_read() {
        let pack = crate::BUNDLED;
        assert!(Pack::read(pack).is_some());
        assert!(Pack::read(&pack[..pack.len() - 1]).is_none());
        assert!(Pack::read(&pack[1..]).is_none());
        assert!(Pack::read(b"").is_none());
    }
}
