//! Sessions and values in a database: a real server, which the tests start, and a real pooler in front of it.

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

/// Opens a database of its own, and returns what it is called.
fn open(server: &Server) -> (Arc<Database>, String) {
    let name = server.database();
    (reopen(server, &name), name)
}

/// Opens a database.
fn reopen(server: &Server, name: &str) -> Arc<Database> {
    Arc::new(Database::at(&server.address(name), patient()).unwrap())
}

/// Returns limits under which a restart may take long, as on a machine that is busy with other tests.
fn patient() -> Limits {
    Limits { restart: Duration::from_secs(20), ..Limits::default() }
}
