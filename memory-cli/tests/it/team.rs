//! Tests of a shared database whose principals are people of a team.

use std::fs;

use memory_core::testing::wait_until;
use memory_core::{Clock, ContentHash};
use memory_store::SystemClock;
use serde_json::json;

use crate::clock::build_shift;
use crate::postgres_server::{PostgresServer, report_skipped, shared_server};
use crate::principal_http::{PrincipalHomes, call};
use crate::sandbox::Sandbox;
use crate::serve_http::HttpServerProcess;

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
    // The sandbox replaces ids in the output, so the shell keeps the id.
    let undo = |flags: &str| {
        sandbox.run_shell(&format!(
            "id=$(memory --root ada log --json | jq -r '[.operations[] | select(.by == \"bob\")][0].operation'); \
             memory --root ada undo {flags} $id"
        ))
    };
    let refused = undo("");
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
    let undone = undo("--yes");
    assert!(undone.contains("undid write of 1 file by bob"), "{undone}");
    assert_eq!(texts(), "Chains are grey\n");
}

#[test]
fn a_reader_changes_nothing_and_an_admin_grants_its_scope() {
    let Some(homes) = PrincipalHomes::new("levels of access") else {
        return;
    };
    let sandbox = &homes.sandbox;
    homes.init("ada");
    homes.init("bob");
    let run = |line: &str| sandbox.run_shell(line);
    run("memory --root ada write 'Deploys go out on Tuesday' --scope team:web");
    let granted = run("memory --root owner principal grant bob team:web --access reader");
    assert!(granted.contains("bob reads team:web"), "{granted}");
    assert_eq!(sandbox.run_json(&["--root", "bob", "list"])["total"], 1);
    let refused = [
        "write 'No deploys on Friday' --scope team:web",
        "tag $id --add friday",
        "delete $id",
    ];
    for command in refused {
        let refused = run(&format!(
            "id=$(memory --root bob list --json | jq -r '.memories[0].id'); memory --root bob {command}"
        ));
        assert!(
            refused.contains("error[permission_denied]: bob reads team:web, and may not write it"),
            "{refused}"
        );
    }
    // The owner's server refuses it, too.
    let owner = homes.serve("owner");
    let token = homes.token("bob");
    let request = json!({ "content": "No deploys on Friday", "scope": "team:web" });
    assert_eq!(
        call(&owner, &token, "memory_write", &request),
        Err("403 Forbidden SCOPE_REFUSED".to_owned())
    );
    let list = call(&owner, &token, "memory_list", &json!({})).expect("a list");
    assert_eq!(list["total"], 1);
    // Nobody but an admin and the owner grants the scope.
    let refused = run("memory --root ada principal grant bob team:web");
    assert!(
        refused.contains("error[permission_denied]: only an admin of team:web"),
        "{refused}"
    );
    run("memory --root owner principal grant ada team:web --access admin");
    run("memory --root ada principal grant bob team:web");
    assert_eq!(
        run("memory --root ada principal list"),
        "team:web\tada\tadmin\nteam:web\tbob\twriter\n"
    );
    let written = run("memory --root bob write 'No deploys on Friday' --scope team:web");
    assert!(!written.contains("error"), "{written}");
    let refused = run("memory --root ada principal grant bob team:api");
    assert!(refused.contains("only an admin of team:api"), "{refused}");
    run("memory --root ada principal ungrant bob team:web");
    assert_eq!(sandbox.run_json(&["--root", "bob", "list"])["total"], 0);
}

