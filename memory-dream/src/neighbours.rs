//! Finds the memories that a person or an agent should see with a new one.

use std::collections::HashSet;
use std::mem::discriminant;

use memory_core::conversation::contradicts;
use memory_core::standing::replaces_standing;
use memory_core::{
    Filter, Hit, HomeSection, Memory, MemoryId, Neighbour, NeighbourFinder, NeighbourRelation,
    Query, Scope, Services, StoreError, StoredMemory, may_replace_note, replaces_note, search,
};

use crate::similar::compare_texts;

/// Maximum number of neighbours.
const MAX_NEIGHBOURS: usize = 5;

/// Number of memories that are compared.
const COMPARED: usize = 25;

/// Number of characters of the text that select the memories to compare.
const QUERY_CHARACTERS: usize = 300;

/// Minimum Jaccard similarity of similar texts.
const MIN_JACCARD: f32 = 0.3;

/// Minimum share of a text that the other one contains, if they are similar.
const MIN_CONTAINMENT: f32 = 0.6;

/// Minimum cosine of the best match, and of any other one, if they are related by their meaning.
///
/// In a week with 30 changes of facts, 25 of the earlier facts are related, and 22 others; with the second minimum for all, 18 and 11.
const MIN_COSINES: [f32; 2] = [0.35, 0.45];

/// Finds neighbours by comparing texts and their claims.
///
/// Memories of another scope count only if one of both changes or contradicts the other; those of another project never do, nor do
/// proposals.
#[derive(Debug, Clone, Copy)]
pub struct TextNeighbours;

impl NeighbourFinder for TextNeighbours {
    fn neighbours(
        &self,
        services: &Services,
        memory: &Memory,
        except: Option<MemoryId>,
    ) -> Result<Vec<Neighbour>, StoreError> {
        find_neighbours(services, memory, except)
    }
}

