//! Ingestion by principals: the text of a note never reaches a memory of another principal in another scope.

use std::sync::Arc;

use memory_core::testing::FakeSource;
use memory_core::{
    Draft, Filter, IngestOptions, NoteItem, Origin, PrincipalAccess, Scope, SourceItem, ingest,
};

use super::access::{SharedDatabase, move_into, scopes};
use super::replicas::Node;

/// Ingests a note with this path into a scope, and returns the numbers of new and updated memories.
fn ingest_note(node: &Node, path: &str, text: &str, scope: &str) -> (u64, u64) {
    node.services.store.refresh().unwrap();
    let origin = Origin {
        source: "test".into(),
        root: "/notes".into(),
        path: path.replace(" #", " "),
        hash: None,
    };
    let draft = Draft {
        source: "test".into(),
        origin: Some(origin),
        scope: scope.parse().unwrap(),
        ..Draft::new(text)
    };
    // The path of a note with a hash changes with its text.
    let former_paths = path.split_once(" #").map_or(Vec::new(), |(stem, _)| {
        vec![stem.to_owned(), path.replace(" #", " ")]
    });
    let item = SourceItem::Note(Box::new(NoteItem {
        former_paths,
        ..NoteItem::new(draft)
    }));
    let source = FakeSource::with_items(vec![item]);
    let report = ingest(
        &node.services,
        &source,
        &IngestOptions::default(),
        &mut |_| {},
    )
    .unwrap();
    (report.new, report.updated)
}

fn texts(node: &Node) -> Vec<String> {
    node.services.store.refresh().unwrap();
    let all = node
        .services
        .store
        .memories(&Filter::all(), node.services.clock.now());
    let mut texts: Vec<_> = all.map(|stored| stored.unwrap().memory.content).collect();
    texts.sort();
    texts
}

/// Returns the id of the memory with a text.
fn find(node: &Node, text: &str) -> String {
    let mut all = node
        .services
        .store
        .memories(&Filter::all(), node.services.clock.now())
        .map(Result::unwrap);
    all.find(|stored| stored.memory.content == text)
        .unwrap()
        .memory
        .id
        .to_string()
}

#[test]
fn a_note_updates_no_memory_of_another_principal_with_the_same_origin() {
    let Some(shared) = SharedDatabase::new("origins of principals") else {
        return;
    };
    let [ada, bob] = ["ada", "bob"].map(|name| {
        let mut node = shared.node(&shared.add(name, &["team:web"]));
        let scopes = vec![Scope::Private(name.to_owned()), "team:web".parse().unwrap()];
        node.services.principal = Some(Arc::new(PrincipalAccess {
            name: name.to_owned(),
            scopes,
            read_only: Vec::new(),
        }));
        node
    });
    assert_eq!(
        ingest_note(&bob, "plan.md", "the plan of bob", "private:bob"),
        (1, 0)
    );
    move_into(&bob, &find(&bob, "the plan of bob"), "team:web");
    assert_eq!(
        ingest_note(&ada, "plan.md", "the secret plan of ada", "private:ada"),
        (1, 0)
    );
    assert_eq!(
        ingest_note(
            &ada,
            "plan.md",
            "the changed secret plan of ada",
            "private:ada"
        ),
        (0, 1)
    );
    assert_eq!(texts(&bob), ["the plan of bob"]);
    assert_eq!(
        (texts(&ada).len(), scopes(&ada)),
        (2, vec!["private:ada".to_owned(), "team:web".into()])
    );
    // The same is true if the path of a note changes with its text.
    assert_eq!(
        ingest_note(&bob, "1 plan #0000000a-0", "the list of bob", "private:bob"),
        (1, 0)
    );
    move_into(&bob, &find(&bob, "the list of bob"), "team:web");
    assert_eq!(
        ingest_note(
            &ada,
            "1 plan #0000000b-0",
            "the secret list of ada",
            "private:ada"
        ),
        (1, 0)
    );
    assert_eq!(
        ingest_note(
            &ada,
            "1 plan #0000000c-0",
            "the changed secret list of ada",
            "private:ada"
        ),
        (0, 1)
    );
    assert_eq!(texts(&bob), ["the list of bob", "the plan of bob"]);
    assert_eq!(texts(&ada).len(), 4);
    // A memory that a principal shared itself follows its note, also after the previous versions were purged.
    move_into(
        &ada,
        &find(&ada, "the changed secret plan of ada"),
        "team:web",
    );
    shared
        .server
        .sql(&shared.name, "DELETE FROM memory_documents_trash");
    assert_eq!(
        ingest_note(&ada, "plan.md", "the shared plan of ada", "private:ada"),
        (0, 1)
    );
    assert_eq!(
        texts(&bob),
        [
            "the list of bob",
            "the plan of bob",
            "the shared plan of ada"
        ]
    );
    // Members who ingest into their team update the memory of the same note.
    assert_eq!(
        ingest_note(&bob, "team.md", "a note of the team", "team:web"),
        (1, 0)
    );
    assert_eq!(
        ingest_note(&ada, "team.md", "a changed note of the team", "team:web"),
        (0, 1)
    );
    assert_eq!(texts(&bob)[0], "a changed note of the team");
}
