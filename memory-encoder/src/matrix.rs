//! Products with matrices of 4 bits.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the processor at hand"
)]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::pack::HALF_FACTOR;

/// Inputs of a block.
const BLOCK: usize = 32;

/// Bytes of a block.
const BLOCK_SIZE: usize = 2 + BLOCK / 2;

/// Groups of outputs that are computed at once, one output in each lane.
const GROUPS: usize = 2;

/// Maximum number of outputs that are computed at once.
const MAX_ROWS: usize = 32;

/// Maximum number of inputs that are multiplied at once. Their values stay in the first cache.
const MAX_INPUTS: usize = 8 * BLOCK;

/// A matrix: one row for each output, in blocks of 32 inputs.
///
/// A block has a scale *d* (f16, not negative), then 16 bytes, of which byte *j* has input *j* in its low and input *j* + 16 in its
/// high half. The value of *n* is (*n* − 8) *d*.
#[derive(Clone, Copy)]
pub(crate) struct QuantisedMatrix<'p> {
    blocks: &'p [[u8; BLOCK_SIZE]],
    inputs: usize,
    outputs: usize,
}

impl<'p> QuantisedMatrix<'p> {
    /// Returns the number of bytes of a matrix.
    pub(crate) const fn size(inputs: usize, outputs: usize) -> usize {
        inputs / BLOCK * outputs * BLOCK_SIZE
    }

    /// Returns the matrix in `bytes`, whose number is [`QuantisedMatrix::size`]. `outputs` is a multiple of 32.
    pub(crate) const fn new(bytes: &'p [u8], inputs: usize, outputs: usize) -> Self {
        Self {
            blocks: bytes.as_chunks().0,
            inputs,
            outputs,
        }
    }

    /// Returns the product with one vector.
    pub(crate) fn product(self, input: &[f32]) -> Vec<f32> {
        self.products(&vec![0.0; self.outputs], input, self.inputs, 1)
    }

    /// Returns the sums of `bias` and the products with `count` vectors, one after the other. Vector *i* starts at *i* × `stride` of
    /// `inputs`.
    pub(crate) fn products(
        self,
        bias: &[f32],
        inputs: &[f32],
        stride: usize,
        count: usize,
    ) -> Vec<f32> {
        let mut outputs = bias.repeat(count);
        Arch::new().dispatch(MatrixProducts {
            matrix: self,
            inputs,
            stride,
            outputs: &mut outputs,
        });
        outputs
    }

    /// Writes the values of blocks of the rows from `first` on: for each input, a value in each lane of the groups.
    ///
    /// A word of each row is unpacked at once, and the products need no sum over lanes.
    #[inline(always)]
    fn write_tile<S: Simd>(
        self,
        simd: S,
        first: usize,
        blocks: Range<usize>,
        tile: &mut [[S::f32s; GROUPS]],
    ) {
        /// With a number below 2^23 in its lowest bits, the value is 2^23 more than the number.
        const INTEGER: f32 = 8_388_608.0;
        let width = self.inputs / BLOCK;
        let rows = &self.blocks[first * width..];
        let mut scales = [0; MAX_ROWS];
        let mut words = [[0; MAX_ROWS]; BLOCK / 8];
        let (four, thirteen) = (simd.splat_u32s(4), simd.splat_u32s(13));
        let half_factor = simd.splat_f32s(HALF_FACTOR);
        let mask = simd.splat_u32s(15);
        let integer = simd.splat_u32s(INTEGER.to_bits());
        let zero = simd.splat_f32s(INTEGER + 8.0);
        for (block, tile) in blocks.zip(tile.as_chunks_mut::<BLOCK>().0) {
            for row in 0..GROUPS * S::F32_LANES {
                let block = &rows[row * width + block];
                scales[row] = u32::from(u16::from_le_bytes([block[0], block[1]]));
                for word in 0..BLOCK / 8 {
                    let bytes = &block[2 + 4 * word..][..4];
                    words[word][row] = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            }
            let scales = S::as_simd_u32s(&scales).0;
            for group in 0..GROUPS {
                let scale = simd.wrapping_dyn_shl_u32s(scales[group], thirteen);
                let scale = simd.mul_f32s(simd.transmute_f32s_u32s(scale), half_factor);
                for word in 0..BLOCK / 8 {
                    let mut codes = S::as_simd_u32s(&words[word]).0[group];
                    for byte in 0..4 {
                        for part in [0, BLOCK / 2] {
                            let number = simd.or_u32s(simd.and_u32s(codes, mask), integer);
                            let number = simd.sub_f32s(simd.transmute_f32s_u32s(number), zero);
                            tile[4 * word + byte + part][group] = simd.mul_f32s(number, scale);
                            codes = simd.wrapping_dyn_shr_u32s(codes, four);
                        }
                    }
                }
            }
        }
    }
}

struct MatrixProducts<'a> {
    matrix: QuantisedMatrix<'a>,
    inputs: &'a [f32],
    stride: usize,
    outputs: &'a mut [f32],
}

