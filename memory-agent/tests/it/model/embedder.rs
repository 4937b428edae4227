//! Embeddings of a local model.

use std::fs;
use std::num::NonZeroUsize;

use memory_agent::model::LocalEmbedder;
use memory_core::Embedder;
use memory_core::testing::embedder_suite;
use serde_json::json;

use super::reference;
use super::tiny_bert::{TensorKind, TinyBert, VOCABULARY, ids};

/// Texts with their tokens.
const TEXTS: &[(&str, &str)] = &[
    ("", "[CLS] [SEP]"),
    ("a red apple", "[CLS] a red apple [SEP]"),
    ("Which Fruits?", "[CLS] which fruit ##s ? [SEP]"),
    ("深色模式", "[CLS] 深 色 模 式 [SEP]"),
    (
        "rëd applés unheard-of 🦀",
        "[CLS] red apple ##s [UNK] [UNK] [UNK] [UNK] [SEP]",
    ),
    (
        "a red cherry is so red. and so is an apple.",
        "[CLS] a red cherry is so red . and so is an apple . [SEP]",
    ),
];

#[test]
fn it_keeps_the_promises_of_an_embedder() {
    embedder_suite(&TinyBert::encoder(1).embedder());
    embedder_suite(&TinyBert::encoder(2).pooled_by("cls").embedder());
}

#[test]
fn vectors_are_those_of_the_plain_computation() {
    let texts: Vec<&str> = TEXTS.iter().map(|(text, _)| *text).collect();
    for seed in 0..4 {
        let model = TinyBert::encoder(seed);
        let by_mean = model
            .clone()
            .pooled_by("mean")
            .embedder()
            .embed(&texts)
            .expect("it answers");
        let by_first = model
            .clone()
            .pooled_by("cls")
            .embedder()
            .embed(&texts)
            .expect("it answers");
        for (((text, tokens), by_mean), by_first) in TEXTS.iter().zip(&by_mean).zip(&by_first) {
            let rows = reference::encode(&model, &ids(tokens), usize::MAX);
            assert!(
                reference::max_difference(by_mean, &reference::mean(&rows)) < 1e-10,
                "{seed} {text}"
            );
            assert!(
                reference::max_difference(by_first, &rows[0]) < 1e-10,
                "{seed} {text}"
            );
        }
        assert_eq!(
            by_mean,
            model.embedder().embed(&texts).expect("it answers"),
            "the mean is what is meant if nothing is said"
        );
    }
}

#[test]
fn numbers_of_16_bits_are_read_as_well() {
    let texts = ["a red apple", "深色模式"];
    let mut model = TinyBert::encoder(3);
    let whole = model.embedder().embed(&texts).expect("it answers");
    for kind in [TensorKind::F16, TensorKind::Bf16] {
        model.kind = kind;
        assert_eq!(
            model.embedder().embed(&texts).expect("it answers"),
            whole,
            "{kind:?}"
        );
    }
}

