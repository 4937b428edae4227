//! A model server with scripted replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::Value;

/// A scripted reply.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Sends a response with this status, these headers and this body.
    Answer(u16, &'static str, String),
    /// Sends nothing until the client gives up.
    Hang,
    /// Reads the request and closes the connection.
    Close,
    /// Sends a part of a response and closes the connection.
    Break,
}

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    /// The request line.
    pub(crate) line: String,
    /// The headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

/// A local server that ends after the last reply or when dropped.
#[derive(Debug)]
pub(crate) struct ModelTestServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelTestServer {
    /// Starts a server that sends one reply per request, in order, and then stops accepting.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let thread = thread::spawn(move || {
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let Some(request) = read(&stream) else { return };
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(request);
                serve(stream, reply);
            }
        });
        Self {
            address,
            asked,
            thread: Some(thread),
        }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for ModelTestServer {
    fn drop(&mut self) {
        // A connection without a request ends the wait for one that never arrives.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(
                ended.is_ok() || thread::panicking(),
                "the server ends in peace"
            );
        }
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
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
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")?
        .1
        .parse()
        .ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest {
        line,
        headers,
        body: serde_json::from_slice(&body).expect("what is asked is JSON"),
    })
}

fn serve(mut stream: TcpStream, reply: Reply) {
    match reply {
        Reply::Answer(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} Any\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            // The client may have disconnected.
            drop(
                stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(body.as_bytes())),
            );
        }
        Reply::Hang => drop(stream.read_to_end(&mut Vec::new())),
        Reply::Close => {}
        Reply::Break => {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"data\":["));
        }
    }
}
