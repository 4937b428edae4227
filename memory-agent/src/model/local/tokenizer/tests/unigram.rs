//! Tests of the unigram model; expected tokens are from the Python package `tokenizers` 0.23.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::*;
use crate::model::local::ModelFolder;

/// Pieces and their scores.
const PIECES: &[(&str, f64)] = &[
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁", -3.0),
    ("▁the", -2.5),
    ("▁dark", -4.0),
    ("▁da", -5.0),
    ("rk", -5.0),
    ("▁mode", -4.0),
    ("s", -3.5),
    ("▁a", -3.0),
    ("a", -4.0),
    ("b", -4.5),
    ("ab", -6.0),
    ("深", -6.0),
    ("色", -6.0),
    ("深色", -7.0),
    ("模式", -7.5),
    ("▁深色", -8.0),
    ("é", -5.0),
    ("fi", -5.5),
    ("f", -6.0),
    ("i", -6.0),
    ("A", -6.0),
    ("ダ", -6.0),
    ("1", -6.0),
    ("~", -6.0),
    (",", -4.0),
    ("m", -6.0),
    ("o", -6.0),
    ("d", -6.0),
    ("e", -6.0),
    ("TM", -7.0),
    ("<", -6.0),
    (">", -6.0),
    ("/", -6.0),
    ("aa", -8.0),
];

/// A map in the format of `SentencePiece` for Ａ ａ ﬁ ① ™ ﾀﾞ and other characters.
///
/// The others are an ideographic space, tab, line end and zero-width space, e with an acute accent, a fullwidth tilde,
/// and a soft hyphen that is removed.
const CHARSMAP: &str = concat!(
    "AAQAAAAgAAAJCQAACgUAAAEAAIDMAAIAgQ0AABEAAICtOQAAgCQCAAAAAICLJQAAohkAAISUAgAHAACAoAUAAAMAAICABAIAgEkAAIEFAAAMAACAoQUAAAUA",
    "AIAKAACADwAAgIAJAACR3AIAFAAAgL5kAgCeBQAAGAAAgB8AAAAeAAAArMwCAIHdAAAjAAAAIgAAACUAAAAkAAAAJwAAACYAAAApAAAAKAAAACsAAAAqAAAA",
    "LQAAACwAAAAvAAAALgAAALwUAgC9RAIAvqgCADIAAAA1AAAANAAAADcAAAA2AAAAOQAAADgAAAA7AAAAOgAAAD0AAAA8AAAAnqUAAD4AAABBAAAAQAAAAEMA",
    "AABCAAAARQAAAEQAAABHAAAARgAAAEkAAABIAAAASwAAAEoAAABNAAAATAAAAE8AAABOAAAAUQAAAFAAAABTAAAAUgAAAFUAAABUAAAAVwAAAFYAAABZAAAA",
    "WAAAAFsAAABaAAAAXQAAAFwAAABfAAAAXgAAAGEAAABgAAAAYwAAAGIAAABlAAAAZAAAAGcAAABmAAAAaQAAAGgAAABrAAAAagAAAG0AAABllAIAbwAAAG4A",
    "AABxAAAAcAAAAHMAAAByAAAAdQAAAHQAAAB3AAAAdgAAAHkAAAB4AAAAewAAAHoAAAB9AAAAfAAAAH8AAAB+AAAAgQAAAIAAAACDAAAAggAAAIUAAACEAAAA",
    "hwAAAIYAAACJAAAAiAAAAIsAAACKAAAAjQAAAIwAAACPAAAAjgAAAJEAAACQAAAAkwAAAJIAAACVAAAAlAAAAJcAAACWAAAAmQAAAJgAAACbAAAAmgAAAJ0A",
    "AACcAAAAnwAAAJ4AAAChAAAAoAAAAKMAAACiAAAApQAAAKQAAACnAAAApgAAAKkAAACoAAAAqwAAAKoAAACtAAAArAAAAK8AAACuAAAAsQAAALAAAACzAAAA",
    "sgAAALUAAAC0AAAAtwAAALYAAAC5AAAAuAAAALsAAAC6AAAAvQAAALwAAAC/AAAAvgAAAMEAAADAAAAAwwAAAMIAAADFAAAAxAAAAMcAAADGAAAAyQAAAMgA",
    "AADCgAEAygAAAM0AAADMAAAAzwAAAM4AAADRAAAA0AAAANMAAADSAAAA1QAAANQAAADXAAAA1gAAANkAAADYAAAA2wAAANoAAADdAAAA3AAAAN8AAADeAAAA",
    "4QAAAOAAAADjAAAA4gAAAOUAAADkAAAA5wAAAO+sAQDpAAAA6AAAAOKIAQDj7AEA7QAAAOwAAADvAAAA7gAAAPEAAADwAAAA8wAAAPIAAAD1AAAA70ABAPcA",
    "AAD2AAAA+QAAAPgAAAD7AAAA+gAAAP0AAAD8AAAA/wAAAP4AAAAAIAAxAEEAVE0AYQBmaQB+AMOpAOOCvwDjg4AA",
);

