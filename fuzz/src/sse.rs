//! Fuzzes streams of a language model through the proxy.
//!
//! A stream is forwarded byte for byte, and the parsed text does not depend on how the stream is split.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_agent::http::{
    AccessRules, ChatProxy, HttpLimits, LastModel, ProxyObserver, ProxyRules, ProxyServerConfig,
    Upstream, serve_proxy,
};
use memory_agent::testing::streamed_outcome;
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationIndex, ConversationStore, EntryChange, EntryId,
    EntryVector, RecallRules,
};
use memory_core::secret::Checked;
use memory_core::testing::{FakeJobs, conversations};
use memory_core::{Operation, StoreError};

use crate::fixtures::parse_input;

/// The proxy, as a client connection.
static PROXY_CLIENT: LazyLock<Mutex<BufReader<TcpStream>>> =
    LazyLock::new(|| Mutex::new(BufReader::new(proxy())));

/// The chunks of the next response of the model.
static NEXT_CHUNKS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Streams a response of a model through the proxy, split at some positions.
pub fn sse(bytes: &[u8]) {
    let Some((cuts, stream)) = parse_input::<(Vec<u8>, &[u8])>(bytes) else {
        return;
    };
    let mut pieces = Vec::new();
    let mut rest = stream;
    for cut in cuts {
        let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    assert_eq!(
        streamed_outcome(&pieces),
        streamed_outcome(&[stream]),
        "it does not matter where a stream is cut"
    );

    *NEXT_CHUNKS.lock().expect("nobody panics here") =
        pieces.iter().map(|piece| piece.to_vec()).collect();
    let mut proxy = PROXY_CLIENT.lock().expect("whoever panics ends all");
    let proxy = &mut *proxy;
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"system","content":"Hi"}]}"#;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    proxy
        .get_mut()
        .write_all(format!("{head}{body}").as_bytes())
        .expect("it takes it");
    let status = line(proxy);
    assert!(status.starts_with("HTTP/1.1 200"), "{status}");
    while !line(proxy).is_empty() {}
    assert!(
        read_chunked_body(proxy) == stream,
        "what comes passes as it is"
    );
}

/// Reads a line without its line break.
fn line(stream: &mut impl BufRead) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).expect("text");
    line.trim_end().to_owned()
}

/// Reads a chunked body.
fn read_chunked_body(stream: &mut impl BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let length = usize::from_str_radix(&line(stream), 16).expect("a length");
        let start = body.len();
        body.resize(start + length, 0);
        stream.read_exact(&mut body[start..]).expect("so much");
        line(stream);
        if length == 0 {
            return body;
        }
    }
}

/// Starts a fake model that answers each request with [`NEXT_CHUNKS`], one chunk each; returns its address.
fn start_model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || serve_model(BufReader::new(stream.expect("a connection"))));
        }
    });
    format!("http://{place}/v1")
}

fn serve_model(mut stream: BufReader<TcpStream>) {
    loop {
        let mut length = 0;
        loop {
            let header = line(&mut stream).to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if length == 0 || stream.read_exact(&mut body).is_err() {
            return;
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut answer = head.as_bytes().to_vec();
        for piece in NEXT_CHUNKS
            .lock()
            .expect("nobody panics here")
            .iter()
            .filter(|piece| !piece.is_empty())
        {
            answer.extend(format!("{:x}\r\n", piece.len()).as_bytes());
            answer.extend(piece);
            answer.extend(b"\r\n");
        }
        answer.extend(b"0\r\n\r\n");
        // Two writes, so that the parts may arrive separately; the proxy must not wait for the second one.
        let (first, second) = answer.split_at(answer.len() / 2);
        if stream
            .get_mut()
            .write_all(first)
            .and_then(|()| stream.get_mut().write_all(second))
            .is_err()
        {
            return;
        }
    }
}

fn proxy() -> TcpStream {
    let rules = ProxyRules {
        recall: RecallRules::default(),
        patience: Duration::from_secs(1),
        has_token: false,
    };
    let upstream = Upstream::new(&start_model(), None, None).expect("an address");
    let (store, jobs) = (
        conversations(Arc::new(NullConversationStore)),
        Arc::new(FakeJobs::default()),
    );
    let proxy = Arc::new(ChatProxy::new(
        store,
        jobs,
        upstream,
        rules,
        LastModel::default(),
        Arc::new(NullObserver),
    ));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let place = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let front = ProxyServerConfig {
                chat: proxy,
                access: AccessRules::default(),
                limits: HttpLimits::default(),
                log: None,
            };
            serve_proxy(listener, front, std::future::pending()).await
        })
    });
    let stream = TcpStream::connect(place).expect("a connection");
    stream.set_nodelay(true).expect("a connection");
    stream
}

struct NullObserver;

impl ProxyObserver for NullObserver {
    fn turns_stored(&self, _: &ConversationId) {}

    fn report_failure(&self, what: &str) {
        // A warning about an unreadable answer has a text.
        assert!(!what.is_empty());
    }

    fn extraction_failure(&self) -> Option<String> {
        None
    }
}

/// A conversation store that discards everything, so that a million answers do not exhaust the memory.
#[derive(Debug)]
struct NullConversationStore;

impl ConversationStore for NullConversationStore {
    fn location(&self) -> String {
        "nowhere".into()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        Ok(Vec::new())
    }

    fn read(&self, _: &ConversationId) -> Result<Arc<ConversationIndex>, StoreError> {
        Ok(Arc::default())
    }

    fn user_turns_since(
        &self,
        _: DateTime<Utc>,
    ) -> Result<Vec<Arc<ConversationEntry>>, StoreError> {
        Ok(Vec::new())
    }

    fn recheck_entries(&self, _: &ConversationId, _: &[EntryId]) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn deleted(&self, _: &ConversationId) -> Result<Vec<ConversationEntry>, StoreError> {
        Ok(Vec::new())
    }

    fn commit(&self, _: &ConversationId, _: Checked<&[EntryChange]>) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit_all(
        &self,
        _: &[(&ConversationId, Checked<&[EntryChange]>)],
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit_operation(
        &self,
        _: &ConversationId,
        _: Checked<&[EntryChange]>,
        _: &Operation,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn store_vectors(
        &self,
        _: &ConversationId,
        _: &str,
        _: &[EntryVector],
    ) -> Result<(), StoreError> {
        Ok(())
    }
}
