//! The decisions of a person about proposals and notes in the inbox.

use super::proposals::{WaitingProposal, proposal};
use super::rejections::rejection_reason;
use crate::commit::commit;
use crate::write::plan_merge;
use crate::{
    Category, Change, ChangeOutcome, ChangeSet, Draft, FileVersion, Memory, MemoryId, MemoryStoreExt, Patch, Phase, Proposal,
    ProposalTarget, ProposedAction, SecretPolicy, Services, StoreError, StoredMemory, Verb, upgrade,
};

/// The treatment of a proposal that is based on an outdated version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleProposals {
    /// It is refused.
    Refuse,
    /// It overwrites the current version.
    Overwrite,
}

/// The options of an acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptOptions {
    /// The category to file the memory under; `None` takes the suggestion of the proposal.
    pub category: Option<Category>,
    /// The treatment of a proposal that is based on an outdated version.
    pub stale: StaleProposals,
    /// The handling of a text that contains a credential.
    pub secrets: SecretPolicy,
}

/// The effect of an acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// The proposal became a memory.
    Written,
    /// A memory has the same text already; it received the tags and other new fields.
    Merged,
    /// A memory was changed.
    Updated,
    /// A memory moved to the trash.
    Deleted,
    /// A note in the inbox was filed under a category.
    Filed,
}

impl Acceptance {
    /// Returns the name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Merged => "merged",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
            Self::Filed => "filed",
        }
    }
}

/// The result of an acceptance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptResult {
    /// The memory that was written, changed or deleted.
    pub id: MemoryId,
    /// Its path; the previous one if it was deleted.
    pub path: String,
    /// The effect.
    pub acceptance: Acceptance,
}

/// Accepts the proposal that `reference` names, or files a note of the inbox.
///
/// An accepted memory counts as created now. Its source is the agent, unless the agent named another one. Without a category
/// and without a suggestion it stays in the inbox as a note. One operation contains all changes.
///
/// # Errors
/// [`StoreError::StaleProposal`] if the memory was changed since, [`StoreError::NotFound`] if it was deleted,
/// [`StoreError::Secret`], [`StoreError::Invalid`] if the memory is already filed, and other errors of the store.
pub fn accept(services: &Services, reference: &str, options: AcceptOptions) -> Result<AcceptResult, StoreError> {
    let stored = services.store.get_by(reference)?;
    if !stored.memory.is_proposal() {
        return file_note(services, &stored, options.category);
    }
    let waiting = proposal(services, &stored.memory.id.to_string())?;
    match waiting.proposal.action {
        ProposedAction::Write => accept_write(services, &waiting, options),
        ProposedAction::Update(target) => accept_update(services, &waiting, target, options),
        ProposedAction::Delete(target) => accept_delete(services, &waiting, target, options),
    }
}

fn file_note(services: &Services, stored: &StoredMemory, category: Option<Category>) -> Result<AcceptResult, StoreError> {
    if stored.memory.phase != Phase::Inbox {
        return Err(StoreError::Invalid { why: format!("{} is neither a proposal nor in the inbox", stored.path) });
    }
    let filed = upgrade(services, &stored.memory.id.to_string(), category)?;
    Ok(AcceptResult { id: filed.memory.id, path: filed.path, acceptance: Acceptance::Filed })
}

fn accept_write(services: &Services, waiting: &WaitingProposal, options: AcceptOptions) -> Result<AcceptResult, StoreError> {
    let WaitingProposal { stored, proposal, .. } = waiting;
    let mut set = services.change_set(Verb::Accept);
    let proposed = &stored.memory;
    if let Some(id) = services.store.by_content(&proposed.content_hash(), &proposed.scope)? {
        return merge_into_equal(services, set, waiting, &id, options);
    }
    let mut memory = Memory { proposal: None, ..proposed.clone() };
    memory.category = options.category.unwrap_or(memory.category);
    memory.phase = if memory.category == Category::Inbox { Phase::Inbox } else { Phase::Organized };
    (memory.created_at, memory.updated_at) = (set.operation.at, set.operation.at);
    memory.version = memory.version.saturating_add(1);
    if memory.source.is_empty() {
        memory.source.clone_from(&proposal.by);
    }
    let id = memory.id;
    set.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
    let path = first_path(commit(services, &set, options.secrets)?, &stored.path);
    Ok(AcceptResult { id, path, acceptance: Acceptance::Written })
}

