//! Sessions and values in a database, on a real server started by the tests and through a pooler.

mod errors;
mod idempotence;
mod migrations;
mod pages;
mod pooler;
mod proxy;
mod restart;
mod server;
mod suites;
mod tls;
mod writers;

use std::sync::Arc;
use std::time::Duration;

use memory_store::postgres::{Database, Limits};

use server::Server;

/// Creates and opens a database, and returns it with its name.
fn open(server: &Server) -> (Arc<Database>, String) {
    let name = server.database();
    (reopen(server, &name), name)
}

/// Opens a database.
fn reopen(server: &Server, name: &str) -> Arc<Database> {
    Arc::new(Database::at(&server.address(name), patient()).unwrap())
}

/// Returns limits that allow a slow restart, as on a machine that is busy with other tests.
fn patient() -> Limits {
    Limits { restart: Duration::from_secs(20), ..Limits::default() }
}
