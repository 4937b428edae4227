//! Principals of a shared database who call a server with their tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use memory_agent::Agent;
use memory_agent::http::{AccessRules, AccessToken, HttpLimits, PrincipalRules};
use memory_core::testing::services;
use memory_core::{
    Draft, MemStore, PrincipalAccess, PrincipalSource, PrincipalTokens, Scope, SecretPolicy,
    Services, StoreError, write,
};
use serde_json::{Value, json};

use super::mcp::{answer, initialize, send};
use super::server::HttpTestServer;

/// The tokens of a database, without a database.
#[derive(Debug, Default)]
struct FakeTokens {
    principals: Mutex<BTreeMap<String, PrincipalAccess>>,
}

impl FakeTokens {
    fn set(&self, name: &str, scopes: &[&str]) {
        let scopes = scopes
            .iter()
            .map(|scope| scope.parse().expect("a scope"))
            .collect();
        let access = PrincipalAccess {
            name: name.to_owned(),
            scopes,
            read_only: Vec::new(),
        };
        self.principals
            .lock()
            .expect("no panic")
            .insert(format!("mem_{name}"), access);
    }

    fn revoke(&self, name: &str) {
        self.principals
            .lock()
            .expect("no panic")
            .remove(&format!("mem_{name}"));
    }
}

impl PrincipalTokens for FakeTokens {
    fn find_principal(&self, token: &str) -> Result<Option<PrincipalAccess>, StoreError> {
        Ok(self
            .principals
            .lock()
            .expect("no panic")
            .get(token)
            .cloned())
    }
}

/// A server for the principals ada and bob, both in the team web.
struct PrincipalServer {
    tokens: Arc<FakeTokens>,
    services: Services,
    server: HttpTestServer,
}

impl PrincipalServer {
    fn start(own: Option<&str>) -> Self {
        let tokens = Arc::new(FakeTokens::default());
        for name in ["ada", "bob"] {
            tokens.set(name, &["global", &format!("private:{name}"), "team:web"]);
        }
        let own = own.map(|name| -> Arc<dyn PrincipalSource> {
            Arc::new(PrincipalAccess {
                name: name.to_owned(),
                scopes: vec![Scope::Team("web".into())],
                read_only: Vec::new(),
            })
        });
        let services = Services {
            principal: own.clone(),
            ..services(Arc::new(MemStore::default()))
        };
        let agent = Agent::builder(services.clone()).build().expect("an agent");
        let principals = Some(PrincipalRules::new(Arc::clone(&tokens) as _, own));
        let token = AccessToken::new("s3cret".into());
        let access = AccessRules {
            token,
            principals,
            ..AccessRules::default()
        };
        let server = HttpTestServer::with(agent, access, HttpLimits::default());
        Self {
            tokens,
            services,
            server,
        }
    }

    fn write(&self, text: &str, scope: &str) -> String {
        let draft = Draft {
            scope: scope.parse().expect("a scope"),
            ..Draft::new(text)
        };
        write(&self.services, draft, SecretPolicy::Refuse)
            .expect("it is written")
            .id
            .to_string()
    }

    fn call(&self, token: &str, tool: &str, parameters: &Value) -> Result<Value, (u16, String)> {
        let token = format!("Bearer {token}");
        let headers = [
            ("Authorization", token.as_str()),
            ("Memory-Agent", "claude"),
        ];
        let response = self.server.send(
            "POST",
            &format!("/v1/tools/{tool}"),
            &headers,
            &parameters.to_string(),
        );
        if response.status == 200 {
            Ok(response.json())
        } else {
            Err(response.code())
        }
    }

    fn texts(&self, token: &str) -> Vec<String> {
        let listed = self.call(token, "memory_list", &json!({})).expect("a list");
        let texts = listed["memories"]
            .as_array()
            .expect("memories")
            .iter()
            .map(|one| one["content"].as_str().unwrap_or("").into());
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts
    }

    fn status(&self, token: &str, method: &str, path: &str) -> u16 {
        self.server
            .send(
                method,
                path,
                &[("Authorization", &format!("Bearer {token}"))],
                "{}",
            )
            .status
    }
}

