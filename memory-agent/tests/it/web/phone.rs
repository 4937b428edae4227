//! The page on a phone: the app that is installed from it, and the devices that reach it over the network.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use memory_agent::web::{PageCertificate, RemoteAccess};
use memory_core::{Clock, Draft, SystemClock};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::server::{WebTestServer, encode_form};
use crate::http::server::HttpTestResponse;

#[test]
fn the_page_can_be_installed_and_what_it_stores_contains_no_memory() {
    let server = WebTestServer::start();
    let fetch = |path: &str| server.send("GET", path, &[], "");
    assert!(
        server
            .get("/memories")
            .body
            .contains("<link rel=\"manifest\" href=\"/manifest.webmanifest\">")
    );
    let manifest = fetch("/manifest.webmanifest");
    assert_eq!(
        (manifest.status, manifest.headers["content-type"].as_str()),
        (200, "application/manifest+json")
    );
    let manifest: Value = serde_json::from_str(&manifest.body).expect("JSON");
    let mut sizes = Vec::new();
    for icon in manifest["icons"].as_array().expect("a list") {
        let response = fetch(icon["src"].as_str().expect("a path"));
        assert_eq!(
            (response.status, response.headers["content-type"].as_str()),
            (200, icon["type"].as_str().expect("a type")),
            "{icon}"
        );
        sizes.push((icon["sizes"].as_str(), icon["purpose"].as_str()));
    }
    for size in [
        (Some("192x192"), Some("any")),
        (Some("512x512"), Some("any")),
        (Some("512x512"), Some("maskable")),
    ] {
        assert!(sizes.contains(&size), "{size:?}");
    }
    assert_eq!(manifest["share_target"]["action"], "/write");
    assert_eq!(manifest["share_target"]["method"], "GET");
    let worker = fetch("/service-worker.js");
    assert_eq!(
        worker.headers["content-type"],
        "text/javascript; charset=utf-8"
    );
    assert_eq!(worker.headers["cache-control"], "no-cache");
    let shell = worker.body.lines().nth(1).expect("a line");
    let shell = shell
        .strip_prefix("const SHELL = ")
        .and_then(|text| text.strip_suffix(';'));
    let shell: Vec<String> = serde_json::from_str(shell.expect("a list")).expect("JSON");
    for path in shell {
        assert!(path == "/offline" || path.starts_with("/assets/"), "{path}");
        let response = fetch(&path);
        assert_eq!(response.status, 200, "{path}");
        assert!(!response.body.contains(server.csrf()), "{path}");
    }
}

/// A server with TLS, and a client that trusts nothing but its certificate.
struct NetworkPage {
    server: WebTestServer,
    trust: Arc<ClientConfig>,
}

impl NetworkPage {
    fn start() -> Self {
        let mut roots = RootCertStore::empty();
        let server = WebTestServer::serve(|place| {
            let today =
                PageCertificate::create(place.ip(), SystemClock.now()).expect("a certificate");
            let authority = CertificateDer::from(today.authority().to_vec());
            roots.add(authority).expect("a certificate");
            Some(RemoteAccess::network(place, today))
        });
        let trust = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            server,
            trust: Arc::new(trust),
        }
    }

    /// Connects to the server under a name; an error if its certificate is not valid for it.
    fn connect(&self, name: &str) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        let connection = ClientConnection::new(Arc::clone(&self.trust), name).expect("a client");
        let mut stream = StreamOwned::new(connection, TcpStream::connect(self.server.place)?);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }

    fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let mut stream = self.connect("127.0.0.1").expect("it is trusted");
        let request = self.server.request(method, path, headers, body);
        stream.write_all(request.as_bytes()).expect("it is sent");
        stream
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpTestResponse {
        HttpTestResponse::read(self.begin(method, path, headers, body)).expect("a response")
    }

    /// Pairs a device, and returns its cookie.
    fn pair(&self) -> String {
        let form = encode_form(&[("code", &self.server.code()), ("next", "/memories")]);
        let phone = ("User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0)");
        let response = self.send("POST", "/sign-in", &[phone], &form);
        assert_eq!(response.status, 303, "{}", response.body);
        response.headers["set-cookie"].clone()
    }
}