impl WithSimd for MatrixProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            matrix,
            inputs,
            stride,
            outputs,
        } = self;
        let (width, height) = (matrix.inputs, matrix.outputs);
        let count = outputs.len() / height;
        let mut tile = vec![[simd.splat_f32s(0.0); GROUPS]; MAX_INPUTS.min(width)];
        for row in (0..height).step_by(GROUPS * S::F32_LANES) {
            for input in (0..width).step_by(MAX_INPUTS) {
                let end = width.min(input + MAX_INPUTS);
                let tile = &mut tile[..end - input];
                matrix.write_tile(simd, row, input / BLOCK..end / BLOCK, tile);
                let mut index = 0;
                while index < count {
                    let inputs = &inputs[index * stride + input..];
                    let outputs = &mut outputs[index * height + row..];
                    // With six vectors, the sums and numbers fill the 16 registers.
                    index += if index + 6 <= count {
                        add_products::<S, 6, 1>(simd, tile, inputs, stride, outputs, height)
                    } else {
                        add_products::<S, 1, 4>(simd, tile, inputs, stride, outputs, height)
                    };
                }
            }
        }
    }
}

/// Adds the products of vectors with the values of a tile to the outputs, and returns the number of vectors.
///
/// Each of `STEPS` inputs has sums of its own, because an addition waits for the one before it.
///
/// The loops have no closures: one that is not inlined is compiled for any processor, and takes thirty times as long.
#[inline(always)]
fn add_products<S: Simd, const VECTORS: usize, const STEPS: usize>(
    simd: S,
    tile: &[[S::f32s; GROUPS]],
    inputs: &[f32],
    stride: usize,
    outputs: &mut [f32],
    height: usize,
) -> usize {
    let width = tile.len();
    let tile = tile.as_chunks::<STEPS>().0;
    let mut numbers = [[].as_slice(); VECTORS];
    for vector in 0..VECTORS {
        numbers[vector] = &inputs[vector * stride..][..width].as_chunks::<STEPS>().0[..tile.len()];
    }
    let mut sums = [[[simd.splat_f32s(0.0); GROUPS]; VECTORS]; STEPS];
    for place in 0..tile.len() {
        for step in 0..STEPS {
            for vector in 0..VECTORS {
                let number = simd.splat_f32s(numbers[vector][place][step]);
                for group in 0..GROUPS {
                    sums[step][vector][group] = simd.mul_add_e_f32s(
                        number,
                        tile[place][step][group],
                        sums[step][vector][group],
                    );
                }
            }
        }
    }
    for vector in 0..VECTORS {
        let outputs =
            S::as_mut_simd_f32s(&mut outputs[vector * height..][..GROUPS * S::F32_LANES]).0;
        for sums in &sums {
            for group in 0..GROUPS {
                outputs[group] = simd.add_f32s(outputs[group], sums[vector][group]);
            }
        }
    }
    VECTORS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows and blocks of a matrix that is wider than a tile.
    const SIZE: (usize, usize) = (32, MAX_INPUTS / BLOCK + 1);

    proptest! {
        #[test]
        fn products_are_those_of_the_values(
            blocks in prop::collection::vec(any::<[u8; BLOCK / 2]>(), SIZE.0 * SIZE.1),
            input in prop::collection::vec(-4_i8..4, (SIZE.1 + 14) * BLOCK),
            count in 1_usize..14,
        ) {
            let (rows, width) = SIZE;
            // The scale of a row is 0.5 or 1.
            let scale = |row: usize| if row.is_multiple_of(2) { 0x38 } else { 0x3c };
            let bytes = blocks.iter().enumerate();
            let bytes: Vec<u8> = bytes.flat_map(|(block, codes)| [0, scale(block / width)].into_iter().chain(*codes)).collect();
            let matrix = QuantisedMatrix::new(&bytes, width * BLOCK, rows);
            let input: Vec<f32> = input.into_iter().map(f32::from).collect();
            let bias: Vec<f32> = (0_u8..32).map(f32::from).collect();
            let products = matrix.products(&bias, &input, BLOCK, count);
            prop_assert_eq!(products.len(), rows * count);
            for (index, product) in products.iter().enumerate() {
                let (vector, row) = (&input[index / rows * BLOCK..][..width * BLOCK], index % rows);
                let value = |place: usize| {
                    let byte = blocks[row * width + place / BLOCK][place % 16];
                    let code = if place % BLOCK < 16 { byte & 15 } else { byte >> 4 };
                    (f32::from(code) - 8.0) / if row.is_multiple_of(2) { 2.0 } else { 1.0 }
                };
                let sum: f32 = vector.iter().enumerate().map(|(place, number)| number * value(place)).sum();
                let expected = bias[row] + sum;
                prop_assert!((product - expected).abs() < 1e-3, "{} {}", product, expected);
            }
        }
    }
}
