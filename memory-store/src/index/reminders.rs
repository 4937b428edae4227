//! Finding reminders.

use memory_core::{Page, Reminders, Scope, StoreError};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::documents::{COLUMNS, Document, Freshened};
use super::filter::is_within;
use super::handle::Handle;
use super::open::Index;
use super::row::{Stage, nanoseconds};
use super::trouble::Trouble;
use super::update::row_count;

/// How often to look again when files change while they are looked at.
const ROUNDS: usize = 3;

impl Index {
    /// Returns the first `limit` of the reminders that are meant, and how many there are in all: what is due first comes first.
    /// Of those that lie `within` scopes, if any are given.
    ///
    /// # Errors
    /// When the index is refused.
    pub(crate) fn reminders(
        &self,
        wanted: Reminders,
        within: Option<&[Scope]>,
        limit: Option<usize>,
    ) -> Result<Page, StoreError> {
        let mut round = 1;
        loop {
            let (documents, total) =
                self.ask("look for reminders", |_, opened| select(&opened.connection, wanted, within, limit))?;
            let Freshened { fresh, stale } = self.freshen(documents, |document| document);
            if stale.is_empty() || ROUNDS <= round {
                let found = fresh.len() + stale.len();
                // Of 64 bits some may be those of another memory.
                let memories: Vec<_> =
                    fresh.into_iter().map(|(stored, _)| stored).filter(|stored| wanted.includes(&stored.memory)).collect();
                let total = total.saturating_sub((found - memories.len()) as u64);
                return Ok(Page { memories, total, degraded: self.degraded()? });
            }
            round += 1;
            self.reread(&stale)?;
        }
    }
}

fn select(
    connection: &Connection,
    wanted: Reminders,
    within: Option<&[Scope]>,
    limit: Option<usize>,
) -> Result<(Vec<Document>, u64), Trouble> {
    let (mut condition, mut values) = condition(wanted);
    if let Some(within) = within {
        condition = format!("{condition} AND {}", is_within(within));
        values.extend(within.iter().map(|scope| Value::from(scope.to_string())));
    }
    let sql = format!("SELECT count(*) FROM documents WHERE {condition}");
    let total = connection.prepare_cached(&sql)?.query_row(params_from_iter(&values), |row| row_count(row, 0))?;
    if total == 0 {
        return Ok((Vec::new(), 0));
    }
    let limit = limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1);
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE {condition} ORDER BY due, id LIMIT ?");
    let values = values.into_iter().chain([Value::from(limit)]);
    let mut select = connection.prepare_cached(&sql)?;
    Ok((select.query_map(params_from_iter(values), Document::read)?.collect::<Result<_, _>>()?, total))
}

fn condition(wanted: Reminders) -> (String, Vec<Value>) {
    let in_stages = |stages: &[Stage]| {
        let stages: Vec<_> = stages.iter().map(|stage| (*stage as i64).to_string()).collect();
        format!("due NOT NULL AND id NOT NULL AND stage IN ({})", stages.join(", "))
    };
    match wanted {
        Reminders::All => (in_stages(&[Stage::Waiting, Stage::Shown, Stage::Done]), Vec::new()),
        Reminders::Open => (in_stages(&[Stage::Waiting, Stage::Shown]), Vec::new()),
        Reminders::Due(now) => {
            (in_stages(&[Stage::Waiting, Stage::Shown]) + " AND due <= ?", vec![Value::from(nanoseconds(now))])
        }
        Reminders::ToBeShown(now) => (in_stages(&[Stage::Waiting]) + " AND due <= ?", vec![Value::from(nanoseconds(now))]),
        Reminders::Of(id) => {
            let part = "due NOT NULL AND id NOT NULL AND key IN (SELECT document FROM handles WHERE bits = ?)";
            (part.into(), vec![Value::from(Handle::Reminds(&id).bits())])
        }
    }
}
