//! Who sits where in which conversation.

use std::collections::{BTreeMap, HashMap};

use chrono::TimeDelta;
use memory_core::rank::{PAUSE_HOURS, Seat};
use memory_core::{Filter, Scope};
use rusqlite::{Connection, OptionalExtension, params};

use crate::index::trouble::Trouble;

/// A longer conversation is looked at around the best of its turns only.
const WHOLE: usize = 20_000;

/// How many turns before and after one are looked at.
const AROUND: usize = 12;

/// Turns that were not looked at in between count as so many.
const GAP: usize = 1_000;

/// The seats of what was said in conversations.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) seats: HashMap<i64, Seat>,
    /// For each conversation, the keys of its turns by their ordinals.
    keys: Vec<BTreeMap<usize, i64>>,
    /// For each conversation, how many turns it has, if all of them were looked at.
    pub(super) whole: Vec<Option<u64>>,
}

/// The order of what was said: when, then which was kept first.
type Turn = (i64, i64);

impl Turns {
    /// Looks at the conversation that the filter names, or else at those in which the documents with `keys` were said.
    pub(super) fn of(connection: &Connection, filter: &Filter, keys: &[i64]) -> Result<Self, Trouble> {
        let mut turns = Self::default();
        if let Some(scope @ Scope::Conversation(_)) = &filter.scope {
            let all = whole(connection, &scope.to_string())?;
            if all.len() <= WHOLE {
                let count = all.len() as u64;
                turns.add(&[all], Some(count));
                return Ok(turns);
            }
        }
        let sql = format!("SELECT EXISTS (SELECT 1 FROM documents INDEXED BY turns WHERE {IS_TURN})");
        if !connection.prepare_cached(&sql)?.query_row((), |row| row.get::<_, bool>(0))? {
            return Ok(turns);
        }
        let mut windows = BTreeMap::<String, Vec<Vec<Turn>>>::new();
        for key in keys {
            let sql = "SELECT scope, created_at FROM documents WHERE key = ?";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
            let Some((scope, created_at)) = connection.prepare_cached(sql)?.query_row([key], read).optional()? else { continue };
            if scope.starts_with("conversation:") {
                let window = window(connection, &scope, (created_at, *key))?;
                windows.entry(scope).or_default().push(window);
            }
        }
        for (_, windows) in windows {
            turns.add(&joined(windows), None);
        }
        Ok(turns)
    }

    /// Returns the keys of the turns around one, up to so many places away.
    pub(super) fn around(&self, key: i64, reach: usize) -> Vec<i64> {
        let Some(seat) = self.seats.get(&key) else { return Vec::new() };
        let near = seat.ordinal.saturating_sub(reach)..=seat.ordinal + reach;
        self.keys[seat.conversation].range(near).map(|(_, key)| *key).filter(|other| *other != key).collect()
    }

    /// Adds a conversation, in runs between which something was left out.
    fn add(&mut self, runs: &[Vec<Turn>], whole: Option<u64>) {
        let conversation = self.keys.len();
        let pause = TimeDelta::hours(PAUSE_HOURS).num_nanoseconds().unwrap_or(i64::MAX);
        let (mut ordinal, mut session) = (0, 0);
        let mut keys = BTreeMap::new();
        for run in runs {
            let mut last = None;
            for (created_at, key) in run {
                if last.is_some_and(|last| pause < created_at - last) {
                    session += 1;
                }
                last = Some(*created_at);
                self.seats.insert(*key, Seat { conversation, ordinal, session });
                keys.insert(ordinal, *key);
                ordinal += 1;
            }
            ordinal += GAP;
            session += 1;
        }
        self.keys.push(keys);
        self.whole.push(whole);
    }
}

/// Says to SQLite that the index of turns will do; spelled as it is there, or it does not notice.
const IS_TURN: &str = "scope >= 'conversation:' AND scope < 'conversation;'";

fn whole(connection: &Connection, scope: &str) -> Result<Vec<Turn>, Trouble> {
    let sql = format!(
        "SELECT created_at, key FROM documents INDEXED BY turns WHERE scope = ? AND {IS_TURN} ORDER BY created_at, key LIMIT {}",
        WHOLE + 1
    );
    let mut select = connection.prepare_cached(&sql)?;
    Ok(select.query_map([scope], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

fn window(connection: &Connection, scope: &str, (created_at, key): Turn) -> Result<Vec<Turn>, Trouble> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sql = format!(
        "SELECT created_at, key FROM documents INDEXED BY turns WHERE scope = ? AND {IS_TURN} AND (created_at, key) < (?, ?) \
         ORDER BY created_at DESC, key DESC LIMIT {AROUND}"
    );
    let mut before = connection.prepare_cached(&sql)?;
    let mut window: Vec<Turn> = before.query_map(params![scope, created_at, key], read)?.collect::<Result<_, _>>()?;
    window.reverse();
    let sql = format!(
        "SELECT created_at, key FROM documents INDEXED BY turns WHERE scope = ? AND {IS_TURN} AND (?, ?) <= (created_at, key) \
         ORDER BY created_at, key LIMIT {}",
        AROUND + 1
    );
    let mut after = connection.prepare_cached(&sql)?;
    for turn in after.query_map(params![scope, created_at, key], read)? {
        window.push(turn?);
    }
    Ok(window)
}

/// Joins windows that overlap or touch.
fn joined(mut windows: Vec<Vec<Turn>>) -> Vec<Vec<Turn>> {
    windows.retain(|window| !window.is_empty());
    windows.sort_unstable();
    let mut runs: Vec<Vec<Turn>> = Vec::new();
    for window in windows {
        match runs.last_mut() {
            Some(run) if run.last() >= window.first() => {
                let last = run.last().copied();
                run.extend(window.into_iter().filter(|turn| last < Some(*turn)));
            }
            _ => runs.push(window),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_overlap_are_one_run() {
        let window = |range: std::ops::Range<i64>| range.map(|turn| (turn, turn)).collect::<Vec<_>>();
        assert_eq!(joined(vec![window(5..9), window(0..6), window(20..22)]), [window(0..9), window(20..22)]);
    }

    #[test]
    fn a_long_pause_begins_a_session() {
        let hour = 3_600_000_000_000;
        let mut turns = Turns::default();
        turns.add(&[vec![(0, 1), (hour, 2), (hour * 8, 3)], vec![(hour * 9, 7)]], Some(4));
        let seat = |key: i64| (turns.seats[&key].ordinal, turns.seats[&key].session);
        assert_eq!([seat(1), seat(2), seat(3)], [(0, 0), (1, 0), (2, 1)]);
        assert!(turns.seats[&7].session == 2 && 3 < turns.seats[&7].ordinal);
        assert_eq!(turns.around(2, 3), [1, 3]);
    }
}
