//! The encoder: token embeddings followed by the layers of the network.

use super::config::BertConfig;
use super::grid::Grid;
use super::layer::{EncoderLayer, LayerBuffers, LayerNorm};
use super::weights::{ModelWeights, RowTensor};
use crate::model::local::ModelError;
use crate::model::local::tokenizer::TokenIds;

/// Number of tokens after which a batch is large enough.
///
/// Measured on one core: a text of 80 tokens takes 14 % longer alone than in a batch. Batches of twice this size are no
/// faster and need more memory.
const BATCH_TOKENS: usize = 256;

/// A network up to its last encoder layer.
#[derive(Debug)]
pub(in crate::model::local) struct Encoder {
    words: RowTensor,
    positions: RowTensor,
    first_position: usize,
    kinds: RowTensor,
    norm: LayerNorm,
    layers: Vec<EncoderLayer>,
    hidden: usize,
}

/// Buffers of an encoder. One workspace can be reused for any number of batches, one after the other.
#[derive(Debug, Default)]
pub(in crate::model::local) struct EncoderBuffers {
    grid: Grid,
    row: Vec<f32>,
    scratch: LayerBuffers,
}

impl Encoder {
    pub(in crate::model::local) fn open(
        weights: &ModelWeights<'_>,
        config: &BertConfig,
    ) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let mut layers = Vec::new();
        let table = |name: &str, least: usize| {
            let table = weights.rows(&format!("embeddings.{name}.weight"), hidden)?;
            if table.len() < least {
                let why = format!(
                    "embeddings.{name}.weight has {} rows; config.json requires {least}",
                    table.len()
                );
                return Err(weights.damaged(&why));
            }
            Ok(table)
        };
        let (words, positions) = (
            table("word_embeddings", 1)?,
            table(
                "position_embeddings",
                config.first_position + config.positions,
            )?,
        );
        let kinds = table("token_type_embeddings", config.kinds)?;
        let norm = LayerNorm::open(weights, "embeddings", config)?;
        for number in 0..config.layers {
            layers.push(EncoderLayer::open(weights, number, config)?);
        }
        Ok(Self {
            words,
            positions,
            first_position: config.first_position,
            kinds,
            norm,
            layers,
            hidden,
        })
    }

    /// Returns the number of tokens in the vocabulary.
    pub(in crate::model::local) fn vocabulary_size(&self) -> usize {
        self.words.len()
    }

    /// Returns whether the network has separate segment embeddings for a second text.
    pub(in crate::model::local) fn has_segments(&self) -> bool {
        2 <= self.kinds.len()
    }

    /// Returns the output of the last layer: one column for each token of all inputs, in input order.
    ///
    /// Inputs do not attend to each other, so a batch only saves time. No padding is added.
    pub(in crate::model::local) fn encode<'a>(
        &self,
        inputs: &[TokenIds],
        workspace: &'a mut EncoderBuffers,
    ) -> &'a Grid {
        let EncoderBuffers { grid, row, scratch } = workspace;
        let lengths: Vec<usize> = inputs.iter().map(|input| input.ids.len()).collect();
        grid.reset(self.hidden, lengths.iter().sum());
        let places = inputs.iter().flat_map(|input| {
            input
                .ids
                .iter()
                .enumerate()
                .map(|(place, id)| (place, *id, input.first))
        });
        for (column, (place, id, first)) in places.enumerate() {
            row.clear();
            row.resize(self.hidden, 0.0);
            self.words.add_row(id as usize, row);
            self.positions.add_row(self.first_position + place, row);
            self.kinds.add_row(usize::from(first <= place), row);
            grid.set_column(column, row);
        }
        self.norm.apply(grid);
        for layer in &self.layers {
            layer.apply(grid, &lengths, scratch);
        }
        grid
    }
}

/// Splits the inputs into consecutive batches of the size that the network processes efficiently.
pub(in crate::model::local) fn split_batches(inputs: &[TokenIds]) -> Vec<&[TokenIds]> {
    let mut sum = 0;
    let has_room = |input: &TokenIds, _: &TokenIds| {
        sum = if sum < BATCH_TOKENS { sum } else { 0 } + input.ids.len();
        sum < BATCH_TOKENS
    };
    inputs.chunk_by(has_room).collect()
}
