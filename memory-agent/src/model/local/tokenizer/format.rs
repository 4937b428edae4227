//! The formats of `tokenizer.json`, `vocab.txt` and `tokenizer_config.json`.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::charsmap::Charsmap;
use super::normalizer::Normalizer;
use super::pieces::{PieceSegmenter, WordPiece};
use super::pre_tokenizer::{PreTokenizer, Prepend};
use super::scripts::CoveredScripts;
use super::special_tokens::{PostProcessor, TokenFrame};
use super::unigram::Unigram;
use super::vocabulary::TokenVocabulary;
use super::words::WordNormalization;
use super::{SubwordModel, SubwordTokenizer, TOKENIZER_FILE};
use crate::model::local::bert::Encoder;
use crate::model::local::{ModelError, ModelFolder};

const VOCABULARY: &str = "vocab.txt";
const CONFIG: &str = "tokenizer_config.json";

/// Maximum length of a word in characters, whatever the file says. A longer word is unknown.
const LONGEST_WORD: usize = 1_000;

/// Maximum number of normalizers and of pre-tokenizers. Published tokenizers have fewer than 10.
const MAX_STEPS: usize = 64;

/// Defaults of BERT tokenizers.
const MOST_CHARACTERS: usize = 100;
const UNKNOWN: &str = "[UNK]";
const PREFIX: &str = "##";

#[derive(Deserialize)]
struct TokenizerFile {
    model: SubwordModelConfig,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<NormalizerConfig>,
    pre_tokenizer: Option<PreTokenizerConfig>,
    post_processor: Option<PostProcessor>,
}

#[derive(Deserialize)]
struct SubwordModelConfig {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default = "unknown")]
    unk_token: String,
    unk_id: Option<u32>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default = "prefix")]
    continuing_subword_prefix: String,
    #[serde(default = "most_characters")]
    max_input_chars_per_word: usize,
    vocab: TokenVocabulary,
}

#[derive(Debug, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    special: bool,
}

#[derive(Debug, Deserialize)]
struct NormalizerConfig {
    #[serde(rename = "type")]
    kind: String,
    clean_text: Option<bool>,
    handle_chinese_chars: Option<bool>,
    strip_accents: Option<bool>,
    lowercase: Option<bool>,
    #[serde(default)]
    normalizers: Vec<NormalizerConfig>,
    precompiled_charsmap: Option<String>,
    pattern: Option<PatternConfig>,
    content: Option<String>,
    prepend: Option<String>,
    strip_left: Option<bool>,
    strip_right: Option<bool>,
}

#[derive(Debug, Deserialize)]
enum PatternConfig {
    String(String),
    Regex(String),
}

#[derive(Debug, Deserialize)]
struct PreTokenizerConfig {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    pretokenizers: Vec<PreTokenizerConfig>,
    replacement: Option<char>,
    add_prefix_space: Option<bool>,
    prepend_scheme: Option<PrependScheme>,
    split: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PrependScheme {
    Always,
    First,
    Never,
}

/// The part of `tokenizer.json` that all kinds of tokenizers share.
#[derive(Debug, Deserialize)]
struct TokenizerKindFile {
    model: TokenizerKindModel,
}

#[derive(Debug, Deserialize)]
struct TokenizerKindModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "vocab")]
    _vocabulary: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
