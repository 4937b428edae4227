//! Everything over HTTP, asked by a client that knows nothing but bytes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory_agent::Agent;
use memory_agent::http::{HttpFront, HttpLimits, Token, openapi, serve_http};
use memory_agent::instance::{Backend, Holding, Instances, Listed, OpenInstances, Version, backends};
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::testing::{FakeMessages, FakeValues, messages, values};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::agents::{Gate, agent, agent_behind};

/// Instances called `default`, which fakes keep.
#[derive(Debug)]
struct Fakes {
    agent: Arc<Agent>,
    opened: AtomicUsize,
    version: Mutex<String>,
}

impl Instances for Fakes {
    fn list(&self) -> Result<Vec<Listed>, InstanceError> {
        let fields = Ok(serde_json::Map::new());
        Ok(vec![Listed { backend: "kv".into(), name: "default".into(), fields, is_built_in: true }])
    }

    fn version(&self, backend: &Backend, name: &InstanceName) -> Result<Version, InstanceError> {
        if name.as_str() != "default" {
            return Err(InstanceError::InstanceNotFound { instance: format!("{}/{name}", backend.name) });
        }
        Ok(Version(vec![("dir".into(), self.version.lock().expect("nobody panics here").clone())]))
    }

    fn open(&self, backend: &'static Backend, _: &InstanceName) -> Result<Holding, InstanceError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(match backend.name {
            "history" => Holding::History(messages(Arc::new(FakeMessages::default())).0),
            "kv" => Holding::Kv(values(Arc::new(FakeValues::default()))),
            _ => Holding::Tools(Arc::clone(&self.agent)),
        })
    }
}

/// A server that ends when it goes out of scope.
struct Server {
    place: SocketAddr,
    fakes: Arc<Fakes>,
    instances: Arc<OpenInstances>,
    end: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<std::io::Result<()>>>,
}

impl Server {
    fn begin() -> Self {
        Self::of(agent(), None, HttpLimits::default())
    }

    fn of(agent: Arc<Agent>, token: Option<&str>, limits: HttpLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let place = listener.local_addr().expect("an address");
        let fakes = Arc::new(Fakes { agent: Arc::clone(&agent), opened: AtomicUsize::new(0), version: Mutex::default() });
        let instances = Arc::new(OpenInstances::new(Arc::clone(&fakes) as _));
        let token = token.map(|token| Token::new(token.into()).expect("a token"));
        let front = HttpFront { agent, instances: Arc::clone(&instances), token, limits };
        let (end, ending) = oneshot::channel();
        let served = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let served = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                serve_http(listener, front, async { drop(ending.await) }).await
            });
            runtime.shutdown_background();
            served
        });
        Self { place, fakes, instances, end: Some(end), served: Some(served) }
    }

    fn ask_to_end(&mut self) {
        let _ = self.end.take().expect("nobody asked before").send(());
    }

    fn wait(&mut self) {
        self.served.take().expect("it runs").join().expect("no panic").expect("it ends well");
    }

    fn begin_request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.place).expect("a connection");
        let host = format!("localhost:{}", self.place.port());
        let length = body.len().to_string();
        let usual = [("Host", host.as_str()), ("Connection", "close"), ("Content-Length", length.as_str())];
        let usual = usual.iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        let lines: Vec<String> = usual.chain(headers).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!("{method} {path} HTTP/1.1\r\n{}\r\n{body}", lines.concat());
        stream.write_all(request.as_bytes()).expect("it takes it");
        stream
    }

    fn ask_with(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        Answer::read(self.begin_request(method, path, headers, body)).expect("an answer")
    }

    fn get(&self, path: &str) -> Answer {
        self.ask_with("GET", path, &[], "")
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        self.ask_with("POST", path, &[], body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.end.is_some() {
            self.ask_to_end();
        }
        if self.served.is_some() {
            self.wait();
        }
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Answer {
    /// Reads all that comes; nothing if the server closes without a word.
    fn read(stream: TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| 0 < *read)?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_owned(), value.to_owned());
        }
        let mut body = String::new();
        reader.read_to_string(&mut body).ok()?;
        Some(Self { status, headers, body })
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn code(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or("none").to_owned())
    }
}

