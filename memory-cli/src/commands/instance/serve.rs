//! The `memory instance serve` command.

use std::sync::Arc;

use clap::Args;
use memory_agent::http::serve_http;
use serde_json::json;
use tokio::runtime::Builder;

use super::super::shutdown_signal::ShutdownSignal;
use crate::agent::{AgentOptions, build_agent};
use crate::app::App;
use crate::args::TokenArgs;
use crate::embedding;
use crate::failure::Failure;
use crate::http::{self, ListenAddress, parse_address};
use crate::instances;

/// Serve actions, tools and the Model Context Protocol over HTTP
///
/// POST /v1/run/TYPE/NAME/ACTION runs an action like `memory instance run`, with the parameters as the body; GET
/// /openapi.json describes the API. The header Memory-Agent: NAME selects an agent and what it can see; without it, only
/// global memories are visible.
///
/// The instances topic/default and bank/default use the project of the folder in which the server is started, like the
/// command line; outside of a project topic/default fails. Tools use the banks of the user and no topics, since agents work
/// in projects of their own.
///
/// `memory daemon run --http` also serves this API, in addition to the daemon. SIGINT (Ctrl-C) or SIGTERM stops the server after
/// pending requests, within 30 seconds; a second signal stops it at once.
///
/// JSON: {pid, http, token} at startup; token is whether a token is required
#[derive(Debug, Args)]
pub(super) struct InstanceServeArgs {
    /// Address to listen on; :PORT listens on all interfaces and requires a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765", value_parser = parse_address)]
    addr: ListenAddress,
    #[command(flatten)]
    token: TokenArgs,
}

/// Maximum number of threads for blocking work.
const BLOCKING_THREADS: usize = 96;

impl InstanceServeArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let token = self.token.token(app.environment)?;
        let listener = self.addr.listen(token.as_ref(), http::INSTANCES)?;
        let has_token = token.is_some();
        let home = app.open_long_running()?;
        let settings = &home.settings;
        let instances = instances::open_cached(settings)?;
        let embedder = embedding::open_via_daemon(settings);
        let parts = AgentOptions {
            embedder,
            instances: Some(Arc::clone(&instances)),
            ..AgentOptions::default()
        };
        let access = http::INSTANCES.home_access_rules(token, &home)?;
        let agent = build_agent(&home.without_project(), parts)?;
        let front = http::build_front(agent, instances, access, Arc::clone(&home.store) as _)?;
        let mut ending = ShutdownSignal::install()?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .build();
        let runtime = runtime.map_err(Failure::file("serve HTTP"))?;
        let place = listener.local_addr().map_err(Failure::file("listen"))?;
        if app.output.is_json() {
            app.output.json(&json!({ "pid": std::process::id(), "http": format!("http://{place}"), "token": has_token }))?;
        } else {
            let whom = if has_token {
                "clients with the token"
            } else {
                "your own programs"
            };
            app.output.note(&format!(
                "serving HTTP at http://{place} for {whom}; press Ctrl-C to stop"
            ))?;
        }
        app.output.flush()?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            serve_http(listener, front, ending.requested()).await
        });
        // Tasks that have not finished are abandoned.
        runtime.shutdown_background();
        drop(ending);
        served.map_err(Failure::file("serve HTTP"))
    }
}