struct BertTokenizerConfig {
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

/// A tokenizer with the bytes of the file that defines it.
#[derive(Debug)]
pub(in crate::model::local) struct LoadedTokenizer {
    pub(in crate::model::local) tokenizer: SubwordTokenizer,
    pub(in crate::model::local) bytes: Vec<u8>,
    file: &'static str,
}

impl SubwordTokenizer {
    /// Loads the tokenizer of a model: `tokenizer.json`, or `vocab.txt` with `tokenizer_config.json`.
    pub(in crate::model::local) fn open(
        folder: &ModelFolder,
    ) -> Result<LoadedTokenizer, ModelError> {
        // If both files are missing, the error names `tokenizer.json`.
        if !folder.has(TOKENIZER_FILE) && folder.has(VOCABULARY) {
            load_vocab_txt(folder)
        } else {
            load_tokenizer_json(folder)
        }
    }
}

fn load_tokenizer_json(folder: &ModelFolder) -> Result<LoadedTokenizer, ModelError> {
    let bytes = folder.read(TOKENIZER_FILE)?;
    let parsed: Result<TokenizerFile, ModelError> = folder.parse(TOKENIZER_FILE, &bytes);
    let kind = match &parsed {
        Ok(fast) => fast.model.kind.clone(),
        // The vocabularies of other kinds of tokenizers have other JSON types.
        Err(_) => folder
            .parse::<TokenizerKindFile>(TOKENIZER_FILE, &bytes)
            .ok()
            .and_then(|any| any.model.kind),
    };
    if let Some(kind) = kind.filter(|kind| kind != "WordPiece" && kind != "Unigram") {
        return Err(folder.unsupported(
            TOKENIZER_FILE,
            &format!("it describes a tokenizer of type {kind:?}"),
        ));
    }
    let fast = parsed?;
    let tokenizer = if fast.model.vocab.has_scores() {
        build_unigram(folder, fast)?
    } else {
        build_word_piece(folder, fast)?
    };
    Ok(LoadedTokenizer {
        tokenizer,
        bytes,
        file: TOKENIZER_FILE,
    })
}

fn build_word_piece(
    folder: &ModelFolder,
    fast: TokenizerFile,
) -> Result<SubwordTokenizer, ModelError> {
    let TokenizerFile {
        model,
        added_tokens,
        normalizer,
        ..
    } = fast;
    let spelling = match normalizer {
        Some(normalizer) if normalizer.kind != "BertNormalizer" => {
            let kind = normalizer.kind;
            return Err(
                folder.unsupported(TOKENIZER_FILE, &format!("it uses the normalizer {kind:?}"))
            );
        }
        Some(normalizer) => {
            let is_lower = normalizer.lowercase.unwrap_or(true);
            WordNormalization {
                is_clean: normalizer.clean_text.unwrap_or(true),
                splits_chinese: normalizer.handle_chinese_chars.unwrap_or(true),
                drops_accents: normalizer.strip_accents.unwrap_or(is_lower),
                is_lower,
            }
        }
        None => WordNormalization {
            is_clean: false,
            splits_chinese: false,
            drops_accents: false,
            is_lower: false,
        },
    };
    let mut vocabulary = model.vocab;
    let median_piece = vocabulary.median_length();
    for token in added_tokens {
        vocabulary.push(&token.content, token.id);
    }
    let scripts = CoveredScripts::of(&vocabulary);
    let pieces = PieceSegmenter::new(vocabulary, &model.continuing_subword_prefix);
    let most_characters = model.max_input_chars_per_word.min(LONGEST_WORD);
    let tokenizer = WordPieceParts {
        pieces,
        unknown: &model.unk_token,
        spelling,
        most_characters,
        scripts,
        median_piece,
    };
    tokenizer.build(folder, TOKENIZER_FILE)
}

fn build_unigram(
    folder: &ModelFolder,
    fast: TokenizerFile,
) -> Result<SubwordTokenizer, ModelError> {
    let TokenizerFile {
        model,
        added_tokens,
        normalizer,
        pre_tokenizer,
        post_processor,
    } = fast;
    let vocabulary = model.vocab;
    if model
        .unk_id
        .is_some_and(|unknown| vocabulary.len() <= unknown as usize)
    {
        return Err(folder.damaged(TOKENIZER_FILE, "its vocabulary has no unknown token"));
    }
    let (mut normalizers, mut pre_tokenizers) = (Vec::new(), Vec::new());
    if let Some(normalizer) = normalizer {
        normalizer.add_to(&mut normalizers, folder)?;
    }
    if let Some(pre_tokenizer) = pre_tokenizer {
        pre_tokenizer.add_to(&mut pre_tokenizers, folder)?;
    }
    let frame = post_processor.map_or(Ok(TokenFrame::default()), |post_processor| {
        post_processor.frame(folder)
    })?;
    let special: HashSet<u32> = added_tokens
        .iter()
        .filter(|token| token.special)
        .map(|token| token.id)
        .collect();
    let largest = added_tokens
        .iter()
        .map(|token| token.id)
        .chain(vocabulary.largest_number())
        .max();
    let tokens = frame
        .before
        .iter()
        .chain(&frame.between)
        .chain(&frame.after)
        .copied();
    let rows = tokens
        .chain(largest)
        .max()
        .map_or(0, |largest| largest as usize + 1);
    let (scripts, median_piece) = (CoveredScripts::of(&vocabulary), vocabulary.median_length());
    let model = Unigram::new(
        vocabulary,
        &special,
        model.unk_id,
        model.byte_fallback,
        normalizers,
        pre_tokenizers,
    );
    Ok(SubwordTokenizer {
        model: SubwordModel::Unigram(Box::new(model)),
        frame: Ok(frame),
        scripts,
        rows,
        median_piece,
    })
}

/// Checks that another normalizer or pre-tokenizer may be added to `count` of them, since each is applied to every text.
fn check_room(folder: &ModelFolder, kind: &str, count: usize) -> Result<(), ModelError> {
    if count < MAX_STEPS {
        Ok(())
    } else {
        Err(folder.unsupported(
            TOKENIZER_FILE,
            &format!("it has more than {MAX_STEPS} {kind}"),
        ))
    }
}

impl NormalizerConfig {
    fn add_to(
        self,
        normalizers: &mut Vec<Normalizer>,
        folder: &ModelFolder,
    ) -> Result<(), ModelError> {
        let lacks =
            |what: &str| folder.damaged(TOKENIZER_FILE, &format!("a normalizer has no {what}"));
        check_room(folder, "normalizers", normalizers.len())?;
        normalizers.push(match self.kind.as_str() {
            "Sequence" => {
                return self
                    .normalizers
                    .into_iter()
                    .try_for_each(|inner| inner.add_to(normalizers, folder));
            }
            "Precompiled" => {
                let text = self
                    .precompiled_charsmap
                    .ok_or_else(|| lacks("precompiled_charsmap"))?;
                let map = STANDARD
                    .decode(text)
                    .ok()
                    .and_then(|bytes| Charsmap::parse(&bytes));
                Normalizer::Charsmap(map.ok_or_else(|| {
                    folder.damaged(TOKENIZER_FILE, "its precompiled_charsmap is invalid")
                })?)
            }
            "NFC" => Normalizer::Nfc,
            "NFD" => Normalizer::Nfd,
            "NFKC" => Normalizer::Nfkc,
            "NFKD" => Normalizer::Nfkd,
            "Lowercase" => Normalizer::Lowercase,
            "StripAccents" => Normalizer::StripAccents,
            "Strip" => Normalizer::Strip {
                left: self.strip_left.unwrap_or(true),
                right: self.strip_right.unwrap_or(true),
            },
            "Prepend" => Normalizer::Prepend(self.prepend.ok_or_else(|| lacks("prepend"))?),
            "Replace" => {
                let with = self.content.ok_or_else(|| lacks("content"))?;
                match self.pattern.ok_or_else(|| lacks("pattern"))? {
                    PatternConfig::String(text) if text.is_empty() => {
                        return Err(folder
                            .unsupported(TOKENIZER_FILE, "a normalizer replaces an empty text"));
                    }
                    PatternConfig::String(text) => Normalizer::Replace { text, with },
                    PatternConfig::Regex(pattern) => {
                        let unread = |_| {
                            folder.unsupported(
                                TOKENIZER_FILE,
                                &format!("it uses the unsupported pattern {pattern:?}"),
                            )
                        };
                        Normalizer::ReplacePattern {
                            pattern: Regex::new(&pattern).map_err(unread)?,
                            with,
                        }
                    }
                }
            }
            other => {
                return Err(folder
                    .unsupported(TOKENIZER_FILE, &format!("it uses the normalizer {other:?}")));
            }
        });
        Ok(())
    }
}

impl PreTokenizerConfig {
    fn add_to(
        self,
        pre_tokenizers: &mut Vec<PreTokenizer>,
        folder: &ModelFolder,
    ) -> Result<(), ModelError> {
        check_room(folder, "pre-tokenizers", pre_tokenizers.len())?;
        pre_tokenizers.push(match self.kind.as_str() {
            "Sequence" => {
                return self
                    .pretokenizers
                    .into_iter()
                    .try_for_each(|inner| inner.add_to(pre_tokenizers, folder));
            }
            "WhitespaceSplit" => PreTokenizer::Whitespace,
            "Metaspace" => PreTokenizer::Metaspace {
                space: self.replacement.unwrap_or('▁'),
                prepend: match (self.add_prefix_space, self.prepend_scheme) {
                    (Some(false), _) | (_, Some(PrependScheme::Never)) => Prepend::Never,
                    (_, Some(PrependScheme::First)) => Prepend::First,
                    (_, Some(PrependScheme::Always) | None) => Prepend::Always,
                },
                splits: self.split.unwrap_or(true),
            },
            other => {
                return Err(folder.unsupported(
                    TOKENIZER_FILE,
                    &format!("it uses the pre-tokenizer {other:?}"),
                ));
            }
        });
        Ok(())
    }
}

fn load_vocab_txt(folder: &ModelFolder) -> Result<LoadedTokenizer, ModelError> {
    let bytes = folder.read(VOCABULARY)?;
    let config: BertTokenizerConfig = folder.read_optional_json(CONFIG)?.unwrap_or_default();
    let text =
        std::str::from_utf8(&bytes).map_err(|_| folder.damaged(VOCABULARY, "it is not UTF-8"))?;
    let lines = text
        .split_terminator('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut vocabulary = TokenVocabulary::default();
    for (number, line) in (0..).zip(lines) {
        vocabulary.push(line, number);
    }
    let is_lower = config.do_lower_case.unwrap_or(true);
    let spelling = WordNormalization {
        is_clean: true,
        splits_chinese: config.tokenize_chinese_chars.unwrap_or(true),
        drops_accents: config.strip_accents.unwrap_or(is_lower),
        is_lower,
    };
    let (scripts, median_piece) = (CoveredScripts::of(&vocabulary), vocabulary.median_length());
    let pieces = PieceSegmenter::new(vocabulary, PREFIX);
    let parts = WordPieceParts {
        pieces,
        unknown: UNKNOWN,
        spelling,
        most_characters: MOST_CHARACTERS,
        scripts,
        median_piece,
    };
    let tokenizer = parts.build(folder, VOCABULARY)?;
    Ok(LoadedTokenizer {
        tokenizer,
        bytes,
        file: VOCABULARY,
    })
}

/// The components of a `WordPiece` tokenizer.
struct WordPieceParts<'a> {
    pieces: PieceSegmenter,
    unknown: &'a str,
    spelling: WordNormalization,
    most_characters: usize,
    scripts: CoveredScripts,
    median_piece: usize,
}

impl WordPieceParts<'_> {
    fn build(
        self,
        folder: &ModelFolder,
        file: &'static str,
    ) -> Result<SubwordTokenizer, ModelError> {
        let Self {
            pieces,
            unknown,
            spelling,
            most_characters,
            scripts,
            median_piece,
        } = self;
        let number = |token: &str| pieces.number(token).ok_or_else(|| token.to_owned());
        let unknown = number(unknown).map_err(|token| missing_token_error(folder, file, &token))?;
        let frame = number("[CLS]").and_then(|start| {
            let end = number("[SEP]")?;
            Ok(TokenFrame {
                before: vec![start],
                between: vec![end],
                after: vec![end],
            })
        });
        let rows = pieces.rows();
        let model = SubwordModel::WordPiece(WordPiece {
            spelling,
            pieces,
            unknown,
            most_characters,
        });
        Ok(SubwordTokenizer {
            model,
            frame,
            scripts,
            rows,
            median_piece,
        })
    }
}

