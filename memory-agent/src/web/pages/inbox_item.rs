//! An item of the inbox: a proposal or a note without a category, with the controls to decide on it.

use memory_core::standing::{MAX_SEARCHED_FOR_ADDRESS, find_address};
use memory_core::{
    AcceptancePreview, Category, ContentHash, FileVersion, Memory, Neighbour, NeighbourRelation,
    Phase, ProposedAction, RefinementPlanner, StoredMemory, WaitingProposal, preview_acceptance,
    resolve_wikilink,
};

use crate::web::card::describe_readers;
use crate::web::diff::{changed_attributes, render_diff};
use crate::web::error::PageError;
use crate::web::fields::encode_pairs;
use crate::web::html::{Label, SafeHtml};
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;
use crate::web::time_label::TimeLabel;

/// Maximum number of characters of a headline.
pub(super) const MAX_HEADLINE: usize = 140;

/// The value of the field `item`: the id and the version of a memory, so that a decision applies to what the person saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemVersion {
    pub(super) id: String,
    pub(super) version: FileVersion,
}

impl ItemVersion {
    /// Returns the value for a memory.
    pub(super) fn of(stored: &StoredMemory) -> String {
        format!("{}:{}", stored.memory.id, stored.stamp.0)
    }

    /// Parses the values of an item and of those that repeat it, which are separated by commas; at least one.
    pub(super) fn parse_group(text: &str) -> Result<Vec<Self>, PageError> {
        text.split(',').map(Self::parse).collect()
    }

    /// Parses the value of a field.
    pub(super) fn parse(text: &str) -> Result<Self, PageError> {
        let invalid = || PageError::invalid("the item of the inbox is invalid");
        let (id, version) = text.split_once(':').ok_or_else(invalid)?;
        let version = version.parse::<ContentHash>().map_err(|_| invalid())?;
        Ok(Self {
            id: id.to_owned(),
            version: FileVersion(version),
        })
    }
}

/// The first line of an item: a box to select it, a link and its kind.
pub(super) struct ItemHead {
    /// The name of the field that selects the item.
    pub(super) field: &'static str,
    /// The value of that field.
    pub(super) key: String,
    pub(super) path: String,
    pub(super) headline: Label,
    pub(super) kind: &'static str,
    pub(super) is_proposal: bool,
    /// Whether it is the proposal to delete the memory with this headline.
    pub(super) is_deletion: bool,
    /// Whether its box is ticked.
    pub(super) is_selected: bool,
}

/// The form that decides on all selected items.
pub(super) struct BulkForm {
    pub(super) path: &'static str,
    pub(super) label: &'static str,
    /// The categories to choose from; empty if the items have none.
    pub(super) categories: Vec<Category>,
    /// The label of the button that rejects.
    pub(super) reject: &'static str,
    /// Whether the keys are explained.
    pub(super) has_keys: bool,
}

/// A category in a list to choose from.
pub(super) struct CategoryOption {
    pub(super) value: &'static str,
    pub(super) label: String,
    pub(super) is_selected: bool,
}

/// A proposal that repeats another one.
pub(super) struct RepeatRow {
    pub(super) path: String,
    pub(super) headline: Label,
    pub(super) by: Label,
}

/// A memory that is similar to an item.
pub(super) struct NeighbourRow {
    pub(super) id: String,
    pub(super) relation: &'static str,
    pub(super) headline: Label,
}

