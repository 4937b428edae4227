//! Static embedding models, in the formats of model2vec and sentence transformers.

use std::fs;
use std::path::Path;

use half::f16;
use memory_agent::model::LocalEmbedder;
use memory_core::testing::embedder_suite;
use memory_core::{Embedder, is_nonzero};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::tiny_bert::{TinyBert, VOCABULARY, ids};

const COLUMNS: usize = 3;

/// A tensor: its name, number type, shape and bytes.
type NamedTensor = (&'static str, &'static str, Vec<usize>, Vec<u8>);

/// Returns a number of the embedding table, an integer so that each number type can represent it.
fn number(row: usize, column: usize) -> i8 {
    i8::try_from((row * 37 + column * 53 + row * column * 11) % 101).expect("it is at most 100")
        - 50
}

fn numbers(rows: usize) -> impl Iterator<Item = i8> {
    (0..rows).flat_map(|row| (0..COLUMNS).map(move |column| number(row, column)))
}

fn embeddings(kind: &'static str, rows: usize) -> NamedTensor {
    let bytes = numbers(rows).flat_map(|number| match kind {
        "I8" => number.to_le_bytes().to_vec(),
        "F16" => f16::from_f32(f32::from(number)).to_le_bytes().to_vec(),
        "F64" => f64::from(number).to_le_bytes().to_vec(),
        _ => f32::from(number).to_le_bytes().to_vec(),
    });
    ("embeddings", kind, vec![rows, COLUMNS], bytes.collect())
}

fn safetensors(tensors: &[NamedTensor]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, kind, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        header.insert(
            (*name).into(),
            json!({"dtype": kind, "shape": shape, "data_offsets": [start, data.len()]}),
        );
    }
    let header = Value::Object(header).to_string();
    [
        &(header.len() as u64).to_le_bytes()[..],
        header.as_bytes(),
        &data,
    ]
    .concat()
}

fn write(folder: &Path, tensors: &[NamedTensor]) {
    fs::create_dir_all(folder).expect("a temporary folder can be made");
    fs::write(
        folder.join("tokenizer.json"),
        TinyBert::encoder(1).tokenizer.to_string(),
    )
    .expect("it can be written");
    fs::write(folder.join("model.safetensors"), safetensors(tensors)).expect("it can be written");
}

fn write_model(tensors: &[NamedTensor]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write(folder.path(), tensors);
    let config =
        json!({"model_type": "model2vec", "normalize": true, "embedding_dtype": "float32"});
    fs::write(folder.path().join("config.json"), config.to_string()).expect("it can be written");
    folder
}

fn open(folder: &Path) -> LocalEmbedder {
    LocalEmbedder::open(folder, None).expect("the model is sound")
}

/// Returns the normalized mean of rows.
fn mean(rows: &[(usize, f64)]) -> Vec<f64> {
    let sum = |column: usize| {
        rows.iter()
            .map(|(row, factor)| factor * f64::from(number(*row, column)))
            .sum::<f64>()
    };
    let sums: Vec<f64> = (0..COLUMNS).map(sum).collect();
    let length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    sums.iter().map(|sum| sum / length).collect()
}

fn assert_near(vector: &[f32], expected: &[f64]) {
    let is_near = vector
        .iter()
        .zip(expected)
        .all(|(one, other)| (f64::from(*one) - other).abs() < 1e-6);
    assert!(
        is_near && vector.len() == expected.len(),
        "{vector:?} {expected:?}"
    );
}

fn rows(words: &str) -> Vec<(usize, f64)> {
    ids(words).into_iter().map(|id| (id, 1.0)).collect()
}

#[test]
fn a_text_has_the_mean_of_its_tokens_without_unknown_ones() {
    for kind in ["F32", "F64", "F16", "I8"] {
        let folder = write_model(&[embeddings(kind, VOCABULARY.len())]);
        let embedder = open(folder.path());
        embedder_suite(&embedder);
        assert_eq!(embedder.dimensions(), COLUMNS);
        let vectors = embedder
            .embed(&["a red apple", "Fruits, red and 深 !", ""])
            .expect("it answers");
        assert_near(&vectors[0], &mean(&rows("a red apple")));
        assert_near(&vectors[1], &mean(&rows("fruit ##s red and 深")));
        assert!(
            !is_nonzero(&vectors[2]),
            "a text without tokens has no direction"
        );
    }
}

#[test]
fn tokens_may_share_rows_and_count_differently() {
    let places: Vec<usize> = (0..VOCABULARY.len()).map(|id| id % 5).collect();
    let factors: Vec<f64> = (0_u8..)
        .map(|id| 0.5 + f64::from(id))
        .take(VOCABULARY.len())
        .collect();
    let mapping = places
        .iter()
        .flat_map(|place| (*place as u64).to_le_bytes())
        .collect();
    let weights = factors
        .iter()
        .flat_map(|factor| factor.to_le_bytes())
        .collect();
    let count = vec![VOCABULARY.len()];
    let folder = write_model(&[
        embeddings("F32", 5),
        ("mapping", "I64", count.clone(), mapping),
        ("weights", "F64", count, weights),
    ]);
    let vectors = open(folder.path())
        .embed(&["a red apple"])
        .expect("it answers");
    let expected: Vec<(usize, f64)> = ids("a red apple")
        .into_iter()
        .map(|id| (places[id], factors[id]))
        .collect();
    assert_near(&vectors[0], &mean(&expected));
}

#[test]
fn the_layout_of_sentence_transformers_is_read_with_unknown_words() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (_, kind, shape, bytes) = embeddings("F32", VOCABULARY.len());
    write(
        &folder.path().join("0_StaticEmbedding"),
        &[("embedding.weight", kind, shape, bytes)],
    );
    let modules = |path: &str| {
        let modules = json!([
            {"idx": 0, "name": "0", "path": path, "type": "sentence_transformers.models.StaticEmbedding"},
            {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
        ]);
        modules.to_string()
    };
    fs::write(
        folder.path().join("modules.json"),
        modules("0_StaticEmbedding"),
    )
    .expect("it can be written");
    let vectors = open(folder.path())
        .embed(&["a red apple !"])
        .expect("it answers");
    assert_near(&vectors[0], &mean(&rows("a red apple [UNK]")));

    let flat = write_model(&[embeddings("F32", VOCABULARY.len())]);
    fs::write(flat.path().join("modules.json"), modules(".")).expect("it can be written");
    assert_near(
        &open(flat.path())
            .embed(&["a red apple !"])
            .expect("it answers")[0],
        &mean(&rows("a red apple")),
    );
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let trouble = |tensors: &[NamedTensor]| {
        LocalEmbedder::open(write_model(tensors).path(), None)
            .expect_err("it cannot be used")
            .why
    };
    let few = trouble(&[embeddings("F32", 5)]);
    assert!(
        few.ends_with("its vocabulary has 28 tokens, but the network has only 5"),
        "{few}"
    );
    let none = trouble(&[("other", "F32", vec![1], vec![0; 4])]);
    assert!(none.ends_with("it has no table embeddings"), "{none}");
    let count = VOCABULARY.len();
    let mapping = (
        "mapping",
        "I32",
        vec![count],
        7_i32.to_le_bytes().repeat(count),
    );
    assert!(
        trouble(&[embeddings("F32", 5), mapping])
            .ends_with("mapping refers to rows that embeddings does not have")
    );
    let kind = trouble(&[("embeddings", "BOOL", vec![count, 2], vec![0; 2 * count])]);
    assert!(
        kind.ends_with(
            "embeddings has numbers of type BOOL; F32, F64, F16, BF16 and I8 are supported"
        ),
        "{kind}"
    );
}
