//! Tests of the update of a memory by a changed note.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::commit::commit_units;
use crate::ingest::{IngestOptions, IngestReport, ingest};
use crate::testing::{FakeClock, FakeSource, services};
use crate::{
    Category, Change, Draft, Filter, MemStore, Memory, MemoryId, NoteItem, Origin, Patch, Reminder,
    Scope, SecretPolicy, Services, SourceItem, SpeakerRole, Tags, Verb, link, undo, unlink, update,
};

fn home() -> Services {
    services(Arc::new(MemStore::default()))
}

fn moment(text: &str) -> DateTime<Utc> {
    text.parse().expect("a moment")
}

fn note_at(root: &str, path: &str, draft: Draft) -> NoteItem {
    let origin = Origin {
        source: "test".into(),
        root: root.into(),
        path: path.into(),
        hash: None,
    };
    NoteItem::new(Draft {
        source: "test".into(),
        origin: Some(origin),
        ..draft
    })
}

fn note(path: &str, draft: Draft) -> NoteItem {
    note_at("/test", path, draft)
}

fn run(services: &Services, notes: Vec<NoteItem>) -> IngestReport {
    let source = FakeSource::with_items(
        notes
            .into_iter()
            .map(|note| SourceItem::Note(Box::new(note)))
            .collect(),
    );
    ingest(services, &source, &IngestOptions::default(), &mut |_| {})
        .expect("the fake store does not fail")
}

fn counts(report: &IngestReport) -> (u64, u64, u64, usize) {
    (
        report.new,
        report.updated,
        report.unchanged,
        report.skipped.len(),
    )
}

fn memories(services: &Services) -> Vec<Memory> {
    let all = services
        .store
        .memories(&Filter::all(), services.clock.now());
    let mut all: Vec<_> = all
        .map(|stored| stored.expect("it can be read").memory)
        .collect();
    all.sort_by_key(|memory| memory.origin.as_ref().map(|origin| origin.path.clone()));
    all
}

fn edit(services: &Services, id: &MemoryId, patch: &Patch) {
    update(services, &id.to_string(), patch, None, SecretPolicy::Refuse)
        .expect("it can be changed");
}

/// Returns a note with a value in each field.
fn full_note() -> NoteItem {
    let day = |day| Some(moment("2024-01-01T00:00:00Z") + TimeDelta::days(day));
    let draft = Draft {
        aliases: vec!["brew".into()],
        category: Some(Category::People),
        role: Some(SpeakerRole::Person),
        created_at: day(0),
        expires_at: day(9_000),
        valid_from: day(1),
        valid_until: day(9_001),
        reminder: Some(Reminder::new(moment("2034-01-01T00:00:00Z"))),
        ..Draft::new("tea").title("Tea").tags(["a", "b"])
    };
    NoteItem {
        updated_at: day(2),
        front_matter: "x: 1\n".into(),
        ..note("a.md", draft)
    }
}

type NoteChange = fn(&mut NoteItem);

/// The changes of one field each.
const CHANGES: [(&str, NoteChange); 20] = [
    ("text", |note| note.draft.content = "coffee".into()),
    ("title", |note| note.draft.title = Some("Coffee".into())),
    ("no title", |note| note.draft.title = None),
    ("other alias", |note| {
        note.draft.aliases = vec!["infusion".into()];
    }),
    ("less tags", |note| {
        note.draft.tags = ["b"].into_iter().collect();
    }),
    ("other tags", |note| {
        note.draft.tags = ["b", "c"].into_iter().collect();
    }),
    ("category", |note| {
        note.draft.category = Some(Category::Preferences);
    }),
    ("no category", |note| note.draft.category = None),
    ("scope", |note| {
        note.draft.scope = Scope::Project("kettle".into());
    }),
    ("role", |note| note.draft.role = None),
    ("creation", |note| {
        note.draft.created_at = Some(moment("2023-05-05T00:00:00Z"));
    }),
    ("change", |note| {
        note.updated_at = Some(moment("2024-05-05T00:00:00Z"));
    }),
    ("expiry", |note| {
        note.draft.expires_at = Some(moment("2040-05-05T00:00:00Z"));
    }),
    ("no expiry", |note| note.draft.expires_at = None),
    ("start", |note| note.draft.valid_from = None),
    ("end", |note| {
        note.draft.valid_until = Some(moment("2039-05-05T00:00:00Z"));
    }),
    ("pin", |note| note.draft.pinned = true),
    ("reminder", |note| {
        note.draft.reminder = Some(Reminder::new(moment("2035-01-01T00:00:00Z")));
    }),
    ("no reminder", |note| note.draft.reminder = None),
    ("property", |note| note.front_matter = "x: 2\n".into()),
];