/// Texts, and their pieces in three tokenizers.
///
/// The first is that of XLM-R. The second merges spaces, uses lower case, and uses bytes for unknown characters. The
/// third does not split and uses Unicode decomposition.
const TEXTS: &[(&str, [&str; 3])] = &[
    ("", ["", "", ""]),
    (
        "the dark modes",
        [
            "▁the ▁dark ▁mode s",
            "▁the ▁dark ▁mode s",
            "▁the ▁dark ▁mode s",
        ],
    ),
    (
        "  the \t dark\nmode ",
        [
            "▁the ▁dark ▁mode",
            "▁the ▁dark ▁mode",
            "▁ ▁the ▁ <unk> ▁dark <unk> m o d e ▁",
        ],
    ),
    ("thedark", ["▁the d a rk"; 3]),
    ("深色模式 深色", ["▁深色 模式 ▁深色"; 3]),
    ("aaab abab", ["▁a a ab ▁a b ab"; 3]),
    ("ﬁ Ａ ①", ["▁ fi ▁ A ▁ 1", "▁ fi ▁a ▁ 1", "▁ fi ▁ A ▁ 1"]),
    (
        "e\u{301}e\u{301}\u{300}e",
        ["▁ é é e", "▁ é é e", "▁ e e e"],
    ),
    (
        "ﾀﾞ™",
        [
            "▁ <unk> TM",
            "▁ <0xE3> <0x82> <0xBF> <0xEF> <0xBE> <0x9E> <0x74> m",
            "▁ <unk> TM",
        ],
    ),
    (
        "a\u{ad}b\u{200b}c",
        ["▁a b ▁ <unk>", "▁a b ▁ <0x63>", "▁a <unk> b <unk>"],
    ),
    (
        "🦀🦀 a👩\u{200d}💻",
        [
            "▁ <unk> ▁a <unk>",
            "▁ <0xF0> <0x9F> <0xA6> <0x80> <0xF0> <0x9F> <0xA6> <0x80> ▁a <0xF0> <0x9F> <0x91> <0xA9> <0xE2> <0x80> <0x8D> <0xF0> \
             <0x9F> <0x92> <0xBB>",
            "▁ <unk> ▁a <unk>",
        ],
    ),
    (
        "the, mode",
        ["▁the , ▁mode", "▁the , ▁mode", "▁the ▁ , ▁ ▁mode"],
    ),
    (
        "ẞÉ, A",
        [
            "▁ <unk> , ▁ A",
            "▁ <0xC3> <0x9F> é , ▁a",
            "▁ <unk> ▁ , ▁ ▁ A",
        ],
    ),
];

fn byte_pieces() -> impl Iterator<Item = (String, f64)> {
    (0..=u8::MAX).map(|byte| (format!("<0x{byte:02X}>"), -9.0))
}