/// An item of the inbox.
pub(super) struct InboxCard {
    pub(super) head: ItemHead,
    pub(super) id: String,
    /// The value of the field `item` without those that repeat it.
    pub(super) key: String,
    /// Whether the item can be added to another memory.
    pub(super) can_merge: bool,
    pub(super) by: Option<Label>,
    pub(super) time: TimeLabel,
    /// The text; empty if the headline shows all of it, or if there are differences.
    pub(super) body: SafeHtml,
    /// The fields of an existing memory that the acceptance changes: name, present and new value.
    pub(super) attributes: Vec<(&'static str, Label, Label)>,
    /// The differences of the text of an existing memory.
    pub(super) diff: Option<SafeHtml>,
    /// Whether the acceptance changes an existing memory, with the same text or by the proposed change.
    pub(super) has_effect: Option<bool>,
    pub(super) readers: Label,
    pub(super) tags: Vec<Label>,
    /// The memory that the proposal changes.
    pub(super) target: Option<(String, Label)>,
    pub(super) is_target_missing: bool,
    pub(super) is_stale: bool,
    pub(super) categories: Vec<CategoryOption>,
    /// The similar memories, if they were searched.
    pub(super) neighbours: Option<Vec<NeighbourRow>>,
    /// The page with the similar memories, if there can be some.
    pub(super) similar_path: String,
    /// The sentence of the text that speaks to the agent that will read it.
    pub(super) address: Option<Label>,
    /// The proposals that repeat this one; the decision applies to them, too.
    pub(super) repeats: Vec<RepeatRow>,
    pub(super) content: String,
}

/// The path of an item with the memories that are similar to it.
pub(super) const SIMILAR_PATH: &str = "/inbox/similar";

/// Maximum number of neighbours of an item.
const MAX_NEIGHBOURS: usize = 3;

impl InboxCard {
    fn new(
        request: &WebRequest,
        stored: &StoredMemory,
        kind: &'static str,
        body: SafeHtml,
    ) -> Self {
        let memory = &stored.memory;
        Self {
            head: ItemHead {
                field: "item",
                key: ItemVersion::of(stored),
                path: format!("/memories/{}", memory.id),
                headline: Label::cut(memory.headline(), MAX_HEADLINE),
                kind,
                is_proposal: memory.is_proposal(),
                is_deletion: false,
                is_selected: false,
            },
            id: memory.id.to_string(),
            key: ItemVersion::of(stored),
            can_merge: false,
            by: memory
                .proposal
                .as_ref()
                .map(|proposal| proposal.by.as_str())
                .or(Some(memory.source.as_str()))
                .filter(|by| !by.is_empty())
                .map(Label::new),
            time: TimeLabel::exact(request.local(memory.created_at)),
            body,
            attributes: Vec::new(),
            diff: None,
            has_effect: None,
            readers: Label::new(&describe_readers(&memory.scope)),
            tags: memory.tags.iter().map(|tag| Label::new(tag)).collect(),
            target: None,
            is_target_missing: false,
            is_stale: false,
            categories: Vec::new(),
            neighbours: None,
            similar_path: String::new(),
            address: address_of(memory).map(|sentence| Label::cut(sentence, MAX_HEADLINE)),
            repeats: Vec::new(),
            content: memory.content.clone(),
        }
    }

    /// Returns the card of a note without a category.
    pub(super) fn of_note(
        request: &WebRequest,
        planner: &dyn RefinementPlanner,
        stored: &StoredMemory,
    ) -> Self {
        Self::of_new(request, planner, stored, "Unfiled note")
    }

    /// Returns the card of a memory that can be filed under a category.
    fn of_new(
        request: &WebRequest,
        planner: &dyn RefinementPlanner,
        stored: &StoredMemory,
        kind: &'static str,
    ) -> Self {
        Self {
            can_merge: true,
            categories: match find_suggestion(planner, &stored.memory) {
                Some(category) => category_choices(category, true),
                None => category_choices(DEFAULT_CATEGORY, false),
            },
            similar_path: format!(
                "{SIMILAR_PATH}?{}",
                encode_pairs([("item", stored.memory.id.to_string().as_str())])
            ),
            ..Self::new(request, stored, kind, rendered(request, stored))
        }
    }

    /// Adds a proposal that repeats this one.
    pub(super) fn add_repeat(&mut self, stored: &StoredMemory, by: &str) {
        let key = ItemVersion::of(stored);
        self.head.key.push(',');
        self.head.key.push_str(&key);
        self.repeats.push(RepeatRow {
            path: format!("/memories/{}", stored.memory.id),
            headline: Label::cut(stored.memory.headline(), MAX_HEADLINE),
            by: Label::new(by),
        });
    }

    /// Returns the first line of a proposal, selected unless a sentence of it speaks to agents, and that sentence.
    pub(super) fn row(stored: &StoredMemory) -> (ItemHead, Option<Label>) {
        let memory = &stored.memory;
        let address = address_of(memory);
        let action = memory.proposal.as_ref().map(|proposal| proposal.action);
        let kind = match action {
            Some(ProposedAction::Update(_)) => "Change",
            Some(ProposedAction::Delete(_)) => "Proposed deletion",
            Some(ProposedAction::Write) | None => "New memory",
        };
        let head = ItemHead {
            field: "item",
            key: ItemVersion::of(stored),
            path: format!("/memories/{}", memory.id),
            headline: Label::cut(memory.headline(), MAX_HEADLINE),
            kind,
            is_proposal: memory.is_proposal(),
            is_deletion: matches!(action, Some(ProposedAction::Delete(_))),
            is_selected: address.is_none() && memory.content.len() <= MAX_SEARCHED_FOR_ADDRESS,
        };
        (head, address.map(|text| Label::cut(text, MAX_HEADLINE)))
    }

