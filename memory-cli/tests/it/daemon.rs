//! `memory serve`, as it runs beside a test.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Longer than anything takes that works.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// A daemon that runs until it is told to end, or until this is dropped.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) log: Receiver<String>,
}

impl Daemon {
    /// Starts a daemon, and waits until it hears of changes.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let daemon = Self::run(sandbox.command(&["serve", "--log", "-"]));
        daemon.says("changes of files are");
        daemon
    }

    /// Starts a daemon by `command`.
    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let (sender, log) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, log }
    }

    /// Waits until the log says something.
    pub(crate) fn says(&self, what: &str) -> String {
        let until = Instant::now() + DEADLINE;
        loop {
            let line = self.log.recv_timeout(until.saturating_duration_since(Instant::now())).expect(what);
            if line.contains(what) {
                return line;
            }
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill");
        assert!(done.success());
    }

    /// Waits until it has ended. What it says comes first, and ends with it.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + DEADLINE;
        while self.log.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
        self.child.wait().expect("it ends")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks the daemon of a home, over its socket.
pub(crate) fn ask(stream: &mut BufReader<UnixStream>, request: &str) -> String {
    stream.get_mut().write_all(format!("{request}\n").as_bytes()).expect("it listens");
    let mut answer = String::new();
    stream.read_line(&mut answer).expect("it answers");
    answer.trim_end().to_owned()
}

/// Reaches the daemon of a home.
pub(crate) fn connect(sandbox: &Sandbox) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(sandbox.path(".memory/memory.sock")).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    BufReader::new(stream)
}
