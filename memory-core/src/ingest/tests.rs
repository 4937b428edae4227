mod changed_notes;

use std::sync::Arc;

use chrono::DateTime;
use proptest::prelude::*;

use super::findings::redact_front_matter;
use super::{FactError, FactExtractor, IngestError, IngestOptions, IngestReport, ingest};
use crate::instance::history::{self, Messages, RecordDraft, RecordFilter, Window};
use crate::testing::{FakeMessages, FakeSource, messages, services};
use crate::wikilink::WikilinkRule;
use crate::{
    ChatError, ChatFailure, Draft, Filter, MemStore, Memory, MemoryId, NoteItem, Origin, Patch,
    Progress, Scope, SecretPolicy, Services, Source, SourceItem, SourceSession, SourceSessionItem,
    delete, update, wikilink,
};

/// Notes with a path, a text and unrecognized front matter.
#[derive(Debug, Clone)]
struct TestNotes(Vec<(&'static str, String, &'static str)>);

fn notes(notes: &[(&'static str, &str)]) -> TestNotes {
    TestNotes(
        notes
            .iter()
            .map(|(path, text)| (*path, (*text).to_owned(), ""))
            .collect(),
    )
}

impl Source for TestNotes {
    fn name(&self) -> &'static str {
        "test"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.0.iter().map(|(path, text, front_matter)| {
            let origin = Origin {
                source: "test".into(),
                root: "/test".into(),
                path: (*path).into(),
                hash: None,
            };
            let draft = Draft {
                source: "test".into(),
                origin: Some(origin),
                tags: wikilink::inline_tags(text).into_iter().collect(),
                ..Draft::new(text)
            };
            let links = wikilink::parse(text)
                .into_iter()
                .map(|link| link.target)
                .collect();
            let (front_matter, uncounted_links) = ((*front_matter).to_owned(), Vec::new());
            SourceItem::Note(Box::new(NoteItem {
                front_matter,
                links,
                uncounted_links,
                ..NoteItem::new(draft)
            }))
        }))
    }
}

fn ingest_notes(services: &Services, notes: &TestNotes) -> IngestReport {
    ingest(services, notes, &IngestOptions::default(), &mut |_| {})
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

fn home() -> Services {
    services(Arc::new(MemStore::default()))
}

#[test]
fn a_second_run_writes_nothing() {
    let (home, vault) = (
        home(),
        notes(&[
            ("a.md", "see [[b]] #x"),
            ("b.md", "and [[a]] and [[c]]"),
            ("e.md", ""),
            ("f.md", ""),
        ]),
    );
    let report = ingest_notes(&home, &vault);
    assert_eq!(counts(&report), (4, 0, 0, 0));
    assert_eq!(
        (report.tags, report.links.resolved, report.links.unresolved),
        (1, 2, 1)
    );
    assert_eq!(report.links.stored, 1, "both link to each other");
    let first = memories(&home);
    assert_eq!(
        (first[0].links.as_slice(), first[1].links.as_slice()),
        (&[first[1].id][..], &[first[0].id][..])
    );
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 0, 4, 0));
    assert_eq!(memories(&home), first);
    assert_eq!(home.history.records().count(), 1);
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let (home, vault) = (home(), notes(&[("a.md", "see [[b]]"), ("b.md", "b")]));
    let dry = ingest(
        &home,
        &vault,
        &IngestOptions {
            dry_run: true,
            ..IngestOptions::default()
        },
        &mut |_| {},
    )
    .expect("the fake store does not fail");
    assert!(memories(&home).is_empty());
    assert_eq!(dry, ingest_notes(&home, &vault));
}

#[test]
fn a_changed_note_updates_its_memory() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "one"), ("b.md", "b")]));
    let before = memories(&home);
    let report = ingest_notes(&home, &notes(&[("a.md", "two [[b]] #t"), ("b.md", "b")]));
    assert_eq!(counts(&report), (0, 2, 0, 0));
    let after = memories(&home);
    assert_eq!(
        (after.len(), after[0].id, after[0].content.as_str()),
        (2, before[0].id, "two [[b]] #t")
    );
    assert_eq!(
        (after[0].version, after[1].links.as_slice()),
        (2, &[after[0].id][..])
    );
}

#[test]
fn a_moved_note_takes_its_memory_along_and_its_copy_joins_it() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "text"), ("z.md", "z")]));
    let before = memories(&home);
    assert_eq!(
        counts(&ingest_notes(
            &home,
            &notes(&[("b/a.md", "text"), ("c/a.md", "text"), ("z.md", "z")])
        )),
        (0, 1, 2, 0)
    );
    let after = memories(&home);
    assert_eq!((after.len(), after[0].id), (2, before[0].id));
    assert_eq!(
        after[0].origin.as_ref().map(|origin| origin.path.as_str()),
        Some("b/a.md")
    );
    assert_eq!(
        after[0]
            .other_origins
            .iter()
            .map(|origin| origin.path.as_str())
            .collect::<Vec<_>>(),
        ["c/a.md"]
    );
}

