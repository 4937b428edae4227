//! Changes of one field of an item, for each kind of source.

use std::sync::Arc;

use memory_core::testing::services;
use memory_core::{Filter, IngestOptions, MemStore, Memory, StoredMemory, ingest};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{IngestSandbox, moment};

/// Ingests a file, then its new text, and the new text again. Returns the only memory after the first two.
fn ingest_change(name: SourceName, path: &str, [before, after]: [&str; 2]) -> [StoredMemory; 2] {
    let folder = IngestSandbox::new(&[(path, before)]);
    let home = services(Arc::new(MemStore::default()));
    let run = || {
        let place = if matches!(
            name,
            SourceName::Jsonl | SourceName::Csv | SourceName::Mem0 | SourceName::ServerMemory
        ) {
            folder.path().join(path)
        } else {
            folder.path()
        };
        let source = open(name, &place, &SourceOptions::default()).expect("the source is there");
        let report = ingest(
            &home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        )
        .expect("the store does not fail");
        (
            report.new,
            report.updated,
            report.unchanged,
            report.skipped.len(),
        )
    };
    let only = || {
        let mut all = home
            .store
            .memories(&Filter::all(), home.clock.now())
            .map(|stored| stored.expect("it can be read"));
        all.next().expect("a memory")
    };
    assert_eq!(run(), (1, 0, 0, 0), "{name:?}");
    let first = only();
    folder.write(path, after.as_bytes());
    assert_eq!(run(), (0, 1, 0, 0), "{name:?}");
    assert_eq!(run(), (0, 0, 1, 0), "{name:?}");
    [first, only()]
}

#[test]
fn a_change_of_the_expiry_arrives() {
    let [before, after] = ["2031-01-01T00:00:00Z", "2032-01-01T00:00:00Z"];
    let okf = |at| format!("---\ntype: Metric\ntitle: Revenue\nstale_after: {at}\n---\ntext\n");
    let mem0 = |at| {
        format!(
            r#"{{"results":[{{"id":"1","memory":"likes tea","user_id":"ada","created_at":"2024-01-01T00:00:00Z","expiration_date":"{at}"}}]}}"#
        )
    };
    let jsonl = |at| format!("{{\"content\":\"likes tea\",\"expires\":\"{at}\"}}\n");
    let cases = [
        (SourceName::Okf, "metric.md", [okf(before), okf(after)]),
        (SourceName::Mem0, "all.json", [mem0(before), mem0(after)]),
        (
            SourceName::Jsonl,
            "all.jsonl",
            [jsonl(before), jsonl(after)],
        ),
    ];
    for (name, path, texts) in &cases {
        let expiry = ingest_change(*name, path, [&texts[0], &texts[1]])
            .map(|stored| stored.memory.expires_at);
        assert_eq!(
            expiry,
            [before, after].map(|at| Some(moment(at))),
            "{name:?}"
        );
    }
}

#[test]
fn a_change_of_a_property_arrives() {
    let note = |value| format!("---\nmood: {value}\n---\ntext\n");
    let basic =
        |value| format!("---\ntitle: Tea\ntype: note\npermalink: tea\nmood: {value}\n---\ntext\n");
    let jsonl = |value| format!("{{\"content\":\"likes tea\",\"mood\":\"{value}\"}}\n");
    let csv = |value| format!("content,mood\nlikes tea,{value}\n");
    let cases = [
        (SourceName::Markdown, "tea.md", [note("fine"), note("glad")]),
        (SourceName::Obsidian, "tea.md", [note("fine"), note("glad")]),
        (
            SourceName::BasicMemory,
            "tea.md",
            [basic("fine"), basic("glad")],
        ),
        (
            SourceName::Jsonl,
            "all.jsonl",
            [jsonl("fine"), jsonl("glad")],
        ),
        (SourceName::Csv, "all.csv", [csv("fine"), csv("glad")]),
    ];
    for (name, path, texts) in &cases {
        let moods = ingest_change(*name, path, [&texts[0], &texts[1]]).map(|stored| {
            let mood = stored
                .other_fields
                .into_iter()
                .find(|(key, _)| key.ends_with("mood"));
            mood.map(|(_, value)| value.trim_matches('"').to_owned())
        });
        assert_eq!(
            moods,
            ["fine", "glad"].map(|mood| Some(mood.to_owned())),
            "{name:?}"
        );
    }
}

