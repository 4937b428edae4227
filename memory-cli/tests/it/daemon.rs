//! A running `memory daemon run` for tests.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Timeout of the tests, longer than any successful operation.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// A running daemon, killed when this is dropped.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) log: Receiver<String>,
}

impl Daemon {
    /// Starts a daemon, and waits until it watches the files.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let daemon = Self::run(sandbox.command(&["serve", "--log", "-"]));
        daemon.wait_for_log("detecting file changes by");
        daemon
    }

    /// Starts a daemon with `command`.
    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let (sender, log) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, log }
    }

    /// Waits until a line of the log contains `what`; returns the line.
    pub(crate) fn wait_for_log(&self, what: &str) -> String {
        let until = Instant::now() + DEADLINE;
        loop {
            let line = self
                .log
                .recv_timeout(until.saturating_duration_since(Instant::now()))
                .expect(what);
            if line.contains(what) {
                return line;
            }
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let done = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .expect("kill");
        assert!(done.success());
    }

    /// Waits for the end of the log, then for the exit of the daemon.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        let until = Instant::now() + DEADLINE;
        while self
            .log
            .recv_timeout(until.saturating_duration_since(Instant::now()))
            .is_ok()
        {}
        self.child.wait().expect("it ends")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request to a daemon over its socket; returns the response.
pub(crate) fn send_request(stream: &mut BufReader<UnixStream>, request: &str) -> String {
    try_request(stream, request).expect("it answers")
}

/// Sends a request to a daemon that may have ended.
pub(crate) fn try_request(stream: &mut BufReader<UnixStream>, request: &str) -> io::Result<String> {
    stream
        .get_mut()
        .write_all(format!("{request}\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_line(&mut answer)?;
    Ok(answer.trim_end().to_owned())
}

/// Connects to the daemon of a home.
pub(crate) fn connect(sandbox: &Sandbox) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(sandbox.path(".memory/memory.sock")).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    BufReader::new(stream)
}
