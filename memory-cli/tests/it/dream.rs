//! Tests of `memory tidy`, `memory tidy decay` and `memory tidy consolidate`.

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn files_that_a_person_put_into_the_home_are_neither_moved_nor_removed() {
    let sandbox = Sandbox::new();
    sandbox.write("A note of the program", &["--category", "knowledge"]);
    let text = "The user prefers dark mode in every editor and dislikes light themes\n";
    let places = ["recipes/soup.md", "loose.md", "knowledge/old.md"]
        .map(|path| format!("home/categories/{path}"));
    for path in &places {
        sandbox.file(path, text);
    }
    // The times in a file that was copied say nothing about its age here.
    sandbox.run_shell(
        "sed -i 's/^updated_at: .*/updated_at: 2020-01-01T00:00:00Z/' home/categories/knowledge/a-note*.md && \
         find home/categories -name '*.md' -exec touch -d 2020-01-01 {} +",
    );
    for command in [&["consolidate"][..], &["decay"], &["dream", "--level", "3"]] {
        let done = sandbox.run_json(command);
        for kind in ["filed", "merged", "expired", "decayed"] {
            assert_eq!(done[kind], serde_json::json!([]), "{command:?}: {done}");
        }
    }
    for path in &places {
        assert_eq!(
            fs::read_to_string(sandbox.path(path)).expect("the file"),
            text
        );
    }
}