fn find_neighbours(
    services: &Services,
    memory: &Memory,
    except: Option<MemoryId>,
) -> Result<Vec<Neighbour>, StoreError> {
    let words: String = memory
        .title
        .iter()
        .chain([&memory.content])
        .flat_map(|text| text.chars().chain([' ']))
        .map(|character| {
            if character.is_alphanumeric() {
                character
            } else {
                ' '
            }
        })
        .take(QUERY_CHARACTERS)
        .collect();
    if words.trim().is_empty() {
        return Ok(Vec::new());
    }
    let filter = Filter {
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let services = &Services {
        reranking: None,
        ..services.clone()
    };
    let found = search(services, &Query::new(&words).filter(filter).limit(COMPARED))?;
    // What the memory supersedes is not found, but what that one replaced, or was replaced by, is still there.
    let superseded: Vec<StoredMemory> = stored_memories(services, &memory.supersedes);
    let successors: Vec<MemoryId> = superseded
        .iter()
        .filter_map(|stored| stored.memory.superseded_by)
        .filter(|id| *id != memory.id)
        .collect();
    let counts = |own: &Memory| {
        own.id != memory.id
            && Some(own.id) != except
            && may_relate(&own.scope, &memory.scope)
            // A reminder of what the memory states is no other statement.
            && (own.reminder.is_none() || memory.reminder.is_some())
    };
    let mut hits = found.hits;
    hits.retain(|hit| counts(&hit.stored.memory) && !successors.contains(&hit.stored.memory.id));
    let near = near_memories(&hits);
    let mut others: Vec<StoredMemory> = stored_memories(services, &successors);
    others.retain(|own| counts(&own.memory));
    others.extend(hits.into_iter().map(|hit| hit.stored));
    let others: Vec<&Memory> = others.iter().map(|stored| &stored.memory).collect();
    let updated: Vec<&Memory> = others
        .iter()
        .copied()
        .filter(|other| replaces_note(memory, other))
        .chain(superseded.iter().map(|stored| &stored.memory))
        .collect();
    let relation = |other: &Memory| {
        let is_updated = successors.contains(&other.id)
            || updated
                .iter()
                .any(|newer| newer.id == other.id || replaces_note(newer, other));
        let relation = if is_updated {
            NeighbourRelation::Updates
        } else {
            let is_near = near.contains(&other.id) || may_replace_note(memory, other);
            relation(memory, other, is_near)?
        };
        let is_wide = relation < NeighbourRelation::Duplicate;
        let is_near = [&Scope::Global, &memory.scope].contains(&&other.scope);
        (is_wide || is_near).then_some(relation)
    };
    let mut neighbours: Vec<Neighbour> = others
        .iter()
        .filter_map(|other| {
            Some(Neighbour {
                relation: relation(other)?,
                id: other.id,
                text: other.content.clone(),
            })
        })
        .collect();
    neighbours.sort_by_key(|neighbour| neighbour.relation);
    neighbours.truncate(MAX_NEIGHBOURS);
    Ok(neighbours)
}

/// Returns the hits that are related by their meaning.
fn near_memories(hits: &[Hit]) -> HashSet<MemoryId> {
    let is_near = |(rank, hit): &(usize, &Hit)| {
        let cosine = hit.explanation.cosine;
        cosine.is_some_and(|cosine| MIN_COSINES[usize::from(0 < *rank)] <= cosine)
    };
    let near = hits.iter().enumerate().filter(is_near);
    near.map(|(_, hit)| hit.stored.memory.id).collect()
}

/// Returns the memories that are still there.
fn stored_memories(services: &Services, ids: &[MemoryId]) -> Vec<StoredMemory> {
    let all = ids.iter().map(|id| services.store.get(id));
    all.filter_map(Result::ok).collect()
}

/// Returns whether memories of both scopes can be about the same, unlike those of two projects.
fn may_relate(one: &Scope, other: &Scope) -> bool {
    one == other || discriminant(one) != discriminant(other)
}

fn relation(memory: &Memory, other: &Memory, is_near: bool) -> Option<NeighbourRelation> {
    let similarity = compare_texts(&memory.content, &other.content);
    let is_alike = MIN_JACCARD <= similarity.jaccard || MIN_CONTAINMENT <= similarity.containment;
    match () {
        () if similarity.is_duplicate() => Some(NeighbourRelation::Duplicate),
        () if contradicts(&memory.content, &other.content)
            || replaces_standing(&memory.content, &other.content) =>
        {
            Some(NeighbourRelation::Contradicts)
        }
        () if is_near || is_alike && !similarity.is_short => Some(NeighbourRelation::Related),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::testing::services;
    use memory_core::{Draft, MemStore, SecretPolicy, write};

    use super::*;

    #[test]
    fn contradictions_come_first_then_duplicates_then_similar_memories() {
        let services = services(Arc::new(MemStore::default()));
        let put = |draft: Draft| {
            write(&services, draft, SecretPolicy::Refuse)
                .expect("it is written")
                .id
        };
        put(Draft::new(
            "The deploy of the harbour server takes twenty minutes and needs the VPN of the office.",
        ));
        let same = put(Draft::new(
            "the deploy of the harbour server takes ten minutes and needs the VPN",
        ));
        put(Draft::new("The user prefers tea in the morning"));
        let text = "The deploy of the harbour server takes ten minutes and needs the VPN.";
        put(Draft::new(text).scope(Scope::Agent("a".into())));
        let proposed =
            Draft::new(text).into_memory(MemoryId::for_path("proposed"), services.clock.now());
        let relations = |except: Option<MemoryId>| -> Vec<(NeighbourRelation, MemoryId)> {
            let found = find_neighbours(&services, &proposed, except).expect("found");
            found
                .into_iter()
                .map(|own| (own.relation, own.id))
                .collect()
        };
        let found = relations(None);
        assert!(
            found.contains(&(NeighbourRelation::Duplicate, same)),
            "{found:?}"
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.is_sorted_by_key(|(relation, _)| *relation),
            "{found:?}"
        );
        assert_eq!(relations(Some(same)).len(), 1);
    }

    #[test]
    fn a_contradiction_with_a_memory_of_a_wider_scope_is_found() {
        let services = services(Arc::new(MemStore::default()));
        let put = |text: &str| {
            write(&services, Draft::new(text), SecretPolicy::Refuse)
                .expect("it is written")
                .id
        };
        let (claim, instruction) = (
            put("The port of the proxy is 8080."),
            put("Always answer in English."),
        );
        let relation = |text: &str| {
            let draft = Draft::new(text).scope(Scope::Project("web".into()));
            let proposed = draft.into_memory(MemoryId::for_path("proposed"), services.clock.now());
            let found = find_neighbours(&services, &proposed, None).expect("found");
            found.first().map(|own| (own.relation, own.id))
        };
        assert_eq!(
            relation("The port of the proxy is 9090."),
            Some((NeighbourRelation::Contradicts, claim))
        );
        assert_eq!(
            relation("Always answer in German."),
            Some((NeighbourRelation::Contradicts, instruction))
        );
        assert_eq!(relation("…"), None);
    }
}