#[test]
fn an_action_answers_as_it_does_elsewhere() {
    let server = Server::begin();
    let said = server.post("/v1/run/history/default/append", r#"{"session":"s","role":"user","content":"hi 1e1000"}"#);
    assert_eq!((said.status, said.headers["content-type"].as_str()), (200, "application/json"));
    assert_eq!(said.json()["content"], "hi 1e1000");
    let read = server.post("/v1/run/history/default/read", r#"{"session":"s","limit":1,"tail":true}"#);
    assert_eq!(read.json()[0]["role"], "user");
    assert_eq!(server.post("/v1/run/history/default/sessions", "").json()[0]["records"], 1);
    server.post("/v1/run/kv/default/set", r#"{"key":"a/b","value":"茶"}"#);
    assert_eq!(server.post("/v1/run/kv/default/get", r#"{"key":"a/b"}"#).json()["value"], "茶");
    let health = server.get("/v1/health");
    assert_eq!(health.json(), json!({ "status": "ok", "backends": backends().iter().map(|own| own.name).collect::<Vec<_>>() }));
    assert_eq!(server.get("/v1/backends").json().as_array().expect("a list").len(), backends().len());
    assert_eq!(server.get("/v1/backends/kv").json()["actions"][0]["parameters"]["required"], json!(["key", "value"]));
    assert_eq!(server.get("/v1/instances").json(), json!([{ "type": "kv", "name": "default", "fields": {}, "built_in": true }]));
}

#[test]
fn what_is_wrong_is_refused_with_its_code_and_status() {
    let limits = HttpLimits { body: 3000, ..HttpLimits::default() };
    let server = Server::of(agent(), None, limits);
    let long = format!(r#"{{"key":"k","value":"{}"}}"#, "x".repeat(3000));
    for (path, body, status, code) in [
        ("/v1/run/nothing/default/get", "{}", 404, "BACKEND_NOT_FOUND"),
        ("/v1/run/kv/nothing/get", r#"{"key":"k"}"#, 404, "INSTANCE_NOT_FOUND"),
        ("/v1/run/kv/..%2f/get", r#"{"key":"k"}"#, 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/nothing", "{}", 404, "ACTION_NOT_FOUND"),
        ("/v1/run/kv/default/get", r#"{"key":"k"}"#, 404, "KEY_NOT_FOUND"),
        ("/v1/run/kv/default/get", r#"{"key":"k","kee":1}"#, 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "{}", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "[1]", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "\"k\"", 400, "INVALID_INPUT"),
        ("/v1/run/kv/default/get", "{", 400, "INVALID_JSON"),
        ("/v1/run/kv/default/get", r#"{"key":"a\u0000b"}"#, 400, "INVALID_KEY"),
        ("/v1/run/kv/default/get", r#"{"key":"../b"}"#, 400, "INVALID_KEY"),
        ("/v1/run/kv/default/set", long.as_str(), 413, "LIMIT_EXCEEDED"),
        ("/v1/run/history/default/purge", r#"{"session":"s"}"#, 400, "INVALID_INPUT"),
        ("/v1/run/history/default/delete", r#"{"session":"s"}"#, 404, "SESSION_NOT_FOUND"),
        ("/v1/tools/nothing", "{}", 404, "TOOL_NOT_FOUND"),
        ("/v1/tools/memory_read", r#"{"id":"nothing"}"#, 404, "MEMORY_NOT_FOUND"),
        ("/v1/run/notes/default/read", r#"{"ids":"nothing"}"#, 400, "INVALID_INPUT"),
        ("/v1/run/kv/default", "{}", 404, "ROUTE_NOT_FOUND"),
        ("/v1/health", "{}", 405, "METHOD_REFUSED"),
    ] {
        assert_eq!(server.post(path, body).code(), (status, code.to_owned()), "{path} {body}");
    }
    assert_eq!(server.get("/v1/run/kv/default/get").code(), (405, "METHOD_REFUSED".into()));
    assert_eq!(server.get("/").code(), (404, "ROUTE_NOT_FOUND".into()));
    assert_eq!(server.get("/v1/backends/nothing").code(), (404, "BACKEND_NOT_FOUND".into()));
    let listed = server.post("/v1/run/kv/default/list", "{}");
    assert_eq!(listed.json(), json!([]), "nothing of it was kept");
}

#[test]
fn a_body_that_says_no_length_has_the_same_limit() {
    let server = Server::of(agent(), None, HttpLimits { body: 3000, ..HttpLimits::default() });
    let ask = |bytes: usize| {
        let value = "x".repeat(bytes);
        let body = format!(r#"{{"key":"k","value":"{value}"}}"#);
        let mut stream = TcpStream::connect(server.place).expect("a connection");
        let head = "POST /v1/run/kv/default/set HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked";
        stream.write_all(format!("{head}\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).as_bytes()).expect("it takes it");
        Answer::read(stream).expect("an answer")
    };
    assert_eq!(ask(10).status, 200);
    assert_eq!(ask(3000).code(), (413, "LIMIT_EXCEEDED".into()));
}

#[test]
fn with_a_token_nobody_is_served_without_it_but_for_the_health() {
    let server = Server::of(agent(), Some("s3cret"), HttpLimits::default());
    assert_eq!(server.get("/v1/health").status, 200);
    for path in ["/v1/backends", "/v1/instances", "/v1/tools", "/openapi.json", "/metrics", "/mcp", "/nothing"] {
        let refused = server.get(path);
        assert_eq!(
            (refused.code(), refused.headers["www-authenticate"].as_str()),
            ((401, "UNAUTHORIZED".into()), "Bearer"),
            "{path}"
        );
        let wrong = server.ask_with("GET", path, &[("Authorization", "Bearer s3cre")], "");
        assert_eq!(wrong.status, 401, "{path}");
        let right = server.ask_with("GET", path, &[("Authorization", "Bearer s3cret"), ("Host", "memory.example")], "");
        assert_ne!(right.status, 401, "{path}");
    }
    let run = "/v1/run/kv/default/list";
    assert_eq!(server.post(run, "{}").status, 401);
    assert_eq!(server.ask_with("POST", run, &[("Authorization", "Bearer s3cret")], "{}").status, 200);
}

#[test]
fn without_a_token_no_web_page_is_served_and_no_other_machine() {
    let server = Server::begin();
    for (name, value, status) in [
        ("Host", "localhost:1", 200),
        ("Host", "127.0.0.1", 200),
        ("Host", "[::1]:80", 200),
        ("Host", "evil.example", 403),
        ("Host", "localhost.evil.example", 403),
        ("Host", "localhost@evil.example", 403),
        ("Host", "", 403),
        ("Origin", "http://localhost:3000", 200),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost.evil.example", 403),
    ] {
        for path in ["/v1/health", "/v1/instances"] {
            assert_eq!(server.ask_with("GET", path, &[(name, value)], "").status, status, "{name}: {value}");
        }
    }
    assert_eq!(server.ask_with("GET", "http://evil.example/v1/health", &[], "").status, 403);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let everywhere = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await?;
        let instances = Arc::clone(&server.instances);
        let front = HttpFront { agent: agent(), instances, token: None, limits: HttpLimits::default() };
        serve_http(listener, front, std::future::pending()).await
    });
    assert!(everywhere.is_err());
}

#[test]
fn an_instance_is_opened_once_and_anew_when_it_is_defined_anew() {
    let server = Server::begin();
    let set = |value: &str| server.post("/v1/run/kv/default/set", &format!(r#"{{"key":"k","value":"{value}"}}"#));
    assert_eq!(set("1").json()["created"], true);
    assert_eq!(set("2").json()["created"], false);
    assert_eq!(server.fakes.opened.load(Ordering::SeqCst), 1);
    *server.fakes.version.lock().expect("nobody panics here") = "elsewhere".into();
    assert_eq!(set("3").json()["created"], true);
    assert_eq!(server.fakes.opened.load(Ordering::SeqCst), 2);
}

#[test]
fn appends_at_once_are_all_kept() {
    let server = Server::begin();
    thread::scope(|scope| {
        for writer in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..20 {
                    let body = format!(r#"{{"session":"s","role":"user","content":"{writer} {number}"}}"#);
                    assert_eq!(server.post("/v1/run/history/default/append", &body).status, 200);
                }
            });
        }
    });
    assert_eq!(server.post("/v1/run/history/default/read", r#"{"session":"s"}"#).json().as_array().expect("a list").len(), 160);
    assert_eq!(server.fakes.opened.load(Ordering::SeqCst), 1);
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let gate = Arc::new(Gate::default());
    let mut server = Server::of(agent_behind(&gate), None, HttpLimits::default());
    server.post("/v1/run/kv/default/list", "{}");
    let waiting = server.begin_request("POST", "/v1/tools/memory_list", &[], "{}");
    let idle = server.begin_request("GET", "/v1/health", &[("Connection", "keep-alive")], "");
    gate.holds_one();
    server.ask_to_end();
    gate.open();
    let answer = Answer::read(waiting).expect("an answer");
    assert_eq!((answer.status, answer.json()["total"].clone()), (200, json!(0)));
    server.wait();
    assert_eq!(server.instances.count(), 0, "all are closed");
    assert!(TcpStream::connect(server.place).is_err());
    drop(idle);
}

#[test]
fn whoever_is_slow_to_ask_is_dropped() {
    let limits =
        HttpLimits { head_time: Duration::from_millis(50), body_time: Duration::from_millis(50), ..HttpLimits::default() };
    let server = Server::of(agent(), None, limits);
    let mut head = TcpStream::connect(server.place).expect("a connection");
    head.write_all(b"GET /v1/health HTTP/1.1\r\nHost: loc").expect("it takes it");
    let mut rest = Vec::new();
    let _ = head.read_to_end(&mut rest);
    assert!(!rest.starts_with(b"HTTP/1.1 200"), "it is closed");
    let mut body = TcpStream::connect(server.place).expect("a connection");
    let request = "POST /v1/run/kv/default/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{";
    body.write_all(request.as_bytes()).expect("it takes it");
    assert_eq!(Answer::read(body).expect("an answer").code(), (408, "REQUEST_TIMEOUT".into()));
}

#[test]
fn an_agent_sees_over_http_what_it_may_see() {
    let server = Server::begin();
    let as_agent =
        |name: &str, body: &str| server.ask_with("POST", "/v1/run/notes/default/write", &[("Memory-Agent", name)], body);
    let written = as_agent("ada", r#"{"content":"mine alone","scope":"agent:ada"}"#);
    assert_eq!(written.status, 200, "{written:?}");
    let total =
        |headers: &[(&str, &str)]| server.ask_with("POST", "/v1/tools/memory_list", headers, "{}").json()["total"].clone();
    assert_eq!(total(&[("Memory-Agent", "ada")]), 1);
    assert_eq!((total(&[("Memory-Agent", "bob")]), total(&[])), (json!(0), json!(0)));
    assert_eq!(as_agent("no name", "{}").code().0, 400);
}

#[test]
fn the_description_is_true() {
    let server = Server::begin();
    let told = server.get("/openapi.json").json();
    assert_eq!(told, openapi(&agent()));
    let paths = told["paths"].as_object().expect("paths");
    for backend in backends() {
        for action in &backend.actions {
            let path = format!("/v1/run/{}/{{name}}/{}", backend.name, action.name);
            let schema = &paths[&path]["post"]["requestBody"]["content"]["application/json"]["schema"];
            assert_eq!(*schema, action.parameters, "{path}");
        }
    }
    let tools = server.get("/v1/tools").json();
    for tool in tools["tools"].as_array().expect("a list") {
        let path = format!("/v1/tools/{}", tool["name"].as_str().expect("a name"));
        assert_eq!(server.get(&path).json(), *tool);
        assert!(paths.contains_key(&path), "{path}");
    }
    let mut ids = Vec::new();
    for (path, methods) in paths {
        for (method, described) in methods.as_object().expect("methods") {
            ids.push(described["operationId"].as_str().expect("a name").to_owned());
            let asked = path.replace("{name}", "default").replace("{backend}", "kv");
            let answer = server.ask_with(&method.to_uppercase(), &asked, &[], "");
            let code = if answer.status < 400 || path == "/mcp" { String::new() } else { answer.code().1 };
            assert!(
                !["ROUTE_NOT_FOUND", "METHOD_REFUSED", "BACKEND_NOT_FOUND", "ACTION_NOT_FOUND"].contains(&code.as_str()),
                "{path}"
            );
            assert_ne!(answer.status, 500, "{path}: {answer:?}");
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "every operation has a name of its own");
    let text = told.to_string();
    for reference in text.split(r##""$ref":"#"##).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()) {
        assert!(told.pointer(reference).is_some(), "{reference}");
    }
}

#[test]
fn what_was_asked_is_counted() {
    let server = Server::begin();
    server.post("/v1/run/kv/default/set", r#"{"key":"k","value":"1"}"#);
    server.post("/v1/run/kv/default/get", r#"{"key":"l"}"#);
    server.ask_with("BREW", "/coffee", &[], "");
    let metrics = server.get("/metrics");
    assert!(metrics.headers["content-type"].starts_with("application/openmetrics-text"));
    for line in [
        r#"memory_http_requests_total{route="/v1/run/{backend}/{name}/{action}",method="POST",status="200"} 1"#,
        r#"memory_http_requests_total{route="none",method="other",status="404"} 1"#,
        r#"memory_actions_total{backend="kv",action="set",code="ok"} 1"#,
        r#"memory_actions_total{backend="kv",action="get",code="KEY_NOT_FOUND"} 1"#,
        "memory_instances_open 1",
        "memory_http_requests_in_flight 1",
    ] {
        assert!(metrics.body.lines().any(|own| own == line), "{line} in {}", metrics.body);
    }
}
