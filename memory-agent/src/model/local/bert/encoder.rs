//! From tokens to what the network makes of them.

use super::config::Config;
use super::grid::Grid;
use super::layer::{Layer, Norm, Scratch};
use super::weights::{Table, Weights};
use crate::model::local::ModelError;
use crate::model::local::tokenizer::Tokens;

/// How many tokens are worth a pass through the network. Measured on one core: a text of 80 tokens alone takes 14 % longer
/// than among others, and twice as many at once take no less, but more memory.
const TOKENS_AT_ONCE: usize = 256;

/// The network up to its last layer.
#[derive(Debug)]
pub(in crate::model::local) struct Encoder {
    words: Table,
    positions: Table,
    first_position: usize,
    kinds: Table,
    norm: Norm,
    layers: Vec<Layer>,
    hidden: usize,
}

/// What the network needs while it works. One serves for any number of inputs, one after the other.
#[derive(Debug, Default)]
pub(in crate::model::local) struct Workspace {
    grid: Grid,
    row: Vec<f32>,
    scratch: Scratch,
}

impl Encoder {
    pub(in crate::model::local) fn open(weights: &Weights<'_>, config: &Config) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let mut layers = Vec::new();
        let table = |name: &str, least: usize| {
            let table = weights.rows(&format!("embeddings.{name}.weight"), hidden)?;
            if table.len() < least {
                let why = format!("embeddings.{name}.weight has {} rows; config.json asks for {least}", table.len());
                return Err(weights.damaged(&why));
            }
            Ok(table)
        };
        let (words, positions) =
            (table("word_embeddings", 1)?, table("position_embeddings", config.first_position + config.positions)?);
        let kinds = table("token_type_embeddings", config.kinds)?;
        let norm = Norm::open(weights, "embeddings", config)?;
        for number in 0..config.layers {
            layers.push(Layer::open(weights, number, config)?);
        }
        Ok(Self { words, positions, first_position: config.first_position, kinds, norm, layers, hidden })
    }

    /// Returns how many tokens there are.
    pub(in crate::model::local) fn vocabulary(&self) -> usize {
        self.words.len()
    }

    /// Returns whether a second text can be told from the first.
    pub(in crate::model::local) fn tells_two_texts(&self) -> bool {
        2 <= self.kinds.len()
    }

    /// Returns one column for each token of all inputs, one input after the other.
    ///
    /// Inputs do not see each other; doing some at once only spares time. Nothing is filled up to one length.
    pub(in crate::model::local) fn encode<'a>(&self, inputs: &[Tokens], workspace: &'a mut Workspace) -> &'a Grid {
        let Workspace { grid, row, scratch } = workspace;
        let lengths: Vec<usize> = inputs.iter().map(|input| input.ids.len()).collect();
        grid.reset(self.hidden, lengths.iter().sum());
        let places = inputs.iter().flat_map(|input| input.ids.iter().enumerate().map(|(place, id)| (place, *id, input.first)));
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

/// Returns the inputs in groups, in order: each is as much as the network has use for at once.
pub(in crate::model::local) fn groups(inputs: &[Tokens]) -> Vec<&[Tokens]> {
    let mut sum = 0;
    let has_room = |input: &Tokens, _: &Tokens| {
        sum = if sum < TOKENS_AT_ONCE { sum } else { 0 } + input.ids.len();
        sum < TOKENS_AT_ONCE
    };
    inputs.chunk_by(has_room).collect()
}