#[test]
fn an_invitation_is_one_command_and_its_token_expires() {
    let Some(homes) = PrincipalHomes::new("invitations") else {
        return;
    };
    let sandbox = &homes.sandbox;
    let run = |line: &str| sandbox.run_shell(line);
    let role = run("sed 's/.*:..\\([a-z0-9_]*\\):hunter2.*/\\1/' node.address");
    let role = role.trim();
    let refused = run(&format!(
        "memory --root owner principal invite carol --role {role}"
    ));
    assert!(
        refused.contains("pass it once with --store @FILE"),
        "{refused}"
    );
    run(&format!(
        "memory --root owner principal invite carol --team web --role {role} --store @node.address > line"
    ));
    let words = run("wc -lw < line");
    assert_eq!(words.split_whitespace().collect::<Vec<_>>(), ["1", "5"]);
    assert_eq!(run("grep -c hunter2 line"), "0\n--- exit 1\n");
    let joined = run("memory() { command memory --root carol \"$@\"; }; . ./line");
    assert!(joined.contains("carol may read"), "{joined}");
    run("memory --root carol write 'The vault code is in the safe'");
    assert_eq!(
        run("memory --root carol list --json | jq -r '.memories[].scope'"),
        "private:carol\n"
    );
    // The address is known now. A token that has expired is refused everywhere, and a new invitation replaces it.
    run(&format!(
        "memory --root owner principal invite dora --role {role} --expires 1ms > line"
    ));
    let refused = run("memory() { command memory --root dora \"$@\" --name dora; }; . ./line");
    assert!(
        refused.contains("the database does not accept the token"),
        "{refused}"
    );
    let states = run("memory --root owner principal list | cut -f 1,3");
    assert!(states.contains("dora\texpired"), "{states}");
    run(&format!(
        "memory --root owner principal invite dora --role {role} --expires 90d > line"
    ));
    let joined = run("memory() { command memory --root dora \"$@\" --name dora; }; . ./line");
    assert!(joined.contains("dora may read"), "{joined}");
    let contact = run(
        "memory --root owner principal list --json | jq -r '.principals[] | select(.last_contact) | .name'",
    );
    assert_eq!(contact, "carol\ndora\n");
    let broken = run("memory --root eve shared init --invitation bWVt");
    assert!(broken.contains("the invitation is incomplete"), "{broken}");
}

#[test]
fn a_removed_principal_leaves_its_memories_to_another_one_and_nothing_in_the_list() {
    let Some(homes) = PrincipalHomes::new("removed principals") else {
        return;
    };
    let sandbox = &homes.sandbox;
    homes.init("ada");
    homes.init("bob");
    let run = |line: &str| sandbox.run_shell(line);
    run("memory --root bob write 'The vault code is in the safe'");
    run("memory --root bob write 'The agent likes tea' --scope agent:claude");
    run("memory --root bob write 'Deploys go out on Tuesday' --scope team:web");
    let asked = run("memory --root owner principal remove bob --to ada");
    assert!(
        asked.contains("bob has 2 private notes, which move to ada"),
        "{asked}"
    );
    let removed = run("memory --root owner principal remove bob --to ada --yes");
    assert!(
        removed.contains("its banks and conversations stay in the database"),
        "{removed}"
    );
    assert_eq!(
        run(
            "memory --root ada list --json | jq -r '.memories[] | .scope + \" \" + .content' | sort"
        ),
        "private:ada The agent likes tea\nprivate:ada The vault code is in the safe\nteam:web Deploys go out on Tuesday\n"
    );
    assert_eq!(
        run("memory --root owner principal list | grep -c ^bob"),
        "0\n--- exit 1\n"
    );
    let refused = run("memory --root bob list");
    assert!(
        refused.contains("the database does not accept the token"),
        "{refused}"
    );
    run("memory --root owner principal remove ada --yes");
    assert_eq!(
        run("memory --root owner list --json | jq -r '.memories[].scope'"),
        "team:web\n"
    );
}

