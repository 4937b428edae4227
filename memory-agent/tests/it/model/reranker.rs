//! Scores of a local reranking model.

use memory_agent::model::LocalReranker;
use memory_core::Reranker;
use memory_core::testing::reranker_suite;
use serde_json::json;

use super::reference;
use super::tiny_bert::{TensorKind, TinyBert, ids};

#[test]
fn it_keeps_the_promises_of_a_reranker() {
    reranker_suite(&TinyBert::cross_encoder(1, 1).reranker());
    reranker_suite(&TinyBert::cross_encoder(2, 2).reranker());
}

#[test]
fn scores_are_those_of_the_plain_computation() {
    let query = "Which fruit is red?";
    let texts = [
        (
            "a red apple",
            "[CLS] which fruit is red ? [SEP] a red apple [SEP]",
        ),
        ("", "[CLS] which fruit is red ? [SEP] [SEP]"),
        (
            "深色模式. an apple.",
            "[CLS] which fruit is red ? [SEP] 深 色 模 式 . an apple . [SEP]",
        ),
    ];
    for (seed, labels) in [(0, 1), (1, 1), (2, 2), (3, 2)] {
        for kind in [TensorKind::F32, TensorKind::F16] {
            let mut model = TinyBert::cross_encoder(seed, labels);
            model.kind = kind;
            let scores = model
                .reranker()
                .score(query, &texts.map(|(text, _)| text))
                .expect("it answers");
            for ((text, tokens), score) in texts.iter().zip(scores) {
                let expected = reference::logits(&model, &ids(tokens), 7);
                assert_eq!(expected.len(), labels);
                let expected = expected.last().expect("there is a label");
                assert!(
                    (f64::from(score) - expected).abs() < 1e-5,
                    "{seed} {text}: {score} {expected}"
                );
            }
        }
    }
}

#[test]
fn the_longer_one_of_question_and_text_is_cut() {
    let reranker = TinyBert::cross_encoder(4, 1)
        .with("tokenizer_config.json", &json!({"model_max_length": 13}))
        .reranker();
    let score =
        |query: &str, text: &str| reranker.score(query, &[text]).expect("it answers")[0].to_bits();
    assert_eq!(
        score("x x", &"y ".repeat(8)),
        score("x x", &("y ".repeat(8) + "z z"))
    );
    assert_ne!(score("x x", &"y ".repeat(8)), score("x x", &"y ".repeat(7)));
    assert_eq!(
        score(&"y ".repeat(8), "x x"),
        score(&("y ".repeat(8) + "z z"), "x x")
    );
}

#[test]
fn what_is_no_cross_encoder_is_refused() {
    let refused = |model: &TinyBert| {
        let error = LocalReranker::open(model.write_to_temp().path(), None)
            .expect_err("it is no cross-encoder");
        assert!(error.hint.is_some());
        error.why
    };
    assert!(
        refused(&TinyBert::encoder(5))
            .ends_with("model.safetensors cannot be used: it has no classifier.weight, so it is not a cross-encoder")
    );
    let three = refused(&TinyBert::cross_encoder(5, 3));
    assert!(
        three.ends_with("its classifier has the shape [3, 32], not 1 or 2 labels"),
        "{three}"
    );
    let mut one_kind = TinyBert::cross_encoder(5, 1);
    one_kind.config["type_vocab_size"] = json!(1);
    let table = one_kind.tensor_mut("bert.embeddings.token_type_embeddings.weight");
    table.shape[0] = 1;
    table.numbers.truncate(32);
    assert!(
        refused(&one_kind).ends_with("its network has no segment embeddings for a second text")
    );
    let mut not_a_number = TinyBert::cross_encoder(5, 1);
    not_a_number.tensor_mut("classifier.bias").numbers[0] = f32::NAN;
    let error = not_a_number
        .reranker()
        .score("a", &["red"])
        .expect_err("there is no number to be told");
    assert!(
        error
            .why
            .ends_with("model.safetensors cannot be used: it produces no finite result"),
        "{error}"
    );
}