#[test]
fn a_removed_tag_a_pin_and_the_time_of_the_change_arrive() {
    let keep = |labels: &str, pinned: bool, at: u64| {
        format!(
            r#"{{"title":"Tea","textContent":"leaves","labels":[{labels}],"isPinned":{pinned},"isTrashed":false,"isArchived":false,"createdTimestampUsec":1700000000000000,"userEditedTimestampUsec":{at}}}"#
        )
    };
    let texts = [
        keep(r#"{"name":"a"},{"name":"b"}"#, false, 1_700_000_000_000_000),
        keep(r#"{"name":"b"}"#, true, 1_800_000_000_000_000),
    ];
    let [before, after] = ingest_change(
        SourceName::Keep,
        "Takeout/Keep/Tea.json",
        [&texts[0], &texts[1]],
    )
    .map(|stored| stored.memory);
    assert_eq!(
        (before.tags.as_slice(), after.tags.as_slice()),
        (&["a".to_owned(), "b".to_owned()][..], &["b".to_owned()][..])
    );
    assert_eq!((before.pinned, after.pinned), (false, true));
    let times = |memory: &Memory| (memory.created_at.timestamp(), memory.updated_at.timestamp());
    assert_eq!(
        (times(&before), times(&after)),
        (
            (1_700_000_000, 1_700_000_000),
            (1_700_000_000, 1_800_000_000)
        )
    );
}

#[test]
fn a_source_with_only_the_time_of_the_change_invents_no_creation() {
    let [early, late] = [1_500_000_000, 1_600_000_000];
    let [early_day, late_day] = ["2017-07-14T02:40:00Z", "2020-09-13T12:26:40Z"];
    let keep = |at: i64| {
        format!(
            r#"{{"title":"Tea","textContent":"leaves","isTrashed":false,"isArchived":false,"userEditedTimestampUsec":{at}000000}}"#
        )
    };
    let mem0 = |at| {
        format!(
            r#"{{"results":[{{"id":"1","memory":"likes tea","user_id":"ada","updated_at":"{at}"}}]}}"#
        )
    };
    let enex = |at: &str| {
        let at = at.replace(['-', ':'], "");
        format!(
            "<?xml version=\"1.0\"?>\n<en-export><note><title>Tea</title><updated>{at}</updated><content><![CDATA[<en-note>leaves</en-note>]]></content></note></en-export>\n"
        )
    };
    let jsonl = |at| format!("{{\"content\":\"likes tea\",\"updated\":\"{at}\"}}\n");
    let csv = |at| format!("content,updated\nlikes tea,{at}\n");
    let notion = |at: &str| format!("# Tea\n\nLast edited: {at}\n\nleaves\n");
    let markdown = |at: &str| format!("---\ntype: note\nmodified: {at}\n---\nleaves\n");
    let page = "Tea 0123456789abcdef0123456789abcdef.md";
    let cases = [
        (
            SourceName::Keep,
            "Takeout/Keep/Tea.json",
            [keep(early), keep(late)],
        ),
        (
            SourceName::Mem0,
            "all.json",
            [mem0(early_day), mem0(late_day)],
        ),
        (
            SourceName::Evernote,
            "Tea.enex",
            [enex(early_day), enex(late_day)],
        ),
        (
            SourceName::Jsonl,
            "all.jsonl",
            [jsonl(early_day), jsonl(late_day)],
        ),
        (SourceName::Csv, "all.csv", [csv(early_day), csv(late_day)]),
        (
            SourceName::Markdown,
            "Tea.md",
            [markdown(early_day), markdown(late_day)],
        ),
        (
            SourceName::Obsidian,
            "Tea.md",
            [markdown(early_day), markdown(late_day)],
        ),
        (
            SourceName::BasicMemory,
            "Tea.md",
            [markdown(early_day), markdown(late_day)],
        ),
        (
            SourceName::Okf,
            "Tea.md",
            [markdown(early_day), markdown(late_day)],
        ),
        (
            SourceName::Notion,
            page,
            [
                notion("July 14, 2017 2:40 AM"),
                notion("September 13, 2020 12:26 PM"),
            ],
        ),
    ];
    for (name, path, texts) in &cases {
        let folder = IngestSandbox::new(&[(path, &texts[0])]);
        let home = services(Arc::new(MemStore::default()));
        let mut times = Vec::new();
        for text in texts {
            folder.write(path, text.as_bytes());
            let is_file = matches!(name, SourceName::Jsonl | SourceName::Csv | SourceName::Mem0);
            let place = if is_file {
                folder.path().join(path)
            } else {
                folder.path()
            };
            let source =
                open(*name, &place, &SourceOptions::default()).expect("the source is there");
            ingest(
                &home,
                source.as_ref(),
                &IngestOptions::default(),
                &mut |_| {},
            )
            .expect("the store does not fail");
            let all = home
                .store
                .memories(&Filter::all(), home.clock.now())
                .map(|stored| stored.expect("it can be read").memory);
            times.extend(all.map(|memory| {
                (
                    memory.created_at.timestamp() / 60,
                    memory.updated_at.timestamp() / 60,
                )
            }));
        }
        // The time identifies a note of Keep, Evernote.
        assert_eq!(times[0], (early / 60, early / 60), "{name:?}");
        assert!(
            times.iter().all(|(created, updated)| created <= updated),
            "{name:?} {times:?}"
        );
        if times.len() == 2 {
            assert_eq!(times[1], (early / 60, late / 60), "{name:?}");
        }
    }
}