fn changed(change: NoteChange) -> NoteItem {
    let mut note = full_note();
    change(&mut note);
    note
}

#[test]
fn a_change_of_any_field_gives_the_memory_of_a_new_ingestion() {
    for (name, change) in CHANGES {
        let (home, fresh) = (home(), self::home());
        run(&home, vec![full_note()]);
        assert_eq!(
            counts(&run(&home, vec![changed(change)])),
            (0, 1, 0, 0),
            "{name}"
        );
        assert_eq!(
            counts(&run(&home, vec![changed(change)])),
            (0, 0, 1, 0),
            "{name}"
        );
        run(&fresh, vec![changed(change)]);
        let (updated, new) = (memories(&home).remove(0), memories(&fresh).remove(0));
        assert_eq!(
            Memory {
                id: new.id,
                version: 1,
                ..updated.clone()
            },
            new,
            "{name}"
        );
        let fields = |home: &Services, id| home.store.get(id).expect("it can be read").other_fields;
        assert_eq!(
            fields(&home, &updated.id),
            fields(&fresh, &new.id),
            "{name}"
        );
    }
}

#[test]
fn a_field_that_a_person_changed_remains_through_all_later_changes_of_the_note() {
    let home = home();
    run(&home, vec![full_note()]);
    let id = memories(&home)[0].id;
    let expiry = Some(moment("2050-01-01T00:00:00Z"));
    let patch = Patch {
        category: Some(Category::Knowledge),
        expires_at: Some(expiry),
        add_tags: ["mine"].into_iter().collect(),
        remove_tags: ["a"].into_iter().collect(),
        ..Patch::default()
    };
    edit(&home, &id, &patch);
    let mut note = full_note();
    note.draft.content = "coffee".into();
    note.draft.tags = ["a", "b", "c"].into_iter().collect();
    assert_eq!(counts(&run(&home, vec![note.clone()])), (0, 1, 0, 0));
    note.draft.category = Some(Category::Preferences);
    note.draft.expires_at = None;
    note.draft.pinned = true;
    note.draft.tags = ["a", "c"].into_iter().collect();
    assert_eq!(counts(&run(&home, vec![note.clone()])), (0, 1, 0, 0));
    let memory = memories(&home).remove(0);
    assert_eq!((memory.content.as_str(), memory.pinned), ("coffee", true));
    assert_eq!(
        (memory.category, memory.expires_at),
        (Category::Knowledge, expiry)
    );
    assert_eq!(memory.tags, ["mine", "c"].into_iter().collect::<Tags>());
    assert_eq!(counts(&run(&home, vec![note])), (0, 0, 1, 0));
}

#[test]
fn if_both_texts_were_changed_the_other_fields_are_updated() {
    let home = home();
    run(&home, vec![full_note()]);
    edit(
        &home,
        &memories(&home)[0].id,
        &Patch {
            content: Some("my tea".into()),
            ..Patch::default()
        },
    );
    let mut note = full_note();
    note.draft.content = "coffee".into();
    note.draft.expires_at = None;
    let report = run(&home, vec![note.clone()]);
    assert_eq!((counts(&report), report.warnings.len()), ((0, 1, 0, 0), 1));
    let memory = memories(&home).remove(0);
    assert_eq!(
        (memory.content.as_str(), memory.expires_at),
        ("my tea", None)
    );
    assert_eq!(counts(&run(&home, vec![note.clone()])), (0, 0, 0, 1));
    note.draft.content = "my tea".into();
    assert_eq!(counts(&run(&home, vec![note.clone()])), (0, 1, 0, 0));
    note.draft.content = "water".into();
    assert_eq!(counts(&run(&home, vec![note])), (0, 1, 0, 0));
    assert_eq!(memories(&home)[0].content, "water");
}

