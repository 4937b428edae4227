//! The special tokens around a text.

use std::collections::HashMap;

use serde::Deserialize;

use super::TOKENIZER_FILE;
use crate::model::local::{ModelError, ModelFolder};

/// The special tokens before a text, between two texts, and after the last text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TokenFrame {
    pub(super) before: Vec<u32>,
    pub(super) between: Vec<u32>,
    pub(super) after: Vec<u32>,
}

/// The `post_processor` in `tokenizer.json`: a template, or one of two kinds with a fixed template.
#[derive(Debug, Deserialize)]
pub(super) struct PostProcessor {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    single: Vec<TemplatePart>,
    #[serde(default)]
    pair: Vec<TemplatePart>,
    #[serde(default)]
    special_tokens: HashMap<String, SpecialToken>,
    sep: Option<(String, u32)>,
    cls: Option<(String, u32)>,
    #[serde(default)]
    processors: Vec<PostProcessor>,
}

#[derive(Debug, Deserialize)]
enum TemplatePart {
    SpecialToken { id: String },
    Sequence { id: String },
}

#[derive(Debug, Deserialize)]
struct SpecialToken {
    ids: Vec<u32>,
}

impl PostProcessor {
    pub(super) fn frame(self, folder: &ModelFolder) -> Result<TokenFrame, ModelError> {
        let unusable = || {
            folder.damaged(
                TOKENIZER_FILE,
                "its post_processor does not define the special tokens",
            )
        };
        let Self {
            kind,
            single,
            pair,
            special_tokens,
            sep,
            cls,
            processors,
        } = self;
        match kind.as_str() {
            "Sequence" => {
                let framing = processors
                    .into_iter()
                    .find(|inner| inner.kind != "ByteLevel");
                framing.map_or(Ok(TokenFrame::default()), |inner| inner.frame(folder))
            }
            "BertProcessing" | "RobertaProcessing" => {
                let ((_, start), (_, end)) = cls.zip(sep).ok_or_else(unusable)?;
                let between = if kind == "BertProcessing" {
                    vec![end]
                } else {
                    vec![end, end]
                };
                Ok(TokenFrame {
                    before: vec![start],
                    between,
                    after: vec![end],
                })
            }
            "TemplateProcessing" => {
                // The special tokens before the first text, after it, and after the second text.
                let parts = |template: &[TemplatePart]| -> Option<Vec<Vec<u32>>> {
                    let mut parts = vec![Vec::new()];
                    for part in template {
                        match part {
                            TemplatePart::SpecialToken { id } => {
                                parts.last_mut()?.extend(&special_tokens.get(id)?.ids);
                            }
                            TemplatePart::Sequence { id } if (id == "A") == (parts.len() == 1) => {
                                parts.push(Vec::new());
                            }
                            TemplatePart::Sequence { .. } => return None,
                        }
                    }
                    Some(parts)
                };
                let single = parts(&single).and_then(|parts| <[Vec<u32>; 2]>::try_from(parts).ok());
                let [before, after] = single.ok_or_else(unusable)?;
                let pair = parts(&pair).and_then(|parts| <[Vec<u32>; 3]>::try_from(parts).ok());
                let between = pair.map_or_else(|| after.clone(), |[_, between, _]| between);
                Ok(TokenFrame {
                    before,
                    between,
                    after,
                })
            }
            other => Err(folder.unsupported(
                TOKENIZER_FILE,
                &format!("it uses the post-processor {other:?}"),
            )),
        }
    }
}
