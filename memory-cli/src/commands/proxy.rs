//! The `memory proxy` command.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use memory_agent::model::{ApiKey, ApiKeyError, ServerAddress};
use memory_store::EventLog;
use serde_json::json;

use super::shutdown_signal::ShutdownSignal;
use crate::app::App;
use crate::args::TokenArgs;
use crate::chat_proxy::{
    self, BackgroundWriter, OpenedProxy, ProxyBuilder, ProxyServer, RequestLineLogger,
};
use crate::config::{
    Environment, LogLevel, ProxySettings, Setting, parse_max_entries, parse_share,
};
use crate::datetime::parse_timeout;
use crate::failure::Failure;

/// Add memory to any application that uses the OpenAI API
///
/// Applications send their requests to this proxy instead of the model server. For each message of the user, the proxy
/// recalls memories of the conversation and sends them to the model, and it stores the messages of both sides. Facts
/// are extracted in the background. Standing instructions and preferences of the person, in the conversation or in the
/// home, are sent with every message; --memory-path moves only the conversations. A chat request may contain memory_id
/// (the conversation), memory_top_k, memory_recency_weight and memory_score_threshold; a response that is not streamed
/// contains memory_hits. All else is forwarded unchanged. A memory error never fails a chat: the header Memory-Error
/// then has the reason.
///
/// Without --auth-token, only your own programs on this machine have access, and no web pages except those of
/// http.allowed_origins. With it (and --host 0.0.0.0 for Docker and other machines), applications send the token as their
/// API key, and the model server gets the key from --openai-api-key, the variable of --openai-api-key-env, or
/// OPENAI_API_KEY. Without it, the model server gets the key of the application, or else that one. An embedding model on
/// the same server gets the same key.
///
/// Each request is logged as one line on standard error: id (the conversation), hits, ms, stored (number of turns) and
/// status, without any message text. An address without a path gets /v1. SIGINT (Ctrl-C) or SIGTERM stops the proxy after
/// pending requests, within 30 seconds; a second signal stops it at once. Pending fact extraction continues after the next
/// start, with the model of `llm` in config.yaml, or else once a chat has used a model.
///
/// Every flag is also a key of `proxy` in config.yaml and an environment variable: MEMORY_PROXY_OPENAI_BASE_URL and so on.
///
/// JSON: {pid, http, openai_base_url, memory_store, token, waiting} at startup; token is whether a token is required, and
/// waiting the number of earlier turns that wait for a chat with a model
#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    #[command(flatten)]
    settings: ProxySettingsArgs,
    #[command(flatten)]
    token: TokenArgs,
}

impl ProxyArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut settings = app.settings()?;
        let proxy = &mut Arc::make_mut(&mut settings).proxy;
        self.settings.apply_to(proxy, app.environment)?;
        let level = proxy.log_level.value;
        let (lines, written) = match level {
            LogLevel::Error => BackgroundWriter::spawn(std::io::sink()),
            _ => BackgroundWriter::spawn(std::io::stderr()),
        };
        let log = Arc::new(EventLog::new(Box::new(lines)));
        let requests = RequestLineLogger::for_level(level, &log);
        let open_home = chat_proxy::open_home_later(&settings);
        let mut builder =
            ProxyBuilder::new(settings, open_home).event_log(Arc::clone(&log), requests.clone());
        if let Some(token) = self.token.token(app.environment)? {
            builder = builder.token(token);
        }
        let server = builder.open()?;
        let mut ending = ShutdownSignal::install()?;
        print_start(&server, requests.is_some().then_some(&log), app)?;
        let done = server.serve(ending.requested());
        drop(ending);
        written.wait();
        done.map_err(Failure::file("serve HTTP to the end"))
    }
}

