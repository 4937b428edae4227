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

#[test]
fn an_undo_takes_the_last_own_operation_and_one_of_another_person_only_after_a_confirmation() {
    let Some(homes) = PrincipalHomes::new("undo in a team") else {
        return;
    };
    let sandbox = &homes.sandbox;
    let folder = tempfile::tempdir().expect("a folder");
    let library = build_shift(folder.path());
    homes.init("ada");
    homes.init("bob");
    let write = |days: i64, name: &str, text: &str| {
        let clock = (SystemClock.now().timestamp() + days * 86_400).to_string();
        let variables = [
            ("LD_PRELOAD", library.as_str()),
            ("MEMORY_TEST_CLOCK", &clock),
        ];
        let arguments = [
            "--root",
            name,
            "write",
            text,
            "--scope",
            "team:web",
            "--category",
            "knowledge",
        ];
        let written = sandbox.run_with_all(&variables, &arguments);
        assert!(!written.contains("error"), "{written}");
    };
    let texts =
        || sandbox.run_shell("memory --root bob list --json | jq -r '.memories[].content' | sort");
    // The order is that of the database, whatever the clocks of the machines show.
    write(8, "ada", "Anchors are red");
    write(0, "ada", "Buoys are green");
    write(-8, "bob", "Chains are grey");
    let newest = sandbox.run_shell("memory --root ada log --json | jq -r '.operations[0] | .by'");
    assert_eq!(newest, "bob\n");
    let undone = sandbox.run_shell("memory --root ada undo");
    assert!(undone.contains("undid write of 1 file"), "{undone}");
    assert_eq!(texts(), "Anchors are red\nChains are grey\n");
    sandbox.run_shell("memory --root ada undo");
    assert_eq!(texts(), "Chains are grey\n");
    let nothing = sandbox.run_shell("memory --root ada undo");
    assert!(
        nothing.contains("there is no operation to undo"),
        "{nothing}"
    );
    // The owner, and its server on request of bob, are other authors, too.
    let owner = homes.serve("owner");
    let request =
        json!({ "content": "Davits are blue", "scope": "team:web", "category": "knowledge" });
    call(&owner, &homes.token("bob"), "memory_write", &request).expect("it is written");
    let undone = sandbox.run_shell("memory --root owner undo");
    assert!(!undone.contains("bob"), "{undone}");
    assert_eq!(texts(), "Chains are grey\nDavits are blue\n");
    let id = sandbox.run_shell(
        "memory --root ada log --json | jq -r '[.operations[] | select(.by == \"bob\")][0].operation'",
    );
    let refused = sandbox.run_shell(&format!("memory --root ada undo {id}"));
    for part in [
        "is the write of categories/",
        "davits-are-blue",
        " by bob",
        "--yes` undoes it",
        "exit 2",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    assert_eq!(texts(), "Chains are grey\nDavits are blue\n");
    let undone = sandbox.run_shell(&format!("memory --root ada undo --yes {id}"));
    assert!(undone.contains("undid write of 1 file by bob"), "{undone}");
    assert_eq!(texts(), "Chains are grey\n");
}
