//! Construction of the chat proxy server, and its threads.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use memory_agent::http::{AccessToken, OpenHome, ProxyServerConfig, RequestLog, serve_proxy};
use memory_core::StoreError;
use memory_store::{EventLog, FileStoreOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::setup::{OpenedProxy, open};
use crate::config::{Setting, Settings};
use crate::failure::{Failure, ProgramError};
use crate::home::{Home, KEPT};
use crate::http::{self, ListenAddress, parse_address};

/// The configuration of a [`Proxy`]; what it does not set is as in `proxy` of the settings.
///
/// [`Home::proxy`](crate::Home::proxy) creates it.
pub struct ProxyBuilder {
    settings: Arc<Settings>,
    open_home: OpenHome,
    address: Option<ListenAddress>,
    token: Option<AccessToken>,
    log: Arc<EventLog>,
    requests: Option<Arc<dyn RequestLog>>,
}

impl ProxyBuilder {
    pub(crate) fn new(settings: Arc<Settings>, open_home: OpenHome) -> Self {
        let log = Arc::new(EventLog::new(Box::new(io::sink())));
        Self {
            settings,
            open_home,
            address: None,
            token: None,
            log,
            requests: None,
        }
    }

    /// Sets the base URL of the model server, such as `http://localhost:11434/v1`.
    #[must_use]
    pub fn model_server(mut self, base_url: &str) -> Self {
        let setting = Setting::flag(Some(base_url.into()));
        Arc::make_mut(&mut self.settings).proxy.openai_base_url = setting;
        self
    }

    /// Stores the conversations in this folder; in the home by default.
    #[must_use]
    pub fn conversations(mut self, folder: &Path) -> Self {
        let setting = Setting::flag(Some(folder.to_owned()));
        Arc::make_mut(&mut self.settings).proxy.memory_path = setting;
        self
    }

    /// Stores messages only, and extracts no facts from them.
    #[must_use]
    pub fn store_only(mut self) -> Self {
        let setting = Setting::flag(false);
        Arc::make_mut(&mut self.settings).proxy.enable_summarization = setting;
        self
    }

    /// Listens on this address; port 0 selects a free port.
    ///
    /// Without a [`Self::token`], the address must be a loopback address, and only programs of the same user have access.
    #[must_use]
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Requires this token in requests, as the API key.
    #[must_use]
    pub fn token(mut self, token: AccessToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Writes warnings to this writer, one line per write.
    #[must_use]
    pub fn log(self, writer: impl Write + Send + 'static) -> Self {
        self.event_log(Arc::new(EventLog::new(Box::new(writer))), None)
    }

    pub(crate) fn event_log(
        mut self,
        log: Arc<EventLog>,
        requests: Option<Arc<dyn RequestLog>>,
    ) -> Self {
        (self.log, self.requests) = (log, requests);
        self
    }

    /// Starts the proxy on threads of its own, and raises the limit of open files of the process, to 16,384 at most.
    ///
    /// # Errors
    /// If no model server is configured, or the address or a model cannot be used.
    pub fn start(self) -> Result<Proxy, ProgramError> {
        let server = self.open()?;
        let address = server.address;
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || server.serve(async { drop(stopped.await) });
        let thread = thread::Builder::new()
            .name("proxy".into())
            .spawn(run)
            .map_err(Failure::file("start the proxy"))?;
        Ok(Proxy {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Opens the listener and starts the background threads.
    pub(crate) fn open(self) -> Result<ProxyServer, Failure> {
        let Self {
            settings,
            open_home,
            address,
            token,
            log,
            requests,
        } = self;
        let address = address.map_or_else(|| configured_address(&settings), Ok)?;
        let listener = address.listen(token.as_ref(), http::PROXY)?;
        let has_token = token.is_some();
        let address = listener.local_addr().map_err(Failure::file("listen"))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .max_blocking_threads(THREADS)
            .build();
        let runtime = runtime.map_err(Failure::file("serve HTTP"))?;
        let opened = open(&settings, address, has_token, log, open_home, None)?;
        let access = http::PROXY.access_rules(token, &settings);
        let proxy = Arc::clone(&opened.proxy);
        let front = ProxyServerConfig {
            chat: proxy,
            access,
            limits: http::limits(),
            log: requests,
        };
        Ok(ProxyServer {
            opened,
            address,
            has_token,
            listener,
            front,
            runtime,
        })
    }
}

impl std::fmt::Debug for ProxyBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ProxyBuilder")
            .field("home", &self.settings.root.value)
            .finish_non_exhaustive()
    }
}

/// Maximum number of threads that block on disk access.
///
/// `WORKERS` is the number of threads that forward requests.
const THREADS: usize = 32;
const WORKERS: usize = 2;

/// Returns the address in the settings.
fn configured_address(settings: &Settings) -> Result<ListenAddress, Failure> {
    let (host, port) = (&settings.proxy.host.value, settings.proxy.port.value);
    let place = if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    parse_address(&place).map_err(|why| {
        Failure::usage(
            format!("cannot listen on {place}: {why}"),
            "use another --host or --port",
        )
    })
}

/// A proxy that is ready to serve.
pub(crate) struct ProxyServer {
    /// The proxy and its background threads.
    pub(crate) opened: OpenedProxy,
    /// The address of the listener.
    pub(crate) address: SocketAddr,
    /// Whether requests need a token.
    pub(crate) has_token: bool,
    listener: std::net::TcpListener,
    front: ProxyServerConfig,
    runtime: Runtime,
}

impl ProxyServer {
    /// Serves until `shutdown` is ready, completes pending requests, and ends the background threads.
    pub(crate) fn serve(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let Self {
            opened,
            listener,
            front,
            runtime,
            ..
        } = self;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            serve_proxy(listener, front, shutdown).await
        });
        // Tasks that have not finished are abandoned.
        runtime.shutdown_background();
        opened.workers.shut_down();
        drop(opened.watcher);
        served
    }
}

/// A running chat proxy in this process; see [`Home::proxy`](crate::Home::proxy). It stops when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Proxy {
    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL for applications, such as `http://127.0.0.1:8100/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Stops the proxy after pending requests, and waits for its end.
    ///
    /// # Errors
    /// If the server failed.
    pub fn stop(mut self) -> Result<(), ProgramError> {
        Ok(self
            .join()
            .map_err(Failure::file("serve HTTP to the end"))?)
    }

    fn join(&mut self) -> io::Result<()> {
        drop(self.stop.take());
        // A panic of the thread was already reported.
        self.thread
            .take()
            .map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// The folder of a home that exists once it contains memories.
const MEMORIES: &str = "categories";

/// Returns a function that opens the home of the settings once it contains memories.
///
/// It does not depend on the folder of the conversations.
pub(crate) fn open_home_later(settings: &Arc<Settings>) -> OpenHome {
    let (settings, opened) = (Arc::clone(settings), OnceLock::new());
    Arc::new(move || {
        if let Some(services) = opened.get().cloned() {
            return Ok(Some(services));
        }
        // Opening any other folder would create an index in it.
        if settings.store.value.is_none() && !settings.root.value.join(MEMORIES).is_dir() {
            return Ok(None);
        }
        let options = FileStoreOptions {
            kept: KEPT,
            ..FileStoreOptions::default()
        };
        let home =
            Home::with_settings(Arc::clone(&settings), options).map_err(
                |failure| match failure {
                    Failure::Store(error) => error,
                    other => StoreError::Invalid {
                        why: other.to_string(),
                    },
                },
            )?;
        Ok(Some(opened.get_or_init(|| home.services).clone()))
    })
}