#[test]
fn a_note_with_the_text_of_a_memory_from_elsewhere_is_not_taken_twice_but_linked_both_ways() {
    let (home, vault) = (
        home(),
        notes(&[
            ("a.md", "known"),
            ("b.md", "see [[a]]"),
            ("c/a2.md", "known"),
        ]),
    );
    let known = crate::write(&home, Draft::new("known"), SecretPolicy::Refuse)
        .expect("it is new")
        .id;
    assert_eq!(counts(&ingest_notes(&home, &vault)), (1, 1, 1, 0));
    let all = memories(&home);
    assert_eq!(
        (all.len(), all[0].id, all[1].links.as_slice()),
        (2, known, &[known][..])
    );
    assert_eq!(all[0].links, [all[1].id]);
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 0, 3, 0));
}

#[test]
fn what_a_person_changed_is_kept_and_when_both_changed_neither_is_lost() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "one")]));
    let id = memories(&home)[0].id.to_string();
    let edit = Patch {
        content: Some("mine".into()),
        ..Patch::default()
    };
    update(&home, &id, &edit, None, SecretPolicy::Refuse).expect("it can be changed");
    assert_eq!(
        counts(&ingest_notes(&home, &notes(&[("a.md", "one")]))),
        (0, 0, 1, 0)
    );
    let report = ingest_notes(&home, &notes(&[("a.md", "two")]));
    assert_eq!(counts(&report), (0, 0, 0, 1));
    assert!(
        report.skipped[0].reason.contains("both it and its memory"),
        "{}",
        report.skipped[0].reason
    );
    assert_eq!(memories(&home)[0].content, "mine");
    // Once both have the same text, ingestion works again.
    assert_eq!(
        counts(&ingest_notes(&home, &notes(&[("a.md", "mine")]))),
        (0, 1, 0, 0)
    );
    assert_eq!(
        counts(&ingest_notes(&home, &notes(&[("a.md", "three")]))),
        (0, 1, 0, 0)
    );
}

#[test]
fn changed_properties_that_no_field_holds_replace_the_former_ones() {
    let home = home();
    ingest_notes(
        &home,
        &TestNotes(vec![("a.md", "a".into(), "x: 1\ny: 1\n")]),
    );
    let changed = TestNotes(vec![("a.md", "a".into(), "x: 2\n")]);
    let report = ingest_notes(&home, &changed);
    assert_eq!((counts(&report), report.warnings.len()), ((0, 1, 0, 0), 0));
    let stored = home
        .store
        .get(&memories(&home)[0].id)
        .expect("it can be read");
    assert_eq!(stored.other_fields, [("x".to_owned(), "2".to_owned())]);
    let report = ingest_notes(&home, &changed);
    assert_eq!((counts(&report), report.warnings.len()), ((0, 0, 1, 0), 0));
}

#[test]
fn credentials_are_redacted_and_a_moved_note_is_known_all_the_same() {
    let home = home();
    let text = format!("token ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let report = ingest_notes(&home, &notes(&[("a.md", &text)]));
    assert_eq!((report.new, report.warnings.len()), (1, 1));
    assert!(!memories(&home)[0].content.contains("ghp_a1B2"));
    assert_eq!(
        counts(&ingest_notes(&home, &notes(&[("b.md", &text)]))),
        (0, 1, 0, 0)
    );
    assert_eq!(
        counts(&ingest_notes(&home, &notes(&[("b.md", &text)]))),
        (0, 0, 1, 0)
    );
}

#[test]
fn a_property_with_a_credential_in_its_key_is_left_out_and_reported() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let lines = format!("a: 1\n{token}:\n  - x\n\"b {token}\": y\nc: \"{token}\"\n");
    let mut kinds = Vec::new();
    assert_eq!(
        redact_front_matter(lines, &mut kinds),
        "a: 1\nc: \"[redacted: GitHub token]\"\n"
    );
    assert_eq!(kinds, ["GitHub token"; 3]);
}

#[test]
fn a_note_with_only_a_time_of_creation_was_last_changed_then() {
    #[derive(Debug)]
    struct Dated;
    impl Source for Dated {
        fn name(&self) -> &'static str {
            "test"
        }

        fn rule(&self) -> WikilinkRule {
            WikilinkRule::Paths
        }

        fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
            let created_at = Some("2024-01-02T03:04:05Z".parse().expect("a moment"));
            let origin = Origin {
                source: "test".into(),
                root: "/test".into(),
                path: "a".into(),
                hash: None,
            };
            let draft = Draft {
                source: "test".into(),
                origin: Some(origin),
                created_at,
                ..Draft::new("text")
            };
            Box::new(std::iter::once(SourceItem::Note(Box::new(NoteItem::new(
                draft,
            )))))
        }
    }
    let home = home();
    ingest(&home, &Dated, &IngestOptions::default(), &mut |_| {})
        .expect("the fake store does not fail");
    let memory = memories(&home).remove(0);
    assert_eq!(memory.updated_at, memory.created_at);
}

