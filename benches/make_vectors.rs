//! Stores random vectors for the memories of a home: `make-vectors HOME MODEL-FOLDER`.
//!
//! Every memory without a vector of the model gets one. Random vectors have the same size and search time as real vectors, which take hours
//! to compute. The program prints the number of stored vectors.

use std::path::Path;
use std::sync::Arc;
use std::{env, error::Error};

use memory_agent::model::LocalEmbedder;
use memory_core::{ContentHash, Embedder, MemoryStore, TextVector, embedded_text, passages};
use memory_store::{FileStore, FileStoreOptions};

/// Number of vectors that are stored in one write.
const BATCH: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(home), Some(model)) = (arguments.next(), arguments.next()) else {
        return Err("usage: make-vectors HOME MODEL-FOLDER".into());
    };
    let embedder = LocalEmbedder::open(Path::new(&model), None)?;
    let store = Arc::new(FileStore::open(
        Path::new(&home),
        FileStoreOptions::default(),
    )?);
    store.refresh()?;
    let lacking = store.memories_without_vector(embedder.identity())?;
    let mut numbers = RandomVectors(0x9e37_79b9_7f4a_7c15);
    let mut kept = 0;
    for ids in lacking.chunks(BATCH) {
        let mut vectors = Vec::with_capacity(ids.len());
        for id in ids {
            let memory = store.get(id)?.memory;
            let passages = passages(&memory.content).into_iter();
            vectors.push(TextVector {
                id: *id,
                text: ContentHash::of(&embedded_text(&memory)),
                vectors: passages
                    .map(|_| numbers.vector(embedder.dimensions()))
                    .collect(),
            });
        }
        kept += store.store_vectors(embedder.identity(), &vectors)?;
    }
    println!("{kept}");
    Ok(())
}

/// A deterministic random number generator.
struct RandomVectors(u64);

impl RandomVectors {
    /// Returns a random vector of length 1.
    fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        let mut number = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0.to_le_bytes()[..4]
                .iter()
                .map(|byte| f32::from(*byte) - 127.5)
                .sum::<f32>()
        };
        let vector: Vec<f32> = (0..dimensions).map(|_| number()).collect();
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        vector.into_iter().map(|part| part / length).collect()
    }
}
