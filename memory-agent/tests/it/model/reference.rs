//! A reference implementation of the network in f64, as simple as possible.

use super::tiny_bert::{HEADS, HIDDEN, LAYERS, TinyBert};

/// Returns a row for each token; `first` is the number of tokens of the first text.
pub(crate) fn encode(model: &TinyBert, ids: &[usize], first: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let word = row(model, "embeddings.word_embeddings.weight", *id);
        let position = row(model, "embeddings.position_embeddings.weight", place);
        let kind = row(
            model,
            "embeddings.token_type_embeddings.weight",
            usize::from(first <= place),
        );
        rows.push(
            (0..HIDDEN)
                .map(|n| word[n] + position[n] + kind[n])
                .collect(),
        );
    }
    normalise(model, "embeddings", &mut rows);
    for layer in 0..LAYERS {
        let prefix = format!("encoder.layer.{layer}");
        let attended = attend(model, &prefix, &rows);
        add(
            &mut rows,
            &linear(
                model,
                &format!("{prefix}.attention.output.dense"),
                &attended,
            ),
        );
        normalise(model, &format!("{prefix}.attention.output"), &mut rows);
        let mut between = linear(model, &format!("{prefix}.intermediate.dense"), &rows);
        for number in between.iter_mut().flatten() {
            *number *= 0.5 * (1.0 + erf(*number / 2.0_f64.sqrt()));
        }
        add(
            &mut rows,
            &linear(model, &format!("{prefix}.output.dense"), &between),
        );
        normalise(model, &format!("{prefix}.output"), &mut rows);
    }
    rows
}

/// Returns the logits of a cross-encoder.
pub(crate) fn logits(model: &TinyBert, ids: &[usize], first: usize) -> Vec<f64> {
    let rows = encode(model, ids, first);
    let mut pooled = linear(model, "pooler.dense", &rows[..1]);
    for number in &mut pooled[0] {
        *number = number.tanh();
    }
    linear(model, "classifier", &pooled).remove(0)
}

pub(crate) fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    (0..HIDDEN)
        .map(|n| rows.iter().map(|row| row[n]).sum::<f64>())
        .collect()
}

/// Returns 1 minus the cosine of two vectors.
pub(crate) fn max_difference(one: &[f32], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    let one: Vec<f64> = one.iter().copied().map(f64::from).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    1.0 - dot(&one, other) / (dot(&one, &one) * dot(other, other)).sqrt()
}

fn row(model: &TinyBert, name: &str, number: usize) -> Vec<f64> {
    model.tensor(name).numbers[number * HIDDEN..(number + 1) * HIDDEN]
        .iter()
        .copied()
        .map(f64::from)
        .collect()
}

fn linear(model: &TinyBert, name: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let weight = model.tensor(&format!("{name}.weight"));
    let bias = model.tensor(&format!("{name}.bias"));
    let output = |row: &Vec<f64>, (weights, bias): (&[f32], &f32)| {
        f64::from(*bias)
            + weights
                .iter()
                .zip(row)
                .map(|(weight, number)| f64::from(*weight) * number)
                .sum::<f64>()
    };
    let outputs = |row| {
        weight
            .numbers
            .chunks(weight.shape[1])
            .zip(&bias.numbers)
            .map(|parts| output(row, parts))
            .collect()
    };
    rows.iter().map(outputs).collect()
}

fn attend(model: &TinyBert, prefix: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |name: &str| linear(model, &format!("{prefix}.attention.self.{name}"), rows);
    let (query, key, value) = (of("query"), of("key"), of("value"));
    let size = HIDDEN / HEADS;
    let mut attended = vec![vec![0.0; HIDDEN]; rows.len()];
    for head in 0..HEADS {
        let part = head * size..(head + 1) * size;
        for here in 0..rows.len() {
            let score = |there: usize| {
                part.clone()
                    .map(|n| query[here][n] * key[there][n])
                    .sum::<f64>()
                    / real(size).sqrt()
            };
            let weights: Vec<f64> = (0..rows.len()).map(|there| score(there).exp()).collect();
            let sum: f64 = weights.iter().sum();
            for n in part.clone() {
                attended[here][n] = (0..rows.len())
                    .map(|there| weights[there] / sum * value[there][n])
                    .sum();
            }
        }
    }
    attended
}

fn normalise(model: &TinyBert, name: &str, rows: &mut [Vec<f64>]) {
    let scale = model.tensor(&format!("{name}.LayerNorm.weight"));
    let shift = model.tensor(&format!("{name}.LayerNorm.bias"));
    for row in rows {
        let mean = row.iter().sum::<f64>() / real(HIDDEN);
        let variance = row
            .iter()
            .map(|number| (number - mean).powi(2))
            .sum::<f64>()
            / real(HIDDEN);
        for (n, number) in row.iter_mut().enumerate() {
            let scaled = (*number - mean) / (variance + 1e-12).sqrt() * f64::from(scale.numbers[n]);
            *number = scaled + f64::from(shift.numbers[n]);
        }
    }
}

fn add(rows: &mut [Vec<f64>], others: &[Vec<f64>]) {
    for (row, other) in rows.iter_mut().zip(others) {
        for (number, addend) in row.iter_mut().zip(other) {
            *number += addend;
        }
    }
}

fn real(size: usize) -> f64 {
    f64::from(u32::try_from(size).expect("the model is tiny"))
}

/// The error function, by Simpson's rule.
fn erf(x: f64) -> f64 {
    const STEPS: u16 = 400;
    let end = x.abs().min(6.0);
    let width = end / f64::from(STEPS);
    let at = |step: u16| (-(width * f64::from(step)).powi(2)).exp();
    let inner: f64 = (1..STEPS)
        .map(|step| at(step) * if step % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    (2.0 / std::f64::consts::PI.sqrt() * width / 3.0 * (at(0) + inner + at(STEPS))).copysign(x)
}