#[test]
fn an_ingestion_that_was_undone_is_repeated() {
    let home = home();
    run(&home, vec![full_note()]);
    let (_, no_expiry) = CHANGES[13];
    run(&home, vec![changed(no_expiry)]);
    undo(&home, None).expect("it can be undone");
    assert!(memories(&home)[0].expires_at.is_some());
    assert_eq!(counts(&run(&home, vec![changed(no_expiry)])), (0, 1, 0, 0));
    assert_eq!(memories(&home)[0].expires_at, None);
}

#[test]
fn a_note_that_has_expired_is_skipped_and_nothing_links_to_it() {
    let home = home();
    let expired = || {
        let expires_at = Some(moment("2020-01-01T00:00:00Z"));
        NoteItem {
            links: vec!["b.md".into()],
            ..note(
                "a.md",
                Draft {
                    expires_at,
                    ..Draft::new("see [[b]]")
                },
            )
        }
    };
    let other = || NoteItem {
        links: vec!["a.md".into()],
        ..note("b.md", Draft::new("see [[a]]"))
    };
    let report = run(&home, vec![expired(), other()]);
    assert_eq!(
        (counts(&report), report.skipped[0].reason.as_str()),
        ((1, 0, 0, 1), "expired on 2020-01-01")
    );
    assert!(memories(&home)[0].links.is_empty());
    assert_eq!(counts(&run(&home, vec![expired(), other()])), (0, 0, 1, 1));
    let exported = NoteItem {
        id: Some(home.ids.memory_id()),
        ..expired()
    };
    assert_eq!(
        counts(&run(&home, vec![exported, other()])),
        (1, 1, 0, 0),
        "an export of a home contains expired memories"
    );
}

#[test]
fn a_memory_that_the_consolidation_moved_to_the_trash_does_not_return() {
    let home = home();
    let tea = || note("a.md", Draft::new("tea"));
    run(&home, vec![tea()]);
    let remove = Change::Remove {
        id: memories(&home)[0].id,
        expected: None,
    };
    let removed = commit_units(
        &home,
        &home.change_set(Verb::Consolidate),
        vec![vec![remove]],
    );
    assert!(removed.expect("the fake store does not fail").is_empty());
    assert_eq!(counts(&run(&home, vec![tea()])), (0, 0, 0, 1));
    assert_eq!(
        counts(&run(&home, vec![note("a.md", Draft::new("tea with milk"))])),
        (1, 0, 0, 0),
        "the note was changed"
    );
}

#[test]
fn an_older_fingerprint_that_fits_counts_as_unchanged() {
    let home = home();
    let plain = |text: &str| {
        note(
            "a.md",
            Draft {
                expires_at: Some(moment("2040-01-01T00:00:00Z")),
                ..Draft::new(text)
            },
        )
    };
    run(&home, vec![plain("tea")]);
    let memory = memories(&home).remove(0);
    let mut origin = memory.origin.clone().expect("it was ingested");
    let mut bytes = *origin.hash.expect("it was ingested").as_bytes();
    bytes[..12].copy_from_slice(&Draft::new("tea").fingerprint("").as_bytes()[..12]);
    origin.hash = Some(bytes.into());
    edit(
        &home,
        &memory.id,
        &Patch {
            origin: Some(origin),
            ..Patch::default()
        },
    );
    let operations = home.history.records().count();
    assert_eq!(counts(&run(&home, vec![plain("tea")])), (0, 0, 1, 0));
    assert_eq!(home.history.records().count(), operations);
    assert_eq!(counts(&run(&home, vec![plain("coffee")])), (0, 1, 0, 0));
    assert_eq!(memories(&home)[0].content, "coffee");
}

#[test]
fn without_a_time_of_creation_the_earliest_known_change_counts() {
    let home = home();
    let changed_at = |time: &str, text: &str| NoteItem {
        updated_at: Some(moment(time)),
        ..note("a.md", Draft::new(text))
    };
    let [early, late, earlier] = [
        "2020-01-02T00:00:00Z",
        "2021-01-02T00:00:00Z",
        "2019-01-02T00:00:00Z",
    ];
    let mut expected = early;
    for (time, text) in [(early, "tea"), (late, "green tea"), (earlier, "mint tea")] {
        run(&home, vec![changed_at(time, text)]);
        expected = expected.min(time);
        assert_eq!(memories(&home)[0].created_at, moment(expected), "{time}");
    }
}