#[test]
fn weights_are_found_whatever_they_are_called_and_wherever_they_lie() {
    let texts = ["a red apple"];
    let model = TinyBert::encoder(4);
    let expected = model.embedder().embed(&texts).expect("it answers");

    let mut prefixed = model.clone();
    let mut former = model.clone();
    let mut askew = model.clone();
    for tensor in &mut prefixed.tensors {
        tensor.name.insert_str(0, "bert.");
    }
    for tensor in &mut former.tensors {
        tensor.name = tensor
            .name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
    }
    // A header of another length misaligns the numbers for f32.
    askew.tensor_mut("pooler.dense.bias").name.push('s');
    assert_ne!(model.weights().len() % 4, askew.weights().len() % 4);
    for other in [prefixed, former, askew] {
        assert_eq!(
            other.embedder().embed(&texts).expect("it answers"),
            expected
        );
    }

    let apart = tempfile::tempdir().expect("a temporary folder can be made");
    model.write(&apart.path().join("0_Transformer"));
    let modules = json!([{"idx": 0, "name": "0", "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]);
    fs::write(apart.path().join("modules.json"), modules.to_string())
        .expect("a temporary file can be written");
    let embedder = LocalEmbedder::open(apart.path(), None).expect("the model is sound");
    assert_eq!(embedder.embed(&texts).expect("it answers"), expected);

    let lines = model.write_to_temp();
    fs::remove_file(lines.path().join("tokenizer.json")).expect("it is there");
    fs::write(lines.path().join("vocab.txt"), VOCABULARY.join("\n"))
        .expect("a temporary file can be written");
    let embedder = LocalEmbedder::open(lines.path(), None).expect("the model is sound");
    assert_eq!(embedder.embed(&texts).expect("it answers"), expected);
}

#[test]
fn a_text_has_the_same_vector_alone_and_among_others_on_any_number_of_threads() {
    let folder = TinyBert::encoder(5).write_to_temp();
    let open = |threads| {
        LocalEmbedder::open(folder.path(), NonZeroUsize::new(threads)).expect("the model is sound")
    };
    let texts: Vec<String> = (0..60)
        .map(|n| ["red", "apple", "色", "x", "y"].repeat(n % 9).join(" "))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = open(1).embed(&texts).expect("it answers");
    assert_eq!(open(7).embed(&texts).expect("it answers"), together);
    for (text, vector) in texts.iter().zip(&together) {
        let alone = open(1).embed(&[text]).expect("it answers");
        let other: Vec<f64> = alone[0].iter().copied().map(f64::from).collect();
        assert!(
            reference::max_difference(vector, &other).abs() < 1e-10,
            "{text}"
        );
    }
}

#[test]
fn the_end_of_a_long_text_has_no_part_in_its_vector() {
    let same = |embedder: &LocalEmbedder, one: &str, other: &str| {
        let vectors = embedder.embed(&[one, other]).expect("it answers");
        vectors[0] == vectors[1]
    };
    // All 40 positions, two of which are the special tokens around the text.
    let whole = TinyBert::encoder(6).embedder();
    assert!(same(&whole, &"x ".repeat(38), &("x ".repeat(38) + "y")));
    assert!(!same(&whole, &"x ".repeat(38), &("x ".repeat(37) + "y")));
    for limit in [
        json!({"max_seq_length": 10}),
        json!({"max_seq_length": 10, "do_lower_case": false}),
    ] {
        let short = TinyBert::encoder(6)
            .with("sentence_bert_config.json", &limit)
            .embedder();
        assert!(same(&short, &"x ".repeat(8), &("x ".repeat(8) + "y")));
        assert!(!same(&short, &"x ".repeat(8), &("x ".repeat(7) + "y")));
    }
    let tokenizer = TinyBert::encoder(6)
        .with("tokenizer_config.json", &json!({"model_max_length": 10}))
        .embedder();
    assert!(same(&tokenizer, &"x ".repeat(8), &("x ".repeat(8) + "y")));
    let endless = TinyBert::encoder(6)
        .with("tokenizer_config.json", &json!({"model_max_length": 1e30}))
        .embedder();
    assert!(!same(&endless, &"x ".repeat(8), &("x ".repeat(8) + "y")));
}

#[test]
fn other_activations_are_known() {
    let vector = |activation: &str| {
        let mut model = TinyBert::encoder(7);
        model.config["hidden_act"] = json!(activation);
        model
            .embedder()
            .embed(&["a red apple"])
            .expect("it answers")
            .remove(0)
    };
    let gelu = vector("gelu");
    let as_f64: Vec<f64> = gelu.iter().copied().map(f64::from).collect();
    let nearly = reference::max_difference(&vector("gelu_new"), &as_f64);
    assert!(
        0.0 < nearly && nearly < 1e-4,
        "both are nearly the same: {nearly}"
    );
    assert_eq!(vector("gelu_new"), vector("gelu_pytorch_tanh"));
    assert!(1e-4 < reference::max_difference(&vector("relu"), &as_f64));
}

#[test]
fn the_identity_tells_models_apart_and_copies_not() {
    let model = TinyBert::encoder(8).pooled_by("mean");
    let of = |model: &TinyBert| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        model.write(&folder.path().join("tiny"));
        LocalEmbedder::open(&folder.path().join("tiny"), None)
            .expect("the model is sound")
            .identity()
            .to_owned()
    };
    let identity = of(&model);
    assert!(
        identity.starts_with("tiny@") && identity.len() == "tiny@".len() + 16,
        "{identity}"
    );
    assert_eq!(identity, of(&model), "a copy elsewhere, written later");

    let mut other_weight = model.clone();
    other_weight
        .tensor_mut("encoder.layer.1.output.dense.bias")
        .numbers[0] += 0.25;
    let mut other_config = model.clone();
    other_config.config["layer_norm_eps"] = json!(1e-5);
    let mut other_words = model.clone();
    other_words.tokenizer["normalizer"]["lowercase"] = json!(false);
    let other_pooling = TinyBert::encoder(8).pooled_by("cls");
    let other_length = model
        .clone()
        .with("sentence_bert_config.json", &json!({"max_seq_length": 20}));
    for other in [
        TinyBert::encoder(9),
        other_weight,
        other_config,
        other_words,
        other_pooling,
        other_length,
    ] {
        assert_ne!(identity, of(&other));
    }
}
