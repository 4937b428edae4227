//! A running proxy and an HTTP client for tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A running proxy, killed when this is dropped.
pub(crate) struct ProxyProcess {
    process: Child,
    pub(crate) url: String,
    /// The JSON that the proxy printed at startup.
    pub(crate) begun: Value,
    errors: Option<std::thread::JoinHandle<String>>,
}

impl ProxyProcess {
    /// Starts `memory proxy` with the folder `mem`.
    pub(crate) fn start(sandbox: &Sandbox, base_url: &str, flags: &[&str]) -> Self {
        let place = sandbox.path("mem").display().to_string();
        let usual = [
            "proxy",
            "--json",
            "--port",
            "0",
            "--openai-base-url",
            base_url,
            "--memory-path",
            &place,
        ];
        Self::of(sandbox.command(&[&usual, flags].concat()))
    }

    /// Starts a program that prints its HTTP address as JSON.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut errors = process.stderr.take().expect("a pipe");
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).expect("text");
            text
        });
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let begun: Value = serde_json::from_str(&line).expect("JSON");
        let url = begun["http"].as_str().expect("an address").to_owned();
        Self {
            process,
            url,
            begun,
            errors: Some(errors),
        }
    }

    pub(crate) fn address(&self) -> &str {
        self.url
            .trim_start_matches("http://")
            .trim_end_matches("/v1")
    }

    /// Sends a request; returns the connection.
    pub(crate) fn send(&self, line: &str, headers: &str, body: &str) -> TcpStream {
        self.send_bytes(line, headers, body.as_bytes())
    }

    pub(crate) fn send_bytes(&self, line: &str, headers: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).expect("a connection");
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}",
            self.address()
        );
        write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len()).expect("it takes it");
        stream.write_all(body).expect("it takes it");
        stream
    }

    pub(crate) fn request(&self, line: &str, headers: &str, body: &str) -> HttpResponse {
        HttpResponse::read(self.send(line, headers, body))
    }

    /// Sends a chat request to the model.
    pub(crate) fn chat(&self, body: &Value) -> HttpResponse {
        self.request(
            "POST /v1/chat/completions",
            "Authorization: Bearer sk-own\r\n",
            &body.to_string(),
        )
    }

    /// Sends a message to the model `m`.
    pub(crate) fn send_message(&self, text: &str) -> HttpResponse {
        self.chat(
            &serde_json::json!({ "model": "m", "messages": [{ "role": "user", "content": text }] }),
        )
    }

    /// Ends the proxy with SIGTERM; returns its exit code and its log.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .expect("kill")
                .success()
        );
        let code = self.process.wait().expect("it ends").code();
        (
            code,
            self.errors
                .take()
                .map(|errors| errors.join().expect("text"))
                .unwrap_or_default(),
        )
    }
}

impl ProxyProcess {
    /// Kills the proxy with SIGKILL; returns its log.
    pub(crate) fn kill(mut self) -> String {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
        let errors = self.errors.take().expect("they are read once");
        errors.join().expect("text")
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    /// `None` if the connection was closed without a response.
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) is_whole: bool,
}

impl HttpResponse {
    pub(crate) fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let header = |wanted: &str| {
            headers
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.clone())
        };
        let mut body = Vec::new();
        let is_whole = if header("transfer-encoding").is_some() {
            read_chunks(&mut reader, &mut body)
        } else {
            // An interrupted response may end with a connection reset.
            let _ = reader.read_to_end(&mut body);
            header("content-length").is_none_or(|length| length == body.len().to_string())
        };
        Self {
            status,
            headers,
            body,
            is_whole,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Reads the head of a response.
pub(crate) fn read_head(reader: &mut BufReader<TcpStream>) -> (Option<u16>, Vec<(String, String)>) {
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    (status, headers)
}

/// Reads one chunk of a body; the last chunk is empty. `None` means that the body is incomplete.
pub(crate) fn read_chunk(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut size = String::new();
    reader.read_line(&mut size).ok()?;
    let size = usize::from_str_radix(size.trim(), 16).ok()?;
    let mut piece = vec![0; size + 2];
    reader.read_exact(&mut piece).ok()?;
    piece.truncate(size);
    Some(piece)
}

fn read_chunks(reader: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> bool {
    loop {
        match read_chunk(reader) {
            Some(piece) if piece.is_empty() => return true,
            Some(piece) => body.extend_from_slice(&piece),
            None => return false,
        }
    }
}
