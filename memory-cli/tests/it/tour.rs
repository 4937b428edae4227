//! Tests of `memory tour`.

use crate::sandbox::Sandbox;

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
        "import", "write", "link", "search", "search", "search", "agent", "remind", "remind",
        "bank", "bank", "bank", "tidy", "", "delete", "undo", "log",
    ];
    assert!(
        verbs
            .iter()
            .zip(wanted)
            .all(|(verb, wanted)| wanted.is_empty() || *verb == format!("memory {wanted}")),
        "{verbs:?}"
    );
    assert!(
        verbs[13].starts_with("cat ~/.memory/categories/"),
        "{verbs:?}"
    );
    assert!(
        !shown.contains(&std::env::temp_dir().display().to_string()),
        "{shown}"
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

#[test]
fn the_tour_can_leave_its_home_for_trying_out() {
    let sandbox = Sandbox::new();
    let answer = sandbox.run_json(&["tour", "--keep", "kept"]);
    assert_eq!(answer["steps"].as_array().map(Vec::len), Some(17));
    let home = answer["home"].as_str().expect("a home").to_owned();
    let found = sandbox.run_json(&["search", "茶", "--root", &home]);
    assert_ne!(found["total"], 0);
    assert!(
        sandbox
            .run(&["tour", "--keep", "kept"])
            .ends_with("--- exit 2\n")
    );
}
