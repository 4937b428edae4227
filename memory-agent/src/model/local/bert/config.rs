//! The network configuration in `config.json`.

use serde::Deserialize;

use super::math::Activation;
use crate::model::local::{ModelError, ModelFolder};

pub(super) const FILE: &str = "config.json";

/// The dimensions and the kind of a network.
#[derive(Debug)]
pub(in crate::model::local) struct BertConfig {
    pub(in crate::model::local) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    /// Maximum number of tokens of an input.
    pub(in crate::model::local) positions: usize,
    /// Position of the first token.
    ///
    /// Models of the `RoBERTa` family skip all positions up to that of padding.
    pub(super) first_position: usize,
    pub(super) kinds: usize,
    pub(super) epsilon: f32,
    pub(super) activation: Activation,
    pub(in crate::model::local) is_classifier: bool,
    /// The bytes of the file.
    pub(in crate::model::local) bytes: Vec<u8>,
}

#[derive(Debug, Deserialize)]
struct BertConfigFile {
    model_type: Option<String>,
    #[serde(default)]
    architectures: Option<Vec<String>>,
    hidden_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    intermediate_size: Option<usize>,
    max_position_embeddings: Option<usize>,
    type_vocab_size: Option<usize>,
    layer_norm_eps: Option<f32>,
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
    pad_token_id: Option<usize>,
    #[serde(default)]
    is_decoder: bool,
}

impl BertConfig {
    pub(in crate::model::local) fn open(folder: &ModelFolder) -> Result<Self, ModelError> {
        let bytes = folder.read(FILE)?;
        let described: BertConfigFile = folder.parse(FILE, &bytes)?;
        let architecture = described
            .architectures
            .as_deref()
            .unwrap_or_default()
            .first()
            .cloned()
            .unwrap_or_default();
        let kind = described.model_type.clone().unwrap_or_else(|| {
            let kinds = [
                ("XLMRoberta", "xlm-roberta"),
                ("Roberta", "roberta"),
                ("Camembert", "camembert"),
                ("Bert", "bert"),
            ];
            let kind = kinds
                .into_iter()
                .find(|(prefix, _)| architecture.starts_with(prefix));
            kind.map_or_else(|| architecture.clone(), |(_, kind)| kind.to_owned())
        });
        let is_roberta = ["xlm-roberta", "roberta", "camembert"].contains(&kind.as_str());
        if !(is_roberta || kind == "bert") || described.is_decoder {
            let why = format!("it describes a model of type {kind:?}, not a BERT or XLM-R encoder");
            return Err(folder.unsupported(FILE, &why));
        }
        if let Some(kind) = described
            .position_embedding_type
            .filter(|kind| kind != "absolute")
        {
            return Err(folder.unsupported(
                FILE,
                &format!("it uses position embeddings of type {kind:?}"),
            ));
        }
        let activation = described.hidden_act.as_deref().unwrap_or("gelu");
        let Some(activation) = Activation::from_name(activation) else {
            return Err(folder.unsupported(FILE, &format!("it uses the activation {activation:?}")));
        };
        let size = |name: &str, said: Option<usize>| match said {
            Some(0) => Err(folder.damaged(FILE, &format!("{name} is 0"))),
            Some(size) => Ok(size),
            None => Err(folder.damaged(FILE, &format!("it has no {name}"))),
        };
        let positions = size("max_position_embeddings", described.max_position_embeddings)?;
        let first_position = if is_roberta {
            described.pad_token_id.unwrap_or(1).saturating_add(1)
        } else {
            0
        };
        let Some(positions) = positions
            .checked_sub(first_position)
            .filter(|positions| 0 < *positions)
        else {
            let why = format!(
                "max_position_embeddings {positions} leaves no position from {first_position} on"
            );
            return Err(folder.damaged(FILE, &why));
        };
        let config = Self {
            hidden: size("hidden_size", described.hidden_size)?,
            layers: size("num_hidden_layers", described.num_hidden_layers)?,
            heads: size("num_attention_heads", described.num_attention_heads)?,
            intermediate: size("intermediate_size", described.intermediate_size)?,
            positions,
            first_position,
            kinds: size("type_vocab_size", described.type_vocab_size.or(Some(2)))?,
            epsilon: described.layer_norm_eps.unwrap_or(1e-12),
            activation,
            is_classifier: architecture.ends_with("ForSequenceClassification"),
            bytes,
        };
        if !config.hidden.is_multiple_of(config.heads) {
            let why = format!(
                "hidden_size {} is not a multiple of num_attention_heads {}",
                config.hidden, config.heads
            );
            return Err(folder.damaged(FILE, &why));
        }
        Ok(config)
    }
}
