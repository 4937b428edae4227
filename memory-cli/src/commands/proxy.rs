//! The `memory proxy` command.

use std::sync::Arc;

use clap::Args;
use memory_agent::http::{ProxyServerConfig, serve_proxy};
use memory_store::EventLog;
use serde_json::json;
use tokio::runtime::Builder;

use crate::app::{App, current_time};
use crate::chat_proxy::{self, BackgroundWriter, LogLevel, OpenedProxy, ProxySettingsArgs, RequestLineLogger};
use crate::failure::Failure;
use crate::http::{self, ShutdownSignal, TokenArgs, parse_address};

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

/// Maximum number of threads that block on disk access.
///
/// `WORKERS` is the number of threads that forward requests.
const THREADS: usize = 32;
const WORKERS: usize = 2;

impl ProxyArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut settings = app.settings()?;
        self.settings.apply_to(&mut settings.proxy, app.environment)?;
        let token = self.token.token(app.environment)?;
        let place = listen_address(&settings.proxy.host.value, settings.proxy.port.value);
        let wrong = |why| Failure::usage(format!("cannot listen on {place}: {why}"), "use another --host or --port");
        let listener = parse_address(&place).map_err(wrong)?.listen(token.as_ref(), http::PROXY)?;
        let has_token = token.is_some();
        let level = settings.proxy.log_level.value;
        let (lines, written) = match level {
            LogLevel::Error => BackgroundWriter::spawn(std::io::sink()),
            _ => BackgroundWriter::spawn(std::io::stderr()),
        };
        let log = Arc::new(EventLog::new(Box::new(lines)));
        let requests = RequestLineLogger::for_level(level, &log);
        let here = listener.local_addr().map_err(Failure::file("listen"))?;
        let open_home = chat_proxy::open_home_later(&settings);
        let opened = chat_proxy::open(&settings, here, has_token, Arc::clone(&log), open_home)?;
        let OpenedProxy { proxy, worker, watcher, waiting, notices } = opened;
        let mut ending = ShutdownSignal::install()?;
        let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().max_blocking_threads(THREADS).build();
        let runtime = runtime.map_err(Failure::file("serve HTTP"))?;
        let (behind, kept) = (proxy.upstream_url(), proxy.store_location());
        if app.output.is_json() {
            let http = format!("http://{here}/v1");
            let shape = json!({ "pid": std::process::id(), "http": http, "openai_base_url": behind, "memory_store": kept, "token": has_token, "waiting": waiting });
            app.output.json(&shape)?;
            if requests.is_some() {
                for notice in &notices {
                    log.info(current_time(), notice);
                }
            }
        } else {
            let kept = app.output.display_path(kept.as_ref());
            app.output.note(&format!("proxy for {behind} at http://{here}/v1, storing in {kept}; press Ctrl-C to stop"))?;
            for notice in &notices {
                app.output.note(notice)?;
            }
        }
        app.output.flush()?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let access = http::PROXY.access_rules(token, &settings.http);
            let front = ProxyServerConfig { chat: proxy, access, limits: http::limits(), log: requests };
            serve_proxy(listener, front, ending.requested()).await
        });
        // Tasks that have not finished are abandoned.
        runtime.shutdown_background();
        worker.shut_down();
        drop(watcher);
        ending.close();
        written.wait();
        served.map_err(Failure::file("serve HTTP to the end"))
    }
}

fn listen_address(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
