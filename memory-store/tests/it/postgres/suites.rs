//! The Postgres driver passes the suites of the traits, directly and through a pooler.

use std::sync::Arc;
use std::thread;

use memory_core::SecretPolicy;
use memory_core::instance::history::{RecordDraft, RecordFilter, Window, append, read};
use memory_core::instance::kv::{get, set};
use memory_core::testing::{
    key_value_suite, key_value_undo_suite, message_suite, message_undo_suite, messages, values,
};
use memory_store::postgres::{PostgresMessages, PostgresValues};

use super::pooler::Pooler;
use super::server::shared_server;

#[test]
fn a_database_keeps_the_promises_of_sessions() {
    let Some(server) = shared_server("the promises of sessions") else {
        return;
    };
    message_suite(&|| Arc::new(PostgresMessages::new(super::open(server).0)));
    message_undo_suite(&|| Arc::new(PostgresMessages::new(super::open(server).0)));
}

#[test]
fn a_database_keeps_the_promises_of_values() {
    let Some(server) = shared_server("the promises of values") else {
        return;
    };
    key_value_suite(&|| Arc::new(PostgresValues::new(super::open(server).0)));
    key_value_undo_suite(&|| Arc::new(PostgresValues::new(super::open(server).0)));
}

#[test]
fn a_database_behind_a_pooler_keeps_the_promises_of_both() {
    let claim = "the promises of both behind a pooler";
    let Some(server) = shared_server(claim) else {
        return;
    };
    let Some(pooler) = Pooler::start(server, claim) else {
        return;
    };
    message_suite(&|| Arc::new(PostgresMessages::new(pooler.open(&server.database()))));
    message_undo_suite(&|| Arc::new(PostgresMessages::new(pooler.open(&server.database()))));
    key_value_suite(&|| Arc::new(PostgresValues::new(pooler.open(&server.database()))));
    key_value_undo_suite(&|| Arc::new(PostgresValues::new(pooler.open(&server.database()))));
}

#[test]
fn sixteen_at_once_share_two_connections_of_a_pooler() {
    let claim = "sharing the connections of a pooler";
    let Some(server) = shared_server(claim) else {
        return;
    };
    let Some(pooler) = Pooler::start(server, claim) else {
        return;
    };
    let name = server.database();
    let all: Vec<_> = (0..2).map(|_| pooler.open(&name)).collect();
    thread::scope(|scope| {
        for number in 0..16 {
            let database = Arc::clone(&all[number % 2]);
            scope.spawn(move || {
                let store = messages(Arc::new(PostgresMessages::new(database))).0;
                let session = format!("s{number}").parse().unwrap();
                for count in 0..20 {
                    let draft = RecordDraft::from_text("user".parse().unwrap(), &count.to_string());
                    append(&store, &session, &draft, SecretPolicy::Refuse).unwrap();
                    let reading = read(
                        &store,
                        &session,
                        &RecordFilter::default(),
                        Window::default(),
                    )
                    .unwrap();
                    assert_eq!(reading.records.len(), count + 1);
                }
            });
        }
    });
}

#[test]
fn both_are_used_and_let_go_of_within_tasks_and_beside_them() {
    let Some(server) = shared_server("use within tasks") else {
        return;
    };
    let name = server.database();
    let use_both = |database: Arc<_>| {
        let all = messages(Arc::new(PostgresMessages::new(Arc::clone(&database)))).0;
        append(
            &all,
            &"s".parse().unwrap(),
            &RecordDraft::from_text("user".parse().unwrap(), "hi"),
            SecretPolicy::Refuse,
        )
        .unwrap();
        let keys = values(Arc::new(PostgresValues::new(database)));
        set(&keys, &"a".parse().unwrap(), "1", SecretPolicy::Refuse).unwrap();
        assert_eq!(get(&keys, &"a".parse().unwrap()).unwrap().text, "1");
    };
    for build in [
        tokio::runtime::Builder::new_current_thread,
        tokio::runtime::Builder::new_multi_thread,
    ] {
        let runtime = build().enable_all().build().unwrap();
        runtime.block_on(async {
            use_both(super::reopen(server, &name));
            let database = super::reopen(server, &name);
            tokio::task::spawn_blocking(move || use_both(database))
                .await
                .unwrap();
            let database = super::reopen(server, &name);
            tokio::spawn(async move { use_both(database) })
                .await
                .unwrap();
        });
    }
}
