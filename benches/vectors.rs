//! Benchmarks of vector storage and nearest-neighbour search.
//!
//! They run with 10,000 to 1,000,000 vectors of 384 dimensions.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memory_core::ContentHash;
use memory_store::{DocumentVector, ModelVectors};

const DIMENSIONS: usize = 384;

/// Number of vectors that are stored in one write.
const BATCH: usize = 10_000;

/// A deterministic random number generator.
struct VectorRandom(u64);

impl VectorRandom {
    fn vector(&mut self) -> Vec<f32> {
        let mut number = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0.to_le_bytes()[..4]
                .iter()
                .map(|byte| f32::from(*byte) - 127.5)
                .sum()
        };
        (0..DIMENSIONS).map(|_| number()).collect()
    }
}

fn open(place: &Path) -> ModelVectors {
    ModelVectors::open(place, "bench", DIMENSIONS).expect("the folder is ours")
}

/// Adds random vectors until there are `count`.
fn fill_vectors(vectors: &mut ModelVectors, numbers: &mut VectorRandom, count: usize) {
    let text = ContentHash::of("text");
    while vectors.count() < count {
        let first = vectors.count();
        let batch: Vec<_> = (0..BATCH.min(count - first))
            .map(|_| numbers.vector())
            .collect();
        let key = |number: usize| i64::try_from(first + number).expect("there are few");
        let embedded: Vec<_> = batch
            .iter()
            .enumerate()
            .map(|(number, vector)| DocumentVector {
                key: key(number),
                text,
                vectors: std::slice::from_ref(vector),
            })
            .collect();
        vectors.put(&embedded).expect("the disk takes them");
    }
}

fn bench_vectors(criterion: &mut Criterion) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut numbers = VectorRandom(0x9e37_79b9_7f4a_7c15);
    let mut vectors = open(place.path());
    let query = numbers.vector();
    let mut group = criterion.benchmark_group("vectors");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    for count in [10_000, 100_000, 1_000_000] {
        fill_vectors(&mut vectors, &mut numbers, count);
        group.bench_function(BenchmarkId::new("open", count), |bencher| {
            bencher.iter(|| open(place.path()));
        });
        group.bench_function(BenchmarkId::new("nearest", count), |bencher| {
            bencher.iter(|| black_box(vectors.nearest(&query, 10, &|_| true)));
        });
        // This is the cost for a new process: no page of the files is mapped yet.
        group.bench_function(BenchmarkId::new("open and nearest", count), |bencher| {
            bencher.iter(|| black_box(open(place.path()).nearest(&query, 10, &|_| true)));
        });
        let some: Vec<_> = (0..200)
            .map(|number| (number * 40, ContentHash::of("text")))
            .collect();
        group.bench_function(BenchmarkId::new("200 cosines", count), |bencher| {
            bencher.iter(|| black_box(vectors.cosines_of(&query, &some)));
        });
        let text = ContentHash::of("text");
        group.bench_function(BenchmarkId::new("missing", count), |bencher| {
            bencher.iter(|| vectors.missing((0..1000).map(|key| (key, text))).count());
        });
        let passages = std::slice::from_ref(&query);
        group.bench_function(BenchmarkId::new("put 32", count), |bencher| {
            bencher.iter(|| {
                let embedded: Vec<_> = (0..32)
                    .map(|key| DocumentVector {
                        key,
                        text,
                        vectors: passages,
                    })
                    .collect();
                vectors.put(&embedded).expect("the disk takes them");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench_vectors);
criterion_main!(benches);
