//! How texts become vectors.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use memory_core::{EmbedError, Embedder, Embedding};

use super::bert::{Config, Encoder, Weights, Workspace, groups};
use super::identity::identity;
use super::sentence::{Pooling, Reading, Sentence};
use super::spread::spread;
use super::wordpiece::{Tokenizer, Tokens};
use super::{Folder, ModelError};
use crate::model::unit::of_length_1;

/// A sentence transformer out of a folder, run on this machine's processor.
///
/// A text that is longer than the model reads (256 tokens for all-MiniLM-L6-v2, some 180 English words) is cut: its end
/// has no part in the vector. A text without any words has a vector as well.
#[derive(Debug)]
pub struct LocalEmbedder {
    folder: PathBuf,
    identity: String,
    tokenizer: Tokenizer,
    encoder: Encoder,
    pooling: Pooling,
    reading: Reading,
    hidden: usize,
    threads: NonZeroUsize,
}

impl LocalEmbedder {
    /// Opens the model in `folder`. Its weights are mapped, not read: what is not used costs nothing.
    ///
    /// Many texts are spread over `threads`, or else over as many as the machine has. The files must not be written to
    /// while the model is in use; to replace one, put the new file in its place.
    ///
    /// # Errors
    /// When the folder or a file of the model is missing or damaged, or the model is none that can be run.
    pub fn open(folder: &Path, threads: Option<NonZeroUsize>) -> Result<Self, EmbedError> {
        Ok(Self::read(folder, threads)?)
    }

    fn read(path: &Path, threads: Option<NonZeroUsize>) -> Result<Self, ModelError> {
        let outer = Folder::open(path)?;
        let Sentence { transformer, pooling } = Sentence::open(&outer)?;
        let folder = transformer.as_ref().unwrap_or(&outer);
        let config = Config::open(folder)?;
        if config.is_classifier && !outer.has("modules.json") {
            return Err(folder.unsupported("config.json", "it describes a reranking model, which makes no vectors"));
        }
        let opened = Tokenizer::open(folder)?;
        let reading = Reading::open(folder, config.positions)?;
        let weights = Weights::open(folder)?;
        let encoder = Encoder::open(&weights, &config)?;
        opened.check(folder, &encoder)?;
        let (bytes, header) = weights.bytes();
        let settings = format!("{pooling:?} {reading:?}");
        let identity = identity(&outer.name(), &[&config.bytes, &opened.bytes, settings.as_bytes()], bytes, header);
        let (tokenizer, hidden) = (opened.tokenizer, config.hidden);
        let threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        Ok(Self { folder: folder.path_of(""), identity, tokenizer, encoder, pooling, reading, hidden, threads })
    }

    /// Returns how many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.hidden
    }

    fn tokens(&self, text: &str) -> Tokens {
        if self.reading.is_lowered {
            return self.tokenizer.one(&text.to_lowercase(), self.reading.most_tokens);
        }
        self.tokenizer.one(text, self.reading.most_tokens)
    }

    fn vectors(&self, workspace: &mut Workspace, inputs: &[Tokens]) -> Vec<Result<Embedding, ModelError>> {
        let grid = self.encoder.encode(inputs, workspace);
        let mut end = 0;
        let vector = |input: &Tokens| {
            let start = end;
            end += input.ids.len();
            let pooled = match self.pooling {
                Pooling::First => grid.column(start),
                // The mean and the sum point the same way, and only that is kept.
                Pooling::Mean => grid.sum(start..end),
            };
            of_length_1(&pooled).ok_or_else(|| Weights::not_a_number(&self.folder))
        };
        inputs.iter().map(vector).collect()
    }
}

impl Embedder for LocalEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let tokens = spread(self.threads, texts, |(): &mut (), text| self.tokens(text));
        let groups = groups(&tokens);
        let vectors = spread(self.threads, &groups, |workspace, group| self.vectors(workspace, group));
        vectors.into_iter().flatten().map(|vector| vector.map_err(EmbedError::from)).collect()
    }
}
