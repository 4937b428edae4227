//! A local reranking model.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use memory_core::{RerankError, Reranker};

use super::bert::{BertConfig, Encoder, EncoderBuffers, Grid, Linear, ModelWeights, split_batches};
use super::folder::model_identity;
use super::sentence_transformer::InputSettings;
use super::tokenizer::{SubwordTokenizer, TokenIds};
use super::{ModelError, ModelFolder};
use crate::model::parallel::map_parallel;

/// A cross-encoder in a folder that runs on this machine's processor.
///
/// The model is a BERT model for sequence classification.
///
/// The score is the only logit of a model with one label, or the last logit of a model with two labels. If query and
/// text together exceed the input limit of the model (usually 512 tokens), the longer of the two is truncated first.
#[derive(Debug)]
pub struct LocalReranker {
    folder: PathBuf,
    identity: String,
    tokenizer: SubwordTokenizer,
    encoder: Encoder,
    pooler: Linear,
    classifier: Linear,
    reading: InputSettings,
    hidden: usize,
    threads: NonZeroUsize,
}

impl LocalReranker {
    /// Opens the model in `folder`.
    ///
    /// The weights are memory-mapped, so unused parts are not read. Batches are distributed over `threads`, or over all
    /// available processors by default. Do not write to the files while the model is in use; replace a file by renaming
    /// a new one over it.
    ///
    /// # Errors
    /// If the folder or a file of the model is missing or damaged, or the model is not supported.
    pub fn open(folder: &Path, threads: Option<NonZeroUsize>) -> Result<Self, RerankError> {
        Ok(Self::load(folder, threads)?)
    }

    fn load(path: &Path, threads: Option<NonZeroUsize>) -> Result<Self, ModelError> {
        let folder = &ModelFolder::open(path)?;
        let config = BertConfig::open(folder)?;
        let opened = SubwordTokenizer::open(folder)?;
        let reading = InputSettings::open(folder, config.positions)?;
        let weights = ModelWeights::open(folder)?;
        let labels = label_count(folder, &weights)?;
        let encoder = Encoder::open(&weights, &config)?;
        opened.check(folder, &encoder)?;
        if !encoder.has_segments() {
            return Err(folder.unsupported(
                "config.json",
                "its network has no segment embeddings for a second text",
            ));
        }
        let pooler = Linear::open_pooler(&weights, config.hidden)?;
        let classifier = Linear::open_outer(&weights, "classifier", config.hidden, labels)?;
        let (bytes, header) = weights.bytes();
        let settings = reading.identity_text();
        let identity = model_identity(
            &folder.name(),
            &[&config.bytes, &opened.bytes, settings.as_bytes()],
            bytes,
            header,
        );
        let (tokenizer, hidden) = (opened.tokenizer, config.hidden);
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN);
        let folder = folder.path_of("");
        Ok(Self {
            folder,
            identity,
            tokenizer,
            encoder,
            pooler,
            classifier,
            reading,
            hidden,
            threads,
        })
    }

    fn tokenize(&self, query: &str, text: &str) -> TokenIds {
        let most = self.reading.most_tokens;
        if self.reading.is_lowered {
            return self
                .tokenizer
                .encode_pair(&query.to_lowercase(), &text.to_lowercase(), most);
        }
        self.tokenizer.encode_pair(query, text, most)
    }

    fn logits(
        &self,
        workspace: &mut EncoderBuffers,
        inputs: &[TokenIds],
    ) -> Vec<Result<f32, ModelError>> {
        let grid = self.encoder.encode(inputs, workspace);
        let (mut first, mut pooled, mut logits) =
            (Grid::default(), Grid::default(), Grid::default());
        first.resize(self.hidden, inputs.len());
        let mut start = 0;
        for (column, input) in inputs.iter().enumerate() {
            first.set_column(column, &grid.column(start));
            start += input.ids.len();
        }
        self.pooler.apply(&first, &mut pooled);
        for number in pooled.numbers_mut() {
            *number = number.tanh();
        }
        self.classifier.apply(&pooled, &mut logits);
        let logit = |column: usize| {
            logits
                .column(column)
                .last()
                .copied()
                .filter(|logit| logit.is_finite())
        };
        (0..inputs.len())
            .map(|column| logit(column).ok_or_else(|| ModelWeights::not_finite_error(&self.folder)))
            .collect()
    }
}

impl Reranker for LocalReranker {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let tokens = map_parallel(self.threads, texts, |(): &mut (), text| {
            self.tokenize(query, text)
        });
        let logits = map_parallel(self.threads, &split_batches(&tokens), |workspace, group| {
            self.logits(workspace, group)
        });
        logits
            .into_iter()
            .flatten()
            .map(|logit| logit.map_err(RerankError::from))
            .collect()
    }
}

/// Returns the number of labels of the model.
fn label_count(folder: &ModelFolder, weights: &ModelWeights<'_>) -> Result<usize, ModelError> {
    let Some(shape) = weights.shape("classifier.weight") else {
        let why = "it has no classifier.weight, so it is not a cross-encoder";
        return Err(folder.unsupported("model.safetensors", why));
    };
    match shape.first() {
        Some(&labels @ (1 | 2)) => Ok(labels),
        _ => Err(folder.unsupported(
            "model.safetensors",
            &format!("its classifier has the shape {shape:?}, not 1 or 2 labels"),
        )),
    }
}
