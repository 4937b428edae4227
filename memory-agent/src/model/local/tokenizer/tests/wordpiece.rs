use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::*;
use crate::model::local::ModelFolder;

const PIECES: &[&str] = &[
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", ",", ".", "!", "-", "'", "a", "b", "e",
    "n", "s", "##a", "##e", "##s", "apple", "un", "##happy", "##happi", "##ness", "creme", "Crème",
    "Apple", "naive", "ss", "深", "色", "模", "##式", "か", "##な", "한국", "“", "—", "。", "mask",
    "sep", "##深", "depth", "iu", "İ",
];

fn model(normalizer: &Value) -> Value {
    let vocabulary: serde_json::Map<_, _> = PIECES
        .iter()
        .zip(0..)
        .map(|(piece, number)| ((*piece).into(), json!(number)))
        .collect();
    json!({
        "added_tokens": [{"id": 4, "content": "[MASK]", "special": true}],
        "normalizer": normalizer,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 11, "vocab": vocabulary},
    })
}

fn normalizer(lowercase: bool, strip_accents: Option<bool>, clean: bool, chinese: bool) -> Value {
    json!({"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": strip_accents, "lowercase": lowercase})
}

fn default_normalizer() -> Value {
    normalizer(true, None, true, true)
}

fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (file, content) in files {
        fs::write(folder.path().join(file), content).expect("a temporary file can be written");
    }
    folder
}

fn open(path: &Path) -> Result<SubwordTokenizer, String> {
    let folder = ModelFolder::open(path).expect("the folder is there");
    let opened = SubwordTokenizer::open(&folder).map_err(|error| error.why)?;
    opened.check_frame(&folder).map_err(|error| error.why)?;
    Ok(opened.tokenizer)
}

fn tokenizer(normalizer: &Value) -> SubwordTokenizer {
    let folder = folder_with(&[("tokenizer.json", &model(normalizer).to_string())]);
    open(folder.path()).expect("the tokenizer is sound")
}