#[test]
fn a_memory_that_somebody_else_changes_meanwhile_is_skipped_and_the_rest_is_done()
-> Result<(), IngestError> {
    let home = home();
    ingest_notes(
        &home,
        &notes(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]),
    );
    let vault = notes(&[
        ("a.md", "a2"),
        ("b.md", "b2"),
        ("c.md", "c2"),
        ("d.md", "d"),
    ]);
    let first = memories(&home)[0].id.to_string();
    let report = ingest(&home, &vault, &IngestOptions::default(), &mut |progress| {
        // The outcome of each note is decided at this point, but nothing is written.
        if progress
            == (Progress {
                done: 4,
                total: Some(4),
            })
        {
            let tag = Patch {
                add_tags: ["mine"].into_iter().collect(),
                ..Patch::default()
            };
            update(&home, &first, &tag, None, SecretPolicy::Refuse).expect("it can be changed");
        }
    })?;
    assert_eq!(counts(&report), (1, 2, 0, 1));
    assert_eq!(report.skipped[0].path, "a.md");
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 1, 3, 0));
    assert!(memories(&home)[0].tags.contains("mine"));
    Ok(())
}

#[test]
fn all_batches_are_one_operation() {
    let home = home();
    let many = TestNotes(
        (0..2_500)
            .map(|number| {
                (
                    Box::leak(format!("{number}.md").into_boxed_str()) as &str,
                    number.to_string(),
                    "",
                )
            })
            .collect(),
    );
    assert_eq!(ingest_notes(&home, &many).new, 2_500);
    assert_eq!(home.history.records().count(), 1);
}

#[test]
fn equal_files_are_one_memory_with_both_origins() {
    let home = home();
    let vault = notes(&[
        ("a.md", "see [[z]]"),
        ("copy/b.md", "see [[z]]"),
        ("e.md", ""),
        ("f.md", ""),
        ("z.md", "and [[b]]"),
    ]);
    assert_eq!(counts(&ingest_notes(&home, &vault)), (4, 0, 1, 0));
    let origins = |services: &Services| {
        let of = |memory: &Memory| {
            let all = memory.origin.iter().chain(&memory.other_origins);
            (
                memory.content.clone(),
                all.map(|origin| origin.path.clone()).collect::<Vec<_>>(),
            )
        };
        memories(services)
            .iter()
            .filter(|memory| memory.content.contains("see"))
            .map(of)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        origins(&home),
        [(
            "see [[z]]".to_owned(),
            vec!["a.md".to_owned(), "copy/b.md".to_owned()]
        )]
    );
    let linked = memories(&home)
        .into_iter()
        .find(|memory| memory.content == "and [[b]]")
        .expect("it is kept");
    assert_eq!(linked.links.len(), 1, "a copy is found by its name");
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 0, 5, 0));

    // If one of the files is removed, the other retains the memory.
    let id = memories(&home)[0].id;
    for (left, path) in [("copy/b.md", "copy/b.md"), ("a.md", "a.md")] {
        let rest: Vec<_> = vault
            .0
            .iter()
            .filter(|note| note.0 == left || !note.1.contains("see"))
            .cloned()
            .collect();
        assert_eq!(
            counts(&ingest_notes(&home, &TestNotes(rest.clone()))),
            (0, 1, 3, 0)
        );
        assert_eq!(
            origins(&home),
            [("see [[z]]".to_owned(), vec![path.to_owned()])]
        );
        assert_eq!(counts(&ingest_notes(&home, &TestNotes(rest))), (0, 0, 4, 0));
    }
    assert!(
        memories(&home).iter().any(|memory| memory.id == id),
        "both are the same memory all along"
    );
}

#[test]
fn a_copy_that_changes_becomes_a_memory_of_its_own() {
    let home = home();
    ingest_notes(
        &home,
        &notes(&[("a.md", "one"), ("b.md", "one"), ("c.md", "one")]),
    );
    assert_eq!(memories(&home).len(), 1);
    let changed = notes(&[("a.md", "one"), ("b.md", "two"), ("c.md", "one")]);
    assert_eq!(counts(&ingest_notes(&home, &changed)), (1, 1, 1, 0));
    assert_eq!(counts(&ingest_notes(&home, &changed)), (0, 0, 3, 0));
    let all = memories(&home);
    let of = |memory: &Memory| {
        (
            memory.content.clone(),
            memory
                .other_origins
                .iter()
                .map(|own| own.path.clone())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        all.iter().map(of).collect::<Vec<_>>(),
        [
            ("one".into(), vec!["c.md".to_owned()]),
            ("two".into(), vec![])
        ]
    );
    // The first file changes: the memory follows it, and the other file becomes a new memory.
    let changed = notes(&[("a.md", "three"), ("b.md", "two"), ("c.md", "one")]);
    ingest_notes(&home, &changed);
    let mut texts: Vec<String> = memories(&home)
        .into_iter()
        .map(|memory| memory.content)
        .collect();
    texts.sort();
    assert_eq!(texts, ["one", "three", "two"]);
    assert_eq!(counts(&ingest_notes(&home, &changed)), (0, 0, 3, 0));
}

#[test]
fn files_that_differ_in_their_front_matter_are_not_equal() {
    let home = home();
    let with =
        |path: &'static str, front_matter: &'static str| (path, "one".to_owned(), front_matter);
    assert_eq!(
        counts(&ingest_notes(
            &home,
            &TestNotes(vec![with("a.md", "x: 1\n"), with("b.md", "x: 2\n")])
        )),
        (2, 0, 0, 0)
    );
}

/// A source with conversations: an id, a title, and texts of the user.
#[derive(Debug, Clone, Default)]
struct TestConversations(Vec<(&'static str, Option<&'static str>, Vec<String>)>);

impl Source for TestConversations {
    fn name(&self) -> &'static str {
        "test"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(std::iter::empty())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        Box::new(self.0.iter().map(|(id, title, texts)| {
            let records = texts
                .iter()
                .map(|text| RecordDraft::from_text("user".parse().expect("a role"), text))
                .collect();
            SourceSessionItem::Session(Box::new(SourceSession {
                title: title.map(str::to_owned),
                scope: Scope::Project("harbour".into()),
                ..SourceSession::new(*id, records)
            }))
        }))
    }
}

