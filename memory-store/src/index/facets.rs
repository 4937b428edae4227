//! Counts documents by their attributes, and finds those with a tag.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::query_parser::TextQuery;
use memory_core::{
    Category, FacetCounts, Filter, Scope, StoreError, StoredMemory, Tags, first_of_month,
    sort_facet,
};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::documents::IndexedDocument;
use super::error::IndexError;
use super::filter::{
    ACCEPTED, group_condition, has_lifetime, narrow_scope_condition, sql_condition,
};
use super::lookup_key::LookupKey;
use super::memory_index::{CachedFacets, MemoryIndex, OpenIndex};
use super::row::nanoseconds;
use super::schema::{IndexMeta, decode_numbers};
use super::search::BestMatches;
use crate::memory_file::time_from_nanos;

const KNOWN: &str = "the index writes down only what it has read";

/// Up to this number of documents, their rows are read. Above it, the set of documents is compared with those of each value.
const MAX_READ_MATCHES: u64 = 300;

/// The columns of an [`AttributeCounter::add`].
const COLUMNS: &str = "category, scope, source, created_at, holds_until, key";

impl MemoryIndex {
    /// Returns the numbers of documents by attribute.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn facets(
        &self,
        question: Option<&TextQuery>,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<FacetCounts, StoreError> {
        self.query("count memories", |index, opened| match question {
            Some(question) => count_matches(opened, question, filter, now),
            None => index.count_cached(opened, filter, now),
        })
    }

    /// Returns up to `limit` current documents with `tag` or a tag below it, those that were added last first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn tagged(
        &self,
        tag: &str,
        within: Option<&[Scope]>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let documents = self.query("look up a tag", |_, opened| {
            let narrowed = within.map(|within| format!(" AND {}", narrow_scope_condition(within))).unwrap_or_default();
            let sql = format!(
                "SELECT key, id, path, stamp, accesses, created_at FROM handles CROSS JOIN documents ON key = document \
                 WHERE bits = ? AND id NOT NULL AND ? < holds_until AND {ACCEPTED}{narrowed} ORDER BY document DESC LIMIT ?"
            );
            let mut values = vec![Value::from(LookupKey::Tag(tag).bits()), Value::from(nanoseconds(now))];
            values.extend(within.into_iter().flatten().map(|scope| Value::from(scope.to_string())));
            values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
            let mut select = opened.connection.prepare_cached(&sql)?;
            Ok(select.query_map(params_from_iter(values), IndexedDocument::from_row)?.collect::<Result<Vec<_>, _>>()?)
        })?;
        documents
            .iter()
            .filter_map(|document| self.load_document(document).transpose())
            .collect()
    }

    /// Counts the documents that pass `filter`, unless the index is unchanged since the last call with this filter.
    fn count_cached(
        &self,
        opened: &mut OpenIndex,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<FacetCounts, IndexError> {
        let transaction = opened.connection.transaction()?;
        let IndexMeta {
            epoch, revision, ..
        } = IndexMeta::read(&transaction)?;
        let time = nanoseconds(now);
        let is_current = |cached: &&CachedFacets| {
            let is_same =
                (cached.epoch, cached.revision) == (epoch, revision) && cached.filter == *filter;
            is_same && cached.valid.0 <= time && time < cached.valid.1
        };
        // A temporary copy of the index has the same numbers, and may have other documents.
        let is_temporary = opened.temporary.is_some();
        let mut cached = self
            .facets
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(cached) = cached
            .as_ref()
            .filter(|cached| !is_temporary && is_current(cached))
        {
            return Ok(cached.counts.clone());
        }
        let (counts, valid_until) = count_filtered(&transaction, filter, now)?;
        if !is_temporary {
            let valid = if has_lifetime(filter) {
                (time, valid_until)
            } else {
                (i64::MIN, i64::MAX)
            };
            *cached = Some(CachedFacets {
                epoch,
                revision,
                filter: filter.clone(),
                valid,
                counts: counts.clone(),
            });
        }
        Ok(counts)
    }
}

