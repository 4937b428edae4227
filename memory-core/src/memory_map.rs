//! A map of all memories: groups by category or tag, and the most linked memories of each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use crate::facets::tags_and_parents;
use crate::{
    Category, Filter, GraphEdge, HomeSection, Memory, MemoryId, Services, StoreError, Tags,
};

/// Maximum number of memories that a map shows one by one.
pub const MAX_MAP_MEMORIES: usize = 120;

/// Maximum number of tags that are groups.
const MAX_TAG_GROUPS: usize = 24;

/// Maximum number of relations between groups that a map shows: those with the most links.
const MAX_GROUP_LINKS: usize = 40;

/// The tags and the links of memories, without their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connections {
    /// The names of the tags, each once ignoring case.
    pub tags: Vec<String>,
    /// The memories, ordered by id.
    pub memories: Vec<ConnectedMemory>,
}

/// The tags and the links of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedMemory {
    /// The memory.
    pub id: MemoryId,
    /// The category.
    pub category: Category,
    /// The time of its last change.
    pub updated_at: DateTime<Utc>,
    /// Its tags and the tags above them, as positions in [`Connections::tags`].
    pub tags: Vec<usize>,
    /// The memories to which it links, as positions in [`Connections::memories`].
    pub links: Vec<usize>,
}

impl Connections {
    /// Returns the connections of memories in any order.
    pub fn new(mut memories: Vec<Memory>) -> Self {
        memories.sort_by_key(|memory| memory.id);
        let positions: HashMap<MemoryId, usize> =
            (memories.iter().map(|memory| memory.id)).zip(0..).collect();
        let (mut tags, mut known) = (Vec::new(), HashMap::new());
        let mut tag_position = |tag: &String| {
            *known.entry(Tags::key(tag)).or_insert_with(|| {
                tags.push(tag.clone());
                tags.len() - 1
            })
        };
        let connected = |memory: &Memory| ConnectedMemory {
            id: memory.id,
            category: memory.category,
            updated_at: memory.updated_at,
            tags: tags_and_parents(&memory.tags)
                .iter()
                .map(&mut tag_position)
                .collect(),
            links: memory
                .links
                .iter()
                .filter_map(|id| positions.get(id).copied())
                .collect(),
        };
        let memories = memories.iter().map(connected).collect();
        Self { tags, memories }
    }
}

/// A map of the memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryMap {
    /// The number of memories.
    pub total: u64,
    /// The number of links between them.
    pub links: u64,
    /// The groups, the largest first.
    pub groups: Vec<MapGroup>,
    /// The number of links between the memories of two groups, as ascending positions in `groups`, the most links first.
    pub group_links: Vec<(GraphEdge, u64)>,
    /// The memories of each group with the most links, at most [`MAX_MAP_MEMORIES`], in the order of their groups.
    pub memories: Vec<MapMemory>,
    /// The links between these memories, as ascending positions in `memories`.
    pub edges: Vec<GraphEdge>,
}

/// A group of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapGroup {
    /// What its memories have in common.
    pub subject: MapSubject,
    /// The number of its memories. One with several tags counts in the group of each.
    pub count: u64,
}

/// What the memories of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapSubject {
    /// A category.
    Category(Category),
    /// A tag.
    Tag(String),
    /// None of the tags that are groups.
    OtherTags,
}

/// A memory of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its headline.
    pub headline: String,
    /// Its category.
    pub category: Category,
    /// The group, as a position in [`MemoryMap::groups`]. Of several tags, the rarest one is its group.
    pub group: usize,
    /// The number of memories that are linked to it.
    pub links: u64,
}

