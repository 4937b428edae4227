//! What `tokenizer.json`, `vocab.txt` and `tokenizer_config.json` look like.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::vocabulary::Vocabulary;
use super::{Pieces, Spelling, Tokenizer};
use crate::model::local::bert::Encoder;
use crate::model::local::{Folder, ModelError};

const FAST: &str = "tokenizer.json";
const VOCABULARY: &str = "vocab.txt";
const CONFIG: &str = "tokenizer_config.json";

/// What the models of the time do when nothing is said.
const MOST_CHARACTERS: usize = 100;
const UNKNOWN: &str = "[UNK]";
const PREFIX: &str = "##";

#[derive(Deserialize)]
struct Fast {
    model: FastModel,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Normalizer>,
}

#[derive(Deserialize)]
struct FastModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default = "unknown")]
    unk_token: String,
    #[serde(default = "prefix")]
    continuing_subword_prefix: String,
    #[serde(default = "most_characters")]
    max_input_chars_per_word: usize,
    vocab: Vocabulary,
}

#[derive(Debug, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

#[derive(Debug, Deserialize)]
struct Normalizer {
    #[serde(rename = "type")]
    kind: String,
    clean_text: Option<bool>,
    handle_chinese_chars: Option<bool>,
    strip_accents: Option<bool>,
    lowercase: Option<bool>,
}

/// As much of `tokenizer.json` as any kind of tokenizer has.
#[derive(Debug, Deserialize)]
struct AnyKind {
    model: AnyModel,
}

#[derive(Debug, Deserialize)]
struct AnyModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "vocab")]
    _vocabulary: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
struct SlowConfig {
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
}

fn unknown() -> String {
    UNKNOWN.into()
}

fn prefix() -> String {
    PREFIX.into()
}

fn most_characters() -> usize {
    MOST_CHARACTERS
}

/// A tokenizer, and the bytes that make it what it is.
#[derive(Debug)]
pub(in crate::model::local) struct Opened {
    pub(in crate::model::local) tokenizer: Tokenizer,
    pub(in crate::model::local) bytes: Vec<u8>,
    file: &'static str,
}

impl Tokenizer {
    /// Reads a model's tokenizer: `tokenizer.json`, or `vocab.txt` with `tokenizer_config.json`.
    pub(in crate::model::local) fn open(folder: &Folder) -> Result<Opened, ModelError> {
        // A model that has neither is told that the first one is missing.
        if !folder.has(FAST) && folder.has(VOCABULARY) { slow(folder) } else { fast(folder) }
    }
}

fn fast(folder: &Folder) -> Result<Opened, ModelError> {
    let bytes = folder.read(FAST)?;
    let parsed: Result<Fast, ModelError> = folder.parse(FAST, &bytes);
    let kind = match &parsed {
        Ok(fast) => fast.model.kind.clone(),
        // Tokenizers of other kinds have vocabularies of other shapes.
        Err(_) => folder.parse::<AnyKind>(FAST, &bytes).ok().and_then(|any| any.model.kind),
    };
    if let Some(kind) = kind.filter(|kind| kind != "WordPiece") {
        return Err(folder.unsupported(FAST, &format!("it describes a tokenizer of the kind {kind:?}")));
    }
    let Fast { model, added_tokens, normalizer } = parsed?;
    let spelling = match normalizer {
        Some(normalizer) if normalizer.kind != "BertNormalizer" => {
            let kind = normalizer.kind;
            return Err(folder.unsupported(FAST, &format!("it wants texts normalised by {kind:?}")));
        }
        Some(normalizer) => {
            let is_lower = normalizer.lowercase.unwrap_or(true);
            Spelling {
                is_clean: normalizer.clean_text.unwrap_or(true),
                splits_chinese: normalizer.handle_chinese_chars.unwrap_or(true),
                drops_accents: normalizer.strip_accents.unwrap_or(is_lower),
                is_lower,
            }
        }
        None => Spelling { is_clean: false, splits_chinese: false, drops_accents: false, is_lower: false },
    };
    let mut vocabulary = model.vocab;
    for token in added_tokens {
        vocabulary.push(&token.content, token.id);
    }
    let pieces = Pieces::new(vocabulary, &model.continuing_subword_prefix);
    let tokenizer = tokenizer(folder, FAST, pieces, &model.unk_token, spelling, model.max_input_chars_per_word)?;
    Ok(Opened { tokenizer, bytes, file: FAST })
}

fn slow(folder: &Folder) -> Result<Opened, ModelError> {
    let bytes = folder.read(VOCABULARY)?;
    let config: SlowConfig = folder.json_if_there(CONFIG)?.unwrap_or_default();
    let text = std::str::from_utf8(&bytes).map_err(|_| folder.damaged(VOCABULARY, "it is not UTF-8"))?;
    let lines = text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut vocabulary = Vocabulary::default();
    for (number, line) in (0..).zip(lines) {
        vocabulary.push(line, number);
    }
    let is_lower = config.do_lower_case.unwrap_or(true);
    let spelling = Spelling {
        is_clean: true,
        splits_chinese: config.tokenize_chinese_chars.unwrap_or(true),
        drops_accents: config.strip_accents.unwrap_or(is_lower),
        is_lower,
    };
    let tokenizer = tokenizer(folder, VOCABULARY, Pieces::new(vocabulary, PREFIX), UNKNOWN, spelling, MOST_CHARACTERS)?;
    Ok(Opened { tokenizer, bytes, file: VOCABULARY })
}

fn tokenizer(
    folder: &Folder,
    file: &'static str,
    pieces: Pieces,
    unknown: &str,
    spelling: Spelling,
    most_characters: usize,
) -> Result<Tokenizer, ModelError> {
    let number =
        |token: &str| pieces.number(token).ok_or_else(|| folder.damaged(file, &format!("its vocabulary has no {token}")));
    let (unknown, start, separator) = (number(unknown)?, number("[CLS]")?, number("[SEP]")?);
    Ok(Tokenizer { spelling, pieces, unknown, start, separator, most_characters })
}

impl Opened {
    /// Checks that the network knows every token.
    pub(in crate::model::local) fn check(&self, folder: &Folder, encoder: &Encoder) -> Result<(), ModelError> {
        let (rows, known) = (self.tokenizer.pieces.rows(), encoder.vocabulary());
        if rows <= known {
            return Ok(());
        }
        let why = format!("its vocabulary has {rows} tokens, and the network knows {known}");
        Err(folder.damaged(self.file, &why))
    }
}
