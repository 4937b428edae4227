//! A bank and what is in it.

use chrono::{DateTime, TimeDelta, Utc};

use super::{BankName, Key};
use crate::json::JsonText;

/// One value under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The value.
    pub value: JsonText,
    /// When it was first written.
    pub created_at: DateTime<Utc>,
    /// When it was last written.
    pub updated_at: DateTime<Utc>,
    /// How many seconds after `updated_at` it expires, if it does.
    pub ttl: Option<u64>,
}

impl Entry {
    /// Returns when it expires, if it does.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        let seconds = i64::try_from(self.ttl?).unwrap_or(i64::MAX);
        // A time so far away that no calendar holds it never comes.
        self.updated_at.checked_add_signed(TimeDelta::try_seconds(seconds)?)
    }

    /// Tells whether it has expired.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at().is_some_and(|end| end <= now)
    }
}

/// What a bank says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankMeta {
    /// The version of the format: 1.
    pub version: u64,
    /// When the bank was made.
    pub created_at: DateTime<Utc>,
    /// When something in it was last changed.
    pub updated_at: DateTime<Utc>,
    /// The JSON Schema that every value must fit, if there is one.
    pub schema: Option<JsonText>,
}

/// A bank: a set of keys with values, in the order of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bank {
    /// Its name.
    pub name: BankName,
    /// What it says of itself.
    pub meta: BankMeta,
    /// Its entries, expired ones too.
    pub entries: Vec<(Key, Entry)>,
    /// The keys of entries that cannot be read, with what is wrong with each. They are kept and left alone.
    pub damaged: Vec<(String, String)>,
}

impl Bank {
    /// Returns the entry under `key`, expired or not.
    pub fn entry(&self, key: &Key) -> Option<&Entry> {
        self.entries.iter().find_map(|(own, entry)| (own == key).then_some(entry))
    }

    /// Returns the entries that have not expired.
    pub fn living(&self, now: DateTime<Utc>) -> impl Iterator<Item = (&Key, &Entry)> {
        self.entries.iter().filter(move |(_, entry)| !entry.is_expired(now)).map(|(key, entry)| (key, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_expires_when_its_time_is_over_and_never_without_one() {
        let start = DateTime::UNIX_EPOCH;
        let entry = |ttl| Entry { value: JsonText::null(), created_at: start, updated_at: start + TimeDelta::hours(1), ttl };
        let after = |seconds| start + TimeDelta::hours(1) + TimeDelta::seconds(seconds);
        assert!(!entry(Some(60)).is_expired(after(59)));
        assert!(entry(Some(60)).is_expired(after(60)));
        assert!(entry(Some(0)).is_expired(after(0)));
        assert!(!entry(None).is_expired(after(1_000_000_000)));
        assert!(!entry(Some(u64::MAX)).is_expired(after(1_000_000_000)));
    }
}
