//! Search with natural-language filters and without near-duplicates.

use std::collections::HashSet;

use chrono::{DateTime, TimeZone};

use crate::query_parser::{
    ExtractedFilter, extract_bounds, extract_filter, has_content_word, has_operators,
    is_about_memories, parse,
};
use crate::rank::duplicates_last;
use crate::search::search_refreshed;
use crate::text::WordOverlaps;
use crate::{
    Filter, Hit, ListOrder, MemoryId, PageRequest, Query, SearchResults, Services, StoreError,
};

/// Number of hits beyond the limit that are requested as replacements for near-duplicates.
const SPARE_HITS: usize = 20;

/// Search results together with the interpretation of the query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SmartSearchResults {
    /// The search results.
    pub found: SearchResults,
    /// The query text that was searched.
    pub text: String,
    /// The filter that was applied.
    pub filter: Filter,
}

impl SmartSearchResults {
    fn new(found: SearchResults, text: String, filter: Filter) -> Self {
        let searched = found.corrected.as_ref().filter(|own| own.is_searched);
        Self {
            text: searched.map_or(text, |own| own.text.clone()),
            found,
            filter,
        }
    }

    /// Returns what the words of the query add to its filter, with days in the zone of the person: "category decisions, from 2026-05-01".
    pub fn describe_added<Tz: TimeZone>(&self, filter: &Filter, zone: &Tz) -> Option<String> {
        Some(describe_filter(&self.filter, filter, zone)).filter(|added| !added.is_empty())
    }
}

/// Returns the memories that match a query, best first, with filters extracted from its words.
///
/// Words for times and categories raise the memories of that time and category (see [`crate::query_parser::extract_filter()`]). Near-duplicates of a better hit rank last, and the newer of two equal hits ranks first.
/// A query with operators, such as `"a phrase"` or `-word`, is searched as it is.
///
/// If no memory matches the extracted filter, all memories that pass the filter of `query` are searched, and `degraded` reports this. A query
/// without further content, such as a time, a category or "what did I store today", lists the matching memories, newest first.
///
/// # Errors
/// Returns the same errors as [`search`](crate::search()).
pub fn smart_search<Tz: TimeZone>(
    services: &Services,
    query: &Query,
    now: &DateTime<Tz>,
) -> Result<SmartSearchResults, StoreError> {
    services.store.refresh()?;
    let bounded = extract_bounds(&query.text, &query.filter, &now.timezone());
    let (text, filter, limit) = (bounded.text.as_str(), &bounded.filter, query.limit);
    if has_operators(text) {
        let query = Query {
            text: bounded.text.clone(),
            filter: filter.clone(),
            ..query.clone()
        };
        let found = search_refreshed(services, &query)?;
        return Ok(SmartSearchResults::new(found, query.text, query.filter));
    }
    let ExtractedFilter {
        text: words,
        filter: narrow,
    } = extract_filter(text, filter, now);
    let ask = |text: &str, filter: &Filter| -> Result<SearchResults, StoreError> {
        let limit_with_spare = if limit == 0 {
            0
        } else {
            limit.saturating_add(SPARE_HITS)
        };
        let query = Query {
            text: text.to_owned(),
            filter: filter.clone(),
            limit: limit_with_spare,
            ranking: query.ranking,
        };
        let mut found = search_refreshed(services, &query)?;
        found.hits = demote_near_duplicates(found.hits, limit);
        Ok(found)
    };
    let asks_what_happened = has_other_times(&narrow, filter) && is_about_memories(&words, true);
    let found = match has_content_word(&words) && !asks_what_happened {
        true if narrow == *filter => ask(&words, filter)?,
        // A time or a word such as "preferences" may also be part of the subject, so all memories are searched too.
        true => match ask(&words, &narrow)? {
            named if named.total == 0 => named,
            named => raise_named(named, ask(text, filter)?, limit),
        },
        false if narrow == *filter => ask(text, filter)?,
        // "Decisions" may also be a word of the text.
        false if names_category_alone(text, &narrow, filter) => {
            let listed = list_newest(services, &narrow, limit)?;
            raise_named(listed, ask(text, filter)?, limit)
        }
        false => list_newest(services, &narrow, limit)?,
    };
    if 0 < found.total {
        return Ok(SmartSearchResults::new(found, words, narrow));
    }
    if is_about_memories(&words, false) {
        let found = list_newest(services, &narrow, limit)?;
        if 0 < found.total {
            return Ok(SmartSearchResults::new(found, words, narrow));
        }
    }
    if narrow == *filter {
        return Ok(SmartSearchResults::new(found, words, narrow));
    }
    let mut found = ask(text, filter)?;
    let named = describe_filter(&narrow, filter, &now.timezone());
    let mut reason = format!("nothing matches {named}; all memories were searched");
    // A category and a time together are asked for; one of them may be part of the subject.
    if has_other_times(&narrow, filter) && narrow.category != filter.category {
        let listed = list_newest(services, &narrow, MAX_LISTED)?;
        if 0 < listed.total {
            reason = format!(
                "nothing matches {named}; its newest memories come first, then those of all memories that match"
            );
            found = prepend(listed, found, limit);
        }
    }
    let reasons = found.degraded.take().into_iter().chain([reason]);
    found.degraded = Some(reasons.collect::<Vec<_>>().join("; "));
    Ok(SmartSearchResults::new(
        found,
        text.to_owned(),
        filter.clone(),
    ))
}

