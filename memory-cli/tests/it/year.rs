//! A simulated year: memories that are used stay, files of the person are left alone, and each removal has a reason.

use std::fs;
use std::sync::Arc;

use chrono::TimeDelta;
use memory_cli::{Environment, run_silently};
use memory_core::testing::{FakeClock, extent};
use memory_core::{History, MemoryStore, Verb};
use memory_store::{FileStore, FileStoreOptions};

use crate::sandbox::Sandbox;

/// Memories that are delivered for a prompt each number of days, of which none is merged with or replaced by another.
const DELIVERED: [(&str, i64, &[&str]); 8] = [
    (
        "The user prefers green tea in the morning",
        1,
        &["--category", "preferences"],
    ),
    (
        "Compare versions with == in the release script",
        10,
        &["--category", "knowledge"],
    ),
    (
        "Compare versions with != in the release script",
        10,
        &["--category", "knowledge"],
    ),
    (
        "Open the valve before the pump starts",
        20,
        &["--category", "knowledge"],
    ),
    (
        "Start the pump before the valve opens",
        20,
        &["--category", "knowledge"],
    ),
    (
        "The backup of the cellar runs at 4",
        25,
        &["--category", "knowledge"],
    ),
    ("zinnia blue seven", 5, &[]),
    (
        "The user does not eat peanuts",
        15,
        &["--category", "knowledge"],
    ),
];

/// Files that a person copies into the home, with times of years ago.
const COPIED: [&str; 3] = [
    "categories/knowledge/copied.md",
    "categories/recipes/soup.md",
    "categories/loose.md",
];

#[test]
fn what_was_delivered_in_the_last_month_of_a_year_is_in_place() {
    let sandbox = Sandbox::new();
    let clock = Arc::new(FakeClock::default());
    clock.advance(TimeDelta::days(240));
    let environment = Environment::default()
        .with_home(&sandbox.path(""))
        .with_folder(&sandbox.path(""))
        .with_clock(Arc::clone(&clock) as _);
    let run = |arguments: &[&str]| {
        assert!(run_silently(arguments, &environment), "{arguments:?}");
    };
    for (text, _, flags) in DELIVERED {
        run(&[&["write", text], flags].concat());
    }
    run(&[
        "write",
        "The old printer is in the attic",
        "--category",
        "knowledge",
    ]);
    run(&["write", "quartz eleven", "--tags", "x"]);
    let sources = [
        ("obsidian", "vault", "vault/Garden.md"),
        ("markdown", "notes", "notes/Boat.md"),
        ("logseq", "graph", "graph/pages/Cabin.md"),
        ("jsonl", "facts.jsonl", "facts.jsonl"),
        ("csv", "facts.csv", "facts.csv"),
    ];
    for (source, _, file) in sources {
        let text = format!("A note about the {source} lighthouse");
        sandbox.file(
            file,
            &match source {
                "jsonl" => format!("{{\"content\":\"{text}\"}}\n"),
                "csv" => format!("content\n{text}\n"),
                "logseq" => format!("- {text}\n"),
                _ => format!("{text}\n"),
            },
        );
    }
    sandbox.file("graph/logseq/config.edn", "{}");
    let root = sandbox.path(".memory");
    let step = extent(10, 1);
    let mut day = 0;
    while day < 365 {
        for (text, every, _) in DELIVERED {
            if day % every < step {
                run(&["agent", "--prompt", text]);
            }
        }
        if day % 30 < step {
            for (source, path, _) in sources {
                run(&[
                    "ingest",
                    "--source",
                    source,
                    "--path",
                    sandbox.path(path).to_str().expect("text"),
                ]);
            }
        }
        if day == 30 {
            for path in COPIED {
                sandbox.file(&format!(".memory/{path}"), &format!("Copied into {path}\n"));
            }
            sandbox.run_shell("find .memory/categories -name '*.md' -mtime -1 -newer graph/logseq/config.edn -exec touch -d 2019-01-01 {} +");
        }
        if day == 60 {
            sandbox.file(&format!(".memory/{}", COPIED[0]), "Copied and edited\n");
        }
        if day == 90 {
            let renamed = root.join("categories/knowledge/renamed.md");
            fs::rename(root.join(COPIED[0]), renamed).expect("it is renamed");
        }
        if day == 180 {
            fs::remove_dir_all(root.join("index")).expect("the index is lost");
        }
        run(&["consolidate"]);
        if day % 10 < step {
            run(&["dream", "--level", "2"]);
        }
        clock.advance(TimeDelta::days(step));
        day += step;
    }
    let store = FileStore::open(&root, FileStoreOptions::default()).expect("a home");
    store.refresh().expect("it is read");
    let memories: Vec<memory_core::Memory> = store
        .memories(
            &memory_core::Filter::all(),
            memory_core::Clock::now(clock.as_ref()),
        )
        .map(|stored| stored.expect("a memory").memory)
        .collect();
    let texts: Vec<&str> = memories
        .iter()
        .map(|memory| memory.content.as_str())
        .collect();
    let daily = memories
        .iter()
        .find(|memory| memory.content == DELIVERED[0].0);
    let count = daily.expect("it is there").access_count;
    assert!((365 / step).unsigned_abs() <= count, "{count} deliveries");
    let has = |text: &str| texts.iter().any(|own| own.contains(text));
    for (text, ..) in DELIVERED {
        assert!(has(text), "{text}: {texts:#?}");
    }
    for (source, ..) in sources {
        assert!(
            has(&format!("A note about the {source} lighthouse")),
            "{source}: {texts:#?}"
        );
    }
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("the file");
    assert_eq!(
        read("categories/knowledge/renamed.md"),
        "Copied and edited\n"
    );
    for path in &COPIED[1..] {
        assert_eq!(read(path), format!("Copied into {path}\n"));
    }
    // What nobody used is gone, with a reason.
    assert!(!has("old printer") && !has("quartz eleven"), "{texts:#?}");
    let mut removed = 0;
    for change in store.all_changes() {
        let change = change.expect("a change");
        let is_automatic = [Verb::Consolidate, Verb::Dream].contains(&change.operation.verb);
        if is_automatic && change.subject.after.is_none() {
            removed += 1;
            let why = change.subject.why.unwrap_or_default();
            assert!(!why.is_empty(), "{:?}", change.subject.id);
        }
    }
    assert_eq!(removed, 2);
}
