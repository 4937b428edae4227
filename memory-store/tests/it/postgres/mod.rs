//! Memories, sessions and values in a database, on a real server started by the tests and through a pooler.

mod access;
mod backups;
mod cluster;
mod conversations;
mod damaged_files;
mod equal_search;
mod errors;
mod failover;
mod folders;
mod idempotence;
mod ingestion;
mod listener;
mod lost_responses;
mod migrations;
mod node_kills;
mod pages;
mod pooler;
mod privileges;
mod proxy;
mod random_operations;
mod replicas;
mod restart;
mod server;
mod suites;
mod tls;
mod undos;
mod writers;

use std::sync::Arc;
use std::time::Duration;

use memory_store::postgres::{Database, DatabaseLimits};

use server::PostgresServer;

/// Creates and opens a database, and returns it with its name.
fn open(server: &PostgresServer) -> (Arc<Database>, String) {
    let name = server.database();
    (reopen(server, &name), name)
}

/// Opens a database.
fn reopen(server: &PostgresServer, name: &str) -> Arc<Database> {
    Arc::new(Database::new(&server.address(name), patient_limits()).unwrap())
}

/// Returns limits that allow a slow restart and a slow connect, as on a machine that is busy with other tests.
fn patient_limits() -> DatabaseLimits {
    let long = Duration::from_secs(20);
    DatabaseLimits {
        connect: long,
        restart: long,
        ..DatabaseLimits::default()
    }
}