fn missing_token_error(folder: &ModelFolder, file: &'static str, token: &str) -> ModelError {
    folder.damaged(file, &format!("its vocabulary has no {token}"))
}

impl LoadedTokenizer {
    /// Checks that the network covers the vocabulary and that all special tokens are defined.
    pub(in crate::model::local) fn check(
        &self,
        folder: &ModelFolder,
        encoder: &Encoder,
    ) -> Result<(), ModelError> {
        self.check_frame(folder)?;
        self.check_rows(folder, encoder.vocabulary_size())
    }

    /// Checks that all special tokens are defined.
    pub(super) fn check_frame(&self, folder: &ModelFolder) -> Result<(), ModelError> {
        self.tokenizer
            .frame
            .as_ref()
            .map(|_| ())
            .map_err(|token| missing_token_error(folder, self.file, token))
    }

    /// Checks that the vocabulary has at most `known` rows.
    pub(in crate::model::local) fn check_rows(
        &self,
        folder: &ModelFolder,
        known: usize,
    ) -> Result<(), ModelError> {
        let rows = self.tokenizer.rows;
        if rows <= known {
            return Ok(());
        }
        let why = format!("its vocabulary has {rows} tokens, but the network has only {known}");
        Err(folder.damaged(self.file, &why))
    }
}
