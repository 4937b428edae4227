//! Settings of the language model and its budget.

use std::time::Duration;

use memory_agent::model::{ApiKey, ServerAddress};
use memory_core::{Budget, ParseError};

use super::document::SettingsDocument;
use super::setting::{show_key, show_optional, show_span};
use super::{ConfigError, Environment, Setting, SettingsLayer};
use crate::datetime;

/// The settings of the language model and its budget.
#[derive(Debug, Clone)]
pub(crate) struct LlmSettings {
    /// The address of the server.
    pub base_url: Setting<Option<ServerAddress>>,
    /// Name of the model on the server.
    pub model: Setting<Option<String>>,
    /// The API key, which is never shown.
    pub api_key: Setting<Option<ApiKey>>,
    /// The environment variable with the API key.
    pub api_key_env: Setting<Option<String>>,
    /// Timeout of a request.
    pub timeout: Setting<Duration>,
    /// Maximum number of calls per day; `None` means unlimited.
    pub calls_a_day: Setting<Option<u64>>,
    /// Maximum number of tokens per day; `None` means unlimited.
    pub tokens_a_day: Setting<Option<u64>>,
}

const TIMEOUT: Duration = Duration::from_mins(1);
const CALLS_A_DAY: u64 = 300;
const TOKENS_A_DAY: u64 = 300_000;

/// The replacement of secrets in output.
pub(crate) const HIDDEN: &str = ServerAddress::HIDDEN;

impl LlmSettings {
    /// Takes these settings from the document; the environment has precedence.
    pub(super) fn take(
        document: &mut SettingsDocument,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let text = |text: &str| Ok(Some(text.trim().to_owned()));
        let address = |text: &str| Ok(Some(ServerAddress::from(text.trim())));
        let api_key = environment.llm_api_key.clone().transpose();
        let api_key = api_key.map_err(|_| ConfigError::Key {
            variable: "MEMORY_LLM_API_KEY",
        })?;
        let base_url = document.read_below(
            environment
                .llm_base_url
                .as_deref()
                .map(|url| Some(url.into())),
            "llm.base_url",
            address,
            None,
            show_optional,
        )?;
        let model = document.read_below(
            environment.llm_model.clone().map(Some),
            "llm.model",
            text,
            None,
            show_optional,
        )?;
        let api_key = document.read_below(api_key.map(Some), "llm.api_key", key, None, show_key)?;
        let settings = Self {
            base_url,
            model,
            api_key,
            api_key_env: document.read("llm.api_key_env", text, None, show_optional)?,
            timeout: document.read("llm.timeout", datetime::parse_timeout, TIMEOUT, show_span)?,
            calls_a_day: Setting::layered(
                None,
                document.take("llm.calls_a_day", parse_limit)?,
                Some(CALLS_A_DAY),
            ),
            tokens_a_day: Setting::layered(
                None,
                document.take("llm.tokens_a_day", parse_limit)?,
                Some(TOKENS_A_DAY),
            ),
        };
        let Budget {
            calls_a_day: calls,
            tokens_a_day: tokens,
        } = settings.budget();
        document.record("llm.calls_a_day", calls.into(), settings.calls_a_day.from);
        document.record(
            "llm.tokens_a_day",
            tokens.into(),
            settings.tokens_a_day.from,
        );
        Ok(settings)
    }

    /// Returns whether a model is configured, at least partially.
    pub(crate) fn is_named(&self) -> bool {
        self.base_url.value.is_some() || self.model.value.is_some()
    }

    /// Returns whether the settings file contains an API key.
    pub(crate) fn key_is_in_the_file(&self) -> bool {
        self.api_key.value.is_some() && self.api_key.from == SettingsLayer::File
    }

    /// Returns the daily budget of the model at `server`. One on this machine has a budget only if it is set.
    pub(crate) fn budget_of(&self, server: Option<&ServerAddress>) -> Budget {
        let is_local = server.is_some_and(ServerAddress::is_local);
        let limit = |setting: &Setting<Option<u64>>| {
            let is_default = setting.from == SettingsLayer::Default;
            setting.value.filter(|_| !(is_local && is_default))
        };
        Budget {
            calls_a_day: limit(&self.calls_a_day),
            tokens_a_day: limit(&self.tokens_a_day),
        }
    }

    /// Returns the daily budget of the configured model.
    pub(crate) fn budget(&self) -> Budget {
        self.budget_of(self.base_url.value.as_ref())
    }
}

/// Parses an API key. The error does not contain the text, because it may be most of a real key.
pub(super) fn key(text: &str) -> Result<Option<ApiKey>, ParseError> {
    text.parse()
        .map(Some)
        .map_err(|_| ParseError::new(HIDDEN, "an API key (one word of ASCII)"))
}

fn parse_limit(text: &str) -> Result<Option<u64>, ParseError> {
    if text.trim() == "none" {
        return Ok(None);
    }
    text.trim()
        .parse()
        .map(Some)
        .map_err(|_| ParseError::new(text, "a whole number or none"))
}
