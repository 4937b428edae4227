//! Settings of the chat proxy.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use memory_agent::model::{ApiKey, ApiKeyError, ServerAddress};
use memory_core::ParseError;
use memory_core::conversation::RecallRules;
use serde_json::Value;

use super::document::{SettingsDocument, parse_bool, parse_share, parser_for};
use super::setting::{show, show_key, show_optional, show_optional_path, show_share, show_span};
use super::{ConfigError, Environment, Setting, SettingsLayer};
use crate::datetime;

/// The settings of `proxy`; each key is also a variable `MEMORY_PROXY_…` and a flag.
#[derive(Debug, Clone)]
pub(crate) struct ProxySettings {
    /// Folder of the conversations, if not the home.
    pub memory_path: Setting<Option<PathBuf>>,
    /// The address of the model server.
    pub openai_base_url: Setting<Option<ServerAddress>>,
    /// The environment variable with the API key for clients that send no key.
    pub openai_api_key_env: Setting<Option<String>>,
    /// The API key for clients that send no key; it is never shown.
    pub openai_api_key: Setting<Option<ApiKey>>,
    /// The API key in `OPENAI_API_KEY`, which is used if neither of them is set.
    pub usual_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// The embedding model: a folder, or a name on a server.
    pub embedding_model: Setting<Option<String>>,
    /// The address of that server, if it differs from the model server.
    pub embedding_base_url: Setting<Option<ServerAddress>>,
    /// Number of memories that are recalled.
    pub default_top_k: Setting<usize>,
    /// Maximum number of facts and turns of a conversation.
    pub max_entries: Setting<usize>,
    /// Weight of relevance against diversity in the selection of memories.
    pub mmr_lambda: Setting<f32>,
    /// Weight of recency.
    pub recency_weight: Setting<f32>,
    /// Minimum relevance.
    pub score_threshold: Setting<f32>,
    /// Whether facts are extracted and summarized.
    pub enable_summarization: Setting<bool>,
    /// Whether conversations are versioned with git.
    pub enable_git_versioning: Setting<bool>,
    /// Whether files are watched for changes.
    pub start_watcher: Setting<bool>,
    /// Timeout of recall.
    pub memory_timeout: Setting<Duration>,
    /// The address to listen on.
    pub host: Setting<String>,
    /// The port to listen on.
    pub port: Setting<u16>,
    /// The log level of `memory proxy`.
    pub log_level: Setting<LogLevel>,
}

const MEMORY_TIMEOUT: Duration = Duration::from_secs(2);

impl ProxySettings {
    /// Takes these settings from the document; the environment has precedence.
    pub(super) fn take(
        document: &mut SettingsDocument,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let path = |text: &str| Ok(Some(environment.absolute_path(Path::new(text.trim()))));
        let text = |text: &str| Ok(Some(text.trim().to_owned()));
        let address = |text: &str| Ok(Some(ServerAddress::from(text)));
        let whole = parser_for("a whole number");
        let usual = RecallRules::default();
        let mut from = ProxyConfigLayers {
            document,
            environment,
        };
        Ok(Self {
            memory_path: from.read("memory_path", path, None, show_optional_path)?,
            openai_base_url: from.read("openai_base_url", address, None, show_optional)?,
            openai_api_key_env: from.read("openai_api_key_env", text, None, show_optional)?,
            openai_api_key: from.read("openai_api_key", super::llm::key, None, show_key)?,
            usual_api_key: environment.openai_api_key.clone(),
            embedding_model: from.read("embedding_model", text, None, show_optional)?,
            embedding_base_url: from.read("embedding_base_url", address, None, show_optional)?,
            default_top_k: from.read("default_top_k", whole, usual.top_k, show)?,
            max_entries: from.read("max_entries", parse_max_entries, 500, show)?,
            mmr_lambda: from.read("mmr_lambda", parse_share, usual.mmr_lambda, show_share)?,
            recency_weight: from.read(
                "recency_weight",
                parse_share,
                usual.recency_weight,
                show_share,
            )?,
            score_threshold: from.read(
                "score_threshold",
                parse_share,
                usual.score_threshold,
                show_share,
            )?,
            enable_summarization: from.read("enable_summarization", parse_bool, true, show)?,
            enable_git_versioning: from.read("enable_git_versioning", parse_bool, true, show)?,
            start_watcher: from.read("start_watcher", parse_bool, false, show)?,
            memory_timeout: from.read(
                "memory_timeout",
                datetime::parse_timeout,
                MEMORY_TIMEOUT,
                show_span,
            )?,
            host: from.read(
                "host",
                |text| Ok(text.trim().to_owned()),
                "127.0.0.1".to_owned(),
                show,
            )?,
            port: from.read("port", parser_for("a port number"), 8100, show)?,
            log_level: from.read("log_level", str::parse, LogLevel::Info, |level| {
                level.as_str().into()
            })?,
        })
    }

    /// Returns whether the settings file contains an API key.
    pub(crate) fn key_is_in_the_file(&self) -> bool {
        self.openai_api_key.value.is_some() && self.openai_api_key.from == SettingsLayer::File
    }

    /// Returns the rules for recall.
    pub(crate) fn recall_rules(&self) -> RecallRules {
        RecallRules {
            top_k: self.default_top_k.value,
            recency_weight: self.recency_weight.value,
            score_threshold: self.score_threshold.value,
            mmr_lambda: self.mmr_lambda.value,
        }
    }
}

/// The sources of a value: the document and the environment.
struct ProxyConfigLayers<'a> {
    document: &'a mut SettingsDocument,
    environment: &'a Environment,
}

impl ProxyConfigLayers<'_> {
    fn read<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, ParseError>,
        default: T,
        show: impl FnOnce(&T) -> Value,
    ) -> Result<Setting<T>, ConfigError> {
        let variable = format!("MEMORY_PROXY_{}", key.to_ascii_uppercase());
        let value = self.environment.variable(&variable);
        let value = value.filter(|text| !text.is_empty());
        let value = value.map(|text| parse(&text)).transpose();
        let value = value.map_err(|source| ConfigError::Variable { variable, source })?;
        let key = format!("proxy.{key}");
        self.document.read_below(value, &key, parse, default, show)
    }
}

/// Parses the maximum number of entries. 0 is invalid, because each entry would be deleted at once.
pub(crate) fn parse_max_entries(text: &str) -> Result<usize, ParseError> {
    let most = text.trim().parse().ok().filter(|most| 0 < *most);
    most.ok_or_else(|| {
        ParseError::new(
            text,
            "a whole number of at least 1; use a large one, such as 1000000000, for no limit",
        )
    })
}

/// The minimum severity of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    /// Each request, with the duration of recall.
    Debug,
    /// Each request.
    Info,
    /// Errors that do not stop the proxy.
    Warning,
    /// Only the error that stops the proxy.
    Error,
}

impl LogLevel {
    /// Returns the name of the level.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl FromStr for LogLevel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wanted = text.trim().to_ascii_lowercase();
        let all = [Self::Debug, Self::Info, Self::Warning, Self::Error];
        let found = all.into_iter().find(|level| {
            level.as_str() == wanted || (wanted == "warn" && *level == Self::Warning)
        });
        found.ok_or_else(|| ParseError::new(text, "a log level (debug, info, warning or error)"))
    }
}
