//! The conformance suite of [`crate::History`].

use chrono::TimeDelta;

use crate::secret::Checked;
use crate::{
    Category, Change, ChangeOutcome, Code, Draft, LARGE_OPERATION, OperationRecord, Patch,
    Refinement, RefinementUnit, Scope, SecretPolicy, Services, StoreError, Tags, TrashedFile, Verb,
    delete, restore, tag, undo, update, write,
};
use crate::{MemoryStoreExt, link};

/// Checks the contract of [`crate::History`]. `make` returns services over a new, empty store.
///
/// # Panics
/// If the contract is violated.
pub fn history_suite(make: &dyn Fn() -> Services) {
    check_rules!(
        make;
        every_change_is_recorded,
        an_undo_puts_back_what_was,
        an_undo_can_be_undone,
        an_operation_that_changed_a_memory_twice_is_taken_back,
        an_undo_of_a_file_that_changed_since_is_refused,
        an_undo_of_many_files_leaves_those_that_changed_since,
        a_purged_file_is_not_restored_by_an_undo,
        the_trash_gives_back,
        the_deletion_of_a_restored_and_moved_memory_is_not_undone,
        a_purge_is_for_good,
    );
}

fn put(services: &Services, content: &str) -> String {
    write(services, Draft::new(content), SecretPolicy::Refuse)
        .expect("a draft is written")
        .id
        .to_string()
}

fn records(services: &Services) -> Vec<OperationRecord> {
    services
        .history
        .records()
        .map(|record| record.expect("readable"))
        .collect()
}

fn trashed(services: &Services) -> Vec<TrashedFile> {
    services
        .history
        .trashed()
        .map(|trashed| trashed.expect("readable"))
        .collect()
}

