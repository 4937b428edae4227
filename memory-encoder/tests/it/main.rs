//! The encoder beside a computation in Python, and on any text.
//!
//! `golden.jsonl` has 1,000 texts: messages of Django 5.2 in 16 languages (Copyright Django Software Foundation and individual
//! contributors, BSD-3-Clause), random pieces, and odd characters. `numbers` are every 32nd number of the vector, computed with
//! numpy; `count` and `sum` are the number of pieces, and the sum of each piece times its place.

use std::collections::BTreeMap;

use memory_encoder::{DIMENSION, MAX_PIECES, MODEL_HASH, SentenceEncoder};
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn length(vector: &[f32]) -> f32 {
    vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt()
}

#[test]
fn vectors_are_those_of_the_computation_in_python() {
    let encoder = SentenceEncoder::bundled();
    let mut largest = 0.0_f64;
    let mut count = 0;
    for line in include_str!("golden.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("it is JSON");
        let text = case["text"].as_str().expect("a text");
        let pieces = encoder.pieces(text);
        let sum = (1..).zip(&pieces).fold(0_u32, |sum, (place, piece)| {
            sum.wrapping_add(piece.wrapping_mul(place))
        });
        assert_eq!(
            (pieces.len() as u64, u64::from(sum)),
            (
                case["count"].as_u64().expect("a count"),
                case["sum"].as_u64().expect("a sum")
            ),
            "{text:?}"
        );
        let vector = encoder.encode(text);
        for (number, expected) in vector
            .iter()
            .step_by(32)
            .zip(case["numbers"].as_array().expect("numbers"))
        {
            let error = (f64::from(*number) - expected.as_f64().expect("a number")).abs();
            assert!(error < 1e-4, "{text:?}: {error}");
            largest = largest.max(error);
        }
        count += 1;
    }
    assert_eq!(count, 1_000);
    assert!(largest < 2e-5, "the largest error is {largest}");
}

#[test]
fn the_hash_is_that_of_the_model() {
    let hash = Sha256::digest(include_bytes!("../../pack/encoder.pack"));
    let hash: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash.concat(), MODEL_HASH);
}

#[test]
fn texts_with_a_similar_meaning_are_near_each_other_in_any_language() {
    let encoder = SentenceEncoder::bundled();
    let memories = [
        "My dog is called Rex.",
        "Der Zug nach Basel fährt um neun Uhr ab.",
        "我对花生过敏。",
        "El servidor de producción usa el puerto 8080.",
    ];
    let vectors: Vec<_> = memories.map(|text| encoder.encode(text)).into();
    let nearest = |question: &str| {
        let question = encoder.encode(question);
        let cosine =
            |vector: &Vec<f32>| -> f32 { vector.iter().zip(&question).map(|(a, b)| a * b).sum() };
        (0..memories.len())
            .max_by(|one, other| cosine(&vectors[*one]).total_cmp(&cosine(&vectors[*other])))
    };
    let found: BTreeMap<_, _> = [
        ("what pet do I have", 0),
        ("我的宠物叫什么", 0),
        ("at what time does my train depart", 1),
        ("what can I not eat", 2),
        ("Welche Lebensmittel vertrage ich nicht?", 2),
        ("on which port does the live system listen", 3),
    ]
    .into();
    for (question, memory) in found {
        assert_eq!(nearest(question), Some(memory), "{question}");
    }
}

#[test]
fn a_long_text_is_cut() {
    let text = "word ".repeat(100_000);
    assert_eq!(SentenceEncoder::bundled().pieces(&text).len(), MAX_PIECES);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_text_has_a_vector_of_length_1(text in any::<String>()) {
        let vector = SentenceEncoder::bundled().encode(&text);
        prop_assert_eq!(vector.len(), DIMENSION);
        prop_assert!((length(&vector) - 1.0).abs() < 1e-5);
    }
}
