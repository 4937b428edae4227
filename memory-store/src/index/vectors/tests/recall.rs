//! Tests that the search finds the nearest vectors.

use std::collections::BTreeSet;

use super::super::nearest::nearest;
use super::super::quantized_vector::QuantizedVector;
use super::super::{DocumentVector, ModelVectors};
use super::{VectorGenerator, text};

const DIMENSIONS: usize = 384;

fn filled(rows: &[Vec<f32>]) -> (tempfile::TempDir, ModelVectors) {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = ModelVectors::open(place.path(), "model", DIMENSIONS).unwrap();
    let embedded: Vec<_> = (0..)
        .zip(rows)
        .map(|(key, vector)| DocumentVector {
            key,
            text: text(key),
            vectors: std::slice::from_ref(vector),
        })
        .collect();
    vectors.put(&embedded).unwrap();
    (place, vectors)
}

/// Maximum difference of two cosines that codes of 8 bits cannot distinguish.
const ROUNDING: f64 = 0.004;

/// Returns the cosine of each row, computed in 64 bits.
fn exact_cosines(rows: &[Vec<f32>], query: &[f32]) -> Vec<f64> {
    let product = |one: &[f32], other: &[f32]| -> f64 {
        one.iter()
            .zip(other)
            .map(|(one, other)| f64::from(*one) * f64::from(*other))
            .sum()
    };
    rows.iter()
        .map(|row| product(row, query) / (product(row, row) * product(query, query)).sqrt())
        .collect()
}

fn assert_all_are_found(rows: &[Vec<f32>], queries: &[Vec<f32>]) {
    let (_place, vectors) = filled(rows);
    for query in queries {
        let found = vectors.nearest(query, 10, &|_| true).unwrap().best;
        let keys: BTreeSet<usize> = found
            .iter()
            .map(|(key, _)| usize::try_from(*key).unwrap())
            .collect();
        let cosines = exact_cosines(rows, query);
        let mut sorted = cosines.clone();
        sorted.sort_by(|one, other| other.total_cmp(one));
        assert_eq!(keys.len(), 10);
        let least = keys
            .iter()
            .map(|key| cosines[*key])
            .fold(f64::MAX, f64::min);
        assert!(
            sorted[9] - ROUNDING <= least,
            "the tenth nearest has {}, the last one found has {least}",
            sorted[9]
        );
    }
}

/// Returns `count` vectors around `middles` centres.
///
/// Each number differs from the one of its centre by at most `2 * width`.
fn clusters(
    numbers: &mut VectorGenerator,
    middles: usize,
    count: usize,
    width: f32,
) -> Vec<Vec<f32>> {
    let middles: Vec<_> = (0..middles).map(|_| numbers.vector(DIMENSIONS)).collect();
    let near = |middle: &Vec<f32>, numbers: &mut VectorGenerator| {
        middle
            .iter()
            .map(|number| number + width * numbers.normal())
            .collect()
    };
    (0..count)
        .map(|number| near(&middles[number % middles.len()], numbers))
        .collect()
}

#[test]
fn among_random_vectors_the_ten_nearest_are_found() {
    let mut numbers = VectorGenerator(1);
    let rows: Vec<_> = (0..4000).map(|_| numbers.vector(DIMENSIONS)).collect();
    let queries: Vec<_> = (0..20).map(|_| numbers.vector(DIMENSIONS)).collect();
    assert_all_are_found(&rows, &queries);
}

#[test]
fn among_clustered_vectors_the_ten_nearest_are_found() {
    for width in [0.5, 0.1, 0.02] {
        let mut numbers = VectorGenerator(2);
        let mut rows = clusters(&mut numbers, 3, 3020, width);
        let queries = rows.split_off(3000);
        assert_all_are_found(&rows, &queries);
    }
}

#[test]
fn vectors_with_one_large_number_are_found_too() {
    let mut numbers = VectorGenerator(3);
    let mut spiked = |number: usize| {
        let mut vector = numbers.vector(DIMENSIONS);
        vector[number % 2] = 30.0;
        vector
    };
    let mut rows: Vec<_> = (0..2010).map(&mut spiked).collect();
    let queries = rows.split_off(2000);
    assert_all_are_found(&rows, &queries);
}

#[test]
fn threads_find_what_one_finds() {
    let mut numbers = VectorGenerator(4);
    let rows = clusters(&mut numbers, 40, 5000, 0.3);
    let (_place, mut vectors) = filled(&rows);
    vectors
        .remove(&(0..5000).step_by(7).collect::<Vec<_>>())
        .unwrap();
    let view = vectors.view.as_ref().unwrap();
    let query = QuantizedVector::of("it", &rows[0], DIMENSIONS).unwrap();
    for count in [1, 10, 100] {
        let ask = |threads| nearest(view, &query, count, threads, &|key| key % 2 == 0);
        let alone = ask(1);
        for threads in 2..8 {
            let together = ask(threads);
            assert_eq!(together.best, alone.best);
            assert!(
                (together.mean - alone.mean).abs() < 1e-6
                    && (together.deviation - alone.deviation).abs() < 1e-6
            );
        }
    }
}
