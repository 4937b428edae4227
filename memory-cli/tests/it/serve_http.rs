//! Tests of `memo serve` and `memory daemon run --http` with a plain HTTP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// A running server, killed when this is dropped.
pub(crate) struct HttpServerProcess {
    process: Child,
    begun: Value,
}

impl HttpServerProcess {
    fn start(sandbox: &Sandbox, arguments: &[&str], token: Option<&str>) -> Self {
        let token = token.map(|token| ("MEMO_AUTH_TOKEN", token));
        Self::with(sandbox, arguments, token.as_slice())
    }

    /// Starts a server in a folder of the home.
    pub(crate) fn start_in_folder(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> Self {
        let mut command = sandbox.command(arguments);
        command.current_dir(sandbox.path(folder));
        Self::of(command)
    }

    /// Starts a server with these environment variables.
    pub(crate) fn with(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = sandbox.command(arguments);
        command.envs(variables.iter().copied());
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        Self {
            process,
            begun: serde_json::from_str(&line).expect("JSON"),
        }
    }

    /// Returns the address of the server, such as `http://127.0.0.1:8717`.
    pub(crate) fn url(&self) -> &str {
        self.begun["http"].as_str().expect("an address")
    }

    /// Posts `body`; returns the status line and the body of the response.
    pub(crate) fn post(&self, path: &str, token: &str, body: &str) -> (String, String) {
        self.send("POST", path, token, body)
    }

    /// Requests a page; returns the status line and the body of the response.
    pub(crate) fn get(&self, path: &str, token: &str) -> (String, String) {
        self.send("GET", path, token, "")
    }

    fn send(&self, method: &str, path: &str, token: &str, body: &str) -> (String, String) {
        let place = self.url().strip_prefix("http://").expect("an address");
        let mut stream = TcpStream::connect(place).expect("a connection");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\nAuthorization: Bearer {token}"
        );
        write!(
            stream,
            "{head}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it takes it");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (
            head.lines().next().unwrap_or_default().to_owned(),
            body.to_owned(),
        )
    }

