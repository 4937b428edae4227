//! An encoder layer of the network and its parts.

use super::config::BertConfig;
use super::grid::Grid;
use super::math::{self, Activation};
use super::weights::{ModelWeights, TensorNumbers};
use crate::model::local::ModelError;
use crate::model::local::unsafe_ops::Matrix;

/// A linear layer, `weight · x + bias`.
#[derive(Debug)]
pub(in crate::model::local) struct Linear {
    weight: TensorNumbers,
    bias: TensorNumbers,
    inputs: usize,
    outputs: usize,
}

impl Linear {
    fn open(
        weights: &ModelWeights<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        let weight = weights.numbers(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = weights.numbers(&format!("{name}.bias"), &[outputs])?;
        Ok(Self {
            weight,
            bias,
            inputs,
            outputs,
        })
    }

    /// Loads a layer outside the encoder, such as the classifier of a reranking model.
    ///
    /// Its tensor names do not have the prefix of the encoder.
    pub(in crate::model::local) fn open_outer(
        weights: &ModelWeights<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        let weight = weights.outer_numbers(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = weights.outer_numbers(&format!("{name}.bias"), &[outputs])?;
        Ok(Self {
            weight,
            bias,
            inputs,
            outputs,
        })
    }

    /// Loads the pooling layer, which a reranking model applies to the first token.
    pub(in crate::model::local) fn open_pooler(
        weights: &ModelWeights<'_>,
        hidden: usize,
    ) -> Result<Self, ModelError> {
        Self::open(weights, "pooler.dense", hidden, hidden)
    }

    /// Writes the result for each column of `input` to `output` and resizes `output`.
    pub(in crate::model::local) fn apply(&self, input: &Grid, output: &mut Grid) {
        output.fill_columns(self.bias.get(), input);
        self.add(input, output);
    }

    /// Adds the result for each column of `input` to `output`.
    pub(super) fn apply_onto(&self, input: &Grid, output: &mut Grid) {
        output.add_to_rows(self.bias.get());
        self.add(input, output);
    }

    fn add(&self, input: &Grid, output: &mut Grid) {
        output
            .matrix_mut(0..self.outputs, 0..input.columns())
            .add_product(
                Matrix::new(self.weight.get(), self.outputs, self.inputs, self.inputs),
                input.matrix(0..self.inputs, 0..input.columns()),
            );
    }
}

/// Layer normalization: mean 0 and variance 1 for each column, then a learned scale and shift.
#[derive(Debug)]
pub(super) struct LayerNorm {
    scale: TensorNumbers,
    shift: TensorNumbers,
    epsilon: f32,
}

impl LayerNorm {
    pub(super) fn open(
        weights: &ModelWeights<'_>,
        name: &str,
        config: &BertConfig,
    ) -> Result<Self, ModelError> {
        let scale = weights.numbers(&format!("{name}.LayerNorm.weight"), &[config.hidden])?;
        let shift = weights.numbers(&format!("{name}.LayerNorm.bias"), &[config.hidden])?;
        Ok(Self {
            scale,
            shift,
            epsilon: config.epsilon,
        })
    }

    pub(super) fn apply(&self, grid: &mut Grid) {
        let width = grid.width();
        math::normalise_columns(
            grid.numbers_mut(),
            width,
            self.scale.get(),
            self.shift.get(),
            self.epsilon,
        );
    }
}

/// An encoder layer of the network.
#[derive(Debug)]
pub(super) struct EncoderLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention: Linear,
    attention_norm: LayerNorm,
    intermediate: Linear,
    activation: Activation,
    output: Linear,
    output_norm: LayerNorm,
    heads: usize,
    hidden: usize,
}

/// Buffers of a layer.
#[derive(Debug, Default)]
pub(super) struct LayerBuffers {
    query: Grid,
    key: Grid,
    value: Grid,
    scores: Grid,
    context: Grid,
    intermediate: Grid,
}

impl EncoderLayer {
    pub(super) fn open(
        weights: &ModelWeights<'_>,
        number: usize,
        config: &BertConfig,
    ) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let linear = |name: &str, inputs: usize, outputs: usize| {
            Linear::open(
                weights,
                &format!("encoder.layer.{number}.{name}"),
                inputs,
                outputs,
            )
        };
        let norm = |name: &str| {
            LayerNorm::open(weights, &format!("encoder.layer.{number}.{name}"), config)
        };
        Ok(Self {
            query: linear("attention.self.query", hidden, hidden)?,
            key: linear("attention.self.key", hidden, hidden)?,
            value: linear("attention.self.value", hidden, hidden)?,
            attention: linear("attention.output.dense", hidden, hidden)?,
            attention_norm: norm("attention.output")?,
            intermediate: linear("intermediate.dense", hidden, config.intermediate)?,
            activation: config.activation,
            output: linear("output.dense", config.intermediate, hidden)?,
            output_norm: norm("output")?,
            heads: config.heads,
            hidden,
        })
    }

    /// Applies the layer to the columns of all inputs; `lengths` is the number of columns of each input.
    pub(super) fn apply(&self, grid: &mut Grid, lengths: &[usize], scratch: &mut LayerBuffers) {
        self.query.apply(grid, &mut scratch.query);
        self.key.apply(grid, &mut scratch.key);
        self.value.apply(grid, &mut scratch.value);
        self.attend(lengths, scratch);
        self.attention.apply_onto(&scratch.context, grid);
        self.attention_norm.apply(grid);
        self.intermediate.apply(grid, &mut scratch.intermediate);
        self.activation.apply(scratch.intermediate.numbers_mut());
        self.output.apply_onto(&scratch.intermediate, grid);
        self.output_norm.apply(grid);
    }

    /// Computes attention: each token attends to every token of the same input, once for each head.
    fn attend(&self, lengths: &[usize], scratch: &mut LayerBuffers) {
        let LayerBuffers {
            query,
            key,
            value,
            scores,
            context,
            ..
        } = scratch;
        let size = self.hidden / self.heads;
        let factor = 1.0 / math::to_f32(size).sqrt();
        context.resize(self.hidden, value.columns());
        let mut start = 0;
        for &length in lengths {
            let columns = start..start + length;
            scores.resize(length, length);
            for head in 0..self.heads {
                let rows = head * size..(head + 1) * size;
                // A column of `scores` has the scores of one query token for all key tokens.
                scores
                    .matrix_mut(0..length, 0..length)
                    .set_product_of_columns(
                        key.matrix(rows.clone(), columns.clone()),
                        query.matrix(rows.clone(), columns.clone()),
                        factor,
                    );
                let width = scores.width();
                math::softmax_columns(scores.numbers_mut(), width);
                context
                    .matrix_mut(rows.clone(), columns.clone())
                    .set_product(
                        value.matrix(rows, columns.clone()),
                        scores.matrix(0..length, 0..length),
                    );
            }
            start += length;
        }
    }
}
