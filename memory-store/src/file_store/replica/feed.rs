//! Applies the operations of other nodes to the files, before those in the queue.

use std::collections::{HashMap, HashSet};

use memory_core::StoreError;

use super::Replica;
use super::offline::{SendResult, is_missing_file, is_permitted};
use super::state::{CurrentReplica, ReplicaState};
use crate::file_store::FileStore;
use crate::offline_queue::QueuedOperation;
use crate::shared_log::LoggedOperation;

impl FileStore {
    /// Applies new operations and sends queued ones, and acquires the lock only if there are any.
    pub(super) fn pull_news(&self, replica: &Replica) -> Result<(), StoreError> {
        if let Some(CurrentReplica {
            state, unreachable, ..
        }) = self.current(replica)?
        {
            unreachable.map_or(Ok(()), Err)?;
            let page = replica.pull(&state.heads)?;
            if page.operations.is_empty()
                && page.readable == state.readable
                && page.read_only == state.read_only
                && self.queue().is_empty()?
            {
                return Ok(());
            }
        }
        let _lock = self.lock_for_writing()?;
        self.pull_all(replica).map(drop)
    }

    /// Applies all new operations, appends the queued ones, and returns the tokens of the new ones. The caller holds the lock.
    pub(super) fn pull_all(&self, replica: &Replica) -> Result<Vec<i64>, StoreError> {
        let (mut applied, mut refusals, mut is_checked) =
            (Vec::new(), HashMap::<i64, u32>::new(), false);
        loop {
            let Some(mut current) = self.current(replica)? else {
                applied.extend(self.create_replica(replica)?);
                continue;
            };
            if let Some(error) = current.unreachable.take() {
                return Err(error);
            }
            let queued = self.queue().read()?;
            if !is_checked {
                is_checked = true;
                let performed = &queued[..self.performed(&current, &queued)?];
                // A part of the journal was deleted, so the files are no evidence of the state of the log.
                if performed.iter().any(|QueuedOperation { operation, .. }| {
                    !current.has(&operation.record) && !operation.files.is_empty()
                }) {
                    applied.extend(self.create_replica(replica)?);
                    continue;
                }
            }
            let Some(mut state) = self.apply_news(replica, &current, &queued, &mut applied)? else {
                applied.extend(self.create_replica(replica)?);
                continue;
            };
            if queued.is_empty() {
                return Ok(applied);
            }
            match self.append_queued(replica, &mut state, &refusals)? {
                SendResult::Sent => return Ok(applied),
                SendResult::Outdated => {}
                SendResult::Refused { token, what } => {
                    let count = refusals.entry(token).or_default();
                    *count += 1;
                    match *count {
                        // The replica differs from the log.
                        1 => applied.extend(self.create_replica(replica)?),
                        // A document that this node does not see is in the way, so the operation becomes a proposal.
                        2 => {}
                        _ => return Err(StoreError::Conflict { what }),
                    }
                }
            }
        }
    }

    /// Applies the new operations of the log before the `queued` ones, and removes those from the queue that the log has.
    ///
    /// Adds the tokens of the new operations to `applied`. Returns the new state, or `None` if the replica must be created again.
    fn apply_news(
        &self,
        replica: &Replica,
        current: &CurrentReplica,
        queued: &[QueuedOperation],
        applied: &mut Vec<i64>,
    ) -> Result<Option<ReplicaState>, StoreError> {
        let own: HashSet<i64> = queued.iter().map(|queued| queued.operation.token).collect();
        let mut state = current.state.clone();
        loop {
            let mut news: Vec<LoggedOperation> = Vec::new();
            let is_last = loop {
                let Some(page) = self.pull_page(replica, &mut state)? else {
                    return Ok(None);
                };
                let is_last = page.is_empty();
                news.extend(page);
                // Without the database, the queued operations must stay in the files, so everything is fetched first.
                if is_last || queued.is_empty() {
                    break is_last;
                }
            };
            if news.is_empty()
                && queued.is_empty()
                && state.readable == current.state.readable
                && state.read_only == current.state.read_only
            {
                return Ok(Some(state));
            }
            let is_in_order = queued.iter().all(|QueuedOperation { operation, .. }| {
                current.has(&operation.record) && is_permitted(operation, &state)
            }) && news
                .iter()
                .all(|logged| own.contains(&logged.token) || current.has(&logged.record));
            if !is_in_order {
                let records = queued.iter().map(|queued| &queued.operation.record);
                for record in records.rev().filter(|record| current.has(record)) {
                    match self.take_back(record) {
                        // The previous version was purged.
                        Err(error) if is_missing_file(&error) => return Ok(None),
                        taken => taken?,
                    }
                }
                for logged in news
                    .iter()
                    .filter(|logged| own.contains(&logged.token) || !current.has(&logged.record))
                {
                    if !self.perform(replica, &mut state, logged)? {
                        return Ok(None);
                    }
                    replica.events().pulled += 1;
                }
            }
            applied.extend(news.iter().map(|logged| logged.token));
            queued
                .iter()
                .filter(|queued| {
                    news.iter()
                        .any(|logged| logged.token == queued.operation.token)
                })
                .try_for_each(|queued| self.queue().remove(queued))?;
            self.save(&mut state)?;
            if is_last {
                return Ok(Some(state));
            }
        }
    }

    /// Returns the next operations after `state`, and advances it behind them.
    ///
    /// Returns `None` if the node may no longer read a scope. The replica then must be created again, which is recorded.
    pub(super) fn pull_page(
        &self,
        replica: &Replica,
        state: &mut ReplicaState,
    ) -> Result<Option<Vec<LoggedOperation>>, StoreError> {
        let page = replica.pull(&state.heads)?;
        if page.has_lost_scope(&state.heads) {
            if let Some(mut saved) = self.read_state()? {
                saved.has_lost_scope = true;
                self.write_state(&saved)?;
            }
            return Ok(None);
        }
        self.remove_lost_topics(state.readable.as_deref(), page.readable.as_deref())?;
        state.readable = page.readable;
        state.read_only = page.read_only;
        for logged in &page.operations {
            let scopes = logged.scopes.iter().cloned();
            state.heads.advance(scopes, logged.head());
        }
        Ok(Some(page.operations))
    }

    /// Performs an operation of the log, and returns whether this was possible.
    ///
    /// It is impossible if a file was purged, or changed by another program. Then the replica must be created again.
    fn perform(
        &self,
        replica: &Replica,
        state: &mut ReplicaState,
        logged: &LoggedOperation,
    ) -> Result<bool, StoreError> {
        if logged.is_purged() {
            return Ok(false);
        }
        let contents: Vec<_> = logged.contents.iter().map(Option::as_deref).collect();
        match self.execute_logged(replica, state, &logged.record, &contents) {
            Err(StoreError::Conflict { .. }) => Ok(false),
            performed => performed.map(|()| true),
        }
    }
}