/// Returns the counts of the documents that pass `filter`, and the time at which the first of them ends.
fn count_filtered(
    connection: &Connection,
    filter: &Filter,
    now: DateTime<Utc>,
) -> Result<(FacetCounts, i64), IndexError> {
    let condition = sql_condition(filter, now);
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE {}", condition.sql);
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(condition.values))?;
    let (mut counter, mut keys) = (AttributeCounter::new(), HashSet::new());
    while let Some(row) = rows.next()? {
        counter.add(row)?;
        keys.insert(row.get::<_, i64>(5)?);
    }
    let tags = if keys.len() as u64 <= MAX_READ_MATCHES {
        tags_of_few(connection, keys.into_iter())?
    } else {
        tags_of_many(connection, &keys)?
    };
    let valid_until = counter.first_end;
    Ok((counter.finish(tags), valid_until))
}

/// Returns the counts of the best matches of a question.
fn count_matches(
    opened: &mut OpenIndex,
    question: &TextQuery,
    filter: &Filter,
    now: DateTime<Utc>,
) -> Result<FacetCounts, IndexError> {
    let epoch = IndexMeta::read(&opened.connection)?.epoch;
    let (connection, text, _) = opened.text(epoch)?;
    let transaction = connection.transaction()?;
    BestMatches::find(
        &transaction,
        text,
        epoch,
        (question, filter),
        now,
        |matches| {
            let mut counter = AttributeCounter::new();
            let is_few = matches.flushed_count() <= MAX_READ_MATCHES;
            let keys = if is_few {
                matches.keys()?
            } else {
                matches.pending.clone()
            };
            let mut select = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM documents WHERE key = ? AND id NOT NULL"
            ))?;
            for key in &keys {
                let mut rows = select.query([key])?;
                if let Some(row) = rows.next()? {
                    counter.add(row)?;
                }
            }
            let mut tags = tags_of_few(&transaction, keys.into_iter())?;
            if !is_few {
                AttributeValues::read(&transaction, filter)?.count(
                    matches,
                    &mut counter,
                    &mut tags,
                )?;
            }
            Ok(counter.finish(tags))
        },
    )
}

/// The values of attributes that documents may have.
struct AttributeValues {
    scopes: Vec<Scope>,
    sources: BTreeSet<String>,
    /// The tags with their lookup keys.
    tags: Vec<(i64, String)>,
}

impl AttributeValues {
    /// Reads the values of the documents that pass the parts of `filter` on which the totals depend.
    fn read(connection: &Connection, filter: &Filter) -> Result<Self, IndexError> {
        let condition = group_condition(filter);
        let sql = format!(
            "SELECT DISTINCT scope FROM counts WHERE 0 < documents AND {}",
            condition.sql
        );
        let mut scopes = connection.prepare_cached(&sql)?;
        let scopes = scopes.query_map(params_from_iter(condition.values), |row| {
            row.get::<_, String>(0)
        })?;
        let scopes = scopes.collect::<Result<Vec<String>, _>>()?;
        let mut sources = BTreeSet::new();
        let mut next = connection.prepare_cached(
            "SELECT min(source) FROM documents INDEXED BY sources WHERE scope = ? AND ? < source",
        )?;
        for scope in &scopes {
            let mut last = String::new();
            while let Some(source) =
                next.query_row([scope, &last], |row| row.get::<_, Option<String>>(0))?
            {
                sources.insert(source.clone());
                last = source;
            }
        }
        let mut tags = connection.prepare_cached("SELECT bits, name FROM tags")?;
        let tags = tags
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let scopes = scopes
            .iter()
            .map(|name| name.parse::<Scope>().expect(KNOWN))
            .collect();
        Ok(Self {
            scopes,
            sources,
            tags,
        })
    }

