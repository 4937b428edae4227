//! Models of the XLM-R family: other tensor names, other positions, a tokenizer without words.

use memory_agent::model::LocalEmbedder;
use memory_core::Embedder;
use memory_core::testing::embedder_suite;
use serde_json::{Value, json};

use super::tiny_bert::{HIDDEN, TinyBert, VOCABULARY};

const TEXTS: [&str; 4] = ["a red apple", "which fruit is red ?", "深 色", ""];

/// Returns a tokenizer that maps each word of the vocabulary to the same id as the other tokenizer.
fn unigram() -> Value {
    let piece = |word: &&str| {
        if word.starts_with('[') {
            (*word).to_owned()
        } else {
            format!("▁{word}")
        }
    };
    let vocabulary: Vec<(String, f64)> = VOCABULARY
        .iter()
        .map(piece)
        .zip((1_u8..).map(|number| -f64::from(number)))
        .collect();
    let metaspace =
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
    json!({
        "added_tokens": [{"id": 1, "content": "[UNK]", "special": true}],
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {"type": "RobertaProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]},
        "model": {"type": "Unigram", "unk_id": 1, "vocab": vocabulary},
    })
}

/// Converts a BERT model to the XLM-R family: the same, with two additional positions at the start.
fn xlm_r(bert: &TinyBert) -> TinyBert {
    let mut model = bert.clone();
    model.tokenizer = unigram();
    model.config["model_type"] = json!("xlm-roberta");
    model.config["architectures"] = json!(["XLMRobertaModel"]);
    model.config["pad_token_id"] = json!(1);
    let positions = model.config["max_position_embeddings"]
        .as_u64()
        .expect("it is a number");
    model.config["max_position_embeddings"] = json!(positions + 2);
    let table = model.tensor_mut("embeddings.position_embeddings.weight");
    table.shape[0] += 2;
    table
        .numbers
        .splice(0..0, std::iter::repeat_n(9.0, 2 * HIDDEN));
    for tensor in &mut model.tensors {
        tensor.name.insert_str(0, "roberta.");
    }
    model
}

#[test]
fn a_unigram_tokenizer_serves_a_bert_model() {
    let bert = TinyBert::encoder(1);
    let mut other = bert.clone();
    other.tokenizer = unigram();
    let expected = bert.embedder().embed(&TEXTS).expect("it answers");
    assert_eq!(
        other.embedder().embed(&TEXTS).expect("it answers"),
        expected
    );
}

#[test]
fn positions_begin_behind_that_of_padding() {
    for seed in 0..3 {
        let bert = TinyBert::encoder(seed).pooled_by("cls");
        let model = xlm_r(&bert);
        embedder_suite(&model.embedder());
        let expected = bert.embedder().embed(&TEXTS).expect("it answers");
        assert_eq!(
            model.embedder().embed(&TEXTS).expect("it answers"),
            expected
        );
    }
    // The input limit is that of a BERT model of the same size: the additional positions hold no tokens.
    let bert = TinyBert::encoder(1);
    let long = "red apple ".repeat(60);
    let expected = bert.embedder().embed(&[&long]).expect("it answers");
    assert_eq!(
        xlm_r(&bert).embedder().embed(&[&long]).expect("it answers"),
        expected
    );
}

#[test]
fn too_few_positions_are_told() {
    let mut model = xlm_r(&TinyBert::encoder(1));
    model.config["max_position_embeddings"] = json!(2);
    let error =
        LocalEmbedder::open(model.write_to_temp().path(), None).expect_err("it cannot be used");
    assert!(
        error.why.ends_with(
            "config.json cannot be used: max_position_embeddings 2 leaves no position from 2 on"
        ),
        "{error}"
    );
}