fn content(services: &Services, id: &str) -> Option<String> {
    match services.store.get_by(id) {
        Ok(stored) => Some(stored.memory.content),
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn rewrite(services: &Services, id: &str, text: &str) {
    let patch = Patch {
        content: Some(text.to_owned()),
        ..Patch::default()
    };
    update(services, id, &patch, None, SecretPolicy::Refuse).expect("updated");
}

fn every_change_is_recorded(services: &Services) {
    let (first, second) = (put(services, "one"), put(services, "two"));
    link(services, &first, &second).expect("linked");
    delete(services, &first).expect("deleted");
    let verbs: Vec<_> = records(services)
        .into_iter()
        .map(|record| (record.operation.verb, record.subject.count))
        .collect();
    assert_eq!(
        verbs,
        [
            (Verb::Delete, 1),
            (Verb::Link, 2),
            (Verb::Write, 1),
            (Verb::Write, 1)
        ]
    );
    let last = records(services).remove(0);
    let change = services
        .history
        .changes(&last.operation.id)
        .next()
        .expect("one file")
        .expect("readable");
    assert_eq!(
        (
            change.id.to_string(),
            change.after.is_none(),
            change.before.is_some()
        ),
        (first, true, true)
    );
}

fn an_operation_that_changed_a_memory_twice_is_taken_back(services: &Services) {
    let (kept, gone) = (put(services, "first"), put(services, "gone"));
    let mut refinement = Refinement::new(services, Verb::Dream);
    let mut change = |patch: &Patch| {
        let stored = services.store.get_by(&kept).expect("it is there");
        let memory = patch
            .apply(&stored.memory, services.clock.now())
            .expect("it is changed");
        let changes = vec![Change::Replace {
            expected: stored.stamp,
            memory: Box::new(memory),
        }];
        refinement
            .commit(vec![RefinementUnit {
                changes,
                ..RefinementUnit::default()
            }])
            .expect("it is written");
    };
    change(&Patch {
        content: Some("second".into()),
        ..Patch::default()
    });
    change(&Patch {
        category: Some(Category::People),
        ..Patch::default()
    });
    let removed = Change::Remove {
        id: services.store.find(&gone).expect("it is there"),
        expected: None,
    };
    refinement
        .commit(vec![RefinementUnit {
            changes: vec![removed],
            ..RefinementUnit::default()
        }])
        .expect("it is written");
    let operation = refinement.id().to_string();
    assert_eq!(records(services)[0].subject.count, 3, "its parts are one");
    for _ in 0..2 {
        let undone = undo(services, Some(&operation)).expect("undone");
        assert_eq!(
            [&kept, &gone].map(|id| content(services, id)),
            ["first", "gone"].map(|text| Some(text.to_owned()))
        );
        assert_eq!(
            services
                .store
                .get_by(&kept)
                .expect("it is there")
                .memory
                .category,
            Category::Inbox
        );
        undo(services, Some(undone.undo.as_str())).expect("done again");
        assert_eq!(
            [&kept, &gone].map(|id| content(services, id)),
            [Some("second".to_owned()), None]
        );
        assert_eq!(
            services
                .store
                .get_by(&kept)
                .expect("it is there")
                .memory
                .category,
            Category::People
        );
    }
}

fn an_undo_puts_back_what_was(services: &Services) {
    assert_eq!(
        undo(services, None)
            .expect_err("nothing was done yet")
            .code(),
        Code::OperationNotFound
    );
    let id = put(services, "first");
    rewrite(services, &id, "second");
    undo(services, None).expect("undone");
    assert_eq!(content(services, &id).as_deref(), Some("first"));
    undo(services, None).expect("undone further");
    assert_eq!(content(services, &id), None);
    assert_eq!(
        undo(services, None).expect_err("all is undone").code(),
        Code::OperationNotFound
    );
}

fn an_undo_can_be_undone(services: &Services) {
    let id = put(services, "kept");
    delete(services, &id).expect("deleted");
    let undone = undo(services, None).expect("undone");
    assert_eq!(content(services, &id).as_deref(), Some("kept"));
    undo(services, Some(undone.undo.as_str())).expect("done again");
    assert_eq!(content(services, &id), None);
    let delete_again = &records(services)[2];
    assert_eq!(
        (delete_again.operation.verb, &delete_again.undone_by),
        (Verb::Delete, &None)
    );
    undo(services, None).expect("undone once more");
    assert_eq!(content(services, &id).as_deref(), Some("kept"));
}

fn an_undo_of_a_file_that_changed_since_is_refused(services: &Services) {
    let id = put(services, "first");
    let written = records(services).remove(0).operation.id;
    tag(services, &id, ["x"].iter().collect(), Tags::default()).expect("tagged");
    let refused = undo(services, Some(written.as_str())).expect_err("it was tagged since");
    assert_eq!(refused.code(), Code::Conflict);
    assert_eq!(content(services, &id).as_deref(), Some("first"));
    assert_eq!(
        undo(services, Some("ffffffffffff"))
            .expect_err("no such operation")
            .code(),
        Code::OperationNotFound
    );
}

fn an_undo_of_many_files_leaves_those_that_changed_since(services: &Services) {
    let mut set = services.change_set(Verb::Import);
    for number in 0..LARGE_OPERATION {
        let memory = Draft::new(&format!("note {number}"))
            .into_memory(services.ids.memory_id(), services.clock.now());
        set.changes.push(Change::Create {
            memory: Box::new(memory),
            front_matter: String::new(),
        });
    }
    let outcomes = services
        .store
        .commit(Checked::allowed(&set))
        .expect("stored");
    let Some(ChangeOutcome::Kept { id, .. }) = outcomes.first() else {
        panic!("the first one is stored: {outcomes:?}")
    };
    let changed = id.to_string();
    tag(services, &changed, ["x"].iter().collect(), Tags::default()).expect("tagged");
    let undone = undo(services, Some(set.operation.id.as_str())).expect("the others are removed");
    assert_eq!(undone.left.len(), 1, "{undone:?}");
    assert_eq!(content(services, &changed).as_deref(), Some("note 0"));
    let filter = crate::Filter::default();
    let page = crate::list(services, &filter, &crate::PageRequest::default()).expect("listed");
    assert_eq!(page.total, 1, "the others are gone");
    assert!(
        undo(services, Some(set.operation.id.as_str())).is_err(),
        "it counts as undone"
    );
}

fn a_purged_file_is_not_restored_by_an_undo(services: &Services) {
    let id = put(services, "first");
    let patch = Patch {
        content: Some("second".into()),
        ..Patch::default()
    };
    update(services, &id, &patch, None, SecretPolicy::Refuse).expect("updated");
    services
        .history
        .purge(services.clock.now() + TimeDelta::days(1))
        .expect("purged");
    let refused = undo(services, None).expect_err("the former file is gone");
    assert_eq!(refused.code(), Code::TrashNotFound);
    assert_eq!(content(services, &id).as_deref(), Some("second"));
}

fn the_trash_gives_back(services: &Services) {
    let draft = Draft {
        scope: Scope::Agent("own".into()),
        ..Draft::new("precious")
    };
    let id = write(services, draft, SecretPolicy::Refuse)
        .expect("a draft is written")
        .id
        .to_string();
    let patch = Patch {
        content: Some("precious, changed".into()),
        scope: Some(Scope::Global),
        ..Patch::default()
    };
    update(services, &id, &patch, None, SecretPolicy::Refuse).expect("updated");
    delete(services, &id).expect("deleted");
    restore(services, &id[..8]).expect("restored");
    assert_eq!(
        content(services, &id).as_deref(),
        Some("precious, changed"),
        "the last version comes back"
    );
    let gone = restore(services, &id[..8]).expect_err("it is there already");
    assert_eq!(gone.code(), Code::TrashNotFound);
    let former = trashed(services)
        .into_iter()
        .find(|trashed| trashed.operation.verb == Verb::Update)
        .expect("the former version");
    let memory = services
        .history
        .memory_in_trash(&former.trash)
        .expect("it is there");
    assert_eq!(
        (memory.scope, memory.content.as_str()),
        (Scope::Agent("own".into()), "precious"),
        "that is whose it was"
    );
    assert_eq!(
        services
            .history
            .memory_in_trash("trash/none.md")
            .expect_err("it is not")
            .code(),
        Code::TrashNotFound
    );
    restore(services, &former.trash).expect("restored by its path");
    assert_eq!(content(services, &id).as_deref(), Some("precious"));
    undo(services, None).expect("even that is undone");
    assert_eq!(content(services, &id).as_deref(), Some("precious, changed"));
}

fn the_deletion_of_a_restored_and_moved_memory_is_not_undone(services: &Services) {
    let id = put(services, "moved");
    delete(services, &id).expect("deleted");
    let deletion = records(services)[0].operation.id.clone();
    restore(services, &id[..8]).expect("restored");
    let patch = Patch {
        category: Some(Category::Lessons),
        ..Patch::default()
    };
    update(services, &id, &patch, None, SecretPolicy::Refuse).expect("moved");
    let refused = undo(services, Some(deletion.as_str())).expect_err("it was changed since");
    assert_eq!(refused.code(), Code::Conflict);
    let stored = services.store.get_by(&id).expect("it is there once");
    assert_eq!(stored.memory.category, Category::Lessons);
}

fn a_purge_is_for_good(services: &Services) {
    let id = put(services, "old");
    delete(services, &id).expect("deleted");
    let past = services.clock.now() - TimeDelta::days(1);
    assert_eq!(
        services.history.purge(past).expect("purged").0,
        0,
        "nothing is that old"
    );
    let (files, bytes) = services
        .history
        .purge(services.clock.now() + TimeDelta::days(1))
        .expect("purged");
    assert!(files == 1 && 0 < bytes);
    assert_eq!(
        restore(services, &id).expect_err("gone for good").code(),
        Code::TrashNotFound
    );
    assert_eq!(content(services, &id), None);
}