fn conversation(
    id: &'static str,
    title: Option<&'static str>,
    texts: &[&str],
) -> TestConversations {
    TestConversations(vec![(
        id,
        title,
        texts.iter().map(|text| (*text).to_owned()).collect(),
    )])
}

fn ingest_sessions(
    services: &Services,
    sessions: &Messages,
    source: &TestConversations,
) -> IngestReport {
    let options = IngestOptions {
        sessions: Some(sessions),
        ..IngestOptions::default()
    };
    ingest(services, source, &options, &mut |_| {}).expect("the fake stores do not fail")
}

fn session_counts(report: &IngestReport) -> (u64, u64, u64) {
    (
        report.sessions.new,
        report.sessions.updated,
        report.sessions.unchanged,
    )
}

/// Returns the names and the records of all sessions.
fn stored_sessions(sessions: &Messages) -> Vec<(String, Vec<String>)> {
    let all = history::sessions(sessions).expect("a list");
    let records = |name| {
        history::read(sessions, name, &RecordFilter::default(), Window::default())
            .expect("records")
            .records
    };
    let text = |record: &history::SessionRecord| record.text().to_string();
    all.iter()
        .map(|own| {
            (
                own.session.to_string(),
                records(&own.session).iter().map(text).collect(),
            )
        })
        .collect()
}

#[test]
fn a_conversation_becomes_a_session_that_follows_its_changes() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let one = conversation("c-1", Some("Tea/for (two)"), &["hello"]);
    assert_eq!(
        session_counts(&ingest_sessions(&home, &sessions, &one)),
        (1, 0, 0)
    );
    assert_eq!(
        session_counts(&ingest_sessions(&home, &sessions, &one)),
        (0, 0, 1)
    );
    let record = r#"{"role":"user","content":"hello","meta":{"source":"test","conversation":"c-1","title":"Tea/for (two)"}}"#;
    assert_eq!(
        stored_sessions(&sessions),
        [("test Tea for two (c-1)".to_owned(), vec![record.to_owned()])]
    );
    let renamed = conversation("c-1", Some("Coffee"), &["hello", "again"]);
    assert_eq!(
        session_counts(&ingest_sessions(&home, &sessions, &renamed)),
        (0, 1, 0)
    );
    let stored = stored_sessions(&sessions);
    assert_eq!(
        (stored.len(), stored[0].0.as_str(), stored[0].1.len()),
        (1, "test Tea for two (c-1)", 2)
    );
}

#[test]
fn a_session_with_other_records_is_left_as_it_is() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    ingest_sessions(&home, &sessions, &conversation("c-1", None, &["hello"]));
    let draft = RecordDraft::from_text("user".parse().expect("a role"), "my own");
    history::append(
        &sessions,
        &"test (c-1)".parse().expect("a name"),
        &draft,
        SecretPolicy::Refuse,
    )
    .expect("it is appended");
    let report = ingest_sessions(
        &home,
        &sessions,
        &conversation("c-1", None, &["hello", "again"]),
    );
    assert_eq!(
        (session_counts(&report), report.skipped.len()),
        ((0, 0, 0), 1)
    );
    assert_eq!(stored_sessions(&sessions)[0].1.len(), 2);
}

#[test]
fn a_credential_in_a_message_is_redacted() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let text = format!(
        "the token is ghp_{}",
        "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    );
    let one = conversation("c-1", None, &[&text]);
    let report = ingest_sessions(&home, &sessions, &one);
    assert_eq!(
        (session_counts(&report), report.warnings.len()),
        ((1, 0, 0), 1)
    );
    assert!(!stored_sessions(&sessions)[0].1[0].contains("ghp_a1B2"));
    assert_eq!(
        session_counts(&ingest_sessions(&home, &sessions, &one)),
        (0, 0, 1)
    );
}

#[test]
fn a_dry_run_counts_conversations_and_writes_none() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let options = IngestOptions {
        sessions: Some(&sessions),
        dry_run: true,
        ..IngestOptions::default()
    };
    let one = conversation("c-1", None, &["hello"]);
    let dry = ingest(&home, &one, &options, &mut |_| {}).expect("the fake stores do not fail");
    assert_eq!(
        (session_counts(&dry), stored_sessions(&sessions).len()),
        ((1, 0, 0), 0)
    );
    assert_eq!(
        dry.sessions,
        ingest_sessions(&home, &sessions, &one).sessions
    );
}

