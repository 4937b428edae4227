//! Models without a network: each token has a vector, and a text has the mean of its tokens' vectors.

use super::bert::{Table, Weights};
use super::tokenizer::{Opened, Tokenizer};
use super::{Folder, ModelError};

/// Tokens of a text that count, in a model of the library model2vec.
const MOST_TOKENS: usize = 512;

/// The vectors of tokens.
#[derive(Debug)]
pub(super) struct StaticTable {
    rows: Table,
    /// The row of each token, where several tokens share one.
    places: Option<Vec<usize>>,
    /// How much each token counts, where they do not count alike.
    factors: Option<Vec<f32>>,
    /// The library model2vec reads [`MOST_TOKENS`] and no unknown ones; sentence transformers read all.
    is_model2vec: bool,
}

impl StaticTable {
    /// Reads a table as model2vec writes it (`embeddings`, and perhaps `weights` and `mapping`), or as sentence transformers
    /// do (`embedding.weight`).
    pub(super) fn open(folder: &Folder, weights: &Weights<'_>, opened: &Opened) -> Result<Self, ModelError> {
        let is_model2vec = weights.shape("embedding.weight").is_none();
        let rows = weights.static_rows(if is_model2vec { "embeddings" } else { "embedding.weight" })?;
        let (places, factors) = (weights.places("mapping")?, weights.static_row("weights")?);
        if places.as_ref().is_some_and(|places| places.iter().any(|place| rows.len() <= *place)) {
            return Err(weights.damaged("mapping names rows that embeddings has not"));
        }
        let known = places.as_ref().map_or(rows.len(), Vec::len).min(factors.as_ref().map_or(usize::MAX, Vec::len));
        opened.check_rows(folder, known)?;
        Ok(Self { rows, places, factors, is_model2vec })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.rows.columns()
    }

    /// Returns the tokens of a text that have a part in its vector, and those it has at all.
    pub(super) fn tokens(&self, tokenizer: &Tokenizer, text: &str, longest: usize) -> (Vec<u32>, Vec<u32>) {
        if !self.is_model2vec {
            let all = tokenizer.plain(text, longest);
            return (all.clone(), all);
        }
        let most_characters = MOST_TOKENS * tokenizer.median_piece();
        let end = text.char_indices().nth(most_characters).map_or(text.len(), |(place, _)| place);
        let all = tokenizer.plain(&text[..end], usize::MAX);
        let unknown = tokenizer.unknown();
        (all.iter().copied().filter(|id| Some(*id) != unknown).take(MOST_TOKENS).collect(), all)
    }

    /// Returns the sum of the tokens' vectors, which points where their mean does.
    pub(super) fn sum(&self, ids: &[u32]) -> Vec<f64> {
        let mut sum = vec![0.0; self.dimensions()];
        let mut row = vec![0.0; self.dimensions()];
        for id in ids.iter().map(|id| *id as usize) {
            row.fill(0.0);
            self.rows.add_row(self.places.as_ref().map_or(id, |places| places[id]), &mut row);
            let factor = self.factors.as_ref().map_or(1.0, |factors| f64::from(factors[id]));
            sum.iter_mut().zip(&row).for_each(|(sum, number)| *sum += factor * f64::from(*number));
        }
        sum
    }
}
