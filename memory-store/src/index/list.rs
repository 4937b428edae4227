//! Lists memories.

use chrono::{DateTime, Utc};
use memory_core::{Filter, ListOrder, MemoryPage, PageRequest, StoreError, StoredMemory};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::documents::{COLUMNS, IndexedDocument, LoadedDocuments};
use super::error::IndexError;
use super::filter::{SqlCondition, group_condition, has_lifetime, is_by_group, sql_condition};
use super::memory_index::MemoryIndex;
use super::row::{NEVER, SUPERSEDED, nanoseconds};
use super::schema::{id_bytes, row_count};

/// Maximum number of queries when files change in between.
const MAX_ATTEMPTS: usize = 3;

/// Number of documents read per query when iterating over all.
const DOCUMENTS_PER_QUERY: usize = 256;

impl MemoryIndex {
    /// Returns one slice of the memories that match `filter`, and their total number.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn list(
        &self,
        filter: &Filter,
        slice: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<MemoryPage, StoreError> {
        let mut round = 1;
        loop {
            let (documents, total) = self.query("list memories", |_, opened| {
                let total = count(&opened.connection, filter, now)?;
                if total == 0 || slice.limit == Some(0) {
                    return Ok((Vec::new(), total));
                }
                let documents = select_documents(&opened.connection, filter, slice, now)?;
                Ok((documents, total))
            })?;
            let LoadedDocuments { fresh, stale } =
                self.load_documents(documents, |document| document);
            if stale.is_empty() || MAX_ATTEMPTS <= round {
                let total = total.saturating_sub(stale.len() as u64);
                let memories = fresh.into_iter().map(|(stored, _)| stored).collect();
                return Ok(MemoryPage {
                    memories,
                    total,
                    degraded: self.degraded()?,
                });
            }
            round += 1;
            self.reread(&stale)?;
        }
    }

    /// Iterates over all memories that match `filter`, oldest first.
    ///
    /// Memories added during the iteration may be omitted.
    pub(crate) fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> MemoryIter<'_> {
        MemoryIter {
            index: self,
            filter: filter.clone(),
            now,
            last: None,
            ahead: Vec::new().into_iter(),
            done: false,
        }
    }
}

/// An iterator over memories, see [`MemoryIndex::memories`].
#[derive(Debug)]
pub(crate) struct MemoryIter<'i> {
    index: &'i MemoryIndex,
    filter: Filter,
    now: DateTime<Utc>,
    last: Option<IndexedDocument>,
    ahead: std::vec::IntoIter<IndexedDocument>,
    done: bool,
}

impl Iterator for MemoryIter<'_> {
    type Item = Result<StoredMemory, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            for document in self.ahead.by_ref() {
                match self.index.load_document(&document) {
                    Ok(Some(stored)) if self.filter.matches(&stored, self.now) => {
                        return Some(Ok(stored));
                    }
                    // The file is deleted or no longer matches.
                    Ok(_) => {}
                    Err(error) => return Some(Err(error)),
                }
            }
            if self.done {
                return None;
            }
            match self.index.query("list memories", |_, opened| {
                select_following(
                    &opened.connection,
                    &self.filter,
                    self.last.as_ref(),
                    self.now,
                )
            }) {
                Ok(documents) => {
                    self.done = documents.len() < DOCUMENTS_PER_QUERY;
                    self.last = documents.last().cloned().or(self.last.take());
                    self.ahead = documents.into_iter();
                }
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

fn select_documents(
    connection: &Connection,
    filter: &Filter,
    slice: &PageRequest,
    now: DateTime<Utc>,
) -> Result<Vec<IndexedDocument>, IndexError> {
    let condition = sql_condition(filter, now);
    let order = match slice.order {
        ListOrder::Created => "created_at DESC, id",
        ListOrder::Oldest => "created_at, id DESC",
        ListOrder::Updated => "updated_at DESC, id",
        ListOrder::Accessed => "access_count + accesses DESC, id",
        ListOrder::Title => "headline, id",
        ListOrder::Useful => "pinned DESC, access_count + accesses DESC, updated_at DESC, id",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM documents WHERE {} ORDER BY {order} LIMIT ? OFFSET ?",
        condition.sql
    );
    let limit = slice
        .limit
        .and_then(|limit| i64::try_from(limit).ok())
        .unwrap_or(-1);
    let offset = i64::try_from(slice.offset).unwrap_or(i64::MAX);
    let values = condition
        .values
        .into_iter()
        .chain([Value::from(limit), Value::from(offset)]);
    let mut select = connection.prepare_cached(&sql)?;
    Ok(select
        .query_map(params_from_iter(values), IndexedDocument::from_row)?
        .collect::<Result<_, _>>()?)
}

fn count(connection: &Connection, filter: &Filter, now: DateTime<Utc>) -> Result<u64, IndexError> {
    if is_by_group(filter) {
        return count_groups(connection, filter, now);
    }
    let condition = sql_condition(filter, now);
    let sql = format!("SELECT count(*) FROM documents WHERE {}", condition.sql);
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(condition.values), |row| row_count(row, 0))?)
}

/// Returns the number of documents that match a filter by group. Only those that have ended are counted one by one.
fn count_groups(
    connection: &Connection,
    filter: &Filter,
    now: DateTime<Utc>,
) -> Result<u64, IndexError> {
    if filter.within.as_ref().is_some_and(Vec::is_empty) {
        // SQLite has no plan for an empty list of scopes together with `INDEXED BY`.
        return Ok(0);
    }
    let SqlCondition {
        sql: condition,
        mut values,
    } = group_condition(filter);
    let mut sql = format!("SELECT coalesce(sum(documents), 0) FROM counts WHERE {condition}");
    if has_lifetime(filter) {
        // One statement, which reads one snapshot. The last two terms are those of the index.
        sql = format!(
            "SELECT ({sql} AND superseded = 0) - (SELECT count(*) FROM documents INDEXED BY ending \
             WHERE {condition} AND ? < holds_until AND holds_until <= ? AND id NOT NULL AND holds_until < {NEVER})"
        );
        values.extend(values.clone());
        values.extend([Value::from(SUPERSEDED), Value::from(nanoseconds(now))]);
    }
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| row_count(row, 0))?)
}

/// Returns the documents that follow `last`, oldest first.
fn select_following(
    connection: &Connection,
    filter: &Filter,
    last: Option<&IndexedDocument>,
    now: DateTime<Utc>,
) -> Result<Vec<IndexedDocument>, IndexError> {
    let mut condition = sql_condition(filter, now);
    if let Some(last) = last {
        condition
            .sql
            .push_str(" AND ? <= created_at AND (? < created_at OR id < ?)");
        let created_at = Value::from(last.created_at);
        condition.values.extend([
            created_at.clone(),
            created_at,
            Value::from(id_bytes(&last.id).to_vec()),
        ]);
    }
    // The order of the index `by_created`, reversed.
    let sql = format!(
        "SELECT {COLUMNS} FROM documents WHERE {} ORDER BY created_at, id DESC LIMIT {DOCUMENTS_PER_QUERY}",
        condition.sql
    );
    let mut select = connection.prepare_cached(&sql)?;
    Ok(select
        .query_map(
            params_from_iter(condition.values),
            IndexedDocument::from_row,
        )?
        .collect::<Result<_, _>>()?)
}
