//! Models without a network: the vector of a text is the mean of its tokens' vectors.

use super::bert::{ModelWeights, RowTensor};
use super::tokenizer::{LoadedTokenizer, SubwordTokenizer};
use super::{ModelError, ModelFolder};

/// Maximum number of tokens of a text in a model of the library model2vec.
const MOST_TOKENS: usize = 512;

/// The vectors of all tokens.
#[derive(Debug)]
pub(super) struct StaticTable {
    rows: RowTensor,
    /// The row of each token, if tokens share rows.
    places: Option<Vec<usize>>,
    /// The weight of each token, if weights differ.
    factors: Option<Vec<f32>>,
    /// Whether the table is in the format of the library model2vec.
    ///
    /// Such models use at most [`MOST_TOKENS`] tokens and skip unknown ones; sentence transformers use all tokens.
    is_model2vec: bool,
}

impl StaticTable {
    /// Reads a table in the format of model2vec or of sentence transformers.
    ///
    /// The tensors of model2vec are `embeddings` and the optional `weights` and `mapping`; that of sentence
    /// transformers is `embedding.weight`.
    pub(super) fn open(
        folder: &ModelFolder,
        weights: &ModelWeights<'_>,
        opened: &LoadedTokenizer,
    ) -> Result<Self, ModelError> {
        let is_model2vec = weights.shape("embedding.weight").is_none();
        let rows = weights.static_rows(if is_model2vec {
            "embeddings"
        } else {
            "embedding.weight"
        })?;
        let (places, factors) = (
            weights.row_indices("mapping")?,
            weights.static_row("weights")?,
        );
        if places
            .as_ref()
            .is_some_and(|places| places.iter().any(|place| rows.len() <= *place))
        {
            return Err(weights.damaged("mapping refers to rows that embeddings does not have"));
        }
        let known = places
            .as_ref()
            .map_or(rows.len(), Vec::len)
            .min(factors.as_ref().map_or(usize::MAX, Vec::len));
        opened.check_rows(folder, known)?;
        Ok(Self {
            rows,
            places,
            factors,
            is_model2vec,
        })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.rows.columns()
    }

    /// Returns the tokens of a text that contribute to its vector, and all tokens that were read.
    pub(super) fn tokenize(
        &self,
        tokenizer: &SubwordTokenizer,
        text: &str,
        longest: usize,
    ) -> (Vec<u32>, Vec<u32>) {
        if !self.is_model2vec {
            let all = tokenizer.tokenize(text, longest);
            return (all.clone(), all);
        }
        let most_characters = MOST_TOKENS * tokenizer.median_piece();
        let end = text
            .char_indices()
            .nth(most_characters)
            .map_or(text.len(), |(place, _)| place);
        let all = tokenizer.tokenize(&text[..end], usize::MAX);
        let unknown = tokenizer.unknown_token();
        (
            all.iter()
                .copied()
                .filter(|id| Some(*id) != unknown)
                .take(MOST_TOKENS)
                .collect(),
            all,
        )
    }

    /// Returns the sum of the tokens' vectors, which has the same direction as their mean.
    pub(super) fn sum(&self, ids: &[u32]) -> Vec<f64> {
        let mut sum = vec![0.0; self.dimensions()];
        let mut row = vec![0.0; self.dimensions()];
        for id in ids.iter().map(|id| *id as usize) {
            row.fill(0.0);
            self.rows.add_row(
                self.places.as_ref().map_or(id, |places| places[id]),
                &mut row,
            );
            let factor = self
                .factors
                .as_ref()
                .map_or(1.0, |factors| f64::from(factors[id]));
            sum.iter_mut()
                .zip(&row)
                .for_each(|(sum, number)| *sum += factor * f64::from(*number));
        }
        sum
    }
}
