//! The socket and the HTTP server of the daemon, which share one small runtime.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_agent::http::{AccessToken, HttpServerConfig, serve_http};
use memory_agent::socket::{self, InheritedListener, Socket, SocketLimits};
use memory_agent::{Agent, AgentBuilder};
use memory_core::Tool;
use memory_core::text::format_error_chain;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::DaemonLog;
use super::web_page::{self, PageServer};
use crate::agent::{AgentOptions, agent_builder, invalid_tools};
use crate::chat_proxy::{self, Watcher, Workers};
use crate::embedding;
use crate::failure::Failure;
use crate::home::Home;
use crate::http::{self, ListenAddress};
use crate::instances;
use crate::wake_signal::WakeSignal;

/// The open socket and listener for agents.
pub(crate) struct DaemonServers {
    /// Why there is no socket; `None` if there is one.
    pub(crate) no_socket: Option<String>,
    agent: Arc<Agent>,
    socket: Option<Socket>,
    http: Option<(TcpListener, HttpServerConfig)>,
    /// The web page, unless it could not be prepared.
    page: Option<PageServer>,
    /// The workers that extract facts from chats over HTTP, and the file watcher.
    workers: Option<(Workers, Option<Watcher>)>,
    /// Whether HTTP is still served.
    is_serving: Arc<AtomicBool>,
}

/// The address for HTTP, and the token that clients must send.
pub(crate) type HttpBinding = (ListenAddress, Option<AccessToken>);

/// Maximum number of threads for blocking work, over all fronts.
const BLOCKING_THREADS: usize = 96;

impl DaemonServers {
    /// Opens the socket and the HTTP listener.
    ///
    /// A socket that cannot be opened is logged as a warning.
    ///
    /// # Errors
    /// If the HTTP listener cannot be opened, since it was requested explicitly.
    pub(crate) fn open(
        home: &Home,
        http: Option<HttpBinding>,
        listener: Option<InheritedListener>,
        tools: Vec<Arc<dyn Tool>>,
        diary: &DaemonLog,
    ) -> Result<Self, Failure> {
        let settings = &home.settings;
        let http = http
            .map(|(address, token)| {
                Ok::<_, Failure>((address.listen(token.as_ref(), http::DAEMON)?, token))
            })
            .transpose()?;
        let root = home.store.root();
        let socket = listener
            .and_then(|listener| Socket::from_listener(listener, root))
            .map_or_else(|| Socket::bind(root), Ok);
        match &socket {
            Ok(socket) => diary.record_socket(socket.path()),
            Err(error) => diary.warning(&format!(
                "socket: cannot open: {}",
                format_error_chain(error)
            )),
        }
        let embedder = embedding::open_lazily(settings);
        let instances = instances::open_cached(settings)?;
        let home = home.without_project();
        let prepared = web_page::prepare(&home, embedder.clone());
        let page = prepared
            .map_err(|error| {
                diary.warning(&format!(
                    "page: cannot prepare: {}",
                    format_error_chain(&error)
                ));
            })
            .ok();
        let parts = AgentOptions {
            embedder,
            instances: Some(Arc::clone(&instances)),
            ..AgentOptions::default()
        };
        let builder = agent_builder(&home, parts)?;
        let (builder, page) = match page {
            Some((opener, server)) => (builder.page(opener), Some(server)),
            None => (builder, None),
        };
        let agent = tools
            .into_iter()
            .fold(builder, AgentBuilder::tool)
            .build()
            .map_err(invalid_tools)?;
        let mut workers = None;
        let front = |(listener, token): (TcpListener, Option<AccessToken>)| {
            let has_token = token.is_some();
            let access = http::DAEMON.home_access_rules(token, &home)?;
            let mut front = http::build_front(
                Arc::clone(&agent),
                instances,
                access,
                Arc::clone(&home.store) as _,
            )?;
            if settings.proxy.openai_base_url.value.is_some() {
                let here = listener.local_addr().map_err(Failure::file("listen"))?;
                let services = home.services.clone();
                let open_home = Arc::new(move || Ok(Some(services.clone())));
                let principals = home.find_database_of_principals()?;
                let opened = chat_proxy::open(
                    settings,
                    here,
                    has_token,
                    diary.log(),
                    open_home,
                    principals,
                )?;
                for notice in &opened.notices {
                    diary.info(&format!("http: {notice}"));
                }
                (front.chat, workers) =
                    (Some(opened.proxy), Some((opened.workers, opened.watcher)));
            }
            Ok::<_, Failure>((listener, front))
        };
        let http = http.map(front).transpose()?;
        let is_serving = Arc::new(AtomicBool::new(http.is_some()));
        let no_socket = socket.as_ref().err().map(|error| format_error_chain(error));
        let fronts = Self {
            no_socket,
            agent,
            socket: socket.ok(),
            http,
            page,
            workers,
            is_serving,
        };
        if let Some(address) = fronts.address() {
            diary.info(&format!("http: http://{address}"));
        }
        Ok(fronts)
    }

    /// Returns a flag that is true while HTTP is served.
    ///
    /// Pending requests are completed before it becomes false.
    pub(crate) fn serving_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_serving)
    }

    /// Returns the path of the socket, if there is one.
    pub(crate) fn socket(&self) -> Option<&Path> {
        self.socket.as_ref().map(Socket::path)
    }

    /// Returns the address of the HTTP listener, if there is one.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.http
            .as_ref()
            .and_then(|(listener, _)| listener.local_addr().ok())
    }

    /// Serves agents until `end` is signalled.
    pub(crate) fn serve(self, end: &Arc<WakeSignal>, diary: &DaemonLog) {
        let runtime = match Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()
        {
            Ok(runtime) => runtime,
            Err(error) => return diary.warning(&format!("cannot serve agents: {error}")),
        };
        self.serve_on(&runtime, end, diary);
        // Tasks that have not finished are abandoned.
        runtime.shutdown_background();
    }

    fn serve_on(self, runtime: &Runtime, end: &Arc<WakeSignal>, diary: &DaemonLog) {
        let (asked, ending) = watch::channel(());
        let bell = Arc::clone(end);
        runtime.spawn_blocking(move || {
            bell.wait(None);
            drop(asked);
        });
        let until_asked = |mut ending: watch::Receiver<()>| async move {
            while ending.changed().await.is_ok() {}
        };
        runtime.block_on(async {
            let over_socket = async {
                let Some(socket) = self.socket else { return };
                let served = socket::serve(
                    socket,
                    Arc::clone(&self.agent),
                    SocketLimits::default(),
                    until_asked(ending.clone()),
                );
                match served.await {
                    Ok(()) => diary.info("socket: closed"),
                    Err(error) => diary.warning(&format!("socket: closed: {error}")),
                }
            };
            let over_http = async {
                let Some((listener, front)) = self.http else {
                    return;
                };
                let listener = match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => listener,
                    Err(error) => return diary.warning(&format!("http: {error}")),
                };
                let served = serve_http(listener, front, until_asked(ending.clone())).await;
                if let Some((workers, _watcher)) = self.workers {
                    // A thread that panicked has already reported the panic.
                    let _ = tokio::task::spawn_blocking(move || workers.shut_down()).await;
                }
                self.is_serving.store(false, Ordering::SeqCst);
                match served {
                    Ok(()) => diary.info("http: closed"),
                    Err(error) => diary.warning(&format!("http: closed: {error}")),
                }
            };
            let page = async {
                if let Some(page) = self.page {
                    page.serve(until_asked(ending.clone()), diary).await;
                }
            };
            tokio::join!(over_socket, over_http, page);
        });
    }
}
