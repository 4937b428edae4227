//! A proxy whose memory is stuck.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use memory_agent::http::{ChatProxy, HttpLimits, LastAsked, ProxyRules, Told, Upstream, serve_proxy};
use memory_core::conversation::{ConversationId, RecallRules};
use memory_core::testing::{Disturbed, FakeConversations, FakeJobs, Step, conversations};
use tokio::sync::oneshot;

struct Nobody(Mutex<Sender<ConversationId>>);

impl Told for Nobody {
    fn kept(&self, conversation: &ConversationId) {
        // The test may be over.
        let _ = self.0.lock().expect("nobody panics here").send(conversation.clone());
    }

    fn trouble(&self, what: &str) {
        panic!("{what}");
    }

    fn ails(&self) -> Option<String> {
        None
    }
}

/// Answers whoever asks, once.
fn model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).expect("a request");
        let body = r#"{"choices":[{"message":{"content":"Fine."}}]}"#;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).expect("it takes it");
    });
    format!("http://{place}/v1")
}

#[test]
fn a_memory_that_is_stuck_holds_up_no_chat() {
    let (go_on, stuck) = channel::<()>();
    let (tell, kept) = channel();
    let stuck = Mutex::new(stuck);
    let conversations = conversations(Arc::new(Disturbed::<FakeConversations>::new(move |step| {
        if step == Step::Read {
            // Until the test is over.
            let _ = stuck.lock().expect("nobody panics here").recv();
        }
        Ok(())
    })));
    let rules = ProxyRules { recall: RecallRules::default(), patience: Duration::from_millis(20), has_token: false };
    let upstream = Upstream::new(&model(), None, None).expect("an address");
    let (jobs, told) = (Arc::new(FakeJobs::default()), Arc::new(Nobody(Mutex::new(tell))));
    let last_asked = LastAsked::default();
    let proxy = Arc::new(ChatProxy::new(conversations, jobs, upstream, rules, last_asked.clone(), told));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let place = listener.local_addr().expect("an address");
    let (end, ending) = oneshot::channel::<()>();
    let served = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            serve_proxy(listener, proxy, None, HttpLimits::default(), async { drop(ending.await) }).await
        })
    });
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
    let mut stream = TcpStream::connect(place).expect("a connection");
    let head =
        format!("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}", body.len());
    write!(stream, "{head}\r\nAuthorization: Bearer sk-own\r\n\r\n{body}").expect("it takes it");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("memory-error: REQUEST_TIMEOUT"), "{answer}");
    assert!(answer.contains("Fine.") && answer.ends_with(r#""memory_hits":[]}"#), "{answer}");
    drop(go_on);
    assert_eq!(kept.recv().expect("what was said is kept"), ConversationId::unnamed());
    assert_eq!(last_asked.get().map(|model| (model.name, model.key)), Some(("m".into(), Some("sk-own".into()))));
    end.send(()).expect("it runs");
    served.join().expect("no panic").expect("it ends well");
}