#[test]
fn a_principal_reads_and_changes_only_its_own_memories_and_those_of_its_teams() {
    let home = PrincipalServer::start(None);
    let ids = [
        "global",
        "private:ada",
        "private:bob",
        "team:web",
        "team:api",
        "agent:claude",
        "project:shop",
    ]
    .map(|scope| (scope, home.write(&format!("in {scope}"), scope)));
    assert_eq!(
        home.texts("mem_ada"),
        ["in global", "in private:ada", "in team:web"]
    );
    assert_eq!(
        home.texts("mem_bob"),
        ["in global", "in private:bob", "in team:web"]
    );
    let missing = Err((404, "MEMORY_NOT_FOUND".to_owned()));
    // The global memory is the target of links until the end.
    for (scope, id) in ids.iter().rev() {
        let is_visible = ["global", "private:ada", "team:web"].contains(scope);
        for (tool, parameters) in [
            ("memory_read", json!({ "id": id })),
            ("memory_update", json!({ "id": id, "title": "changed" })),
            ("memory_tag", json!({ "id": id, "add": ["x"] })),
            ("memory_backlinks", json!({ "id": id })),
            ("memory_link", json!({ "id": ids[0].1, "target": id })),
            ("memory_delete", json!({ "id": id })),
        ] {
            let done = home.call("mem_ada", tool, &parameters).map(drop);
            if is_visible {
                assert!(
                    done.is_ok() || *scope == "global" && tool == "memory_link",
                    "{tool} {scope}: {done:?}"
                );
            } else {
                assert_eq!(done, missing, "{tool} {scope}");
            }
        }
        let undone = home
            .call("mem_bob", "memory_undo", &json!({ "id": id }))
            .map(drop);
        assert_eq!(
            undone,
            Err((404, "OPERATION_NOT_FOUND".to_owned())),
            "{scope}"
        );
    }
    assert!(home.call("mem_ada", "memory_undo", &json!({})).is_ok());
    for scope in [
        "private:bob",
        "team:api",
        "agent:claude",
        "agent",
        "project:shop",
    ] {
        let refused = home
            .call(
                "mem_ada",
                "memory_write",
                &json!({ "content": "a note", "scope": scope }),
            )
            .map(drop);
        assert!(
            matches!(refused, Err((400 | 403, _))),
            "{scope}: {refused:?}"
        );
    }
    home.call(
        "mem_ada",
        "memory_write",
        &json!({ "content": "a new note" }),
    )
    .expect("it is written");
    home.call(
        "mem_ada",
        "memory_write",
        &json!({ "content": "a shared note", "scope": "team:web" }),
    )
    .expect("it is written");
    assert_eq!(
        home.texts("mem_bob"),
        ["a shared note", "in global", "in private:bob"]
    );
    let record = home
        .services
        .history
        .records()
        .next()
        .expect("an operation")
        .expect("a record");
    assert_eq!(record.operation.by, "ada/claude");
    // A token of the server has the view of an agent of the node.
    assert_eq!(home.texts("s3cret"), ["in agent:claude", "in global"]);
}

