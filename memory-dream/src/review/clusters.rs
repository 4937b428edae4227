//! Groups memories about the same subject.

use std::cmp::Reverse;
use std::collections::HashMap;

use memory_core::{MemoryId, Scope};

use super::reviewed_memory::{ReviewedMemory, key};

/// A group of memories of one scope about the same subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The most frequent of the rare words that the memories share, at most three.
    pub label: Vec<String>,
    /// The scope of the memories.
    pub scope: Scope,
    /// The memories, at most forty, sorted by id.
    pub members: Vec<MemoryId>,
}

/// Maximum number of words in a label.
const MAX_LABEL_WORDS: usize = 3;

/// Maximum number of memories in a cluster, since larger ones have no common subject.
const MAX_CLUSTER: usize = 40;

/// Minimum number of memories in a cluster.
const MIN_CLUSTER: usize = 3;

/// Maximum number of memories of a scope that share a rare word or tag.
///
/// In a small scope, the maximum is a quarter of the memories, but at least four.
const MAX_WORD_SHARERS: usize = 24;

/// Number of the rarest words of a memory that are considered.
const RAREST_WORDS: usize = 12;

/// Number of nearest neighbours of a memory that are considered.
const MAX_NEIGHBOURS: usize = 4;

/// Minimum weight of an edge; two rare words reach it, as does a link.
const MIN_EDGE_WEIGHT: u32 = 200;

pub(super) fn find_clusters(
    seen: &[ReviewedMemory],
    names: &HashMap<u64, Box<str>>,
) -> Vec<Cluster> {
    let postings = RareWordIndex::of(seen);
    let mut edges = neighbour_edges(&postings, seen);
    edges.sort_unstable_by_key(|(weight, one, other)| (Reverse(*weight), *one, *other));
    let mut groups = DisjointSets {
        parent: (0..seen.len()).collect(),
        size: vec![1; seen.len()],
    };
    for (_, one, other) in edges {
        groups.join(one, other);
    }
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for place in 0..seen.len() {
        members
            .entry(groups.find_root(place))
            .or_default()
            .push(place);
    }
    let cluster = |members: &Vec<usize>| Cluster {
        label: cluster_label(members, &postings, names),
        scope: seen[members[0]].scope.clone(),
        members: members.iter().map(|member| seen[*member].id).collect(),
    };
    let mut found: Vec<_> = members
        .values()
        .filter(|members| MIN_CLUSTER <= members.len())
        .map(cluster)
        .collect();
    found.sort_by(|one, other| {
        (Reverse(one.members.len()), &one.members)
            .cmp(&(Reverse(other.members.len()), &other.members))
    });
    found
}

/// The rare words of each memory, and the memories of each rare word.
struct RareWordIndex {
    by_key: HashMap<u64, Vec<usize>>,
    /// The rare words of each memory, rarest first.
    rare: Vec<Vec<u64>>,
}

impl RareWordIndex {
    fn of(seen: &[ReviewedMemory]) -> Self {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        // The scope is part of the key, so that memories of different scopes share no words.
        let scopes: Vec<u64> = seen.iter().map(|own| key("scope", &own.scope)).collect();
        let mut sizes: HashMap<u64, usize> = HashMap::new();
        for scope in &scopes {
            *sizes.entry(*scope).or_default() += 1;
        }
        let keys = |place: usize| {
            let scope = scopes[place];
            seen[place]
                .words
                .iter()
                .chain(&seen[place].tags)
                .map(move |word| (*word, scoped_key(*word, scope)))
        };
        for place in 0..seen.len() {
            for (_, own) in keys(place) {
                *counts.entry(own).or_default() += 1;
            }
        }
        let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut rare = Vec::with_capacity(seen.len());
        for place in 0..seen.len() {
            let mut own: Vec<_> = keys(place)
                .map(|(word, key)| (counts[&key], word, key))
                .filter(|(count, ..)| {
                    (2..=(sizes[&scopes[place]] / 4).clamp(4, MAX_WORD_SHARERS)).contains(count)
                })
                .collect();
            own.sort_unstable();
            own.dedup();
            own.truncate(RAREST_WORDS);
            for (_, _, key) in &own {
                by_key.entry(*key).or_default().push(place);
            }
            rare.push(own.into_iter().map(|(_, word, _)| word).collect());
        }
        let mut postings = Self { by_key, rare };
        postings.by_key.retain(|_, places| 1 < places.len());
        let by_key = &postings.by_key;
        for (rare, scope) in postings.rare.iter_mut().zip(scopes) {
            rare.retain(|word| by_key.contains_key(&scoped_key(*word, scope)));
        }
        postings
    }
}

