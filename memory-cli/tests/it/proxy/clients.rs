//! Tests of the proxy with the OpenAI clients for JavaScript and Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::ProxyProcess;
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest, completion_events};
use crate::postgres_server::shared_server;
use crate::sandbox::Sandbox;

/// Returns the folder with the installed clients, `MEMORY_TEST_OPENAI`.
pub(super) fn find_program() -> Option<PathBuf> {
    let folder = std::env::var_os("MEMORY_TEST_OPENAI").map(PathBuf::from);
    if let Some(folder) = folder.filter(|folder| folder.join("node_modules/openai").exists()) {
        return Some(folder);
    }
    memory_core::testing::leave_out("MEMORY_TEST_OPENAI names no folder with the clients");
    None
}

const PYTHON: &str = include_str!("clients/chat.py");
const NODE: &str = include_str!("clients/chat.mjs");

pub(super) fn model(asked: &UpstreamRequest) -> UpstreamReply {
    if asked.line == "GET /v1/models" {
        return UpstreamReply::Whole(
            200,
            "Content-Type: application/json\r\n",
            r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#.into(),
        );
    }
    let body = asked.json();
    match body["model"].as_str() {
        Some("busy") => UpstreamReply::Whole(
            429,
            "Content-Type: application/json\r\n",
            r#"{"error":{"message":"busy"}}"#.into(),
        ),
        Some("gone") => UpstreamReply::Close,
        Some("broken") => UpstreamReply::Stream {
            pieces: completion_events(&["half"])[..1].to_vec(),
            go_on: None,
            is_whole: false,
        },
        _ if body["stream"] == true => {
            UpstreamReply::completion_stream(&["Nice to ", "meet you, ", "世界."])
        }
        _ => UpstreamReply::completion(&asked.last()),
    }
}

/// Returns the client for Python, without its arguments: the address, and `say` or `ask`.
pub(super) fn python_client(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("venv/bin/python"));
    command.args(["-c", PYTHON]);
    command
}

/// Runs a client on a home with files, and on one that shares a database.
fn run_client(client: &dyn Fn() -> Command) {
    run_client_in(&Sandbox::new(), &[], client);
    let Some(server) = shared_server("clients on a shared home") else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.file("address", &server.url("postgres", &server.database(), ""));
    sandbox.run_shell("for home in mem other; do memory --root $home init --store @address; done");
    run_client_in(&sandbox, &["--root", "mem"], client);
    assert_eq!(
        sandbox.run_json(&["--root", "other", "conversations", "show", "talk"])["total_turns"],
        4
    );
}

/// Runs a client against a model that repeats its input, and again after a restart of the proxy.
///
/// The client prints errors, and exits with 0 if there were no errors.
fn run_client_in(sandbox: &Sandbox, flags: &[&str], client: &dyn Fn() -> Command) {
    let upstream = FakeUpstream::start(model);
    for what in ["say", "ask"] {
        let flags = [flags, &["--no-summarization", "--log-level", "warning"]].concat();
        let proxy = ProxyProcess::start(sandbox, &upstream.base_url(), &flags);
        let output = client().args([&proxy.url, what]).output().expect("it runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{what}: {said}");
        let (code, complaints) = proxy.stop();
        assert_eq!((code, complaints.as_str()), (Some(0), ""), "{what}");
    }
    assert_eq!(
        stored_texts(sandbox, "talk/turns/user"),
        ["My dog is called Rex.", "What is my dog called?"]
    );
    assert_eq!(
        stored_texts(sandbox, "talk/turns/assistant")[0],
        "Nice to meet you, 世界."
    );
}

#[test]
fn the_client_for_python_talks_and_is_remembered() {
    let Some(folder) = find_program() else {
        return;
    };
    run_client(&|| python_client(&folder));
}

#[test]
fn the_client_for_node_talks_and_is_remembered() {
    let Some(folder) = find_program() else {
        return;
    };
    run_client(&|| {
        let mut command = Command::new(folder.join("node_modules/.bin/node"));
        command
            .current_dir(&folder)
            .args(["--input-type=module", "-e", NODE, "--"]);
        command
    });
}