#[test]
fn a_change_of_the_scopes_or_the_end_of_a_token_takes_effect_with_the_next_request() {
    let home = PrincipalServer::start(None);
    home.write("of the project", "project:shop");
    home.write("of the team", "team:web");
    assert_eq!(home.texts("mem_ada"), ["of the team"]);
    home.tokens
        .set("ada", &["global", "private:ada", "project:shop"]);
    assert_eq!(home.texts("mem_ada"), ["of the project"]);
    home.tokens.revoke("ada");
    let refused = home.server.send(
        "POST",
        "/v1/tools/memory_list",
        &[("Authorization", "Bearer mem_ada")],
        "{}",
    );
    insta::assert_snapshot!(refused.body, @r#"{"error":{"code":"UNAUTHORIZED","message":"the database does not accept the token","hint":"it was revoked, or is from another database: ask the owner of the database for a new one"}}"#);
    assert_eq!(
        (refused.status, refused.headers["www-authenticate"].as_str()),
        (401, "Bearer")
    );
    for (method, path) in [
        ("GET", "/v1/tools"),
        ("POST", "/mcp"),
        ("GET", "/v1/instances"),
        ("GET", "/openapi.json"),
    ] {
        assert_eq!(
            (
                home.status("mem_ada", method, path),
                home.status("mem_", method, path)
            ),
            (401, 401),
            "{path}"
        );
    }
    assert_eq!(home.status("mem_ada", "GET", "/healthz"), 200);
}

#[test]
fn what_is_not_separate_for_each_principal_is_refused() {
    let home = PrincipalServer::start(None);
    let refused = |method: &str, path: &str| {
        let answer = home.server.send(
            method,
            path,
            &[("Authorization", "Bearer mem_ada")],
            r#"{"key":"a","value":"1"}"#,
        );
        assert_eq!(answer.code(), (403, "FORBIDDEN".to_owned()), "{path}");
        assert_ne!(home.status("s3cret", method, path), 403, "{path}");
    };
    refused("GET", "/v1/instances");
    refused("GET", "/metrics");
    refused("POST", "/v1/run/kv/default/set");
    refused("POST", "/v1/run/history/default/read");
    refused("POST", "/v1/run/bank/default/read");
    let listed = home.server.send(
        "POST",
        "/v1/run/notes/default/list",
        &[("Authorization", "Bearer mem_ada")],
        "{}",
    );
    assert_eq!(listed.json()["total"], 0);
    assert_eq!(
        home.call("mem_ada", "bank_list", &json!({})).map(drop),
        Err((404, "TOOL_NOT_FOUND".to_owned()))
    );
}

#[test]
fn an_mcp_session_belongs_to_the_principal_who_began_it() {
    let home = PrincipalServer::start(None);
    home.write("of ada", "private:ada");
    home.write("of bob", "private:bob");
    home.write("of the project", "project:shop");
    let headers = |token: &'static str| ("Authorization", token);
    let (ada, bob) = (headers("Bearer mem_ada"), headers("Bearer mem_bob"));
    let opened = initialize(&home.server, &[ada]);
    let session = ("Mcp-Session-Id", opened.headers["mcp-session-id"].as_str());
    let search = json!({ "query": "of" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "memory_search", "arguments": search } });
    let found = |who| {
        let response = send(&home.server, &[who, session], &call);
        (response.status == 200)
            .then(|| answer(&response).to_string())
            .ok_or(response.status)
    };
    let own = found(ada).expect("an answer");
    assert!(
        own.contains("of ada") && !own.contains("of bob") && !own.contains("of the project"),
        "{own}"
    );
    for other in [bob, headers("Bearer s3cret")] {
        assert_eq!(found(other), Err(404));
        let stream = home.server.send(
            "GET",
            "/mcp",
            &[other, session, ("Accept", "text/event-stream")],
            "",
        );
        assert_eq!(stream.status, 404);
        assert_eq!(
            home.server
                .send("DELETE", "/mcp", &[other, session], "")
                .status,
            404
        );
    }
    // A session of the server is not one of a principal.
    let of_server = initialize(&home.server, &[headers("Bearer s3cret")]);
    let of_server = (
        "Mcp-Session-Id",
        of_server.headers["mcp-session-id"].as_str(),
    );
    assert_eq!(send(&home.server, &[bob, of_server], &call).status, 404);
    home.tokens
        .set("ada", &["global", "private:ada", "project:shop"]);
    assert!(found(ada).expect("an answer").contains("of the project"));
    home.tokens.revoke("ada");
    assert_eq!(found(ada), Err(401));
}

#[test]
fn one_principal_cannot_take_all_sessions() {
    let home = PrincipalServer::start(None);
    let begin = |token| initialize(&home.server, &[("Authorization", token)]).status;
    let opened = (0..200).filter(|_| begin("Bearer mem_ada") == 200).count();
    assert_eq!(opened, 128);
    assert_eq!(begin("Bearer mem_bob"), 200);
    assert_eq!(begin("Bearer s3cret"), 200);
}

#[test]
fn the_server_of_a_node_with_a_token_serves_only_its_principal() {
    let home = PrincipalServer::start(Some("ada"));
    home.write("of ada", "private:ada");
    home.write("of her agent", "agent:claude");
    assert_eq!(home.texts("mem_ada"), ["of ada", "of her agent"]);
    assert_eq!(home.texts("s3cret"), ["of ada", "of her agent"]);
    let refused = home.server.send(
        "GET",
        "/v1/tools",
        &[("Authorization", "Bearer mem_bob")],
        "",
    );
    assert_eq!(refused.code(), (403, "FORBIDDEN".to_owned()));
    // The instances of the node are those of its principal.
    assert_eq!(home.status("mem_ada", "GET", "/v1/instances"), 200);
    home.tokens.revoke("ada");
    assert_eq!(home.status("mem_ada", "GET", "/v1/tools"), 401);
}