    pub(crate) fn stop(mut self) -> Option<i32> {
        let pid = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .expect("kill")
                .success()
        );
        self.process.wait().expect("it ends").code()
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn what_is_kept_over_http_is_read_at_the_command_line() {
    let sandbox = Sandbox::new();
    let server = HttpServerProcess::start(
        &sandbox,
        &["instance", "serve", "--addr", "127.0.0.1:0"],
        Some("s3cret"),
    );
    assert_eq!(server.begun["token"], true);
    let said = server.post(
        "/v1/run/history/default/append",
        "s3cret",
        r#"{"session":"s","role":"user","content":"hi"}"#,
    );
    assert_eq!(said.0, "HTTP/1.1 200 OK");
    let note = server.post(
        "/v1/run/notes/default/write",
        "s3cret",
        r#"{"content":"tea at nine"}"#,
    );
    assert_eq!(note.0, "HTTP/1.1 200 OK");
    assert_eq!(
        server.post("/v1/run/kv/default/list", "wrong", "{}").0,
        "HTTP/1.1 401 Unauthorized"
    );
    assert_eq!(
        sandbox
            .run_shell("memo run history read -p session=s | jq -r '.[0].content'")
            .trim_end(),
        "hi"
    );
    assert_eq!(
        sandbox
            .run_shell("memo run notes search -p query=tea | jq .total")
            .trim_end(),
        "1"
    );
    // A new instance is available immediately, until it is removed.
    sandbox.run_shell(r#"memo connect --input '{"dir":"~/scratch"}' kv scratch"#);
    assert_eq!(
        server
            .post(
                "/v1/run/kv/scratch/set",
                "s3cret",
                r#"{"key":"a","value":"1"}"#
            )
            .0,
        "HTTP/1.1 200 OK"
    );
    assert_eq!(sandbox.run_shell("cat scratch/a"), "1");
    sandbox.run_shell("memo rm kv/scratch");
    assert_eq!(
        server
            .post("/v1/run/kv/scratch/get", "s3cret", r#"{"key":"a"}"#)
            .0,
        "HTTP/1.1 404 Not Found"
    );
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn an_instance_that_is_open_stays_where_it_may_be_and_survives_its_folder() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("mkdir -p ok outside");
    sandbox.run_shell(r#"memo connect --input '{"dir":"~/ok/in"}' kv in"#);
    let allowed = sandbox.path("ok").display().to_string();
    let server = HttpServerProcess::with(
        &sandbox,
        &["instance", "serve", "--addr", "127.0.0.1:0"],
        &[("MEMO_ALLOWED_PATHS", &allowed)],
    );
    let set = || {
        server
            .post("/v1/run/kv/in/set", "", r#"{"key":"k","value":"1"}"#)
            .0
    };
    assert_eq!(set(), "HTTP/1.1 200 OK");
    sandbox.run_shell("rm -r ok/in");
    assert_eq!(
        (set().as_str(), sandbox.run_shell("cat ok/in/k").as_str()),
        ("HTTP/1.1 200 OK", "1")
    );
    sandbox.run_shell("mv ok/in ok/old; ln -s ~/outside ok/in");
    assert_eq!(set(), "HTTP/1.1 403 Forbidden");
    assert_eq!(sandbox.run_shell("ls -A outside"), "");
}

#[test]
fn the_daemon_serves_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("tea at nine", &[]);
    let server = HttpServerProcess::start(
        &sandbox,
        &["serve", "--http", "127.0.0.1:0", "--json"],
        None,
    );
    let found = server.post("/v1/tools/memory_search", "", r#"{"query":"tea"}"#);
    assert!(found.1.contains(r#""total":1"#), "{found:?}");
    assert_eq!(
        server
            .post("/v1/run/kv/default/set", "", r#"{"key":"a","value":"1"}"#)
            .0,
        "HTTP/1.1 200 OK"
    );
    assert_eq!(
        sandbox
            .run_shell("memo run kv get -p key=a | jq -r .value")
            .trim_end(),
        "1"
    );
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn no_agent_stores_a_credential_unless_the_settings_permit_it() {
    let sandbox = Sandbox::new();
    let token = ["gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"].concat();
    let body = format!(r#"{{"key":"a","value":"{token}","allow_secret":true}}"#);
    let call = format!(r#"{{"name":"kv_set","params":{body}}}"#);
    let set = || {
        let server = HttpServerProcess::start(
            &sandbox,
            &["instance", "serve", "--addr", "127.0.0.1:0"],
            None,
        );
        let told = server.post("/v1/run/kv/default/set", "", &body).1;
        [
            told,
            sandbox.run_with_input(&call, &["agent", "--tools", "kv"]),
        ]
    };
    for refused in set() {
        assert!(refused.contains("agents.allow_secret: true"), "{refused}");
    }
    let by_person =
        format!("memory instance run kv set -p key=b -p allow_secret=true -p value={token}");
    assert!(sandbox.run_shell(&by_person).contains("created"));
    sandbox.run_shell("memory config set agents.allow_secret true");
    for told in set() {
        assert!(told.contains(r#""key":"a""#), "{told}");
    }
}

#[test]
fn others_are_not_served_without_a_token() {
    let sandbox = Sandbox::new();
    for arguments in [
        ["instance", "serve", "--addr", "0.0.0.0:0"].as_slice(),
        &["instance", "serve", "--addr", ":0"],
    ] {
        assert!(
            sandbox.run(arguments).contains("which requires a token"),
            "{arguments:?}"
        );
    }
    assert_snapshot!(sandbox.run(&["instance", "serve", "--auth-token", "a b"]), @"
    --- stderr
    error[usage]: --auth-token is not a valid token
    hint: a token consists of visible ASCII characters without spaces
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["instance", "serve", "--addr", "nowhere"]), @"
    --- stderr
    error[usage]: invalid value 'nowhere' for '--addr <ADDRESS>': not an address with a port, such as 127.0.0.1:8765

    For more information, try '--help'.
    --- exit 2
    ");
}