proptest! {
    #[test]
    fn the_name_of_a_session_leads_back_to_its_conversation(title in prop::option::of("\\PC{0,300}"), id in "\\PC{1,100}") {
        let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
        let one = TestConversations(vec![(
            Box::leak(id.into_boxed_str()),
            title.map(|title| Box::leak(title.into_boxed_str()) as &str),
            vec!["hello".into()],
        )]);
        prop_assert_eq!(session_counts(&ingest_sessions(&home, &sessions, &one)), (1, 0, 0));
        prop_assert_eq!(session_counts(&ingest_sessions(&home, &sessions, &one)), (0, 0, 1));
        prop_assert!(stored_sessions(&sessions)[0].0.len() <= 200);
    }
}

#[test]
fn missing_notes_are_listed_and_deleted_only_on_request() {
    let home = home();
    ingest_notes(
        &home,
        &notes(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]),
    );
    let less = notes(&[("moved/a.md", "a"), ("c.md", "c")]);
    let paths = |report: &IngestReport| {
        report
            .missing
            .iter()
            .map(|note| note.path.clone())
            .collect::<Vec<_>>()
    };
    let report = ingest_notes(&home, &less);
    assert_eq!(
        (paths(&report), report.deleted, memories(&home).len()),
        (vec!["b.md".to_owned()], 0, 3)
    );
    let delete = IngestOptions {
        delete_missing: true,
        ..IngestOptions::default()
    };
    let dry = ingest(
        &home,
        &less,
        &IngestOptions {
            dry_run: true,
            ..delete
        },
        &mut |_| {},
    )
    .expect("the fake store does not fail");
    assert_eq!(
        (paths(&dry), dry.deleted, memories(&home).len()),
        (vec!["b.md".to_owned()], 1, 3)
    );
    let report = ingest(&home, &less, &delete, &mut |_| {}).expect("the fake store does not fail");
    assert_eq!((report.deleted, memories(&home).len()), (1, 2));
    assert!(paths(&ingest_notes(&home, &less)).is_empty());
    assert!(
        paths(&ingest_notes(&home, &notes(&[]))).is_empty(),
        "an empty source has no place"
    );
}

#[test]
fn a_new_memory_receives_the_id_and_the_time_of_its_note() {
    let home = home();
    let id = MemoryId::for_path("former");
    let at = DateTime::from_timestamp(1_700_000_000, 0).expect("a time");
    let source = |path: &str| {
        let origin = Origin {
            source: "test".into(),
            root: "/test".into(),
            path: path.into(),
            hash: None,
        };
        let note = NoteItem {
            id: Some(id),
            updated_at: Some(at),
            ..NoteItem::new(Draft {
                origin: Some(origin),
                ..Draft::new(path)
            })
        };
        FakeSource::with_items(vec![SourceItem::Note(Box::new(note))])
    };
    ingest(
        &home,
        &source("a.md"),
        &IngestOptions::default(),
        &mut |_| {},
    )
    .expect("the fake store does not fail");
    ingest(
        &home,
        &source("b.md"),
        &IngestOptions::default(),
        &mut |_| {},
    )
    .expect("the fake store does not fail");
    let stored = memories(&home);
    assert_eq!((stored[0].id, stored[0].updated_at), (id, at));
    assert!(stored[1].id != id, "the id is taken");
}

#[test]
fn links_by_stated_ids_lead_to_notes_of_the_source_that_state_them_too() {
    let home = home();
    let ids = ["a", "b", "c", "stranger"].map(MemoryId::for_path);
    let [a, b, c, stranger] = ids;
    let note = |path: &str, id: MemoryId, links: &[MemoryId]| {
        let mut note = NoteItem::new(Draft {
            origin: Some(Origin {
                source: "test".into(),
                root: "/test".into(),
                path: path.into(),
                hash: None,
            }),
            ..Draft::new(path)
        });
        note.former.stated_links = crate::StatedLinks {
            id: Some(id),
            links: links.to_vec(),
        };
        SourceItem::Note(Box::new(note))
    };
    let items = vec![
        note("a.md", a, &[b, c, stranger]),
        note("b.md", b, &[a]),
        note("c.md", c, &[]),
    ];
    for _ in 0..2 {
        let source = FakeSource::with_items(items.clone());
        let report = ingest(&home, &source, &IngestOptions::default(), &mut |_| {})
            .expect("the fake store does not fail");
        assert_eq!(report.links.stored, 1);
        let stored = memories(&home);
        assert!(stored.iter().all(|memory| !ids.contains(&memory.id)));
        let by = |path: &str| {
            let found = stored.iter().find(|memory| memory.content == path);
            found.expect("it is there")
        };
        assert_eq!(by("a.md").links, [by("b.md").id]);
        assert_eq!(by("b.md").links, [by("a.md").id]);
        assert_eq!(by("c.md").links, []);
    }
}

