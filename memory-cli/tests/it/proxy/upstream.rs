//! A fake server of a language model.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamRequest {
    /// The method and the path.
    pub(crate) line: String,
    /// The headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl UpstreamRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON; null if it is invalid.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Returns the text of the last message.
    pub(crate) fn last(&self) -> String {
        let messages = self.json()["messages"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        messages
            .last()
            .and_then(|message| message["content"].as_str())
            .unwrap_or_default()
            .to_owned()
    }

    fn system_message(&self) -> String {
        let text = self.json()["messages"][0]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if self.json()["messages"][0]["role"] == "system" {
            text
        } else {
            String::new()
        }
    }

    /// Returns the purpose of a request by the proxy itself: `facts`, `reconcile` or `summary`.
    pub(crate) fn purpose(&self) -> Option<&'static str> {
        let system = self.system_message();
        let all = [
            ("facts", "You extract facts"),
            ("reconcile", "memory manager"),
            ("summary", "running summary"),
        ];
        all.into_iter()
            .find(|(_, mark)| system.contains(mark))
            .map(|(purpose, _)| purpose)
    }
}

/// The response of the server to a request.
pub(crate) enum UpstreamReply {
    /// Sends this status, these header lines and this body.
    Whole(u16, &'static str, String),
    /// Streams chunks, each after a message on `go_on`; ends the body only if `is_whole`.
    Stream {
        pieces: Vec<Vec<u8>>,
        go_on: Option<Receiver<()>>,
        is_whole: bool,
    },
    /// Streams chunks of plain text, each after a message on the channel.
    Plain(Vec<Vec<u8>>, Receiver<()>),
    /// Sends these bytes, including the head, and closes the connection.
    Raw(Vec<u8>),
    /// Closes the connection.
    Close,
    /// Sends an incomplete response and closes the connection.
    Break,
    /// Never responds, and sends a message when the client disconnects.
    Hang(Sender<()>),
}

impl UpstreamReply {
    /// Returns a chat completion with this text.
    pub(crate) fn completion(text: &str) -> Self {
        let message = json!({ "role": "assistant", "content": text });
        let choices = json!([{ "index": 0, "message": message, "finish_reason": "stop" }]);
        let answer = json!({ "id": "1", "object": "chat.completion", "choices": choices, "usage": { "total_tokens": 7 } });
        Self::Whole(
            200,
            "Content-Type: application/json\r\n",
            answer.to_string(),
        )
    }

    /// Returns a stream of chat completion chunks with these words.
    pub(crate) fn completion_stream(words: &[&str]) -> Self {
        Self::Stream {
            pieces: completion_events(words),
            go_on: None,
            is_whole: true,
        }
    }
}

/// Returns the events of a stream of words.
pub(crate) fn completion_events(words: &[&str]) -> Vec<Vec<u8>> {
    let event = |word: &&str| {
        let choices = json!([{ "index": 0, "delta": { "content": word }, "finish_reason": null }]);
        format!("data: {}\r\n\r\n", json!({ "choices": choices })).into_bytes()
    };
    words
        .iter()
        .map(event)
        .chain([b"data: [DONE]\n\n".to_vec()])
        .collect()
}

/// A local server that answers each request with a function until the end of the test.
pub(crate) struct FakeUpstream {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<UpstreamRequest>>>,
    news: Mutex<Receiver<()>>,
}

impl FakeUpstream {
    pub(crate) fn start(
        answer: impl Fn(&UpstreamRequest) -> UpstreamReply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (tell, news) = channel();
        let (kept, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, answer, tell) = (Arc::clone(&kept), Arc::clone(&answer), tell.clone());
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Some(request) = read_request(&mut reader) {
                        kept.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(request.clone());
                        // The test may have ended.
                        let _ = tell.send(());
                        if !send_reply(&mut reader, answer(&request)) {
                            return;
                        }
                    }
                });
            }
        });
        Self {
            address,
            asked,
            news: Mutex::new(news),
        }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests of applications, without those of the proxy itself.
    pub(crate) fn client_requests(&self) -> Vec<UpstreamRequest> {
        let all = self
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        all.into_iter()
            .filter(|asked| !asked.line.contains("chat") || asked.purpose().is_none())
            .collect()
    }

    /// Waits for the next request.
    pub(crate) fn wait_for_request(&self) {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.recv_timeout(Duration::from_mins(1))
            .expect("it is asked");
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<UpstreamRequest> {
    let mut next = || {
        let mut line = String::new();
        reader
            .read_line(&mut line)
            .ok()
            .filter(|length| 0 < *length)?;
        Some(line.trim_end().to_owned())
    };
    let line = next()?;
    let mut headers = Vec::new();
    loop {
        let header = next()?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let value = |wanted: &str| {
        headers
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.clone())
    };
    let mut body = Vec::new();
    if value("transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut piece = vec![0; size + 2];
            reader.read_exact(&mut piece).ok()?;
            body.extend_from_slice(&piece[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        body.resize(
            value("content-length").map_or(0, |length| length.parse().expect("a length")),
            0,
        );
        reader.read_exact(&mut body).ok()?;
    }
    let line = line.trim_end_matches(" HTTP/1.1").to_owned();
    Some(UpstreamRequest {
        line,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Sends the reply; returns whether the connection remains open for another request.
fn send_reply(reader: &mut BufReader<TcpStream>, reply: UpstreamReply) -> bool {
    let stream = reader.get_mut();
    match reply {
        UpstreamReply::Whole(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} Any\r\n{headers}Content-Length: {}\r\n\r\n",
                body.len()
            );
            stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(body.as_bytes()))
                .is_ok()
        }
        UpstreamReply::Stream {
            pieces,
            go_on,
            is_whole,
        } => send_chunks(
            stream,
            "text/event-stream; charset=utf-8",
            pieces,
            go_on.as_ref(),
            is_whole,
        ),
        UpstreamReply::Plain(pieces, go_on) => {
            send_chunks(stream, "text/plain", pieces, Some(&go_on), true)
        }
        UpstreamReply::Raw(bytes) => {
            // The client may have disconnected.
            let _ = stream.write_all(&bytes);
            false
        }
        UpstreamReply::Close => false,
        UpstreamReply::Break => {
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"data\":[");
            false
        }
        UpstreamReply::Hang(gone) => {
            let _ = reader.read_to_end(&mut Vec::new());
            let _ = gone.send(());
            false
        }
    }
}

/// Sends chunks, each after a message on `go_on`; returns whether the connection remains open.
fn send_chunks(
    stream: &mut TcpStream,
    kind: &str,
    pieces: Vec<Vec<u8>>,
    go_on: Option<&Receiver<()>>,
    is_whole: bool,
) -> bool {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut sent = stream.write_all(head.as_bytes());
    for piece in pieces {
        if go_on.is_some_and(|go_on| go_on.recv().is_err()) {
            return false;
        }
        let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
        sent = sent.and_then(|()| stream.write_all(&chunk));
    }
    let end = if is_whole {
        sent.and_then(|()| stream.write_all(b"0\r\n\r\n"))
    } else {
        sent
    };
    end.is_ok() && is_whole
}
