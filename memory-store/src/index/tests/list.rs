//! Tests of lists.

use memory_core::{Category, Filter, Lifetime, ListOrder, PageRequest, Phase, Scope};

use super::fixture::{IndexFixture, TestNote, check_flushed_and_pending, id, now};
use crate::index::{MemoryIndex, RefreshDepth};

/// Checks the total of lists with every kind of filter, and returns that of all current notes.
fn checked_total(index: &MemoryIndex) -> u64 {
    index.refresh(RefreshDepth::Usual).unwrap();
    let total = |filter: &Filter| {
        let slice = PageRequest {
            order: ListOrder::Created,
            offset: 0,
            limit: None,
        };
        let all = index.list(filter, &slice, now()).unwrap();
        assert_eq!(all.total, all.memories.len() as u64, "{filter:?}");
        let first = index
            .list(
                filter,
                &PageRequest {
                    limit: Some(1),
                    ..slice
                },
                now(),
            )
            .unwrap();
        assert_eq!(
            (first.total, first.memories.len() as u64),
            (all.total, all.total.min(1)),
            "{filter:?}"
        );
        all.total
    };
    let project: Scope = "project:web".parse().unwrap();
    for lifetime in [Lifetime::Current, Lifetime::All] {
        for scope in [None, Some(project.clone())] {
            for within in [
                None,
                Some(vec![Scope::Global, project.clone()]),
                Some(Vec::new()),
            ] {
                for category in [None, Some(Category::People)] {
                    for phase in [None, Some(Phase::Inbox)] {
                        let (scope, within) = (scope.clone(), within.clone());
                        total(&Filter {
                            lifetime,
                            scope,
                            within,
                            category,
                            phase,
                            ..Filter::default()
                        });
                    }
                }
            }
        }
    }
    total(&Filter::default())
}

#[test]
fn totals_count_the_notes_that_a_list_without_a_limit_shows() {
    let successor = format!("superseded_by: {}\n", id(1));
    let note = |number: u32, folder: &'static str, front| TestNote {
        number,
        folder,
        front,
        body: "dark mode",
    };
    let home = IndexFixture::with(&[
        note(1, "", ""),
        note(2, "people", ""),
        note(3, "people", "scope: project:web\n"),
        note(4, "people", "expires_at: 2026-05-20T00:00:00Z\n"),
        note(5, "", "expires_at: 2026-07-01T00:00:00Z\n"),
        note(6, "", &successor),
        note(
            7,
            "",
            "scope: project:web\nexpires_at: 2026-05-20T00:00:00Z\n",
        ),
    ]);
    // Two files that name the same id.
    home.put(
        "categories/inbox/copy.md",
        &std::fs::read(home.absolute_path(&note(2, "people", "").path())).unwrap(),
    );
    check_flushed_and_pending(&home, |index| assert_eq!(checked_total(index), 5));

    let index = home.index();
    std::fs::remove_file(home.absolute_path(&note(2, "people", "").path())).unwrap();
    assert_eq!(checked_total(&index), 4, "deleted");
    home.write(&note(
        4,
        "people",
        "expires_at: 2026-05-20T00:00:01Z\npinned: true\n",
    ));
    home.write(&note(6, "", ""));
    home.write(&note(
        1,
        "",
        &successor.replace(&id(1).to_string(), &id(6).to_string()),
    ));
    assert_eq!(checked_total(&index), 4, "changed");
    std::fs::rename(
        home.absolute_path("categories/people"),
        home.absolute_path("categories/tools"),
    )
    .unwrap();
    assert_eq!(checked_total(&index), 4, "moved");
}
