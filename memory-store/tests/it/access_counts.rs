//! Access counts, which are written into files without an operation.

use std::fs;
use std::path::PathBuf;

use memory_core::{
    AcceptOptions, AgentName, Draft, FileVersion, Patch, ReviewPolicy, SecretPolicy, Services,
    StaleProposals, StoredMemory, View, WritePolicy, accept, memory_history, proposals, read, undo,
    update, write,
};

use crate::home::TestHome;

fn put(services: &Services, text: &str) -> StoredMemory {
    let id = write(services, Draft::new(text), SecretPolicy::Refuse)
        .expect("it is written")
        .id;
    services.store.get(&id).expect("it is there")
}

fn path(home: &TestHome, stored: &StoredMemory) -> PathBuf {
    home.path().join(&stored.path)
}

/// Writes the counts at the time of the clock, which is far from the last changes of the files.
fn write_counts(services: &Services) -> u64 {
    let counted = services.store.write_access_counts(services.clock.now());
    counted.expect("they are written")
}

fn count(services: &Services, stored: &StoredMemory) -> u64 {
    let current = services.store.get(&stored.memory.id);
    current.expect("it is there").memory.access_count
}

#[test]
fn counts_survive_the_loss_of_the_index_and_change_nothing_else() {
    let home = TestHome::new();
    let services = home.services();
    let stored = put(&services, "Anna prefers tea");
    let before = fs::read_to_string(path(&home, &stored)).unwrap();
    let journal = home.files("journal");
    for _ in 0..3 {
        read(&services, &stored.memory.id.to_string()).expect("it is read");
    }
    assert_eq!(write_counts(&services), 1);
    assert_eq!(write_counts(&services), 0, "nothing is left to write");

    let after = fs::read_to_string(path(&home, &stored)).unwrap();
    assert_eq!(
        after,
        before.replace("access_count: 0", "access_count: 3"),
        "only the count differs"
    );
    assert_eq!(home.files("journal"), journal);
    assert_eq!(home.leftovers(), Vec::<String>::new());
    assert_eq!(count(&services, &stored), 3, "no access counts twice");
    read(&services, &stored.memory.id.to_string()).expect("it is read");
    assert_eq!(count(&services, &stored), 4);
    drop(services);
    fs::remove_dir_all(home.path().join("index")).unwrap();
    assert_eq!(count(&home.services(), &stored), 3);
}

#[test]
fn an_undo_reverts_a_change_before_the_count_and_keeps_the_count() {
    let home = TestHome::new();
    let services = home.services();
    let stored = put(&services, "Anna prefers tea");
    let id = stored.memory.id.to_string();
    let patch = Patch {
        content: Some("Anna prefers coffee".into()),
        ..Patch::default()
    };
    update(&services, &id, &patch, None, SecretPolicy::Refuse).expect("it is changed");
    read(&services, &id).expect("it is read");
    assert_eq!(write_counts(&services), 1);

    let history = memory_history(&services, &stored.memory.id, 9).expect("it is read");
    let newest = &history.steps[0];
    assert!(
        !newest.is_edited_after && newest.undo.is_ok(),
        "a count is no edit"
    );
    let undone = undo(&services, None).expect("the change is undone");
    let current = services.store.get(&stored.memory.id).expect("it is there");
    assert_eq!(current.memory.content, "Anna prefers tea");
    assert_eq!(current.memory.access_count, 1);
    assert_eq!(
        write_counts(&services),
        1,
        "the restored file lacks the count"
    );

    undo(&services, Some(undone.undo.as_str())).expect("the undo is undone");
    let current = services.store.get(&stored.memory.id).expect("it is there");
    assert_eq!(current.memory.content, "Anna prefers coffee");
    assert_eq!(current.memory.access_count, 1);
    let history = memory_history(&services, &stored.memory.id, 9).expect("it is read");
    assert_eq!(history.steps.len(), 4);
    assert!(history.steps.iter().all(|step| !step.is_edited_after));
}

#[test]
fn an_edit_and_a_proposal_from_before_the_count_are_still_of_this_version() {
    let home = TestHome::new();
    let services = home.services();
    let stored = put(&services, "Anna prefers tea");
    let id = stored.memory.id.to_string();
    let patch = |text: &str| Patch {
        content: Some(text.into()),
        ..Patch::default()
    };
    let agent = Services {
        review: ReviewPolicy {
            default: WritePolicy::Propose,
            rules: Vec::new(),
        },
        ..services.clone()
    }
    .restrict_to(&View {
        agent: Some("codex".parse::<AgentName>().expect("a name")),
        project: None,
        ..View::default()
    });
    let coffee = patch("Anna prefers coffee");
    update(&agent, &id, &coffee, None, SecretPolicy::Refuse).expect("it is proposed");
    read(&services, &id).expect("it is read");
    assert_eq!(write_counts(&services), 1);
    let current = services.store.get(&stored.memory.id).expect("it is there");
    assert_ne!(current.stamp, stored.stamp);

    let waiting = proposals(&services).expect("they are listed");
    assert!(!waiting[0].is_stale, "the text is the same");
    let edited = update(
        &services,
        &id,
        &patch("Anna prefers green tea"),
        Some(stored.stamp),
        SecretPolicy::Refuse,
    );
    assert_eq!(
        edited.expect("it is changed").memory.content,
        "Anna prefers green tea"
    );
    let options = AcceptOptions {
        category: None,
        stale: StaleProposals::Refuse,
        secrets: SecretPolicy::Refuse,
        expected: None,
    };
    let proposed = waiting[0].stored.memory.id.to_string();
    assert!(
        accept(&services, &proposed, options).is_err(),
        "the text differs now"
    );
    let other = FileVersion([7; 32].into());
    assert!(
        !services
            .store
            .has_version(&stored.memory.id, other)
            .expect("it is read")
    );
}

#[test]
fn files_that_a_person_may_be_editing_are_left() {
    let home = TestHome::new();
    let services = home.services();
    let stored = put(&services, "Anna prefers tea");
    let by_hand = home.path().join("categories/knowledge/by-hand.md");
    fs::create_dir_all(by_hand.parent().unwrap()).unwrap();
    fs::write(&by_hand, "---\ntitle: By hand\n---\nA note of a person.\n").unwrap();
    services.store.refresh().expect("it is found");
    let own = services
        .store
        .find_matches("by-hand", None)
        .expect("it is there");
    services.store.count_access(&[own[0].id, stored.memory.id]);

    let file = fs::File::options()
        .append(true)
        .open(path(&home, &stored))
        .unwrap();
    file.set_modified(services.clock.now().into()).unwrap();
    assert_eq!(
        write_counts(&services),
        0,
        "the file was changed less than ten minutes ago"
    );
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let name = stored.path.rsplit_once('/').unwrap().1;
    let mark = path(&home, &stored).with_file_name(format!(".{name}.swp"));
    fs::write(&mark, "").unwrap();
    assert_eq!(write_counts(&services), 0, "an editor has the file open");
    fs::remove_file(&mark).unwrap();
    assert_eq!(
        write_counts(&services),
        1,
        "a file without the field stays as it is"
    );
    assert_eq!(
        fs::read_to_string(&by_hand).unwrap(),
        "---\ntitle: By hand\n---\nA note of a person.\n"
    );
}
