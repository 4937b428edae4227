//! The JSON of proposals.

use memory_core::{
    AcceptResult, InboxTtl, Neighbour, ProposedAction, StoredMemory, SubmittedProposal,
    WaitingProposal,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::memory::MemoryShape;
use super::value;

/// The explanation of an answer to a change that waits for a review.
const NOTE: &str = "stored as a proposal; it is not used until the user accepts it";

/// The explanation if the same change waits already.
const SAME_NOTE: &str = "the same proposal waits already; it is not used until the user accepts it";

#[derive(Serialize)]
struct SubmittedShape {
    id: String,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
}

/// The fields that confirm a change which took effect, and those that depend on it.
const EFFECT_FIELDS: [&str; 3] = ["created", "deleted", "next"];

/// States in the result of a tool call that its changes wait for a review.
///
/// The result begins with `waits_for_review` (true), a `note` and `proposals` (`[{id, action, of?}]`), and the fields that would
/// confirm the change, such as `deleted`, are left out. `place` says where the user accepts them, such as `with a command`.
pub(crate) fn add_proposals(
    result: &mut Value,
    proposals: &[SubmittedProposal],
    place: Option<&str>,
) {
    let (Value::Object(fields), false) = (result, proposals.is_empty()) else {
        return;
    };
    let shape = |proposal: &SubmittedProposal| {
        let of = proposal.action.target().map(|target| target.id.to_string());
        value(&SubmittedShape {
            id: proposal.id.to_string(),
            action: proposal.action.as_str(),
            of,
        })
    };
    let note = if proposals.iter().any(|proposal| proposal.is_new) {
        NOTE
    } else {
        SAME_NOTE
    };
    let note = place.map_or_else(|| note.to_owned(), |place| format!("{note} {place}"));
    let mut stated = Map::new();
    stated.insert("waits_for_review".to_owned(), true.into());
    stated.insert("note".to_owned(), note.into());
    stated.insert(
        "proposals".to_owned(),
        proposals.iter().map(shape).collect(),
    );
    let others = std::mem::take(fields)
        .into_iter()
        .filter(|(name, _)| !EFFECT_FIELDS.contains(&name.as_str()));
    stated.extend(others);
    *fields = stated;
}

#[derive(Serialize)]
struct WaitingShape<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<bool>,
    memory: MemoryShape<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<MemoryShape<'a>>,
    similar: Vec<SimilarShape>,
}

/// Maximum number of characters of a similar text.
const MAX_CHARACTERS: usize = 300;

#[derive(Serialize)]
pub(super) struct SimilarShape {
    relation: &'static str,
    id: String,
    text: String,
}

/// Returns the JSON of a waiting proposal:
/// `{proposed_by, action, of?, stale?, memory, current?, similar: [{relation, id, text}]}`.
///
/// A similar text is cut after 300 characters. `action` is `write`, `update` or `delete`; `of`, `stale` and `current` describe the memory that the proposal changes.
pub fn waiting_proposal(
    waiting: &WaitingProposal,
    neighbours: &[Neighbour],
    inbox_ttl: InboxTtl,
) -> Value {
    let action: ProposedAction = waiting.proposal.action;
    value(&WaitingShape {
        proposed_by: Some(&waiting.proposal.by),
        action: Some(action.as_str()),
        of: action.target().map(|target| target.id.to_string()),
        stale: action.target().map(|_| waiting.is_stale),
        memory: MemoryShape::of(&waiting.stored, inbox_ttl),
        current: waiting
            .target
            .as_ref()
            .map(|target| MemoryShape::of(target, inbox_ttl)),
        similar: neighbours.iter().map(similar_shape).collect(),
    })
}

/// Returns the JSON of an unfiled note of the inbox: `{memory, similar}`, as [`waiting_proposal`].
pub fn inbox_note(stored: &StoredMemory, neighbours: &[Neighbour], inbox_ttl: InboxTtl) -> Value {
    value(&WaitingShape {
        proposed_by: None,
        action: None,
        of: None,
        stale: None,
        memory: MemoryShape::of(stored, inbox_ttl),
        current: None,
        similar: neighbours.iter().map(similar_shape).collect(),
    })
}

pub(super) fn similar_shape(neighbour: &Neighbour) -> SimilarShape {
    let mut text: String = neighbour.text.chars().take(MAX_CHARACTERS).collect();
    if text.len() < neighbour.text.len() {
        text.push('…');
    }
    SimilarShape {
        relation: neighbour.relation.as_str(),
        id: neighbour.id.to_string(),
        text,
    }
}

#[derive(Serialize)]
struct AcceptedShape<'a> {
    id: String,
    path: &'a str,
    accepted: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ignored: &'a [&'static str],
}

/// Returns the JSON of an acceptance: `{id, path, accepted, ignored?}`.
///
/// `accepted` is `written`, `merged` (a memory had the same text), `updated`, `deleted` or `filed` (a note of the inbox).
/// `ignored` names the proposed fields that a memory with the same text did not receive.
pub fn accept_result(result: &AcceptResult) -> Value {
    value(&AcceptedShape {
        id: result.id.to_string(),
        path: &result.path,
        accepted: result.acceptance.as_str(),
        ignored: &result.ignored,
    })
}

#[cfg(test)]
mod tests {
    use memory_core::MemoryId;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_that_waits_is_not_confirmed() {
        let id = MemoryId::for_path("a");
        let mut result = json!({ "id": "1", "created": true, "deleted": true, "next": "memory_undo", "text": "tea" });
        add_proposals(&mut result, &[], None);
        assert_eq!(
            result["deleted"], true,
            "without a proposal, the result stays"
        );
        add_proposals(
            &mut result,
            &[SubmittedProposal {
                id,
                action: ProposedAction::Write,
                is_new: true,
            }],
            Some("here"),
        );
        let proposals = json!([{ "id": id.to_string(), "action": "write" }]);
        let expected = json!({ "waits_for_review": true, "note": format!("{NOTE} here"), "proposals": proposals, "id": "1", "text": "tea" });
        assert_eq!(result.to_string(), expected.to_string());
    }
}
