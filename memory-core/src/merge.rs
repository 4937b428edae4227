//! The merge of a memory into another one, and its preview.

use crate::commit::commit;
use crate::link::backlinks_of;
use crate::review::decide::{check_version, removal};
use crate::{
    Change, FileVersion, Memory, MemoryStoreExt, Patch, Phase, Proposal, ProposedAction,
    SecretPolicy, Services, StoreError, StoredMemory, Verb, wikilink,
};

/// A merge that is not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryMerge {
    /// The memory, proposal or note, which moves to the trash.
    pub item: StoredMemory,
    /// The memory that receives its text, names, tags and links.
    pub target: StoredMemory,
    /// That memory after the merge.
    pub merged: Memory,
}

/// What the person saw and wrote before a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeOptions<'a> {
    /// The version of the memory that moves to the trash; another one is refused. `None` accepts any version.
    pub item: Option<FileVersion>,
    /// The version of the memory that receives the text, likewise.
    pub target: Option<FileVersion>,
    /// The text after the merge; `None` adds the lines that the memory does not have.
    pub content: Option<&'a str>,
}

/// Returns the merge of the memory, proposal or note that `reference` names into the memory that `into` names, without making it.
///
/// # Errors
/// As [`merge()`], except for credentials.
pub fn plan_merge(
    services: &Services,
    reference: &str,
    into: &str,
) -> Result<MemoryMerge, StoreError> {
    plan_merge_with(services, reference, into, None)
}

/// Returns the merge, after which the memory has the text `content`, if given.
fn plan_merge_with(
    services: &Services,
    reference: &str,
    into: &str,
    content: Option<&str>,
) -> Result<MemoryMerge, StoreError> {
    let item = services.store.get_by(reference)?;
    let target = services.store.get_by(into)?;
    let invalid = |why: String| Err(StoreError::Invalid { why });
    if item.memory.id == target.memory.id {
        return invalid(format!("{} cannot be merged into itself", item.path));
    }
    if target.memory.is_proposal() {
        return invalid(format!("{} is itself a proposal", target.path));
    }
    if let Some(Proposal {
        action: ProposedAction::Update(_) | ProposedAction::Delete(_),
        ..
    }) = &item.memory.proposal
    {
        return invalid(format!(
            "{} changes another memory and cannot be merged",
            item.path
        ));
    }
    if let Some(problem) = &target.problem {
        return invalid(format!("{} must not be changed: {problem}", target.path));
    }
    if content.is_some_and(|content| content.trim().is_empty()) {
        return invalid("the text after the merge is empty".into());
    }
    let content = content.map_or_else(
        || merged_content(&target.memory.content, &item.memory.content),
        str::to_owned,
    );
    let patch = Patch {
        content: Some(content),
        aliases: Some(merged_aliases(&target.memory, &item.memory)),
        add_tags: item.memory.tags.clone(),
        add_links: item
            .memory
            .links
            .iter()
            .copied()
            .filter(|id| *id != target.memory.id)
            .collect(),
        remove_links: vec![item.memory.id],
        ..Patch::default()
    };
    let merged = patch
        .apply(&target.memory, services.clock.now())
        .unwrap_or_else(|| target.memory.clone());
    Ok(MemoryMerge {
        item,
        target,
        merged,
    })
}

/// Adds the text, the tags and the links of a memory, proposal or unfiled note to the memory that `into` names, and returns the latter.
///
/// Without a text in `options`, lines that the other memory has already are left out. The title and the aliases become aliases, and links to the first memory lead
/// to the other one. The first memory moves to the trash with the same operation.
///
/// # Errors
/// [`StoreError::Conflict`] if a memory is not the expected version, [`StoreError::Invalid`] if the first one proposes to change another
/// memory, or is the second one, or if the second one is a proposal or damaged, or the text is blank, [`StoreError::Secret`] if its text contains a credential;
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn merge(
    services: &Services,
    reference: &str,
    into: &str,
    options: MergeOptions<'_>,
    secrets: SecretPolicy,
) -> Result<StoredMemory, StoreError> {
    let MemoryMerge {
        item,
        target,
        merged,
    } = plan_merge_with(services, reference, into, options.content)?;
    check_version(services, &item, options.item)?;
    check_version(services, &target, options.target)?;
    let is_decision = item.memory.is_proposal() || item.memory.phase == Phase::Inbox;
    let mut set = services.change_set(if is_decision {
        Verb::Accept
    } else {
        Verb::Merge
    });
    let (id, gone) = (target.memory.id, item.memory.id);
    if merged != target.memory {
        set.changes.push(Change::Replace {
            expected: target.stamp,
            memory: Box::new(merged),
        });
    }
    for other in backlinks_of(services, &item)? {
        let relink = Patch {
            add_links: vec![id],
            remove_links: vec![gone],
            ..Patch::default()
        };
        let is_recorded =
            other.memory.id != id && other.problem.is_none() && other.memory.links.contains(&gone);
        if let Some(memory) = is_recorded
            .then(|| relink.apply(&other.memory, set.operation.at))
            .flatten()
        {
            set.changes.push(Change::Replace {
                expected: other.stamp,
                memory: Box::new(memory),
            });
        }
    }
    set.changes.push(removal(&item));
    commit(services, &set, secrets)?;
    services.store.get(&id)
}