    /// Returns the card with the memories that are similar to `memory`. Their search takes longer than all other parts of a card.
    pub(super) fn with_neighbours(
        self,
        request: &WebRequest,
        memory: &Memory,
    ) -> Result<Self, PageError> {
        if !self.can_merge {
            return Ok(self);
        }
        let mut neighbours = request.services.neighbours(memory, None)?;
        neighbours.truncate(MAX_NEIGHBOURS);
        let row = |neighbour: Neighbour| NeighbourRow {
            id: neighbour.id.to_string(),
            relation: match neighbour.relation {
                NeighbourRelation::Updates => "Updates",
                NeighbourRelation::Contradicts => "Contradicts",
                NeighbourRelation::Duplicate => "Repeats",
                NeighbourRelation::Related => "Similar to",
            },
            headline: Label::cut(
                neighbour
                    .text
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or("(empty)"),
                MAX_HEADLINE,
            ),
        };
        Ok(Self {
            neighbours: Some(neighbours.into_iter().map(row).collect()),
            ..self
        })
    }

    /// Returns the card of a proposal.
    pub(super) fn of_proposal(
        request: &WebRequest,
        planner: &dyn RefinementPlanner,
        waiting: &WaitingProposal,
    ) -> Result<Self, PageError> {
        let own = &waiting.stored.memory;
        let target = waiting.target.as_ref().map(|target| &target.memory);
        let card = match waiting.proposal.action {
            ProposedAction::Write => Self::of_new(request, planner, &waiting.stored, "New memory"),
            ProposedAction::Update(_) => {
                let is_filed = target.is_some_and(|target| target.phase == Phase::Organized);
                let category = if is_filed {
                    own.category
                } else {
                    filing_category(planner, own)
                };
                Self {
                    categories: category_choices(
                        category,
                        target.is_none_or(|target| target.category != category),
                    ),
                    ..Self::new(request, &waiting.stored, "Change", SafeHtml::default())
                }
            }
            ProposedAction::Delete(_) => {
                let body = rendered(request, waiting.target.as_ref().unwrap_or(&waiting.stored));
                let card = Self::new(request, &waiting.stored, "Proposed deletion", body);
                Self {
                    head: ItemHead {
                        is_deletion: true,
                        ..card.head
                    },
                    ..card
                }
            }
        };
        let link = |memory: &Memory| {
            (
                format!("/memories/{}", memory.id),
                Label::cut(memory.headline(), MAX_HEADLINE),
            )
        };
        let is_target_missing = target.is_none() && waiting.proposal.action.target().is_some();
        let card = Self {
            target: target.map(link),
            is_target_missing,
            is_stale: waiting.is_stale,
            ..card
        };
        let Some(AcceptancePreview { before, after }) =
            preview_acceptance(&request.services, waiting)?
        else {
            return Ok(card);
        };
        let attributes = changed_attributes(&before, &after);
        let diff =
            (before.content != after.content).then(|| render_diff(&before.content, &after.content));
        let has_effect = Some(diff.is_some() || !attributes.is_empty());
        Ok(Self {
            target: Some(link(&before)),
            attributes,
            diff,
            has_effect,
            ..card
        })
    }
}

/// The category of a memory for which nothing suggests another one.
const DEFAULT_CATEGORY: Category = Category::Knowledge;

/// Returns the category under which an item is filed unless the person chooses another one.
pub(super) fn filing_category(planner: &dyn RefinementPlanner, memory: &Memory) -> Category {
    find_suggestion(planner, memory).unwrap_or(DEFAULT_CATEGORY)
}

/// Returns the category that the memory itself or else its text suggests.
pub(super) fn find_suggestion(
    planner: &dyn RefinementPlanner,
    memory: &Memory,
) -> Option<Category> {
    match memory.category {
        Category::Inbox => planner.suggest_category(memory),
        suggested => Some(suggested),
    }
}

/// Returns the categories that a memory can be filed under.
pub(super) fn filing_categories() -> impl Iterator<Item = Category> {
    Category::ALL
        .into_iter()
        .filter(|category| *category != Category::Inbox)
}

fn category_choices(selected: Category, is_suggestion: bool) -> Vec<CategoryOption> {
    let choice = |category: Category| {
        let (value, is_selected) = (category.as_str(), category == selected);
        let label = if is_selected && is_suggestion {
            format!("{value} (suggested)")
        } else {
            value.to_owned()
        };
        CategoryOption {
            value,
            label,
            is_selected,
        }
    };
    filing_categories().map(choice).collect()
}

/// Returns the text of a memory as HTML; empty if the headline shows all of it.
fn rendered(request: &WebRequest, stored: &StoredMemory) -> SafeHtml {
    let (text, headline) = (stored.memory.content.trim(), stored.memory.headline());
    if text == headline && headline.chars().count() <= MAX_HEADLINE {
        return SafeHtml::default();
    }
    let find_path = |target: &str| {
        let id = resolve_wikilink(request.services.store.as_ref(), target, stored).ok()??;
        Some(format!("/memories/{id}"))
    };
    render_markdown(&stored.memory.content, &find_path)
}

/// Returns the sentence of a memory that speaks to agents, who are given its title too.
fn address_of(memory: &Memory) -> Option<&str> {
    let title = memory.title.as_deref().and_then(find_address);
    title.or_else(|| find_address(&memory.content))
}
