//! Sessions and values in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use crate::instance::history::{Appended, Filter, MessageStore, Purged, Record, Records, SessionName, SessionSummary, Window};
use crate::instance::kv::{KeySummary, KeyValueStore, Prefix, Value, ValueKey};
use crate::instance::{InstanceError, InstanceOperation};

/// Sessions in memory, which are gone with it.
#[derive(Debug, Default)]
pub struct FakeMessages {
    sessions: Mutex<BTreeMap<SessionName, Vec<Record>>>,
}

impl FakeMessages {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionName, Vec<Record>>> {
        self.sessions.lock().expect("no test panics while it holds the sessions")
    }
}

impl MessageStore for FakeMessages {
    fn append(&self, session: &SessionName, records: &[Record], _: &InstanceOperation) -> Result<Appended, InstanceError> {
        self.sessions().entry(session.clone()).or_default().extend_from_slice(records);
        Ok(Appended::default())
    }

    fn records(&self, session: &SessionName, filter: &Filter, window: Window) -> Result<Records<'_>, InstanceError> {
        let all = self.sessions().get(session).cloned().unwrap_or_default();
        let meant = window.of(all.into_iter().filter(|record| filter.fits(record)));
        Ok(Box::new(meant.into_iter().map(Ok)))
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, InstanceError> {
        let summary = |(session, records): (&SessionName, &Vec<Record>)| SessionSummary {
            session: session.clone(),
            records: records.len(),
            last_at: records.last().and_then(Record::at),
        };
        Ok(self.sessions().iter().map(summary).collect())
    }

    fn delete(&self, session: &SessionName, _: &InstanceOperation) -> Result<Option<usize>, InstanceError> {
        Ok(self.sessions().remove(session).map(|records| records.len()))
    }

    fn purge(&self, session: &SessionName, filter: &Filter, _: &InstanceOperation) -> Result<Purged, InstanceError> {
        let mut sessions = self.sessions();
        let Some(records) = sessions.get_mut(session) else { return Ok(Purged::default()) };
        let before = records.len();
        records.retain(|record| !filter.fits(record));
        Ok(Purged { purged: before - records.len(), kept: records.len() })
    }
}

/// Values in memory, which are gone with it.
#[derive(Debug, Default)]
pub struct FakeValues {
    values: Mutex<BTreeMap<ValueKey, Value>>,
}

impl FakeValues {
    fn values(&self) -> MutexGuard<'_, BTreeMap<ValueKey, Value>> {
        self.values.lock().expect("no test panics while it holds the values")
    }
}

impl KeyValueStore for FakeValues {
    fn set(&self, key: &ValueKey, value: &str, operation: &InstanceOperation) -> Result<bool, InstanceError> {
        let mut values = self.values();
        let is_within = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
        let other =
            values.keys().find(|other| is_within(other.as_str(), key.as_str()) || is_within(key.as_str(), other.as_str()));
        if let Some(other) = other {
            return Err(InstanceError::KeyTaken { key: key.to_string(), why: format!("{other} is a key") });
        }
        let value = Value { text: value.to_owned(), updated_at: operation.at };
        Ok(values.insert(key.clone(), value).is_none())
    }

    fn get(&self, key: &ValueKey) -> Result<Option<Value>, InstanceError> {
        Ok(self.values().get(key).cloned())
    }

    fn delete(&self, key: &ValueKey, _: &InstanceOperation) -> Result<bool, InstanceError> {
        Ok(self.values().remove(key).is_some())
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<KeySummary>, InstanceError> {
        let values = self.values();
        let summary = |(key, value): (&ValueKey, &Value)| KeySummary {
            key: key.clone(),
            size_bytes: value.text.len() as u64,
            updated_at: value.updated_at,
        };
        Ok(values.iter().filter(|(key, _)| prefix.fits(key)).map(summary).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{key_value_suite, message_suite};

    #[test]
    fn the_fakes_keep_the_promises_of_their_traits() {
        message_suite(&|| Arc::new(FakeMessages::default()));
        key_value_suite(&|| Arc::new(FakeValues::default()));
    }
}