fn linked(path: &str, text: &str, links: &[&str]) -> NoteItem {
    NoteItem {
        links: links.iter().map(|link| (*link).to_owned()).collect(),
        ..note(path, Draft::new(text))
    }
}

fn links(services: &Services) -> Vec<Vec<usize>> {
    let all = memories(services);
    let place = |id: &MemoryId| {
        all.iter()
            .position(|memory| memory.id == *id)
            .expect("it exists")
    };
    all.iter()
        .map(|memory| memory.links.iter().map(place).collect())
        .collect()
}

#[test]
fn a_link_that_the_source_no_longer_has_is_removed_on_both_sides() {
    let home = home();
    run(
        &home,
        vec![
            linked("a", "a", &["b", "c"]),
            linked("b", "b", &[]),
            linked("c", "c", &[]),
        ],
    );
    assert_eq!(links(&home), [vec![1, 2], vec![0], vec![0]]);
    let less = || {
        vec![
            linked("a", "a2", &["b"]),
            linked("b", "b", &[]),
            linked("c", "c", &[]),
        ]
    };
    assert_eq!(counts(&run(&home, less())), (0, 2, 1, 0));
    assert_eq!(links(&home), [vec![1], vec![0], vec![]]);
    assert_eq!(counts(&run(&home, less())), (0, 0, 3, 0));
}

#[test]
fn links_of_a_person_remain_and_removed_ones_do_not_return() {
    let home = home();
    let notes = |text: &str, links: &[&str]| {
        vec![
            linked("a", text, links),
            linked("b", "b", &[]),
            linked("c", "c", &[]),
        ]
    };
    run(&home, notes("a", &["b"]));
    let ids: Vec<String> = memories(&home)
        .iter()
        .map(|memory| memory.id.to_string())
        .collect();
    link(&home, &ids[0], &ids[2]).expect("they can be linked");
    assert_eq!(counts(&run(&home, notes("a", &["b"]))), (0, 0, 3, 0));
    unlink(&home, &ids[0], &ids[1]).expect("they are linked");
    assert_eq!(counts(&run(&home, notes("a", &["b"]))), (0, 0, 3, 0));
    run(&home, notes("a2", &["b"]));
    assert_eq!(links(&home), [vec![2], vec![], vec![0]]);
}

#[test]
fn a_link_to_a_memory_from_elsewhere_is_removed_with_the_link_of_the_note() {
    let home = home();
    let known = crate::write(&home, Draft::new("known"), SecretPolicy::Refuse)
        .expect("it is new")
        .id;
    run(
        &home,
        vec![linked("a", "a", &["b"]), linked("b", "known", &[])],
    );
    let linked_to = |id: &MemoryId| home.store.get(id).expect("it can be read").memory.links;
    assert_eq!(linked_to(&known).len(), 1);
    run(
        &home,
        vec![linked("a", "a2", &[]), linked("b", "known", &[])],
    );
    assert!(linked_to(&known).is_empty());
    assert!(memories(&home).iter().all(|memory| memory.links.is_empty()));
}

#[test]
fn an_equal_note_without_text_from_another_place_is_not_ingested_again() {
    let home = home();
    let bare = |root: &str, title: &str, lines: &str| NoteItem {
        front_matter: lines.into(),
        ..note_at(
            root,
            &format!("graph.json#{title}"),
            Draft::new("").title(title),
        )
    };
    let graph = |root: &str| {
        vec![
            bare(root, "Ada", "type: person\n"),
            bare(root, "Bo", "type: person\n"),
        ]
    };
    assert_eq!(counts(&run(&home, graph("/one"))), (2, 0, 0, 0));
    assert_eq!(counts(&run(&home, graph("/two"))), (0, 0, 2, 0));
    assert_eq!(
        counts(&run(&home, vec![bare("/two", "Ada", "type: ship\n")])),
        (1, 0, 0, 0),
        "it is another Ada"
    );
}

