//! Counts of memories by their attributes, and the memories with a tag.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{DateTime, Datelike, NaiveDate, Utc};

use crate::query_parser::parse;
use crate::search::{find_corrections, search_refreshed};
use crate::spelling::correct_query;
use crate::{Category, MatchCoverage, Memory, Query, Ranking, Scope, Services, StoreError, Tags};

/// Maximum number of values of one attribute. Those with the lowest counts are left out.
pub const MAX_FACET_VALUES: usize = 200;

/// The numbers of memories by attribute.
///
/// The values of an attribute are ordered by their number, the highest first, then by name (tags ignoring case); the months are ordered by time, the
/// newest first. A value without memories is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetCounts {
    /// The number of memories that were counted.
    pub counted: u64,
    /// The numbers by category.
    pub categories: Vec<(Category, u64)>,
    /// The numbers by scope.
    pub scopes: Vec<(Scope, u64)>,
    /// The numbers by source, in lower case; without memories that have no source.
    pub sources: Vec<(String, u64)>,
    /// The numbers by tag, ignoring case. A memory counts also for the tags above its own, such as `a` for `a/b`.
    pub tags: Vec<(String, u64)>,
    /// The numbers by month of creation in UTC, as the first day of the month. All months are included.
    pub months: Vec<(NaiveDate, u64)>,
}

/// Returns the numbers of memories by attribute among the best matches of a query, see [`crate::MemoryStore::facets`]. A text without a
/// searchable word counts all memories that pass its filters.
///
/// # Errors
/// If the files cannot be read.
pub fn facets(services: &Services, query: &Query) -> Result<FacetCounts, StoreError> {
    services.store.refresh()?;
    let mut parsed = parse(&query.text, &query.filter);
    let corrections = find_corrections(services, &parsed.question, &parsed.filter)?;
    if let Some((question, _)) = correct_query(&parsed.question, &corrections, true) {
        parsed.question = question;
    }
    let question = Some(&parsed.question).filter(|question| !question.words.is_empty());
    if let Some(question) = question
        && !(question.phrases.is_empty() && question.without_phrases.is_empty())
    {
        return count_phrase_matches(services, query);
    }
    services
        .store
        .facets(question, &parsed.filter, services.clock.now())
}

/// Maximum number of matches of a phrase that are counted. Each is read, because the index does not contain phrases.
const MAX_PHRASE_MATCHES: usize = 2_000;

fn count_phrase_matches(services: &Services, query: &Query) -> Result<FacetCounts, StoreError> {
    // The matches by words alone, in any order.
    let services = Services {
        embedder: None,
        reranking: None,
        ..services.clone()
    };
    let ranking = Ranking {
        coverage: MatchCoverage::Best,
        ..Ranking::default()
    };
    let found = search_refreshed(
        &services,
        &query.clone().ranking(ranking).limit(MAX_PHRASE_MATCHES),
    )?;
    let mut counter = FacetCounter::default();
    found
        .hits
        .iter()
        .for_each(|hit| counter.add(&hit.stored.memory));
    Ok(counter.finish())
}

/// Counts memories by attribute, one memory at a time.
#[derive(Debug, Default)]
pub struct FacetCounter {
    counted: u64,
    categories: HashMap<Category, u64>,
    scopes: HashMap<Scope, u64>,
    sources: HashMap<String, u64>,
    tags: HashMap<String, (String, u64)>,
    months: HashMap<NaiveDate, u64>,
}

impl FacetCounter {
    /// Counts a memory.
    pub fn add(&mut self, memory: &Memory) {
        self.counted += 1;
        *self.categories.entry(memory.category).or_default() += 1;
        *self.scopes.entry(memory.scope.clone()).or_default() += 1;
        *self
            .sources
            .entry(memory.source.to_lowercase())
            .or_default() += 1;
        *self
            .months
            .entry(first_of_month(memory.created_at))
            .or_default() += 1;
        for tag in &tags_and_parents(&memory.tags) {
            self.tags
                .entry(Tags::key(tag))
                .or_insert_with(|| (tag.clone(), 0))
                .1 += 1;
        }
    }

