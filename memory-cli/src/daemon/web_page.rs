//! The web page of the daemon, which is served from the first request for it.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use memory_agent::web::{SignInCodes, WebServerConfig, serve_web};
use memory_agent::{OpenedPage, PageOpener};
use memory_core::{Code, Embedder, ToolError};
use memory_store::PublishedPage;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::DaemonLog;
use crate::failure::Failure;
use crate::home::Home;
use crate::web_page;

/// Opens the page of the daemon for clients of the socket.
#[derive(Debug)]
pub(super) struct DaemonPage {
    codes: Arc<SignInCodes>,
    /// The address of the page, once it is served.
    address: Mutex<Option<SocketAddr>>,
    listeners: UnboundedSender<TcpListener>,
}

/// The page as the daemon serves it: its configuration and its future listener.
#[derive(Debug)]
pub(super) struct PageServer {
    config: WebServerConfig,
    root: PathBuf,
    listeners: UnboundedReceiver<TcpListener>,
}

/// Prepares the page for `home`. It is served when a client requests it.
pub(super) fn prepare(
    home: &Home,
    embedder: Option<Arc<dyn Embedder>>,
) -> Result<(Arc<DaemonPage>, PageServer), Failure> {
    let codes = Arc::new(SignInCodes::default());
    let config = web_page::configure(home, embedder, Arc::clone(&codes))?;
    let (sender, receiver) = unbounded_channel();
    let page = DaemonPage {
        codes,
        address: Mutex::default(),
        listeners: sender,
    };
    Ok((
        Arc::new(page),
        PageServer {
            config,
            root: home.store.root().to_owned(),
            listeners: receiver,
        },
    ))
}

impl PageOpener for DaemonPage {
    fn open_page(&self, port: Option<u16>) -> Result<OpenedPage, ToolError> {
        let mut address = self.address.lock().unwrap_or_else(PoisonError::into_inner);
        let address = match *address {
            Some(address) => address,
            None => *address.insert(self.listen(port)?),
        };
        Ok(OpenedPage {
            address,
            code: self.codes.issue()?,
        })
    }
}

impl DaemonPage {
    fn listen(&self, port: Option<u16>) -> Result<SocketAddr, ToolError> {
        let failed = |why: &dyn std::fmt::Display| {
            ToolError::new(
                Code::Io,
                format!("cannot serve the page: {why}"),
                Some("choose another port with --port".into()),
            )
        };
        let listener = web_page::listen(port).map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        self.listeners
            .send(listener)
            .map_err(|_| failed(&"the daemon is stopping"))?;
        Ok(address)
    }
}

impl PageServer {
    /// Serves the page from the first request for it until `shutdown` completes.
    pub(super) async fn serve(
        mut self,
        shutdown: impl Future<Output = ()> + Send,
        diary: &DaemonLog,
    ) {
        tokio::pin!(shutdown);
        let listener = tokio::select! {
            listener = self.listeners.recv() => listener,
            () = &mut shutdown => None,
        };
        let Some(listener) = listener else { return };
        let served = async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let address = listener.local_addr()?;
            diary.info(&format!("page: http://{address}"));
            // Without it, other commands only do not name the address.
            let _published = PublishedPage::publish(&self.root, address);
            serve_web(listener, self.config, shutdown).await
        };
        match served.await {
            Ok(()) => diary.info("page: closed"),
            Err(error) => diary.warning(&format!("page: closed: {error}")),
        }
    }
}
