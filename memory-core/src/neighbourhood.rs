//! The neighbourhood of a memory or a tag: what is linked to it directly, or over one other memory or tag.

use std::collections::{HashMap, HashSet};

use crate::link::{backlinks_of, outgoing_links};
use crate::{Category, MemoryId, MemoryStoreExt, Scope, Services, StoreError, StoredMemory, Tags};

/// Maximum number of nodes of a neighbourhood.
pub const MAX_NODES: usize = 150;

/// Maximum distance of a node from the centre.
const MAX_DISTANCE: usize = 2;

/// Number of memories of one tag that are nodes. A tag of very many memories relates few of them.
const MEMORIES_PER_TAG: usize = 40;

/// What a neighbourhood is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeighbourhoodCentre {
    /// The memory that this reference names: an id, a prefix of at least 4 digits of an id, or a file stem.
    Memory(String),
    /// A tag.
    Tag(String),
}

/// The memories and tags around one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The nodes, nearest first. The first one is the centre.
    pub nodes: Vec<GraphNode>,
    /// The relations between the nodes, each once, as ascending positions in `nodes`.
    pub edges: Vec<GraphEdge>,
    /// Whether nodes were left out, because there are more than [`MAX_NODES`] or a tag has very many memories.
    pub is_cut: bool,
}

/// A memory or a tag in a neighbourhood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphNode {
    /// The memory or the tag.
    pub subject: GraphSubject,
    /// The number of relations between it and the centre.
    pub distance: usize,
}

/// The subject of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphSubject {
    /// A memory.
    Memory {
        /// Its id.
        id: MemoryId,
        /// Its headline.
        headline: String,
        /// Its category.
        category: Category,
        /// Its scope.
        scope: Scope,
    },
    /// A tag.
    Tag(String),
}

/// A relation between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GraphEdge {
    /// The position of the node that is nearer to the centre.
    pub from: usize,
    /// The position of the other node.
    pub to: usize,
}

/// Returns the neighbourhood of `centre`: memories that are linked in either direction, tags, and memories with the same tag, up
/// to a distance of two.
///
/// The order of the nodes depends on the memories alone.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`] if the centre is a memory, and [`StoreError::NotFound`] for a tag
/// without memories.
pub fn neighbourhood(
    services: &Services,
    centre: &NeighbourhoodCentre,
) -> Result<Neighbourhood, StoreError> {
    services.store.refresh()?;
    let (memories, tags, edges) = (HashMap::new(), HashMap::new(), HashSet::new());
    let mut graph = GraphBuilder {
        services,
        memories,
        tags,
        edges,
        result: Neighbourhood::default(),
    };
    match centre {
        NeighbourhoodCentre::Memory(reference) => {
            graph.add_memory(services.store.get_by(reference)?, 0);
        }
        NeighbourhoodCentre::Tag(tag) => {
            if services
                .store
                .tagged(tag, None, 1, services.clock.now())?
                .is_empty()
            {
                return Err(StoreError::NotFound {
                    reference: format!("#{}", Tags::key(tag)),
                });
            }
            graph.add_tag(tag, 0);
        }
    }
    let mut next = 0;
    while next < graph.result.nodes.len() && graph.result.nodes[next].distance < MAX_DISTANCE {
        graph.expand(next)?;
        next += 1;
    }
    Ok(graph.finish())
}

/// A neighbourhood under construction.
struct GraphBuilder<'a> {
    services: &'a Services,
    /// The position of each memory, and the memory.
    memories: HashMap<MemoryId, (usize, StoredMemory)>,
    /// The position of each tag, by [`Tags::key`].
    tags: HashMap<String, usize>,
    /// The relations of the expanded nodes.
    edges: HashSet<GraphEdge>,
    result: Neighbourhood,
}

