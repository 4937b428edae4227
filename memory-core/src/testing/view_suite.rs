//! The property test of services that are restricted to a view.

mod calls;
mod home;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use self::calls::{ViewCall, ViewCaller, any_call};
use self::home::{PlantedMemory, Viewer, any_planted, any_viewer, plant};
use crate::{Filter, ListOrder, MemoryId, PageRequest, Services, StoredMemory};

/// Checks that memories outside the view of an agent, on a node or of a principal who calls a server, are treated as missing.
///
/// It runs `cases` random call sequences on random homes. Every call has the same result as in a home without those memories, no result
/// contains their text, and no call changes them.
///
/// `make` returns services over a new, empty store with deterministic ids and a deterministic clock.
///
/// # Panics
/// If a call violates this property.
pub fn view_suite(make: &dyn Fn() -> Services, cases: u32) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let any = (
        any_viewer(),
        prop::collection::vec(any_planted(), 1..10),
        prop::collection::vec(any_call(), 1..16),
    );
    runner
        .run(&any, |(viewer, planted, calls)| {
            check(make, viewer, &planted, &calls)
        })
        .expect("what is not seen is not there");
}

fn check(
    make: &dyn Fn() -> Services,
    viewer: Viewer,
    planted: &[PlantedMemory],
    calls: &[ViewCall],
) -> Result<(), TestCaseError> {
    let node = || Services {
        principal: viewer.node_principal().map(|own| Arc::new(own) as _),
        ..make()
    };
    let (whole, without) = (node(), node());
    let stems = plant(&whole, viewer, planted, true);
    plant(&without, viewer, planted, false);
    let split_by_view = |services: &Services| split_by_view(services, viewer);
    let (hidden, seen) = split_by_view(&whole);
    prop_assert_eq!(split_by_view(&without), (Vec::new(), seen));
    let mut agents = [&whole, &without]
        .map(|services| ViewCaller::new(services.restrict_to(&viewer.view()), planted, &stems));
    let mut secrets: BTreeSet<usize> = (0..planted.len())
        .filter(|number| !planted[*number].is_seen(viewer))
        .collect();
    for call in calls {
        secrets.retain(|number| !call.contains_text(*number));
        let [told, expected] = agents.each_mut().map(|agent| agent.call(call));
        prop_assert_eq!(&told, &expected, "{:?}", call);
        for number in &secrets {
            prop_assert!(
                !told.contains(&home::secret(*number)),
                "{:?} tells of {}: {}",
                call,
                number,
                told
            );
        }
        prop_assert_eq!(&split_by_view(&whole).0, &hidden, "{:?}", call);
    }
    prop_assert_eq!(split_by_view(&whole).1, split_by_view(&without).1);
    let ids: Vec<MemoryId> = hidden.iter().map(|stored| stored.memory.id).collect();
    let view = whole.restrict_to(&viewer.view());
    for listed in self::split_by_view(&view, viewer).1 {
        let read = view.store.get(&listed.memory.id).expect("it is there");
        for memory in [&listed.memory, &read.memory] {
            let shown = memory.references();
            prop_assert!(shown.iter().all(|id| !ids.contains(id)), "{:?}", memory);
        }
    }
    Ok(())
}

/// Returns the memories outside the view, and those within it.
fn split_by_view(services: &Services, viewer: Viewer) -> (Vec<StoredMemory>, Vec<StoredMemory>) {
    services.store.refresh().expect("the files can be read");
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    let page = services
        .store
        .list(&Filter::all(), &slice, chrono::DateTime::UNIX_EPOCH)
        .expect("they are listed");
    let (mut hidden, mut seen): (Vec<_>, Vec<_>) = page
        .memories
        .into_iter()
        .partition(|stored| !viewer.sees(&stored.memory.scope));
    let id = |stored: &StoredMemory| -> MemoryId { stored.memory.id };
    hidden.sort_by_key(id);
    seen.sort_by_key(id);
    (hidden, seen)
}
