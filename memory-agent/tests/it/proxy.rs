//! A proxy with a memory that is blocked or slow.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory_agent::http::{
    AccessRules, ChatProxy, HttpLimits, LastModel, OpenHome, ProxyObserver, ProxyRules,
    ProxyServerConfig, Upstream, serve_proxy,
};
use memory_core::RecallLedger;
use memory_core::conversation::{
    ConversationId, Conversations, EntryRole, RecallRules, store_turn,
};
use memory_core::testing::{
    FakeConversations, FakeJobs, FakeRecallLedger, HookStep, conversations,
};
use tokio::sync::oneshot;

use crate::http::places::trickle;

/// An observer that fails the test if a warning does not contain `warning`.
struct TestObserver {
    kept: Mutex<Sender<ConversationId>>,
    warning: Option<&'static str>,
}

impl ProxyObserver for TestObserver {
    fn turns_stored(&self, conversation: &ConversationId) {
        // The test may be over.
        let _ = self
            .kept
            .lock()
            .expect("nobody panics here")
            .send(conversation.clone());
    }

    fn report_failure(&self, what: &str) {
        assert!(
            self.warning.is_some_and(|warning| what.contains(warning)),
            "{what}"
        );
    }

    fn extraction_failure(&self) -> Option<String> {
        None
    }
}

/// Starts a model server that sends this response to the first request. Returns its address.
fn model(kind: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).expect("a request");
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .expect("it takes it");
    });
    format!("http://{place}/v1")
}

const WHOLE: [&str; 2] = [
    "application/json",
    r#"{"choices":[{"message":{"content":"Fine."}}]}"#,
];
const STREAM: [&str; 2] = [
    "text/event-stream",
    "data: {\"choices\":[{\"delta\":{\"content\":\"Fine.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
];

/// Sends a chat to a proxy with a memory that blocks at a step.
///
/// It blocks until `read`, which reads the response, calls `go_on`. Returns the last model.
fn chat_with_blocked_memory(
    at: HookStep,
    patience: Duration,
    answer: [&'static str; 2],
    read: impl FnOnce(TcpStream, &dyn Fn()),
) -> LastModel {
    let (go_on, stuck) = channel::<()>();
    let stuck = Mutex::new(stuck);
    let conversations = conversations(Arc::new(FakeConversations::with_hook(move |step| {
        if step == at {
            // Blocks until the sender is dropped.
            let _ = stuck.lock().expect("nobody panics here").recv();
        }
        Ok(())
    })));
    let go_on = Mutex::new(Some(go_on));
    let go_on = || drop(go_on.lock().expect("nobody panics here").take());
    let chat = TestChat {
        conversations,
        patience,
        home: None,
        warning: None,
        answer,
        ledger: None,
    };
    chat.send("Hi", |stream| {
        read(stream, &go_on);
        go_on();
    })
}

/// A server of a proxy.
struct ProxyTestServer {
    place: SocketAddr,
    end: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl ProxyTestServer {
    fn start(proxy: ChatProxy, limits: HttpLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let place = listener.local_addr().expect("an address");
        let (end, ending) = oneshot::channel::<()>();
        let served = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                let front = ProxyServerConfig {
                    chat: Arc::new(proxy),
                    access: AccessRules::default(),
                    limits,
                    log: None,
                };
                serve_proxy(listener, front, async { drop(ending.await) }).await
            })
        });
        Self { place, end, served }
    }

    fn stop(self) {
        self.end.send(()).expect("it runs");
        self.served.join().expect("no panic").expect("it ends well");
    }
}

/// A proxy for one chat.
struct TestChat {
    conversations: Conversations,
    patience: Duration,
    home: Option<OpenHome>,
    /// The warning that may be reported.
    warning: Option<&'static str>,
    /// The type and body of the response of the model.
    answer: [&'static str; 2],
    ledger: Option<Arc<dyn RecallLedger>>,
}

impl TestChat {
    /// Sends a message, and waits until it is stored and `read` has read the response. Returns the last model.
    fn send(self, message: &str, read: impl FnOnce(TcpStream)) -> LastModel {
        let (tell, kept) = channel();
        let rules = ProxyRules {
            recall: RecallRules::default(),
            patience: self.patience,
            has_token: false,
        };
        let [kind, body] = self.answer;
        let upstream = Upstream::new(&model(kind, body), None, None).expect("an address");
        let told = Arc::new(TestObserver {
            kept: Mutex::new(tell),
            warning: self.warning,
        });
        let (jobs, last_asked) = (Arc::new(FakeJobs::default()), LastModel::default());
        let mut proxy = ChatProxy::new(
            self.conversations,
            jobs,
            upstream,
            rules,
            last_asked.clone(),
            told,
        );
        if let Some(home) = self.home {
            proxy = proxy.with_home(home);
        }
        if let Some(ledger) = self.ledger {
            proxy = proxy.with_recall_ledger(ledger);
        }
        let server = ProxyTestServer::start(proxy, HttpLimits::default());
        let body =
            format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{message}"}}]}}"#);
        let mut stream = TcpStream::connect(server.place).expect("a connection");
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}",
            body.len()
        );
        write!(
            stream,
            "{head}\r\nAuthorization: Bearer sk-own\r\n\r\n{body}"
        )
        .expect("it takes it");
        read(stream);
        assert_eq!(
            kept.recv().expect("what was said is kept"),
            ConversationId::default_conversation()
        );
        server.stop();
        last_asked
    }
}

