//! In-memory sessions and key-value pairs.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use super::fake_log::FakeLog;
use crate::instance::history::{
    MessageStore, PurgeResult, RecordFilter, SessionAppendResult, SessionName, SessionRecord,
    SessionRecords, SessionSummary, Window,
};
use crate::instance::kv::{KeyPrefix, KeySummary, KeyValueStore, StoredValue, ValueKey};
use crate::instance::{
    InstanceError, InstanceOperations, InstanceRecord, InstanceRecords, InstanceSubject, join_parts,
};
use crate::secret::Checked;
use crate::{Operation, OperationId, Verb};

/// Records a change of `count` records or values of `name`.
fn record<T: Clone>(
    log: &FakeLog<InstanceSubject, T>,
    verb: Verb,
    (name, count): (&str, usize),
    operation: &Operation,
    change: (T, T),
) {
    let operation = Operation {
        verb,
        ..operation.clone()
    };
    log.record(&operation, InstanceSubject::new(name, count), change);
}

fn all_records<T: Clone>(log: &FakeLog<InstanceSubject, T>) -> InstanceRecords<'static> {
    Box::new(join_parts(log.records().into_iter().map(Ok)))
}

/// An in-memory [`MessageStore`].
#[derive(Debug, Default)]
pub struct FakeMessages {
    sessions: Mutex<BTreeMap<SessionName, Vec<SessionRecord>>>,
    operations: FakeLog<InstanceSubject, Vec<SessionRecord>>,
    refuses_replace: bool,
}

impl FakeMessages {
    /// Returns a store that does not support replacing sessions.
    pub fn without_replace() -> Self {
        Self {
            refuses_replace: true,
            ..Self::default()
        }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionName, Vec<SessionRecord>>> {
        self.sessions
            .lock()
            .expect("no test panics while it holds the sessions")
    }
}

impl MessageStore for FakeMessages {
    fn append(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        _: &Operation,
    ) -> Result<SessionAppendResult, InstanceError> {
        self.sessions()
            .entry(session.clone())
            .or_default()
            .extend_from_slice(&records);
        Ok(SessionAppendResult::default())
    }

    fn records(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        window: Window,
    ) -> Result<SessionRecords, InstanceError> {
        let all = self.sessions().get(session).cloned().unwrap_or_default();
        let meant = window.of(all.into_iter().filter(|record| filter.matches(record)));
        Ok(Box::new(meant.into_iter().map(Ok)))
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, InstanceError> {
        let summary = |(session, records): (&SessionName, &Vec<SessionRecord>)| SessionSummary {
            session: session.clone(),
            records: records.len(),
            last_at: records.last().and_then(SessionRecord::at),
        };
        Ok(self.sessions().iter().map(summary).collect())
    }

    fn delete(
        &self,
        session: &SessionName,
        operation: &Operation,
    ) -> Result<Option<usize>, InstanceError> {
        let mut sessions = self.sessions();
        let Some(records) = sessions.remove(session) else {
            return Ok(None);
        };
        let count = records.len();
        record(
            &self.operations,
            Verb::Delete,
            (session.as_str(), count),
            operation,
            (records, Vec::new()),
        );
        Ok(Some(count))
    }

    fn check_replace(&self) -> Result<(), InstanceError> {
        let error =
            || InstanceError::invalid("sessions cannot be replaced here", "choose another store");
        if self.refuses_replace {
            Err(error())
        } else {
            Ok(())
        }
    }

    fn replace(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        operation: &Operation,
    ) -> Result<(), InstanceError> {
        let after = records.to_vec();
        let before = self
            .sessions()
            .insert(session.clone(), after.clone())
            .unwrap_or_default();
        record(
            &self.operations,
            operation.verb,
            (session.as_str(), after.len()),
            operation,
            (before, after),
        );
        Ok(())
    }

    fn purge(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        operation: &Operation,
    ) -> Result<PurgeResult, InstanceError> {
        let mut sessions = self.sessions();
        let Some(records) = sessions.get_mut(session) else {
            return Ok(PurgeResult::default());
        };
        let before = records.clone();
        records.retain(|record| !filter.matches(record));
        let (purged, kept) = (before.len() - records.len(), records.len());
        if purged != 0 {
            let change = (before, records.clone());
            record(
                &self.operations,
                Verb::Purge,
                (session.as_str(), purged),
                operation,
                change,
            );
        }
        Ok(PurgeResult { purged, kept })
    }
}

impl InstanceOperations for FakeMessages {
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError> {
        Ok(all_records(&self.operations))
    }

    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<InstanceRecord, InstanceError> {
        let mut sessions = self.sessions();
        let mut changes = Vec::new();
        for (record, before, after) in self.operations.parts(undone)? {
            let session: SessionName = record.subject.name.parse()?;
            let now = sessions.get(&session).cloned().unwrap_or_default();
            let Some(since) = now.strip_prefix(after.as_slice()) else {
                let why = format!("the session {session} was changed afterwards");
                return Err(InstanceError::ChangedSince {
                    operation: undone.clone(),
                    why,
                });
            };
            let back = [before.as_slice(), since].concat();
            changes.push((record, session, now, back));
        }
        let mut undone = Vec::new();
        for (record, session, now, back) in changes {
            self.operations
                .record_undo(&record, operation, (now, back.clone()));
            if back.is_empty() {
                sessions.remove(&session)
            } else {
                sessions.insert(session, back)
            };
            undone.push(Ok(record));
        }
        join_parts(undone.into_iter().rev())
            .next()
            .unwrap_or_else(|| {
                Err(InstanceError::SessionNotFound {
                    session: String::new(),
                })
            })
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        Ok(self.operations.purge(before))
    }
}

/// An in-memory [`KeyValueStore`].
#[derive(Debug, Default)]
pub struct FakeValues {
    values: Mutex<BTreeMap<ValueKey, StoredValue>>,
    operations: FakeLog<InstanceSubject, Option<String>>,
}

impl FakeValues {
    fn values(&self) -> MutexGuard<'_, BTreeMap<ValueKey, StoredValue>> {
        self.values
            .lock()
            .expect("no test panics while it holds the values")
    }

