//! Killed nodes and a killed server lose no acknowledged write.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::cluster::{Cluster, run_node};
use super::server::{PostgresServer, report_skipped};

/// Environment variables with the arguments of a node.
const ARGUMENTS: [&str; 4] = [
    "MEMORY_TEST_NODE_ADDRESS",
    "MEMORY_TEST_NODE_FOLDER",
    "MEMORY_TEST_NODE_NAME",
    "MEMORY_TEST_NODE_COUNTER",
];

/// Numbers of acknowledged writes: between two kills of nodes, before the kill of the server, and in all.
const INTERVAL: usize = 25;
const HALF: usize = 80;
const ALL: usize = 160;

/// A node process. The test below starts it and kills it.
#[test]
fn a_node_writes_until_its_input_ends() {
    let arguments = ARGUMENTS.map(|name| std::env::var(name).unwrap_or_default());
    let [address, folder, name, counter] = arguments.each_ref().map(String::as_str);
    if !address.is_empty() {
        run_node(address, Path::new(folder), name, counter);
    }
}

#[test]
fn sixteen_writers_on_four_killed_nodes_lose_nothing_although_the_server_is_killed_too() {
    let claim = "killed nodes and a killed server";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let folder = TempDir::new().unwrap();
    let command = |arguments: [&str; 4]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "postgres::node_kills::a_node_writes_until_its_input_ends",
                "--nocapture",
            ])
            .stderr(Stdio::null());
        command.envs(ARGUMENTS.into_iter().zip(arguments));
        command
    };
    let mut cluster = Cluster::start(&server, folder.path(), &command);
    let mut figures = cluster.run(INTERVAL, |count, _| HALF <= count, |count, _| ALL <= count);
    cluster.check(&mut figures);
    assert!(
        ALL <= figures.operations && ALL / INTERVAL <= figures.kills,
        "{figures:?}"
    );
}