/// Returns the aliases of `target` with the names of `item`, so that wikilinks to it still resolve.
fn merged_aliases(target: &Memory, item: &Memory) -> Vec<String> {
    let mut aliases = target.aliases.clone();
    for name in item.title.iter().chain(&item.aliases) {
        let is_same =
            |known: &String| wikilink::fold_link_name(known) == wikilink::fold_link_name(name);
        if !target.title.iter().chain(&aliases).any(is_same) {
            aliases.push(name.clone());
        }
    }
    aliases
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
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{
        Acceptance, Category, Draft, MemStore, MemoryId, link, operation_subject, resolve_wikilink,
        undo, write,
    };

    #[test]
    fn a_merge_adds_only_new_lines() {
        assert_eq!(merged_content("a\nb", "b\nc"), "a\nb\n\nc");
        assert_eq!(merged_content("a\nb\n", "  b\n\na"), "a\nb\n");
        assert_eq!(merged_content("a", "x\n\ny"), "a\n\nx\n\ny");
    }

    #[test]
    fn a_filed_memory_is_merged_with_its_names_tags_and_links_and_one_undo_reverts_it() {
        let services = services(Arc::new(MemStore::default()));
        let filed = |text: &str| Draft::new(text).category(Category::People);
        let create = |draft: Draft| write(&services, draft, SecretPolicy::Refuse).unwrap().id;
        let anna = create(filed("Anna leads billing").title("Anna").tags(["team"]));
        let keller = create(
            filed("Ms Keller likes tea")
                .title("Keller")
                .tags(["Team", "drinks"]),
        );
        let tea = create(filed("Tea, see [[Keller]]"));
        link(&services, &keller.to_string(), &tea.to_string()).unwrap();
        let before = [anna, keller, tea].map(|id| services.store.get(&id).unwrap().memory);
        let into = |item: MemoryId, target: MemoryId| {
            merge(
                &services,
                &item.to_string(),
                &target.to_string(),
                MergeOptions::default(),
                SecretPolicy::Refuse,
            )
        };
        assert!(matches!(into(anna, anna), Err(StoreError::Invalid { .. })));
        let merged = into(keller, anna).unwrap().memory;
        let merge = services
            .history
            .records()
            .next()
            .unwrap()
            .unwrap()
            .operation;
        let changes: Vec<_> = services
            .history
            .changes(&merge.id)
            .map(Result::unwrap)
            .collect();
        let subject = operation_subject(&services, merge.verb, &changes);
        assert_eq!(
            (merge.verb, changes.len(), subject.acceptance),
            (Verb::Merge, 3, Some(Acceptance::Merged))
        );
        assert_eq!(
            subject
                .changes
                .iter()
                .map(|change| change.id)
                .collect::<Vec<_>>(),
            [anna]
        );
        assert_eq!(merged.content, "Anna leads billing\n\nMs Keller likes tea");
        assert_eq!(
            (merged.aliases.as_slice(), merged.links.as_slice()),
            (["Keller".to_owned()].as_slice(), [tea].as_slice())
        );
        assert_eq!(merged.tags.as_slice(), ["team", "drinks"]);
        let linked = services.store.get(&tea).unwrap();
        assert_eq!(linked.memory.links, [anna]);
        assert_eq!(
            resolve_wikilink(services.store.as_ref(), "Keller", &linked).unwrap(),
            Some(anna)
        );
        assert!(matches!(
            services.store.get(&keller),
            Err(StoreError::NotFound { .. })
        ));
        undo(&services, None).unwrap();
        assert_eq!(
            [anna, keller, tea].map(|id| services.store.get(&id).unwrap().memory),
            before
        );
    }

    #[test]
    fn a_merge_saves_the_edited_text() {
        let services = services(Arc::new(MemStore::default()));
        let create = |text: &str| {
            let draft = Draft::new(text).category(Category::People);
            write(&services, draft, SecretPolicy::Refuse)
                .unwrap()
                .id
                .to_string()
        };
        let (tea, coffee) = (create("Anna drinks tea"), create("Anna drinks coffee"));
        let merge_as = |text: &str| {
            let options = MergeOptions {
                content: Some(text),
                ..MergeOptions::default()
            };
            merge(&services, &coffee, &tea, options, SecretPolicy::Refuse)
        };
        assert!(matches!(merge_as(" \n"), Err(StoreError::Invalid { .. })));
        let merged = merge_as("Anna drinks tea and coffee").unwrap().memory;
        assert_eq!(merged.content, "Anna drinks tea and coffee");
        assert!(services.store.get_by(&coffee).is_err());
        undo(&services, None).unwrap();
        let text = |id: &str| services.store.get_by(id).unwrap().memory.content;
        assert_eq!(
            (text(&tea).as_str(), text(&coffee).as_str()),
            ("Anna drinks tea", "Anna drinks coffee")
        );
    }
}
