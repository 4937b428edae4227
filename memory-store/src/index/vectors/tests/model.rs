//! Compares any sequence of changes with a plain map.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::layout::BLOCK;
use super::super::{DocumentVector, ModelVectors};
use super::{SmallVector, keys, open, put, put_passages, text};
use memory_core::ContentHash;

/// A change of the vectors.
#[derive(Debug, Clone)]
enum VectorChange {
    Put(Vec<(i64, u8, Vec<SmallVector>)>),
    PutMany { first: i64, count: i64, turn: f32 },
    Remove(Vec<i64>),
    RemoveMany { below: i64 },
    Compact,
    Rekey { by: i64 },
    Reopen,
}

type ExpectedVectors = BTreeMap<i64, (ContentHash, Vec<SmallVector>)>;

fn small() -> impl Strategy<Value = SmallVector> {
    let numbers = [-3_i8..=3, -3..=3, -3..=3]
        .prop_filter("zero has no direction", |numbers| *numbers != [0; 3]);
    numbers.prop_map(|numbers| numbers.map(f32::from))
}

fn change() -> impl Strategy<Value = VectorChange> {
    let key = -3_i64..12;
    prop_oneof![
        6 => vec((key.clone(), 0..3_u8, vec(small(), 1..4)), 0..8).prop_map(VectorChange::Put),
        1 => (0_i64..50, 1_i64..1500, -3.0_f32..3.0).prop_map(|(first, count, turn)| VectorChange::PutMany { first, count, turn }),
        3 => vec(key, 0..6).prop_map(VectorChange::Remove),
        1 => (0_i64..1600).prop_map(|below| VectorChange::RemoveMany { below }),
        2 => Just(VectorChange::Compact),
        1 => (-5_i64..5).prop_map(|by| VectorChange::Rekey { by }),
        1 => Just(VectorChange::Reopen),
    ]
}

fn rotated(number: i64, turn: f32) -> SmallVector {
    let angle = turn + f32::from(i16::try_from(number).unwrap()) / 100.0;
    [angle.cos(), angle.sin(), 0.3]
}

/// Returns a text for vectors: the same text never has others.
fn text_of(key: i64, version: u8, vectors: &[SmallVector]) -> ContentHash {
    ContentHash::of(&format!("{key} {version} {vectors:?}"))
}

/// Applies a change to the vectors and to the model.
fn apply(
    vectors: &mut ModelVectors,
    model: &mut ExpectedVectors,
    place: &std::path::Path,
    change: &VectorChange,
) {
    let mut put_all = |rows: Vec<(i64, ContentHash, Vec<SmallVector>)>| {
        let passages: Vec<Vec<Vec<f32>>> = rows
            .iter()
            .map(|(.., vectors)| vectors.iter().map(|vector| vector.to_vec()).collect())
            .collect();
        let embedded: Vec<_> = rows
            .iter()
            .zip(&passages)
            .map(|((key, text, _), vectors)| DocumentVector {
                key: *key,
                text: *text,
                vectors,
            })
            .collect();
        vectors.put(&embedded).unwrap();
        model.extend(
            rows.into_iter()
                .map(|(key, text, vectors)| (key, (text, vectors))),
        );
    };
    match change {
        VectorChange::Put(rows) => {
            put_all(
                rows.iter()
                    .map(|(key, version, own)| (*key, text_of(*key, *version, own), own.clone()))
                    .collect(),
            );
        }
        VectorChange::PutMany { first, count, turn } => {
            let rows = (*first..first + count).map(|key| (key, vec![rotated(key, *turn)]));
            put_all(
                rows.map(|(key, row)| (key, text_of(key, 9, &row), row))
                    .collect(),
            );
        }
        VectorChange::Remove(keys) => {
            let had = keys
                .iter()
                .filter(|key| model.remove(key).is_some())
                .count();
            assert_eq!(vectors.remove(keys).unwrap(), had);
        }
        VectorChange::RemoveMany { below } => {
            let keys: Vec<_> = (0..*below).collect();
            vectors.remove(&keys).unwrap();
            model.retain(|key, _| !keys.contains(key));
        }
        VectorChange::Compact => {
            let before = vectors
                .view
                .as_ref()
                .map_or((0, 0), |view| (view.rows(), view.head.dead.count()));
            assert_eq!(vectors.compact().unwrap(), before.0 < 2 * before.1);
        }
        VectorChange::Rekey { by } => {
            let documents: Vec<_> = model
                .iter()
                .map(|(key, (text, _))| (key + by, *text))
                .collect();
            let unknown = [(1_000_000, ContentHash::of("never seen"))];
            let moved = vectors.rekey(documents.into_iter().chain(unknown)).unwrap();
            assert_eq!(moved, model.len());
            *model = std::mem::take(model)
                .into_iter()
                .map(|(key, row)| (key + by, row))
                .collect();
        }
        VectorChange::Reopen => *vectors = open(place),
    }
}

