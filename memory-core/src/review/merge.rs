//! The merge of a proposal or an unfiled note into another memory, and its preview.

use super::decide::{check_version, removal};
use crate::commit::commit;
use crate::{
    Change, FileVersion, Memory, MemoryStoreExt, Patch, Phase, Proposal, ProposedAction, SecretPolicy, Services, StoreError,
    StoredMemory, Verb,
};

/// A merge that is not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalMerge {
    /// The proposal or note, which moves to the trash.
    pub item: StoredMemory,
    /// The memory that receives its text and tags.
    pub target: StoredMemory,
    /// That memory after the merge.
    pub merged: Memory,
}

/// The versions that the person saw before a merge; another one is refused. `None` accepts any version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeVersions {
    /// The version of the proposal or note.
    pub item: Option<FileVersion>,
    /// The version of the memory that receives the text.
    pub target: Option<FileVersion>,
}

/// Returns the merge of the proposal or note that `reference` names into the memory that `into` names, without making it.
///
/// # Errors
/// As [`merge_proposal()`], except for credentials.
pub fn plan_proposal_merge(services: &Services, reference: &str, into: &str) -> Result<ProposalMerge, StoreError> {
    let item = services.store.get_by(reference)?;
    let target = services.store.get_by(into)?;
    let invalid = |why: String| Err(StoreError::Invalid { why });
    if item.memory.id == target.memory.id {
        return invalid(format!("{} cannot be merged into itself", item.path));
    }
    if target.memory.is_proposal() {
        return invalid(format!("{} is itself a proposal", target.path));
    }
    match &item.memory.proposal {
        Some(Proposal { action: ProposedAction::Update(_) | ProposedAction::Delete(_), .. }) => {
            return invalid(format!("{} changes another memory and cannot be merged", item.path));
        }
        None if item.memory.phase != Phase::Inbox => {
            return invalid(format!("{} is neither a proposal nor in the inbox", item.path));
        }
        Some(Proposal { action: ProposedAction::Write, .. }) | None => {}
    }
    let patch = Patch {
        content: Some(merged_content(&target.memory.content, &item.memory.content)),
        add_tags: item.memory.tags.clone(),
        ..Patch::default()
    };
    let merged = patch.apply(&target.memory, services.clock.now()).unwrap_or_else(|| target.memory.clone());
    Ok(ProposalMerge { item, target, merged })
}

/// Adds the text and the tags of a proposed or unfiled memory to the memory that `into` names, and returns the latter.
///
/// Lines that the other memory has already are left out. The proposal or note moves to the trash with the same operation.
///
/// # Errors
/// [`StoreError::Conflict`] if a memory is not the expected version, [`StoreError::Invalid`] if the first one is filed,
/// proposes to change another memory, or is the second one, [`StoreError::Secret`] if its text contains a credential;
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn merge_proposal(
    services: &Services,
    reference: &str,
    into: &str,
    expected: MergeVersions,
    secrets: SecretPolicy,
) -> Result<StoredMemory, StoreError> {
    let ProposalMerge { item, target, merged } = plan_proposal_merge(services, reference, into)?;
    check_version(&item, expected.item)?;
    check_version(&target, expected.target)?;
    let mut set = services.change_set(Verb::Accept);
    let id = target.memory.id;
    if merged != target.memory {
        set.changes.push(Change::Replace { expected: target.stamp, memory: Box::new(merged) });
    }
    set.changes.push(removal(&item));
    commit(services, &set, secrets)?;
    services.store.get(&id)
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
