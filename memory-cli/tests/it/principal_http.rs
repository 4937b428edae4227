//! Tests of servers that principals of a shared database call with their tokens.

use insta::assert_snapshot;
use memory_core::testing::wait_until;
use serde_json::{Value, json};

use crate::postgres_server::{PostgresServer, shared_server};
use crate::sandbox::Sandbox;
use crate::serve_http::HttpServerProcess;

/// A database whose owner runs a server, with the principals ada and bob, both in the team web.
pub(crate) struct PrincipalHomes {
    pub(crate) sandbox: Sandbox,
}

impl PrincipalHomes {
    pub(crate) fn new(claim: &str) -> Option<Self> {
        shared_server(claim).map(Self::on)
    }

    pub(crate) fn on(server: &PostgresServer) -> Self {
        let (sandbox, database) = (Sandbox::new(), server.database());
        let (owner, node) = (format!("{database}_owner"), format!("{database}_node"));
        let roles = format!(
            "CREATE ROLE {owner} LOGIN; CREATE ROLE {node} LOGIN; ALTER DATABASE {database} OWNER TO {owner}"
        );
        server.sql(&database, &roles);
        sandbox.file(
            "owner.address",
            &server.url(&format!("{owner}:hunter2"), &database, ""),
        );
        sandbox.file(
            "node.address",
            &server.url(&format!("{node}:hunter2"), &database, ""),
        );
        sandbox.run_shell("memory --root owner init --store @owner.address --name owner");
        for name in ["ada", "bob"] {
            let add = format!(
                "memory --root owner principal add {name} --team web --role {node} --json | jq -r .token"
            );
            sandbox.run_shell(&format!("{add} > {name}.token"));
        }
        Self { sandbox }
    }

    pub(crate) fn token(&self, name: &str) -> String {
        self.sandbox
            .run_shell(&format!("cat {name}.token"))
            .trim()
            .to_owned()
    }

    /// Starts a server on a home.
    pub(crate) fn serve(&self, home: &str) -> HttpServerProcess {
        let arguments = ["--root", home, "serve", "--http", "127.0.0.1:0", "--json"];
        HttpServerProcess::with(&self.sandbox, &arguments, &[("MEMO_AUTH_TOKEN", "s3cret")])
    }

    /// Sets up the home of a principal.
    pub(crate) fn init(&self, name: &str) {
        let init = format!(
            "memory --root {name} init --store @node.address --token @{name}.token --name {name} --json"
        );
        assert!(self.sandbox.run_shell(&init).contains("\"principal\""));
    }
}

/// Calls a tool, and returns its result, or the status line and the code of the error.
pub(crate) fn call(
    server: &HttpServerProcess,
    token: &str,
    tool: &str,
    parameters: &Value,
) -> Result<Value, String> {
    let (status, body) = server.post(&format!("/v1/tools/{tool}"), token, &parameters.to_string());
    let result: Value = serde_json::from_str(&body).expect("JSON");
    let code = || {
        format!(
            "{} {}",
            status.trim_start_matches("HTTP/1.1 "),
            result["error"]["code"].as_str().unwrap_or("?")
        )
    };
    if status == "HTTP/1.1 200 OK" {
        Ok(result)
    } else {
        Err(code())
    }
}

fn texts(server: &HttpServerProcess, token: &str) -> Vec<String> {
    let listed = call(server, token, "memory_list", &json!({})).expect("a list");
    let memories = listed["memories"].as_array().expect("memories");
    let mut texts: Vec<_> = memories
        .iter()
        .map(|one| one["content"].as_str().unwrap_or_default().to_owned())
        .collect();
    texts.sort();
    texts
}