#[test]
fn the_memory_of_a_missing_note_is_deleted_unless_a_person_changed_one_of_its_fields() {
    let tag = || ["mine"].into_iter().collect::<Tags>();
    let patches = [
        ("nothing", Patch::default()),
        (
            "text",
            Patch {
                content: Some("mine".into()),
                ..Patch::default()
            },
        ),
        (
            "title",
            Patch {
                title: Some(None),
                ..Patch::default()
            },
        ),
        (
            "alias",
            Patch {
                aliases: Some(vec!["mine".into()]),
                ..Patch::default()
            },
        ),
        (
            "tag",
            Patch {
                add_tags: tag(),
                ..Patch::default()
            },
        ),
        (
            "less tags",
            Patch {
                remove_tags: ["a"].into_iter().collect(),
                ..Patch::default()
            },
        ),
        (
            "category",
            Patch {
                category: Some(Category::Knowledge),
                ..Patch::default()
            },
        ),
        (
            "scope",
            Patch {
                scope: Some(Scope::Project("kettle".into())),
                ..Patch::default()
            },
        ),
        (
            "expiry",
            Patch {
                expires_at: Some(None),
                ..Patch::default()
            },
        ),
        (
            "pin",
            Patch {
                pinned: Some(true),
                ..Patch::default()
            },
        ),
        (
            "reminder",
            Patch {
                reminder: Some(Reminder::new(moment("2035-01-01T00:00:00Z"))),
                ..Patch::default()
            },
        ),
    ];
    for (name, patch) in patches {
        let home = home();
        let other = || note("b.md", Draft::new("other"));
        run(&home, vec![full_note(), other()]);
        // A later change of the note is not one of a person.
        let mut note = full_note();
        note.draft.tags = ["a", "b", "c"].into_iter().collect();
        run(&home, vec![note, other()]);
        let is_edited = name != "nothing";
        if is_edited {
            edit(&home, &memories(&home)[0].id, &patch);
        }
        let source = FakeSource::with_items(vec![SourceItem::Note(Box::new(other()))]);
        let options = IngestOptions {
            delete_missing: true,
            ..IngestOptions::default()
        };
        let report =
            ingest(&home, &source, &options, &mut |_| {}).expect("the fake store does not fail");
        assert_eq!(
            (report.missing.len(), report.missing[0].is_edited),
            (1, is_edited),
            "{name}"
        );
        assert_eq!(
            (report.deleted, memories(&home).len()),
            if is_edited { (0, 2) } else { (1, 1) },
            "{name}"
        );
    }
}

#[test]
fn the_memory_of_a_missing_note_is_retained_if_a_person_changed_its_links() {
    let options = IngestOptions {
        delete_missing: true,
        ..IngestOptions::default()
    };
    for is_added in [true, false] {
        let home = home();
        run(
            &home,
            vec![
                linked("a", "a", &["b"]),
                linked("b", "b", &[]),
                linked("c", "c", &[]),
            ],
        );
        let ids: Vec<String> = memories(&home)
            .iter()
            .map(|memory| memory.id.to_string())
            .collect();
        if is_added {
            link(&home, &ids[0], &ids[2]).expect("they can be linked");
        } else {
            unlink(&home, &ids[0], &ids[1]).expect("they are linked");
        }
        let rest = || SourceItem::Note(Box::new(linked("d", "d", &[])));
        let report = ingest(
            &home,
            &FakeSource::with_items(vec![rest()]),
            &options,
            &mut |_| {},
        )
        .expect("it does not fail");
        let edited: Vec<_> = report.missing.iter().map(|note| note.is_edited).collect();
        assert_eq!(
            edited,
            if is_added {
                [true, false, true]
            } else {
                [true, true, false]
            }
        );
        assert_eq!((report.deleted, memories(&home).len()), (1, 3));
        let report = ingest(
            &home,
            &FakeSource::with_items(vec![rest()]),
            &options,
            &mut |_| {},
        )
        .expect("it does not fail");
        assert_eq!(
            report.deleted, 0,
            "the deletion of a linked memory is no change of a person, and neither is an edit undone"
        );
    }
}