fn scoped_key(word: u64, scope: u64) -> u64 {
    word.rotate_left(21) ^ scope
}

/// Returns the edges to the nearest neighbours of each memory, with their weights.
fn neighbour_edges(postings: &RareWordIndex, seen: &[ReviewedMemory]) -> Vec<(u32, usize, usize)> {
    let places: HashMap<MemoryId, usize> = seen
        .iter()
        .enumerate()
        .map(|(place, own)| (own.id, place))
        .collect();
    let mut edges = Vec::new();
    let mut near: HashMap<usize, u32> = HashMap::new();
    for (place, own) in seen.iter().enumerate() {
        near.clear();
        let scope = key("scope", &own.scope);
        for word in &postings.rare[place] {
            let sharing = &postings.by_key[&scoped_key(*word, scope)];
            // A rarer word has a higher weight.
            let weight = u32::try_from(MAX_WORD_SHARERS / sharing.len())
                .map_or(MIN_EDGE_WEIGHT / 2, |times| MIN_EDGE_WEIGHT / 2 + times);
            for other in sharing.iter().filter(|other| **other != place) {
                *near.entry(*other).or_default() += weight;
            }
        }
        for other in own.links.iter().filter_map(|other| places.get(other)) {
            if *other != place && seen[*other].scope == own.scope {
                *near.entry(*other).or_default() += MIN_EDGE_WEIGHT;
            }
        }
        let mut nearest: Vec<_> = near
            .iter()
            .filter(|(_, weight)| MIN_EDGE_WEIGHT <= **weight)
            .map(|(other, weight)| (Reverse(*weight), *other))
            .collect();
        nearest.sort_unstable();
        nearest.truncate(MAX_NEIGHBOURS);
        edges.extend(
            nearest
                .into_iter()
                .map(|(Reverse(weight), other)| (weight, place.min(other), place.max(other))),
        );
    }
    edges
}

struct DisjointSets {
    parent: Vec<usize>,
    size: Vec<usize>,
}

impl DisjointSets {
    fn find_root(&mut self, mut place: usize) -> usize {
        while self.parent[place] != place {
            self.parent[place] = self.parent[self.parent[place]];
            place = self.parent[place];
        }
        place
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find_root(one), self.find_root(other));
        if one != other && self.size[one] + self.size[other] <= MAX_CLUSTER {
            let (small, large) = if (self.size[one], other) < (self.size[other], one) {
                (one, other)
            } else {
                (other, one)
            };
            self.parent[small] = large;
            self.size[large] += self.size[small];
        }
    }
}

fn cluster_label(
    members: &[usize],
    postings: &RareWordIndex,
    names: &HashMap<u64, Box<str>>,
) -> Vec<String> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for member in members {
        for word in &postings.rare[*member] {
            *counts.entry(*word).or_default() += 1;
        }
    }
    let written = |(word, count): (&u64, &usize)| {
        Some((
            Reverse(*count),
            Reverse(names.get(word)?.chars().count()),
            names.get(word)?.to_string(),
        ))
    };
    let mut words: Vec<_> = counts
        .iter()
        .filter(|(_, count)| 1 < **count)
        .filter_map(written)
        .collect();
    words.sort();
    words
        .into_iter()
        .map(|(_, _, name)| name)
        .take(MAX_LABEL_WORDS)
        .collect()
}
