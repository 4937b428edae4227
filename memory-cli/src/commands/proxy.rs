//! The `memory proxy` command.

use std::sync::Arc;

use clap::Args;
use memory_agent::http::{ProxyFront, serve_proxy};
use memory_store::Log;
use serde_json::json;
use tokio::runtime::Builder;

use crate::app::{App, now};
use crate::chat_proxy::{self, BackgroundWriter, LogLevel, Opened, ProxyArgs, RequestLines};
use crate::failure::Failure;
use crate::http::{self, Ending, TokenArgs, address};

/// Give a memory to any application that speaks the protocol of OpenAI
///
/// Applications ask here instead of the model's server: what a person says calls memories of the conversation to mind, which go to the
/// model with it, and what both say is kept. Facts are drawn from it beside the talk. A chat may say memory_id (the conversation),
/// memory_top_k, memory_recency_weight and memory_score_threshold; an answer that comes whole says memory_hits. All else goes to the
/// model's server and back as it is. A memory that is broken breaks no chat: then the header Memory-Error says why.
///
/// Without --auth-token, only your own programs on this machine are served, and no web page but those of http.allowed_origins. With it
/// (and --host 0.0.0.0 for Docker and other machines), applications send it as their API key, and the model's server is asked with
/// --openai-api-key, the variable that --openai-api-key-env names, or OPENAI_API_KEY; without it, with the key that an application
/// brings, or else with that one. An embedding model at the same server is asked with the same key.
///
/// Each request is one line on the standard error: id (the conversation), hits, ms, stored (how many turns) and status, and no text of a
/// message. To an address without a path, /v1 is added. SIGINT (Ctrl-C) or SIGTERM ends it once all that was asked is
/// answered, within 30 seconds; a second one at once. What was not drawn from the talk by then is after
/// the next start, where `llm` in config.yaml names a model, or else once a chat has named one.
///
/// Every flag is a key of `proxy` in config.yaml as well, and a variable: MEMORY_PROXY_OPENAI_BASE_URL and so on.
///
/// JSON: {pid, http, openai_base_url, memory_store, token, waiting}, when it begins, where token says whether one is asked for, and
/// waiting how many turns from before are worked on only once a chat names a model
#[derive(Debug, Args)]
pub(crate) struct Proxy {
    #[command(flatten)]
    settings: ProxyArgs,
    #[command(flatten)]
    token: TokenArgs,
}

/// Maximum number of threads that block on disk access.
///
/// `WORKERS` is the number of threads that forward requests.
const THREADS: usize = 32;
const WORKERS: usize = 2;

impl Proxy {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut settings = app.settings()?;
        self.settings.overrule(&mut settings.proxy, app.environment)?;
        let token = self.token.token(app.environment)?;
        let place = place(&settings.proxy.host.value, settings.proxy.port.value);
        let wrong = |why| Failure::usage(format!("{place} cannot be listened to: {why}"), "name another --host or --port");
        let listener = address(&place).map_err(wrong)?.listen(token.as_ref(), http::PROXY)?;
        let has_token = token.is_some();
        let level = settings.proxy.log_level.value;
        let (lines, written) = match level {
            LogLevel::Error => BackgroundWriter::begin(std::io::sink()),
            _ => BackgroundWriter::begin(std::io::stderr()),
        };
        let log = Arc::new(Log::to(Box::new(lines)));
        let requests = RequestLines::at(level, &log);
        let here = listener.local_addr().map_err(Failure::file("listen"))?;
        let opened = chat_proxy::open(&settings, here, has_token, Arc::clone(&log))?;
        let Opened { proxy, worker, watcher, waiting, notices } = opened;
        let mut ending = Ending::begin()?;
        let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().max_blocking_threads(THREADS).build();
        let runtime = runtime.map_err(Failure::file("serve HTTP"))?;
        let (behind, kept) = (proxy.behind(), proxy.kept());
        if app.output.is_json() {
            let http = format!("http://{here}/v1");
            let shape = json!({ "pid": std::process::id(), "http": http, "openai_base_url": behind, "memory_store": kept, "token": has_token, "waiting": waiting });
            app.output.json(&shape)?;
            if requests.is_some() {
                for notice in &notices {
                    log.info(now(), notice);
                }
            }
        } else {
            let kept = app.output.place(kept.as_ref());
            app.output.note(&format!("http://{here}/v1 remembers for {behind}, in {kept}; Ctrl-C ends it"))?;
            for notice in &notices {
                app.output.note(notice)?;
            }
        }
        app.output.flush()?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let access = http::PROXY.access(token, &settings.http);
            let front = ProxyFront { chat: proxy, access, limits: http::limits(), log: requests };
            serve_proxy(listener, front, ending.asked()).await
        });
        // Tasks that have not finished are abandoned.
        runtime.shutdown_background();
        worker.end();
        drop(watcher);
        ending.close();
        written.wait();
        served.map_err(Failure::file("serve HTTP to the end"))
    }
}

fn place(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
