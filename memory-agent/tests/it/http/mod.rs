//! The HTTP server, tested with a byte-level client.

mod custom_tools;
mod mcp;
mod pages;
pub(crate) mod places;
mod principals;
mod recalls;
mod refusals;
pub(crate) mod server;

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use memory_agent::http::{HttpLimits, openapi};
use memory_agent::instance::backends;
use serde_json::json;

use crate::agents::{CallGate, agent, agent_behind};
use server::{HttpTestResponse, HttpTestServer};

#[test]
fn an_action_answers_as_it_does_elsewhere() {
    let server = HttpTestServer::start();
    let said = server.post(
        "/v1/run/history/default/append",
        r#"{"session":"s","role":"user","content":"hi 1e1000"}"#,
    );
    assert_eq!(
        (said.status, said.headers["content-type"].as_str()),
        (200, "application/json")
    );
    assert_eq!(said.json()["content"], "hi 1e1000");
    let read = server.post(
        "/v1/run/history/default/read",
        r#"{"session":"s","limit":1,"tail":true}"#,
    );
    assert_eq!(read.json()[0]["role"], "user");
    assert_eq!(
        server.post("/v1/run/history/default/sessions", "").json()[0]["records"],
        1
    );
    server.post("/v1/run/kv/default/set", r#"{"key":"a/b","value":"茶"}"#);
    assert_eq!(
        server
            .post("/v1/run/kv/default/get", r#"{"key":"a/b"}"#)
            .json()["value"],
        "茶"
    );
    let health = server.get("/v1/health");
    assert_eq!(
        health.json(),
        json!({ "status": "ok", "backends": backends().iter().map(|own| own.name).collect::<Vec<_>>() })
    );
    assert_eq!(
        server
            .get("/v1/backends")
            .json()
            .as_array()
            .expect("a list")
            .len(),
        backends().len()
    );
    assert_eq!(
        server.get("/v1/backends/kv").json()["actions"][0]["parameters"]["required"],
        json!(["key", "value"])
    );
    assert_eq!(
        server.get("/v1/instances").json(),
        json!([{ "type": "kv", "name": "default", "fields": {}, "built_in": true }])
    );
}

#[test]
fn an_instance_is_opened_once_and_anew_when_it_is_defined_anew() {
    let server = HttpTestServer::start();
    let set = |value: &str| {
        server.post(
            "/v1/run/kv/default/set",
            &format!(r#"{{"key":"k","value":"{value}"}}"#),
        )
    };
    assert_eq!(set("1").json()["created"], true);
    assert_eq!(set("2").json()["created"], false);
    assert_eq!(server.fakes.opened.load(Ordering::SeqCst), 1);
    *server.fakes.version.lock().expect("nobody panics here") = "elsewhere".into();
    assert_eq!(set("3").json()["created"], true);
    assert_eq!(server.fakes.opened.load(Ordering::SeqCst), 2);
}

#[test]
fn appends_at_once_are_all_kept() {
    let server = HttpTestServer::start();
    thread::scope(|scope| {
        for writer in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..20 {
                    let body =
                        format!(r#"{{"session":"s","role":"user","content":"{writer} {number}"}}"#);
                    assert_eq!(
                        server.post("/v1/run/history/default/append", &body).status,
                        200
                    );
                }
            });
        }
    });
    assert_eq!(
        server
            .post("/v1/run/history/default/read", r#"{"session":"s"}"#)
            .json()
            .as_array()
            .expect("a list")
            .len(),
        160
    );
    assert_eq!(server.fakes.opened.load(Ordering::SeqCst), 1);
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let gate = Arc::new(CallGate::default());
    let mut server = HttpTestServer::of(agent_behind(&gate), None, HttpLimits::default());
    server.post("/v1/run/kv/default/list", "{}");
    let waiting = server.begin_request("POST", "/v1/tools/memory_list", &[], "{}");
    let idle = server.begin_request("GET", "/v1/health", &[("Connection", "keep-alive")], "");
    gate.wait_for_caller();
    server.request_shutdown();
    gate.open();
    let answer = HttpTestResponse::read(waiting).expect("an answer");
    assert_eq!(
        (answer.status, answer.json()["total"].clone()),
        (200, json!(0))
    );
    server.wait();
    assert_eq!(server.instances.count(), 0, "all are closed");
    assert!(TcpStream::connect(server.place).is_err());
    drop(idle);
}

#[test]
fn an_agent_sees_over_http_what_it_may_see() {
    let server = HttpTestServer::start();
    let as_agent = |name: &str, body: &str| {
        server.send(
            "POST",
            "/v1/run/notes/default/write",
            &[("Memory-Agent", name)],
            body,
        )
    };
    let written = as_agent("ada", r#"{"content":"mine alone","scope":"agent:ada"}"#);
    assert_eq!(written.status, 200, "{written:?}");
    let total = |headers: &[(&str, &str)]| {
        server
            .send("POST", "/v1/tools/memory_list", headers, "{}")
            .json()["total"]
            .clone()
    };
    assert_eq!(total(&[("Memory-Agent", "ada")]), 1);
    assert_eq!(
        (total(&[("Memory-Agent", "bob")]), total(&[])),
        (json!(0), json!(0))
    );
    assert_eq!(as_agent("no name", "{}").code().0, 400);
}

#[test]
fn the_description_is_true() {
    let server = HttpTestServer::start();
    let told = server.get("/openapi.json").json();
    assert_eq!(told, openapi(&agent()));
    let paths = told["paths"].as_object().expect("paths");
    for backend in backends() {
        for action in &backend.actions {
            let path = format!("/v1/run/{}/{{name}}/{}", backend.name, action.name);
            let schema =
                &paths[&path]["post"]["requestBody"]["content"]["application/json"]["schema"];
            assert_eq!(*schema, action.parameters, "{path}");
        }
    }
    let tools = server.get("/v1/tools").json();
    for tool in tools["tools"].as_array().expect("a list") {
        let path = format!("/v1/tools/{}", tool["name"].as_str().expect("a name"));
        assert_eq!(server.get(&path).json(), *tool);
        assert!(paths.contains_key(&path), "{path}");
    }
    let mut ids = Vec::new();
    for (path, methods) in paths {
        for (method, described) in methods.as_object().expect("methods") {
            ids.push(
                described["operationId"]
                    .as_str()
                    .expect("a name")
                    .to_owned(),
            );
            let asked = path.replace("{name}", "default").replace("{backend}", "kv");
            let answer = server.send(&method.to_uppercase(), &asked, &[], "");
            let code = if answer.status < 400 || path == "/mcp" {
                String::new()
            } else {
                answer.code().1
            };
            assert!(
                ![
                    "ROUTE_NOT_FOUND",
                    "METHOD_REFUSED",
                    "BACKEND_NOT_FOUND",
                    "ACTION_NOT_FOUND"
                ]
                .contains(&code.as_str()),
                "{path}"
            );
            assert_ne!(answer.status, 500, "{path}: {answer:?}");
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "every operation has a name of its own");
    let text = told.to_string();
    for reference in text
        .split(r##""$ref":"#"##)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default())
    {
        assert!(told.pointer(reference).is_some(), "{reference}");
    }
}

#[test]
fn what_was_asked_is_counted() {
    let server = HttpTestServer::start();
    server.post("/v1/run/kv/default/set", r#"{"key":"k","value":"1"}"#);
    server.post("/v1/run/kv/default/get", r#"{"key":"l"}"#);
    server.send("BREW", "/coffee", &[], "");
    let metrics = server.get("/metrics");
    assert!(metrics.headers["content-type"].starts_with("application/openmetrics-text"));
    for line in [
        r#"memory_http_requests_total{route="/v1/run/{backend}/{name}/{action}",method="POST",status="200"} 1"#,
        r#"memory_http_requests_total{route="none",method="other",status="404"} 1"#,
        r#"memory_actions_total{backend="kv",action="set",code="ok"} 1"#,
        r#"memory_actions_total{backend="kv",action="get",code="KEY_NOT_FOUND"} 1"#,
        "memory_instances_open 1",
        "memory_http_requests_in_flight 1",
    ] {
        assert!(
            metrics.body.lines().any(|own| own == line),
            "{line} in {}",
            metrics.body
        );
    }
}
