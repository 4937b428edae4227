//! The computation of a vector from the pieces of a text.
//!
//! Each piece has a row of the token table. Three branches, for n-grams of 2, 3 and 5 pieces, start from a projection of the rows;
//! each has two layers with a residual. The rows and the branches together are normalised, summed over the pieces and divided by
//! the square root of their number. A small head with two blocks leads to the vector.

use crate::DIMENSION;
use crate::matrix::QuantisedMatrix;
use crate::pack::{BRANCH_WIDTH, BRANCHES, BRANCHES_WIDTH, FEATURES, Layer, Pack};

/// Returns the vector of pieces, of length 1.
pub(crate) fn encode(pack: &Pack<'_>, pieces: &[u32]) -> Vec<f32> {
    let count = pieces.len();
    let mut table = vec![0.0; count * DIMENSION];
    for (piece, row) in pieces.iter().zip(table.chunks_exact_mut(DIMENSION)) {
        pack.write_row(*piece, row);
    }
    let mut projected = pack
        .projection
        .layer
        .matrix
        .products(&table, DIMENSION, count);
    for row in projected.chunks_exact_mut(BRANCHES_WIDTH) {
        add(row, &pack.projection.layer.bias);
        normalise(row, &pack.projection.gain, &pack.projection.shift);
    }
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
            let products = activate(layer, layer.matrix.products(&rows, BRANCH_WIDTH, count));
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
    for row in features.chunks_exact_mut(FEATURES) {
        normalise(row, &pack.features_gain, &pack.features_shift);
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

/// Adds the bias of a layer to its products, and replaces negative numbers by 0.
fn activate(layer: &Layer<'_>, mut products: Vec<f32>) -> Vec<f32> {
    for row in products.chunks_exact_mut(layer.bias.len()) {
        add(row, &layer.bias);
        row.iter_mut().for_each(rectify);
    }
    products
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

/// Changes a row to mean 0 and variance 1, then to that of `gain` and `shift`.
fn normalise(row: &mut [f32], gain: &[f32], shift: &[f32]) {
    let count = to_f32(row.len());
    let mean = row.iter().sum::<f32>() / count;
    let variance = row
        .iter()
        .map(|number| (number - mean) * (number - mean))
        .sum::<f32>()
        / count;
    let factor = 1.0 / (variance + 1e-12).sqrt();
    for ((number, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
        *number = (*number - mean) * factor * gain + shift;
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths are short")]
fn to_f32(count: usize) -> f32 {
    count as f32
}