fn join_pieces(ids: &[u32]) -> String {
    ids.iter()
        .map(|id| PIECES[*id as usize])
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the pieces of a text without the special tokens.
fn pieces(tokenizer: &SubwordTokenizer, text: &str) -> String {
    let TokenIds { ids, first } = tokenizer.encode(text, usize::MAX);
    assert_eq!(first, ids.len());
    assert_eq!(
        (join_pieces(&ids[..1]), join_pieces(&ids[ids.len() - 1..])),
        ("[CLS]".into(), "[SEP]".into())
    );
    join_pieces(&ids[1..ids.len() - 1])
}

#[test]
fn words_fall_into_the_longest_pieces_that_are_known() {
    let tokenizer = tokenizer(&default_normalizer());
    for (text, expected) in [
        ("", ""),
        (" \t\r\n\u{3000}\u{a0} ", ""),
        ("apple apples Apple", "apple apple ##s apple"),
        ("unhappiness unhappy", "un ##happi ##ness un ##happy"),
        ("unhappyx", "[UNK]"),
        ("x apple", "[UNK] apple"),
        ("apple,apple!--'s", "apple , apple ! - - ' s"),
        ("“apple”—。", "“ apple [UNK] — 。"),
        ("Crème BRÛLÉE Naïve", "creme [UNK] naive"),
        (
            "creme\u{300} na\u{308}ive e\u{301}\u{302}\u{303}",
            "creme naive e",
        ),
        ("深色模式a深", "深 色 模 [UNK] a 深"),
        ("かな 한국", "か ##な [UNK]"),
        ("🦀 a👩‍💻a", "[UNK] [UNK]"),
        ("ap\u{ad}ple \u{200b}a\u{0}b\u{fffd}s\u{7f}", "apple [UNK]"),
        ("a\u{b}e\u{85}a", "a ##e ##a"),
        ("a\u{2028}e", "a e"),
        ("[SEP] [mask]", "[ sep ] [ mask ]"),
        ("[UNK]", "[ [UNK] ]"),
        ("##s ##", "[UNK] [UNK] s [UNK] [UNK]"),
        (
            "aaaaaaaaaaa aaaaaaaaaaaa",
            "a ##a ##a ##a ##a ##a ##a ##a ##a ##a ##a [UNK]",
        ),
        ("\u{130}U", "iu"),
        ("ẞ ß", "[UNK] [UNK]"),
        ("\u{f96a}", "[UNK]"),
    ] {
        assert_eq!(pieces(&tokenizer, text), expected, "{text:?}");
    }
}

#[test]
fn spelling_is_what_the_model_says() {
    let cased = tokenizer(&normalizer(false, None, true, true));
    assert_eq!(
        pieces(&cased, "Apple apple Crème creme İ"),
        "Apple apple Crème creme İ"
    );
    let accents_only = tokenizer(&normalizer(false, Some(true), true, true));
    assert_eq!(pieces(&accents_only, "crème Apple"), "creme Apple");
    let lower_only = tokenizer(&normalizer(true, Some(false), true, true));
    assert_eq!(
        pieces(&lower_only, "APPLE CREME CRÈME"),
        "apple creme [UNK]"
    );
    let run_together = tokenizer(&normalizer(true, None, true, false));
    assert_eq!(
        pieces(&run_together, "模式 色深 深模"),
        "模 ##式 色 ##深 [UNK]"
    );
    let unclean = tokenizer(&normalizer(true, None, false, true));
    assert_eq!(pieces(&unclean, "a\u{200b}e a\tb"), "[UNK] a b");
    let bare = tokenizer(&Value::Null);
    assert_eq!(pieces(&bare, "Apple Crème 模式"), "Apple Crème 模 ##式");
}

#[test]
fn a_vocabulary_of_lines_is_read_with_its_settings() {
    let lines = PIECES.join("\r\n") + "\r\n";
    let lower = folder_with(&[("vocab.txt", &lines)]);
    assert_eq!(
        pieces(&open(lower.path()).expect("it is sound"), "Apples, Crème"),
        "apple ##s , creme"
    );
    let cased = folder_with(&[
        ("vocab.txt", &lines),
        (
            "tokenizer_config.json",
            r#"{"do_lower_case": false, "more": [1]}"#,
        ),
    ]);
    assert_eq!(
        pieces(&open(cased.path()).expect("it is sound"), "Apples, Crème"),
        "Apple ##s , Crème"
    );
}

#[test]
fn long_texts_are_cut_and_of_two_the_longer_one_first() {
    let tokenizer = tokenizer(&default_normalizer());
    assert_eq!(
        join_pieces(&tokenizer.encode("a b e n s", 5).ids),
        "[CLS] a b e [SEP]"
    );
    assert_eq!(
        join_pieces(&tokenizer.encode("unhappiness", 4).ids),
        "[CLS] un ##happi [SEP]"
    );
    for (one, other, most, expected) in [
        ("a b", "e n s", 9, "[CLS] a b [SEP] e n s [SEP]"),
        ("a b", "e n s", 8, "[CLS] a b [SEP] e n s [SEP]"),
        ("a b", "e n s a a a a", 8, "[CLS] a b [SEP] e n s [SEP]"),
        ("e n s a a a a", "a b", 8, "[CLS] e n s [SEP] a b [SEP]"),
        ("a a a a", "b b b b b", 9, "[CLS] a a a [SEP] b b b [SEP]"),
        ("a a a a", "b b b b b", 8, "[CLS] a a [SEP] b b b [SEP]"),
        ("a a a a a", "b b b b", 8, "[CLS] a a a [SEP] b b [SEP]"),
        ("", "", 5, "[CLS] [SEP] [SEP]"),
    ] {
        let TokenIds { ids, first } = tokenizer.encode_pair(one, other, most);
        assert_eq!(join_pieces(&ids), expected);
        assert_eq!(
            join_pieces(&ids[first - 1..first]),
            "[SEP]",
            "the first separator belongs to the first text"
        );
        assert_eq!(
            ids[1..first - 1]
                .iter()
                .filter(|id| PIECES[**id as usize] == "[SEP]")
                .count(),
            0
        );
    }
}

#[test]
fn a_tokenizer_that_cannot_be_used_says_why() {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut model = model(&default_normalizer());
        change(&mut model);
        let folder = folder_with(&[("tokenizer.json", &model.to_string())]);
        let error = open(folder.path()).expect_err("it cannot be used");
        error
            .split_once("tokenizer.json cannot be used: ")
            .unwrap_or_else(|| panic!("it names the file: {error}"))
            .1
            .to_owned()
    };
    for special in ["[UNK]", "[CLS]", "[SEP]"] {
        let why = changed(&|model| {
            model["model"]["vocab"]
                .as_object_mut()
                .expect("it is an object")
                .remove(special);
        });
        assert_eq!(why, format!("its vocabulary has no {special}"));
    }
    assert_eq!(
        changed(&|model| model["model"]["type"] = json!("BPE")),
        r#"it describes a tokenizer of type "BPE""#
    );
    let sequence =
        changed(&|model| model["normalizer"] = json!({"type": "Sequence", "normalizers": []}));
    assert_eq!(sequence, r#"it uses the normalizer "Sequence""#);
    let negative = changed(&|model| model["model"]["vocab"]["apple"] = json!(-1));
    assert!(
        negative.starts_with("its content is invalid: invalid value: integer `-1`"),
        "{negative}"
    );
    assert!(changed(&|model| *model = json!([])).starts_with("its content is invalid"));

    let lines = folder_with(&[("vocab.txt", "[UNK]\n[CLS]\n")]);
    assert!(
        open(lines.path())
            .expect_err("no [SEP]")
            .ends_with("vocab.txt cannot be used: its vocabulary has no [SEP]")
    );
    let bytes = folder_with(&[]);
    fs::write(bytes.path().join("vocab.txt"), b"[UNK]\n\xff\n")
        .expect("a temporary file can be written");
    assert!(
        open(bytes.path())
            .expect_err("no UTF-8")
            .ends_with("vocab.txt cannot be used: it is not UTF-8")
    );
    let nothing = folder_with(&[]);
    assert!(
        open(nothing.path())
            .expect_err("no file")
            .ends_with("tokenizer.json does not exist")
    );
}

proptest! {
    #[test]
    fn every_text_becomes_tokens_that_are_known(
        text in "(\\PC|[abens深模式'\u{300}\u{200b}\u{0}\\s]){0,60}",
        most in 2..40_usize,
        lowercase: bool,
        strip_accents: Option<bool>,
        clean: bool,
        chinese: bool,
    ) {
        let tokenizer = tokenizer(&normalizer(lowercase, strip_accents, clean, chinese));
        let TokenIds { ids, .. } = tokenizer.encode(&text, most);
        prop_assert!(ids.len() <= most && ids.iter().all(|id| (*id as usize) < PIECES.len()));
        let all = tokenizer.encode(&text, usize::MAX).ids;
        prop_assert_eq!(&ids[..ids.len() - 1], &all[..ids.len() - 1], "a cut text begins as the whole one");
    }

    #[test]
    fn two_texts_never_have_more_tokens_than_there_is_room(one in "[ab ]{0,60}", other in "[ab ]{0,60}", most in 3..40_usize) {
        let tokenizer = tokenizer(&default_normalizer());
        let TokenIds { ids, first } = tokenizer.encode_pair(&one, &other, most);
        prop_assert!(ids.len() <= most && 2 <= first && first < ids.len());
        let whole = tokenizer.encode(&one, usize::MAX).ids.len() + tokenizer.encode(&other, usize::MAX).ids.len() - 1;
        prop_assert_eq!(ids.len(), whole.min(most), "no room is wasted");
    }
}
