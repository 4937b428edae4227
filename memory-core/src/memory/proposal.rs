//! Changes that an agent proposed and that wait for a review.

use std::collections::BTreeSet;

use super::{ContentHash, Memory, MemoryId, Patch, Tags};
use crate::FileVersion;
use crate::text::is_invisible;

/// A proposal: a memory in the inbox that no one recalls until a person accepts it.
///
/// The memory that contains it has the text and the fields that the agent proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The agent.
    pub by: String,
    /// The proposed action.
    pub action: ProposedAction,
}

/// The action that a proposal stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposedAction {
    /// The proposal becomes a new memory.
    Write,
    /// The proposed text and fields replace those of a memory.
    Update(ProposalTarget),
    /// A memory moves to the trash. The proposal has its text.
    Delete(ProposalTarget),
}

/// The memory that a proposal changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProposalTarget {
    /// The memory.
    pub id: MemoryId,
    /// The version of its file on which the proposal is based.
    pub base: FileVersion,
}

impl ProposedAction {
    /// Returns the name of the action.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Update(_) => "update",
            Self::Delete(_) => "delete",
        }
    }

    /// Returns the memory that the proposal changes; `None` for a new memory.
    pub const fn target(self) -> Option<ProposalTarget> {
        match self {
            Self::Write => None,
            Self::Update(target) | Self::Delete(target) => Some(target),
        }
    }

    /// Returns a hash that identifies the proposed content.
    ///
    /// Proposals with equal hashes ask for the same: white space, invisible characters, the case, punctuation at the end, the
    /// scope, the agent and the base version do not count. A proposal of a new memory consists of its text alone.
    pub fn fingerprint(self, memory: &Memory) -> ContentHash {
        let mut parts = vec![self.as_str().to_owned()];
        match self {
            Self::Write => parts.push(words(&memory.content)),
            Self::Update(target) => {
                parts.extend([
                    target.id.to_string(),
                    words(&memory.content),
                    words(memory.title.as_deref().unwrap_or_default()),
                ]);
                parts.push(memory.category.to_string());
                parts.extend(
                    memory
                        .tags
                        .iter()
                        .map(|tag| Tags::key(tag))
                        .collect::<BTreeSet<_>>(),
                );
                parts.push(String::new());
                parts.extend(memory.links.iter().map(MemoryId::to_string));
                parts.push(format!(
                    "{:?} {:?} {}",
                    memory.expires_at, memory.reminder, memory.pinned
                ));
                parts.extend(memory.superseded_by.as_ref().map(MemoryId::to_string));
            }
            Self::Delete(target) => parts.extend([target.id.to_string(), words(&memory.content)]),
        }
        ContentHash::of(&parts.join("\0"))
    }
}

/// Returns the words of a text without what a person does not see or notice.
fn words(text: &str) -> String {
    let visible: String = text
        .chars()
        .filter(|character| character.is_whitespace() || !is_invisible(*character))
        .collect();
    let folded = visible.to_lowercase();
    let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_end =
        |character: char| character.is_whitespace() || ".!?…。！？．,;:，；：".contains(character);
    match words.trim_end_matches(is_end) {
        "" => words,
        trimmed => trimmed.to_owned(),
    }
}

impl Memory {
    /// Returns whether the memory waits for a review.
    pub fn is_proposal(&self) -> bool {
        self.proposal.is_some()
    }

    /// Returns whether the memory is a proposal of the agent with this name.
    pub fn is_proposal_of(&self, agent: &str) -> bool {
        self.proposal
            .as_ref()
            .is_some_and(|proposal| proposal.by == agent)
    }
}

