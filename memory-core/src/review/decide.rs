//! The decisions of a person about proposals and notes in the inbox.

use chrono::{DateTime, SecondsFormat, Utc};

use super::proposals::{WaitingProposal, proposal};
use super::rejections::{edit_reason, edited_fingerprints, rejection_reason};
use crate::commit::commit;
use crate::supersede::add_superseded;
use crate::write::plan_merge;
use crate::{
    Category, Change, ChangeOutcome, ChangeSet, Draft, FileVersion, Memory, MemoryId,
    MemoryStoreExt, Patch, Phase, Proposal, ProposalTarget, ProposedAction, SecretPolicy, Services,
    StoreError, StoredMemory, Verb, upgrade,
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
    /// The version that the person saw; another one is refused. `None` accepts any version.
    pub expected: Option<FileVersion>,
}

/// The effect of an acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// The proposal became a memory.
    Written,
    /// A memory has the same text already; it received the new tags, and other fields that it did not have.
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
    /// The proposed fields that a memory with the same text did not receive, because it has its own values.
    pub ignored: Vec<&'static str>,
}

impl AcceptResult {
    /// Returns the result of an acceptance that used all proposed fields.
    pub fn new(id: MemoryId, path: String, acceptance: Acceptance) -> Self {
        Self {
            id,
            path,
            acceptance,
            ignored: Vec::new(),
        }
    }
}

/// Accepts the proposal that `reference` names, or files a note of the inbox.
///
/// An accepted memory counts as created now. Its source is the agent, unless the agent named another one. Without a category
/// and without a suggestion it stays in the inbox as a note. One operation contains all changes.
///
/// # Errors
/// [`StoreError::Conflict`] if the proposal is not the expected version, [`StoreError::StaleProposal`] if the memory was
/// changed since, [`StoreError::TargetDeleted`] if it was deleted, [`StoreError::Secret`], [`StoreError::Invalid`] if the
/// memory is already filed or has expired, and other errors of the store.
pub fn accept(
    services: &Services,
    reference: &str,
    options: AcceptOptions,
) -> Result<AcceptResult, StoreError> {
    let stored = services.store.get_by(reference)?;
    check_version(services, &stored, options.expected)?;
    if !stored.memory.is_proposal() {
        return file_note(services, &stored, options.category);
    }
    let waiting = proposal(services, &stored.memory.id.to_string())?;
    check_version(services, &waiting.stored, Some(stored.stamp))?;
    match waiting.proposal.action {
        ProposedAction::Write => accept_write(services, &waiting, options),
        ProposedAction::Update(target) => accept_update(services, &waiting, target, options),
        ProposedAction::Delete(target) => accept_delete(services, &waiting, target, options),
    }
}

/// Refuses another version than the one that the person saw.
pub(crate) fn check_version(
    services: &Services,
    stored: &StoredMemory,
    expected: Option<FileVersion>,
) -> Result<(), StoreError> {
    if let Some(expected) = expected
        && !is_version(services, stored, expected)?
    {
        return Err(StoreError::Conflict {
            what: stored.path.clone(),
        });
    }
    Ok(())
}

/// Returns whether a memory has this version, apart from its access count.
pub(crate) fn is_version(
    services: &Services,
    stored: &StoredMemory,
    version: FileVersion,
) -> Result<bool, StoreError> {
    Ok(stored.stamp == version || services.store.has_version(&stored.memory.id, version)?)
}

fn file_note(
    services: &Services,
    stored: &StoredMemory,
    category: Option<Category>,
) -> Result<AcceptResult, StoreError> {
    if stored.memory.phase != Phase::Inbox {
        return Err(StoreError::Invalid {
            why: format!("{} is neither a proposal nor in the inbox", stored.path),
        });
    }
    let filed = upgrade(services, &stored.memory.id.to_string(), category)?;
    Ok(AcceptResult::new(
        filed.memory.id,
        filed.path,
        Acceptance::Filed,
    ))
}

