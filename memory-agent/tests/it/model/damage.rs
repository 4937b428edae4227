//! Damaged models cause a clear error, never a panic.

use std::fs;
use std::path::Path;

use memory_agent::model::LocalEmbedder;
use memory_core::{EmbedError, Embedder};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::tiny_bert::TinyBert;

/// Opens the model, runs it, and returns the error without the name of the folder.
fn open_error(folder: &Path) -> String {
    let answer =
        LocalEmbedder::open(folder, None).and_then(|embedder| embedder.embed(&["a red apple"]));
    let EmbedError { why, hint } = answer.expect_err("it cannot be used");
    assert!(hint.is_some_and(|hint| !hint.is_empty()), "{why}");
    why.replace(&folder.display().to_string(), "…")
}

fn error_with(change: impl FnOnce(&mut TinyBert)) -> String {
    let mut model = TinyBert::encoder(1).pooled_by("mean");
    change(&mut model);
    open_error(model.write_to_temp().path())
}

fn error_after(change: impl FnOnce(&Path)) -> String {
    let folder = TinyBert::encoder(1).pooled_by("mean").write_to_temp();
    change(folder.path());
    open_error(folder.path())
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    assert_eq!(open_error(&folder.path().join("none")), "… does not exist");
    fs::write(folder.path().join("file"), "").expect("a temporary file can be written");
    assert_eq!(open_error(&folder.path().join("file")), "… is not a folder");
    assert_eq!(open_error(folder.path()), "…/config.json does not exist");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let missing =
            error_after(|folder| fs::remove_file(folder.join(file)).expect("it is there"));
        assert_eq!(missing, format!("…/{file} does not exist"));
        let is_folder = error_after(|folder| {
            fs::remove_file(folder.join(file)).expect("it is there");
            fs::create_dir(folder.join(file)).expect("a temporary folder can be made");
        });
        assert_eq!(
            is_folder,
            format!("…/{file} cannot be used: it is not a file")
        );
    }
    let no_pooling =
        error_after(|folder| fs::remove_dir_all(folder.join("1_Pooling")).expect("it is there"));
    assert_eq!(no_pooling, "…/1_Pooling does not exist");
}

#[test]
fn another_format_of_weights_is_spoken_of() {
    let folder = TinyBert::encoder(1).write_to_temp();
    fs::rename(
        folder.path().join("model.safetensors"),
        folder.path().join("pytorch_model.bin"),
    )
    .expect("it is there");
    let error =
        LocalEmbedder::open(folder.path(), None).expect_err("there are no weights that are read");
    assert!(
        error
            .hint
            .expect("there is a hint")
            .starts_with("the format of pytorch_model.bin is not supported")
    );
}

#[test]
fn a_configuration_of_another_model_is_refused() {
    let with = |key: &str, value: Value| error_with(|model| model.config[key] = value);
    assert_eq!(
        with("model_type", json!("mpnet")),
        r#"…/config.json cannot be used: it describes a model of type "mpnet", not a BERT or XLM-R encoder"#
    );
    assert_eq!(
        with("is_decoder", json!(true)),
        r#"…/config.json cannot be used: it describes a model of type "bert", not a BERT or XLM-R encoder"#
    );
    assert_eq!(
        with("hidden_act", json!("swish")),
        r#"…/config.json cannot be used: it uses the activation "swish""#
    );
    assert_eq!(
        with("hidden_size", json!(0)),
        "…/config.json cannot be used: hidden_size is 0"
    );
    assert_eq!(
        with("hidden_size", Value::Null),
        "…/config.json cannot be used: it has no hidden_size"
    );
    assert!(
        with("hidden_size", json!(-1))
            .starts_with("…/config.json cannot be used: its content is invalid: invalid value")
    );
    assert_eq!(
        with("num_attention_heads", json!(5)),
        "…/config.json cannot be used: hidden_size 32 is not a multiple of num_attention_heads 5"
    );
    assert_eq!(
        with("position_embedding_type", json!("relative_key")),
        r#"…/config.json cannot be used: it uses position embeddings of type "relative_key""#
    );
    let reranker = open_error(TinyBert::cross_encoder(1, 1).write_to_temp().path());
    assert_eq!(
        reranker,
        "…/config.json cannot be used: it describes a reranking model, which produces no vectors"
    );
}

#[test]
fn weights_that_do_not_fit_the_configuration_are_refused() {
    let with = |key: &str, value: Value| error_with(|model| model.config[key] = value);
    let weights = "…/model.safetensors cannot be used: ";
    assert_eq!(
        with("hidden_size", json!(64)),
        format!(
            "{weights}embeddings.word_embeddings.weight has the shape [28, 32]; config.json requires [28, 64]"
        )
    );
    // Sizes in the configuration are not trusted before the weights are checked.
    let absurd = 1_u64 << 40;
    assert!(with("hidden_size", json!(absurd)).starts_with(weights));
    assert_eq!(
        with("num_hidden_layers", json!(absurd)),
        format!("{weights}it has no encoder.layer.2.attention.self.query.weight")
    );
    assert!(
        with("intermediate_size", json!(absurd))
            .contains("encoder.layer.0.intermediate.dense.weight has the shape [64, 32]")
    );
    assert!(
        with("max_position_embeddings", json!(absurd))
            .contains("embeddings.position_embeddings.weight has 40 rows")
    );
    assert!(
        with("type_vocab_size", json!(absurd))
            .contains("embeddings.token_type_embeddings.weight has 2 rows")
    );

    let turned = error_with(|model| {
        model
            .tensor_mut("encoder.layer.1.output.dense.weight")
            .shape
            .reverse();
    });
    assert!(
        turned.contains("encoder.layer.1.output.dense.weight has the shape [64, 32]; config.json requires [32, 64]"),
        "{turned}"
    );
    let more_words = error_with(|model| model.tokenizer["model"]["vocab"]["more"] = json!(28));
    assert_eq!(
        more_words,
        "…/tokenizer.json cannot be used: its vocabulary has 29 tokens, but the network has only 28"
    );
    let most_words =
        error_with(|model| model.tokenizer["model"]["vocab"]["more"] = json!(u32::MAX));
    assert!(
        most_words.ends_with("its vocabulary has 4294967296 tokens, but the network has only 28")
    );
}