/// Merges the proposed fields into the memory with the same text, as a write does.
fn merge_into_equal(
    services: &Services,
    mut set: ChangeSet,
    waiting: &WaitingProposal,
    id: &MemoryId,
    options: AcceptOptions,
) -> Result<AcceptResult, StoreError> {
    let existing = services.store.get(id)?;
    let Memory { content, title, category, scope, tags, source, pinned, expires_at, .. } = waiting.stored.memory.clone();
    let category = Some(options.category.unwrap_or(category)).filter(|category| *category != Category::Inbox);
    let draft = Draft { title, category, scope, tags, source, expires_at, pinned, ..Draft::new(&content) };
    let (merged, _) = plan_merge(&draft, &existing, &services.actor);
    let patch = Patch {
        add_tags: merged.tags.iter().collect(),
        category: merged.category,
        title: merged.title.map(Some),
        pinned: merged.pinned.then_some(true),
        ..Patch::default()
    };
    if let Some(memory) = patch.apply(&existing.memory, set.operation.at) {
        set.changes.push(Change::Replace { expected: existing.stamp, memory: Box::new(memory) });
    }
    set.changes.push(removal(&waiting.stored));
    let outcomes = commit(services, &set, options.secrets)?;
    let final_path = if set.changes.len() == 1 { existing.path } else { first_path(outcomes, &existing.path) };
    Ok(AcceptResult { id: *id, path: final_path, acceptance: Acceptance::Merged })
}

fn accept_update(
    services: &Services,
    waiting: &WaitingProposal,
    target: ProposalTarget,
    options: AcceptOptions,
) -> Result<AcceptResult, StoreError> {
    let current = current_target(waiting, target, options.stale)?;
    let mut patch = Patch::from_proposal(&current.memory, &waiting.stored.memory);
    patch.category = options.category.or(patch.category);
    let mut set = services.change_set(Verb::Accept);
    if let Some(memory) = patch.apply(&current.memory, set.operation.at) {
        set.changes.push(Change::Replace { expected: current.stamp, memory: Box::new(memory) });
        add_other_ends(services, &mut set, target.id, &patch)?;
    }
    let changes_target = !set.changes.is_empty();
    set.changes.push(removal(&waiting.stored));
    let outcomes = commit(services, &set, options.secrets)?;
    let final_path = if changes_target { first_path(outcomes, &current.path) } else { current.path.clone() };
    Ok(AcceptResult { id: target.id, path: final_path, acceptance: Acceptance::Updated })
}

/// Adds the changes of the memories at the other ends of new and removed links, because links go both ways.
fn add_other_ends(services: &Services, set: &mut ChangeSet, id: MemoryId, patch: &Patch) -> Result<(), StoreError> {
    let ends = patch.add_links.iter().map(|other| (*other, true)).chain(patch.remove_links.iter().map(|other| (*other, false)));
    for (other, is_new) in ends {
        let stored = match services.store.get(&other) {
            Ok(stored) => stored,
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => continue,
            Err(error) => return Err(error),
        };
        let ids = vec![id];
        let (add_links, remove_links) = if is_new { (ids, Vec::new()) } else { (Vec::new(), ids) };
        let back = Patch { add_links, remove_links, ..Patch::default() };
        if let Some(memory) = back.apply(&stored.memory, set.operation.at).filter(|_| stored.problem.is_none()) {
            set.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
        }
    }
    Ok(())
}

fn accept_delete(
    services: &Services,
    waiting: &WaitingProposal,
    target: ProposalTarget,
    options: AcceptOptions,
) -> Result<AcceptResult, StoreError> {
    let current = current_target(waiting, target, options.stale)?;
    let mut set = services.change_set(Verb::Accept);
    set.changes.push(removal(current));
    set.changes.push(removal(&waiting.stored));
    commit(services, &set, SecretPolicy::Keep)?;
    Ok(AcceptResult { id: target.id, path: current.path.clone(), acceptance: Acceptance::Deleted })
}

/// Returns the memory that a proposal changes, if the decision applies to its current version.
fn current_target(waiting: &WaitingProposal, target: ProposalTarget, stale: StaleProposals) -> Result<&StoredMemory, StoreError> {
    let missing = || StoreError::NotFound { reference: target.id.to_string() };
    let current = waiting.target.as_ref().ok_or_else(missing)?;
    if waiting.is_stale && stale == StaleProposals::Refuse {
        let (proposal, path) = (waiting.stored.memory.id, current.path.clone());
        return Err(StoreError::StaleProposal { proposal, path });
    }
    Ok(current)
}

fn removal(stored: &StoredMemory) -> Change {
    Change::Remove { id: stored.memory.id, expected: Some(stored.stamp) }
}

fn first_path(outcomes: Vec<ChangeOutcome>, otherwise: &str) -> String {
    match outcomes.into_iter().next() {
        Some(ChangeOutcome::Kept { path, .. } | ChangeOutcome::Duplicate { path, .. } | ChangeOutcome::Removed { path, .. }) => {
            path
        }
        None => otherwise.to_owned(),
    }
}

/// Moves the proposal that `reference` names to the trash, and returns it.
///
/// The journal records the content, so that no agent can propose it again. A note of the inbox is only deleted.
///
/// # Errors
/// [`StoreError::Invalid`] if the memory is already filed; [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn reject(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    let memory = &stored.memory;
    if !memory.is_proposal() && memory.phase != Phase::Inbox {
        return Err(StoreError::Invalid { why: format!("{} is neither a proposal nor in the inbox", stored.path) });
    }
    let mut set = services.change_set(if memory.is_proposal() { Verb::Reject } else { Verb::Delete });
    if let Some(Proposal { action, .. }) = &memory.proposal {
        set.reasons.insert(memory.id, rejection_reason(&action.fingerprint(memory)));
    }
    set.changes.push(removal(&stored));
    commit(services, &set, SecretPolicy::Keep)?;
    Ok(stored)
}

