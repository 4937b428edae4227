//! The data model: a bank, its metadata and its entries.

use chrono::{DateTime, TimeDelta, Utc};

use super::{BankName, Key};
use crate::json::JsonText;

/// A value under a key, with its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankEntry {
    /// The value.
    pub value: JsonText,
    /// The time of the first write.
    pub created_at: DateTime<Utc>,
    /// The time of the last write.
    pub updated_at: DateTime<Utc>,
    /// The time to live in seconds after `updated_at`; `None` if the entry never expires.
    pub ttl: Option<u64>,
}

impl BankEntry {
    /// Returns the expiry time, or `None` if the entry never expires.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        let seconds = i64::try_from(self.ttl?).unwrap_or(i64::MAX);
        // An expiry time beyond the calendar's range never arrives.
        self.updated_at
            .checked_add_signed(TimeDelta::try_seconds(seconds)?)
    }

    /// Returns whether the entry has expired at `now`; it expires at the exact expiry time.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at().is_some_and(|end| end <= now)
    }
}

/// The metadata of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankMeta {
    /// The version of the file format: 1.
    pub version: u64,
    /// The creation time.
    pub created_at: DateTime<Utc>,
    /// The time of the last change of the bank.
    pub updated_at: DateTime<Utc>,
    /// The JSON Schema that every value must satisfy, if there is one.
    pub schema: Option<JsonText>,
}

/// A bank: a set of keys with values, in the order of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bank {
    /// The name.
    pub name: BankName,
    /// The metadata.
    pub meta: BankMeta,
    /// The entries, including the expired ones.
    pub entries: Vec<(Key, BankEntry)>,
    /// The keys of entries that cannot be read, each with the reason. They remain in the file unchanged.
    pub damaged: Vec<(String, String)>,
}

impl Bank {
    /// Returns the entry under `key`, expired or not.
    pub fn entry(&self, key: &Key) -> Option<&BankEntry> {
        self.entries
            .iter()
            .find_map(|(own, entry)| (own == key).then_some(entry))
    }

    /// Returns the entries that have not expired at `now`.
    pub fn unexpired_entries(
        &self,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = (&Key, &BankEntry)> {
        self.entries
            .iter()
            .filter(move |(_, entry)| !entry.is_expired(now))
            .map(|(key, entry)| (key, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_expires_when_its_time_is_over_and_never_without_one() {
        let start = DateTime::UNIX_EPOCH;
        let entry = |ttl| BankEntry {
            value: JsonText::null(),
            created_at: start,
            updated_at: start + TimeDelta::hours(1),
            ttl,
        };
        let after = |seconds| start + TimeDelta::hours(1) + TimeDelta::seconds(seconds);
        assert!(!entry(Some(60)).is_expired(after(59)));
        assert!(entry(Some(60)).is_expired(after(60)));
        assert!(entry(Some(0)).is_expired(after(0)));
        assert!(!entry(None).is_expired(after(1_000_000_000)));
        assert!(!entry(Some(u64::MAX)).is_expired(after(1_000_000_000)));
    }
}
