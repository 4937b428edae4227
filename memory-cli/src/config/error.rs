//! Settings that cannot be used.

use std::path::PathBuf;

use memory_core::ParseError;

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// Nobody says where the memories are.
    #[error("there is no home folder to keep the memories in")]
    NoHome,
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no YAML.
    #[error("{} is not well-formed", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why, and in which line.
        source: serde_yaml::Error,
    },
    /// The file is YAML, but no keys with values.
    #[error("{}: {what} should hold keys with values", path.display())]
    NoKeys {
        /// The file.
        path: PathBuf,
        /// The key, or the file itself.
        what: String,
    },
    /// A value is not what its key wants.
    #[error("{}: {key}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key, with dots.
        key: String,
        /// Why.
        source: ParseError,
    },
    /// A variable of the environment is not what its key wants.
    #[error("the variable {variable}")]
    Variable {
        /// The variable.
        variable: String,
        /// Why.
        source: ParseError,
    },
    /// A variable of the environment should hold a key. Its value is not said: most of a key may stand there.
    #[error("the variable {variable} holds no key: one is a single word of ASCII")]
    Key {
        /// The variable.
        variable: &'static str,
    },
}

impl ConfigError {
    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NoHome => Some("name the folder with --root or MEMORY_ROOT".into()),
            Self::Unreadable { .. } => None,
            Self::Key { variable } => Some(format!("correct {variable}, or unset it")),
            Self::Variable { variable, .. } => Some(format!("correct {variable}, or unset it")),
            Self::Malformed { .. } | Self::NoKeys { .. } | Self::Value { .. } => {
                Some("correct it, or remove the line: every key has a default".into())
            }
        }
    }
}