    /// Sets a value, and returns whether the key is new.
    fn place(
        &self,
        values: &mut BTreeMap<ValueKey, StoredValue>,
        key: &ValueKey,
        value: &str,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        if let Some(other) = conflicting_key(values, key) {
            return Err(InstanceError::KeyTaken {
                key: key.to_string(),
                why: format!("{other} is a key"),
            });
        }
        let new = StoredValue {
            text: value.to_owned(),
            updated_at: operation.at,
        };
        let former = values.insert(key.clone(), new).map(|former| former.text);
        let is_new = former.is_none();
        if former.as_deref() != Some(value) {
            let change = (former, Some(value.to_owned()));
            record(
                &self.operations,
                Verb::Set,
                (key.as_str(), 1),
                operation,
                change,
            );
        }
        Ok(is_new)
    }
}

impl KeyValueStore for FakeValues {
    fn set(
        &self,
        key: &ValueKey,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        self.place(&mut self.values(), key, value.into_inner(), operation)
    }

    fn replace(
        &self,
        key: &ValueKey,
        expected: Option<&str>,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        let mut values = self.values();
        if values.get(key).map(|stored| stored.text.as_str()) != expected {
            return Ok(false);
        }
        self.place(&mut values, key, value.into_inner(), operation)
            .map(|_| true)
    }

    fn get(&self, key: &ValueKey) -> Result<Option<StoredValue>, InstanceError> {
        Ok(self.values().get(key).cloned())
    }

    fn delete(&self, key: &ValueKey, operation: &Operation) -> Result<bool, InstanceError> {
        let mut values = self.values();
        let Some(former) = values.remove(key) else {
            return Ok(false);
        };
        record(
            &self.operations,
            Verb::Delete,
            (key.as_str(), 1),
            operation,
            (Some(former.text), None),
        );
        Ok(true)
    }

    fn list(&self, prefix: &KeyPrefix) -> Result<Vec<KeySummary>, InstanceError> {
        let values = self.values();
        let summary = |(key, value): (&ValueKey, &StoredValue)| KeySummary {
            key: key.clone(),
            size_bytes: value.text.len() as u64,
            updated_at: value.updated_at,
        };
        Ok(values
            .iter()
            .filter(|(key, _)| prefix.matches(key))
            .map(summary)
            .collect())
    }
}

impl InstanceOperations for FakeValues {
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError> {
        Ok(all_records(&self.operations))
    }

    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<InstanceRecord, InstanceError> {
        let mut values = self.values();
        let (record, before, after) = self.operations.open(undone)?;
        let key: ValueKey = record.subject.name.parse()?;
        let now = values.get(&key).map(|value| value.text.clone());
        let in_the_way =
            conflicting_key(&values, &key).map(|other| format!("{other} is a key now"));
        if let Some(why) = in_the_way
            .or_else(|| (now != after).then(|| format!("the key {key} was changed afterwards")))
        {
            return Err(InstanceError::ChangedSince {
                operation: undone.clone(),
                why,
            });
        }
        match &before {
            Some(text) => values.insert(
                key,
                StoredValue {
                    text: text.clone(),
                    updated_at: operation.at,
                },
            ),
            None => values.remove(&key),
        };
        self.operations
            .record_undo(&record, operation, (now, before));
        Ok(record)
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        Ok(self.operations.purge(before))
    }
}

/// Returns a key that is a namespace of `key`, or a key within the namespace `key`.
fn conflicting_key(values: &BTreeMap<ValueKey, StoredValue>, key: &ValueKey) -> Option<ValueKey> {
    let is_within = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let mut keys = values.keys();
    keys.find(|other| {
        is_within(other.as_str(), key.as_str()) || is_within(key.as_str(), other.as_str())
    })
    .cloned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{
        key_value_suite, key_value_undo_suite, message_suite, message_undo_suite,
    };

    #[test]
    fn the_fakes_keep_the_promises_of_their_traits() {
        message_suite(&|| Arc::new(FakeMessages::default()));
        message_undo_suite(&|| Arc::new(FakeMessages::default()));
        key_value_suite(&|| Arc::new(FakeValues::default()));
        key_value_undo_suite(&|| Arc::new(FakeValues::default()));
    }
}
