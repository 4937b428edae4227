//! Products with matrices of 4 bits.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the processor at hand"
)]

use pulp::{Arch, Simd, WithSimd};

use crate::pack::half;

/// Inputs of a block.
const BLOCK: usize = 32;

/// Bytes of a block.
const BLOCK_SIZE: usize = 2 + BLOCK / 2;

/// Rows that are multiplied at once.
const ROWS: usize = 4;

/// A matrix: one row for each output, in blocks of 32 inputs.
///
/// A block has a scale *d* (f16), then 16 bytes, of which byte *j* has input *j* in its low and input *j* + 16 in its high half.
/// The value of *n* is (*n* − 8) *d*.
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

    /// Returns the matrix in `bytes`, whose number is [`QuantisedMatrix::size`]. `outputs` is a multiple of 4.
    pub(crate) const fn new(bytes: &'p [u8], inputs: usize, outputs: usize) -> Self {
        Self {
            blocks: bytes.as_chunks().0,
            inputs,
            outputs,
        }
    }

    /// Returns the product with one vector.
    pub(crate) fn product(self, input: &[f32]) -> Vec<f32> {
        self.products(input, self.inputs, 1)
    }

    /// Returns the products with `count` vectors, one after the other. Vector *i* starts at *i* × `stride` of `inputs`.
    pub(crate) fn products(self, inputs: &[f32], stride: usize, count: usize) -> Vec<f32> {
        let mut outputs = vec![0.0; count * self.outputs];
        Arch::new().dispatch(MatrixProducts {
            matrix: self,
            inputs,
            stride,
            outputs: &mut outputs,
        });
        outputs
    }

    /// Writes the values of the rows from `first` on.
    #[inline(always)]
    fn write_rows(self, first: usize, values: &mut [f32]) {
        let blocks = &self.blocks[first * (self.inputs / BLOCK)..];
        for (block, values) in blocks.iter().zip(values.as_chunks_mut::<BLOCK>().0) {
            let scale = half([block[0], block[1]]);
            for place in 0..BLOCK / 2 {
                let byte = block[2 + place];
                values[place] = (f32::from(byte & 15) - 8.0) * scale;
                values[place + BLOCK / 2] = (f32::from(byte >> 4) - 8.0) * scale;
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
        let mut rows = vec![0.0; ROWS * width];
        for first in (0..height).step_by(ROWS) {
            matrix.write_rows(first, &mut rows);
            let mut index = 0;
            while index + 3 <= count {
                let sums = multiply(
                    simd,
                    &rows,
                    [
                        &inputs[index * stride..][..width],
                        &inputs[(index + 1) * stride..][..width],
                        &inputs[(index + 2) * stride..][..width],
                    ],
                );
                for sums in sums {
                    outputs[index * height + first..][..ROWS].copy_from_slice(&sums);
                    index += 1;
                }
            }
            while index < count {
                let [sums] = multiply(simd, &rows, [&inputs[index * stride..][..width]]);
                outputs[index * height + first..][..ROWS].copy_from_slice(&sums);
                index += 1;
            }
        }
    }
}

/// Returns the products of each vector with each row.
///
/// The loops have no closures: one that is not inlined is compiled for any processor, and takes thirty times as long.
#[inline(always)]
fn multiply<S: Simd, const VECTORS: usize>(
    simd: S,
    rows: &[f32],
    vectors: [&[f32]; VECTORS],
) -> [[f32; ROWS]; VECTORS] {
    // The width is a multiple of 32, so that nothing remains.
    let rows = S::as_simd_f32s(rows).0;
    let width = rows.len() / ROWS;
    let mut parts = [rows; VECTORS];
    for (part, vector) in parts.iter_mut().zip(vectors) {
        *part = &S::as_simd_f32s(vector).0[..width];
    }
    let (first, rest) = rows.split_at(width);
    let (second, rest) = rest.split_at(width);
    let (third, fourth) = rest.split_at(width);
    let rows = [first, second, third, &fourth[..width]];
    let mut sums = [[simd.splat_f32s(0.0); ROWS]; VECTORS];
    for place in 0..width {
        // With three vectors, sums and numbers fill the 16 registers.
        let mut numbers = [simd.splat_f32s(0.0); VECTORS];
        for vector in 0..VECTORS {
            numbers[vector] = parts[vector][place];
        }
        for row in 0..ROWS {
            let value = rows[row][place];
            for vector in 0..VECTORS {
                sums[vector][row] = simd.mul_add_e_f32s(numbers[vector], value, sums[vector][row]);
            }
        }
    }
    let mut products = [[0.0; ROWS]; VECTORS];
    for vector in 0..VECTORS {
        for row in 0..ROWS {
            products[vector][row] = simd.reduce_sum_f32s(sums[vector][row]);
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn products_are_those_of_the_values(
            blocks in prop::collection::vec(any::<[u8; 16]>(), 2 * 8),
            input in prop::collection::vec(-4_i8..4, 64 + 32 * 5),
            count in 1_usize..7,
        ) {
            // A scale of 0.5.
            let bytes: Vec<u8> = blocks.iter().flat_map(|block| [0x00, 0x38].into_iter().chain(*block)).collect();
            let matrix = QuantisedMatrix::new(&bytes, 64, 8);
            let input: Vec<f32> = input.into_iter().map(f32::from).collect();
            let products = matrix.products(&input, 32, count);
            prop_assert_eq!(products.len(), 8 * count);
            for (index, product) in products.iter().enumerate() {
                let (vector, row) = (&input[index / 8 * 32..][..64], index % 8);
                let value = |place: usize| {
                    let byte = blocks[row * 2 + place / 32][place % 16];
                    let nibble = if place % 32 < 16 { byte & 15 } else { byte >> 4 };
                    (f32::from(nibble) - 8.0) / 2.0
                };
                let expected: f32 = vector.iter().enumerate().map(|(place, number)| number * value(place)).sum();
                prop_assert!((product - expected).abs() < 1e-3, "{} {}", product, expected);
            }
        }
    }
}
