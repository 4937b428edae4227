//! The counts by attribute among many matches, which come from sets of the full text.

use std::sync::Arc;

use memory_core::testing::FakeSource;
use memory_core::{
    Draft, IngestOptions, MemStore, NoteItem, Origin, Query, Services, SourceItem, facets, ingest,
};
use memory_store::{FileStore, FileStoreOptions};

use crate::home::TestHome;

/// More than the matches whose rows are read one by one.
const NOTES: usize = 700;

fn source() -> FakeSource {
    let note = |number: usize| {
        let path = format!("{number:04}.md");
        let origin = Origin {
            source: "fake".into(),
            root: "/fake".into(),
            path: path.clone(),
            hash: None,
        };
        let text = if number.is_multiple_of(3) {
            format!("ferry to the harbour {number}")
        } else {
            format!("ferry {number}")
        };
        let tags = [
            format!("travel/{}", number % 5),
            format!("year{}", number % 2),
        ]
        .into_iter()
        .collect();
        let created_at = Some(
            chrono::DateTime::UNIX_EPOCH
                + chrono::TimeDelta::days(10) * i32::try_from(number).unwrap(),
        );
        let draft = Draft {
            origin: Some(origin),
            source: "fake".into(),
            tags,
            created_at,
            ..Draft::new(&text)
        };
        SourceItem::Note(Box::new(NoteItem::new(draft)))
    };
    FakeSource::with_items((0..NOTES).map(note).collect())
}

#[test]
fn counts_from_the_full_text_equal_those_of_the_memories() {
    let home = TestHome::new();
    let expected = memory_core::testing::services(Arc::new(MemStore::default()));
    let stored = home.services();
    for services in [&expected, &stored] {
        ingest(services, &source(), &IngestOptions::default(), &mut |_| ()).unwrap();
    }
    FileStore::open(home.path(), FileStoreOptions::default())
        .unwrap()
        .flush()
        .unwrap();
    let count = |services: &Services, text: &str| facets(services, &Query::new(text)).unwrap();
    for text in [
        "ferry",
        "harbour ferry",
        "ferry tag:year1",
        "tag:travel/2",
        "ferry since:1980-01-01",
    ] {
        let counts = count(&stored, text);
        assert_eq!(counts, count(&expected, text), "{text}");
        assert!(0 < counts.counted, "{text}");
    }
}