/// Prints where the proxy is. With JSON, its notices go to `log`.
fn print_start(
    server: &ProxyServer,
    log: Option<&Arc<EventLog>>,
    app: &mut App,
) -> Result<(), Failure> {
    let OpenedProxy {
        proxy,
        waiting,
        notices,
        ..
    } = &server.opened;
    let http = format!("http://{}/v1", server.address);
    let (behind, kept) = (proxy.upstream_url(), proxy.store_location());
    if app.output.is_json() {
        let shape = json!({
            "pid": std::process::id(), "http": http, "openai_base_url": behind, "memory_store": kept,
            "token": server.has_token, "waiting": waiting,
        });
        app.output.json(&shape)?;
        for (log, notice) in log
            .into_iter()
            .flat_map(|log| notices.iter().map(move |notice| (log, notice)))
        {
            log.info(app.now(), notice);
        }
    } else {
        let kept = app.output.display_path(kept.as_ref());
        app.output.note(&format!(
            "proxy for {behind} at {http}, storing in {kept}; press Ctrl-C to stop"
        ))?;
        for notice in notices {
            app.output.note(notice)?;
        }
    }
    app.output.flush()
}

/// The settings of a proxy, as flags.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that somebody types"
)]
struct ProxySettingsArgs {
    /// Address of the model server, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    openai_base_url: Option<ServerAddress>,
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
    embedding_base_url: Option<ServerAddress>,
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
    #[arg(long, value_name = "SPAN", value_parser = parse_timeout)]
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
    fn apply_to(
        &self,
        settings: &mut ProxySettings,
        environment: &Environment,
    ) -> Result<(), Failure> {
        let key = self.openai_api_key.clone().transpose();
        let key = key.map_err(|error| {
            Failure::usage("--openai-api-key is not a valid API key", error.to_string())
        })?;
        set_from_flag(&mut settings.openai_api_key, key.map(Some));
        set_from_flag(&mut settings.log_level, self.log_level);
        let path = self
            .memory_path
            .as_ref()
            .map(|path| environment.absolute_path(path));
        set_from_flag(&mut settings.memory_path, path.map(Some));
        for (setting, said) in [
            (&mut settings.openai_base_url, &self.openai_base_url),
            (&mut settings.embedding_base_url, &self.embedding_base_url),
        ] {
            set_from_flag(setting, said.clone().map(Some));
        }
        for (setting, said) in [
            (&mut settings.openai_api_key_env, &self.openai_api_key_env),
            (&mut settings.embedding_model, &self.embedding_model),
        ] {
            set_from_flag(setting, said.clone().map(Some));
        }
        set_from_flag(&mut settings.default_top_k, self.default_top_k);
        set_from_flag(&mut settings.max_entries, self.max_entries);
        set_from_flag(&mut settings.mmr_lambda, self.mmr_lambda);
        set_from_flag(&mut settings.recency_weight, self.recency_weight);
        set_from_flag(&mut settings.score_threshold, self.score_threshold);
        set_from_flag(
            &mut settings.enable_summarization,
            bool_flag(self.enable_summarization, self.no_summarization),
        );
        set_from_flag(
            &mut settings.enable_git_versioning,
            bool_flag(self.enable_git_versioning, self.no_git_versioning),
        );
        set_from_flag(
            &mut settings.start_watcher,
            self.start_watcher.then_some(true),
        );
        set_from_flag(&mut settings.memory_timeout, self.memory_timeout);
        set_from_flag(&mut settings.host, self.host.clone());
        set_from_flag(&mut settings.port, self.port);
        Ok(())
    }
}

fn set_from_flag<T>(setting: &mut Setting<T>, said: Option<T>) {
    if let Some(value) = said {
        *setting = Setting::flag(value);
    }
}

fn bool_flag(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

fn parse_level_flag(text: &str) -> Result<LogLevel, String> {
    text.parse()
        .map_err(|error: memory_core::ParseError| error.to_string())
}

fn parse_max_entries_flag(text: &str) -> Result<usize, String> {
    parse_max_entries(text).map_err(|error| error.to_string())
}

fn parse_share_flag(text: &str) -> Result<f32, String> {
    parse_share(text).map_err(|error| error.to_string())
}
