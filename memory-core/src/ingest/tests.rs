use std::sync::Arc;

use super::{IngestReport, ingest};
use crate::testing::services;
use crate::wikilink::WikilinkRule;
use crate::{
    Draft, Filter, MemStore, Memory, NoteItem, Origin, Patch, Progress, SecretPolicy, Services, Source, SourceItem, StoreError,
    update, wikilink,
};

/// Notes with a path, a text and unrecognized front matter.
#[derive(Debug, Clone)]
struct TestNotes(Vec<(&'static str, String, &'static str)>);

fn notes(notes: &[(&'static str, &str)]) -> TestNotes {
    TestNotes(notes.iter().map(|(path, text)| (*path, (*text).to_owned(), "")).collect())
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
            let origin = Origin { source: "test".into(), root: "/test".into(), path: (*path).into(), hash: None };
            let draft =
                Draft { origin: Some(origin), tags: wikilink::inline_tags(text).into_iter().collect(), ..Draft::new(text) };
            let links = wikilink::parse(text).into_iter().map(|link| link.target).collect();
            let (front_matter, uncounted_links) = ((*front_matter).to_owned(), Vec::new());
            SourceItem::Note(Box::new(NoteItem { front_matter, links, uncounted_links, ..NoteItem::new(draft) }))
        }))
    }
}

fn ingest_notes(services: &Services, notes: &TestNotes) -> IngestReport {
    ingest(services, notes, false, &mut |_| {}).expect("the fake store does not fail")
}

fn counts(report: &IngestReport) -> (u64, u64, u64, usize) {
    (report.new, report.updated, report.unchanged, report.skipped.len())
}

fn memories(services: &Services) -> Vec<Memory> {
    let all = services.store.memories(&Filter::all(), services.clock.now());
    let mut all: Vec<_> = all.map(|stored| stored.expect("it can be read").memory).collect();
    all.sort_by_key(|memory| memory.origin.as_ref().map(|origin| origin.path.clone()));
    all
}

fn home() -> Services {
    services(Arc::new(MemStore::default()))
}

#[test]
fn a_second_run_writes_nothing() {
    let (home, vault) = (home(), notes(&[("a.md", "see [[b]] #x"), ("b.md", "and [[a]] and [[c]]"), ("e.md", ""), ("f.md", "")]));
    let report = ingest_notes(&home, &vault);
    assert_eq!(counts(&report), (4, 0, 0, 0));
    assert_eq!((report.tags, report.links.resolved, report.links.unresolved), (1, 2, 1));
    let first = memories(&home);
    assert_eq!((first[0].links.as_slice(), first[1].links.as_slice()), (&[first[1].id][..], &[first[0].id][..]));
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 0, 4, 0));
    assert_eq!(memories(&home), first);
    assert_eq!(home.history.records().count(), 1);
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let (home, vault) = (home(), notes(&[("a.md", "see [[b]]"), ("b.md", "b")]));
    let dry = ingest(&home, &vault, true, &mut |_| {}).expect("the fake store does not fail");
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
    assert_eq!((after.len(), after[0].id, after[0].content.as_str()), (2, before[0].id, "two [[b]] #t"));
    assert_eq!((after[0].version, after[1].links.as_slice()), (2, &[after[0].id][..]));
}

#[test]
fn a_moved_note_takes_its_memory_along_and_its_copy_joins_it() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "text"), ("z.md", "z")]));
    let before = memories(&home);
    assert_eq!(counts(&ingest_notes(&home, &notes(&[("b/a.md", "text"), ("c/a.md", "text"), ("z.md", "z")]))), (0, 1, 2, 0));
    let after = memories(&home);
    assert_eq!((after.len(), after[0].id), (2, before[0].id));
    assert_eq!(after[0].origin.as_ref().map(|origin| origin.path.as_str()), Some("b/a.md"));
    assert_eq!(after[0].other_origins.iter().map(|origin| origin.path.as_str()).collect::<Vec<_>>(), ["c/a.md"]);
}

#[test]
fn a_note_with_the_text_of_a_memory_from_elsewhere_is_not_taken_twice_but_linked_both_ways() {
    let (home, vault) = (home(), notes(&[("a.md", "known"), ("b.md", "see [[a]]"), ("c/a2.md", "known")]));
    let known = crate::write(&home, Draft::new("known"), SecretPolicy::Refuse).expect("it is new").id;
    assert_eq!(counts(&ingest_notes(&home, &vault)), (1, 1, 1, 0));
    let all = memories(&home);
    assert_eq!((all.len(), all[0].id, all[1].links.as_slice()), (2, known, &[known][..]));
    assert_eq!(all[0].links, [all[1].id]);
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 0, 3, 0));
}

#[test]
fn what_a_person_changed_is_kept_and_when_both_changed_neither_is_lost() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "one")]));
    let id = memories(&home)[0].id.to_string();
    let edit = Patch { content: Some("mine".into()), ..Patch::default() };
    update(&home, &id, &edit, None, SecretPolicy::Refuse).expect("it can be changed");
    assert_eq!(counts(&ingest_notes(&home, &notes(&[("a.md", "one")]))), (0, 0, 1, 0));
    let report = ingest_notes(&home, &notes(&[("a.md", "two")]));
    assert_eq!(counts(&report), (0, 0, 0, 1));
    assert!(report.skipped[0].reason.contains("both it and its memory"), "{}", report.skipped[0].reason);
    assert_eq!(memories(&home)[0].content, "mine");
    // Once both have the same text, ingestion works again.
    assert_eq!(counts(&ingest_notes(&home, &notes(&[("a.md", "mine")]))), (0, 1, 0, 0));
    assert_eq!(counts(&ingest_notes(&home, &notes(&[("a.md", "three")]))), (0, 1, 0, 0));
}

