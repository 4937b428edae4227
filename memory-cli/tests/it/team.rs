//! Tests of a shared database whose principals are people of a team.

use std::fs;

use memory_core::{Clock, ContentHash};
use memory_store::SystemClock;
use serde_json::json;

use crate::clock::build_shift;
use crate::postgres_server::{PostgresServer, report_skipped};
use crate::principal_http::{PrincipalHomes, call};

#[test]
fn no_token_reaches_the_log_of_a_server_that_logs_all_statements() {
    let claim = "a server that logs all statements";
    let Some(server) = PostgresServer::start() else {
        report_skipped(claim, "there is no initdb");
        return;
    };
    for setting in [
        "log_statement = 'all'",
        "log_min_duration_statement = 0",
        "log_connections = on",
    ] {
        server.sql("postgres", &format!("ALTER SYSTEM SET {setting}"));
    }
    server.sql("postgres", "SELECT pg_reload_conf()");
    let homes = PrincipalHomes::on(&server);
    homes.init("ada");
    let sandbox = &homes.sandbox;
    sandbox.run_shell("memory --root ada write 'The vault code is in the safe'; memory --root ada bank write codes vault 1");
    let owner = homes.serve("owner");
    let own = homes.serve("ada");
    for (server, name) in [(&owner, "bob"), (&owner, "ada"), (&own, "ada")] {
        call(server, &homes.token(name), "memory_list", &json!({})).expect("a list");
    }
    sandbox.run_shell("memory --root owner principal revoke bob");
    assert_eq!(
        call(&owner, &homes.token("bob"), "memory_list", &json!({})),
        Err("401 Unauthorized UNAUTHORIZED".to_owned())
    );
    let log = fs::read_to_string(server.folder().join("log")).expect("the log");
    assert!(log.contains("proof:"), "the parameters are logged");
    for name in ["ada", "bob"] {
        let token = homes.token(name);
        let secret = token.trim_start_matches("mem_");
        assert_eq!(secret.len(), 64);
        assert!(!log.contains(secret), "the token of {name} is logged");
        let hash = ContentHash::of(&token).to_string();
        assert!(
            !log.contains(&hash),
            "the hash of the token of {name} is logged"
        );
        // A text from the log is no token of a server.
        let proof = log
            .split("'proof:")
            .nth(1)
            .and_then(|rest| rest.split('\'').next());
        let proof = format!("proof:{}", proof.expect("a proof"));
        assert!(call(&owner, &proof, "memory_list", &json!({})).is_err());
    }
    assert!(!log.contains("hunter2"), "a password is logged");
}

#[test]
fn a_node_with_a_wrong_clock_proves_its_token_at_the_time_of_the_database() {
    let Some(homes) = PrincipalHomes::new("a node with a wrong clock") else {
        return;
    };
    let sandbox = &homes.sandbox;
    let folder = tempfile::tempdir().expect("a folder");
    let library = build_shift(folder.path());
    homes.init("ada");
    for days in [8, -8] {
        let clock = (SystemClock.now().timestamp() + days * 86_400).to_string();
        let variables = [
            ("LD_PRELOAD", library.as_str()),
            ("MEMORY_TEST_CLOCK", &clock),
        ];
        let written = sandbox.run_with_all(
            &variables,
            &[
                "--root",
                "ada",
                "write",
                &format!("a note after {days} days"),
            ],
        );
        assert!(!written.contains("error"), "{written}");
    }
    assert_eq!(sandbox.run_json(&["--root", "ada", "list"])["total"], 2);
}