#[test]
fn a_dream_says_first_what_it_would_do_and_then_what_it_did() {
    let sandbox = Sandbox::new();
    sandbox.write("The staging server runs PostgreSQL 16 on port 5433.", &[]);
    sandbox.write(
        "The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.",
        &[],
    );
    sandbox.write("tbd", &[]);
    assert_snapshot!(sandbox.run(&["dream", "--level", "2", "--dry-run"]), @"
    ~	[id2]	project (1.00)	The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    =	[id2]		The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    -	[id1]	merged into [id2]	The staging server runs PostgreSQL 16 on port 5433.
    --- stderr
    dry run, nothing was written: 1 filed, 1 merged
    1 left in the inbox: category unsure
    ");
    assert_snapshot!(sandbox.run(&["dream", "--level", "2"]), @"
    ~	[id2]	project (1.00)	The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    =	[id2]		The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.
    -	[id1]	merged into [id2]	The staging server runs PostgreSQL 16 on port 5433.
    --- stderr
    1 filed, 1 merged
    1 left in the inbox: category unsure
    `memory undo [op1]` undoes it
    ");
    assert_snapshot!(sandbox.run(&["dream", "--level", "2"]), @"
    --- stderr
    nothing to refine
    1 left in the inbox: category unsure
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
    let long = sandbox.write(
        "user prefers dark mode in every editor. And large letters, too.",
        &[],
    );
    let other = sandbox.write(
        "Decision: we use Postgres instead of MySQL because of JSONB",
        &[],
    );
    let answer = sandbox.run_json(&["dream", "--level", "2"]);
    assert_eq!(answer["merged"][0]["kept"], long);
    assert_eq!(answer["merged"][0]["gone"][0], short);
    let filed: Vec<_> = answer["filed"]
        .as_array()
        .expect("it works")
        .iter()
        .map(|filed| (&filed["id"], &filed["category"]))
        .collect();
    assert!(
        filed
            .iter()
            .any(|(id, category)| **id == other && **category == "decisions"),
        "{answer}"
    );
    assert!(answer["operation"].is_string() && answer["dry_run"] == false);
    let again = sandbox.run_json(&["dream", "--level", "2"]);
    assert!(
        again["operation"].is_null() && again["merged"].as_array().expect("it works").is_empty()
    );
}

#[test]
fn fresh_memories_neither_decay_nor_expire() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["decay"]), @"
    --- stderr
    nothing to refine
    ");
    assert_snapshot!(sandbox.run(&["consolidate", "--dry-run"]), @"
    --- stderr
    nothing to refine
    ");
}

#[test]
fn upgrade_files_a_text_where_a_dream_would() {
    for (text, category) in [
        ("lesson learned: backups must be tested", "lessons"),
        ("教训：备份必须定期测试", "lessons"),
        ("用户习惯在深夜提交代码", "habits"),
        ("We decided to use Postgres", "decisions"),
    ] {
        let sandbox = Sandbox::new();
        let id = sandbox.write(text, &[]);
        let dreamt = sandbox.run_json(&["dream", "--dry-run"]);
        assert_eq!(dreamt["filed"][0]["category"], category, "{text}: {dreamt}");
        assert_eq!(
            sandbox.run_json(&["upgrade", &id])["category"],
            category,
            "{text}"
        );
    }
    let sandbox = Sandbox::new();
    let id = sandbox.write("42", &[]);
    assert_eq!(sandbox.run_json(&["upgrade", &id])["category"], "knowledge");
}

/// Texts that dreams file, merge, link, review or turn into reminders.
///
/// Some texts are changed only as a result of an earlier round.
const TEXTS: [(&str, &[&str]); 16] = [
    ("The staging server runs PostgreSQL 16 on port 5433.", &[]),
    (
        "The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.",
        &[],
    ),
    (
        "The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night, see [[Backups]].",
        &[],
    ),
    (
        "Backups go to the cellar, see [[Staging]].",
        &["--title", "Backups"],
    ),
    ("user prefers dark mode in every editor", &[]),
    (
        "user prefers dark mode in every editor. And large letters, too.",
        &[],
    ),
    (
        "Decision: we use Postgres instead of MySQL because of JSONB",
        &[],
    ),
    ("We no longer use Postgres; we use MySQL.", &[]),
    ("Anna lives in Paris.", &["--category", "people"]),
    (
        "Anna moved from Paris to Lisbon.",
        &["--category", "people"],
    ),
    ("Remind me to call Anna on 2099-03-04 at 3pm.", &[]),
    ("提醒我2099年3月4日下午三点给安娜打电话", &[]),
    ("教训：备份必须定期测试", &[]),
    ("教训：备份必须定期测试。每个月一次。", &[]),
    ("tbd", &[]),
    (
        "see [[nowhere]] and [[Backups]]",
        &["--category", "knowledge"],
    ),
];

#[test]
fn a_dry_run_lists_exactly_what_the_run_then_does() {
    for commands in [
        &[&["dream", "--level", "1"][..]][..],
        &[&["dream", "--level", "2"]],
        &[&["dream", "--level", "3"]],
        &[&["consolidate"]],
        &[
            &["dream", "--level", "1"],
            &["dream", "--level", "2"],
            &["decay"],
            &["dream", "--level", "3"],
            &["dream", "--level", "3"],
        ],
    ] {
        let sandbox = Sandbox::new();
        for (text, flags) in TEXTS {
            sandbox.write(text, flags);
        }
        sandbox.file(
            ".memory/categories/knowledge/by-hand.md",
            "Backups go to the cellar, see [[Staging]].\n",
        );
        sandbox.file(
            ".memory/categories/inbox/old.md",
            "---\nid: 00000001-0000-4000-8000-000000000000\ncreated_at: 2024-05-07T10:00:00Z\nupdated_at: 2024-05-07T10:00:00Z\n---\nold\n",
        );
        for command in commands {
            let before =
                sandbox.run_shell("cd .memory && find categories trash journal -type f 2>/dev/null | sort | xargs cat | cksum");
            let mut said = sandbox.run_json(&[command, &["--dry-run"][..]].concat());
            let after =
                sandbox.run_shell("cd .memory && find categories trash journal -type f 2>/dev/null | sort | xargs cat | cksum");
            assert_eq!(before, after, "{command:?}: a dry run changes nothing");
            let mut done = sandbox.run_json(command);
            for answer in [&mut said, &mut done] {
                let answer = answer.as_object_mut().expect("an object");
                answer.remove("operation");
                answer.remove("dry_run");
            }
            assert_eq!(said, done, "{command:?}");
        }
    }
}

#[test]
fn memories_that_will_be_removed_are_listed_with_day_and_reason() {
    let sandbox = Sandbox::new();
    let brief = sandbox.write("The lift is broken", &["--expires", "3d"]);
    let vague = sandbox.write("blue seven", &[]);
    sandbox.write("The user prefers tea", &["--category", "preferences"]);
    let expiring = |time: &[&str]| {
        let listed = sandbox.run_json(&[&["list", "--expiring"], time].concat());
        let listed = listed["expiring"].as_array().expect("a list").clone();
        let of = |own: &serde_json::Value| {
            (
                own["id"].as_str().map(str::to_owned),
                own["why"].as_str().map(str::to_owned),
            )
        };
        listed.iter().map(of).collect::<Vec<_>>()
    };
    let row = |id: &str, why: &str| (Some(id.to_owned()), Some(why.to_owned()));
    let brief = row(&brief, "its own end");
    assert_eq!(expiring(&["1d"]), []);
    assert_eq!(expiring(&["5d"]), std::slice::from_ref(&brief));
    assert_eq!(
        expiring(&[]),
        [brief, row(&vague, "unchanged in the inbox")]
    );
    assert_eq!(expiring(&["60d"]).len(), 3);
    assert_eq!(sandbox.run_json(&["status"])["expiring"], 1);
    assert!(sandbox.run(&["status"]).contains("1 within 3 days"));
    // A memory that an agent received stays.
    sandbox.run_with_input("{\"prompt\":\"blue seven\"}\n", &["agent"]);
    assert_eq!(expiring(&[]).len(), 1);
}