fn cosine(one: &SmallVector, other: &SmallVector) -> f32 {
    let product = |one: &SmallVector, other: &SmallVector| -> f64 {
        one.iter()
            .zip(other)
            .map(|(one, other)| f64::from(*one) * f64::from(*other))
            .sum()
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded as the store does it"
    )]
    let cosine =
        (product(one, other) / product(one, one).sqrt() / product(other, other).sqrt()) as f32;
    cosine
}

fn best_cosine(query: &SmallVector, own: &[SmallVector]) -> f32 {
    let cosines = own.iter().map(|vector| cosine(query, vector));
    cosines.fold(f32::MIN, f32::max)
}

/// Compares the vectors with the model.
fn compare(
    vectors: &ModelVectors,
    model: &ExpectedVectors,
    query: SmallVector,
    wanted: usize,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(vectors.count(), model.len());
    prop_assert_eq!(keys(vectors), model.keys().copied().collect::<Vec<_>>());
    prop_assert_eq!(vectors.damaged(), Vec::<i64>::new());
    if let Some(view) = &vectors.view {
        let is_live = |slot| slot < view.rows() && !view.head.dead.contains(slot);
        let mut dead = view.written_rows().filter(|(slot, _)| !is_live(*slot));
        prop_assert!(dead.all(|(slot, _)| view.is_erased(slot)));
    }
    let unknown = ContentHash::of("never seen");
    let text = |key: i64| model.get(&key).map_or(unknown, |row| row.0);
    let asked: Vec<_> = (-10..30)
        .flat_map(|key| [(key, text(key)), (key, unknown)])
        .collect();
    let expected: Vec<_> = asked
        .iter()
        .filter(|(_, text)| *text == unknown)
        .copied()
        .collect();
    prop_assert_eq!(
        vectors.missing(asked.into_iter()).collect::<Vec<_>>(),
        expected
    );
    // A code is off by half a step of 1/127 at most.
    let near = |one: f32, other: f32| (one - other).abs() < 0.01;

    let some: Vec<_> = (-10..30).map(|key| (key, text(key))).collect();
    let cosines = vectors.cosines_of(&query, &some).unwrap();
    for ((key, _), found) in some.iter().zip(cosines) {
        match (model.get(key), found) {
            (None, found) => prop_assert_eq!(found, None),
            (Some((_, own)), Some((found, passage))) => {
                prop_assert!(near(found, best_cosine(&query, own)));
                prop_assert!(near(found, cosine(&query, &own[passage])));
            }
            (Some(_), None) => prop_assert!(false, "{} has no cosine", key),
        }
    }

    for allowed in [|_: i64| true, |key: i64| key % 3 == 0] {
        let mut all: Vec<_> = model
            .iter()
            .filter(|row| allowed(*row.0))
            .map(|(_, row)| best_cosine(&query, &row.1))
            .collect();
        all.sort_by(|one, other| other.total_cmp(one));
        all.truncate(wanted);
        let nearest = vectors.nearest(&query, wanted, &allowed).unwrap();
        prop_assert_eq!(nearest.best.len(), all.len());
        for ((key, found), expected) in nearest.best.iter().zip(&all) {
            prop_assert!(
                allowed(*key)
                    && near(*found, *expected)
                    && near(*found, best_cosine(&query, &model[key].1))
            );
        }
        prop_assert!(
            nearest
                .best
                .is_sorted_by(|(_, one), (_, other)| one >= other)
        );
    }

    let all: Vec<_> = model
        .values()
        .flat_map(|row| &row.1)
        .map(|vector| f64::from(cosine(&query, vector)))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    let count = all.len().max(1) as f64;
    let mean = all.iter().sum::<f64>() / count;
    let deviation = (all
        .iter()
        .map(|cosine| (cosine - mean).powi(2))
        .sum::<f64>()
        / count)
        .sqrt();
    let nearest = vectors.nearest(&query, 0, &|_| true).unwrap();
    prop_assert!(nearest.best.is_empty());
    prop_assert_eq!(nearest.compared, all.len());
    prop_assert!(
        (f64::from(nearest.mean) - mean).abs() < 0.02
            && (f64::from(nearest.deviation) - deviation).abs() < 0.02
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: memory_core::testing::extent(48, 768), max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_changes_leave_what_a_map_would_hold(
        changes in vec(change(), 0..14), query in small(), wanted in prop_oneof![1..5_usize, 1..2000_usize],
    ) {
        let place = tempfile::tempdir().unwrap();
        let mut vectors = open(place.path());
        let mut model = ExpectedVectors::new();
        for change in &changes {
            apply(&mut vectors, &mut model, place.path(), change);
        }
        compare(&vectors, &model, query, wanted)?;
        compare(&open(place.path()), &model, query, wanted)?;
    }
}

#[test]
fn among_several_vectors_of_one_document_the_last_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, [1.0, 0.0, 0.0]), (1, [0.0, 1.0, 0.0])]);
    assert_eq!(
        (
            vectors.count(),
            super::cosines(&vectors, [0.0, 9.0, 0.0], &[1])
        ),
        (1, vec![Some(1.0)])
    );
}

