//! In-memory banks.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::fake_log::FakeLog;
use crate::bank::{
    Bank, BankChange, BankChangeResult, BankDamage, BankEntryChange, BankError, BankErrorKind,
    BankLookup, BankMeta, BankName, BankRecord, BankRepairMode, BankStore, BankSubject,
    BankSummary, JsonFilter, JsonFilterError, Key, SchemaValidator, render_document,
};
use crate::json::JsonText;
use crate::secret::Checked;
use crate::{Operation, OperationId};

/// An in-memory [`BankStore`].
#[derive(Debug, Default)]
pub struct FakeBanks {
    state: Mutex<FakeBankState>,
}

#[derive(Debug, Default)]
struct FakeBankState {
    banks: BTreeMap<BankName, Bank>,
    log: FakeLog<BankSubject, Option<Bank>>,
}

impl FakeBanks {
    fn state(&self) -> MutexGuard<'_, FakeBankState> {
        self.state
            .lock()
            .expect("no test panics while it holds the banks")
    }
}

impl FakeBankState {
    /// Replaces, adds or removes a bank, and returns its former and its new content.
    fn put(&mut self, name: &BankName, next: Option<Bank>) -> (Option<Bank>, Option<Bank>) {
        let before = self.banks.remove(name);
        if let Some(next) = &next {
            self.banks.insert(name.clone(), next.clone());
        }
        (before, next)
    }

    fn record_change(
        &mut self,
        name: &BankName,
        operation: &Operation,
        keys: Vec<String>,
        next: Option<Bank>,
    ) {
        let change = self.put(name, next);
        let bank = name.clone();
        self.log
            .record(operation, BankSubject { bank, keys }, change);
    }
}

impl BankStore for FakeBanks {
    fn folder(&self) -> String {
        "memory".to_owned()
    }

    fn has(&self, name: &BankName) -> Result<bool, BankError> {
        Ok(self.state().banks.contains_key(name))
    }

    fn banks(&self) -> Result<Vec<BankSummary>, BankError> {
        let summary = |bank: &Bank| BankSummary {
            name: bank.name.clone(),
            size_bytes: render_document(bank).len() as u64,
        };
        Ok(self.state().banks.values().map(summary).collect())
    }

    fn bank(&self, name: &BankName) -> Result<Option<Bank>, BankError> {
        Ok(self.state().banks.get(name).cloned())
    }

    fn entry(&self, name: &BankName, key: &Key) -> Result<BankLookup, BankError> {
        let state = self.state();
        let Some(bank) = state.banks.get(name) else {
            return Ok(BankLookup::NoBank);
        };
        Ok(bank.entry(key).map_or(BankLookup::NoKey, |entry| {
            BankLookup::Entry(Box::new(entry.clone()))
        }))
    }

    fn document(&self, name: &BankName, now: DateTime<Utc>) -> Result<Option<String>, BankError> {
        let living = |mut bank: Bank| {
            bank.entries.retain(|(_, entry)| !entry.is_expired(now));
            render_document(&bank)
        };
        Ok(self.bank(name)?.map(living))
    }

    fn change(
        &self,
        name: &BankName,
        operation: &Operation,
        decide: &mut dyn FnMut(Option<&Bank>) -> Result<BankChange, BankError>,
    ) -> Result<BankChangeResult, BankError> {
        let mut state = self.state();
        let at = operation.at;
        let change = decide(state.banks.get(name))?;
        let mut bank = state.banks.get(name).cloned().unwrap_or_else(|| Bank {
            name: name.clone(),
            meta: BankMeta {
                version: 1,
                created_at: at,
                updated_at: at,
                schema: None,
            },
            entries: Vec::new(),
            damaged: Vec::new(),
        });
        bank.meta.updated_at = at;
        let mut touched = Vec::new();
        match change {
            BankChange::Nothing => return Ok(BankChangeResult::No),
            BankChange::Remove if !state.banks.contains_key(name) => {
                return Ok(BankChangeResult::No);
            }
            BankChange::Remove => {
                state.record_change(name, operation, touched, None);
                return Ok(BankChangeResult::Yes);
            }
            BankChange::Schema(schema) => bank.meta.schema = schema.map(Checked::into_inner),
            BankChange::Entries(_) | BankChange::EntriesAndSchema(..) => {
                let changes = match change {
                    BankChange::EntriesAndSchema(changes, schema) => {
                        bank.meta.schema = Some(schema.into_inner());
                        changes
                    }
                    BankChange::Entries(changes) => changes,
                    BankChange::Nothing | BankChange::Remove | BankChange::Schema(_) => Vec::new(),
                };
                for change in changes {
                    match change {
                        BankEntryChange::Put(key, entry) => {
                            touched.push(key.to_string());
                            match bank.entries.iter_mut().find(|(own, _)| *own == key) {
                                Some((_, former)) => *former = entry.into_inner(),
                                None => bank.entries.push((key, entry.into_inner())),
                            }
                        }
                        BankEntryChange::Remove(key) => {
                            touched.push(key.to_string());
                            bank.entries.retain(|(own, _)| *own != key);
                        }
                    }
                }
            }
        }
        state.record_change(name, operation, touched, Some(bank));
        Ok(BankChangeResult::Yes)
    }