/// Draws each message as a fact, until the budget is used up.
#[derive(Debug)]
struct EchoExtractor {
    requests: std::sync::Mutex<usize>,
}

impl FactExtractor for EchoExtractor {
    fn facts(&self, messages: &[&str]) -> Result<Vec<Vec<String>>, FactError> {
        let mut left = self
            .requests
            .lock()
            .expect("no test panics while it holds the number");
        *left = left.checked_sub(1).ok_or_else(|| {
            FactError::Unavailable(ChatError::Unreachable(ChatFailure {
                why: "no answer".into(),
                hint: None,
            }))
        })?;
        let facts = |message: &&str| {
            if message.contains("nothing") {
                vec![]
            } else {
                vec![format!("fact: {message}")]
            }
        };
        Ok(messages.iter().map(facts).collect())
    }
}

/// Ingests conversations with an extractor that answers `requests` requests. Returns the report and the number of requests.
fn ingest_facts(
    services: &Services,
    sessions: &Messages,
    source: &TestConversations,
    requests: usize,
) -> (IngestReport, usize) {
    let extractor = EchoExtractor {
        requests: std::sync::Mutex::new(requests),
    };
    let options = IngestOptions {
        sessions: Some(sessions),
        extractor: Some(&extractor),
        ..IngestOptions::default()
    };
    let report =
        ingest(services, source, &options, &mut |_| {}).expect("the fake stores do not fail");
    let left = *extractor
        .requests
        .lock()
        .expect("no test panics while it holds the number");
    (report, requests - left)
}

#[test]
fn notes_are_imported_although_the_store_takes_no_conversations() {
    let (home, sessions) = (
        home(),
        messages(Arc::new(FakeMessages::without_replace())).0,
    );
    let one = conversation("c-1", None, &["hello"]);
    let report = ingest_sessions(&home, &sessions, &one);
    assert_eq!(
        (session_counts(&report), stored_sessions(&sessions).len()),
        ((0, 0, 0), 0)
    );
    let expected = "sessions cannot be replaced here; choose another store";
    assert_eq!(
        (report.skipped.len(), report.skipped[0].reason.as_str()),
        (1, expected)
    );
    let options = IngestOptions {
        sessions: Some(&sessions),
        ..IngestOptions::default()
    };
    let report = ingest(&home, &notes(&[("a.md", "a")]), &options, &mut |_| {})
        .expect("the fake stores do not fail");
    assert_eq!(counts(&report), (1, 0, 0, 0));
}

#[test]
fn a_deleted_fact_does_not_return_with_its_conversation() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let one = conversation("c-1", None, &["I like tea", "I live in Oslo"]);
    assert_eq!(ingest_facts(&home, &sessions, &one, 9).0.facts, 2);
    for memory in memories(&home) {
        delete(&home, &memory.id.to_string()).expect("it is there");
    }
    assert_eq!(
        ingest_facts(&home, &sessions, &one, 9).1,
        0,
        "no request is made"
    );
    history::delete(&sessions, &"test (c-1)".parse().expect("a name")).expect("it is there");
    let (report, requests) = ingest_facts(&home, &sessions, &one, 9);
    assert_eq!(
        (session_counts(&report), requests, memories(&home).len()),
        ((1, 0, 0), 0, 0),
        "not even without its session"
    );
    // Later messages are searched for facts.
    let longer = conversation(
        "c-1",
        None,
        &["I like tea", "I live in Oslo", "I have a cat"],
    );
    assert_eq!(ingest_facts(&home, &sessions, &longer, 9).0.facts, 1);
    assert_eq!(
        memories(&home)
            .into_iter()
            .map(|memory| memory.content)
            .collect::<Vec<_>>(),
        ["fact: I have a cat"]
    );
}

#[test]
fn a_run_without_requests_left_imports_the_rest_and_the_next_run_continues() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let long: Vec<String> = (0..30).map(|number| format!("message {number}")).collect();
    let source = TestConversations(vec![
        ("c-1", None, vec!["nothing".into()]),
        ("c-2", None, long),
        ("c-3", None, vec!["I have a cat".into()]),
    ]);
    let (report, _) = ingest_facts(&home, &sessions, &source, 2);
    assert_eq!(
        (session_counts(&report), report.facts, report.warnings.len()),
        ((3, 0, 0), 12, 1)
    );
    assert_eq!(report.warnings[0].path, "test c-2");
    assert!(
        report.warnings[0]
            .reason
            .contains("from message 13 of the user on"),
        "{:?}",
        report.warnings
    );
    // A conversation without facts costs no second request.
    let (report, requests) = ingest_facts(&home, &sessions, &source, 9);
    assert_eq!(
        (session_counts(&report), report.facts, requests),
        ((0, 0, 3), 19, 3)
    );
    let texts: std::collections::BTreeSet<_> = memories(&home)
        .into_iter()
        .map(|memory| memory.content)
        .collect();
    assert_eq!((memories(&home).len(), texts.len()), (31, 31));
    let (report, requests) = ingest_facts(&home, &sessions, &source, 9);
    assert_eq!(
        (session_counts(&report), report.facts, requests),
        ((0, 0, 3), 0, 0)
    );
    // An import without facts retains the number.
    assert_eq!(
        session_counts(&ingest_sessions(&home, &sessions, &source)),
        (0, 0, 3)
    );
}

