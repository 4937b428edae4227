//! The settings of a proxy, as flags.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use memory_agent::model::{ApiKey, ApiKeyError};

use super::LogLevel;
use crate::config::{Environment, Layer, ProxySettings, Setting, max_entries, share};
use crate::failure::Failure;
use crate::moments::span;

/// The settings of a proxy, as flags.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody types")]
pub(crate) struct ProxyArgs {
    /// The address of the model's server, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    openai_base_url: Option<String>,
    /// The key for it, for applications that bring none; better in OPENAI_API_KEY, since others see what is typed
    // clap prints invalid values in its errors, so an invalid key is rejected later.
    #[arg(long, value_name = "KEY", value_parser = |text: &str| Ok::<_, Infallible>(text.parse::<ApiKey>()), conflicts_with = "openai_api_key_env")]
    openai_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// The variable that holds this key [default: OPENAI_API_KEY, if it is set]
    #[arg(long, value_name = "NAME")]
    openai_api_key_env: Option<String>,
    /// Keep conversations in this folder [default: the home]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
    /// The embedding model: a folder, or its name at an address [default: that of the settings, if there is one]
    #[arg(long, value_name = "MODEL")]
    embedding_model: Option<String>,
    /// That address [default: that of the model]
    #[arg(long, value_name = "URL")]
    embedding_base_url: Option<String>,
    /// How many memories are called to mind [default: 5]
    #[arg(long, value_name = "N")]
    default_top_k: Option<usize>,
    /// How many facts and turns of a conversation are kept, the newest; 1 at least [default: 500]
    #[arg(long, value_name = "N", value_parser = most)]
    max_entries: Option<usize>,
    /// How much the worth of a memory counts beside that it repeats no other [default: 0.7]
    #[arg(long, value_name = "SHARE", value_parser = number)]
    mmr_lambda: Option<f32>,
    /// How much newness counts [default: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = number)]
    recency_weight: Option<f32>,
    /// What is less relevant is left out [default: 0.35]
    #[arg(long, value_name = "SHARE", value_parser = number)]
    score_threshold: Option<f32>,
    /// Draw facts from what is said, and sum them up; this is usual
    #[arg(long, alias = "summarization", conflicts_with = "no_summarization")]
    enable_summarization: bool,
    /// Keep what is said, and nothing else
    #[arg(long)]
    no_summarization: bool,
    /// Keep every state of conversations with git; this is usual
    #[arg(long, alias = "git-versioning", conflicts_with = "no_git_versioning")]
    enable_git_versioning: bool,
    /// Keep no states with git
    #[arg(long)]
    no_git_versioning: bool,
    /// Listen for changes of files by others
    #[arg(long)]
    start_watcher: bool,
    /// How long a request waits for memories, and the end of an answer for a slow disk, before it goes on without [default: 2s]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    memory_timeout: Option<Duration>,
    /// Where to listen [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// At which port [default: 8100]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// What is logged to the standard error: debug, info (each request), warning or error [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    log_level: Option<LogLevel>,
}

impl ProxyArgs {
    /// Overrides the settings with the flags.
    ///
    /// # Errors
    /// If the key is invalid. The message does not contain the key.
    pub(crate) fn overrule(&self, settings: &mut ProxySettings, environment: &Environment) -> Result<(), Failure> {
        let key = self.openai_api_key.clone().transpose();
        let key = key.map_err(|error| Failure::usage("--openai-api-key is no key", error.to_string()))?;
        put(&mut settings.openai_api_key, key.map(Some));
        put(&mut settings.log_level, self.log_level);
        let path = self.memory_path.as_ref().map(|path| environment.whole(path));
        put(&mut settings.memory_path, path.map(Some));
        for (setting, said) in [
            (&mut settings.openai_base_url, &self.openai_base_url),
            (&mut settings.openai_api_key_env, &self.openai_api_key_env),
            (&mut settings.embedding_model, &self.embedding_model),
            (&mut settings.embedding_base_url, &self.embedding_base_url),
        ] {
            put(setting, said.clone().map(Some));
        }
        put(&mut settings.default_top_k, self.default_top_k);
        put(&mut settings.max_entries, self.max_entries);
        put(&mut settings.mmr_lambda, self.mmr_lambda);
        put(&mut settings.recency_weight, self.recency_weight);
        put(&mut settings.score_threshold, self.score_threshold);
        put(&mut settings.enable_summarization, either(self.enable_summarization, self.no_summarization));
        put(&mut settings.enable_git_versioning, either(self.enable_git_versioning, self.no_git_versioning));
        put(&mut settings.start_watcher, self.start_watcher.then_some(true));
        put(&mut settings.memory_timeout, self.memory_timeout);
        put(&mut settings.host, self.host.clone());
        put(&mut settings.port, self.port);
        Ok(())
    }
}

fn put<T>(setting: &mut Setting<T>, said: Option<T>) {
    if let Some(value) = said {
        *setting = Setting { value, from: Layer::Flag };
    }
}

fn either(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

fn level(text: &str) -> Result<LogLevel, String> {
    text.parse().map_err(|error: memory_core::ParseError| error.to_string())
}

fn most(text: &str) -> Result<usize, String> {
    max_entries(text).map_err(|error| error.to_string())
}

fn number(text: &str) -> Result<f32, String> {
    share(text).map_err(|error| error.to_string())
}
