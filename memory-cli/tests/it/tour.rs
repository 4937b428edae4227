//! Tests of `memory tour`.

use std::process::Stdio;

use memory_core::testing::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::Sandbox;
use crate::terminal::run_with_typed_input;

#[test]
fn the_tour_plays_to_its_end_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let output = Sandbox::finish(sandbox.command(&["tour"]), "");
    let shown = String::from_utf8(output.stdout).expect("text");
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(0), ""),
        "{shown}"
    );
    let commands: Vec<_> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    let verbs: Vec<_> = commands
        .iter()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let wanted = [
        "import", "write", "link", "search", "search", "search", "agent", "why", "remind",
        "remind", "bank", "bank", "bank", "tidy", "inbox", "", "delete", "undo", "log",
    ];
    assert!(
        verbs
            .iter()
            .zip(wanted)
            .all(|(verb, wanted)| wanted.is_empty() || *verb == format!("memory {wanted}")),
        "{verbs:?}"
    );
    assert!(
        verbs[15].starts_with("cat ~/.memory/categories/"),
        "{verbs:?}"
    );
    assert!(
        !shown.contains(&std::env::temp_dir().display().to_string()),
        "{shown}"
    );
    let next: Vec<_> = shown
        .lines()
        .rev()
        .take(4)
        .map(|line| line[..16].trim())
        .collect();
    assert_eq!(
        next,
        ["memory why", "memory inbox", "memory ui", "memory install"]
    );
    let snippets: Vec<_> = shown
        .lines()
        .filter(|line| line.starts_with("          "))
        .collect();
    assert!(
        !snippets.is_empty() && snippets.iter().all(|line| line.chars().count() <= 100),
        "{snippets:#?}"
    );
    assert_eq!(
        std::fs::read_dir(sandbox.path(""))
            .expect("a folder")
            .count(),
        0,
        "nothing was left in the home"
    );
}

#[cfg(unix)]
#[test]
fn a_signal_within_a_step_deletes_the_temporary_home() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.path("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let home = || {
        let mut entries = std::fs::read_dir(&temporary).expect("a folder");
        entries.next().map(|entry| entry.expect("an entry").path())
    };
    let mut tour = sandbox.command(&["tour"]);
    let mut tour = tour
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    wait_until("the import writes memories", || {
        home().is_some_and(|home| home.join(".memory/journal").exists())
    });
    let pid = Pid::from_child(&tour);
    kill_process(pid, Signal::TERM).expect("it runs");
    assert!(!tour.wait().expect("it ends").success());
    assert_eq!(home(), None);
}

#[test]
fn the_tour_can_leave_its_home_for_trying_out() {
    let sandbox = Sandbox::new();
    let answer = sandbox.run_json(&["tour", "--keep", "kept"]);
    assert_eq!(answer["steps"].as_array().map(Vec::len), Some(19));
    let home = answer["home"].as_str().expect("a home").to_owned();
    let found = sandbox.run_json(&["search", "茶", "--root", &home]);
    assert_ne!(found["total"], 0);
    assert!(
        sandbox
            .run(&["tour", "--keep", "kept"])
            .ends_with("--- exit 2\n")
    );
}

#[test]
fn the_people_in_the_tour_are_filed_as_people() {
    let sandbox = Sandbox::new();
    let answer = sandbox.run_json(&["tour", "--keep", "kept"]);
    let home = answer["home"].as_str().expect("a home");
    for category in ["people", "skills"] {
        let filter = [
            "list",
            "--category",
            category,
            "--source",
            "obsidian",
            "--root",
            home,
        ];
        let filed = sandbox.run_json(&filter);
        let titles: Vec<_> = filed["memories"]
            .as_array()
            .expect("memories")
            .iter()
            .filter_map(|memory| memory["title"].as_str())
            .collect();
        let people = ["Ingrid", "Mei", "Noor", "Tomas", "小宇", "爸爸"];
        let named = people.iter().filter(|name| titles.contains(name)).count();
        let expected = if category == "people" {
            people.len()
        } else {
            0
        };
        assert_eq!(named, expected, "{category}: {titles:?}");
    }
}

#[test]
fn at_a_terminal_a_key_continues_the_tour_and_q_leaves_it() {
    let sandbox = Sandbox::new();
    let Some(shown) = run_with_typed_input(&sandbox, "tour --color never", " q") else {
        return;
    };
    assert!(
        shown.contains("$ memory write") && !shown.contains("$ memory link"),
        "{shown}"
    );
    assert!(shown.contains("memory install  connects"), "{shown}");
    let fast = run_with_typed_input(&sandbox, "tour --fast --color never", "").expect("a terminal");
    assert!(
        fast.contains("$ memory log") && !fast.contains("any key"),
        "{fast}"
    );
}