    fn history(&self) -> Result<Vec<BankRecord>, BankError> {
        Ok(self.state().log.records())
    }

    fn undo(&self, undone: &OperationId, operation: &Operation) -> Result<BankRecord, BankError> {
        let mut state = self.state();
        let (record, before, after) = state.log.open(undone)?;
        let BankSubject { bank: name, keys } = &record.subject;
        let now = state.banks.get(name);
        if !is_unchanged_since(now, after.as_ref(), keys) {
            return Err(BankError::new(BankErrorKind::ChangedSince).with_bank(name.as_str(), None));
        }
        let next = revert_bank(now, before.as_ref(), keys);
        let change = state.put(name, next);
        state.log.record_undo(&record, operation, change);
        Ok(record)
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), BankError> {
        Ok(self.state().log.purge(before))
    }

    fn repair(
        &self,
        _: Option<&BankName>,
        _: BankRepairMode,
        _: &Operation,
    ) -> Result<Vec<BankDamage>, BankError> {
        // In-memory banks are never damaged.
        Ok(Vec::new())
    }
}

fn is_unchanged_since(now: Option<&Bank>, after: Option<&Bank>, keys: &[String]) -> bool {
    let (Some(now), Some(after)) = (now, after) else {
        return now.is_none() && after.is_none();
    };
    let entry = |bank: &Bank, key: &str| {
        bank.entries
            .iter()
            .find(|(own, _)| own.as_str() == key)
            .cloned()
    };
    keys.iter().all(|key| entry(now, key) == entry(after, key))
        && (!keys.is_empty() || now.meta.schema == after.meta.schema)
}

fn revert_bank(now: Option<&Bank>, before: Option<&Bank>, keys: &[String]) -> Option<Bank> {
    let Some(mut bank) = now.cloned() else {
        return before.cloned();
    };
    if keys.is_empty() {
        bank.meta.schema = before.and_then(|before| before.meta.schema.clone());
    }
    for key in keys {
        let former =
            before.and_then(|before| before.entries.iter().find(|(own, _)| own.as_str() == key));
        match (
            bank.entries.iter().position(|(own, _)| own.as_str() == key),
            former,
        ) {
            (Some(at), Some(former)) => bank.entries[at] = former.clone(),
            (Some(at), None) => drop(bank.entries.remove(at)),
            (None, Some(former)) => bank.entries.push(former.clone()),
            (None, None) => {}
        }
    }
    if before.is_none() && bank.entries.is_empty() {
        None
    } else {
        Some(bank)
    }
}

/// A fake jq with three filters: `.`, `.+1` for whole numbers, and `empty`. All others fail.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeFilter;

impl JsonFilter for FakeFilter {
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, JsonFilterError> {
        let failed = |message: &str| JsonFilterError::Failed {
            message: message.to_owned(),
        };
        let value: JsonText = input.parse().map_err(|_| failed("the input is no JSON"))?;
        match filter {
            "." => Ok(vec![value]),
            ".+1" => {
                let number = if value == JsonText::null() {
                    Ok(0)
                } else {
                    value.as_str().parse::<u64>()
                };
                let number = number.map_err(|_| failed("no whole number"))?;
                Ok(vec![
                    (number + 1).to_string().parse().expect("a number is JSON"),
                ])
            }
            "empty" => Ok(Vec::new()),
            _ => Err(failed("no such filter")),
        }
    }

    fn run_with_timeout(
        &self,
        filter: &str,
        input: &str,
        _: Duration,
    ) -> Result<Vec<JsonText>, JsonFilterError> {
        self.run(filter, input)
    }
}

/// A fake JSON Schema validator with one valid schema, `{"type":"string"}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeSchemas;

const STRINGS: &str = r#"{"type":"string"}"#;

impl SchemaValidator for FakeSchemas {
    fn check_schema(&self, schema: &JsonText) -> Result<(), String> {
        if schema.as_str() == STRINGS {
            Ok(())
        } else {
            Err("no such schema".to_owned())
        }
    }

    fn check(&self, _: &JsonText, value: &JsonText) -> Result<(), String> {
        if value.as_str().starts_with('"') {
            Ok(())
        } else {
            Err("no string".to_owned())
        }
    }
}
