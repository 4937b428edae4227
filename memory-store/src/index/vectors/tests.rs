//! Tests of the vectors, on a real disk.

mod concurrency;
mod damage;
mod model;
mod recall;

use std::path::{Path, PathBuf};

use memory_core::ContentHash;

use super::{DocumentVector, ModelVectors};

/// A vector of the model in most tests.
type SmallVector = [f32; 3];

/// Opens vectors with three dimensions.
fn open(place: &Path) -> ModelVectors {
    ModelVectors::open(place, "model", 3).unwrap()
}

/// Returns the text of a document in tests.
fn text(key: i64) -> ContentHash {
    ContentHash::of(&key.to_string())
}

fn put(vectors: &mut ModelVectors, rows: &[(i64, SmallVector)]) {
    let passages: Vec<_> = rows
        .iter()
        .map(|(key, vector)| (*key, vec![*vector]))
        .collect();
    put_passages(vectors, &passages);
}

fn put_passages(vectors: &mut ModelVectors, documents: &[(i64, Vec<SmallVector>)]) {
    let documents: Vec<(i64, Vec<Vec<f32>>)> = documents
        .iter()
        .map(|(key, passages)| {
            (
                *key,
                passages.iter().map(|vector| vector.to_vec()).collect(),
            )
        })
        .collect();
    let embedded: Vec<_> = documents
        .iter()
        .map(|(key, vectors)| DocumentVector {
            key: *key,
            text: text(*key),
            vectors,
        })
        .collect();
    vectors.put(&embedded).unwrap();
}

/// Returns the sorted keys of the documents with vectors.
fn keys(vectors: &ModelVectors) -> Vec<i64> {
    let mut keys: Vec<_> = vectors.keys().collect();
    keys.sort_unstable();
    keys
}

fn cosines(vectors: &ModelVectors, query: SmallVector, keys: &[i64]) -> Vec<Option<f32>> {
    let documents: Vec<_> = keys.iter().map(|key| (*key, text(*key))).collect();
    let found = vectors.cosines_of(&query, &documents).unwrap();
    found
        .iter()
        .map(|best| best.map(|(cosine, _)| cosine))
        .collect()
}

/// Returns the only file of the folder with this name prefix.
fn file(vectors: &ModelVectors, beginning: &str) -> PathBuf {
    let entries = std::fs::read_dir(&vectors.folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut named = entries.filter(|path| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(beginning)
    });
    let found = named.next().unwrap();
    assert_eq!(named.next(), None);
    found
}

/// A deterministic generator of pseudo-random numbers.
struct VectorGenerator(u64);

impl VectorGenerator {
    fn next(&mut self) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number with an approximately normal distribution around 0.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let halves = [bits, bits >> 16, bits >> 32, bits >> 48]
            .map(|bits| f32::from(bits.to_le_bytes()[0]) / 255.0 - 0.5);
        halves.iter().sum()
    }

    fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| self.normal()).collect()
    }
}
