//! Lists memories.

use chrono::{DateTime, Utc};
use memory_core::{Filter, Order, Page, Slice, StoreError, Stored};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::documents::{COLUMNS, Document, Freshened};
use super::filter::condition;
use super::open::Index;
use super::trouble::Trouble;
use super::update::{id_bytes, row_count};

/// Maximum number of queries when files change in between.
const ROUNDS: usize = 3;

/// Number of documents read per query when iterating over all.
const AHEAD: usize = 256;

impl Index {
    /// Returns one slice of the memories that match `filter`, and their total number.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn list(&self, filter: &Filter, slice: &Slice, now: DateTime<Utc>) -> Result<Page, StoreError> {
        let mut round = 1;
        loop {
            let (documents, total) = self.ask("list memories", |_, opened| {
                Ok((select(&opened.connection, filter, slice, now)?, count(&opened.connection, filter, now)?))
            })?;
            let Freshened { fresh, stale } = self.freshen(documents, |document| document);
            if stale.is_empty() || ROUNDS <= round {
                let total = total.saturating_sub(stale.len() as u64);
                let memories = fresh.into_iter().map(|(stored, _)| stored).collect();
                return Ok(Page { memories, total, degraded: self.degraded()? });
            }
            round += 1;
            self.reread(&stale)?;
        }
    }

    /// Iterates over all memories that match `filter`, oldest first.
    ///
    /// Memories added during the iteration may be omitted.
    pub(crate) fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> Memories<'_> {
        Memories { index: self, filter: filter.clone(), now, last: None, ahead: Vec::new().into_iter(), done: false }
    }
}

/// An iterator over memories, see [`Index::memories`].
#[derive(Debug)]
pub(crate) struct Memories<'i> {
    index: &'i Index,
    filter: Filter,
    now: DateTime<Utc>,
    last: Option<Document>,
    ahead: std::vec::IntoIter<Document>,
    done: bool,
}

impl Iterator for Memories<'_> {
    type Item = Result<Stored, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            for document in self.ahead.by_ref() {
                match self.index.now_at(&document) {
                    Ok(Some(stored)) if self.filter.matches(&stored, self.now) => return Some(Ok(stored)),
                    // The file is deleted or no longer matches.
                    Ok(_) => {}
                    Err(error) => return Some(Err(error)),
                }
            }
            if self.done {
                return None;
            }
            match self
                .index
                .ask("list memories", |_, opened| after(&opened.connection, &self.filter, self.last.as_ref(), self.now))
            {
                Ok(documents) => {
                    self.done = documents.len() < AHEAD;
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

fn select(connection: &Connection, filter: &Filter, slice: &Slice, now: DateTime<Utc>) -> Result<Vec<Document>, Trouble> {
    let condition = condition(filter, now);
    let order = match slice.order {
        Order::Created => "created_at DESC, id",
        Order::Updated => "updated_at DESC, id",
        Order::Accessed => "access_count + accesses DESC, id",
        Order::Title => "headline, id",
        Order::Useful => "pinned DESC, access_count + accesses DESC, updated_at DESC, id",
    };
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE {} ORDER BY {order} LIMIT ? OFFSET ?", condition.sql);
    let limit = slice.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1);
    let offset = i64::try_from(slice.offset).unwrap_or(i64::MAX);
    let values = condition.values.into_iter().chain([Value::from(limit), Value::from(offset)]);
    let mut select = connection.prepare_cached(&sql)?;
    Ok(select.query_map(params_from_iter(values), Document::read)?.collect::<Result<_, _>>()?)
}

fn count(connection: &Connection, filter: &Filter, now: DateTime<Utc>) -> Result<u64, Trouble> {
    let condition = condition(filter, now);
    let sql = format!("SELECT count(*) FROM documents WHERE {}", condition.sql);
    Ok(connection.prepare_cached(&sql)?.query_row(params_from_iter(condition.values), |row| row_count(row, 0))?)
}

/// Returns the documents that follow `last`, oldest first.
fn after(
    connection: &Connection,
    filter: &Filter,
    last: Option<&Document>,
    now: DateTime<Utc>,
) -> Result<Vec<Document>, Trouble> {
    let mut condition = condition(filter, now);
    if let Some(last) = last {
        condition.sql.push_str(" AND ? <= created_at AND (? < created_at OR id < ?)");
        let created_at = Value::from(last.created_at);
        condition.values.extend([created_at.clone(), created_at, Value::from(id_bytes(&last.id).to_vec())]);
    }
    // The order of the index `by_created`, reversed.
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE {} ORDER BY created_at, id DESC LIMIT {AHEAD}", condition.sql);
    let mut select = connection.prepare_cached(&sql)?;
    Ok(select.query_map(params_from_iter(condition.values), Document::read)?.collect::<Result<_, _>>()?)
}
