//! Access to the files of a model folder, its errors, and the identity of a model.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use memory_core::{EmbedError, RerankError};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// The folder of a model, or of one of its modules.
#[derive(Debug)]
pub(super) struct ModelFolder {
    path: PathBuf,
}

/// Maximum size of a file that is read as a whole, in bytes.
///
/// Tokenizers have a few hundred KB, multilingual ones up to 20 MB.
const MAX_FILE: u64 = 64 << 20;

impl ModelFolder {
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        if path.is_dir() {
            return Ok(Self {
                path: path.to_owned(),
            });
        }
        let is = if path.exists() {
            "is not a folder"
        } else {
            "does not exist"
        };
        Err(ModelError::new(
            format!("{} {is}", path.display()),
            "give the folder that contains config.json, tokenizer.json and model.safetensors",
        ))
    }

    /// Returns the subfolder `name`, which a file of the model refers to.
    pub(super) fn subfolder(&self, name: &str) -> Result<Self, ModelError> {
        let is_inside = Path::new(name)
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        if !is_inside {
            return Err(self.damaged(
                "modules.json",
                &format!("it names a folder outside of the model: {name:?}"),
            ));
        }
        Self::open(&self.path.join(name))
    }

    /// Returns the name of the folder.
    pub(super) fn name(&self) -> String {
        // A path such as `.` has no file name before canonicalization.
        let path = self
            .path
            .canonicalize()
            .unwrap_or_else(|_| self.path.clone());
        path.file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned()
    }

    pub(super) fn path_of(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.path.join(file).exists()
    }

    pub(super) fn file(&self, file: &str) -> Result<File, ModelError> {
        let path = self.path.join(file);
        if !path.exists() {
            return Err(self.missing(file));
        }
        // Opening a pipe would block until another process writes to it.
        if !path.is_file() {
            return Err(self.damaged(file, "it is not a file"));
        }
        File::open(path).map_err(|error| self.unreadable(file, &error))
    }

    pub(super) fn read(&self, file: &str) -> Result<Vec<u8>, ModelError> {
        let mut bytes = Vec::new();
        self.file(file)?
            .take(MAX_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.unreadable(file, &error))?;
        if MAX_FILE < bytes.len() as u64 {
            return Err(self.damaged(file, "it is larger than 64 MiB"));
        }
        Ok(bytes)
    }

    pub(super) fn read_json<T: DeserializeOwned>(&self, file: &str) -> Result<T, ModelError> {
        self.parse(file, &self.read(file)?)
    }

    /// Parses an optional JSON file.
    pub(super) fn read_optional_json<T: DeserializeOwned>(
        &self,
        file: &str,
    ) -> Result<Option<T>, ModelError> {
        if self.has(file) {
            self.read_json(file).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        file: &str,
        bytes: &[u8],
    ) -> Result<T, ModelError> {
        serde_json::from_slice(bytes)
            .map_err(|error| self.damaged(file, &format!("its content is invalid: {error}")))
    }

    /// Returns the error for a damaged file; another download may fix it.
    pub(super) fn damaged(&self, file: &str, what: &str) -> ModelError {
        ModelError::new(
            format!("{} cannot be used: {what}", self.path.join(file).display()),
            "download the model again, or choose another one",
        )
    }

    /// Returns the error for a valid file of an unsupported kind.
    pub(super) fn unsupported(&self, file: &str, what: &str) -> ModelError {
        ModelError::new(
            format!("{} cannot be used: {what}", self.path.join(file).display()),
            "choose a BERT or XLM-R model with a WordPiece or unigram tokenizer, such as all-MiniLM-L6-v2, or a model2vec model",
        )
    }

    fn missing(&self, file: &str) -> ModelError {
        let other = ["pytorch_model.bin", "tf_model.h5", "model.onnx"]
            .into_iter()
            .find(|other| self.has(other));
        let hint = match other {
            Some(other) if file == "model.safetensors" => {
                format!(
                    "the format of {other} is not supported; download model.safetensors, or convert the file"
                )
            }
            _ => "download the complete model: config.json, tokenizer.json and model.safetensors"
                .to_owned(),
        };
        ModelError::new(
            format!("{} does not exist", self.path.join(file).display()),
            hint,
        )
    }

    fn unreadable(&self, file: &str, error: &io::Error) -> ModelError {
        ModelError::new(
            format!("{} cannot be read: {error}", self.path.join(file).display()),
            "check the permissions of the file and the health of the disk",
        )
    }
}

/// The reason why a model in a folder cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelError {
    /// The error message, with the name of the file.
    pub(super) why: String,
    /// The suggested next step.
    pub(super) hint: String,
}

impl ModelError {
    pub(super) fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            hint: hint.into(),
        }
    }
}

impl From<ModelError> for EmbedError {
    fn from(error: ModelError) -> Self {
        Self {
            why: error.why,
            hint: Some(error.hint),
        }
    }
}

impl From<ModelError> for RerankError {
    fn from(error: ModelError) -> Self {
        Self {
            why: error.why,
            hint: Some(error.hint),
        }
    }
}

/// Number of bytes at each end of the weights that are hashed.
const HASHED_END: usize = 64 << 10;

/// Returns the name of the model and a hash of its files.
///
/// `parts` are the small files and settings; they are hashed as a whole. Of the weights, which are large, only the
/// size, the header and both ends are hashed. Two training runs of one network differ in every layer, so they also
/// differ there. The path and the modification time of the files have no effect.
pub(super) fn model_identity(name: &str, parts: &[&[u8]], weights: &[u8], header: usize) -> String {
    let mut hash = Sha256::new();
    let (head, tail) = (
        weights.len().min(header + HASHED_END),
        weights.len().saturating_sub(HASHED_END),
    );
    let size = weights.len().to_le_bytes();
    for part in parts
        .iter()
        .copied()
        .chain([&size[..], &weights[..head], &weights[tail..]])
    {
        // The length prefix separates each part from the next one.
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let mut identity = format!("{name}@");
    for byte in &hash.finalize()[..8] {
        write!(identity, "{byte:02x}").expect("a string takes everything");
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts_and_so_does_its_border() {
        let weights = vec![7_u8; 3 * HASHED_END];
        let of = |parts: &[&[u8]], weights: &[u8]| model_identity("model", parts, weights, 10);
        let one = of(&[b"config", b"pooling"], &weights);
        assert_eq!(one, of(&[b"config", b"pooling"], &weights));
        assert_eq!(one.len(), "model@".len() + 16);
        assert_ne!(one, of(&[b"configp", b"ooling"], &weights));
        for place in [0, HASHED_END + 9, 3 * HASHED_END - 1] {
            let mut other = weights.clone();
            other[place] = 8;
            assert_ne!(one, of(&[b"config", b"pooling"], &other), "{place}");
        }
        assert_ne!(
            one,
            of(&[b"config", b"pooling"], &weights[1..]),
            "another size"
        );
        assert!(of(&[], &[]).starts_with("model@"));
    }
}
