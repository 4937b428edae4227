//! Soak test of memories in a Postgres database: `cluster SECONDS`.
//!
//! It starts a server and four node processes with four writers each in temporary folders. For `SECONDS`, it kills a random node after each
//! 200 acknowledged writes, and the server once. Then it checks that no acknowledged write is lost or applied twice and that the replicas
//! of all nodes equal a new one, and prints the figures.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[path = "../memory-store/tests/it/postgres/cluster.rs"]
#[expect(
    clippy::unwrap_used,
    reason = "a helper of a test that cannot go on is a failed test"
)]
mod cluster;
#[path = "../memory-store/tests/it/postgres/server.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "it is a file of the tests, of which a part is used here"
)]
mod server;

use cluster::{Cluster, NODES, run_node};
use server::PostgresServer;

/// Number of acknowledged writes between two kills of nodes.
const INTERVAL: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [seconds] => run(Duration::from_secs(seconds.parse()?)),
        ["node", address, folder, name, counter] => {
            run_node(address, Path::new(folder), name, counter);
            Ok(())
        }
        _ => Err("usage: cluster SECONDS".into()),
    }
}

fn run(time: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let server = PostgresServer::start().ok_or("there is no initdb")?;
    let (folder, program) = (tempfile::tempdir()?, env::current_exe()?);
    let command = |arguments: [&str; 4]| {
        let mut command = Command::new(&program);
        command.arg("node").args(arguments);
        command
    };
    let mut cluster = Cluster::start(&server, folder.path(), &command);
    let mut figures = cluster.run(
        INTERVAL,
        |_, elapsed| time / 2 <= elapsed,
        |_, elapsed| time <= elapsed,
    );
    cluster.check(&mut figures);
    println!(
        "| nodes | acknowledged | per second | kills | outage | operations | applied without acknowledgement |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    #[expect(
        clippy::cast_precision_loss,
        reason = "so many are not counted exactly"
    )]
    let rate = figures.acknowledged as f64 / figures.elapsed.as_secs_f64();
    println!(
        "| {NODES} | {} | {rate:.0} | {} | {:.1} s | {} | {} |",
        figures.acknowledged,
        figures.kills,
        figures.outage.as_secs_f64(),
        figures.operations,
        figures.unconfirmed
    );
    Ok(())
}