fn csrf(page: &str) -> &str {
    let field = page.split("name=\"csrf\" value=\"").nth(1);
    field
        .and_then(|rest| rest.split('"').next())
        .expect("a token")
}

#[test]
fn a_device_is_paired_once_over_tls_and_refused_at_once_when_it_is_revoked() {
    let page = NetworkPage::start();
    page.server
        .write(Draft::new("The safe is behind the picture"));
    let cookie = page.pair();
    let port = page.server.place.port();
    assert!(
        cookie.starts_with(&format!("__Host-memory_device_{port}=")),
        "{cookie}"
    );
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=7776000"),
        "{cookie}"
    );
    let cookie = ("Cookie", cookie.split(';').next().expect("a cookie"));
    let other = page.pair();
    let memories = page.send("GET", "/memories", &[cookie], "");
    assert_eq!(
        (memories.status, memories.headers["cache-control"].as_str()),
        (200, "no-store")
    );
    assert!(memories.body.contains("picture"));
    let devices = page.send("GET", "/devices", &[cookie], "").body;
    assert_eq!(
        devices.matches("iPhone").count(),
        6,
        "two devices: {devices}"
    );
    assert_eq!(devices.matches("this device").count(), 1);
    let certificate = page.send("GET", "/devices/certificate", &[cookie], "");
    assert_eq!(
        certificate.headers["content-type"],
        "application/x-x509-ca-cert"
    );
    let mut cards: Vec<&str> = devices.split("<li class=\"card\"").skip(1).collect();
    cards.sort_by_key(|card| card.contains("this device"));
    let ids: Vec<&str> = cards
        .iter()
        .filter_map(|card| card.split("name=\"id\" value=\"").nth(1)?.split('"').next())
        .collect();
    let revoke = |id: &str, csrf: &str| {
        let form = encode_form(&[("csrf", csrf), ("id", id)]);
        page.send("POST", "/devices/revoke", &[cookie], &form)
            .status
    };
    assert_eq!(revoke(ids[0], ""), 403, "the form has no token");
    let named = |name: &str| {
        let form = encode_form(&[("csrf", csrf(&devices)), ("id", ids[0]), ("name", name)]);
        page.send("POST", "/devices/rename", &[cookie], &form);
        page.send("GET", "/devices", &[cookie], "").body
    };
    assert!(named("<Kitchen>").contains("&lt;Kitchen&gt;"));
    assert!(
        named(" ").contains("&lt;Kitchen&gt;"),
        "a device has a name"
    );
    let mut events = page.begin("GET", "/events?since=0", &[cookie], "");
    let token = csrf(&devices);
    assert_eq!(revoke("none", token), 303);
    for id in ids {
        revoke(id, token);
    }
    let refused = page.send("GET", "/memories", &[cookie], "");
    assert_eq!(
        (refused.status, refused.body.contains("picture")),
        (303, false)
    );
    let other = ("Cookie", other.split(';').next().expect("a cookie"));
    assert_eq!(page.send("GET", "/memories", &[other], "").status, 303);
    assert_eq!(
        page.send("POST", "/undo", &[cookie], &encode_form(&[("csrf", token)]))
            .status,
        401
    );
    // The stream ends, although its connection was open before.
    let _ = events.read_to_end(&mut Vec::new());
}

#[test]
fn a_paired_device_reaches_memories_and_neither_settings_files_nor_assistants() {
    let page = NetworkPage::start();
    let cookie = page.pair();
    let cookie = ("Cookie", cookie.split(';').next().expect("a cookie"));
    let devices = page.send("GET", "/devices", &[cookie], "").body;
    let post = |path: &str, field: (&str, &str)| {
        let form = encode_form(&[("csrf", csrf(&devices)), field]);
        page.send("POST", path, &[cookie], &form).status
    };
    assert_eq!(post("/reminders", ("text", "call tomorrow at 9")), 303);
    for (path, field) in [
        ("/settings", ("reset", "git.enabled")),
        ("/settings/back", ("x", "")),
        ("/import", ("path", "/etc/hosts")),
        ("/assistants/review", ("policy", "propose")),
        ("/assistants/codex/connect", ("fingerprint", "")),
    ] {
        assert_eq!(post(path, field), 403, "{path}");
    }
}