    /// Adds the matches in the full text, by intersecting their set with the documents of each value.
    fn count(
        self,
        matches: &BestMatches<'_>,
        counter: &mut AttributeCounter,
        tags: &mut Vec<(String, u64)>,
    ) -> Result<(), IndexError> {
        let add = |counts: &mut HashMap<String, u64>, values: Vec<(i64, String)>| {
            let bits: Vec<i64> = values.iter().map(|(bits, _)| *bits).collect();
            for ((_, name), count) in values
                .into_iter()
                .zip(matches.count_flushed(&bits)?)
                .filter(|(_, count)| 0 < *count)
            {
                *counts.entry(name).or_default() += count;
            }
            Ok::<(), IndexError>(())
        };
        let categories = Category::ALL
            .iter()
            .map(|category| (LookupKey::Category(*category).bits(), category.to_string()));
        add(&mut counter.categories, categories.collect())?;
        let scopes = self
            .scopes
            .iter()
            .map(|scope| (LookupKey::Scope(scope).bits(), scope.to_string()));
        add(&mut counter.scopes, scopes.collect())?;
        let sources = self
            .sources
            .into_iter()
            .map(|source| (LookupKey::Source(&source).bits(), source));
        add(&mut counter.sources, sources.collect())?;
        let mut by_tag: HashMap<String, u64> = std::mem::take(tags).into_iter().collect();
        add(&mut by_tag, self.tags)?;
        tags.extend(by_tag);
        matches.each_creation_time(&mut |time| counter.add_day(time))?;
        counter.counted += matches.flushed_count();
        Ok(())
    }
}

/// Returns the number of documents by tag. Each document is read, so it suits a few thousand.
fn tags_of_few(
    connection: &Connection,
    keys: impl Iterator<Item = i64>,
) -> Result<Vec<(String, u64)>, IndexError> {
    let mut names = connection.prepare_cached("SELECT bits, name FROM tags")?;
    let mut names: HashMap<i64, (String, u64)> = names
        .query_map((), |row| Ok((row.get(0)?, (row.get(1)?, 0))))?
        .collect::<Result<_, _>>()?;
    let mut select = connection.prepare_cached("SELECT handles FROM documents WHERE key = ?")?;
    for key in keys {
        let mut rows = select.query([key])?;
        let Some(row) = rows.next()? else { continue };
        for bits in decode_numbers(row.get_ref(0)?.as_blob().unwrap_or_default()) {
            if let Some((_, count)) = names.get_mut(&bits) {
                *count += 1;
            }
        }
    }
    Ok(names
        .into_values()
        .filter(|(_, count)| 0 < *count)
        .collect())
}

/// Returns the number of documents by tag. The documents of each tag are read in order, regardless of `keys`.
fn tags_of_many(
    connection: &Connection,
    keys: &HashSet<i64>,
) -> Result<Vec<(String, u64)>, IndexError> {
    let mut counts = Vec::new();
    let mut names = connection.prepare_cached("SELECT bits, name FROM tags")?;
    let mut documents = connection.prepare_cached("SELECT document FROM handles WHERE bits = ?")?;
    let mut names = names.query(())?;
    while let Some(row) = names.next()? {
        let mut tagged = documents.query([row.get::<_, i64>(0)?])?;
        let mut count = 0;
        while let Some(document) = tagged.next()? {
            count += u64::from(keys.contains(&document.get::<_, i64>(0)?));
        }
        if 0 < count {
            counts.push((row.get::<_, String>(1)?, count));
        }
    }
    Ok(counts)
}

/// Counts rows of `documents` by attribute.
struct AttributeCounter {
    counted: u64,
    categories: HashMap<String, u64>,
    scopes: HashMap<String, u64>,
    sources: HashMap<String, u64>,
    days: HashMap<i64, u64>,
    /// The time at which the first of the documents ends.
    first_end: i64,
}

const DAY_NANOSECONDS: i64 = 86_400 * 1_000_000_000;

impl AttributeCounter {
    fn new() -> Self {
        let [categories, scopes, sources] = [(); 3].map(|()| HashMap::new());
        Self {
            counted: 0,
            categories,
            scopes,
            sources,
            days: HashMap::new(),
            first_end: i64::MAX,
        }
    }

    fn add(&mut self, row: &Row<'_>) -> Result<(), IndexError> {
        self.counted += 1;
        for (counts, column) in [&mut self.categories, &mut self.scopes, &mut self.sources]
            .into_iter()
            .zip(0..)
        {
            let value = row.get_ref(column)?.as_str().unwrap_or_default();
            match counts.get_mut(value) {
                Some(count) => *count += 1,
                None => drop(counts.insert(value.to_owned(), 1)),
            }
        }
        self.add_day(row.get(3)?);
        self.first_end = self.first_end.min(row.get(4)?);
        Ok(())
    }

