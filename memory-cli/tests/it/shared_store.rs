//! Tests of homes that share memories in a database.

use insta::assert_snapshot;

use crate::postgres_server::shared_server;
use crate::sandbox::Sandbox;

#[test]
fn two_homes_share_their_memories_in_a_database() {
    let Some(server) = shared_server("homes that share memories") else { return };
    let sandbox = Sandbox::new();
    let database = server.database();
    sandbox.file("address", &server.url("postgres:hunter2", &database, ""));
    assert_snapshot!(sandbox.run_shell("memory init --store @address"), @"
    memories
    --- stderr
    the database contains 0 memories
    ");
    sandbox.run_shell("memory write 'The team deploys on Tuesdays' --tags deploys");
    let init = "memory --root two init --store - --json < address";
    assert_eq!(sandbox.run_shell(init), "{\"store\":\"memories\",\"memories\":1}\n");
    assert_eq!(sandbox.run_shell(init), "{\"store\":\"memories\",\"memories\":1}\n");
    let search = "search 'when does the team deploy?' --json | jq -c .hits";
    let found = sandbox.run_shell(&format!("memory {search}"));
    assert!(found.contains("The team deploys on Tuesdays"), "{found}");
    assert_eq!(sandbox.run_shell(&format!("memory --root two {search}")), found);
    sandbox.run_shell("id=$(memory list --json | jq -r '.memories[0].id'); memory --root two delete $id");
    assert_eq!(sandbox.run_json(&["list"])["total"], 0);
    sandbox.run_shell("memory undo");
    assert_eq!(sandbox.run_json(&["--root", "two", "list"])["total"], 1);
    assert_snapshot!(sandbox.run_shell("memory --root two log | cut -f 2-4; memory --root two doctor"), @"
    [time]	undo	cli
    [time]	delete	cli
    [time]	write	cli
    --- stderr
    checked: 1; no problems found
    ");
    // The address of the same database may change.
    sandbox.file("changed", &server.url("postgres:hunter2", &database, "?application_name=memory"));
    assert_eq!(sandbox.run_shell("memory init --store @changed --json"), "{\"store\":\"memories\",\"memories\":1}\n");
    // A secret is in no file.
    assert_eq!(sandbox.run_shell("rm address changed; grep -rl hunter2 ."), "--- exit 1\n");
    assert_eq!(sandbox.run_shell("memory instance rekey"), "{\"resealed\":1}\n");
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
    assert!(!sandbox.run_shell("memory instance instances --json").contains("memories"));
}

#[test]
fn a_home_with_memories_or_with_another_database_is_not_shared() {
    let Some(server) = shared_server("homes that are not shared") else { return };
    let sandbox = Sandbox::new();
    sandbox.write("a private note", &[]);
    sandbox.file("one", &server.url("postgres", &server.database(), ""));
    sandbox.file("two", &server.url("postgres", &server.database(), ""));
    assert_snapshot!(sandbox.run_shell("memory init --store @one"), @"
    --- stderr
    error[invalid_input]: ~/.memory cannot be used as a replica of the database: categories/ exists, but its memories are not in the database; use another folder
    --- exit 2
    ");
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
    assert_eq!(sandbox.run_shell("memory --root own init --store @one --json"), "{\"store\":\"memories\",\"memories\":0}\n");
    assert_snapshot!(sandbox.run_shell("memory --root own init --store @two; memory --root other init --store @two"), @"
    --- stderr
    error[invalid_input]: ~/own cannot be used as a replica of the database: it is a replica of another database; use another folder
    error[invalid_input]: another database is called memories
    hint: choose another name with --name
    --- exit 2
    ");
    assert_snapshot!(sandbox.run_shell("memory --root new config set storage.store absent; memory --root new list"), @"
    storage.store	absent
    --- stderr
    error[invalid_input]: the address of the database absent is not known
    hint: `memory init --store ADDRESS` sets the address of the database
    --- exit 2
    ");
}