#[test]
fn facts_of_a_conversation_are_drawn_once_and_belong_to_the_ingestion() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let extractor = EchoExtractor {
        requests: std::sync::Mutex::new(1),
    };
    let options = IngestOptions {
        sessions: Some(&sessions),
        extractor: Some(&extractor),
        ..IngestOptions::default()
    };
    let one = conversation("c-1", None, &["I like tea", " ", "I live in Oslo"]);
    let run = |source: &TestConversations| {
        ingest(&home, source, &options, &mut |_| {}).expect("the fake stores do not fail")
    };
    let report = run(&one);
    assert_eq!((report.facts, report.warnings.len()), (2, 0));
    let facts: Vec<_> = memories(&home)
        .into_iter()
        .map(|memory| {
            assert_eq!(memory.scope, Scope::Project("harbour".into()));
            memory.content
        })
        .collect();
    assert_eq!(facts, ["fact: I like tea", "fact: I live in Oslo"]);
    assert_eq!(run(&one).facts, 0, "no request was made again");
    let report = run(&conversation("c-2", None, &["I have a cat"]));
    assert_eq!(
        (report.facts, report.warnings.len(), session_counts(&report)),
        (0, 1, (1, 0, 0))
    );
}

#[test]
fn a_note_whose_memory_was_deleted_is_ingested_again_only_if_it_changes() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "a"), ("b.md", "b")]));
    let id = memories(&home)[0].id;
    delete(&home, &id.to_string()).expect("it is there");
    let report = ingest_notes(&home, &notes(&[("a.md", "a"), ("b.md", "b")]));
    assert_eq!((counts(&report), memories(&home).len()), ((0, 0, 1, 1), 1));
    assert!(
        report.skipped[0].reason.contains("memory restore"),
        "{:?}",
        report.skipped
    );
    assert_eq!(
        counts(&ingest_notes(
            &home,
            &notes(&[("a.md", "a2"), ("b.md", "b")])
        )),
        (1, 0, 1, 0)
    );
}

#[test]
fn credentials_outside_the_text_of_a_message_are_left_out() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let calls = format!(r#"[{{"id":"1","name":"login","arguments":"{{\"token\":\"{token}\"}}"}}]"#);
    let record = RecordDraft {
        tool_calls: Some(calls.parse().expect("JSON")),
        meta: Some(format!(r#"{{"model":"{token}"}}"#).parse().expect("JSON")),
        content: None,
        ..RecordDraft::from_text("assistant".parse().expect("a role"), "")
    };
    let title = Some(format!("My {token}"));
    let source = TestRecords(vec![SourceSession {
        title,
        ..SourceSession::new("c-1", vec![record])
    }]);
    let options = IngestOptions {
        sessions: Some(&sessions),
        ..IngestOptions::default()
    };
    let report =
        ingest(&home, &source, &options, &mut |_| {}).expect("the fake stores do not fail");
    let stored = stored_sessions(&sessions);
    assert_eq!(
        (session_counts(&report), stored.len(), report.skipped.len()),
        ((1, 0, 0), 1, 0)
    );
    assert!(!format!("{stored:?}").contains("ghp_"), "{stored:?}");
}

#[test]
fn the_reports_of_an_ingestion_contain_no_credentials() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let source = TestReports(format!("notes {token}"));
    let options = IngestOptions {
        sessions: Some(&sessions),
        ..IngestOptions::default()
    };
    let report =
        ingest(&home, &source, &options, &mut |_| {}).expect("the fake stores do not fail");
    assert_eq!(
        (report.skipped.len(), report.warnings.len()),
        (2, 1),
        "{report:?}"
    );
    assert!(!format!("{report:?}").contains("ghp_"), "{report:?}");
    let stored = memories(&home)
        .into_iter()
        .find_map(|memory| memory.origin)
        .expect("a note");
    assert!(!format!("{stored:?}").contains("ghp_"), "{stored:?}");
    assert_eq!(counts(&ingest_notes_of(&home, &source)), (0, 0, 1, 1));
}

fn ingest_notes_of(services: &Services, source: &dyn Source) -> IngestReport {
    ingest(services, source, &IngestOptions::default(), &mut |_| {})
        .expect("the fake store does not fail")
}

/// A source with a note and skipped items, all with this name.
#[derive(Debug)]
struct TestReports(String);

impl Source for TestReports {
    fn name(&self) -> &'static str {
        "test"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let origin = Origin {
            source: "test".into(),
            root: format!("/{}", self.0),
            path: self.0.clone(),
            hash: None,
        };
        let draft = Draft {
            source: "test".into(),
            origin: Some(origin),
            ..Draft::new("text")
        };
        let warning = Some(format!("{}:1: is damaged", self.0));
        let note = SourceItem::Note(Box::new(NoteItem {
            warning,
            ..NoteItem::new(draft)
        }));
        let (path, reason) = (self.0.clone(), format!("is a duplicate of {}", self.0));
        Box::new([note, SourceItem::Skipped { path, reason }].into_iter())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        let (path, reason) = (self.0.clone(), format!("is like {}", self.0));
        Box::new(std::iter::once(SourceSessionItem::Skipped { path, reason }))
    }
}

