//! A local embedding model.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use memory_core::{EmbedError, Embedder, Embedding};

use super::bert::{BertConfig, Encoder, EncoderBuffers, ModelWeights, split_batches};
use super::folder::model_identity;
use super::sentence_transformer::{InputSettings, LONGEST, Pooling, SentenceTransformer};
use super::static_table::StaticTable;
use super::tokenizer::{LoadedTokenizer, SubwordTokenizer, TokenIds};
use super::{ModelError, ModelFolder};
use crate::model::parallel::map_parallel;
use crate::model::unit_vector::unit_vector;

/// A sentence transformer or static embedding model in a folder that runs on this machine's processor.
///
/// A text that exceeds the input limit of the model (256 tokens for all-MiniLM-L6-v2, about 180 English words) is
/// truncated. A text that the vocabulary does not cover, such as a Chinese text in an English model, gets the zero
/// vector.
#[derive(Debug)]
pub struct LocalEmbedder {
    folder: PathBuf,
    identity: String,
    tokenizer: SubwordTokenizer,
    model: EmbeddingModel,
    dimensions: usize,
    threads: NonZeroUsize,
}

#[derive(Debug)]
enum EmbeddingModel {
    Network {
        encoder: Encoder,
        pooling: Pooling,
        reading: InputSettings,
    },
    Static(StaticTable),
}

impl LocalEmbedder {
    /// Opens the model in `folder`.
    ///
    /// The weights are memory-mapped, so unused parts are not read. Batches are distributed over `threads`, or over all
    /// available processors by default. Do not write to the files while the model is in use; replace a file by renaming
    /// a new one over it.
    ///
    /// # Errors
    /// If the folder or a file of the model is missing or damaged, or the model is not supported.
    pub fn open(folder: &Path, threads: Option<NonZeroUsize>) -> Result<Self, EmbedError> {
        Ok(Self::load(folder, threads)?)
    }

    fn load(path: &Path, threads: Option<NonZeroUsize>) -> Result<Self, ModelError> {
        let outer = ModelFolder::open(path)?;
        let sentence = SentenceTransformer::open(&outer)?;
        let folder = sentence.part.as_ref().unwrap_or(&outer);
        let (model, opened, identity, dimensions) = if sentence.is_static {
            load_static(&outer, folder)?
        } else {
            load_network(&outer, folder, sentence.pooling)?
        };
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN);
        Ok(Self {
            folder: folder.path_of(""),
            identity,
            tokenizer: opened.tokenizer,
            model,
            dimensions,
            threads,
        })
    }

    /// Returns the number of dimensions of a vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the vectors of the texts, with `None` for a text that the vocabulary does not cover.
    fn embed_with_network(
        &self,
        encoder: &Encoder,
        pooling: Pooling,
        reading: InputSettings,
        texts: &[&str],
    ) -> Vec<VectorResult> {
        let tokens = map_parallel(self.threads, texts, |(): &mut (), text| {
            let lowered = reading.is_lowered.then(|| text.to_lowercase());
            let text = lowered.as_deref().unwrap_or(text);
            let tokens = self.tokenizer.encode(text, reading.most_tokens);
            self.tokenizer.covers(text, &tokens.ids).then_some(tokens)
        });
        let is_covered: Vec<bool> = tokens.iter().map(Option::is_some).collect();
        let tokens: Vec<TokenIds> = tokens.into_iter().flatten().collect();
        let work = |workspace: &mut EncoderBuffers, group: &&[TokenIds]| {
            self.pool(encoder, pooling, workspace, group)
        };
        let mut vectors = map_parallel(self.threads, &split_batches(&tokens), work)
            .into_iter()
            .flatten();
        is_covered
            .into_iter()
            .map(|is_covered| {
                if is_covered {
                    vectors.next().transpose()
                } else {
                    Ok(None)
                }
            })
            .collect()
    }

    fn pool(
        &self,
        encoder: &Encoder,
        pooling: Pooling,
        workspace: &mut EncoderBuffers,
        inputs: &[TokenIds],
    ) -> Vec<Result<Embedding, ModelError>> {
        let grid = encoder.encode(inputs, workspace);
        let mut end = 0;
        let vector = |input: &TokenIds| {
            let start = end;
            end += input.ids.len();
            let pooled = match pooling {
                Pooling::First => grid.column(start),
                // The sum has the same direction as the mean, and the length is normalized.
                Pooling::Mean => grid.sum(start..end),
            };
            unit_vector(&pooled).ok_or_else(|| ModelWeights::not_finite_error(&self.folder))
        };
        inputs.iter().map(vector).collect()
    }

    fn embed_with_table(&self, table: &StaticTable, text: &str) -> VectorResult {
        let (ids, all) = table.tokenize(&self.tokenizer, text, LONGEST);
        if ids.is_empty() || !self.tokenizer.covers(text, &all) {
            return Ok(None);
        }
        let sum = table.sum(&ids);
        // Tokens without meaning have rows of zeros.
        if sum.iter().all(|number| *number == 0.0) {
            return Ok(None);
        }
        unit_vector(&sum)
            .map(Some)
            .ok_or_else(|| ModelWeights::not_finite_error(&self.folder))
    }
}

/// The vector of a text, or `None` if the vocabulary does not cover the text.
type VectorResult = Result<Option<Embedding>, ModelError>;

type LoadedModel = (EmbeddingModel, LoadedTokenizer, String, usize);

fn load_network(
    outer: &ModelFolder,
    folder: &ModelFolder,
    pooling: Pooling,
) -> Result<LoadedModel, ModelError> {
    let config = BertConfig::open(folder)?;
    if config.is_classifier && !outer.has("modules.json") {
        return Err(folder.unsupported(
            "config.json",
            "it describes a reranking model, which produces no vectors",
        ));
    }
    let opened = SubwordTokenizer::open(folder)?;
    let reading = InputSettings::open(folder, config.positions)?;
    let weights = ModelWeights::open(folder)?;
    let encoder = Encoder::open(&weights, &config)?;
    opened.check(folder, &encoder)?;
    let (bytes, header) = weights.bytes();
    let settings = format!("{pooling:?} {}", reading.identity_text());
    let identity = model_identity(
        &outer.name(),
        &[&config.bytes, &opened.bytes, settings.as_bytes()],
        bytes,
        header,
    );
    Ok((
        EmbeddingModel::Network {
            encoder,
            pooling,
            reading,
        },
        opened,
        identity,
        config.hidden,
    ))
}

fn load_static(outer: &ModelFolder, folder: &ModelFolder) -> Result<LoadedModel, ModelError> {
    let opened = SubwordTokenizer::open(folder)?;
    let weights = ModelWeights::open(folder)?;
    let table = StaticTable::open(folder, &weights, &opened)?;
    let (bytes, header) = weights.bytes();
    let identity = model_identity(&outer.name(), &[b"static", &opened.bytes], bytes, header);
    let dimensions = table.dimensions();
    Ok((EmbeddingModel::Static(table), opened, identity, dimensions))
}

impl Embedder for LocalEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let vectors = match &self.model {
            EmbeddingModel::Network {
                encoder,
                pooling,
                reading,
            } => self.embed_with_network(encoder, *pooling, *reading, texts),
            EmbeddingModel::Static(table) => {
                map_parallel(self.threads, texts, |(): &mut (), text| {
                    self.embed_with_table(table, text)
                })
            }
        };
        let zeros = || vec![0.0; self.dimensions];
        vectors
            .into_iter()
            .map(|vector| Ok(vector?.unwrap_or_else(zeros)))
            .collect()
    }
}
