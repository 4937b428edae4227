//! An HTTP server for tests, and a byte-level client.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use memory_agent::Agent;
use memory_agent::http::{
    AccessRules, AccessToken, AllowedOrigins, HttpLimits, HttpServerConfig, serve_http,
};
use memory_agent::instance::{
    Backend, DefinitionVersion, InstanceDefinitions, InstanceHandle, InstanceListing, OpenInstances,
};
use memory_core::SecretPolicy;
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::testing::{FakeMessages, FakeValues, messages, values};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::agents::agent;

/// Instances named `default` with fake stores.
#[derive(Debug)]
pub(crate) struct FakeDefinitions {
    pub(crate) agent: Arc<Agent>,
    pub(crate) opened: AtomicUsize,
    pub(crate) version: Mutex<String>,
}

impl InstanceDefinitions for FakeDefinitions {
    fn list(&self) -> Result<Vec<InstanceListing>, InstanceError> {
        let fields = Ok(serde_json::Map::new());
        Ok(vec![InstanceListing {
            backend: "kv".into(),
            name: "default".into(),
            fields,
            is_built_in: true,
        }])
    }

    fn version(
        &self,
        backend: &Backend,
        name: &InstanceName,
    ) -> Result<DefinitionVersion, InstanceError> {
        if name.as_str() != "default" {
            return Err(InstanceError::InstanceNotFound {
                instance: format!("{}/{name}", backend.name),
            });
        }
        Ok(DefinitionVersion(vec![(
            "dir".into(),
            self.version.lock().expect("nobody panics here").clone(),
        )]))
    }

    fn open(
        &self,
        backend: &'static Backend,
        _: &InstanceName,
    ) -> Result<InstanceHandle, InstanceError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(match backend.name {
            "history" => InstanceHandle::History(messages(Arc::new(FakeMessages::default())).0),
            "kv" => InstanceHandle::Kv(values(Arc::new(FakeValues::default()))),
            _ => InstanceHandle::Tools(Arc::clone(&self.agent) as _),
        })
    }
}

/// The hint of a rejection.
pub(super) const HOW_TO_ADMIT: &str = "start it with a token";

/// A server that is shut down when dropped.
pub(super) struct HttpTestServer {
    pub(super) place: SocketAddr,
    pub(super) fakes: Arc<FakeDefinitions>,
    pub(super) instances: Arc<OpenInstances>,
    end: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<std::io::Result<()>>>,
}

impl HttpTestServer {
    pub(super) fn start() -> Self {
        Self::of(agent(), None, HttpLimits::default())
    }

    pub(super) fn of(agent: Arc<Agent>, token: Option<&str>, limits: HttpLimits) -> Self {
        let token = token.map(|token| AccessToken::new(token.into()).expect("a token"));
        Self::with(
            agent,
            AccessRules {
                token,
                ..AccessRules::default()
            },
            limits,
        )
    }

    /// Starts a server that pages of these origins may call.
    pub(super) fn for_pages(origins: &[&str], token: Option<&str>) -> Self {
        let token = token.map(|token| AccessToken::new(token.into()).expect("a token"));
        let origins = AllowedOrigins(
            origins
                .iter()
                .map(|origin| origin.parse().expect("an origin"))
                .collect(),
        );
        Self::with(
            agent(),
            AccessRules {
                token,
                origins,
                ..AccessRules::default()
            },
            HttpLimits::default(),
        )
    }

    pub(super) fn with(agent: Arc<Agent>, access: AccessRules, limits: HttpLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let place = listener.local_addr().expect("an address");
        let fakes = Arc::new(FakeDefinitions {
            agent: Arc::clone(&agent),
            opened: AtomicUsize::new(0),
            version: Mutex::default(),
        });
        let instances = Arc::new(OpenInstances::new(
            Arc::clone(&fakes) as _,
            SecretPolicy::Refuse,
        ));
        let access = AccessRules {
            how_to_admit: HOW_TO_ADMIT.into(),
            ..access
        };
        let front = HttpServerConfig {
            agent,
            instances: Arc::clone(&instances),
            access,
            limits,
            chat: None,
            health: None,
        };
        let (end, ending) = oneshot::channel();
        let served = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let served = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                serve_http(listener, front, async { drop(ending.await) }).await
            });
            runtime.shutdown_background();
            served
        });
        Self {
            place,
            fakes,
            instances,
            end: Some(end),
            served: Some(served),
        }
    }

    pub(super) fn request_shutdown(&mut self) {
        let _ = self.end.take().expect("nobody asked before").send(());
    }

    pub(super) fn wait(&mut self) {
        self.served
            .take()
            .expect("it runs")
            .join()
            .expect("no panic")
            .expect("it ends well");
    }

    pub(super) fn begin_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.place).expect("a connection");
        let host = self.place.to_string();
        let length = body.len().to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Connection", "close"),
            ("Content-Length", length.as_str()),
        ];
        let usual = usual
            .iter()
            .filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        let lines: Vec<String> = usual
            .chain(headers)
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let request = format!("{method} {path} HTTP/1.1\r\n{}\r\n{body}", lines.concat());
        stream.write_all(request.as_bytes()).expect("it takes it");
        stream
    }

    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpTestResponse {
        HttpTestResponse::read(self.begin_request(method, path, headers, body)).expect("an answer")
    }

    pub(super) fn get(&self, path: &str) -> HttpTestResponse {
        self.send("GET", path, &[], "")
    }

    pub(super) fn post(&self, path: &str, body: &str) -> HttpTestResponse {
        self.send("POST", path, &[], body)
    }
}

impl Drop for HttpTestServer {
    fn drop(&mut self) {
        if self.end.is_some() {
            self.request_shutdown();
        }
        if self.served.is_some() {
            self.wait();
        }
    }
}

#[derive(Debug)]
pub(crate) struct HttpTestResponse {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl HttpTestResponse {
    /// Reads everything; `None` if the server closes the connection without a response.
    pub(crate) fn read(stream: impl Read) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| 0 < *read)?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_owned(), value.to_owned());
        }
        let mut body = Vec::new();
        reader.read_to_end(&mut body).ok()?;
        Some(Self {
            status,
            headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn code(&self) -> (u16, String) {
        (
            self.status,
            self.json()["error"]["code"]
                .as_str()
                .unwrap_or("none")
                .to_owned(),
        )
    }
}