/// Returns whether a query consists of the name of a category.
fn names_category_alone(text: &str, narrow: &Filter, filter: &Filter) -> bool {
    !has_other_times(narrow, filter) && parse(text, filter).question.is_keywords()
}

fn has_other_times(narrow: &Filter, filter: &Filter) -> bool {
    narrow.from != filter.from || narrow.until != filter.until
}

/// Returns the filter of a text that asks for memories of any subject, as in "what did you store last week"; `None` for other texts.
pub(crate) fn listing_filter<Tz: TimeZone>(
    text: &str,
    filter: &Filter,
    now: &DateTime<Tz>,
) -> Option<Filter> {
    let asked = extract_filter(text, filter, now);
    is_about_memories(&asked.text, false).then_some(asked.filter)
}

/// Returns the first `limit` hits, with near-duplicates of better hits last.
pub(crate) fn demote_near_duplicates(hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let texts: Vec<&str> = hits
        .iter()
        .map(|hit| hit.stored.memory.content.as_str())
        .collect();
    let overlaps = WordOverlaps::of(&texts);
    let order = duplicates_last(hits.len(), limit, &|one, other| {
        overlaps.similarity(one, other)
    });
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|number| hits[number].take())
        .collect()
}

/// Maximum number of memories of a category and a time that are listed before those with the words of the query.
const MAX_LISTED: usize = 5;

/// Returns the hits of both results, those of `first` before the others.
fn prepend(first: SearchResults, others: SearchResults, limit: usize) -> SearchResults {
    let mut hits = first.hits;
    let listed: HashSet<MemoryId> = hits.iter().map(|hit| hit.stored.memory.id).collect();
    let is_new = |hit: &Hit| !listed.contains(&hit.stored.memory.id);
    let repeated = others.hits.iter().filter(|hit| !is_new(hit)).count();
    let total = others.total + (listed.len() - repeated) as u64;
    hits.extend(others.hits.into_iter().filter(is_new));
    hits.truncate(limit);
    SearchResults {
        hits,
        total,
        degraded: first.degraded.or(others.degraded),
        corrected: first.corrected.or(others.corrected),
    }
}

/// Factor of the score of a memory of the category and time that the query names.
const NAMED_FACTOR: f32 = 2.0;