#[test]
fn the_audit_log_has_tokens_grants_deletions_exports_and_refusals() {
    let Some(homes) = PrincipalHomes::new("the audit log") else {
        return;
    };
    let sandbox = &homes.sandbox;
    homes.init("ada");
    homes.init("bob");
    let run = |line: &str| sandbox.run_shell(line);
    run("memory --root owner principal grant team:web project:shop --access reader");
    run("memory --root owner principal ungrant bob team:web");
    run(
        "id=$(memory --root ada write 'The vault code is in the safe' --json | jq -r .id); memory --root ada delete $id",
    );
    run("memory --root ada trash purge --older-than 0d --yes");
    run("memory --root ada export > export.jsonl");
    run("memory --root owner principal revoke bob");
    run("memory --root bob list; memory --root bob list");
    let owner = homes.serve("owner");
    assert!(call(&owner, "mem_unknown", "memory_list", &json!({})).is_err());
    let log =
        run("memory --root owner log --audit --limit 0 | cut -f 2-4 | grep -v 'from before' | tac");
    let log = log.replace(" from 127.0.0.1", "");
    insta::assert_snapshot!(log, @"
    owner	token	ada
    owner	grant	team:web to ada as writer
    owner	token	bob
    owner	grant	team:web to bob as writer
    owner	grant	project:shop to team:web as reader
    owner	ungrant	team:web to bob
    ada	export	0 memories
    owner	revoke	bob
    owner	token refused	bob
    owner	token refused	unknown
    ");
    let purged =
        run("memory --root owner log --audit | grep -c 'ada.purge.1 versions from before'");
    assert_eq!(purged, "1\n");
    let refused = run("memory --root ada log --audit");
    assert!(refused.contains("error[permission_denied]"), "{refused}");
}

#[test]
fn a_running_server_follows_a_changed_password_and_logs_the_outage_and_its_end_once() {
    let Some(server) = shared_server("a changed password") else {
        return;
    };
    let (sandbox, database) = (Sandbox::new(), server.database());
    // Only the user `guarded` needs a password.
    let as_owner = format!(
        "DO $$ BEGIN CREATE ROLE guarded LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; \
         ALTER ROLE guarded PASSWORD 'first-pw'; ALTER DATABASE {database} OWNER TO guarded"
    );
    server.sql(&database, &as_owner);
    let address = |password: &str| server.url(&format!("guarded:{password}"), &database, "");
    sandbox.file("address", &address("first-pw"));
    sandbox.run_shell("memory --root one init --store @address; memory --root two init --store @address --name two");
    let arguments = ["--root", "one", "serve", "--http", "127.0.0.1:0", "--json"];
    let one = HttpServerProcess::with(&sandbox, &arguments, &[("MEMO_AUTH_TOKEN", "s3cret")]);
    let log = || sandbox.read_file("one/daemon.log");
    let search = |query: &str| {
        let query = json!({ "query": query }).to_string();
        one.post("/v1/tools/memory_search", "s3cret", &query).1
    };
    sandbox.run_shell("memory --root two write 'Anchors are red'");
    wait_until("the server finds it", || {
        search("anchors").contains("Anchors are red")
    });
    // The password changes, and the connections are lost.
    let end = format!(
        "ALTER ROLE guarded PASSWORD 'second-pw'; SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity \
         WHERE datname = '{database}' AND usename = 'guarded'"
    );
    server.sql("postgres", &end);
    wait_until("the log has the outage", || {
        log().contains("the shared database cannot be used")
    });
    let offline = json!({ "content": "Buoys are green" }).to_string();
    let written = one.post("/v1/tools/memory_write", "s3cret", &offline).1;
    assert!(written.contains("it will be sent"), "{written}");
    sandbox.file("address", &address("second-pw"));
    sandbox.run_shell("memory --root one init --store @address; memory --root two init --store @address --name two");
    sandbox.run_shell("memory --root two write 'Chains are grey'");
    wait_until("the server finds it", || {
        search("chains").contains("Chains are grey")
    });
    wait_until("the log has the end", || {
        log().contains("the shared database is back after")
    });
    wait_until("the write was sent", || {
        sandbox
            .run_shell("memory --root two search buoys")
            .contains("Buoys are green")
    });
    let log = log();
    for line in [
        "the shared database cannot be used",
        "the shared database is back after",
    ] {
        assert_eq!(log.matches(line).count(), 1, "{log}");
    }
}

#[test]
fn a_revoked_token_ends_every_use_of_a_home_with_401_also_if_writes_wait() {
    let claim = "a revoked home";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let homes = PrincipalHomes::on(&server);
    let sandbox = &homes.sandbox;
    homes.init("ada");
    sandbox.run_shell("memory --root ada write 'Anchors are red'");
    let (own, owner) = (homes.serve("ada"), homes.serve("owner"));
    let token = homes.token("ada");
    // A write waits on the machine while the token is revoked.
    server.control(&["-w", "-m", "fast", "stop"]);
    let waiting = sandbox.run_shell("memory --root ada write 'Buoys are green'");
    assert!(waiting.contains("it will be sent"), "{waiting}");
    server.control(&["-w", "start"]);
    let database = sandbox.run_shell("sed 's/.*[/]//' owner.address");
    let revoke = "UPDATE memory_principals SET revoked_at = now() WHERE name = 'ada'";
    // Without a command, which could send the write first.
    server.sql(database.trim(), revoke);
    let refused = || Err("401 Unauthorized UNAUTHORIZED".to_owned());
    for (server, token) in [
        (&own, "s3cret"),
        (&own, token.as_str()),
        (&owner, token.as_str()),
    ] {
        for (tool, request) in [
            ("memory_list", json!({})),
            ("memory_write", json!({ "content": "Chains are grey" })),
        ] {
            wait_until("the token is refused", || {
                call(server, token, tool, &request) == refused()
            });
        }
    }
    for command in [
        "list",
        "search anchors",
        "write 'Davits are blue'",
        "log",
        "undo",
    ] {
        let refused = sandbox.run_shell(&format!("memory --root ada {command}"));
        assert!(
            refused.contains("error[unauthorized]"),
            "{command}: {refused}"
        );
    }
    // A token of another person does not give its memories to the replica of ada; a new one of ada is used without a restart.
    sandbox.run_shell(
        "memory --root ada shared init --store @node.address --token @bob.token --name ada",
    );
    let list = || call(&own, "s3cret", "memory_list", &json!({}));
    assert_eq!(list(), refused());
    let role = format!("{}_node", database.trim());
    sandbox.run_shell(&format!(
        "memory --root owner principal add ada --role {role} --json | jq -r .token > ada.token"
    ));
    homes.init("ada");
    wait_until("the new token is used", || list().is_ok());
    wait_until("the write was sent", || {
        let found = call(&owner, &homes.token("ada"), "memory_list", &json!({}));
        found.is_ok_and(|found| found.to_string().contains("Buoys are green"))
    });
}

#[test]
fn the_default_scope_of_a_home_applies_to_new_memories_but_to_no_import_and_no_other_principal() {
    let Some(homes) = PrincipalHomes::new("the default scope") else {
        return;
    };
    let sandbox = &homes.sandbox;
    homes.init("ada");
    let run = |line: &str| sandbox.run_shell(line);
    let scopes = |root: &str| {
        run(&format!(
            "memory --root {root} list --json | jq -r '.memories[] | .content + \" \" + .scope' | sort"
        ))
    };
    let agent = json!([{ "name": "memory_write", "params": { "content": "Buoys are green" } }]);
    let agent = format!("echo '{agent}' | memory --root ada agent --agent codex");
    run("memory --root ada config set storage.default_scope team:web");
    run("memory --root ada write 'Anchors are red'");
    run(&agent);
    sandbox.file("notes/chains.md", "Chains are grey\n");
    let imported = run("memory --root ada import notes");
    assert!(!imported.contains("error"), "{imported}");
    let own = run(
        "memory --root ada config set storage.default_scope private:ada; memory --root ada write 'Davits are blue'",
    );
    assert!(!own.contains("error"), "{own}");
    insta::assert_snapshot!(scopes("ada"), @"
    Anchors are red team:web
    Buoys are green team:web
    Chains are grey private:ada
    Davits are blue private:ada
    ");
    // A scope that the principal may not write is refused, and nothing is stored elsewhere.
    run("memory --root ada config set storage.default_scope team:api");
    let refused = run("memory --root ada write 'Fenders are white'");
    assert!(refused.contains("error[permission_denied]"), "{refused}");
    let refused = run(&agent.replace("Buoys are green", "Fenders are white"));
    assert!(refused.contains("SCOPE_REFUSED"), "{refused}");
    assert!(!scopes("ada").contains("Fenders"));
    let refused = run("memory --root ada config set storage.default_scope agent:codex");
    assert!(refused.contains("global, team:NAME"), "{refused}");
    // The server of the owner does not apply the setting of the owner to its callers.
    run("memory --root owner config set storage.default_scope global");
    let owner = homes.serve("owner");
    let request = json!({ "content": "Bob prefers tea" });
    call(&owner, &homes.token("bob"), "memory_write", &request).expect("it is written");
    run("memory --root owner config set storage.default_scope team:web");
    run("memory --root owner write 'Gates open at six'");
    let stored = scopes("owner");
    for line in [
        "Bob prefers tea private:bob\n",
        "Gates open at six team:web\n",
    ] {
        assert!(stored.contains(line), "{stored}");
    }
}

#[test]
fn an_import_by_a_principal_shows_nothing_to_others() {
    let Some(server) = shared_server("an import by a principal") else {
        return;
    };
    let homes = PrincipalHomes::on(server);
    homes.init("ada");
    let sandbox = &homes.sandbox;
    sandbox.run_shell("memory --root files write 'Anchors are red'; memory --root files export --output files.jsonl");
    sandbox.file("lines.jsonl", r#"{"content":"Buoys are green"}"#);
    for file in ["files", "lines"] {
        sandbox.run_shell(&format!("memory --root ada import --input {file}.jsonl"));
    }
    let list = sandbox.run_shell("memory --root ada list");
    assert_eq!(list.matches("private:ada").count(), 2, "{list}");
    assert!(!list.contains("global"), "{list}");
}