/// Returns a map of the notes, grouped by category, or of those in `category`, grouped by tag.
///
/// If all notes are in one category, they are grouped by tag. The map depends on the memories alone.
///
/// # Errors
/// If the memories cannot be read.
pub fn memory_map(
    services: &Services,
    category: Option<Category>,
) -> Result<MemoryMap, StoreError> {
    services.store.refresh()?;
    let notes = Filter {
        category,
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let connections = services.store.connections(&notes, services.clock.now())?;
    let mut map = arrange(&connections);
    for memory in &mut map.memories {
        match services.store.get(&memory.id) {
            Ok(stored) => stored.memory.headline().clone_into(&mut memory.headline),
            // Another process deleted it or is writing it.
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(map)
}

/// Returns the map without headlines.
fn arrange(connections: &Connections) -> MemoryMap {
    let memories = &connections.memories;
    let first = memories.first().map(|memory| memory.category);
    let is_mixed = memories.iter().any(|memory| Some(memory.category) != first);
    let (groups, group_of) = if is_mixed {
        group_by_category(memories)
    } else {
        group_by_tag(connections)
    };
    let mut links: Vec<(usize, usize)> = Vec::new();
    for (position, memory) in memories.iter().enumerate() {
        let pairs = memory
            .links
            .iter()
            .map(|other| (position.min(*other), position.max(*other)));
        links.extend(pairs.filter(|(one, other)| one != other));
    }
    links.sort_unstable();
    links.dedup();
    let mut counts = vec![0_u64; memories.len()];
    let mut between = BTreeMap::<(usize, usize), u64>::new();
    for (one, other) in &links {
        counts[*one] += 1;
        counts[*other] += 1;
        let (left, right) = (group_of[*one], group_of[*other]);
        if left != right {
            *between
                .entry((left.min(right), left.max(right)))
                .or_default() += 1;
        }
    }
    let mut group_links: Vec<_> = between
        .into_iter()
        .map(|((from, to), count)| (GraphEdge { from, to }, count))
        .collect();
    group_links.sort_by_key(|(edge, count)| (Reverse(*count), *edge));
    group_links.truncate(MAX_GROUP_LINKS);
    let shown = choose_memories(memories, &group_of, groups.len(), &counts);
    let places: HashMap<usize, usize> = shown.iter().copied().zip(0..).collect();
    let mut edges: Vec<GraphEdge> = links
        .iter()
        .filter_map(|(one, other)| {
            let (one, other) = (*places.get(one)?, *places.get(other)?);
            Some(GraphEdge {
                from: one.min(other),
                to: one.max(other),
            })
        })
        .collect();
    edges.sort_unstable();
    let shown = shown.iter().map(|position| MapMemory {
        id: memories[*position].id,
        headline: String::new(),
        category: memories[*position].category,
        group: group_of[*position],
        links: counts[*position],
    });
    MemoryMap {
        total: memories.len() as u64,
        links: links.len() as u64,
        memories: shown.collect(),
        groups,
        group_links,
        edges,
    }
}

/// Returns the groups, and the group of each memory.
fn group_by_category(memories: &[ConnectedMemory]) -> (Vec<MapGroup>, Vec<usize>) {
    let mut counts = BTreeMap::<Category, u64>::new();
    for memory in memories {
        *counts.entry(memory.category).or_default() += 1;
    }
    let mut categories: Vec<(Category, u64)> = counts.into_iter().collect();
    categories.sort_by_key(|(_, count)| Reverse(*count));
    let position: HashMap<Category, usize> = categories
        .iter()
        .map(|(category, _)| *category)
        .zip(0..)
        .collect();
    let group = |(category, count)| MapGroup {
        subject: MapSubject::Category(category),
        count,
    };
    (
        categories.into_iter().map(group).collect(),
        memories
            .iter()
            .map(|memory| position[&memory.category])
            .collect(),
    )
}

/// Returns the groups, and the group of each memory: that of its rarest tag among the most frequent ones.
fn group_by_tag(connections: &Connections) -> (Vec<MapGroup>, Vec<usize>) {
    let mut counts = vec![0_u64; connections.tags.len()];
    for tag in connections.memories.iter().flat_map(|memory| &memory.tags) {
        counts[*tag] += 1;
    }
    let mut tags: Vec<usize> = (0..counts.len()).filter(|tag| 0 < counts[*tag]).collect();
    tags.sort_by_cached_key(|tag| (Reverse(counts[*tag]), Tags::key(&connections.tags[*tag])));
    tags.truncate(MAX_TAG_GROUPS);
    let ranks: HashMap<usize, usize> = tags.iter().copied().zip(0..).collect();
    let rank = |memory: &ConnectedMemory| {
        let ranks = memory.tags.iter().filter_map(|tag| ranks.get(tag).copied());
        ranks.max().unwrap_or(tags.len())
    };
    let mut group_of: Vec<usize> = connections.memories.iter().map(rank).collect();
    let mut groups: Vec<MapGroup> = tags
        .iter()
        .map(|tag| MapGroup {
            subject: MapSubject::Tag(connections.tags[*tag].clone()),
            count: counts[*tag],
        })
        .collect();
    let others = group_of
        .iter()
        .filter(|group| **group == tags.len())
        .count() as u64;
    if 0 < others {
        // The other memories are among the groups by their number.
        let place = groups.partition_point(|group| others <= group.count);
        for group in &mut group_of {
            *group = match *group {
                own if own == tags.len() => place,
                own if place <= own => own + 1,
                own => own,
            };
        }
        groups.insert(
            place,
            MapGroup {
                subject: MapSubject::OtherTags,
                count: others,
            },
        );
    }
    (groups, group_of)
}

/// Returns the positions of the memories to show: of each group those with the most links, then those changed last.
///
/// Each group has the same number, and the places that a small group leaves go to the larger ones.
fn choose_memories(
    memories: &[ConnectedMemory],
    group_of: &[usize],
    groups: usize,
    counts: &[u64],
) -> Vec<usize> {
    let mut members = vec![Vec::new(); groups];
    for (position, group) in group_of.iter().enumerate() {
        members[*group].push(position);
    }
    let mut by_size: Vec<usize> = (0..groups).collect();
    by_size.sort_by_key(|group| members[*group].len());
    let mut left = MAX_MAP_MEMORIES;
    for (number, group) in by_size.into_iter().enumerate() {
        let own = &mut members[group];
        own.sort_unstable_by_key(|position| {
            let memory = &memories[*position];
            (
                Reverse(counts[*position]),
                Reverse(memory.updated_at),
                memory.id,
            )
        });
        own.truncate(left / (groups - number));
        left -= own.len();
    }
    members.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, SecretPolicy, link, write};

    fn put(services: &Services, text: &str, category: Category, tags: &[&str]) -> String {
        let draft = Draft::new(text)
            .category(category)
            .tags(tags.iter().copied());
        let written = write(services, draft, SecretPolicy::Refuse).expect("it is written");
        written.id.to_string()
    }

    #[test]
    fn memories_are_grouped_by_category_and_those_of_a_category_by_tag() {
        let services = services(Arc::new(MemStore::default()));
        let tea = put(&services, "tea", Category::Preferences, &["drink/tea"]);
        put(&services, "coffee", Category::Preferences, &["drink"]);
        put(&services, "plain", Category::Preferences, &[]);
        let anna = put(&services, "Anna", Category::People, &[]);
        link(&services, &tea, &anna).expect("they are linked");
        let map = memory_map(&services, None).expect("it is read");
        let subjects = |map: &MemoryMap| -> Vec<(MapSubject, u64)> {
            let groups = map.groups.iter();
            groups.map(|own| (own.subject.clone(), own.count)).collect()
        };
        assert_eq!(
            subjects(&map),
            [
                (MapSubject::Category(Category::Preferences), 3),
                (MapSubject::Category(Category::People), 1)
            ]
        );
        let shown: Vec<_> = (map.memories.iter())
            .map(|memory| (memory.headline.as_str(), memory.group, memory.links))
            .collect();
        assert_eq!((shown[0], shown[3]), (("tea", 0, 1), ("Anna", 1, 1)));
        assert_eq!(map.edges, [GraphEdge { from: 0, to: 3 }]);
        assert_eq!(map.group_links, [(GraphEdge { from: 0, to: 1 }, 1)]);
        assert_eq!((map.total, map.links), (4, 1));
        let map = memory_map(&services, Some(Category::Preferences)).expect("it is read");
        let tag = |name: &str| MapSubject::Tag(name.to_owned());
        assert_eq!(
            subjects(&map),
            [
                (tag("drink"), 2),
                (tag("drink/tea"), 1),
                (MapSubject::OtherTags, 1)
            ]
        );
        let group = |name: &str| {
            let mut found = map.memories.iter();
            found
                .find(|memory| memory.headline == name)
                .map(|own| own.group)
        };
        assert_eq!(
            ["tea", "coffee", "plain"].map(group),
            [Some(1), Some(0), Some(2)],
            "the rarest tag is the group"
        );
    }

    #[test]
    fn memories_of_one_category_are_grouped_by_tag() {
        let services = services(Arc::new(MemStore::default()));
        put(&services, "tea", Category::Preferences, &["drink"]);
        let map = memory_map(&services, None).expect("it is read");
        assert_eq!(map.groups[0].subject, MapSubject::Tag("drink".into()));
        let empty = memory_map(&services, Some(Category::Soul)).expect("it is read");
        assert_eq!(empty, MemoryMap::default());
    }

    proptest! {
        #[test]
        fn a_map_is_bounded_and_each_position_exists(
            drawn in proptest::collection::vec((0_usize..3, 0_usize..40, 0_usize..300), 0..300),
        ) {
            let count = drawn.len();
            let memory = |(number, (category, tag, link)): (usize, &(usize, usize, usize))| ConnectedMemory {
                id: MemoryId::for_path(&number.to_string()),
                category: Category::ALL[*category],
                updated_at: DateTime::UNIX_EPOCH,
                tags: if *tag % 4 == 0 { Vec::new() } else { vec![*tag] },
                links: Some(*link).filter(|link| *link < count).into_iter().collect(),
            };
            let mut memories: Vec<_> = drawn.iter().enumerate().map(memory).collect();
            for is_one_category in [false, true] {
                if is_one_category {
                    for own in &mut memories {
                        own.category = Category::Date;
                    }
                }
                let tags = (0..40).map(|tag| tag.to_string()).collect();
                let map = arrange(&Connections { tags, memories: memories.clone() });
                prop_assert!(map.memories.len() == count.min(MAX_MAP_MEMORIES));
                prop_assert!(map.groups.is_sorted_by_key(|group| Reverse(group.count)));
                prop_assert!(map.memories.iter().all(|own| own.group < map.groups.len()));
                prop_assert!(map.edges.iter().all(|edge| edge.from < edge.to && edge.to < map.memories.len()));
                prop_assert!(map.group_links.iter().all(|(edge, _)| edge.from < edge.to && edge.to < map.groups.len()));
            }
        }
    }
}