/// Adds the text and the tags of a proposed or unfiled memory to the memory that `into` names, and returns the latter.
///
/// Lines that the other memory has already are left out. The proposal or note moves to the trash with the same operation.
///
/// # Errors
/// [`StoreError::Invalid`] if the first memory is filed, proposes to change another memory, or is the second one;
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn merge_proposal(services: &Services, reference: &str, into: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    let target = services.store.get_by(into)?;
    let invalid = |why: String| Err(StoreError::Invalid { why });
    if stored.memory.id == target.memory.id {
        return invalid(format!("{} cannot be merged into itself", stored.path));
    }
    if target.memory.is_proposal() {
        return invalid(format!("{} is itself a proposal", target.path));
    }
    match &stored.memory.proposal {
        Some(Proposal { action: ProposedAction::Update(_) | ProposedAction::Delete(_), .. }) => {
            return invalid(format!("{} changes another memory and cannot be merged", stored.path));
        }
        None if stored.memory.phase != Phase::Inbox => {
            return invalid(format!("{} is neither a proposal nor in the inbox", stored.path));
        }
        Some(Proposal { action: ProposedAction::Write, .. }) | None => {}
    }
    let mut set = services.change_set(Verb::Accept);
    let patch = Patch {
        content: Some(merged_content(&target.memory.content, &stored.memory.content)),
        add_tags: stored.memory.tags.clone(),
        ..Patch::default()
    };
    if let Some(memory) = patch.apply(&target.memory, set.operation.at) {
        set.changes.push(Change::Replace { expected: target.stamp, memory: Box::new(memory) });
    }
    set.changes.push(removal(&stored));
    commit(services, &set, SecretPolicy::Keep)?;
    services.store.get(&target.memory.id)
}

/// Returns `content`, followed by the lines of `more` that it does not contain.
fn merged_content(content: &str, more: &str) -> String {
    let known: Vec<&str> = content.lines().map(str::trim).collect();
    let is_new = |line: &&str| line.trim().is_empty() || !known.contains(&line.trim());
    let new = more.lines().filter(is_new).collect::<Vec<_>>().join("\n");
    match new.trim() {
        "" => content.to_owned(),
        new => format!("{}\n\n{new}", content.trim_end()),
    }
}

/// Replaces the text of the proposal or unfiled note that `reference` names, and returns its new version.
///
/// A stale proposal is based on the current version of the memory afterwards.
///
/// # Errors
/// [`StoreError::Invalid`] if the text is empty or the memory is filed, [`StoreError::Secret`] if it contains a credential.
pub fn edit_proposal(
    services: &Services,
    reference: &str,
    content: &str,
    expected: Option<FileVersion>,
    secrets: SecretPolicy,
) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    let id = stored.memory.id.to_string();
    if expected.is_some_and(|expected| expected != stored.stamp) {
        return Err(StoreError::Conflict { what: stored.path });
    }
    if content.trim().is_empty() {
        return Err(StoreError::Invalid { why: "the new text is empty".into() });
    }
    if !stored.memory.is_proposal() {
        if stored.memory.phase != Phase::Inbox {
            return Err(StoreError::Invalid { why: format!("{} is neither a proposal nor in the inbox", stored.path) });
        }
        let patch = Patch { content: Some(content.to_owned()), ..Patch::default() };
        return crate::update(services, &id, &patch, Some(stored.stamp), secrets);
    }
    let waiting = proposal(services, &id)?;
    let current = waiting.target.as_ref().map(|target| target.stamp);
    let rebase = |target: ProposalTarget| ProposalTarget { base: current.unwrap_or(target.base), ..target };
    let action = match waiting.proposal.action {
        ProposedAction::Write => ProposedAction::Write,
        ProposedAction::Update(target) => ProposedAction::Update(rebase(target)),
        ProposedAction::Delete(_) => {
            return Err(StoreError::Invalid { why: format!("{} proposes a deletion and has no text to edit", stored.path) });
        }
    };
    let mut set = services.change_set(Verb::Update);
    let mut memory = Memory { proposal: Some(Proposal { action, ..waiting.proposal }), ..stored.memory.clone() };
    content.clone_into(&mut memory.content);
    if memory != stored.memory {
        (memory.version, memory.updated_at) = (memory.version.saturating_add(1), set.operation.at.max(memory.updated_at));
        set.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
        commit(services, &set, secrets)?;
    }
    services.store.get_by(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_adds_only_new_lines() {
        assert_eq!(merged_content("a\nb", "b\nc"), "a\nb\n\nc");
        assert_eq!(merged_content("a\nb\n", "  b\n\na"), "a\nb\n");
        assert_eq!(merged_content("a", "x\n\ny"), "a\n\nx\n\ny");
    }
}
