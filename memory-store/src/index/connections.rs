//! The tags and the links of documents from the index, without access to their files.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use memory_core::{Category, ConnectedMemory, Connections, Filter, MemoryId, StoreError};
use rusqlite::params_from_iter;

use super::filter::sql_condition;
use super::lookup_key::LookupKey;
use super::memory_index::MemoryIndex;
use super::schema::{decode_numbers, row_id};

impl MemoryIndex {
    /// Returns the tags and the links of the documents that pass `filter`.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn connections(
        &self,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<Connections, StoreError> {
        self.query("list links", |_, opened| {
            let (mut tags, mut tag_positions) = (Vec::new(), HashMap::new());
            let mut select = opened
                .connection
                .prepare_cached("SELECT bits, name FROM tags ORDER BY bits")?;
            let mut rows = select.query(())?;
            while let Some(row) = rows.next()? {
                tag_positions.insert(row.get::<_, i64>(0)?, tags.len());
                tags.push(row.get(1)?);
            }
            let condition = sql_condition(filter, now);
            let sql = format!(
                "SELECT id, category, updated_at, handles FROM documents WHERE {} ORDER BY id",
                condition.sql
            );
            let mut select = opened.connection.prepare_cached(&sql)?;
            let mut rows = select.query(params_from_iter(condition.values))?;
            let (mut memories, mut targets, mut handles) = (Vec::new(), HashMap::new(), Vec::new());
            while let Some(row) = rows.next()? {
                let id = MemoryId::from(row_id(row, 0)?);
                targets.insert(LookupKey::Link(&id).bits(), memories.len());
                let keys = decode_numbers(row.get_ref(3)?.as_blob().unwrap_or_default());
                let has = |bits: &i64| tag_positions.get(bits).copied();
                memories.push(ConnectedMemory {
                    id,
                    category: row
                        .get::<_, String>(1)?
                        .parse::<Category>()
                        .expect("the index contains only categories that it has read"),
                    updated_at: DateTime::from_timestamp_nanos(row.get(2)?),
                    tags: keys.iter().filter_map(has).collect(),
                    links: Vec::new(),
                });
                handles.push(keys);
            }
            for (memory, keys) in memories.iter_mut().zip(handles) {
                memory.links = keys
                    .iter()
                    .filter_map(|bits| targets.get(bits).copied())
                    .collect();
            }
            Ok(Connections { tags, memories })
        })
    }
}
