//! Merging the changes of a memory by its source with those by a person, field by field.

use crate::{Memory, Scope};

/// Returns `current` with the changes from `base` to `new`. A field that differs between `base` and `current` remains as it is.
///
/// Only the fields that a source gives are changed.
pub(super) fn merge_fields(base: &Memory, new: &Memory, current: &Memory) -> Memory {
    let mut merged = Memory {
        tags: current
            .tags
            .without(&base.tags.without(&new.tags))
            .with(&new.tags.without(&base.tags)),
        aliases: merge_lists(&base.aliases, &new.aliases, &current.aliases),
        links: merge_lists(&base.links, &new.links, &current.links),
        ..current.clone()
    };
    merge_field(&base.content, &new.content, &mut merged.content);
    merge_field(&base.title, &new.title, &mut merged.title);
    merge_field(&base.updated_at, &new.updated_at, &mut merged.updated_at);
    merge_scalars(base, new, &mut merged);
    merged
}

fn merge_scalars(base: &Memory, new: &Memory, merged: &mut Memory) {
    if (base.category, base.phase) == (merged.category, merged.phase) {
        (merged.category, merged.phase) = (new.category, new.phase);
    }
    // The name of a project in a source may come to mean another folder.
    let is_other_project = |one: &Scope, other: &Scope| {
        one != other && matches!((one, other), (Scope::Project(_), Scope::Project(_)))
    };
    if !is_other_project(&new.scope, &merged.scope) {
        merge_field(&base.scope, &new.scope, &mut merged.scope);
    }
    merge_field(&base.role, &new.role, &mut merged.role);
    merge_field(&base.created_at, &new.created_at, &mut merged.created_at);
    merge_field(&base.expires_at, &new.expires_at, &mut merged.expires_at);
    merge_field(&base.valid_from, &new.valid_from, &mut merged.valid_from);
    merge_field(&base.valid_until, &new.valid_until, &mut merged.valid_until);
    merge_field(&base.pinned, &new.pinned, &mut merged.pinned);
    // A reminder also records whether it was shown and completed.
    let due = |memory: &Memory| memory.reminder.as_ref().map(|reminder| reminder.due);
    if due(base) == due(merged) && due(base) != due(new) {
        merged.reminder.clone_from(&new.reminder);
    }
}

/// Returns `to` with the fields that a source gives of `from`, other than text, names, links and the time of the change.
pub(super) fn with_scalars(from: &Memory, to: Memory) -> Memory {
    Memory {
        category: from.category,
        phase: from.phase,
        scope: from.scope.clone(),
        role: from.role,
        created_at: from.created_at,
        expires_at: from.expires_at,
        valid_from: from.valid_from,
        valid_until: from.valid_until,
        pinned: from.pinned,
        reminder: from.reminder.clone(),
        ..to
    }
}

fn merge_field<T: PartialEq + Clone>(base: &T, new: &T, field: &mut T) {
    if field == base {
        field.clone_from(new);
    }
}

/// Returns `current` without the items that only `base` has, and with the items that only `new` has.
pub(super) fn merge_lists<T: PartialEq + Clone>(base: &[T], new: &[T], current: &[T]) -> Vec<T> {
    let retained = current
        .iter()
        .filter(|item| new.contains(item) || !base.contains(item));
    let added = new
        .iter()
        .filter(|item| !current.contains(item) && !base.contains(item));
    retained.chain(added).cloned().collect()
}
