//! Finds reminders.

use memory_core::{
    Category, MemoryPage, Phase, Problem, ReminderQuery, Scope, StoreError, StoredMemory,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::documents::{COLUMNS, IndexedDocument, LoadedDocuments};
use super::error::IndexError;
use super::filter::narrow_scope_condition;
use super::lookup_key::LookupKey;
use super::memory_index::MemoryIndex;
use super::row::{ReminderState, nanoseconds};
use super::schema::row_count;

/// Maximum number of queries when files change in between.
const MAX_ATTEMPTS: usize = 3;

impl MemoryIndex {
    /// Returns the first `limit` matching reminders, earliest due time first, and their total number.
    ///
    /// The result is limited to the scopes `within`, if any are given.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn reminders(
        &self,
        wanted: ReminderQuery,
        within: Option<&[Scope]>,
        limit: Option<usize>,
    ) -> Result<MemoryPage, StoreError> {
        let mut round = 1;
        loop {
            let (documents, total) = self.query("find reminders", |_, opened| {
                select_reminders(&opened.connection, wanted, within, limit)
            })?;
            let LoadedDocuments { fresh, stale } =
                self.load_documents(documents, |document| document);
            if stale.is_empty() || MAX_ATTEMPTS <= round {
                let found = fresh.len() + stale.len();
                // Two memories can share a 64-bit hash.
                let memories: Vec<_> = fresh
                    .into_iter()
                    .map(|(stored, _)| stored)
                    .filter(|stored| wanted.includes(&stored.memory))
                    .collect();
                let total = total.saturating_sub((found - memories.len()) as u64);
                let untold = if matches!(wanted, ReminderQuery::Of(_)) {
                    None
                } else {
                    self.omitted_warning(within)?
                };
                let degraded: Vec<_> = self.degraded()?.into_iter().chain(untold).collect();
                let degraded = Some(degraded.join("; ")).filter(|degraded| !degraded.is_empty());
                return Ok(MemoryPage {
                    memories,
                    total,
                    degraded,
                });
            }
            round += 1;
            self.reread(&stale)?;
        }
    }
}

/// Maximum number of damaged reminders that the warning names.
const MAX_NAMED: usize = 3;

/// Maximum number of damaged files that are read for the warning.
const MAX_CHECKED_FILES: usize = 1_000;

impl MemoryIndex {
    /// Returns a warning about reminders that are omitted because their due time is unreadable.
    fn omitted_warning(&self, within: Option<&[Scope]>) -> Result<Option<String>, StoreError> {
        let documents = self.query("find damaged reminders", |_, opened| {
            let sql = format!(
                "SELECT {COLUMNS} FROM documents INDEXED BY damaged WHERE damaged = 1 AND due IS NULL AND id NOT NULL \
                 ORDER BY key LIMIT {MAX_CHECKED_FILES}"
            );
            let mut select = opened.connection.prepare_cached(&sql)?;
            Ok(select.query_map([], IndexedDocument::from_row)?.collect::<Result<Vec<_>, _>>()?)
        })?;
        let files = self
            .load_documents(documents, |document| document)
            .fresh
            .into_iter()
            .map(|(stored, _)| stored);
        let is_visible = |stored: &StoredMemory| {
            within.is_none_or(|within| within.contains(&stored.memory.scope))
        };
        let untold = files.filter(is_omitted_reminder).filter(is_visible);
        let problems: Vec<Problem> = untold.filter_map(|stored| stored.problem).collect();
        // The scope of a damaged file may be wrong too: a caller limited to some scopes gets only the number.
        let most = if within.is_none() { MAX_NAMED } else { 0 };
        let mut named: Vec<String> = problems
            .iter()
            .take(most)
            .map(ToString::to_string)
            .collect();
        if named.len() < problems.len() {
            named.push(format!(
                "run `memory doctor` to list {}",
                if named.is_empty() {
                    "all"
                } else {
                    "the others"
                }
            ));
        }
        Ok(match problems.len() {
            0 => None,
            1 => Some(format!(
                "1 reminder is omitted because its due time cannot be read ({})",
                named.join("; ")
            )),
            count => Some(format!(
                "{count} reminders are omitted because their due times cannot be read ({})",
                named.join("; ")
            )),
        })
    }
}

/// Returns whether a damaged file without a due time is a reminder.
///
/// Its folder or its problem decides.
fn is_omitted_reminder(stored: &StoredMemory) -> bool {
    let memory = &stored.memory;
    let is_filed = memory.phase == Phase::Organized && memory.category == Category::Reminders;
    let is_about_due = || {
        stored
            .problem
            .as_ref()
            .is_some_and(|problem| problem.what.contains("`due`"))
    };
    memory.reminder.is_none() && (is_filed || is_about_due())
}

fn select_reminders(
    connection: &Connection,
    wanted: ReminderQuery,
    within: Option<&[Scope]>,
    limit: Option<usize>,
) -> Result<(Vec<IndexedDocument>, u64), IndexError> {
    let (mut condition, mut values) = reminder_condition(wanted);
    if let Some(within) = within {
        condition = format!("{condition} AND {}", narrow_scope_condition(within));
        values.extend(within.iter().map(|scope| Value::from(scope.to_string())));
    }
    let sql = format!("SELECT count(*) FROM documents WHERE {condition}");
    let total = connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(&values), |row| row_count(row, 0))?;
    if total == 0 {
        return Ok((Vec::new(), 0));
    }
    let limit = limit
        .and_then(|limit| i64::try_from(limit).ok())
        .unwrap_or(-1);
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE {condition} ORDER BY due, id LIMIT ?");
    let values = values.into_iter().chain([Value::from(limit)]);
    let mut select = connection.prepare_cached(&sql)?;
    Ok((
        select
            .query_map(params_from_iter(values), IndexedDocument::from_row)?
            .collect::<Result<_, _>>()?,
        total,
    ))
}

fn reminder_condition(wanted: ReminderQuery) -> (String, Vec<Value>) {
    let in_stages = |stages: &[ReminderState]| {
        let stages: Vec<_> = stages
            .iter()
            .map(|stage| (*stage as i64).to_string())
            .collect();
        format!(
            "due NOT NULL AND id NOT NULL AND stage IN ({})",
            stages.join(", ")
        )
    };
    match wanted {
        ReminderQuery::All => (
            in_stages(&[
                ReminderState::Waiting,
                ReminderState::Shown,
                ReminderState::Done,
            ]),
            Vec::new(),
        ),
        ReminderQuery::Open => (
            in_stages(&[ReminderState::Waiting, ReminderState::Shown]),
            Vec::new(),
        ),
        ReminderQuery::Due(now) => (
            in_stages(&[ReminderState::Waiting, ReminderState::Shown]) + " AND due <= ?",
            vec![Value::from(nanoseconds(now))],
        ),
        ReminderQuery::ToBeShown(now) => (
            in_stages(&[ReminderState::Waiting]) + " AND due <= ?",
            vec![Value::from(nanoseconds(now))],
        ),
        ReminderQuery::Of(id) => {
            let part = "due NOT NULL AND id NOT NULL AND key IN (SELECT document FROM handles WHERE bits = ?)";
            (
                part.into(),
                vec![Value::from(LookupKey::Reminds(&id).bits())],
            )
        }
    }
}
