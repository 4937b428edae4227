//! Tests of homes that share memories in a database.

use std::path::Path;

use insta::assert_snapshot;
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationStore, EntryChange, EntryRole,
};
use memory_core::secret::Checked;
use memory_core::testing::wait_until;
use memory_core::{Clock, IdSource, Operation, Verb};
use memory_store::conversation::ConversationFolder;
use memory_store::{RandomIds, SystemClock};
use rustix::process::{Pid, Signal, kill_process};

use crate::clock::build_shift;
use crate::postgres_server::{PostgresServer, report_skipped, shared_server};
use crate::principal_http::PrincipalHomes;
use crate::proxy::process::ProxyProcess;
use crate::proxy::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;
use crate::serve_http::HttpServerProcess;

#[test]
fn two_homes_share_their_memories_in_a_database() {
    let Some(server) = shared_server("homes that share memories") else {
        return;
    };
    let sandbox = Sandbox::new();
    let database = server.database();
    sandbox.file("address", &server.url("postgres:hunter2", &database, ""));
    assert_snapshot!(sandbox.run_shell("memory shared init --store @address"), @"
    memories
    --- stderr
    the database contains 0 memories
    ");
    sandbox.run_shell("memory write 'The team deploys on Tuesdays' --tags deploys");
    let init = "memory --root two init --store - --json < address";
    assert_eq!(
        sandbox.run_shell(init),
        "{\"store\":\"memories\",\"memories\":1}\n"
    );
    assert_eq!(
        sandbox.run_shell(init),
        "{\"store\":\"memories\",\"memories\":1}\n"
    );
    let search = "search 'when does the team deploy?' --json | jq -c .hits";
    let found = sandbox.run_shell(&format!("memory {search}"));
    assert!(found.contains("The team deploys on Tuesdays"), "{found}");
    assert_eq!(
        sandbox.run_shell(&format!("memory --root two {search}")),
        found
    );
    sandbox.run_shell(
        "id=$(memory list --json | jq -r '.memories[0].id'); memory --root two delete $id",
    );
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
    sandbox.file(
        "changed",
        &server.url("postgres:hunter2", &database, "?application_name=memory"),
    );
    assert_eq!(
        sandbox.run_shell("memory shared init --store @changed --json"),
        "{\"store\":\"memories\",\"memories\":1}\n"
    );
    // A secret is in no file.
    assert_eq!(
        sandbox.run_shell("rm address changed; grep -rl hunter2 ."),
        "--- exit 1\n"
    );
    assert_eq!(
        sandbox.run_shell("memory instance rekey"),
        "{\"resealed\":1}\n"
    );
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
    assert!(
        !sandbox
            .run_shell("memory instance instances --json")
            .contains("memories")
    );
}

#[test]
fn a_home_with_memories_or_with_another_database_is_not_shared() {
    let Some(server) = shared_server("homes that are not shared") else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.write("a private note", &[]);
    sandbox.file("one", &server.url("postgres", &server.database(), ""));
    sandbox.file("two", &server.url("postgres", &server.database(), ""));
    assert_snapshot!(sandbox.run_shell("memory shared init --store @one"), @"
    --- stderr
    error[invalid_input]: ~/.memory cannot be used as a replica of the database: categories/ exists, but its memories are not in the database
    hint: use another folder with --root, or copy this home into the database with `memory shared migrate`
    --- exit 2
    ");
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
    assert_eq!(
        sandbox.run_shell("memory --root own init --store @one --json"),
        "{\"store\":\"memories\",\"memories\":0}\n"
    );
    assert_snapshot!(sandbox.run_shell("memory --root own init --store @two; memory --root other init --store @two"), @"
    --- stderr
    error[invalid_input]: ~/own cannot be used as a replica of the database: it is a replica of another database
    hint: use another folder
    error[invalid_input]: another database is called memories
    hint: choose another name with --name
    --- exit 2
    ");
    assert_snapshot!(sandbox.run_shell("echo postgres://u@127.0.0.1:1/d > away.address; memory --root away init --store @away.address --name away"), @"
    --- stderr
    error[database_unreachable]: the database cannot be reached
      because: Connection refused (os error 111)
    hint: check that it is running and that the address is correct; `memory shared init --store ADDRESS` sets another address
    --- exit 1
    ");
    assert_snapshot!(sandbox.run_shell("memory --root new config set storage.store absent; memory --root new list"), @"
    storage.store	absent
    --- stderr
    error[invalid_input]: the address of the database absent is not known
    hint: `memory shared init --store ADDRESS` sets the address of the database
    --- exit 2
    ");
}

#[test]
fn principals_see_their_own_memories_and_those_of_their_teams() {
    let Some(server) = shared_server("principals") else {
        return;
    };
    let sandbox = Sandbox::new();
    let database = server.database();
    let (owner, node) = (format!("{database}_owner"), format!("{database}_node"));
    server.sql(
        &database,
        &format!("CREATE ROLE {owner} LOGIN; CREATE ROLE {node} LOGIN; ALTER DATABASE {database} OWNER TO {owner}"),
    );
    sandbox.file("owner.address", &server.url(&owner, &database, ""));
    sandbox.file("node.address", &server.url(&node, &database, ""));
    sandbox.run_shell("memory --root owner init --store @owner.address --name owner");
    let refused = sandbox.run_shell("memory --root owner principal add con");
    assert!(
        refused.contains("con is the name of a device on Windows"),
        "{refused}"
    );
    assert_snapshot!(sandbox.run_shell("memory --root owner principal add ada --role absent"), @r#"
    --- stderr
    error[invalid_input]: the database has no role absent; create it with CREATE ROLE "absent" LOGIN PASSWORD 'PASSWORD'
    hint: or specify another role with --role
    --- exit 2
    "#);
    let add = |name: &str| {
        format!(
            "memory --root owner principal add {name} --team web --role {node} --json | jq -r .token > {name}.token"
        )
    };
    sandbox.run_shell(&add("ada"));
    sandbox.run_shell(&add("bob"));
    let init = |name: &str| {
        format!(
            "memory --root {name} init --store @node.address --token @{name}.token --name {name} --json"
        )
    };
    assert_eq!(
        sandbox.run_shell(&init("ada")),
        "{\"store\":\"ada\",\"memories\":0,\"principal\":\"ada\"}\n"
    );
    sandbox.run_shell(&init("bob"));
    sandbox.run_shell("memory --root ada write 'The vault code is in the safe'");
    assert_eq!(
        sandbox.run_shell("memory --root ada list --json | jq -r '.memories[].scope'"),
        "private:ada\n"
    );
    assert_eq!(sandbox.run_json(&["--root", "bob", "list"])["total"], 0);
    assert_eq!(sandbox.run_shell("grep -rl vault bob"), "--- exit 1\n");
    sandbox
        .run_shell("id=$(memory --root ada list --json | jq -r '.memories[0].id'); memory --root ada edit $id --scope team:web");
    assert_snapshot!(sandbox.run_shell("memory --root bob list --json | jq -r '.memories[].scope'; memory --root bob log | cut -f 3-4"), @"
    team:web
    update	ada
    ");
    assert_snapshot!(sandbox.run_shell("memory --root owner principal list; memory --root ada principal list; memory --root ada status | grep principal"), @"
    ada	user	valid	team:web	[time]
    bob	user	valid	team:web	[time]
    team:web	team	-		-
    principal	ada
    --- stderr
    this principal is no admin of a scope
    ");
    sandbox.run_shell("memory --root ada undo");
    assert_eq!(sandbox.run_json(&["--root", "bob", "list"])["total"], 0);
    // Banks of a principal are private.
    sandbox.run_shell("memory --root ada bank write codes vault '\"4711\"'");
    assert_eq!(
        sandbox.run_shell("memory --root ada bank read codes vault | jq -c .value"),
        "\"4711\"\n"
    );
    let read = sandbox.run_shell("memory --root bob bank read codes vault");
    assert!(read.contains("BANK_NOT_FOUND"), "{read}");
    assert_eq!(sandbox.run_shell("grep -rl 4711 bob"), "--- exit 1\n");
    assert_snapshot!(sandbox.run_shell("memory --root owner principal revoke bob; memory --root bob list"), @"
    --- stderr
    the token of bob is revoked
    error[unauthorized]: the database does not accept the token of this home
    hint: it was revoked, or is from another database: ask the owner of the database for a new one, and pass it to `memory shared init --token`
    --- exit 2
    ");
    // A new token replaces the former one, and no token is in a file in plain text.
    sandbox.run_shell(&add("bob"));
    assert_eq!(
        sandbox.run_shell(&init("bob")),
        "{\"store\":\"bob\",\"memories\":0,\"principal\":\"bob\"}\n"
    );
    assert_eq!(
        sandbox.run_shell("rm *.token; grep -rl mem_ ."),
        "--- exit 1\n"
    );
    assert_snapshot!(sandbox.run_shell("memory --root bob principal grant bob team:web; memory --root owner principal ungrant bob team:api"), @"
    --- stderr
    error[permission_denied]: only an admin of team:web and the owner of the database grant it
    hint: an admin makes another one with `memory shared principal grant NAME SCOPE --access admin`
    error[invalid_input]: team:api is not granted to bob
    hint: `memory shared principal list` lists the grants
    --- exit 2
    ");
}

#[test]
fn a_home_whose_login_is_rejected_works_as_without_the_database() {
    let Some(server) = shared_server("rejected logins") else {
        return;
    };
    let sandbox = Sandbox::new();
    let database = server.database();
    let owner = format!("{database}_owner");
    server.sql(
        &database,
        &format!("CREATE ROLE {owner} LOGIN; ALTER DATABASE {database} OWNER TO {owner}"),
    );
    sandbox.file("address", &server.url(&owner, &database, ""));
    for home in ["one", "two"] {
        sandbox.run_shell(&format!("memory --root {home} init --store @address"));
    }
    sandbox
        .run_shell("memory --root one write 'The team deploys on Mondays'; memory --root two list");
    server.sql(&database, &format!("ALTER ROLE {owner} NOLOGIN"));
    let edit = |home: &str, day: &str| {
        sandbox.run_shell(&format!(
            "memory --root {home} edit $(cat id) --content 'The team deploys on {day}'"
        ))
    };
    sandbox.run_shell("memory --root one list -q --json | jq -r '.memories[0].id' > id");
    let read = sandbox.run_shell("memory --root one read $(cat id)");
    assert!(read.contains("on Mondays"), "{read}");
    assert!(
        read.contains("the memories may be outdated: the database rejected the login"),
        "{read}"
    );
    let edited = edit("one", "Fridays");
    assert!(
        edited.contains("it will be sent to the shared database"),
        "{edited}"
    );
    server.sql(&database, &format!("ALTER ROLE {owner} LOGIN"));
    edit("two", "Tuesdays");
    let sent = sandbox.run_shell("memory --root one read $(cat id)");
    assert!(
        sent.contains("on Tuesdays") && sent.contains("1 offline change became a proposal"),
        "{sent}"
    );
}

#[test]
fn a_home_of_another_principal_or_with_a_damaged_state_names_the_files_to_delete() {
    let Some(homes) = PrincipalHomes::new("homes of other principals") else {
        return;
    };
    let sandbox = &homes.sandbox;
    homes.init("ada");
    sandbox.run_shell(
        "memory --root ada write 'The vault code is in the safe'; memory --root ada bank write codes vault '\"4711\"'",
    );
    assert_snapshot!(sandbox.run_shell("memory --root ada init --store @node.address --token @bob.token --name ada"), @"
    --- stderr
    error[invalid_input]: ~/ada cannot be used as a replica of the database: it is a replica for another principal
    hint: choose another home with --root; or send the writes in offline/ with the former token, and then delete replica.json, categories/, journal/, trash/, banks/, topics/, entries/, .conversations/.replica.jsonl, index/, memory.md and pending.md
    --- exit 2
    ");
    // The home still has its former token.
    assert_eq!(sandbox.run_json(&["--root", "ada", "list"])["total"], 1);
    assert_snapshot!(sandbox.run_shell("echo '{' > ada/replica.json; memory --root ada list"), @"
    --- stderr
    error[invalid_input]: ~/ada cannot be used as a replica of the database: replica.json is damaged
    hint: delete replica.json, categories/, journal/ and trash/ if the database contains all memories of this home; the next command fetches them. Do not delete offline/
    --- exit 2
    ");
    sandbox.run_shell("cd ada && rm -r replica.json categories journal trash");
    assert_eq!(sandbox.run_json(&["--root", "ada", "list"])["total"], 1);
    sandbox
        .run_shell("cd ada && rm -rf replica.json categories journal trash banks topics entries .conversations/.replica.jsonl index memory.md pending.md");
    assert_snapshot!(sandbox.run_shell("memory --root ada init --store @node.address --token @bob.token --name ada --json"), @r#"{"store":"ada","memories":0,"principal":"bob"}"#);
    assert_eq!(sandbox.run_json(&["--root", "ada", "list"])["total"], 0);
    assert_eq!(
        sandbox.run_shell(
            "memory --root ada bank list --json | jq -c .banks; grep -rl -e vault -e 4711 ada"
        ),
        "[]\n--- exit 1\n"
    );
}

#[test]
fn two_services_on_one_database_report_when_it_is_gone_and_serve_again_when_it_is_back() {
    let claim = "services on one database";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let sandbox = Sandbox::new();
    sandbox.file("address", &server.url("postgres", &server.database(), ""));
    let services = ["one", "two"].map(|root| {
        sandbox.run_shell(&format!("memory --root {root} init --store @address"));
        let arguments = ["--root", root, "serve", "--http", "127.0.0.1:0", "--json"];
        HttpServerProcess::with(&sandbox, &arguments, &[("MEMO_AUTH_TOKEN", "s3cret")])
    });
    let ok = || {
        (
            "HTTP/1.1 200 OK".to_owned(),
            r#"{"status":"ok"}"#.to_owned(),
        )
    };
    let metric = |service: &HttpServerProcess, name: &str| -> String {
        let (_, text) = service.get("/metrics", "s3cret");
        let value = text.lines().find_map(|line| {
            line.strip_prefix(name)?
                .trim_start_matches("{}")
                .strip_prefix(' ')
        });
        value
            .unwrap_or_else(|| panic!("{name} in {text}"))
            .to_owned()
    };
    let written = services[0].post(
        "/v1/tools/memory_write",
        "s3cret",
        r#"{"content":"The team deploys on Tuesdays"}"#,
    );
    assert_eq!(written.0, ok().0, "{}", written.1);
    let search = |service: &HttpServerProcess| {
        service
            .post(
                "/v1/tools/memory_search",
                "s3cret",
                r#"{"query":"deploys"}"#,
            )
            .1
    };
    // A read fetches the operations of other services at most every 0.1 s.
    wait_until("the other service finds the memory", || {
        search(&services[1]).contains("on Tuesdays")
    });
    for service in &services {
        assert_eq!(
            [service.get("/healthz", ""), service.get("/readyz", "")],
            [ok(), ok()]
        );
        assert_eq!(service.get("/metrics", "").0, "HTTP/1.1 401 Unauthorized");
        assert!(
            metric(service, "memory_replica_lag_seconds")
                .parse::<f64>()
                .is_ok_and(|lag| lag < 60.0)
        );
        // The daemon may use the connection at the same time.
        wait_until("a connection is idle", || {
            metric(service, r#"memory_database_connections{state="idle"}"#) != "0"
        });
    }
    assert_eq!(
        metric(
            &services[0],
            r#"memory_replica_operations_total{direction="appended"}"#
        ),
        "1"
    );
    assert_eq!(
        metric(
            &services[1],
            r#"memory_replica_operations_total{direction="pulled"}"#
        ),
        "1"
    );
    server.control(&["-w", "-m", "fast", "stop"]);
    for service in &services {
        let refused = (
            "HTTP/1.1 503 Service Unavailable".to_owned(),
            r#"{"status":"unavailable","code":"DATABASE_UNREACHABLE"}"#.to_owned(),
        );
        wait_until("the service reports it", || {
            service.get("/readyz", "") == refused
        });
        assert_eq!(service.get("/healthz", ""), ok());
        assert!(
            search(service).contains("on Tuesdays"),
            "the replica still answers"
        );
        assert_ne!(
            metric(
                service,
                r#"memory_database_errors_total{code="DATABASE_UNREACHABLE"}"#
            ),
            "0"
        );
    }
    server.control(&["-w", "start"]);
    for service in &services {
        wait_until("the service is ready again", || {
            service.get("/readyz", "") == ok()
        });
    }
    let written = services[1].post(
        "/v1/tools/memory_write",
        "s3cret",
        r#"{"content":"A second reviewer reads each change"}"#,
    );
    assert_eq!(written.0, ok().0, "{}", written.1);
    let find = || {
        services[0]
            .post(
                "/v1/tools/memory_search",
                "s3cret",
                r#"{"query":"reviewer"}"#,
            )
            .1
    };
    wait_until("the other service finds the second memory", || {
        find().contains("second reviewer")
    });
}

#[test]
fn one_command_waits_for_a_silent_server_and_the_next_ones_use_the_replica_at_once() {
    let Some(server) = PostgresServer::start() else {
        return report_skipped("a silent server", "there is no initdb");
    };
    let sandbox = Sandbox::new();
    let address = server.url("postgres", &server.database(), "?connect_timeout=1");
    sandbox.file("address", &address);
    sandbox.run_shell("memory init --store @address && memory write 'Anchors are red'");
    let pid = std::fs::read_to_string(server.folder().join("data/postmaster.pid")).expect("a file");
    let pid: i32 = pid
        .lines()
        .next()
        .expect("a line")
        .parse()
        .expect("a number");
    let signal = |signal| {
        kill_process(Pid::from_raw(pid).expect("a process"), signal).expect("it runs");
    };
    let outage = sandbox.path(".memory/index/database-outage");
    let attempt = || {
        std::fs::metadata(&outage)
            .and_then(|found| found.modified())
            .ok()
    };
    let search = || sandbox.run(&["search", "anchors"]);
    signal(Signal::STOP);
    let first = search();
    let recorded = attempt();
    assert!(
        first.contains("Anchors are red") && first.contains("did not respond within 1 s"),
        "{first}"
    );
    let second = search();
    let event =
        r#"{"hook_event_name":"UserPromptSubmit","prompt":"which colour do anchors have?"}"#;
    let hook = sandbox.run_with_input(event, &["hook", "prompt", "--agent", "claude"]);
    assert!(
        second.contains("Anchors are red") && hook.contains("Anchors are red"),
        "{second}{hook}"
    );
    assert!(
        recorded.is_some() && recorded == attempt(),
        "no other attempt was made"
    );
    let fresh = sandbox.run(&["search", "anchors", "--fresh"]);
    assert!(
        fresh.contains("DATABASE_UNREACHABLE") || fresh.contains("database_unreachable"),
        "{fresh}"
    );
    assert_ne!(recorded, attempt(), "--fresh tries the server");
    signal(Signal::CONT);
    wait_until("the database can be reached", || {
        sandbox.run(&["status"]).contains("database\treachable")
    });
    assert_eq!(attempt(), None);
    assert!(!search().contains("warning"));
}

#[test]
fn two_homes_share_their_banks_and_the_topics_of_projects_without_own_ones() {
    let Some(server) = shared_server("homes that share banks") else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.file("address", &server.url("postgres", &server.database(), ""));
    sandbox.run_shell("for home in one two; do memory --root $home init --store @address; done");
    let value = |home: &str| {
        sandbox.run_shell(&format!(
            "memory --root {home} bank read plans deploy | jq -c .value"
        ))
    };
    sandbox.run_shell("memory --root one bank write plans deploy '\"Tuesday\"'");
    assert_eq!(value("two"), "\"Tuesday\"\n");
    sandbox.run_shell("memory --root two bank write plans deploy '\"Monday\"'");
    assert_eq!(value("one"), "\"Monday\"\n");
    sandbox.run_shell("memory --root one undo");
    assert_eq!(value("two"), "\"Tuesday\"\n");
    // Two clones of a repository, on two machines.
    sandbox.run_shell("mkdir -p first/repo/.git second/repo/.git");
    let write = "write release 'Tag, then push.' --type project --description 'How to release'";
    sandbox.run_shell(&format!(
        "cd first/repo && memory --root ../../one topic {write}"
    ));
    let read = || sandbox.run_shell("cd second/repo && memory --root ../../two topic read release");
    assert!(read().contains("memory project bind"), "{}", read());
    sandbox.run_shell("cd second/repo && memory --root ../../two project bind");
    assert!(read().contains("Tag, then push."), "{}", read());
    sandbox.run_shell(
        "cd second/repo && memory --root ../../two topic write release 'Push, then tag.'",
    );
    sandbox.run_shell("cd first/repo && memory --root ../../one undo");
    assert!(read().contains("Tag, then push."), "{}", read());
    // Topics in the repository belong to it.
    sandbox.run_shell("mkdir -p second/repo/.memory && echo '# Own' > second/repo/.memory/own.md");
    assert!(read().contains("path_not_found"), "{}", read());
}

fn model(asked: &UpstreamRequest) -> UpstreamReply {
    let last = asked.last();
    UpstreamReply::completion(match asked.purpose() {
        Some("facts") if last.contains("Ghent") => r#"["The user lives in Ghent."]"#,
        Some("facts") if last.contains("Lyon") => r#"["The user lives in Lyon."]"#,
        Some("facts") => "[]",
        Some("reconcile") => r#"[{"event": "UPDATE", "id": 0, "text": "The user lives in Lyon."}]"#,
        Some("summary") => "Lives somewhere.",
        _ => "Fine.",
    })
}

#[test]
fn a_chat_through_the_proxy_of_one_home_continues_in_another() {
    let Some(server) = shared_server("homes that share conversations") else {
        return;
    };
    let (sandbox, upstream) = (Sandbox::new(), FakeUpstream::start(model));
    sandbox.file("address", &server.url("postgres", &server.database(), ""));
    sandbox.run_shell("for home in one two; do memory --root $home init --store @address; done");
    for (home, text) in [
        ("one", "I live in Ghent."),
        ("two", "We moved: I live in Lyon now."),
    ] {
        let place = sandbox.path(home).display().to_string();
        let flags = [
            "--root",
            home,
            "proxy",
            "--json",
            "--port",
            "0",
            "--openai-base-url",
            &upstream.base_url(),
        ];
        let proxy =
            ProxyProcess::of(sandbox.command(&[&flags[..], &["--memory-path", &place]].concat()));
        proxy.send_message(text);
        assert_eq!(proxy.stop().0, Some(0));
    }
    // The second chat received the fact of the first one, which its turn repeats, and replaced it.
    let asked = upstream.client_requests().pop().expect("a request");
    assert!(
        asked.body.contains("The user lives in Ghent."),
        "{}",
        asked.body
    );
    let shown = |home: &str| {
        let list = "[.facts, .turns][] | [.[].content | tostring] | sort | .[]";
        sandbox.run_shell(&format!(
            "memory --root {home} conversations show default --json | jq -r '{list}'"
        ))
    };
    let said = "Fine.\nFine.\nI live in Ghent.\nWe moved: I live in Lyon now.\n";
    assert_eq!(shown("one"), format!("The user lives in Lyon.\n{said}"));
    assert_eq!(shown("two"), shown("one"));
    // A search finds the fact on a new machine at once.
    assert_eq!(
        sandbox.run_shell("memory --root new init --store @address --json"),
        "{\"store\":\"memories\",\"memories\":0}\n"
    );
    let search = |home: &str| {
        let search =
            "search 'where does the user live' --scope conversation:default --json | jq -c .hits";
        sandbox.run_shell(&format!("memory --root {home} {search}"))
    };
    assert!(
        search("new").contains("The user lives in Lyon."),
        "{}",
        search("new")
    );
    assert_eq!(search("new"), search("two"));
    assert!(
        sandbox
            .run_shell("memory --root new undo")
            .contains("undid reconcile of 2 entries")
    );
    assert_eq!(shown("one"), format!("The user lives in Ghent.\n{said}"));
    let log = |home: &str| {
        let log =
            format!("memory --root {home} log --json | jq -c '.operations[] | del(.memory_path)'");
        sandbox.run_shell(&format!(
            "{log}; memory --root {home} trash list | grep /facts/"
        ))
    };
    assert_eq!((log("two"), log("new")), (log("one"), log("one")));
    // A principal has conversations of its own.
    sandbox
        .run_shell("memory --root one principal add ada > ada.token; memory --root ada init --store @address --token @ada.token");
    assert_eq!(
        sandbox.run_json(&["--root", "ada", "conversations"])["total"],
        0
    );
    sandbox.run_shell("memory --root ada conversations add 'Ada rows'");
    assert_eq!(
        sandbox.run_json(&["--root", "ada", "conversations"])["total"],
        1
    );
    assert!(
        !sandbox
            .run_shell("memory --root new conversations show default")
            .contains("Ada rows")
    );
}

/// Adds a fact to a conversation in a home, and replaces it as a model would.
fn replace_facts(home: &Path) {
    let (folder, conversation) = (
        ConversationFolder::new(home),
        ConversationId::default_conversation(),
    );
    let fact = |text: &str| {
        ConversationEntry::new(
            RandomIds.memory_id().into(),
            &conversation,
            EntryRole::Memory,
            text,
            SystemClock.now(),
        )
    };
    let (tea, coffee) = (fact("drinks tea"), fact("drinks coffee"));
    let delete = EntryChange::Delete {
        id: tea.id.clone(),
        replaced_by: Some(coffee.id.clone()),
    };
    folder
        .commit(&conversation, Checked::allowed(&[EntryChange::Add(tea)]))
        .expect("it is stored");
    let operation = Operation::new(Verb::Reconcile, "model", &SystemClock, &RandomIds);
    folder
        .commit_operation(
            &conversation,
            Checked::allowed(&[EntryChange::Add(coffee), delete]),
            &operation,
        )
        .expect("it is stored");
}

#[test]
fn a_home_is_copied_into_a_database_and_back_with_its_history_and_trash() {
    let Some(server) = shared_server("copied homes") else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.file("address", &server.url("postgres", &server.database(), ""));
    let own = |commands: &str, home: &str| {
        sandbox.run_shell(&commands.replace("memory ", &format!("memory --root {home} ")))
    };
    own(
        "for day in Monday Tuesday Friday; do memory write \"The team deploys on $day\" --tags deploys; done",
        "files",
    );
    own(
        "memory edit $(memory list --json | jq -r '.memories[0].id') --content 'The team rests on Sunday'",
        "files",
    );
    own(
        "memory delete $(memory list --json | jq -r '.memories[1].id'); memory undo",
        "files",
    );
    own(
        "memory delete $(memory list --json | jq -r '.memories[2].id')",
        "files",
    );
    own(
        "memory bank write plans deploy 1; memory bank delete plans deploy",
        "files",
    );
    replace_facts(&sandbox.path("files"));
    // Another program has changed a memory.
    own(
        "file=$(ls files/categories/inbox/*.md | head -1); sed -i 's/deploys/releases/; s/rests/sleeps/' $file",
        "files",
    );
    let views = "memory list --json | jq -c '[.memories[]|{id,content,tags}]'; memory log; memory trash list; memory bank list; \
        memory conversations show default";
    let before = own(views, "files");
    let tree = "cd files && find categories journal trash banks entries .conversations/journal -type f | sort | xargs sha256sum";
    let files = sandbox.run_shell(tree);
    let result = "--json | jq -c '[.operations, .not_copied]'";
    let copied = sandbox.run_shell(&format!(
        "memory shared migrate files shared --store @address {result}"
    ));
    assert_eq!(copied, "[7,[]]\n");
    assert_eq!(
        sandbox.run_shell(tree),
        files,
        "the original does not change"
    );
    assert_eq!(own(views, "shared"), before);
    assert_eq!(
        sandbox.run_shell(&format!("memory shared migrate shared back {result}")),
        "[7,[]]\n"
    );
    assert_eq!(own(views, "back"), before);
    // Topics of projects that the home has not fetched are copied too, and read in a clone of the project.
    sandbox.run_shell(
        "mkdir -p first/repo/.git second/repo/.git; memory --root third init --store @address",
    );
    let topic =
        "topic write release 'Tag, then push.' --type project --description 'How to release'";
    sandbox.run_shell(&format!(
        "cd first/repo && memory --root ../../third {topic}"
    ));
    assert_eq!(
        sandbox.run_shell(&format!("memory shared migrate shared fetched {result}")),
        "[7,[]]\n"
    );
    sandbox.run_shell(
        "for clone in first second; do (cd $clone/repo && memory --root ../../fetched project bind); done",
    );
    let read = |home: &str| {
        sandbox.run_shell(&format!(
            "cd second/repo && memory --root ../../{home} topic read release"
        ))
    };
    assert!(
        read("fetched").contains("Tag, then push."),
        "{}",
        read("fetched")
    );
    sandbox.file("empty", &server.url("postgres", &server.database(), ""));
    let copied = sandbox.run_shell(&format!(
        "memory shared migrate fetched again --store @empty --name again {result}"
    ));
    assert_eq!(copied, "[7,[]]\n");
    assert!(
        read("again").contains("Tag, then push."),
        "{}",
        read("again")
    );
    sandbox.run_shell("cd first/repo && memory --root ../../again undo");
    assert!(
        read("again").contains("path_not_found"),
        "{}",
        read("again")
    );
    // Another machine undoes the last operations: those on the conversation and on the bank, and the deletion.
    own(
        "memory shared init --store @address; memory undo; memory undo; memory undo; memory undo",
        "new",
    );
    assert_eq!(sandbox.run_json(&["--root", "shared", "list"])["total"], 3);
    assert!(own("memory conversations show default", "shared").contains("drinks tea"));
    assert_eq!(
        (own(views, "files"), own(views, "back")),
        (before.clone(), before)
    );
    let refused = sandbox.run_shell("memory shared migrate files shared --store @address");
    assert!(refused.contains("is not an empty folder"), "{refused}");
    let refused = sandbox.run_shell("memory shared migrate back other");
    assert!(
        refused.contains("neither home is in a database"),
        "{refused}"
    );
}

#[test]
fn nothing_is_removed_by_age_if_the_clock_differs_from_that_of_the_database() {
    let Some(server) = shared_server("homes with a wrong clock") else {
        return;
    };
    let sandbox = Sandbox::new();
    let address = server.url("postgres:hunter2", &server.database(), "");
    sandbox.file("address", &address);
    sandbox.run(&["init", "--store", "@address"]);
    sandbox.write("The team deploys on Tuesdays", &["--expires", "3d"]);
    let folder = tempfile::tempdir().expect("a folder");
    let library = build_shift(folder.path());
    let run_after = |days: i64, arguments: &[&str]| {
        let seconds = (SystemClock.now().timestamp() + days * 86_400).to_string();
        let variables = [
            ("LD_PRELOAD", library.as_str()),
            ("MEMORY_TEST_CLOCK", &seconds),
        ];
        sandbox.run_with_all(&variables, arguments)
    };
    for command in ["consolidate", "decay", "dream"] {
        let refused = run_after(8, &[command]);
        assert!(
            refused.contains(
                "error[wrong_clock]: the clocks of this machine and of the database differ by"
            ),
            "{refused}"
        );
    }
    assert!(!run_after(0, &["consolidate"]).contains("wrong_clock"));
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
}

#[test]
fn a_home_that_was_killed_while_it_joined_is_shared_and_loses_no_write() {
    let Some(server) = shared_server("homes that join") else {
        return;
    };
    let sandbox = Sandbox::new();
    let address = server.url("postgres:hunter2", &server.database(), "");
    sandbox.file("address", &address);
    sandbox.run(&["init", "--store", "@address"]);
    let lines: Vec<String> = (0..300)
        .map(|number| format!("{{\"text\":\"memory {number}\"}}\n"))
        .collect();
    sandbox.file("notes.jsonl", &lines.concat());
    sandbox.run(&[
        "ingest",
        "--source",
        "jsonl",
        "--path",
        "~/notes.jsonl",
        "--map",
        "content=text",
    ]);
    let mut joining = sandbox.command(&["--root", "two", "init", "--store", "@address"]);
    let mut joining = joining.spawn().expect("the program");
    wait_until("a setting", || {
        std::fs::read_to_string(sandbox.path("two/config.yaml"))
            .is_ok_and(|text| text.contains("store: memories"))
    });
    joining.kill().expect("it is killed");
    joining.wait().expect("it ends");
    let id = sandbox.run_json(&["--root", "two", "write", "The team moves to Ghent"])["id"].clone();
    sandbox.run(&["--root", "two", "init", "--store", "@address"]);
    for root in ["two", ".memory"] {
        assert_eq!(
            sandbox.run_json(&["--root", root, "list"])["total"],
            301,
            "{root}"
        );
    }
    assert_eq!(
        sandbox.run_json(&["read", id.as_str().expect("an id")])["content"],
        "The team moves to Ghent"
    );
}
