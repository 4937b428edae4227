//! Tests of a model server behind HTTPS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::process::ProxyProcess;
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

/// Creates certificates with `openssl`; returns whether `openssl` is installed.
///
/// The authority `ca.crt` signs the certificate of `localhost`; `other.crt` signs nothing.
fn create_certificates(folder: &Path) -> bool {
    let openssl = |arguments: &str| {
        let done = Command::new("openssl")
            .current_dir(folder)
            .args(arguments.split(' '))
            .output();
        done.is_ok_and(|done| done.status.success())
    };
    if !openssl("version") {
        memory_core::testing::leave_out("`openssl` is missing");
        return false;
    }
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    for name in ["ca", "other"] {
        assert!(openssl(&format!(
            "req -x509 {key} -days 30 -subj /CN={name} -keyout {name}.key -out {name}.crt"
        )));
    }
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").expect("a file");
    assert!(openssl(&format!(
        "req {key} -subj /CN=localhost -keyout server.key -out server.csr"
    )));
    assert!(openssl(
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile names -out server.crt"
    ));
    true
}

/// Starts a model behind HTTPS that extracts one fixed fact; returns its address.
fn start_model(folder: &Path) -> String {
    let chain = CertificateDer::pem_file_iter(folder.join("server.crt"))
        .expect("a file")
        .collect::<Result<_, _>>();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth();
    let config = Arc::new(
        config
            .with_single_cert(chain.expect("certificates"), key)
            .expect("a certificate"),
    );
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let config = Arc::clone(&config);
            // A client that rejects the certificate closes the connection.
            thread::spawn(move || drop(answer_request(stream, config)));
        }
    });
    format!("https://localhost:{port}/v1")
}

fn answer_request(stream: TcpStream, config: Arc<ServerConfig>) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some(said) = line.to_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let says = if String::from_utf8_lossy(&body).contains("You extract facts") {
        r#"["The user likes tea."]"#
    } else {
        "Fine."
    };
    let answer =
        json!({ "choices": [{ "message": { "role": "assistant", "content": says } }] }).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        answer.len()
    );
    let stream = reader.get_mut();
    stream.write_all(format!("{head}Connection: close\r\n\r\n{answer}").as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

#[test]
fn a_server_is_trusted_that_an_authority_of_ours_vouches_for() {
    let sandbox = Sandbox::new();
    if !create_certificates(&sandbox.path("")) {
        return;
    }
    let base_url = start_model(&sandbox.path(""));
    let begin = |authority: Option<&str>| {
        let place = sandbox.path("mem").display().to_string();
        let flags = [
            "proxy",
            "--json",
            "--port",
            "0",
            "--openai-base-url",
            &base_url,
            "--memory-path",
            &place,
        ];
        let mut command = sandbox.command(&[&flags, ["--no-git-versioning"].as_slice()].concat());
        command.envs(authority.map(|name| ("SSL_CERT_FILE", sandbox.path(name))));
        ProxyProcess::of(command)
    };
    for nobody in [None, Some("other.crt")] {
        let answer = begin(nobody).send_message("Hi");
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (Some(502), &json!("MODEL_FAILED")),
            "{nobody:?}"
        );
        assert!(answer.text().contains("certificate"), "{}", answer.text());
    }
    let proxy = begin(Some("ca.crt"));
    assert_eq!(
        proxy.send_message("I like tea.").json()["choices"][0]["message"]["content"],
        "Fine."
    );
    // A different client requests the facts.
    assert_eq!(proxy.stop().0, Some(0));
    assert!(stored_texts(&sandbox, "default/facts").contains(&"The user likes tea.".to_owned()));
    let output = sandbox.run_with_all(
        &[
            ("SSL_CERT_FILE", "names"),
            ("MEMORY_PROXY_OPENAI_BASE_URL", &base_url),
        ],
        &["proxy", "--port", "0"],
    );
    assert!(output.contains("SSL_CERT_FILE"), "{output}");
}

#[test]
fn who_is_not_behind_https_needs_nobody_to_vouch_for_it() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| match asked.purpose() {
        Some("facts") => UpstreamReply::completion(r#"["The user likes tea."]"#),
        _ => UpstreamReply::completion("Fine."),
    });
    let sandbox = Sandbox::new();
    let (place, base_url) = (
        sandbox.path("mem").display().to_string(),
        upstream.base_url(),
    );
    let flags = [
        "proxy",
        "--json",
        "--port",
        "0",
        "--openai-base-url",
        &base_url,
        "--memory-path",
        &place,
    ];
    let mut command = sandbox.command(&[&flags, ["--no-git-versioning"].as_slice()].concat());
    command.env("SSL_CERT_FILE", "/nonexistent");
    let proxy = ProxyProcess::of(command);
    assert_eq!(proxy.send_message("I like tea.").status, Some(200));
    assert_eq!(proxy.stop().0, Some(0));
    assert_eq!(
        stored_texts(&sandbox, "default/facts"),
        ["The user likes tea."]
    );
}