#[test]
fn a_document_is_as_near_as_its_best_passage() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    put_passages(
        &mut vectors,
        &[
            (1, vec![y, z, x]),
            (2, vec![z]),
            (3, vec![[0.0; 3], [1.0, 1.0, 0.0]]),
        ],
    );
    let nearest = vectors.nearest(&x, 9, &|_| true).unwrap();
    let keys: Vec<i64> = nearest.best.iter().map(|(key, _)| *key).collect();
    assert_eq!((keys, nearest.compared), (vec![1, 3, 2], 5));
    assert_eq!(
        vectors.nearest(&x, 1, &|_| true).unwrap().best,
        [(1, 1.0)],
        "its other passages take no place of other documents"
    );
    let documents = [1, 2, 3].map(|key| (key, text(key)));
    let passages: Vec<_> = vectors
        .cosines_of(&x, &documents)
        .unwrap()
        .into_iter()
        .map(|best| best.map(|(_, passage)| passage))
        .collect();
    assert_eq!(passages, [Some(2), Some(0), Some(1)]);
}

#[test]
fn documents_with_the_same_text_share_what_one_of_them_had() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, [1.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0])]);
    let moved = vectors
        .rekey([(7, text(1)), (8, text(1)), (9, text(3)), (7, text(1))].into_iter())
        .unwrap();
    assert_eq!((moved, keys(&vectors)), (2, vec![7, 8]));
    assert_eq!(
        vectors
            .cosines_of(
                &[1.0, 0.0, 0.0],
                &[(7, text(1)), (8, text(1)), (2, text(2))]
            )
            .unwrap(),
        [Some((1.0, 0)), Some((1.0, 0)), None]
    );
}

#[test]
fn compaction_gives_the_space_back_and_leaves_two_files() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    let many: Vec<_> = (0..3000).map(|key| (key, rotated(key, 0.0))).collect();
    put(&mut vectors, &many);
    let former = file_length(&vectors);
    vectors.remove(&(0..1500).collect::<Vec<_>>()).unwrap();
    assert!(!vectors.compact().unwrap());
    vectors.remove(&[1500]).unwrap();
    std::fs::write(vectors.folder.join("rows-of-a-writer-that-died"), "").unwrap();
    assert!(vectors.compact().unwrap());
    assert_eq!(
        (vectors.count(), file_length(&vectors)),
        (1499, former / 3 * 2)
    );
    assert_eq!(std::fs::read_dir(&vectors.folder).unwrap().count(), 2);
    assert!(!vectors.compact().unwrap());
    assert_eq!(
        vectors.view.as_ref().unwrap().blocks(),
        1499_usize.div_ceil(BLOCK)
    );
}

fn file_length(vectors: &ModelVectors) -> u64 {
    super::file(vectors, "rows-").metadata().unwrap().len()
}
