//! The linear model and its file format.

use std::sync::LazyLock;

use super::LABELS;
use super::feature::Features;

/// A linear model: for each feature, one weight per category.
///
/// The file format is `CLASSIF1`, followed by little-endian values: the checksum of the training notes and the number of features as `u64`,
/// the temperature, the value of a weight step and the bias of each category as `f32`, the keys in ascending order as `u32`, and the
/// weights of each key as `i8`.
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryModel {
    /// The FNV-1a checksum of the training notes.
    pub fitted_on: u64,
    /// The divisor of the scores in the softmax.
    pub temperature: f32,
    /// The value of one step of a weight.
    pub step: f32,
    /// The bias of each category, in the order of [`LABELS`].
    pub bias: [f32; LABELS.len()],
    /// The keys of the features, ascending.
    keys: Vec<u32>,
    /// The weights of the features, in steps.
    weights: Vec<[i8; LABELS.len()]>,
    /// For each value of the highest `PREFIX_BITS` bits of a key, the index in `keys` of the first key with it.
    places: Vec<u32>,
}

/// The magic number of the file format.
const MAGIC: [u8; 8] = *b"CLASSIF1";

/// Number of high bits of a key that select the range to search.
const PREFIX_BITS: u32 = 14;

impl CategoryModel {
    /// Creates a model from rows of keys and weights; the keys must be ascending.
    pub fn new(
        fitted_on: u64,
        temperature: f32,
        step: f32,
        bias: [f32; LABELS.len()],
        rows: &[(u32, [i8; LABELS.len()])],
    ) -> Self {
        let (keys, weights): (Vec<u32>, Vec<_>) = rows.iter().copied().unzip();
        let mut places = vec![0; (1 << PREFIX_BITS) + 1];
        for key in &keys {
            places[(key >> (u32::BITS - PREFIX_BITS)) as usize + 1] += 1;
        }
        for place in 1..places.len() {
            places[place] += places[place - 1];
        }
        Self {
            fitted_on,
            temperature,
            step,
            bias,
            keys,
            weights,
            places,
        }
    }

    /// Decodes a model; `None` if `bytes` are not a valid model.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&MAGIC)?;
        let fitted_on = u64::from_le_bytes(take_bytes(&mut rest)?);
        let count = usize::try_from(u64::from_le_bytes(take_bytes(&mut rest)?)).ok()?;
        let temperature = f32::from_le_bytes(take_bytes(&mut rest)?);
        let step = f32::from_le_bytes(take_bytes(&mut rest)?);
        let mut bias = [0.0; LABELS.len()];
        for bias in &mut bias {
            *bias = f32::from_le_bytes(take_bytes(&mut rest)?);
        }
        let (keys, weights) = rest.split_at_checked(count.checked_mul(4)?)?;
        if Some(weights.len()) != count.checked_mul(LABELS.len()) {
            return None;
        }
        let keys = keys
            .as_chunks()
            .0
            .iter()
            .map(|key| u32::from_le_bytes(*key));
        let weights = weights
            .chunks_exact(LABELS.len())
            .map(|row| std::array::from_fn(|place| row[place].cast_signed()));
        let rows: Vec<_> = keys.zip(weights).collect();
        rows.is_sorted_by(|one, other| one.0 < other.0)
            .then(|| Self::new(fitted_on, temperature, step, bias, &rows))
    }

    /// Encodes the model in the format that [`Self::from_bytes`] decodes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.fitted_on.to_le_bytes());
        bytes.extend((self.keys.len() as u64).to_le_bytes());
        let numbers = [self.temperature, self.step].into_iter().chain(self.bias);
        bytes.extend(numbers.flat_map(f32::to_le_bytes));
        bytes.extend(self.keys.iter().flat_map(|key| key.to_le_bytes()));
        bytes.extend(
            self.weights
                .as_flattened()
                .iter()
                .map(|weight| weight.cast_unsigned()),
        );
        bytes
    }

    /// Returns the weights of a feature, in steps; `None` if the feature is not in the model.
    pub(super) fn weights(&self, key: u32) -> Option<&[i8; LABELS.len()]> {
        let place = (key >> (u32::BITS - PREFIX_BITS)) as usize;
        let (start, end) = (self.places[place] as usize, self.places[place + 1] as usize);
        let found = self.keys[start..end].iter().position(|own| *own == key)?;
        Some(&self.weights[start + found])
    }

    /// Returns the score of every category, in the order of [`LABELS`].
    pub fn scores(&self, features: &Features) -> [f32; LABELS.len()] {
        let mut scores = self.bias;
        for feature in features.iter() {
            if let Some(weights) = self.weights(feature.key) {
                let unit = feature.value * self.step;
                for (score, weight) in scores.iter_mut().zip(weights) {
                    *score += unit * f32::from(*weight);
                }
            }
        }
        scores
    }
}

fn take_bytes<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

/// Returns the model that is part of the crate.
pub fn shipped_model() -> &'static CategoryModel {
    &SHIPPED_MODEL
}

static SHIPPED_MODEL: LazyLock<CategoryModel> = LazyLock::new(|| {
    CategoryModel::from_bytes(include_bytes!("weights.bin")).expect("a test reads the weights")
});
