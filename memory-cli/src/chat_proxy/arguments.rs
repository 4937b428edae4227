//! The settings of a proxy, as flags.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use memory_agent::model::{ApiKey, ApiKeyError};

use super::LogLevel;
use crate::config::{Environment, ProxySettings, Setting, SettingsLayer, parse_max_entries, parse_share};
use crate::datetime::parse_duration;
use crate::failure::Failure;

/// The settings of a proxy, as flags.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody types")]
pub(crate) struct ProxySettingsArgs {
    /// Address of the model server, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    openai_base_url: Option<String>,
    /// API key for requests without one; better set OPENAI_API_KEY, as other users can see arguments
    // clap prints invalid values in its errors, so an invalid key is rejected later.
    #[arg(long, value_name = "KEY", value_parser = |text: &str| Ok::<_, Infallible>(text.parse::<ApiKey>()), conflicts_with = "openai_api_key_env")]
    openai_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// Environment variable with that API key [default: OPENAI_API_KEY, if set]
    #[arg(long, value_name = "NAME")]
    openai_api_key_env: Option<String>,
    /// Store conversations in this folder [default: the home]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
    /// Embedding model: a folder, or a name on a server [default: the model in the settings, if any]
    #[arg(long, value_name = "MODEL")]
    embedding_model: Option<String>,
    /// Address of the embedding server [default: that of the model server]
    #[arg(long, value_name = "URL")]
    embedding_base_url: Option<String>,
    /// Number of memories to recall [default: 5]
    #[arg(long, value_name = "N")]
    default_top_k: Option<usize>,
    /// Maximum number of facts and turns per conversation, at least 1 [default: 500]
    #[arg(long, value_name = "N", value_parser = parse_max_entries_flag)]
    max_entries: Option<usize>,
    /// Weight of relevance against diversity, from 0 to 1 [default: 0.7]
    #[arg(long, value_name = "SHARE", value_parser = parse_share_flag)]
    mmr_lambda: Option<f32>,
    /// Weight of recency, from 0 to 1 [default: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = parse_share_flag)]
    recency_weight: Option<f32>,
    /// Minimum relevance of a memory, from 0 to 1 [default: 0.35]
    #[arg(long, value_name = "SHARE", value_parser = parse_share_flag)]
    score_threshold: Option<f32>,
    /// Extract and summarise facts from chats (the default)
    #[arg(long, alias = "summarization", conflicts_with = "no_summarization")]
    enable_summarization: bool,
    /// Store messages only; do not extract facts
    #[arg(long)]
    no_summarization: bool,
    /// Commit conversations to git after each change (the default)
    #[arg(long, alias = "git-versioning", conflicts_with = "no_git_versioning")]
    enable_git_versioning: bool,
    /// Do not commit conversations to git
    #[arg(long)]
    no_git_versioning: bool,
    /// Watch files for changes by other programs
    #[arg(long)]
    start_watcher: bool,
    /// Maximum time that memory may delay a request or the end of an answer [default: 2s]
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    memory_timeout: Option<Duration>,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Port to listen on [default: 8100]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Log level on standard error: debug, info (each request), warning or error [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = parse_level_flag)]
    log_level: Option<LogLevel>,
}

impl ProxySettingsArgs {
    /// Overrides the settings with the flags.
    ///
    /// # Errors
    /// If the key is invalid. The message does not contain the key.
    pub(crate) fn apply_to(&self, settings: &mut ProxySettings, environment: &Environment) -> Result<(), Failure> {
        let key = self.openai_api_key.clone().transpose();
        let key = key.map_err(|error| Failure::usage("--openai-api-key is not a valid API key", error.to_string()))?;
        set_from_flag(&mut settings.openai_api_key, key.map(Some));
        set_from_flag(&mut settings.log_level, self.log_level);
        let path = self.memory_path.as_ref().map(|path| environment.absolute_path(path));
        set_from_flag(&mut settings.memory_path, path.map(Some));
        for (setting, said) in [
            (&mut settings.openai_base_url, &self.openai_base_url),
            (&mut settings.openai_api_key_env, &self.openai_api_key_env),
            (&mut settings.embedding_model, &self.embedding_model),
            (&mut settings.embedding_base_url, &self.embedding_base_url),
        ] {
            set_from_flag(setting, said.clone().map(Some));
        }
        set_from_flag(&mut settings.default_top_k, self.default_top_k);
        set_from_flag(&mut settings.max_entries, self.max_entries);
        set_from_flag(&mut settings.mmr_lambda, self.mmr_lambda);
        set_from_flag(&mut settings.recency_weight, self.recency_weight);
        set_from_flag(&mut settings.score_threshold, self.score_threshold);
        set_from_flag(&mut settings.enable_summarization, bool_flag(self.enable_summarization, self.no_summarization));
        set_from_flag(&mut settings.enable_git_versioning, bool_flag(self.enable_git_versioning, self.no_git_versioning));
        set_from_flag(&mut settings.start_watcher, self.start_watcher.then_some(true));
        set_from_flag(&mut settings.memory_timeout, self.memory_timeout);
        set_from_flag(&mut settings.host, self.host.clone());
        set_from_flag(&mut settings.port, self.port);
        Ok(())
    }
}

fn set_from_flag<T>(setting: &mut Setting<T>, said: Option<T>) {
    if let Some(value) = said {
        *setting = Setting { value, from: SettingsLayer::Flag };
    }
}

fn bool_flag(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

fn parse_level_flag(text: &str) -> Result<LogLevel, String> {
    text.parse().map_err(|error: memory_core::ParseError| error.to_string())
}

fn parse_max_entries_flag(text: &str) -> Result<usize, String> {
    parse_max_entries(text).map_err(|error| error.to_string())
}

fn parse_share_flag(text: &str) -> Result<f32, String> {
    parse_share(text).map_err(|error| error.to_string())
}
