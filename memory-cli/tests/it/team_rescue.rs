//! Tests of what a restored, lost or edited copy of a shared database keeps.

use crate::postgres_server::{PostgresServer, report_skipped, shared_server};
use crate::sandbox::Sandbox;

#[test]
fn an_edit_by_hand_that_was_set_aside_is_named() {
    let Some(server) = shared_server("an edit by hand") else {
        return;
    };
    let (sandbox, database) = (Sandbox::new(), server.database());
    sandbox.file("address", &server.url("postgres", &database, ""));
    sandbox.run_shell(
        "for home in one two; do memory --root $home init --store @address --name $home; done",
    );
    sandbox.run_shell(
        "memory --root one write 'Anchors are red' --category project > written
         sed -i s/red$/blue/ one/$(cut -f2 written)
         memory --root two edit $(cut -f1 written) --content 'Anchors are grey'",
    );
    assert!(
        sandbox
            .run_shell("memory --root one list")
            .contains("Anchors are grey")
    );
    let status = sandbox.run_shell("memory --root one status");
    assert!(status.contains("set aside in unsynced/"), "{status}");
    let found = sandbox.run_shell("memory --root one doctor");
    assert!(found.contains("set_aside\tunsynced/"), "{found}");
}

#[test]
fn what_a_restored_database_lacks_replaces_nothing_that_others_did_since() {
    let Some(server) = PostgresServer::start() else {
        return report_skipped("a restored database", "there is no initdb");
    };
    let sandbox = Sandbox::new();
    server.sql("postgres", "CREATE DATABASE memories");
    sandbox.file("address", &server.url("postgres", "memories", ""));
    sandbox.file("restored", &server.url("postgres", "restored", ""));
    let run = |script: &str| {
        let shown = sandbox.run_shell(&format!("set -e; {script}"));
        assert!(!shown.contains("--- exit"), "{script}: {shown}");
        shown
    };
    run(
        "for home in one two; do memory --root $home init --store @address --name $home; done
         for text in changed deleted outdated; do memory --root one write \"This is $text\" --category project | cut -f1 > $text; done
         memory --root two list
         pg_dump --format custom --file dump \"$(cat address)\"
         for text in changed deleted outdated; do memory --root one edit $(cat $text) --content \"One $text\"; done
         memory --root one write 'One new' --category project
         memory --root one write 'One of an agent' --scope agent:helper",
    );
    server.sql("postgres", "CREATE DATABASE restored");
    run("pg_restore --dbname \"$(cat restored)\" dump");
    server.sql("postgres", "DROP DATABASE memories WITH (FORCE)");
    run("memory --root two init --store @restored --replace-replica
         memory --root two edit $(cat changed) --content 'Two changed'
         memory --root two delete $(cat deleted)");
    let joined = run("memory --root one init --store @restored --replace-replica");
    assert!(
        joined.contains("2 memories that the database lacked")
            && joined.contains("files in ~/one/unsynced are not in the database"),
        "{joined}"
    );
    for home in ["one", "two"] {
        let list = run(&format!("memory --root {home} list"));
        for text in ["Two changed", "One outdated", "One new"] {
            assert!(list.contains(text), "{text}: {list}");
        }
        assert_eq!(
            list.lines().filter(|line| line.contains('\t')).count(),
            3,
            "{list}"
        );
    }
    let found = sandbox.run_shell("memory --root one doctor");
    assert!(found.matches("set_aside\t").count() >= 3, "{found}");
}

#[test]
fn the_runbooks_work_as_written() {
    let Some(server) = PostgresServer::start() else {
        return report_skipped("the runbooks", "there is no initdb");
    };
    let page = include_str!("../../../docs/src/team-runbooks.md");
    let blocks: Vec<_> = page.split("```sh\n").skip(1).collect();
    let blocks = blocks
        .iter()
        .map(|rest| rest.split("```").next().expect("a block"));
    let [dump, restore, join, password, address, token, renew, lost] =
        blocks.collect::<Vec<_>>()[..]
    else {
        panic!("the page has other commands");
    };
    server.sql(
        "postgres",
        "CREATE ROLE memory LOGIN; CREATE ROLE memory_node LOGIN",
    );
    server.sql("postgres", "CREATE DATABASE memories OWNER memory");
    let sandbox = Sandbox::new();
    for (file, user, database) in [
        ("admin", "postgres", "postgres"),
        ("owner", "memory", "memories"),
        ("node", "memory_node", "memories"),
        ("restored", "memory", "restored"),
        ("restored-node", "memory_node", "restored"),
        ("new", "memory", "new"),
    ] {
        sandbox.file(&format!("{file}.address"), &server.url(user, database, ""));
    }
    let run = |script: &str| {
        let shown = sandbox.run_shell(&format!("set -e; {script}"));
        assert!(!shown.contains("--- exit"), "{script}: {shown}");
        shown
    };
    run(
        "memory --root .memory-owner init --store @owner.address --name owner
         memory --root .memory-owner principal add ada --team web > ada.token
         memory init --store @node.address --token @ada.token
         memory write 'Anchors are red' | cut -f1 > id
         memory write 'Buoys are green' --scope team:web",
    );
    run(dump);
    run("memory write 'Chains are grey' --scope team:web --tags iron
         memory edit $(cat id) --content 'Anchors are black'");
    let before = run("memory list");
    server.sql("postgres", "DROP DATABASE memories WITH (FORCE)");
    run(restore);
    run(join);
    assert_eq!(run("memory list"), before);
    assert_eq!(run("memory --root .memory-owner list"), before);
    run("cp restored-node.address node.address");
    for block in [password, address, token, renew] {
        run(block);
    }
    run("memory write 'Davits are blue'; memory --root .memory-owner search davits");
    let before = run("memory --root .memory-owner list");
    server.sql("postgres", "DROP DATABASE restored WITH (FORCE)");
    run(lost);
    assert_eq!(run("memory --root .memory-new list"), before);
    run(
        "memory --root new init --store @new.address --token @ada.token --name ada; memory --root new search anchors",
    );
}