/// Merges the hits of the category and time that the query names with those of all memories.
fn raise_named(named: SearchResults, others: SearchResults, limit: usize) -> SearchResults {
    let mut hits: Vec<(f32, Hit)> = named
        .hits
        .into_iter()
        .map(|hit| (hit.score * NAMED_FACTOR, hit))
        .collect();
    for hit in others.hits {
        if hits
            .iter()
            .all(|(_, other)| other.stored.memory.id != hit.stored.memory.id)
        {
            hits.push((hit.score, hit));
        }
    }
    hits.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let hits = hits.into_iter().map(|(_, hit)| hit).take(limit).collect();
    SearchResults {
        hits,
        total: others.total.max(named.total),
        degraded: named.degraded.or(others.degraded),
        corrected: named.corrected.or(others.corrected),
    }
}

pub(crate) fn list_newest(
    services: &Services,
    filter: &Filter,
    limit: usize,
) -> Result<SearchResults, StoreError> {
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(limit),
    };
    let page = services.store.list(filter, &slice, services.clock.now())?;
    let hits = page.memories.into_iter().map(|stored| Hit {
        snippet: crate::text::to_one_line(&stored.memory.content, MAX_SNIPPET),
        stored,
        score: 0.0,
        marks: Vec::new(),
        explanation: crate::ScoreExplanation::default(),
    });
    Ok(SearchResults {
        hits: hits.collect(),
        total: page.total,
        degraded: page.degraded,
        corrected: None,
    })
}

/// Maximum snippet length in characters for memories that are listed without a search.
const MAX_SNIPPET: usize = 160;

