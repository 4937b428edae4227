//! The computation of a vector from the pieces of a text.
//!
//! Each piece has a row of the token table. Three branches, for n-grams of 2, 3 and 5 pieces, start from a projection of the rows;
//! each has two layers with a residual. The rows and the branches together are normalised, summed over the pieces and divided by
//! the square root of their number. A small head with two blocks leads to the vector.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the processor at hand"
)]

use pulp::{Arch, Simd, WithSimd};

use crate::DIMENSION;
use crate::matrix::QuantisedMatrix;
use crate::pack::{BRANCH_WIDTH, BRANCHES, BRANCHES_WIDTH, FEATURES, Pack};

/// Returns the vector of pieces, of length 1.
pub(crate) fn encode(pack: &Pack<'_>, pieces: &[u32]) -> Vec<f32> {
    let count = pieces.len();
    let mut table = vec![0.0; count * DIMENSION];
    for (piece, row) in pieces.iter().zip(table.chunks_exact_mut(DIMENSION)) {
        pack.write_row(*piece, row);
    }
    let projection = &pack.projection;
    let bias = &projection.layer.bias;
    let matrix = projection.layer.matrix;
    let mut projected = matrix.products(bias, &table, DIMENSION, count);
    normalise(&mut projected, &projection.gain, &projection.shift);
    let mut features = vec![0.0; count * FEATURES];
    for (features, row) in features
        .chunks_exact_mut(FEATURES)
        .zip(table.chunks_exact(DIMENSION))
    {
        features[..DIMENSION].copy_from_slice(row);
    }
    for (branch, ([first, second], (length, left))) in
        pack.branches.iter().zip(BRANCHES).enumerate()
    {
        let mut rows = vec![0.0; (count + length - 1) * BRANCH_WIDTH];
        let present = left * BRANCH_WIDTH..(left + count) * BRANCH_WIDTH;
        for (row, projected) in rows[present.clone()]
            .chunks_exact_mut(BRANCH_WIDTH)
            .zip(projected.chunks_exact(BRANCHES_WIDTH))
        {
            row.copy_from_slice(&projected[branch * BRANCH_WIDTH..(branch + 1) * BRANCH_WIDTH]);
        }
        for layer in [first, second] {
            // The n-gram of a piece is a part of the rows, because they follow one another.
            let mut products = layer
                .matrix
                .products(&layer.bias, &rows, BRANCH_WIDTH, count);
            products.iter_mut().for_each(rectify);
            add(&mut rows[present.clone()], &products);
        }
        let start = DIMENSION + branch * BRANCH_WIDTH;
        for (features, row) in features
            .chunks_exact_mut(FEATURES)
            .zip(rows[present].chunks_exact(BRANCH_WIDTH))
        {
            features[start..start + BRANCH_WIDTH].copy_from_slice(row);
        }
    }
    let mut sums = vec![0.0; FEATURES];
    normalise(&mut features, &pack.features_gain, &pack.features_shift);
    for row in features.chunks_exact(FEATURES) {
        add(&mut sums, row);
    }
    let mut vector = pack.pooling.matrix.product(&sums);
    let length = to_f32(count);
    for (number, bias) in vector.iter_mut().zip(&pack.pooling.bias) {
        *number = (*number + length * bias) / length.sqrt();
    }
    let [first, second] = pack.head;
    let mut hidden = head_block(first, &vector);
    hidden.iter_mut().for_each(rectify);
    let mut vector = head_block(second, &hidden);
    for number in &mut vector {
        *number = number.tanh();
    }
    let length = vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt();
    for number in &mut vector {
        *number /= length;
    }
    vector
}

fn head_block([inner, outer, past]: [QuantisedMatrix<'_>; 3], input: &[f32]) -> Vec<f32> {
    let mut hidden = inner.product(input);
    hidden.iter_mut().for_each(rectify);
    let mut output = outer.product(&hidden);
    add(&mut output, &past.product(input));
    output
}

fn rectify(number: &mut f32) {
    *number = number.max(0.0);
}

fn add(sums: &mut [f32], numbers: &[f32]) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}

/// Changes rows to mean 0 and variance 1, then to those of `gain` and `shift`.
fn normalise(rows: &mut [f32], gain: &[f32], shift: &[f32]) {
    Arch::new().dispatch(Normalisation { rows, gain, shift });
}

struct Normalisation<'a> {
    rows: &'a mut [f32],
    gain: &'a [f32],
    shift: &'a [f32],
}

impl WithSimd for Normalisation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, gain, shift } = self;
        let count = to_f32(gain.len());
        // The widths are multiples of 256, so that nothing remains.
        let (gain, shift) = (S::as_simd_f32s(gain).0, S::as_simd_f32s(shift).0);
        for row in S::as_mut_simd_f32s(rows).0.chunks_exact_mut(gain.len()) {
            let mut sums = simd.splat_f32s(0.0);
            for number in &mut *row {
                sums = simd.add_f32s(sums, *number);
            }
            let mean = simd.splat_f32s(simd.reduce_sum_f32s(sums) / count);
            let mut squares = simd.splat_f32s(0.0);
            for number in &mut *row {
                *number = simd.sub_f32s(*number, mean);
                squares = simd.mul_add_e_f32s(*number, *number, squares);
            }
            let variance = simd.reduce_sum_f32s(squares) / count;
            let factor = simd.splat_f32s(1.0 / (variance + 1e-12).sqrt());
            for ((number, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
                let scaled = simd.mul_f32s(*number, factor);
                *number = simd.mul_add_e_f32s(scaled, *gain, *shift);
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths are short")]
fn to_f32(count: usize) -> f32 {
    count as f32
}