fn model(normalizer: &Value, pre_tokenizer: &Value, has_bytes: bool) -> Value {
    let pieces = PIECES
        .iter()
        .map(|(piece, score)| ((*piece).to_owned(), *score));
    let vocabulary: Vec<(String, f64)> =
        pieces.chain(byte_pieces().filter(|_| has_bytes)).collect();
    let (start, end) = (
        json!({"SpecialToken": {"id": "<s>", "type_id": 0}}),
        json!({"SpecialToken": {"id": "</s>", "type_id": 0}}),
    );
    let text = |id: &str| json!({"Sequence": {"id": id, "type_id": 0}});
    json!({
        "added_tokens": [{"id": 0, "content": "<s>", "special": true}, {"id": 2, "content": "</s>", "special": true}],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [start, text("A"), end],
            "pair": [start, text("A"), end, end, text("B"), end],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [0]}, "</s>": {"id": "</s>", "ids": [2]}},
        },
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary, "byte_fallback": has_bytes},
    })
}

fn charsmap() -> Value {
    json!({"type": "Precompiled", "precompiled_charsmap": CHARSMAP})
}

fn xlm_r_model() -> Value {
    let metaspace = json!({"type": "Metaspace", "replacement": "▁", "add_prefix_space": true});
    model(
        &charsmap(),
        &json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}),
        false,
    )
}

fn byte_model() -> Value {
    let normalizers = json!([
        charsmap(),
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Strip", "strip_left": false, "strip_right": true},
        {"type": "Lowercase"},
    ]);
    let metaspace =
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true});
    model(
        &json!({"type": "Sequence", "normalizers": normalizers}),
        &metaspace,
        true,
    )
}

fn unsplit_model() -> Value {
    let comma = json!({"type": "Replace", "pattern": {"String": ","}, "content": " , "});
    let normalizers = json!([{"type": "NFKD"}, {"type": "StripAccents"}, comma]);
    let metaspace = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false});
    model(
        &json!({"type": "Sequence", "normalizers": normalizers}),
        &metaspace,
        false,
    )
}

fn open(model: &Value) -> Result<SubwordTokenizer, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("tokenizer.json"), model.to_string())
        .expect("a temporary file can be written");
    let folder = ModelFolder::open(folder.path()).expect("the folder is there");
    SubwordTokenizer::open(&folder)
        .map(|opened| opened.tokenizer)
        .map_err(|error| error.why)
}

fn tokenizer(model: &Value) -> SubwordTokenizer {
    open(model).expect("the tokenizer is sound")
}

