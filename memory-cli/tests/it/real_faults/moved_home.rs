//! Tests of a home that is moved while a daemon runs.
//!
//! Nothing is lost or created at the old path, and the daemon works at the new path.

use std::fs;

use super::shapes::{SHAPES, assert_healthy, name, query_item as run};
use crate::daemon::{Daemon, connect, send_request, try_request};
use crate::sandbox::Sandbox;

#[test]
fn a_home_that_moves_under_a_daemon_takes_everything_along() {
    let home = Sandbox::new();
    for shape in &SHAPES {
        assert!(
            shape.write(&home, &name(1, 0)).status.success(),
            "{}",
            shape.name
        );
    }
    let mut daemon = Daemon::start(&home);
    let mut before = connect(&home);
    let write = |number| {
        format!(
            r#"{{"id":1,"method":"memory_write","params":{{"content":"{}"}}}}"#,
            name(2, number)
        )
    };
    assert!(!send_request(&mut before, &write(0)).contains("error"));

    fs::rename(home.path(".memory"), home.path("elsewhere")).expect("it moves");
    // The daemon may have noticed it already.
    let answer = try_request(&mut before, &write(1)).unwrap_or_default();
    daemon.wait_for_log("was moved, and");
    assert!(
        !daemon.wait_for_exit().success(),
        "whoever looks after a home that is gone looks after nothing"
    );
    let old: Vec<_> = fs::read_dir(home.path(".memory"))
        .into_iter()
        .flatten()
        .collect();
    assert!(old.is_empty(), "{old:?} was made at the old place");

    let listed = run(&home, &["--root", "elsewhere", "export"]);
    assert!(listed.contains(&name(1, 0)) && listed.contains(&name(2, 0)));
    let is_there = listed.contains(&name(2, 1));
    assert!(
        answer.is_empty() || answer.contains("error") != is_there,
        "{answer}"
    );
    fs::rename(home.path("elsewhere"), home.path(".memory")).expect("it moves");
    for shape in &SHAPES {
        assert!(
            shape.write(&home, &name(3, 0)).status.success(),
            "{}",
            shape.name
        );
        assert!(shape.names(&home).contains(&name(1, 0)), "{}", shape.name);
    }
    assert_healthy(&home);
}
