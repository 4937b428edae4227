//! The parsed settings file.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use memory_core::ParseError;
use serde_json::Value as ShownValue;
use serde_yaml::{Mapping, Value};

use super::setting::{Setting, ShownSetting};
use super::{ConfigError, SettingsLayer};

/// The parsed settings file. Known keys are removed from it; the remaining keys are unknown.
#[derive(Debug)]
pub(super) struct SettingsDocument {
    path: PathBuf,
    exists: bool,
    root: Mapping,
    /// The settings that were read, in this order.
    shown: Vec<ShownSetting>,
}

impl SettingsDocument {
    /// Reads the file at `path`; a missing file is an empty document.
    pub(super) fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                None
            }
            Err(source) => {
                return Err(ConfigError::Unreadable {
                    path: path.to_owned(),
                    source,
                });
            }
        };
        Self::parse(path, text.as_deref())
    }

    /// Parses `text` as the content of the file at `path`; `None` means a missing file.
    pub(super) fn parse(path: &Path, text: Option<&str>) -> Result<Self, ConfigError> {
        let exists = text.is_some();
        let text = text.unwrap_or_default();
        let value: Value =
            serde_yaml::from_str(text.trim_start_matches('\u{feff}')).map_err(|source| {
                ConfigError::Malformed {
                    path: path.to_owned(),
                    source,
                }
            })?;
        let mut document = Self {
            path: path.to_owned(),
            exists,
            root: Mapping::new(),
            shown: Vec::new(),
        };
        document.root = document.mapping(value, "the file")?;
        Ok(document)
    }

    /// Returns whether the file exists.
    pub(super) fn exists(&self) -> bool {
        self.exists
    }

    /// Reads the setting `key`, a path with dots, and records it for display.
    pub(super) fn read<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, ParseError>,
        default: T,
        show: impl FnOnce(&T) -> ShownValue,
    ) -> Result<Setting<T>, ConfigError> {
        self.read_below(None, key, parse, default, show)
    }

    /// Reads the setting `key`, over which the value of a variable has precedence, and records it for display.
    pub(super) fn read_below<T>(
        &mut self,
        variable: Option<T>,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, ParseError>,
        default: T,
        show: impl FnOnce(&T) -> ShownValue,
    ) -> Result<Setting<T>, ConfigError> {
        let setting = Setting::layered(variable, self.take(key, parse)?, default);
        self.record(key, show(&setting.value), setting.from);
        Ok(setting)
    }

    /// Reads the setting `key`, whose value is one text or a list of texts, and records it for display.
    ///
    /// `parse` returns the items in one text, and `wanted` describes a text in errors.
    pub(super) fn read_list<T>(
        &mut self,
        key: &str,
        wanted: &'static str,
        parse: impl Fn(&str) -> Result<Vec<T>, ParseError>,
        show: impl FnOnce(&Vec<T>) -> ShownValue,
    ) -> Result<Setting<Vec<T>>, ConfigError> {
        let items = match self.take_list(key, wanted)? {
            None => None,
            Some(texts) => {
                let items: Result<Vec<_>, _> = texts.iter().map(|text| parse(text)).collect();
                let items = items.map_err(|error| self.value_error(key, error))?;
                Some(items.into_iter().flatten().collect())
            }
        };
        let setting = Setting::layered(None, items, Vec::new());
        self.record(key, show(&setting.value), setting.from);
        Ok(setting)
    }

    /// Records a setting for display.
    pub(super) fn record(&mut self, key: &str, value: ShownValue, from: SettingsLayer) {
        self.shown.push((key.to_owned(), value, from));
    }

    /// Returns the recorded settings.
    pub(super) fn into_shown(self) -> Vec<ShownSetting> {
        self.shown
    }

    /// Removes and parses the value of `key`, a path with dots; `None` if the key is missing or null.
    pub(super) fn take<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, ParseError>,
    ) -> Result<Option<T>, ConfigError> {
        let text = match self.remove(key)? {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(yes)) => yes.to_string(),
            Some(Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_)) => {
                return Err(
                    self.value_error(key, ParseError::new("a list or keys", "a single value"))
                );
            }
        };
        parse(&text)
            .map(Some)
            .map_err(|error| self.value_error(key, error))
    }

    /// Removes the texts of `key`, a path with dots; a single value is a list of one.
    fn take_list(
        &mut self,
        key: &str,
        wanted: &'static str,
    ) -> Result<Option<Vec<String>>, ConfigError> {
        let items = match self.remove(key)? {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Sequence(items)) => items,
            Some(item) => vec![item],
        };
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) if !text.trim().is_empty() => Ok(text),
            Value::String(text) => Err(ParseError::new(&text, wanted)),
            _ => Err(ParseError::new("a value that is not text", wanted)),
        });
        texts
            .collect::<Result<_, _>>()
            .map(Some)
            .map_err(|error| self.value_error(key, error))
    }

    /// Returns the names of the remaining keys.
    pub(super) fn unknown(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect_keys(&self.root, "", &mut names);
        names
    }

    fn remove(&mut self, key: &str) -> Result<Option<Value>, ConfigError> {
        let mut mapping = std::mem::take(&mut self.root);
        let taken = self.remove_from(&mut mapping, key);
        self.root = mapping;
        taken
    }

    fn remove_from(&self, mapping: &mut Mapping, key: &str) -> Result<Option<Value>, ConfigError> {
        let Some((first, rest)) = key.split_once('.') else {
            return Ok(mapping.remove(key));
        };
        let Some(inner) = mapping.get_mut(first) else {
            return Ok(None);
        };
        if !inner.is_mapping() {
            *inner = Value::Mapping(self.mapping(std::mem::take(inner), first)?);
        }
        match inner.as_mapping_mut() {
            Some(inner) => self.remove_from(inner, rest),
            None => Ok(None),
        }
    }

    fn mapping(&self, value: Value, what: &str) -> Result<Mapping, ConfigError> {
        match value {
            Value::Null => Ok(Mapping::new()),
            Value::Mapping(mapping) => Ok(mapping),
            _ => Err(ConfigError::NoKeys {
                path: self.path.clone(),
                what: what.to_owned(),
            }),
        }
    }

    /// Returns the error for an invalid value of `key`.
    fn value_error(&self, key: &str, source: ParseError) -> ConfigError {
        ConfigError::Value {
            path: self.path.clone(),
            key: key.to_owned(),
            source,
        }
    }
}

fn collect_keys(mapping: &Mapping, prefix: &str, names: &mut Vec<String>) {
    for (key, value) in mapping {
        let key = key
            .as_str()
            .map_or_else(|| format!("{key:?}"), str::to_owned);
        let name = if prefix.is_empty() {
            key
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            Value::Mapping(inner) => collect_keys(inner, &name, names),
            _ => names.push(name),
        }
    }
}

/// Returns a parser for a type with `FromStr`; `wanted` describes the type in errors.
pub(super) fn parser_for<T: FromStr>(
    wanted: &'static str,
) -> impl Fn(&str) -> Result<T, ParseError> {
    move |text| {
        text.trim()
            .parse()
            .map_err(|_| ParseError::new(text, wanted))
    }
}

/// Parses a truth value.
pub(super) fn parse_bool(text: &str) -> Result<bool, ParseError> {
    parser_for("true or false")(text)
}

/// Parses a share.
pub(crate) fn parse_share(text: &str) -> Result<f32, ParseError> {
    let share = text.trim().parse().ok();
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| ParseError::new(text, "a number from 0 to 1"))
}