impl GraphBuilder<'_> {
    /// Adds the neighbours of a node: first its links, then links from other memories, then tags.
    fn expand(&mut self, position: usize) -> Result<(), StoreError> {
        let GraphNode { subject, distance } = self.result.nodes[position].clone();
        let distance = distance + 1;
        match subject {
            GraphSubject::Memory { id, .. } => {
                let stored = self.memories[&id].1.clone();
                let linked = outgoing_links(self.services, &stored)?;
                for other in linked
                    .into_iter()
                    .chain(backlinks_of(self.services, &stored)?)
                {
                    // A wikilink that is not recorded yet is a relation as well.
                    let id = other.memory.id;
                    self.add_memory(other, distance);
                    if let Some((other, _)) = self
                        .memories
                        .get(&id)
                        .filter(|(other, _)| *other != position)
                    {
                        self.edges.insert(GraphEdge {
                            from: position.min(*other),
                            to: position.max(*other),
                        });
                    }
                }
                for tag in &stored.memory.tags {
                    self.add_tag(tag, distance);
                }
            }
            GraphSubject::Tag(tag) => {
                let mut memories = self.services.store.tagged(
                    &tag,
                    None,
                    MEMORIES_PER_TAG + 1,
                    self.services.clock.now(),
                )?;
                self.result.is_cut |= MEMORIES_PER_TAG < memories.len();
                memories.truncate(MEMORIES_PER_TAG);
                for stored in memories {
                    self.add_memory(stored, distance);
                }
            }
        }
        Ok(())
    }

    fn add_memory(&mut self, stored: StoredMemory, distance: usize) {
        let memory = &stored.memory;
        if memory.is_proposal() || self.memories.contains_key(&memory.id) {
            return;
        }
        let headline = memory.headline().to_owned();
        let (id, category, scope) = (memory.id, memory.category, memory.scope.clone());
        if let Some(position) = self.add_node(
            GraphSubject::Memory {
                id,
                headline,
                category,
                scope,
            },
            distance,
        ) {
            self.memories.insert(id, (position, stored));
        }
    }

    fn add_tag(&mut self, tag: &str, distance: usize) {
        let key = Tags::key(tag);
        if !self.tags.contains_key(&key)
            && let Some(position) = self.add_node(GraphSubject::Tag(tag.to_owned()), distance)
        {
            self.tags.insert(key, position);
        }
    }

    /// Adds a node and returns its position, or `None` if there are [`MAX_NODES`] nodes.
    fn add_node(&mut self, subject: GraphSubject, distance: usize) -> Option<usize> {
        let position = self.result.nodes.len();
        if MAX_NODES <= position {
            self.result.is_cut = true;
            return None;
        }
        self.result.nodes.push(GraphNode { subject, distance });
        Some(position)
    }

    /// Adds the relations between all nodes.
    fn finish(mut self) -> Neighbourhood {
        let mut edges = std::mem::take(&mut self.edges);
        for (position, stored) in self.memories.values() {
            let linked = stored
                .memory
                .links
                .iter()
                .filter_map(|link| Some(self.memories.get(link)?.0));
            // A memory has also the tags above its own.
            let tags = self
                .tags
                .iter()
                .filter(|(tag, _)| stored.memory.tags.contains_or_below(tag))
                .map(|(_, tag)| *tag);
            for other in linked.chain(tags).filter(|other| other != position) {
                edges.insert(GraphEdge {
                    from: other.min(*position),
                    to: other.max(*position),
                });
            }
        }
        self.result.edges = edges.into_iter().collect();
        self.result.edges.sort_unstable();
        self.result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, SecretPolicy, link, write};

    fn put(services: &Services, text: &str, tags: &[&str]) -> String {
        write(
            services,
            Draft::new(text).tags(tags.iter().copied()),
            SecretPolicy::Refuse,
        )
        .expect("it is written")
        .id
        .to_string()
    }

    fn names(graph: &Neighbourhood) -> Vec<(String, usize)> {
        let name = |node: &GraphNode| match &node.subject {
            GraphSubject::Memory { headline, .. } => headline.clone(),
            GraphSubject::Tag(tag) => format!("#{tag}"),
        };
        graph
            .nodes
            .iter()
            .map(|node| (name(node), node.distance))
            .collect()
    }

    #[test]
    fn a_neighbourhood_has_links_tags_and_what_they_lead_to() {
        let services = services(Arc::new(MemStore::default()));
        let centre = put(&services, "centre", &["tea"]);
        let near = put(&services, "near", &["work"]);
        let far = put(&services, "far", &[]);
        let beyond = put(&services, "beyond", &[]);
        put(&services, "shares the tag", &["tea/green"]);
        put(&services, "elsewhere", &["other"]);
        for (one, other) in [(&centre, &near), (&near, &far), (&far, &beyond)] {
            link(&services, one, other).expect("they are linked");
        }
        let graph = neighbourhood(&services, &NeighbourhoodCentre::Memory(centre.clone()))
            .expect("it is read");
        let named = |name: &str, distance| (name.to_owned(), distance);
        let expected = [
            named("centre", 0),
            named("near", 1),
            named("#tea", 1),
            named("far", 2),
            named("#work", 2),
            named("shares the tag", 2),
        ];
        assert_eq!(names(&graph), expected);
        let edges: Vec<_> = graph
            .edges
            .iter()
            .map(|edge| (edge.from, edge.to))
            .collect();
        assert_eq!(edges, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]);
        assert!(!graph.is_cut);
        let of_tag =
            neighbourhood(&services, &NeighbourhoodCentre::Tag("Tea".into())).expect("it is read");
        assert_eq!(names(&of_tag)[0], named("#Tea", 0));
        assert!(names(&of_tag).contains(&named("near", 2)));
        let missing = neighbourhood(&services, &NeighbourhoodCentre::Tag("none".into()))
            .expect_err("no memory has it");
        assert!(matches!(missing, StoreError::NotFound { .. }));
    }

    #[test]
    fn wikilinks_from_other_memories_count() {
        let services = services(Arc::new(MemStore::default()));
        let draft = Draft {
            title: Some("Tea".into()),
            ..Draft::new("about tea")
        };
        let tea = write(&services, draft, SecretPolicy::Refuse)
            .expect("it is written")
            .id
            .to_string();
        put(&services, "I drink [[Tea]]", &[]);
        let graph =
            neighbourhood(&services, &NeighbourhoodCentre::Memory(tea)).expect("it is read");
        assert_eq!(names(&graph)[1], ("I drink [[Tea]]".to_owned(), 1));
        assert_eq!(graph.edges, [GraphEdge { from: 0, to: 1 }]);
    }

    #[test]
    fn a_large_neighbourhood_is_cut_and_stays_the_same() {
        let services = services(Arc::new(MemStore::default()));
        for number in 0..60 {
            put(
                &services,
                &format!("memory {number}"),
                &["hub", &format!("tag{number}")],
            );
        }
        let centre = NeighbourhoodCentre::Tag("hub".into());
        let graph = neighbourhood(&services, &centre).expect("it is read");
        assert!(graph.is_cut && graph.nodes.len() <= MAX_NODES);
        assert!(
            graph
                .nodes
                .windows(2)
                .all(|pair| pair[0].distance <= pair[1].distance)
        );
        assert_eq!(
            neighbourhood(&services, &centre).expect("it is read"),
            graph
        );
    }
}