/// Returns a state of one conversation.
fn state_of_conversation(text: &str, updated_at: Option<&str>) -> SourceSession {
    let updated_at = updated_at.map(|time| time.parse().expect("a time"));
    // The messages of an old state are older as well.
    let at = if text == "old" {
        "2025-12-01T00:00:00Z"
    } else {
        "2026-01-01T00:00:00Z"
    };
    let record = RecordDraft {
        at: Some(at.parse().expect("a time")),
        ..RecordDraft::from_text("user".parse().expect("a role"), text)
    };
    SourceSession {
        updated_at,
        ..SourceSession::new("c-1", vec![record])
    }
}

#[test]
fn an_older_state_of_a_conversation_is_left_and_reported() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let options = IngestOptions {
        sessions: Some(&sessions),
        ..IngestOptions::default()
    };
    let run = |states: &[(&str, Option<&str>)]| {
        let source = TestRecords(
            states
                .iter()
                .map(|(text, time)| state_of_conversation(text, *time))
                .collect(),
        );
        let dry = IngestOptions {
            dry_run: true,
            ..options
        };
        let dry = ingest(&home, &source, &dry, &mut |_| {}).expect("the fake stores do not fail");
        let report =
            ingest(&home, &source, &options, &mut |_| {}).expect("the fake stores do not fail");
        assert_eq!(
            (dry.sessions, dry.skipped.len()),
            (report.sessions, report.skipped.len())
        );
        assert_eq!(
            report.sessions.records,
            report.sessions.new + report.sessions.updated
        );
        (session_counts(&report), report.skipped.len())
    };
    let has = |text: &str| stored_sessions(&sessions)[0].1[0].contains(text);
    // A session of an earlier version has no recorded time.
    assert_eq!(run(&[("first", None)]), ((1, 0, 0), 0));
    assert_eq!(
        run(&[("old", Some("2025-12-31T00:00:00Z"))]),
        ((0, 0, 0), 1)
    );
    // The time of the conversation may be earlier than that of its last message.
    assert_eq!(
        run(&[("first", Some("2025-12-31T00:00:00Z"))]),
        ((0, 0, 1), 0)
    );
    assert_eq!(
        run(&[("first", Some("2026-01-02T00:00:00Z"))]),
        ((0, 0, 1), 0)
    );
    assert_eq!(
        run(&[
            ("second", Some("2026-01-03T00:00:00Z")),
            ("third", Some("2026-01-04T00:00:00Z"))
        ]),
        ((0, 1, 0), 0)
    );
    assert!(has("third"));
    assert_eq!(
        run(&[("second", Some("2026-01-03T00:00:00Z"))]),
        ((0, 0, 0), 1)
    );
    // The time counts without a change of the messages.
    assert_eq!(
        run(&[("third", Some("2026-01-06T00:00:00Z"))]),
        ((0, 0, 1), 0)
    );
    assert_eq!(
        run(&[("fourth", Some("2026-01-05T00:00:00Z"))]),
        ((0, 0, 0), 1)
    );
    assert_eq!(
        run(&[("third", Some("2026-01-06T00:00:00Z"))]),
        ((0, 0, 1), 0)
    );
    assert!(has("third"));
    // A source without times replaces the session as before.
    assert_eq!(run(&[("fifth", None)]), ((0, 1, 0), 0));
}

#[test]
fn the_newest_of_several_states_becomes_one_new_session() {
    let (home, sessions) = (home(), messages(Arc::new(FakeMessages::default())).0);
    let states = [
        ("old", Some("2026-01-02T00:00:00Z")),
        ("new", Some("2026-01-03T00:00:00Z")),
    ];
    let source = TestRecords(
        states
            .iter()
            .map(|(text, time)| state_of_conversation(text, *time))
            .collect(),
    );
    let options = IngestOptions {
        sessions: Some(&sessions),
        ..IngestOptions::default()
    };
    let dry = IngestOptions {
        dry_run: true,
        ..options
    };
    let dry = ingest(&home, &source, &dry, &mut |_| {}).expect("the fake stores do not fail");
    let report =
        ingest(&home, &source, &options, &mut |_| {}).expect("the fake stores do not fail");
    assert_eq!(
        (
            session_counts(&report),
            report.sessions.records,
            dry.sessions
        ),
        ((1, 0, 0), 1, report.sessions)
    );
    assert!(stored_sessions(&sessions)[0].1[0].contains("new"));
}

/// A source with conversations.
#[derive(Debug, Clone)]
struct TestRecords(Vec<SourceSession>);

impl Source for TestRecords {
    fn name(&self) -> &'static str {
        "test"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(std::iter::empty())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        Box::new(
            self.0
                .iter()
                .map(|session| SourceSessionItem::Session(Box::new(session.clone()))),
        )
    }
}