#[test]
fn an_unchanged_export_of_a_memory_is_not_ingested_and_an_edited_one_updates_it() {
    let home = home();
    let full = || NoteItem {
        front_matter: String::new(),
        ..full_note()
    };
    let bare = || note("b.md", Draft::new("").title("Bare"));
    run(&home, vec![full(), bare()]);
    edit(
        &home,
        &memories(&home)[0].id,
        &Patch {
            add_tags: ["mine"].into_iter().collect(),
            ..Patch::default()
        },
    );
    let before = memories(&home);
    let export = |note: NoteItem, memory: &Memory, root: &str| {
        let mut export = NoteItem {
            id: Some(memory.id),
            ..note
        };
        export.draft.tags = memory.tags.clone();
        export.draft.category = Some(memory.category);
        export.draft.origin.as_mut().expect("an origin").root = root.into();
        export.draft.created_at = Some(memory.created_at);
        export
    };
    for root in ["/test", "/export"] {
        let notes = || {
            vec![
                export(full(), &before[0], root),
                export(bare(), &before[1], root),
            ]
        };
        assert_eq!(counts(&run(&home, notes())), (0, 0, 2, 0), "{root}");
        assert_eq!(memories(&home), before, "{root}");
    }
    let mut edited = export(full(), &before[0], "/test");
    edited.draft.expires_at = None;
    assert_eq!(counts(&run(&home, vec![edited])), (0, 1, 0, 0));
    assert_eq!(memories(&home)[0].expires_at, None);
}

#[test]
fn an_edited_memory_follows_its_note_to_another_path() {
    let edits = [
        Patch {
            content: Some("my words".into()),
            ..Patch::default()
        },
        Patch {
            content: Some("my words".into()),
            title: Some(Some("Mine".into())),
            ..Patch::default()
        },
        Patch {
            scope: Some(Scope::Project("kettle".into())),
            ..Patch::default()
        },
    ];
    for patch in edits {
        let home = home();
        let titled =
            |path: &str, title: &str, text: &str| note(path, Draft::new(text).title(title));
        run(
            &home,
            vec![
                titled("Tea.md", "Tea", "green"),
                titled("Cup.md", "Cup", "blue"),
            ],
        );
        let id = memories(&home)[1].id;
        edit(&home, &id, &patch);
        let edited = memories(&home).remove(1);
        let moved = || {
            vec![
                titled("Cup.md", "Cup", "blue"),
                titled("drinks/Green tea.md", "Green tea", "green"),
            ]
        };
        let report = run(&home, moved());
        assert_eq!(
            (counts(&report), report.missing),
            ((0, 1, 1, 0), vec![]),
            "{patch:?}"
        );
        let all = memories(&home);
        let memory = &all[1];
        let path = memory.origin.as_ref().map(|origin| origin.path.as_str());
        assert_eq!(
            (all.len(), memory.id, path),
            (2, id, Some("drinks/Green tea.md")),
            "{patch:?}"
        );
        assert_eq!(
            (&memory.content, &memory.scope),
            (&edited.content, &edited.scope)
        );
        let title = if patch.title.is_some() {
            "Mine"
        } else {
            "Green tea"
        };
        assert_eq!(memory.title.as_deref(), Some(title));
        assert_eq!(counts(&run(&home, moved())), (0, 0, 2, 0), "{patch:?}");
    }
}

/// Returns notes with one text and other names, titles and dates, and a note that links to some of them.
fn namesakes(root: &str) -> Vec<NoteItem> {
    let dated = |path: &str, title: &str, day: &str| {
        let draft = Draft {
            created_at: Some(moment(&format!("{day}T00:00:00Z"))),
            ..Draft::new("- [ ] water").title(title)
        };
        note_at(root, path, draft)
    };
    let mut ada = dated("Ada.md", "Ada", "2024-01-01");
    ada.links.push("Hub".into());
    let mut hub = note_at(root, "Hub.md", Draft::new("all").title("Hub"));
    hub.links = vec!["Bo".into(), "x/Day".into(), "y/Day".into()];
    vec![
        ada,
        dated("Bo.md", "Bo", "2024-01-01"),
        hub,
        dated("x/Day.md", "Day", "2024-01-01"),
        dated("y/Day.md", "Day", "2024-01-02"),
    ]
}

#[test]
fn equal_texts_with_other_names_titles_or_dates_are_separate_memories_with_their_own_links() {
    let home = home();
    assert_eq!(counts(&run(&home, namesakes("/one"))), (5, 0, 0, 0));
    let before = memories(&home);
    let linked = |memory: &Memory| memory.links.len();
    assert_eq!(
        before.iter().map(linked).collect::<Vec<_>>(),
        [1, 1, 4, 1, 1]
    );
    assert_eq!(counts(&run(&home, namesakes("/one"))), (0, 0, 5, 0));
    // The same notes at another place are known, each as its own memory.
    assert_eq!(counts(&run(&home, namesakes("/two"))), (0, 0, 5, 0));
    assert_eq!(memories(&home), before);
    let mut other = namesakes("/three");
    other[1].draft.title = Some("Cy".into());
    other[1].draft.origin.as_mut().expect("an origin").path = "Cy.md".into();
    assert_eq!(counts(&run(&home, other)).0, 1, "another name is new");
}

