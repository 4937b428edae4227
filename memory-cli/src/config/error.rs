//! Errors of the settings.

use std::path::PathBuf;

use memory_core::{ParseError, StoreError, io_hint};
use memory_store::ForeignFolder;

/// The error for invalid settings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The folder of the memories is unknown, because there is no home folder.
    #[error("cannot determine the home folder for the memories")]
    NoHome,
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Other users can change the file or its folder.
    #[error(transparent)]
    Foreign(#[from] ForeignFolder),
    /// The file is not valid YAML.
    #[error("{} is not valid YAML", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The cause, with the line.
        source: serde_yaml::Error,
    },
    /// The file is valid YAML, but a mapping is missing.
    #[error("{}: {what} must contain keys with values", path.display())]
    NoKeys {
        /// The file.
        path: PathBuf,
        /// The key, or the file itself.
        what: String,
    },
    /// The value of a key is invalid.
    #[error("{}: invalid value of {key}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key, in dotted form.
        key: String,
        /// The cause.
        source: ParseError,
    },
    /// A key cannot have the value that it would be set to.
    #[error("cannot set {key}")]
    NewValue {
        /// The key, in dotted form.
        key: String,
        /// The cause.
        source: ParseError,
    },
    /// The value of an environment variable is invalid.
    #[error("invalid environment variable {variable}")]
    Variable {
        /// The variable.
        variable: String,
        /// The cause.
        source: ParseError,
    },
    /// The API key in an environment variable is invalid.
    ///
    /// The message does not contain the value, because it may be most of a real key.
    #[error(
        "environment variable {variable} contains no valid API key: a key is one word of ASCII characters"
    )]
    Key {
        /// The variable.
        variable: &'static str,
    },
}

impl ConfigError {
    /// Returns the suggested next step.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NoHome => Some("specify the folder with --root or MEMORY_ROOT".into()),
            Self::Unreadable { source, .. } => io_hint(source).map(str::to_owned),
            Self::Foreign(found) => StoreError::from(found).hint(),
            Self::NewValue { key, .. } => Some(format!(
                "nothing was changed; `memory config set {key} \"\"` restores the default"
            )),
            Self::Key { variable } => Some(format!("correct or unset {variable}")),
            Self::Variable { variable, .. } => Some(format!("correct or unset {variable}")),
            Self::Malformed { .. } | Self::NoKeys { .. } | Self::Value { .. } => {
                Some("correct or remove the line: every key has a default".into())
            }
        }
    }
}
