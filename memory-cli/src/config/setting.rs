//! A setting with the layer that sets it.

use std::path::{Path, PathBuf};

use memory_core::secret::without_secrets;
use serde_json::Value;

use super::Environment;

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
    /// Returns the value for display, with redacted credentials, and its layer.
    pub(super) fn display(&self, shown: impl Fn(&T) -> Value) -> (Value, SettingsLayer) {
        let shown = match shown(&self.value) {
            Value::String(text) => without_secrets(&text).into(),
            shown => shown,
        };
        (shown, self.from)
    }
}

impl<T> Setting<Option<T>> {
    /// Converts the value, if there is one.
    pub(super) fn map_value<U>(self, convert: impl FnOnce(T) -> U) -> Setting<Option<U>> {
        Setting {
            value: self.value.map(convert),
            from: self.from,
        }
    }
}

impl Setting<PathBuf> {
    pub(super) fn override_path(
        &mut self,
        path: Option<&Path>,
        from: SettingsLayer,
        environment: &Environment,
    ) {
        if let Some(path) = path {
            *self = Self {
                value: environment.absolute_path(path),
                from,
            };
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

/// Returns the value of the settings file, else the default.
pub(super) fn or_default<T>(value: Option<T>, default: T) -> Setting<T> {
    match value {
        Some(value) => Setting {
            value,
            from: SettingsLayer::File,
        },
        None => Setting {
            value: default,
            from: SettingsLayer::Default,
        },
    }
}