#[test]
fn a_memory_that_is_stuck_holds_up_no_chat() {
    for (answer, end) in [
        (WHOLE, r#""memory_hits":[]}"#),
        (STREAM, "data: [DONE]\n\n"),
    ] {
        let last_asked = chat_with_blocked_memory(
            HookStep::Read,
            Duration::from_millis(20),
            answer,
            |mut stream, _| {
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("text");
                assert!(
                    answer.starts_with("HTTP/1.1 200 OK")
                        && answer.contains("memory-error: REQUEST_TIMEOUT"),
                    "{answer}"
                );
                assert!(
                    answer.contains("Fine.") && answer.ends_with(end),
                    "{answer}"
                );
            },
        );
        assert_eq!(
            last_asked.get().map(|model| (model.name, model.key)),
            Some(("m".into(), Some("sk-own".into())))
        );
    }
}

#[test]
fn an_answer_ends_once_its_turns_are_written_where_the_disk_is_slow() {
    for (answer, end) in [
        (WHOLE, r#""memory_hits":[]}"#),
        (STREAM, "data: [DONE]\n\n"),
    ] {
        chat_with_blocked_memory(
            HookStep::Write,
            Duration::from_hours(1),
            answer,
            |mut stream, go_on| {
                // A response that ends too early would be read here.
                stream
                    .set_read_timeout(Some(Duration::from_millis(100)))
                    .expect("a socket");
                let mut answer = Vec::new();
                assert!(
                    stream.read_to_end(&mut answer).is_err(),
                    "{}",
                    String::from_utf8_lossy(&answer)
                );
                assert!(
                    !answer.ends_with(end.as_bytes()),
                    "{}",
                    String::from_utf8_lossy(&answer)
                );
                go_on();
                stream.set_read_timeout(None).expect("a socket");
                stream.read_to_end(&mut answer).expect("the rest");
                assert!(
                    answer.ends_with(end.as_bytes()),
                    "{}",
                    String::from_utf8_lossy(&answer)
                );
            },
        );
    }
}

#[test]
fn a_home_that_is_stuck_costs_only_the_standing_texts() {
    let conversations = conversations(Arc::new(FakeConversations::default()));
    store_turn(
        &conversations,
        &ConversationId::default_conversation(),
        EntryRole::User,
        "My dog is Rex.",
    )
    .expect("it is kept");
    let (go_on, stuck) = channel::<()>();
    let stuck = Mutex::new(stuck);
    let open_home: OpenHome = Arc::new(move || {
        // Blocks until the sender is dropped.
        let _ = stuck.lock().expect("nobody panics here").recv();
        Ok(None)
    });
    let warning =
        "standing instructions and preferences are left out: recall timed out after 2000 ms";
    let chat = TestChat {
        conversations,
        patience: Duration::from_secs(2),
        home: Some(open_home),
        warning: Some(warning),
        answer: WHOLE,
        ledger: None,
    };
    chat.send("What is my dog called?", |mut stream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        drop(go_on);
        assert!(
            answer.contains("memory-hits: 1") && !answer.contains("memory-error"),
            "{answer}"
        );
        assert!(
            answer.contains(&format!("memory-warning: {warning}")),
            "{answer}"
        );
        assert!(
            answer.contains("\"content\":\"My dog is Rex.\""),
            "{answer}"
        );
    });
}

#[test]
fn the_memories_of_a_chat_are_recorded_and_a_broken_ledger_fails_no_chat() {
    for is_broken in [false, true] {
        let conversations = conversations(Arc::new(FakeConversations::default()));
        let (conversation, ledger) = (
            ConversationId::default_conversation(),
            Arc::new(FakeRecallLedger::default()),
        );
        store_turn(
            &conversations,
            &conversation,
            EntryRole::User,
            "My dog is Rex.",
        )
        .expect("it is kept");
        if is_broken {
            ledger.will_fail();
        }
        let patience = Duration::from_hours(1);
        let chat = TestChat {
            conversations,
            patience,
            home: None,
            warning: None,
            answer: WHOLE,
            ledger: Some(ledger.clone()),
        };
        chat.send("What is my dog called?", |mut stream| {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("text");
            assert!(
                answer.contains("memory-hits: 1") && !answer.contains("memory-error"),
                "{answer}"
            );
        });
        let records = ledger.records();
        let recorded = records.iter().map(|record| {
            (
                record.interface.as_str(),
                record.query.as_deref(),
                record.memories.len(),
            )
        });
        let expected = [("proxy", Some("What is my dog called?"), 1)];
        assert_eq!(
            recorded.collect::<Vec<_>>(),
            expected[..usize::from(!is_broken)]
        );
        if let [record] = records.as_slice() {
            assert_eq!(record.session.as_deref(), Some(conversation.as_str()));
            assert!(
                record.memories[0].score.is_some_and(|score| 0.0 < score) && 0 < record.tokens,
                "{record:?}"
            );
        }
    }
}

#[test]
fn an_upload_that_trickles_ends() {
    let limits = HttpLimits {
        body_time: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let upstream = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/v1", upstream.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in upstream.incoming() {
            let mut stream = stream.expect("a connection");
            // A response follows the request, or the proxy gives up first.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    let (tell, _) = channel();
    let observer = TestObserver {
        kept: Mutex::new(tell),
        warning: None,
    };
    let rules = ProxyRules {
        recall: RecallRules::default(),
        patience: Duration::from_secs(1),
        has_token: false,
    };
    let proxy = ChatProxy::new(
        conversations(Arc::new(FakeConversations::default())),
        Arc::new(FakeJobs::default()),
        Upstream::new(&address, None, None).expect("an address"),
        rules,
        LastModel::default(),
        Arc::new(observer),
    );
    let server = ProxyTestServer::start(proxy, limits);
    for path in ["/v1/files", "/v1/chat/completions"] {
        let response = trickle(server.place, &format!("POST {path} HTTP/1.1")).expect("a response");
        assert_eq!(response.code(), (408, "REQUEST_TIMEOUT".into()), "{path}");
    }
    server.stop();
}
