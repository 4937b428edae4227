//! The weights, and how they are kept.

use std::sync::LazyLock;

use memory_core::Category;

use super::LABELS;
use super::feature::Features;

/// A linear model: for each feature it knows, a weight for every category.
///
/// It is kept as bytes: `CLASSIF1`, then little-endian the checksum of what it was fitted on, the number of features, the
/// temperature and what one step of a weight is worth as `f32`, what each category begins with as `f32`, the keys in
/// their order as `u32`, and for each its weights as `i8`.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The FNV-1a sum of the notes that it was fitted on.
    pub fitted_on: u64,
    /// By what the scores are divided before they become probabilities.
    pub temperature: f32,
    /// What one step of a weight is worth.
    pub step: f32,
    /// What each category begins with, in the order of [`LABELS`].
    pub bias: [f32; LABELS.len()],
    /// The keys of the features, ascending.
    keys: Vec<u32>,
    /// Their weights, in steps.
    weights: Vec<[i8; LABELS.len()]>,
    /// Where in `keys` those begin whose highest bits are the place.
    places: Vec<u32>,
}

/// What a file of weights begins with.
const MAGIC: [u8; 8] = *b"CLASSIF1";

/// How many of a key's highest bits tell where it is looked for.
const BITS: u32 = 14;

impl Model {
    /// Returns a model of these weights, whose keys are ascending.
    pub fn new(
        fitted_on: u64,
        temperature: f32,
        step: f32,
        bias: [f32; LABELS.len()],
        rows: &[(u32, [i8; LABELS.len()])],
    ) -> Self {
        let (keys, weights): (Vec<u32>, Vec<_>) = rows.iter().copied().unzip();
        let mut places = vec![0; (1 << BITS) + 1];
        for key in &keys {
            places[(key >> (u32::BITS - BITS)) as usize + 1] += 1;
        }
        for place in 1..places.len() {
            places[place] += places[place - 1];
        }
        Self { fitted_on, temperature, step, bias, keys, weights, places }
    }

    /// Reads a model, if `bytes` are one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&MAGIC)?;
        let fitted_on = u64::from_le_bytes(take(&mut rest)?);
        let count = usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok()?;
        let temperature = f32::from_le_bytes(take(&mut rest)?);
        let step = f32::from_le_bytes(take(&mut rest)?);
        let mut bias = [0.0; LABELS.len()];
        for bias in &mut bias {
            *bias = f32::from_le_bytes(take(&mut rest)?);
        }
        let (keys, weights) = rest.split_at_checked(count.checked_mul(4)?)?;
        if Some(weights.len()) != count.checked_mul(LABELS.len()) {
            return None;
        }
        let keys = keys.as_chunks().0.iter().map(|key| u32::from_le_bytes(*key));
        let weights = weights.chunks_exact(LABELS.len()).map(|row| std::array::from_fn(|place| row[place].cast_signed()));
        let rows: Vec<_> = keys.zip(weights).collect();
        rows.is_sorted_by(|one, other| one.0 < other.0).then(|| Self::new(fitted_on, temperature, step, bias, &rows))
    }

    /// Returns the bytes that [`Self::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.fitted_on.to_le_bytes());
        bytes.extend((self.keys.len() as u64).to_le_bytes());
        let numbers = [self.temperature, self.step].into_iter().chain(self.bias);
        bytes.extend(numbers.flat_map(f32::to_le_bytes));
        bytes.extend(self.keys.iter().flat_map(|key| key.to_le_bytes()));
        bytes.extend(self.weights.as_flattened().iter().map(|weight| weight.cast_unsigned()));
        bytes
    }

    /// Returns the weights of a feature, in steps, if it knows it.
    pub(super) fn weights(&self, key: u32) -> Option<&[i8; LABELS.len()]> {
        let place = (key >> (u32::BITS - BITS)) as usize;
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

/// Returns where in the order of [`LABELS`] a category stands.
pub(super) fn place(category: Category) -> Option<usize> {
    LABELS.iter().position(|label| *label == category)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

/// Returns the model that comes with the crate.
pub fn shipped() -> &'static Model {
    &SHIPPED
}

static SHIPPED: LazyLock<Model> =
    LazyLock::new(|| Model::from_bytes(include_bytes!("weights.bin")).expect("a test reads the weights"));