#[test]
fn each_of_several_moved_notes_with_one_text_continues_its_own_memory() {
    let home = home();
    run(&home, namesakes("/one"));
    let before = memories(&home);
    let tags = || ["mine"].into_iter().collect::<Tags>();
    let patch = Patch {
        add_tags: tags(),
        ..Patch::default()
    };
    edit(&home, &before[1].id, &patch);
    let mut moved = namesakes("/one");
    for (note, path) in moved
        .iter_mut()
        .zip(["z/Ada.md", "b/Cy.md", "Hub.md", "b/Day.md", "a/Day.md"])
    {
        note.draft.origin.as_mut().expect("an origin").path = path.into();
    }
    moved[1].draft.title = Some("Cy".into());
    moved.sort_by_key(|note| note.draft.origin.as_ref().map(|origin| origin.path.clone()));
    let report = run(&home, moved);
    assert_eq!((report.new, report.missing.len()), (0, 0));
    let after = memories(&home);
    let path_of = |memory: &Memory| {
        let now = after.iter().find(|now| now.id == memory.id);
        now.and_then(|now| Some((now.origin.as_ref()?.path.clone(), now.tags.clone())))
    };
    let expected = [
        ("z/Ada.md", Tags::default()),
        ("b/Cy.md", tags()),
        ("Hub.md", Tags::default()),
        ("b/Day.md", Tags::default()),
        ("a/Day.md", Tags::default()),
    ]
    .map(|(path, tags)| Some((path.to_owned(), tags)));
    assert_eq!(before.iter().map(path_of).collect::<Vec<_>>(), expected);
}

#[test]
fn equal_notes_whose_links_lead_elsewhere_are_separate() {
    let home = home();
    let linked = |folder: &str| NoteItem {
        links: vec!["./Cup".into()],
        ..note(
            &format!("{folder}/Tea.md"),
            Draft::new("see the cup").title("Tea"),
        )
    };
    let cup = |folder: &str| note(&format!("{folder}/Cup.md"), Draft::new(folder).title("Cup"));
    run(&home, vec![cup("x"), linked("x"), cup("y"), linked("y")]);
    assert_eq!(links(&home), [vec![1], vec![0], vec![3], vec![2]]);
}

#[test]
fn a_time_without_a_zone_is_in_that_of_the_person_and_another_zone_changes_no_note() {
    let day = moment("2024-05-06T00:00:00Z");
    let note = || NoteItem {
        local_times: vec![day, moment("2024-05-06T12:30:00Z")],
        updated_at: Some(moment("2024-05-07T00:00:00Z")),
        ..note(
            "a.md",
            Draft {
                created_at: Some(day),
                valid_from: Some(moment("2024-05-06T12:30:00Z")),
                ..Draft::new("text")
            },
        )
    };
    for (hours, start, other) in [
        (-8, "2024-05-06T08:00:00Z", 9),
        (9, "2024-05-05T15:00:00Z", -8),
        (0, "2024-05-06T00:00:00Z", -8),
    ] {
        let mut home = home();
        home.clock = Arc::new(FakeClock::in_zone(hours));
        let times = |home: &Services| {
            let stored = memories(home).remove(0);
            (stored.created_at, stored.valid_from, stored.updated_at)
        };
        let from = moment(start) + TimeDelta::minutes(12 * 60 + 30);
        let expected = (moment(start), Some(from), moment("2024-05-07T00:00:00Z"));
        assert_eq!(counts(&run(&home, vec![note()])), (1, 0, 0, 0));
        assert_eq!(times(&home), expected, "{hours}");
        home.clock = Arc::new(FakeClock::in_zone(other));
        assert_eq!(counts(&run(&home, vec![note()])), (0, 0, 1, 0));
        assert_eq!(times(&home), expected, "{hours}");
    }
}
