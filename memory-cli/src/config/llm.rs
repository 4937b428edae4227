//! Settings of the language model and its budget.

use std::time::Duration;

use memory_agent::model::{ApiKey, ServerAddress};
use memory_core::{Budget, ParseError};
use serde_json::Value;

use super::document::SettingsDocument;
use super::setting::or_default;
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
        let mut text = |key: &str, variable: Option<&String>| -> Result<_, ConfigError> {
            let setting = or_default(
                document.take(key, |text| Ok(Some(text.trim().to_owned())))?,
                None,
            );
            Ok(override_with(setting, variable.cloned()))
        };
        let base_url =
            text("llm.base_url", environment.llm_base_url.as_ref())?.map_value(ServerAddress::from);
        let model = text("llm.model", environment.llm_model.as_ref())?;
        let api_key_env = text("llm.api_key_env", None)?;
        let api_key = or_default(document.take("llm.api_key", key)?, None);
        let from_environment = environment.llm_api_key.clone().transpose();
        let api_key = override_with(
            api_key,
            from_environment.map_err(|_| ConfigError::Key {
                variable: "MEMORY_LLM_API_KEY",
            })?,
        );
        Ok(Self {
            base_url,
            model,
            api_key,
            api_key_env,
            timeout: or_default(
                document.take("llm.timeout", datetime::parse_timeout)?,
                TIMEOUT,
            ),
            calls_a_day: or_default(
                document.take("llm.calls_a_day", parse_limit)?,
                Some(CALLS_A_DAY),
            ),
            tokens_a_day: or_default(
                document.take("llm.tokens_a_day", parse_limit)?,
                Some(TOKENS_A_DAY),
            ),
        })
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

    /// Returns every key with its value and layer, in file order; the API key is hidden.
    pub(super) fn all(&self) -> [(&'static str, (Value, SettingsLayer)); 7] {
        let Self {
            base_url,
            model,
            api_key,
            api_key_env,
            timeout,
            calls_a_day,
            tokens_a_day,
        } = self;
        let text = |setting: &Setting<Option<String>>| setting.display(|text| text.clone().into());
        [
            (
                "llm.base_url",
                base_url.display(|address| address.as_ref().map(ToString::to_string).into()),
            ),
            ("llm.model", text(model)),
            (
                "llm.api_key",
                api_key.display(|key| key.as_ref().map(|_| HIDDEN).into()),
            ),
            ("llm.api_key_env", text(api_key_env)),
            (
                "llm.timeout",
                timeout.display(|span| datetime::format_duration(*span).into()),
            ),
            (
                "llm.calls_a_day",
                (self.budget().calls_a_day.into(), calls_a_day.from),
            ),
            (
                "llm.tokens_a_day",
                (self.budget().tokens_a_day.into(), tokens_a_day.from),
            ),
        ]
    }
}

fn override_with<T>(setting: Setting<Option<T>>, variable: Option<T>) -> Setting<Option<T>> {
    if variable.is_some() {
        Setting {
            value: variable,
            from: SettingsLayer::Environment,
        }
    } else {
        setting
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