fn describe_filter<Tz: TimeZone>(narrow: &Filter, wide: &Filter, zone: &Tz) -> String {
    let day = |moment: DateTime<chrono::Utc>| moment.with_timezone(zone).date_naive().to_string();
    let mut told = Vec::new();
    if let Some(category) = narrow.category.filter(|_| wide.category.is_none()) {
        told.push(format!("category {category}"));
    }
    told.extend(
        narrow
            .from
            .filter(|_| wide.from.is_none())
            .map(|from| format!("from {}", day(from))),
    );
    told.extend(
        narrow
            .until
            .filter(|_| wide.until.is_none())
            .map(|until| format!("before {}", day(until))),
    );
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Category, Draft, MemStore, SecretPolicy, write};

    fn home() -> Services {
        let services = services(Arc::new(MemStore::default()));
        for (text, category) in [
            ("green tea in the morning", Category::Habits),
            ("we take green tea", Category::Decisions),
        ] {
            let draft = Draft {
                category: Some(category),
                ..Draft::new(text)
            };
            write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
        }
        services
    }

    fn ask(services: &Services, text: &str) -> SmartSearchResults {
        let query = Query::new(text).limit(10);
        smart_search(services, &query, &services.clock.now()).expect("an answer")
    }

    #[test]
    fn a_category_in_the_question_raises_its_memories() {
        let services = home();
        let order = |text: &str| -> Vec<Category> {
            ask(&services, text)
                .found
                .hits
                .into_iter()
                .map(|hit| hit.stored.memory.category)
                .collect()
        };
        assert_eq!(
            order("decisions about tea"),
            [Category::Decisions, Category::Habits]
        );
        assert_eq!(
            order("habits with tea"),
            [Category::Habits, Category::Decisions]
        );
        let answer = ask(&services, "decisions about tea");
        assert_eq!((answer.found.total, answer.text.as_str()), (2, "about tea"));
        assert_eq!(answer.filter.category, Some(Category::Decisions));
    }

    #[test]
    fn a_time_in_a_question_excludes_no_memory_of_its_subject() {
        let services = services(Arc::new(MemStore::default()));
        let old = services.clock.now() - chrono::TimeDelta::days(40);
        for (text, created_at) in [
            ("for the deploy, set the key", Some(old)),
            ("the deploy has a log", None),
        ] {
            let draft = Draft {
                created_at,
                ..Draft::new(text)
            };
            write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
        }
        let answer = ask(&services, "today the deploy failed, what do I set?");
        assert_eq!(answer.found.total, 2);
        assert!(answer.filter.from.is_some_and(|from| old < from));
    }

    #[test]
    fn the_memories_of_a_category_and_time_come_first_if_none_of_them_has_the_words() {
        let services = services(Arc::new(MemStore::default()));
        let old = services.clock.now() - chrono::TimeDelta::days(40);
        for (text, created_at) in [
            ("hosting costs nine euros", Some(old)),
            ("we moved to another provider", None),
        ] {
            let draft = Draft {
                created_at,
                category: Some(Category::Decisions),
                ..Draft::new(text)
            };
            write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
        }
        let of_the_week = ask(&services, "what about hosting this week").found;
        assert_eq!(
            of_the_week.hits[0].stored.memory.content,
            "hosting costs nine euros"
        );
        let found = ask(&services, "decisions about hosting this week").found;
        assert_eq!(found.total, 2);
        let texts: Vec<&str> = found
            .hits
            .iter()
            .map(|hit| hit.stored.memory.content.as_str())
            .collect();
        assert_eq!(
            texts,
            ["we moved to another provider", "hosting costs nine euros"]
        );
        let why = found.degraded.expect("the reason is stated");
        assert!(
            why.starts_with("nothing matches category decisions, from "),
            "{why}"
        );
    }

    #[test]
    fn a_question_about_the_memories_themselves_lists_them() {
        let services = home();
        for text in [
            "what have you stored today?",
            "what do you know?",
            "show me all my notes",
            "what happened today?",
            "今天发生了什么事情",
        ] {
            assert_eq!(ask(&services, text).found.total, 2, "{text}");
        }
        assert_eq!(
            ask(&services, "what have you stored about coffee?")
                .found
                .total,
            0
        );
        assert_eq!(ask(&services, "what happened?").found.total, 0);
    }

    #[test]
    fn added_times_are_days_of_the_person() {
        let services = home();
        let berlin = chrono::FixedOffset::east_opt(7_200).expect("an offset");
        let now = services.clock.now().with_timezone(&berlin);
        let query = Query::new("May 6th, 2024");
        let answer = smart_search(&services, &query, &now).expect("an answer");
        let missed =
            "nothing matches from 2024-05-06, before 2024-05-07; all memories were searched";
        assert_eq!(answer.found.degraded.as_deref(), Some(missed));
    }

    #[test]
    fn a_category_alone_lists_what_is_in_it() {
        assert_eq!(
            ask(&home(), "my habits").found.hits[0].snippet,
            "green tea in the morning"
        );
    }

    #[test]
    fn near_duplicates_come_last_and_variations_keep_their_place() {
        let services = services(Arc::new(MemStore::default()));
        for text in [
            "tea tea tea at nine",
            "tea at nine!",
            "tea at ten, as a rule, with Anna",
            "we like tea",
        ] {
            write(&services, Draft::new(text), SecretPolicy::Refuse).expect("it is kept");
        }
        let texts = |limit: usize| -> Vec<String> {
            let query = Query::new("tea").limit(limit);
            let answer = smart_search(&services, &query, &services.clock.now()).expect("an answer");
            answer
                .found
                .hits
                .into_iter()
                .map(|hit| hit.stored.memory.content)
                .collect()
        };
        let all = texts(4);
        assert!(
            all[..3]
                .iter()
                .filter(|text| text.ends_with("nine") || text.ends_with("nine!"))
                .count()
                == 1,
            "{all:?}"
        );
        assert_eq!(texts(3), all[..3]);
    }

    #[test]
    fn where_nothing_is_of_that_kind_all_are_asked_and_that_is_told() {
        let answer = ask(&home(), "skills with tea");
        assert_eq!(answer.found.total, 2);
        assert_eq!(
            answer.found.degraded.as_deref(),
            Some("nothing matches category skills; all memories were searched")
        );
    }
}
