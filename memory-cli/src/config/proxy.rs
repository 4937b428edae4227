//! Settings of the chat proxy.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use memory_agent::model::{ApiKey, ApiKeyError, ServerAddress};
use memory_core::ParseError;
use memory_core::conversation::RecallRules;
use serde_json::Value;

use super::document::{SettingsDocument, parser_for};
use super::environment::variable_name;
use super::llm::HIDDEN;
use super::setting::or_default;
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
        let yes = parser_for::<bool>("true or false");
        let usual = RecallRules::default();
        let mut from = ProxyConfigLayers {
            document,
            environment,
        };
        Ok(Self {
            memory_path: from.take("memory_path", path, None)?,
            openai_base_url: from.take("openai_base_url", address, None)?,
            openai_api_key_env: from.take("openai_api_key_env", text, None)?,
            openai_api_key: from.take("openai_api_key", super::llm::key, None)?,
            usual_api_key: environment.openai_api_key.clone(),
            embedding_model: from.take("embedding_model", text, None)?,
            embedding_base_url: from.take("embedding_base_url", address, None)?,
            default_top_k: from.take("default_top_k", parser_for("a whole number"), usual.top_k)?,
            max_entries: from.take("max_entries", parse_max_entries, 500)?,
            mmr_lambda: from.take("mmr_lambda", parse_share, usual.mmr_lambda)?,
            recency_weight: from.take("recency_weight", parse_share, usual.recency_weight)?,
            score_threshold: from.take("score_threshold", parse_share, usual.score_threshold)?,
            enable_summarization: from.take("enable_summarization", &yes, true)?,
            enable_git_versioning: from.take("enable_git_versioning", &yes, true)?,
            start_watcher: from.take("start_watcher", &yes, false)?,
            memory_timeout: from.take("memory_timeout", datetime::parse_timeout, MEMORY_TIMEOUT)?,
            host: from.take(
                "host",
                |text| Ok(text.trim().to_owned()),
                "127.0.0.1".to_owned(),
            )?,
            port: from.take("port", parser_for("a port number"), 8100)?,
            log_level: from.take("log_level", str::parse, LogLevel::Info)?,
        })
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> [(&'static str, (Value, SettingsLayer)); 18] {
        let text = |setting: &Setting<Option<String>>| setting.display(|text| text.clone().into());
        // Conversion through text preserves the original digits.
        let share = |setting: &Setting<f32>| {
            setting.display(|share| share.to_string().parse::<f64>().unwrap_or_default().into())
        };
        [
            (
                "proxy.memory_path",
                self.memory_path
                    .display(|path| path.as_ref().map(|path| path.display().to_string()).into()),
            ),
            (
                "proxy.openai_base_url",
                self.openai_base_url
                    .display(|address| address.as_ref().map(ToString::to_string).into()),
            ),
            ("proxy.openai_api_key_env", text(&self.openai_api_key_env)),
            (
                "proxy.openai_api_key",
                self.openai_api_key
                    .display(|key| key.as_ref().map(|_| HIDDEN).into()),
            ),
            ("proxy.embedding_model", text(&self.embedding_model)),
            (
                "proxy.embedding_base_url",
                self.embedding_base_url
                    .display(|address| address.as_ref().map(ToString::to_string).into()),
            ),
            (
                "proxy.default_top_k",
                self.default_top_k.display(|count| (*count).into()),
            ),
            (
                "proxy.max_entries",
                self.max_entries.display(|count| (*count).into()),
            ),
            ("proxy.mmr_lambda", share(&self.mmr_lambda)),
            ("proxy.recency_weight", share(&self.recency_weight)),
            ("proxy.score_threshold", share(&self.score_threshold)),
            (
                "proxy.enable_summarization",
                self.enable_summarization.display(|yes| (*yes).into()),
            ),
            (
                "proxy.enable_git_versioning",
                self.enable_git_versioning.display(|yes| (*yes).into()),
            ),
            (
                "proxy.start_watcher",
                self.start_watcher.display(|yes| (*yes).into()),
            ),
            (
                "proxy.memory_timeout",
                self.memory_timeout
                    .display(|span| datetime::format_duration(*span).into()),
            ),
            ("proxy.host", self.host.display(|host| host.clone().into())),
            ("proxy.port", self.port.display(|port| (*port).into())),
            (
                "proxy.log_level",
                self.log_level.display(|level| level.as_str().into()),
            ),
        ]
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
    fn take<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, ParseError>,
        usual: T,
    ) -> Result<Setting<T>, ConfigError> {
        let setting = or_default(self.document.take(&format!("proxy.{key}"), &parse)?, usual);
        let Some(said) = self.environment.proxy.get(key) else {
            return Ok(setting);
        };
        let value = parse(said).map_err(|source| ConfigError::Variable {
            variable: variable_name(key),
            source,
        })?;
        Ok(Setting {
            value,
            from: SettingsLayer::Environment,
        })
    }
}

/// Parses a number from 0 to 1.
pub(crate) fn parse_share(text: &str) -> Result<f32, ParseError> {
    let share = text
        .trim()
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| ParseError::new(text, "a number from 0 to 1"))
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