    /// Counts the day of a time of creation.
    fn add_day(&mut self, created_at: i64) {
        *self
            .days
            .entry(created_at.div_euclid(DAY_NANOSECONDS))
            .or_default() += 1;
    }

    fn finish(self, tags: Vec<(String, u64)>) -> FacetCounts {
        let mut months = HashMap::<_, u64>::new();
        for (day, count) in self.days {
            *months
                .entry(first_of_month(time_from_nanos(day * DAY_NANOSECONDS)))
                .or_default() += count;
        }
        let mut months: Vec<_> = months.into_iter().collect();
        months.sort_unstable_by(|left, right| right.cmp(left));
        let categories = self
            .categories
            .into_iter()
            .map(|(name, count)| (name.parse().expect(KNOWN), count));
        let scopes = self
            .scopes
            .into_iter()
            .map(|(name, count)| (name.parse::<Scope>().expect(KNOWN), count));
        FacetCounts {
            counted: self.counted,
            categories: sort_facet(categories, |category: &Category| category.as_str()),
            scopes: sort_facet(scopes, ToString::to_string),
            sources: sort_facet(
                self.sources
                    .into_iter()
                    .filter(|(source, _)| !source.is_empty()),
                Clone::clone,
            ),
            tags: sort_facet(tags, |tag| Tags::key(tag)),
            months,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::RefreshDepth;
    use crate::index::tests::fixture::{IndexFixture, TestNote, id, now};

    #[test]
    fn both_ways_to_count_tags_agree() {
        let note = |number, front| TestNote {
            number,
            folder: "people",
            front,
            body: "tea",
        };
        let home = IndexFixture::with(&[
            note(1, "tags: [Drink/Tea, home]\n"),
            note(2, "tags: [drink]\n"),
            note(3, "tags: [home]\nexpires_at: 2026-05-20T00:00:00Z\n"),
            note(4, ""),
        ]);
        let index = home.index();
        index.refresh(RefreshDepth::Usual).unwrap();
        let sorted = |mut counts: Vec<(String, u64)>| {
            counts.sort();
            counts
                .into_iter()
                .map(|(tag, count)| (tag.to_lowercase(), count))
                .collect::<Vec<_>>()
        };
        let (few, many) = index
            .query("count tags", |_, opened| {
                let keys: HashSet<i64> = [1, 2, 4].into();
                Ok((
                    tags_of_few(&opened.connection, keys.iter().copied())?,
                    tags_of_many(&opened.connection, &keys)?,
                ))
            })
            .unwrap();
        assert_eq!(sorted(few.clone()), sorted(many));
        assert_eq!(few.len(), 3, "{few:?}");
        let facets = index.facets(None, &Filter::default(), now()).unwrap();
        assert_eq!((facets.counted, facets.tags.len()), (3, 3));
        let tagged = index.tagged("DRINK", None, 9, now()).unwrap();
        assert_eq!(tagged.len(), 2);
        assert!(
            tagged
                .iter()
                .all(|stored| [id(1), id(2)].contains(&stored.memory.id))
        );
    }

    #[test]
    fn counts_follow_changes_by_other_programs() {
        let note = |number, front| TestNote {
            number,
            folder: "people",
            front,
            body: "tea",
        };
        let home = IndexFixture::with(&[note(1, "tags: [a]\n")]);
        let index = home.index();
        let count = || {
            index.refresh(RefreshDepth::Usual).unwrap();
            let facets = index.facets(None, &Filter::default(), now()).unwrap();
            (facets.counted, facets.tags)
        };
        assert_eq!(count(), (1, vec![("a".to_owned(), 1)]));
        home.write(&note(2, "tags: [a, b]\n"));
        assert_eq!(count(), (2, vec![("a".to_owned(), 2), ("b".to_owned(), 1)]));
        std::fs::remove_file(home.absolute_path(&note(1, "").path())).unwrap();
        assert_eq!(count(), (1, vec![("a".to_owned(), 1), ("b".to_owned(), 1)]));
    }
}