impl Patch {
    /// Returns the patch that changes `memory` to the text and the fields of `proposed`.
    ///
    /// The category counts only if it differs. Fields that no agent sets, such as the origin and the accesses, stay.
    pub fn from_proposal(memory: &Memory, proposed: &Memory) -> Self {
        let new = |own: &Tags, other: &Tags| -> Tags {
            other.iter().filter(|tag| !own.contains(tag)).collect()
        };
        let missing = |own: &[MemoryId], other: &[MemoryId]| -> Vec<MemoryId> {
            other
                .iter()
                .filter(|id| !own.contains(id) && **id != memory.id)
                .copied()
                .collect()
        };
        Self {
            content: Some(proposed.content.clone()),
            title: Some(proposed.title.clone()),
            aliases: Some(proposed.aliases.clone()),
            category: Some(proposed.category).filter(|category| *category != memory.category),
            scope: Some(proposed.scope.clone()),
            add_tags: new(&memory.tags, &proposed.tags),
            remove_tags: new(&proposed.tags, &memory.tags),
            expires_at: Some(proposed.expires_at),
            supersedes: missing(&memory.supersedes, &proposed.supersedes),
            superseded_by: Some(proposed.superseded_by),
            pinned: Some(proposed.pinned),
            reminder: proposed.reminder.clone(),
            valid_until: Some(proposed.valid_until),
            add_links: missing(&memory.links, &proposed.links),
            remove_links: missing(&proposed.links, &memory.links),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use proptest::prelude::*;

    use super::*;
    use crate::{Category, Draft};

    fn memory(name: &str, content: &str, tags: &[String], category: Category) -> Memory {
        let draft = Draft {
            tags: tags.iter().collect(),
            ..Draft::new(content)
        };
        draft
            .category(category)
            .into_memory(MemoryId::for_path(name), DateTime::UNIX_EPOCH)
    }

    fn target() -> ProposalTarget {
        ProposalTarget {
            id: MemoryId::for_path("target"),
            base: FileVersion(ContentHash::of("base")),
        }
    }

    #[test]
    fn what_no_one_notices_does_not_make_another_proposal() {
        let of = |content: &str| {
            ProposedAction::Write.fingerprint(&memory("a", content, &[], Category::Inbox))
        };
        assert_eq!(of("green  tea\n"), of("green tea"));
        assert_ne!(of("green tea"), of("black tea"));
        for same in [
            "Green tea.",
            "gre\u{200b}en tea",
            "\u{202e}green tea\u{202c}",
            "green tea。",
            "GREEN TEA !",
        ] {
            assert_eq!(of(same), of("green tea"), "{same:?}");
        }
        assert_ne!(of("?"), of("!"));
        let tagged = memory("b", "green tea", &["drink".to_owned()], Category::Habits);
        assert_eq!(ProposedAction::Write.fingerprint(&tagged), of("green tea"));
    }

    #[test]
    fn the_action_and_its_target_are_part_of_a_proposal() {
        let tea = memory("a", "green tea", &[], Category::Inbox);
        let other = ProposalTarget {
            id: MemoryId::for_path("other"),
            ..target()
        };
        let later = ProposalTarget {
            base: FileVersion(ContentHash::of("later")),
            ..target()
        };
        let actions = [
            ProposedAction::Write,
            ProposedAction::Update(target()),
            ProposedAction::Delete(target()),
        ];
        let hashes: BTreeSet<String> = actions
            .iter()
            .map(|action| action.fingerprint(&tea).to_string())
            .collect();
        assert_eq!(hashes.len(), 3);
        assert_ne!(
            ProposedAction::Delete(other).fingerprint(&tea),
            ProposedAction::Delete(target()).fingerprint(&tea)
        );
        assert_eq!(
            ProposedAction::Delete(later).fingerprint(&tea),
            ProposedAction::Delete(target()).fingerprint(&tea)
        );
    }

    proptest! {
        #[test]
        fn the_patch_of_a_proposal_makes_the_proposed_memory(
            before in ("[a-c ]{1,5}", prop::collection::vec("[a-c]", 0..3)),
            after in ("[a-c ]{1,5}", prop::collection::vec("[a-c]", 0..3), any::<bool>()),
        ) {
            let stored = memory("a", &before.0, &before.1, Category::Habits);
            let proposed = Memory { pinned: after.2, ..memory("b", &after.0, &after.1, Category::People) };
            let patched = Patch::from_proposal(&stored, &proposed).apply(&stored, DateTime::UNIX_EPOCH + TimeDelta::days(1));
            let patched = patched.expect("the category differs");
            prop_assert_eq!((&patched.content, patched.pinned, patched.category), (&proposed.content, after.2, Category::People));
            let keys = |tags: &Tags| tags.iter().map(|tag| Tags::key(tag)).collect::<BTreeSet<_>>();
            prop_assert_eq!(keys(&patched.tags), keys(&proposed.tags));
            prop_assert_eq!((patched.id, patched.version), (stored.id, 2));
        }
    }
}