fn join_pieces(ids: &[u32]) -> String {
    let pieces: Vec<String> = PIECES
        .iter()
        .map(|(piece, _)| (*piece).to_owned())
        .chain(byte_pieces().map(|(piece, _)| piece))
        .collect();
    ids.iter()
        .map(|id| pieces[*id as usize].as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn texts_fall_into_their_most_probable_pieces() {
    for (number, model) in [xlm_r_model(), byte_model(), unsplit_model()]
        .iter()
        .enumerate()
    {
        let tokenizer = tokenizer(model);
        for (text, expected) in TEXTS {
            assert_eq!(
                join_pieces(&tokenizer.tokenize(text, usize::MAX)),
                expected[number],
                "{text:?} in tokenizer {number}"
            );
        }
    }
}

#[test]
fn special_tokens_stand_around_texts_and_are_not_found_in_them() {
    let tokenizer = tokenizer(&xlm_r_model());
    assert_eq!(
        join_pieces(&tokenizer.encode("the dark", 9).ids),
        "<s> ▁the ▁dark </s>"
    );
    assert_eq!(
        join_pieces(&tokenizer.encode("the dark", 3).ids),
        "<s> ▁the </s>"
    );
    let TokenIds { ids, first } = tokenizer.encode_pair("the dark", "a b", 20);
    assert_eq!(
        (join_pieces(&ids).as_str(), first),
        ("<s> ▁the ▁dark </s> </s> ▁a ▁ b </s>", 5)
    );
    assert_eq!(join_pieces(&tokenizer.tokenize("</s>a", 9)), "▁ < / s > a");
    let mut model = xlm_r_model();
    model["post_processor"] =
        json!({"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]});
    let roberta = self::tokenizer(&model);
    assert_eq!(
        roberta.encode_pair("the dark", "a b", 20),
        TokenIds { ids, first }
    );
    model["post_processor"] = Value::Null;
    assert_eq!(
        join_pieces(&self::tokenizer(&model).encode("the", 9).ids),
        "▁the"
    );
}

#[test]
fn a_tokenizer_that_cannot_be_used_says_why() {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut model = xlm_r_model();
        change(&mut model);
        let error = open(&model).expect_err("it cannot be used");
        error
            .split_once("tokenizer.json cannot be used: ")
            .unwrap_or_else(|| panic!("it names the file: {error}"))
            .1
            .to_owned()
    };
    for (key, value, why) in [
        (
            "normalizer",
            json!({"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
            "its precompiled_charsmap is invalid",
        ),
        (
            "normalizer",
            json!({"type": "Replace", "content": ""}),
            "a normalizer has no pattern",
        ),
        (
            "normalizer",
            json!({"type": "Replace", "pattern": {"String": ""}, "content": "a"}),
            "a normalizer replaces an empty text",
        ),
        (
            "normalizer",
            json!({"type": "Sequence", "normalizers": vec![json!({"type": "NFC"}); 65]}),
            "it has more than 64 normalizers",
        ),
        (
            "pre_tokenizer",
            json!({"type": "Sequence", "pretokenizers": vec![json!({"type": "WhitespaceSplit"}); 65]}),
            "it has more than 64 pre-tokenizers",
        ),
        (
            "normalizer",
            json!({"type": "BertNormalizer"}),
            r#"it uses the normalizer "BertNormalizer""#,
        ),
        (
            "normalizer",
            json!({"type": "Replace", "pattern": {"Regex": "("}, "content": ""}),
            r#"it uses the unsupported pattern "(""#,
        ),
        (
            "pre_tokenizer",
            json!({"type": "Digits"}),
            r#"it uses the pre-tokenizer "Digits""#,
        ),
        (
            "post_processor",
            json!({"type": "ByteLevel"}),
            r#"it uses the post-processor "ByteLevel""#,
        ),
        (
            "post_processor",
            json!({"type": "RobertaProcessing"}),
            "its post_processor does not define the special tokens",
        ),
        (
            "post_processor",
            json!({"type": "TemplateProcessing"}),
            "its post_processor does not define the special tokens",
        ),
    ] {
        assert_eq!(changed(&|model| model[key] = value.clone()), why, "{value}");
    }
    let unknown = changed(&|model| model["model"]["unk_id"] = json!(999));
    assert_eq!(unknown, "its vocabulary has no unknown token");
}

#[test]
fn steps_that_lengthen_a_text_end() {
    let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
    let pattern =
        json!({"type": "Replace", "pattern": {"Regex": ""}, "content": "a".repeat(100_000)});
    for steps in [vec![double; 40], vec![pattern; 40]] {
        let model = model(
            &json!({"type": "Sequence", "normalizers": steps}),
            &Value::Null,
            false,
        );
        let tokenizer = tokenizer(&model);
        assert_eq!(tokenizer.tokenize("aaa", 20).len(), 20);
    }
}

#[test]
fn a_piece_that_is_longer_than_any_published_one_is_not_used() {
    let mut model = xlm_r_model();
    model["model"]["vocab"]
        .as_array_mut()
        .expect("a list")
        .push(json!(["a".repeat(129), 0.0]));
    let ids = tokenizer(&model).tokenize(&"a".repeat(129), usize::MAX);
    assert!(ids.iter().all(|id| (*id as usize) < PIECES.len()));
}

proptest! {
    #[test]
    fn every_text_becomes_tokens_that_are_known(text in "(\\PC|[abem深色é\u{301}\u{200b}\u{0}\\s]){0,60}", most in 0..40_usize) {
        for model in [xlm_r_model(), byte_model(), unsplit_model()] {
            let tokenizer = tokenizer(&model);
            let all = tokenizer.tokenize(&text, usize::MAX);
            prop_assert!(all.iter().all(|id| (*id as usize) < tokenizer.rows));
            let some = tokenizer.tokenize(&text, most);
            prop_assert_eq!(&some[..], &all[..most.min(all.len())], "a cut text begins as the whole one");
        }
    }

    #[test]
    fn no_map_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), text in "\\PC{0,10}") {
        if let Some(map) = charsmap::Charsmap::parse(&bytes) {
            map.normalized_parts(&text).for_each(drop);
        }
    }
}
