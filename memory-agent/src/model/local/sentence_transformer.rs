//! Configuration of sentence transformers: pooling, input length and lower case.

use serde::Deserialize;

use super::{ModelError, ModelFolder};

const MODULES: &str = "modules.json";
const POOLING: &str = "config.json";
const CONFIG: &str = "config.json";
const SENTENCE: &str = "sentence_bert_config.json";
const TOKENIZER: &str = "tokenizer_config.json";

/// Maximum length of any input, in tokens, because attention needs memory for its square.
pub(super) const LONGEST: usize = 8_192;

/// How the outputs for all tokens are combined into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The mean over all tokens.
    Mean,
    /// The output for the first token.
    First,
}

/// The module structure of a sentence transformer.
#[derive(Debug)]
pub(super) struct SentenceTransformer {
    /// Subfolder of the network, which some older models have.
    pub(super) part: Option<ModelFolder>,
    pub(super) pooling: Pooling,
    /// Whether the model has no network; the vector of a text is then the mean of its tokens' vectors.
    pub(super) is_static: bool,
}

/// The part of `config.json` that identifies models without a network.
#[derive(Debug, Default, Deserialize)]
struct ModelType {
    model_type: Option<String>,
}

#[derive(Debug, Deserialize)]
struct TransformerModule {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

#[derive(Debug, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the file says it with one switch for each way"
)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_sqrt_len_tokens: bool,
    #[serde(default)]
    pooling_mode_weightedmean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
}

#[derive(Debug, Default, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

#[derive(Debug, Default, Deserialize)]
struct TokenizerConfig {
    // For models without a limit this number exceeds all integer types.
    model_max_length: Option<f64>,
}

impl SentenceTransformer {
    /// Reads the module structure. A model without `modules.json` uses mean pooling.
    pub(super) fn open(folder: &ModelFolder) -> Result<Self, ModelError> {
        let mut sentence = Self {
            part: None,
            pooling: Pooling::Mean,
            is_static: false,
        };
        let Some(modules) = folder.read_optional_json::<Vec<TransformerModule>>(MODULES)? else {
            // The caller that needs this file reports its defects.
            let kind = folder
                .read_optional_json::<ModelType>(CONFIG)
                .ok()
                .flatten()
                .unwrap_or_default()
                .model_type;
            return Ok(Self {
                is_static: kind.as_deref() == Some("model2vec"),
                ..sentence
            });
        };
        for module in &modules {
            let kind = module.kind.rsplit('.').next().unwrap_or_default();
            match kind {
                "Transformer" | "StaticEmbedding" => {
                    sentence.is_static = kind == "StaticEmbedding";
                    sentence.part = (!["", "."].contains(&module.path.as_str()))
                        .then(|| folder.subfolder(&module.path))
                        .transpose()?;
                }
                "Pooling" => sentence.pooling = read_pooling(&folder.subfolder(&module.path)?)?,
                // All vectors are normalized to length 1 in any case.
                "Normalize" => {}
                other => {
                    return Err(
                        folder.unsupported(MODULES, &format!("it has a module of type {other:?}"))
                    );
                }
            }
        }
        Ok(sentence)
    }
}

fn read_pooling(folder: &ModelFolder) -> Result<Pooling, ModelError> {
    let config: PoolingConfig = folder.read_json(POOLING)?;
    let has_other = config.pooling_mode_max_tokens
        || config.pooling_mode_mean_sqrt_len_tokens
        || config.pooling_mode_weightedmean_tokens
        || config.pooling_mode_lasttoken;
    match (
        config.pooling_mode_mean_tokens,
        config.pooling_mode_cls_token,
    ) {
        (true, false) if !has_other => Ok(Pooling::Mean),
        (false, true) if !has_other => Ok(Pooling::First),
        _ => Err(folder.unsupported(
            POOLING,
            "it uses another pooling than the mean of the tokens or the first token",
        )),
    }
}

/// How a text is prepared for the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InputSettings {
    /// Maximum number of tokens of an input, including special tokens.
    pub(super) most_tokens: usize,
    /// Whether the text is converted to lower case first.
    pub(super) is_lowered: bool,
}

impl InputSettings {
    /// Reads the input limit: that of the sentence transformer, else of the tokenizer, at most `positions`.
    pub(super) fn open(folder: &ModelFolder, positions: usize) -> Result<Self, ModelError> {
        let sentence: SentenceConfig = folder.read_optional_json(SENTENCE)?.unwrap_or_default();
        let tokenizer: TokenizerConfig = folder.read_optional_json(TOKENIZER)?.unwrap_or_default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "too much becomes the most there is"
        )]
        let said = sentence
            .max_seq_length
            .or(tokenizer.model_max_length.map(|length| length as usize));
        let most_tokens = said.unwrap_or(positions).min(positions).min(LONGEST);
        // The minimum is two texts of one token each, with three special tokens.
        if most_tokens < 5 {
            return Err(folder.damaged(
                SENTENCE,
                &format!("an input limit of {most_tokens} tokens leaves no room for a text"),
            ));
        }
        Ok(Self {
            most_tokens,
            is_lowered: sentence.do_lower_case,
        })
    }

    /// Returns the text that stands for the settings in the identity of a model.
    ///
    /// The vectors on disk belong to an identity, so this text never changes.
    pub(super) fn identity_text(self) -> String {
        format!(
            "Reading {{ most_tokens: {}, is_lowered: {} }}",
            self.most_tokens, self.is_lowered
        )
    }
}