#[test]
fn numbers_that_lead_nowhere_are_told() {
    for (tensor, number) in [
        ("encoder.layer.0.attention.self.query.weight", f32::NAN),
        ("encoder.layer.1.intermediate.dense.bias", f32::NAN),
        ("embeddings.LayerNorm.weight", f32::INFINITY),
        ("encoder.layer.1.output.dense.weight", f32::NEG_INFINITY),
    ] {
        let trouble = error_with(|model| model.tensor_mut(tensor).numbers[7] = number);
        assert_eq!(
            trouble, "…/model.safetensors cannot be used: it produces no finite result",
            "{tensor}"
        );
    }
    let nothing = error_with(|model| {
        model
            .tensor_mut("encoder.layer.1.output.LayerNorm.weight")
            .numbers
            .fill(0.0);
        model
            .tensor_mut("encoder.layer.1.output.LayerNorm.bias")
            .numbers
            .fill(0.0);
    });
    assert_eq!(
        nothing,
        "…/model.safetensors cannot be used: it produces no finite result"
    );
}

#[test]
fn numbers_of_another_kind_are_refused() {
    let folder = TinyBert::encoder(1).write_to_temp();
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).expect("it is there");
    while let Some(place) = bytes.windows(5).position(|window| window == b"\"F32\"") {
        bytes[place..place + 5].copy_from_slice(b"\"I32\"");
    }
    fs::write(&path, bytes).expect("a temporary file can be written");
    let trouble = open_error(folder.path());
    assert!(trouble.ends_with(
        "embeddings.word_embeddings.weight has numbers of type I32; F32, F16 and BF16 are supported"
    ));
}

#[test]
fn weights_that_were_cut_short_are_refused() {
    let whole = TinyBert::encoder(1).weights();
    for length in [0, 4, 8, 100, whole.len() / 2, whole.len() - 1] {
        let trouble = error_after(|folder| {
            fs::write(folder.join("model.safetensors"), &whole[..length])
                .expect("a temporary file can be written");
        });
        assert!(
            trouble.starts_with("…/model.safetensors cannot be used: it is"),
            "{length}: {trouble}"
        );
    }
    let longer = error_after(|folder| {
        fs::write(
            folder.join("model.safetensors"),
            [&whole[..], &[0]].concat(),
        )
        .expect("a temporary file can be written");
    });
    assert!(
        longer.starts_with(
            "…/model.safetensors cannot be used: it is truncated or not a safetensors file"
        ),
        "{longer}"
    );
}

#[test]
fn a_sentence_transformer_of_another_kind_is_refused() {
    let pooling = "…/1_Pooling/config.json cannot be used: it uses another pooling than the mean of the tokens or the first token";
    for config in [
        json!({"pooling_mode_max_tokens": true}),
        json!({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}),
        json!({"pooling_mode_mean_tokens": true, "pooling_mode_lasttoken": true}),
        json!({}),
    ] {
        assert_eq!(
            error_with(|model| model.others[1].1 = config.to_string()),
            pooling,
            "{config}"
        );
    }
    let dense = json!([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]);
    let modules = |modules: &Value| error_with(|model| model.others[0].1 = modules.to_string());
    assert_eq!(
        modules(&dense),
        r#"…/modules.json cannot be used: it has a module of type "Dense""#
    );
    for outside in ["../other", "/etc", "a/../../b"] {
        let modules =
            modules(&json!([{"path": outside, "type": "sentence_transformers.models.Pooling"}]));
        assert_eq!(
            modules,
            format!(
                "…/modules.json cannot be used: it names a folder outside of the model: {outside:?}"
            )
        );
    }
    let short = error_with(|model| {
        model.others.push((
            "sentence_bert_config.json",
            json!({"max_seq_length": 4}).to_string(),
        ));
    });
    assert_eq!(
        short,
        "…/sentence_bert_config.json cannot be used: an input limit of 4 tokens leaves no room for a text"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)))]

    #[test]
    fn no_damage_makes_it_panic(file in 0..5_usize, places in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6), cut: Option<Index>) {
        let file = ["config.json", "tokenizer.json", "model.safetensors", "modules.json", "1_Pooling/config.json"][file];
        let folder = TinyBert::encoder(1).pooled_by("mean").write_to_temp();
        let path = folder.path().join(file);
        let mut bytes = fs::read(&path).expect("it is there");
        for (place, byte) in places {
            // Most faults are possible in the header, which is the smallest part of the weights.
            let reach = if file == "model.safetensors" { 5_000 } else { bytes.len() };
            bytes[place.index(reach)] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, bytes).expect("a temporary file can be written");
        if let Ok(embedder) = LocalEmbedder::open(folder.path(), None) {
            let _ = embedder.embed(&["a red apple", "深色模式"]);
        }
    }
}