#[test]
fn two_principals_use_the_server_of_the_owner_and_each_sees_its_own_memories() {
    let Some(homes) = PrincipalHomes::new("principals over HTTP") else {
        return;
    };
    let [ada, bob] = ["ada", "bob"].map(|name| homes.token(name));
    homes
        .sandbox
        .run_shell("memory --root owner config set proxy.openai_base_url http://127.0.0.1:9/v1");
    homes
        .sandbox
        .run_shell("memory --root owner write 'The gate opens at six' --scope agent:claude");
    homes
        .sandbox
        .run_shell("memory --root owner bank write codes vault '\"0000\"'");
    let server = homes.serve("owner");
    let write = |token: &str, text: &str, scope: Option<&str>| {
        let parameters = scope.map_or_else(
            || json!({ "content": text }),
            |scope| json!({ "content": text, "scope": scope }),
        );
        call(&server, token, "memory_write", &parameters).expect("it is written")["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let vault = write(&ada, "The vault code is in the safe", None);
    let deploys = write(&ada, "The team deploys on Tuesdays", Some("team:web"));
    write(&bob, "Bob prefers tea", None);
    assert_eq!(
        texts(&server, &ada),
        [
            "The team deploys on Tuesdays",
            "The vault code is in the safe"
        ]
    );
    assert_eq!(
        texts(&server, &bob),
        ["Bob prefers tea", "The team deploys on Tuesdays"]
    );
    for (tool, parameters) in [
        ("memory_read", json!({ "id": vault })),
        (
            "memory_update",
            json!({ "id": vault, "content": "changed" }),
        ),
        ("memory_delete", json!({ "id": vault })),
        ("memory_link", json!({ "id": deploys, "target": vault })),
    ] {
        let refused = call(&server, &bob, tool, &parameters).expect_err("it is hidden");
        assert_eq!(refused, "404 Not Found MEMORY_NOT_FOUND", "{tool}");
    }
    let refused =
        call(&server, &bob, "memory_undo", &json!({ "id": vault })).expect_err("it is hidden");
    assert_eq!(refused, "404 Not Found OPERATION_NOT_FOUND");
    let refused = call(
        &server,
        &bob,
        "memory_write",
        &json!({ "content": "x", "scope": "private:ada" }),
    )
    .expect_err("it is refused");
    assert_eq!(refused, "403 Forbidden SCOPE_REFUSED");
    let (_, body) = server.post(
        "/v1/tools/memory_write",
        &bob,
        r#"{"content":"x","scope":"team:api"}"#,
    );
    let error: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(
        error["error"]["hint"],
        "the principal may access global, private:bob, team:web"
    );
    // Each principal has banks of its own, which its own machine has too.
    let value = |token: &str| {
        call(
            &server,
            token,
            "bank_read",
            &json!({ "bank": "codes", "key": "vault" }),
        )
    };
    assert_eq!(value(&ada), Err("404 Not Found BANK_NOT_FOUND".into()));
    call(
        &server,
        &ada,
        "bank_write",
        &json!({ "bank": "codes", "key": "vault", "value": "4711" }),
    )
    .expect("it is written");
    assert_eq!(
        value(&ada).map(|read| read["value"].clone()),
        Ok(json!("4711"))
    );
    assert_eq!(value(&bob), Err("404 Not Found BANK_NOT_FOUND".into()));
    homes.init("ada");
    assert_eq!(
        homes
            .sandbox
            .run_shell("memory --root ada bank read codes vault | jq -c .value"),
        "\"4711\"\n"
    );
    assert_eq!(
        homes
            .sandbox
            .run_shell("memory --root owner bank read codes vault | jq -c .value"),
        "\"0000\"\n"
    );
    assert_snapshot!(homes.sandbox.run_shell("memory --root owner list --json | jq -r '.memories[] | [.scope, .content] | join(\" \")' | sort"), @"
    agent:claude The gate opens at six
    private:ada The vault code is in the safe
    private:bob Bob prefers tea
    team:web The team deploys on Tuesdays
    ");
    assert_snapshot!(homes.sandbox.run_shell("memory --root owner log | cut -f 3-4 | grep -E '(ada|bob)$'"), @"
    write	bob
    write	ada
    write	ada
    ");
    // A deletion goes to the trash, and only the principal who made it undoes it.
    call(&server, &bob, "memory_delete", &json!({ "id": deploys }))
        .expect("a member of the team deletes it");
    assert!(call(&server, &ada, "memory_undo", &json!({ "id": deploys })).is_err());
    assert_eq!(texts(&server, &ada), ["The vault code is in the safe"]);
    call(&server, &bob, "memory_undo", &json!({ "id": deploys })).expect("it is undone");
    assert_eq!(texts(&server, &ada).len(), 2);
    for (method, path) in [
        ("GET", "/v1/instances"),
        ("GET", "/metrics"),
        ("POST", "/v1/models"),
    ] {
        let answer = if method == "GET" {
            server.get(path, &ada)
        } else {
            server.post(path, &ada, "{}")
        };
        assert_eq!(answer.0, "HTTP/1.1 403 Forbidden", "{path}: {}", answer.1);
    }
    homes
        .sandbox
        .run_shell("memory --root owner principal ungrant bob team:web");
    assert_eq!(texts(&server, &bob), ["Bob prefers tea"]);
    homes
        .sandbox
        .run_shell("memory --root owner principal revoke ada");
    assert_snapshot!(server.post("/v1/tools/memory_list", &ada, "{}").1, @r#"{"error":{"code":"UNAUTHORIZED","message":"the database does not accept the token","hint":"it was revoked, or is from another database: ask the owner of the database for a new one"}}"#);
    assert_eq!(
        server.post("/mcp", &ada, "{}").0,
        "HTTP/1.1 401 Unauthorized"
    );
    assert_eq!(texts(&server, &bob), ["Bob prefers tea"]);
    assert_eq!(texts(&server, "s3cret"), [""; 0]);
}

#[test]
fn the_server_of_a_principal_serves_only_its_token_and_sees_new_teams_without_a_restart() {
    let Some(homes) = PrincipalHomes::new("the server of a principal") else {
        return;
    };
    let [ada, bob] = ["ada", "bob"].map(|name| homes.token(name));
    homes.init("ada");
    homes
        .sandbox
        .run_shell("memory --root owner write 'The api team meets on Fridays' --scope team:api");
    let server = homes.serve("ada");
    call(
        &server,
        &ada,
        "memory_write",
        &json!({ "content": "The vault code is in the safe" }),
    )
    .expect("it is written");
    assert_eq!(texts(&server, &ada), ["The vault code is in the safe"]);
    assert_eq!(texts(&server, "s3cret"), ["The vault code is in the safe"]);
    assert_eq!(
        call(&server, &bob, "memory_list", &json!({})),
        Err("403 Forbidden FORBIDDEN".into())
    );
    homes
        .sandbox
        .run_shell("memory --root owner principal grant ada team:api");
    let all = [
        "The api team meets on Fridays",
        "The vault code is in the safe",
    ];
    // The server fetches the operations of others at most every 0.1 s, or when it is notified.
    wait_until("the memory of the team appears", || {
        texts(&server, "s3cret") == all
    });
    homes
        .sandbox
        .run_shell("memory --root owner principal ungrant ada team:api");
    wait_until("the memory of the team disappears", || {
        texts(&server, "s3cret") == all[1..]
    });
    assert_snapshot!(homes.sandbox.run_shell("memory --root owner log | cut -f 3-4"), @"
    write	ada/agent
    write	cli
    ");
    homes
        .sandbox
        .run_shell("memory --root owner principal revoke ada");
    assert_eq!(
        call(&server, &ada, "memory_list", &json!({})),
        Err("401 Unauthorized UNAUTHORIZED".into())
    );
}

#[test]
fn the_index_page_of_a_principal_lists_what_its_agents_see() {
    let Some(homes) = PrincipalHomes::new("the index page of a principal") else {
        return;
    };
    homes.init("ada");
    for (scope, text) in [
        ("private:ada", "Ada prefers tea"),
        ("team:web", "The team prefers coffee"),
        ("private:bob", "Bob prefers milk"),
    ] {
        homes.sandbox.run_shell(&format!(
            "memory --root owner write '{text}' --category preferences --scope {scope}"
        ));
    }
    assert_eq!(
        homes.sandbox.run_json(&["--root", "ada", "list"])["total"],
        2
    );
    assert_snapshot!(homes.sandbox.run_shell("sed 's/ ([0-9a-f]*)$//' ada/memory.md | tail -n +4 | sort"), @"

    ## preferences
    - Ada prefers tea
    - The team prefers coffee
    ");
}