fn accept_write(
    services: &Services,
    waiting: &WaitingProposal,
    options: AcceptOptions,
) -> Result<AcceptResult, StoreError> {
    let WaitingProposal {
        stored, proposal, ..
    } = waiting;
    let mut set = services.change_set(Verb::Accept);
    let proposed = &stored.memory;
    refuse_expired(proposed, set.operation.at)?;
    if let Some(id) = services
        .store
        .by_content(&proposed.content_hash(), &proposed.scope)?
        .first()
    {
        return merge_into_equal(services, set, waiting, id, options);
    }
    let mut memory = Memory {
        proposal: None,
        ..proposed.clone()
    };
    memory.category = options.category.unwrap_or(memory.category);
    memory.phase = if memory.category == Category::Inbox {
        Phase::Inbox
    } else {
        Phase::Organized
    };
    (memory.created_at, memory.updated_at) = (set.operation.at, set.operation.at);
    memory.version = memory.version.saturating_add(1);
    if memory.source.is_empty() {
        memory.source.clone_from(&proposal.by);
    }
    let id = memory.id;
    set.reasons.insert(id, proposer(waiting));
    set.changes.push(Change::Replace {
        expected: stored.stamp,
        memory: Box::new(memory.clone()),
    });
    add_superseded(services, &memory, &memory.supersedes, &mut set)?;
    let path = first_path(commit(services, &set, options.secrets)?, &stored.path);
    Ok(AcceptResult::new(id, path, Acceptance::Written))
}

/// Returns the reason for the journal, which names the agent.
fn proposer(waiting: &WaitingProposal) -> String {
    format!("proposed by {}", waiting.proposal.by)
}

/// Refuses a memory that would not be found after its acceptance, because it has expired.
fn refuse_expired(proposed: &Memory, now: DateTime<Utc>) -> Result<(), StoreError> {
    match proposed.expires_at.filter(|end| *end <= now) {
        Some(end) => {
            let end = end.to_rfc3339_opts(SecondsFormat::Secs, true);
            Err(StoreError::Invalid {
                why: format!("the proposed memory expired at {end}; reject the proposal"),
            })
        }
        None => Ok(()),
    }
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
    let (patch, ignored) = equal_memory_patch(
        &waiting.stored.memory,
        &existing,
        options.category,
        &services.actor,
    );
    if let Some(memory) = patch.apply(&existing.memory, set.operation.at) {
        set.changes.push(Change::Replace {
            expected: existing.stamp,
            memory: Box::new(memory),
        });
    }
    set.changes.push(removal(&waiting.stored));
    let outcomes = commit(services, &set, options.secrets)?;
    let final_path = if set.changes.len() == 1 {
        existing.path
    } else {
        first_path(outcomes, &existing.path)
    };
    Ok(AcceptResult {
        ignored,
        ..AcceptResult::new(*id, final_path, Acceptance::Merged)
    })
}