    /// Returns the counts.
    pub fn finish(self) -> FacetCounts {
        let mut months: Vec<_> = self.months.into_iter().collect();
        months.sort_unstable_by(|left, right| right.cmp(left));
        FacetCounts {
            counted: self.counted,
            categories: sort_facet(self.categories, |category| category.as_str()),
            scopes: sort_facet(self.scopes, ToString::to_string),
            sources: sort_facet(
                self.sources
                    .into_iter()
                    .filter(|(source, _)| !source.is_empty()),
                Clone::clone,
            ),
            tags: sort_facet(self.tags.into_values(), |tag| Tags::key(tag)),
            months,
        }
    }
}

/// Returns the values of an attribute in the order of [`FacetCounts`], without those beyond [`MAX_FACET_VALUES`].
pub fn sort_facet<V, N: Ord>(
    counts: impl IntoIterator<Item = (V, u64)>,
    name: impl Fn(&V) -> N,
) -> Vec<(V, u64)> {
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| 0 < *count).collect();
    counts.sort_by_cached_key(|(value, count)| (Reverse(*count), name(value)));
    counts.truncate(MAX_FACET_VALUES);
    counts
}

/// Returns the first day of the month that contains a time, in UTC.
pub fn first_of_month(time: DateTime<Utc>) -> NaiveDate {
    let day = time.date_naive();
    day.with_day(1).unwrap_or(day)
}

/// Returns the tags and the tags above them, each once.
pub fn tags_and_parents(tags: &Tags) -> Tags {
    let with_parents = |tag: &String| {
        let parents: Vec<String> = tag
            .match_indices('/')
            .map(|(slash, _)| tag[..slash].to_owned())
            .collect();
        std::iter::once(tag.clone()).chain(parents)
    };
    tags.iter().flat_map(with_parents).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, SecretPolicy, write};

    #[test]
    fn a_query_is_counted_by_each_attribute_of_its_matches() {
        let services = services(Arc::new(MemStore::default()));
        for (text, category, tags) in [
            (
                "green tea",
                Category::Preferences,
                vec!["drink/tea", "Morning"],
            ),
            ("black tea", Category::Preferences, vec!["drink/tea"]),
            ("coffee", Category::Knowledge, vec!["drink", "morning"]),
        ] {
            let draft = Draft {
                source: "Claude".into(),
                ..Draft::new(text).category(category).tags(tags)
            };
            write(&services, draft, SecretPolicy::Refuse).expect("it is written");
        }
        let counts = |text: &str| facets(&services, &Query::new(text)).expect("they are counted");
        let all = counts("");
        assert_eq!(all.counted, 3);
        assert_eq!(
            all.categories,
            [(Category::Preferences, 2), (Category::Knowledge, 1)]
        );
        assert_eq!(all.sources, [("claude".to_owned(), 3)]);
        let tags: Vec<(String, u64)> = all
            .tags
            .iter()
            .map(|(tag, count)| (tag.to_lowercase(), *count))
            .collect();
        let expected = [("drink", 3), ("drink/tea", 2), ("morning", 2)]
            .map(|(tag, count)| (tag.to_owned(), count));
        assert_eq!(tags, expected, "a tag counts those below it");
        assert_eq!(all.months.iter().map(|(_, count)| count).sum::<u64>(), 3);
        let tea = counts("tea");
        assert_eq!(
            counts("black tea").counted,
            1,
            "a memory with more of the words"
        );
        assert_eq!(
            (tea.counted, tea.categories),
            (2, vec![(Category::Preferences, 2)])
        );
        assert_eq!(
            counts("category:knowledge").counted,
            1,
            "a query of filters alone"
        );
        assert_eq!(counts("tag:drink -green tea").counted, 1);
        assert_eq!(counts("\"green tea\"").counted, 1);
        assert_eq!(counts("").counted, all.counted);
    }

    proptest! {
        #[test]
        fn values_are_ordered_by_count_and_bounded(counts in proptest::collection::vec((0_u32..500, 0_u64..9), 0..400)) {
            let counts: HashMap<u32, u64> = counts.into_iter().collect();
            let sorted = sort_facet(counts.clone(), |value| *value);
            prop_assert!(sorted.len() <= MAX_FACET_VALUES);
            prop_assert!(sorted.windows(2).all(|pair| (Reverse(pair[0].1), pair[0].0) < (Reverse(pair[1].1), pair[1].0)));
            prop_assert!(sorted.iter().all(|(value, count)| 0 < *count && counts[value] == *count));
        }
    }
}
