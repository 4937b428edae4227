//! A setting with the layer that sets it.

#![expect(
    clippy::ptr_arg,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "the functions that show settings take their values by reference"
)]

use std::path::PathBuf;
use std::time::Duration;

use memory_agent::model::ApiKey;
use serde_json::Value;

use super::HIDDEN;
use crate::datetime;

/// A setting with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    /// The value.
    pub value: T,
    /// The layer that sets the value.
    pub from: SettingsLayer,
}

/// A layer of settings; later layers have precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SettingsLayer {
    /// The built-in default.
    Default,
    /// The settings file.
    File,
    /// An environment variable.
    Environment,
    /// A flag.
    Flag,
}

impl<T> Setting<T> {
    /// Creates the setting of a flag.
    pub(crate) fn flag(value: T) -> Self {
        Self {
            value,
            from: SettingsLayer::Flag,
        }
    }

    /// Returns the value of the highest layer: of a variable, else of the file, else the default.
    pub(super) fn layered(variable: Option<T>, file: Option<T>, default: T) -> Self {
        match (variable, file) {
            (Some(value), _) => Self {
                value,
                from: SettingsLayer::Environment,
            },
            (None, Some(value)) => Self {
                value,
                from: SettingsLayer::File,
            },
            (None, None) => Self {
                value: default,
                from: SettingsLayer::Default,
            },
        }
    }
}

impl SettingsLayer {
    /// Returns the name of the layer.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// A setting for display: its key, its value and its layer.
pub(super) type ShownSetting = (String, Value, SettingsLayer);

/// Shows a number, a text or a truth value.
pub(super) fn show<T: Clone + Into<Value>>(value: &T) -> Value {
    value.clone().into()
}

/// Shows a value as text, if there is one.
pub(super) fn show_optional<T: ToString>(value: &Option<T>) -> Value {
    value.as_ref().map(ToString::to_string).into()
}

/// Shows nothing, a text or a list of texts.
pub(super) fn show_list<T: ToString>(values: &Vec<T>) -> Value {
    match values.as_slice() {
        [] => Value::Null,
        [one] => one.to_string().into(),
        several => several.iter().map(ToString::to_string).collect(),
    }
}

/// Shows a path.
pub(super) fn show_path(path: &PathBuf) -> Value {
    path.display().to_string().into()
}

/// Shows a path, if there is one.
pub(super) fn show_optional_path(path: &Option<PathBuf>) -> Value {
    path.as_ref().map_or(Value::Null, show_path)
}

/// Shows a duration.
pub(super) fn show_span(span: &Duration) -> Value {
    datetime::format_duration(*span).into()
}

/// Shows a share with the digits that it was given with.
pub(super) fn show_share(share: &f32) -> Value {
    // Conversion through text preserves the original digits.
    share.to_string().parse::<f64>().unwrap_or_default().into()
}

/// Shows whether there is an API key.
pub(super) fn show_key(key: &Option<ApiKey>) -> Value {
    key.as_ref().map(|_| HIDDEN).into()
}