/// Returns the change of the memory with the same text as a proposal, and the proposed fields that it does not receive.
pub(super) fn equal_memory_patch(
    proposed: &Memory,
    existing: &StoredMemory,
    category: Option<Category>,
    actor: &str,
) -> (Patch, Vec<&'static str>) {
    let Memory {
        content,
        title,
        category: suggested,
        scope,
        tags,
        source,
        pinned,
        expires_at,
        ..
    } = proposed.clone();
    let category =
        Some(category.unwrap_or(suggested)).filter(|category| *category != Category::Inbox);
    let draft = Draft {
        title,
        category,
        scope,
        tags,
        source,
        expires_at,
        pinned,
        ..Draft::new(&content)
    };
    let (merged, mut ignored) = plan_merge(&draft, existing, actor);
    let Memory {
        aliases, reminder, ..
    } = proposed;
    ignored.extend(Some("aliases").filter(|_| {
        aliases
            .iter()
            .any(|alias| !existing.memory.aliases.contains(alias))
    }));
    ignored.extend(
        Some("reminder").filter(|_| reminder.is_some() && *reminder != existing.memory.reminder),
    );
    let patch = Patch {
        add_tags: merged.tags.iter().collect(),
        category: merged.category,
        title: merged.title.map(Some),
        pinned: merged.pinned.then_some(true),
        ..Patch::default()
    };
    (patch, ignored)
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
    if waiting.stored.memory.expires_at != current.memory.expires_at {
        refuse_expired(&waiting.stored.memory, set.operation.at)?;
    }
    if let Some(memory) = patch.apply(&current.memory, set.operation.at) {
        set.reasons.insert(target.id, proposer(waiting));
        set.changes.push(Change::Replace {
            expected: current.stamp,
            memory: Box::new(memory),
        });
        add_other_ends(services, &mut set, target.id, &patch)?;
    }
    let changes_target = !set.changes.is_empty();
    set.changes.push(removal(&waiting.stored));
    let outcomes = commit(services, &set, options.secrets)?;
    let final_path = if changes_target {
        first_path(outcomes, &current.path)
    } else {
        current.path.clone()
    };
    Ok(AcceptResult::new(
        target.id,
        final_path,
        Acceptance::Updated,
    ))
}

