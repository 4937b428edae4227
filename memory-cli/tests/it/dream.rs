//! `memory dream`, `memory decay`, `memory consolidate`

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_dream_says_first_what_it_would_do_and_then_what_it_did() {
    let sandbox = Sandbox::new();
    sandbox.write("The staging server runs PostgreSQL 16 on port 5433.", &[]);
    sandbox.write("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.", &[]);
    sandbox.write("tbd", &[]);
    assert_snapshot!(sandbox.run(&["dream", "--level", "2", "--dry-run"]), @"
    =	[id2]		The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    -	[id1]	becomes part of [id2]	The staging server runs PostgreSQL 16 on port 5433.
    --- stderr
    this was a dry run; nothing was written: 1 merged into others
    1 left in the inbox, since nothing says surely enough what it is about
    ");
    assert_snapshot!(sandbox.run(&["dream", "--level", "2"]), @"
    ~	[id2]	project (1.00)	The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    =	[id2]		The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    -	[id1]	becomes part of [id2]	The staging server runs PostgreSQL 16 on port 5433.
    --- stderr
    1 filed, 1 merged into others
    1 left in the inbox, since nothing says surely enough what it is about
    `memory undo [op1]` takes it back
    ");
    assert_snapshot!(sandbox.run(&["dream", "--level", "2"]), @"
    --- stderr
    there is nothing to tidy
    1 left in the inbox, since nothing says surely enough what it is about
    ");
    assert_snapshot!(sandbox.run(&["dream", "--level", "4"]), @"
    --- stderr
    error[usage]: invalid value '4' for '--level <LEVEL>': 4 is not in 1..=3

    For more information, try '--help'.
    --- exit 2
    ");
}

#[test]
fn in_json_a_dream_names_every_memory() {
    let sandbox = Sandbox::new();
    let short = sandbox.write("user prefers dark mode in every editor", &[]);
    let long = sandbox.write("user prefers dark mode in every editor. And large letters, too.", &[]);
    let other = sandbox.write("Decision: we use Postgres instead of MySQL because of JSONB", &[]);
    let answer = sandbox.json(&["dream", "--level", "2"]);
    assert_eq!(answer["merged"][0]["kept"], long);
    assert_eq!(answer["merged"][0]["gone"][0], short);
    let filed: Vec<_> =
        answer["filed"].as_array().expect("it works").iter().map(|filed| (&filed["id"], &filed["category"])).collect();
    assert!(filed.iter().any(|(id, category)| **id == other && **category == "decisions"), "{answer}");
    assert!(answer["operation"].is_string() && answer["dry_run"] == false);
    let again = sandbox.json(&["dream", "--level", "2"]);
    assert!(again["operation"].is_null() && again["merged"].as_array().expect("it works").is_empty());
}

#[test]
fn fresh_memories_neither_decay_nor_expire() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["decay"]), @"
    --- stderr
    there is nothing to tidy
    ");
    assert_snapshot!(sandbox.run(&["consolidate", "--dry-run"]), @"
    --- stderr
    there is nothing to tidy
    ");
}