#[test]
fn changed_properties_that_no_field_holds_are_said_once() {
    let home = home();
    ingest_notes(&home, &TestNotes(vec![("a.md", "a".into(), "x: 1\n")]));
    let changed = TestNotes(vec![("a.md", "a".into(), "x: 2\n")]);
    let report = ingest_notes(&home, &changed);
    assert_eq!((counts(&report), report.warnings.len()), ((0, 1, 0, 0), 1));
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
    assert_eq!(counts(&ingest_notes(&home, &notes(&[("b.md", &text)]))), (0, 1, 0, 0));
    assert_eq!(counts(&ingest_notes(&home, &notes(&[("b.md", &text)]))), (0, 0, 1, 0));
}

#[test]
fn a_memory_that_somebody_else_changes_meanwhile_is_skipped_and_the_rest_is_done() -> Result<(), StoreError> {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]));
    let vault = notes(&[("a.md", "a2"), ("b.md", "b2"), ("c.md", "c2"), ("d.md", "d")]);
    let first = memories(&home)[0].id.to_string();
    let report = ingest(&home, &vault, false, &mut |progress| {
        // The outcome of each note is decided at this point, but nothing is written.
        if progress == (Progress { done: 4, total: Some(4) }) {
            let tag = Patch { add_tags: ["mine"].into_iter().collect(), ..Patch::default() };
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
        (0..2_500).map(|number| (Box::leak(format!("{number}.md").into_boxed_str()) as &str, number.to_string(), "")).collect(),
    );
    assert_eq!(ingest_notes(&home, &many).new, 2_500);
    assert_eq!(home.history.records().count(), 1);
}

#[test]
fn equal_files_are_one_memory_with_both_origins() {
    let home = home();
    let vault = notes(&[("a.md", "see [[z]]"), ("copy/b.md", "see [[z]]"), ("e.md", ""), ("f.md", ""), ("z.md", "and [[b]]")]);
    assert_eq!(counts(&ingest_notes(&home, &vault)), (4, 0, 1, 0));
    let origins = |services: &Services| {
        let of = |memory: &Memory| {
            let all = memory.origin.iter().chain(&memory.other_origins);
            (memory.content.clone(), all.map(|origin| origin.path.clone()).collect::<Vec<_>>())
        };
        memories(services).iter().filter(|memory| memory.content.contains("see")).map(of).collect::<Vec<_>>()
    };
    assert_eq!(origins(&home), [("see [[z]]".to_owned(), vec!["a.md".to_owned(), "copy/b.md".to_owned()])]);
    let linked = memories(&home).into_iter().find(|memory| memory.content == "and [[b]]").expect("it is kept");
    assert_eq!(linked.links.len(), 1, "a copy is found by its name");
    assert_eq!(counts(&ingest_notes(&home, &vault)), (0, 0, 5, 0));

    // If one of the files is removed, the other retains the memory.
    let id = memories(&home)[0].id;
    for (left, path) in [("copy/b.md", "copy/b.md"), ("a.md", "a.md")] {
        let rest: Vec<_> = vault.0.iter().filter(|note| note.0 == left || !note.1.contains("see")).cloned().collect();
        assert_eq!(counts(&ingest_notes(&home, &TestNotes(rest.clone()))), (0, 1, 3, 0));
        assert_eq!(origins(&home), [("see [[z]]".to_owned(), vec![path.to_owned()])]);
        assert_eq!(counts(&ingest_notes(&home, &TestNotes(rest))), (0, 0, 4, 0));
    }
    assert!(memories(&home).iter().any(|memory| memory.id == id), "both are the same memory all along");
}

#[test]
fn a_copy_that_changes_becomes_a_memory_of_its_own() {
    let home = home();
    ingest_notes(&home, &notes(&[("a.md", "one"), ("b.md", "one"), ("c.md", "one")]));
    assert_eq!(memories(&home).len(), 1);
    let changed = notes(&[("a.md", "one"), ("b.md", "two"), ("c.md", "one")]);
    assert_eq!(counts(&ingest_notes(&home, &changed)), (1, 1, 1, 0));
    assert_eq!(counts(&ingest_notes(&home, &changed)), (0, 0, 3, 0));
    let all = memories(&home);
    let of =
        |memory: &Memory| (memory.content.clone(), memory.other_origins.iter().map(|own| own.path.clone()).collect::<Vec<_>>());
    assert_eq!(all.iter().map(of).collect::<Vec<_>>(), [("one".into(), vec!["c.md".to_owned()]), ("two".into(), vec![])]);
    // The first file changes: the memory follows it, and the other file becomes a new memory.
    let changed = notes(&[("a.md", "three"), ("b.md", "two"), ("c.md", "one")]);
    ingest_notes(&home, &changed);
    let mut texts: Vec<String> = memories(&home).into_iter().map(|memory| memory.content).collect();
    texts.sort();
    assert_eq!(texts, ["one", "three", "two"]);
    assert_eq!(counts(&ingest_notes(&home, &changed)), (0, 0, 3, 0));
}

#[test]
fn files_that_differ_in_their_front_matter_are_not_equal() {
    let home = home();
    let with = |path: &'static str, front_matter: &'static str| (path, "one".to_owned(), front_matter);
    assert_eq!(counts(&ingest_notes(&home, &TestNotes(vec![with("a.md", "x: 1\n"), with("b.md", "x: 2\n")]))), (2, 0, 0, 0));
}