#[test]
fn nothing_on_the_network_is_served_without_tls_a_session_or_the_exact_address() {
    let page = NetworkPage::start();
    page.server
        .write(Draft::new("The safe is behind the picture"));
    let mut plain = Vec::new();
    let mut stream = page.server.begin("GET", "/sign-in", &[], "");
    let _ = stream.read_to_end(&mut plain);
    assert!(!plain.starts_with(b"HTTP"), "it speaks TLS only");
    assert!(
        page.connect("memory.example").is_err(),
        "its certificate is for its address alone"
    );
    for path in [
        "/",
        "/memories",
        "/inbox",
        "/devices",
        "/devices/certificate",
        "/events",
    ] {
        let response = page.send("GET", path, &[], "");
        assert_eq!(response.status, 303, "{path}");
        assert!(
            response.headers["location"].starts_with("/sign-in"),
            "{path}"
        );
    }
    let cookie = page.pair();
    let cookie = ("Cookie", cookie.split(';').next().expect("a cookie"));
    let own = page.server.place;
    for host in [
        format!("localhost:{}", own.port()),
        "127.0.0.1".into(),
        "evil.example".into(),
    ] {
        let response = page.send("GET", "/memories", &[cookie, ("Host", &host)], "");
        assert_eq!(response.status, 403, "{host}");
    }
    for origin in [
        format!("http://{own}"),
        "https://127.0.0.1".into(),
        "https://evil.example".into(),
        "null".into(),
    ] {
        let response = page.send("POST", "/sign-in", &[("Origin", &origin)], "code=AAAA-AAAA");
        assert_eq!(
            (response.status, response.body.contains("is wrong")),
            (403, false),
            "{origin}"
        );
    }
    for site in ["cross-site", "same-site"] {
        let response = page.send("GET", "/memories", &[cookie, ("Sec-Fetch-Site", site)], "");
        assert_eq!(response.status, 403, "{site}");
    }
    let code = page.server.code();
    let own = format!("https://{own}");
    for _ in 0..5 {
        let response = page.send("POST", "/sign-in", &[("Origin", &own)], "code=AAAA-AAAA");
        assert!(response.status == 403 && response.body.contains("is wrong"));
    }
    let late = page.send("POST", "/sign-in", &[], &encode_form(&[("code", &code)]));
    assert_eq!(
        late.status, 403,
        "after five wrong codes the right one is invalid as well"
    );
}

#[test]
fn a_tunnel_is_served_for_its_host_alone() {
    for url in [
        "http://memory.example",
        "https://",
        "https://a@b",
        "https://a/b",
        "memory.example",
    ] {
        assert!(RemoteAccess::tunnel(url).is_err(), "{url}");
    }
    let server = WebTestServer::serve(|_| {
        Some(RemoteAccess::tunnel("https://Memory.example:443/").expect("an address"))
    });
    let (host, origin) = (
        ("Host", "memory.example"),
        ("Origin", "https://memory.example"),
    );
    let form = encode_form(&[("code", &server.code())]);
    let own = server.send("POST", "/sign-in", &[], &form);
    assert_eq!(own.status, 403, "the address of the machine is not served");
    let response = server.send("POST", "/sign-in", &[host, origin], &form);
    assert_eq!(response.status, 303, "{}", response.body);
    let cookie = &response.headers["set-cookie"];
    assert!(cookie.starts_with("__Host-memory_device_443=") && cookie.contains("; Secure"));
    let other = server.send(
        "GET",
        "/sign-in",
        &[host, ("Origin", "http://memory.example")],
        "",
    );
    assert_eq!(other.status, 403);
}
