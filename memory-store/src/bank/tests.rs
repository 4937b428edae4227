//! Tests of banks as files.

mod changes;
mod files;
mod repairs;

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::bank::{Bank, BankChange, BankEntry, BankEntryChange, BankName, BankStore, Key};
use memory_core::secret::Checked;
use memory_core::{Operation, OperationId, Verb};

use super::{BankFolder, BankOptions};

/// A folder of banks, and a counter for its operations.
struct TestBanks {
    home: tempfile::TempDir,
    banks: BankFolder,
    count: std::cell::Cell<u64>,
}

impl TestBanks {
    fn new(options: BankOptions) -> Self {
        let home = tempfile::tempdir().unwrap();
        let banks = BankFolder::new(home.path(), options);
        Self {
            home,
            banks,
            count: std::cell::Cell::new(0),
        }
    }

    fn plain() -> Self {
        Self::new(BankOptions {
            compress_above: None,
            ..BankOptions::default()
        })
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn put_file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), bytes).unwrap();
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    fn operation(&self, verb: Verb) -> Operation {
        self.count.set(self.count.get() + 1);
        Operation {
            id: OperationId::from_random(self.count.get()),
            verb,
            by: "test".into(),
            at: at(self.count.get()),
        }
    }

    fn change(&self, changes: Vec<BankEntryChange>) -> OperationId {
        let operation = self.operation(Verb::Write);
        let mut changes = Some(changes);
        self.banks
            .change(&name(), &operation, &mut |_| {
                Ok(BankChange::Entries(changes.take().unwrap()))
            })
            .unwrap();
        operation.id
    }

    fn put(&self, key: &str, value: &str) -> OperationId {
        self.change(vec![put(key, value, self.count.get() + 1)])
    }

    fn remove(&self, key: &str) -> OperationId {
        self.change(vec![BankEntryChange::Remove(key.parse().unwrap())])
    }

    fn undo(&self, id: &OperationId) {
        self.banks.undo(id, &self.operation(Verb::Undo)).unwrap();
    }

    fn bank(&self) -> Bank {
        self.banks.bank(&name()).unwrap().unwrap()
    }
}

fn name() -> BankName {
    "session".parse().unwrap()
}

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn at(step: u64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
        + TimeDelta::days(20_000)
        + TimeDelta::seconds(i64::try_from(step).unwrap())
}

fn put(key: &str, value: &str, step: u64) -> BankEntryChange {
    let entry = BankEntry {
        value: value.parse().unwrap(),
        created_at: at(step),
        updated_at: at(step),
        ttl: None,
    };
    BankEntryChange::Put(key.parse().unwrap(), Checked::allowed(entry))
}