/// Adds the changes of the memories at the other ends of new and removed links, because links go both ways.
fn add_other_ends(
    services: &Services,
    set: &mut ChangeSet,
    id: MemoryId,
    patch: &Patch,
) -> Result<(), StoreError> {
    let ends = patch
        .add_links
        .iter()
        .map(|other| (*other, true))
        .chain(patch.remove_links.iter().map(|other| (*other, false)));
    for (other, is_new) in ends {
        let stored = match services.store.get(&other) {
            Ok(stored) => stored,
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => continue,
            Err(error) => return Err(error),
        };
        let ids = vec![id];
        let (add_links, remove_links) = if is_new {
            (ids, Vec::new())
        } else {
            (Vec::new(), ids)
        };
        let back = Patch {
            add_links,
            remove_links,
            ..Patch::default()
        };
        if let Some(memory) = back
            .apply(&stored.memory, set.operation.at)
            .filter(|_| stored.problem.is_none())
        {
            set.changes.push(Change::Replace {
                expected: stored.stamp,
                memory: Box::new(memory),
            });
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
    set.reasons.insert(target.id, proposer(waiting));
    set.changes.push(removal(current));
    set.changes.push(removal(&waiting.stored));
    commit(services, &set, SecretPolicy::Keep)?;
    Ok(AcceptResult::new(
        target.id,
        current.path.clone(),
        Acceptance::Deleted,
    ))
}

/// Returns the memory that a proposal changes, if the decision applies to its current version.
fn current_target(
    waiting: &WaitingProposal,
    target: ProposalTarget,
    stale: StaleProposals,
) -> Result<&StoredMemory, StoreError> {
    let missing = || StoreError::TargetDeleted {
        proposal: waiting.stored.memory.id,
        target: target.id,
    };
    let current = waiting.target.as_ref().ok_or_else(missing)?;
    if waiting.is_stale && stale == StaleProposals::Refuse {
        let (proposal, path) = (waiting.stored.memory.id, current.path.clone());
        return Err(StoreError::StaleProposal { proposal, path });
    }
    Ok(current)
}

pub(crate) fn removal(stored: &StoredMemory) -> Change {
    Change::Remove {
        id: stored.memory.id,
        expected: Some(stored.stamp),
    }
}

fn first_path(outcomes: Vec<ChangeOutcome>, otherwise: &str) -> String {
    match outcomes.into_iter().next() {
        Some(
            ChangeOutcome::Kept { path, .. }
            | ChangeOutcome::Duplicate { path, .. }
            | ChangeOutcome::Removed { path, .. },
        ) => path,
        None => otherwise.to_owned(),
    }
}

/// Moves the proposal that `reference` names to the trash, and returns it.
///
/// The journal records the content, also that before an edit, so that no agent can propose it again. A note of the inbox is only deleted.
///
/// # Errors
/// [`StoreError::Conflict`] if it is not the `expected` version, [`StoreError::Invalid`] if the memory is already filed;
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn reject(
    services: &Services,
    reference: &str,
    expected: Option<FileVersion>,
) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    check_version(services, &stored, expected)?;
    let memory = &stored.memory;
    if !memory.is_proposal() && memory.phase != Phase::Inbox {
        return Err(StoreError::Invalid {
            why: format!("{} is neither a proposal nor in the inbox", stored.path),
        });
    }
    let mut set = services.change_set(if memory.is_proposal() {
        Verb::Reject
    } else {
        Verb::Delete
    });
    if let Some(Proposal { action, .. }) = &memory.proposal {
        let mut fingerprints = edited_fingerprints(services.history.as_ref(), memory.id)?;
        fingerprints.push(action.fingerprint(memory));
        set.reasons
            .insert(memory.id, rejection_reason(&fingerprints));
    }
    set.changes.push(removal(&stored));
    commit(services, &set, SecretPolicy::Keep)?;
    Ok(stored)
}

/// Replaces the text of the proposal or unfiled note that `reference` names, and returns its new version.
///
/// A stale proposal is based on the current version of the memory afterwards, and has only the text in common with the former
/// proposal: the other fields are those of the memory, so that its acceptance does not revert what changed since.
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
    check_version(services, &stored, expected)?;
    if content.trim().is_empty() {
        return Err(StoreError::Invalid {
            why: "the new text is empty".into(),
        });
    }
    if !stored.memory.is_proposal() {
        if stored.memory.phase != Phase::Inbox {
            return Err(StoreError::Invalid {
                why: format!("{} is neither a proposal nor in the inbox", stored.path),
            });
        }
        let patch = Patch {
            content: Some(content.to_owned()),
            ..Patch::default()
        };
        return crate::update(services, &id, &patch, Some(stored.stamp), secrets);
    }
    let waiting = proposal(services, &id)?;
    let current = waiting.target.as_ref().map(|target| target.stamp);
    let rebase = |target: ProposalTarget| ProposalTarget {
        base: current.unwrap_or(target.base),
        ..target
    };
    let action = match waiting.proposal.action {
        ProposedAction::Write => ProposedAction::Write,
        ProposedAction::Update(target) => ProposedAction::Update(rebase(target)),
        ProposedAction::Delete(_) => {
            return Err(StoreError::Invalid {
                why: format!(
                    "{} proposes a deletion and has no text to edit",
                    stored.path
                ),
            });
        }
    };
    let mut set = services.change_set(Verb::Update);
    let fields = waiting
        .target
        .filter(|_| waiting.is_stale)
        .map_or_else(|| stored.memory.clone(), |target| target.memory);
    let Memory {
        id: own,
        phase,
        created_at,
        updated_at,
        access_count,
        version,
        ..
    } = stored.memory;
    let Memory {
        summarised_by,
        origin,
        other_origins,
        ..
    } = stored.memory.clone();
    let mut memory = Memory {
        id: own,
        phase,
        created_at,
        updated_at,
        access_count,
        version,
        summarised_by,
        origin,
        other_origins,
        proposal: Some(Proposal {
            action,
            ..waiting.proposal
        }),
        ..fields
    };
    content.clone_into(&mut memory.content);
    if memory != stored.memory {
        set.reasons
            .insert(memory.id, edit_reason(&action.fingerprint(&stored.memory)));
        (memory.version, memory.updated_at) = (
            memory.version.saturating_add(1),
            set.operation.at.max(memory.updated_at),
        );
        set.changes.push(Change::Replace {
            expected: stored.stamp,
            memory: Box::new(memory),
        });
        commit(services, &set, secrets)?;
    }
    services.store.get_by(&id)
}
