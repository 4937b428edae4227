//! The memories for the start of a session, which has no prompt.

use std::collections::HashSet;

use super::Context;
use super::prompt_matches::MATCH_LIMITS;
use crate::earlier::find_replaced;
use crate::{
    Category, Filter, ListOrder, Memory, MemoryPage, PageRequest, Scope, Services, StoreError,
    StoredMemory,
};

/// The categories of the profile of the person.
const PROFILE: [Category; 4] = [
    Category::Soul,
    Category::Character,
    Category::Preferences,
    Category::Habits,
];

/// The categories of memories that guide later work.
const GUIDANCE: [Category; 2] = [Category::Decisions, Category::Lessons];

/// The number of memories of the profile that precede those of the project.
const PROFILE_FIRST: usize = 6;

/// The number of decisions and lessons of the project, and of its other memories, that precede all further ones.
const PROJECT_FIRST: [usize; 2] = [6, 3];

/// Returns the memories for an empty prompt.
///
/// The profile and preferences come first, then the decisions and lessons of the project, then the newest memories. The first
/// memories of each group precede the rest of the groups, so that no group displaces another one. Within each part, pinned
/// memories come first.
pub(super) fn list_for_start(
    services: &Services,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    let mut profile = list_categories(services, &PROFILE, None, context)?;
    let project = services.project.clone().map(Scope::Project);
    let (mut guidance, mut others) = (Vec::new(), Vec::new());
    if let Some(project) = &project {
        guidance = list_categories(services, &GUIDANCE, Some(project), context)?;
        others = list_updated(
            services,
            &Filter {
                scope: Some(project.clone()),
                ..Filter::default()
            },
            context,
        )?;
    }
    let further = list_categories(services, &GUIDANCE, None, context)?;
    let newest = list_updated(services, &Filter::default(), context)?;
    let mut parts = Vec::new();
    for (group, first) in [
        (&mut profile, PROFILE_FIRST),
        (&mut guidance, PROJECT_FIRST[0]),
        (&mut others, PROJECT_FIRST[1]),
    ] {
        group.sort_by_key(|stored| !stored.memory.pinned);
        parts.push(group.drain(..first.min(group.len())).collect::<Vec<_>>());
    }
    let mut rest: Vec<StoredMemory> = profile
        .into_iter()
        .chain(guidance)
        .chain(others)
        .chain(further)
        .chain(newest)
        .collect();
    rest.sort_by_key(|stored| !stored.memory.pinned);
    let mut ids = HashSet::new();
    let is_new = |stored: &StoredMemory| {
        stored.memory.category != Category::Reminders && ids.insert(stored.memory.id)
    };
    let all: Vec<StoredMemory> = parts
        .into_iter()
        .flatten()
        .chain(rest)
        .filter(is_new)
        .collect();
    let notes: Vec<&Memory> = all.iter().map(|stored| &stored.memory).collect();
    let replaced = find_replaced(&notes);
    let current = all.into_iter().zip(replaced);
    Ok(current
        .filter_map(|(stored, newer)| newer.is_none().then_some(stored))
        .collect())
}

/// Returns the last updated memories of some categories, by category.
fn list_categories(
    services: &Services,
    categories: &[Category],
    scope: Option<&Scope>,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    let mut all = Vec::new();
    for category in categories {
        let filter = Filter {
            category: Some(*category),
            scope: scope.cloned(),
            ..Filter::default()
        };
        all.extend(list_updated(services, &filter, context)?);
    }
    Ok(all)
}

/// Returns the last updated memories that pass a filter.
fn list_updated(
    services: &Services,
    filter: &Filter,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    let slice = PageRequest {
        order: ListOrder::Updated,
        offset: 0,
        limit: Some(*MATCH_LIMITS.start()),
    };
    let MemoryPage {
        memories, degraded, ..
    } = services.store.list(filter, &slice, services.clock.now())?;
    context.degraded = context.degraded.take().or(degraded);
    Ok(memories)
}
