//! Banks, in JSON.
//!
//! Their values are texts with digits that no number of this machine may hold, so the answers are texts too.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::Logged;
use memory_core::bank::{
    Bank, BankError, BankName, BankScope, BankUndone, Checked, Collected, Done, Entry, Gone, ImportReport, Key, KeyListing,
    Listing, Matches, Reading, Searched,
};
use memory_core::json::JsonText;
use memory_core::text::with_causes;

/// Writes an entry: `{value, metadata: {created_at, updated_at, ttl?, expires_at?}}`.
pub fn reading(reading: &Reading) -> String {
    let Reading { scope: _, entry } = reading;
    format!(r#"{{"value":{},"metadata":{}}}"#, entry.value, metadata(entry))
}

/// Writes what is returned instead of an entry that is not there: `{value, metadata: null}`.
pub fn instead(value: &JsonText) -> String {
    format!(r#"{{"value":{value},"metadata":null}}"#)
}

fn metadata(entry: &Entry) -> String {
    let (created, updated) = (moment(entry.created_at), moment(entry.updated_at));
    let ttl = entry.ttl.map_or_else(String::new, |seconds| format!(r#","ttl":{seconds}"#));
    let expires = entry.expires_at().map_or_else(String::new, |end| format!(r#","expires_at":{}"#, moment(end)));
    format!(r#"{{"created_at":{created},"updated_at":{updated}{ttl}{expires}}}"#)
}

/// Writes a whole bank, as its file is: `{_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}`.
pub fn bank(bank: &Bank) -> String {
    memory_core::bank::document(bank)
}

/// Writes several banks: `{banks: {project?: {NAME: BANK}, user: {NAME: BANK}}}`.
pub fn banks<'a>(banks: impl Iterator<Item = (BankScope, &'a BankName, &'a str)>) -> String {
    let mut scopes: Vec<(BankScope, Vec<String>)> = Vec::new();
    for (scope, name, document) in banks {
        let member = format!("{}:{document}", string(name.as_str()));
        match scopes.last_mut() {
            Some((last, members)) if *last == scope => members.push(member),
            _ => scopes.push((scope, vec![member])),
        }
    }
    let scopes: Vec<_> = scopes.iter().map(|(scope, members)| format!(r#""{scope}":{{{}}}"#, members.join(","))).collect();
    format!(r#"{{"banks":{{{}}}}}"#, scopes.join(","))
}

/// Writes what was written: `{success: true, key, bank, scope, operation}`; the operation is `create` or `update`.
pub fn written(done: &Done) -> String {
    let operation = if done.created { "create" } else { "update" };
    let (key, bank, scope) = (string(done.key.as_str()), string(done.bank.as_str()), done.scope);
    format!(r#"{{"success":true,"key":{key},"bank":{bank},"scope":"{scope}","operation":"{operation}"}}"#)
}

/// Writes what an update did: as [`written`], and the new `value`.
pub fn updated(done: &Done) -> String {
    let mut text = written(done);
    text.pop();
    format!(r#"{text},"value":{}}}"#, done.entry.value)
}

/// Writes what was deleted: `{success: true, bank, scope, key?, deleted}`; what is deleted is `key` or `bank`.
pub fn deleted(bank: &BankName, key: Option<&Key>, scope: BankScope) -> String {
    let bank = string(bank.as_str());
    let (what, key) = match key {
        Some(key) => ("key", format!(r#","key":{}"#, string(key.as_str()))),
        None => ("bank", String::new()),
    };
    format!(r#"{{"success":true,"bank":{bank},"scope":"{scope}"{key},"deleted":"{what}"}}"#)
}

/// Writes the list of banks: `{banks: [{name, scope, key_count, updated_at, size_bytes} or {name, scope, size_bytes, error}]}`.
pub fn listings(listings: &[Listing]) -> String {
    let one = |listing: &Listing| {
        let (name, scope, size) = (string(listing.name.as_str()), listing.scope, listing.size_bytes);
        match &listing.state {
            Ok((keys, updated)) => {
                let updated = moment(*updated);
                format!(r#"{{"name":{name},"scope":"{scope}","key_count":{keys},"updated_at":{updated},"size_bytes":{size}}}"#)
            }
            Err(error) => format!(r#"{{"name":{name},"scope":"{scope}","size_bytes":{size},"error":{}}}"#, inner_error(error)),
        }
    };
    format!(r#"{{"banks":{}}}"#, list(listings.iter().map(one)))
}

/// Writes the keys of a bank: `{bank, scope, keys: [{key, size_bytes?, created_at?, updated_at?, ttl?, expires_at?}], damaged?}`; what is
/// more than the key only if it was asked for.
pub fn keys(bank: &BankName, listing: &KeyListing, verbose: bool) -> String {
    let one = |(key, entry): &(Key, Entry)| {
        let key = string(key.as_str());
        if !verbose {
            return format!(r#"{{"key":{key}}}"#);
        }
        let metadata = metadata(entry);
        format!(r#"{{"key":{key},"size_bytes":{},{}"#, entry.value.as_str().len(), &metadata[1..])
    };
    let damaged = if listing.damaged.is_empty() {
        String::new()
    } else {
        let one = |(key, why): &(String, String)| format!(r#"{{"key":{},"why":{}}}"#, string(key), string(why));
        format!(r#","damaged":{}"#, list(listing.damaged.iter().map(one)))
    };
    let (bank, scope) = (string(bank.as_str()), listing.scope);
    format!(r#"{{"bank":{bank},"scope":"{scope}","keys":{}{damaged}}}"#, list(listing.entries.iter().map(one)))
}

/// Writes what a query put out: `{results: [VALUE…]}`.
pub fn queried(values: &[JsonText]) -> String {
    format!(r#"{{"results":{}}}"#, list(values.iter().map(ToString::to_string)))
}

/// Writes what was found: `{matches: [{bank, key, scope, matched, updated_at, value?}], total, unreadable?}`; `matched` is `key` or
/// `value`, and the value is there if values were searched.
pub fn matches(found: &Matches, searched: Searched) -> String {
    let one = |found: &memory_core::bank::Match| {
        let (bank, key, scope) = (string(found.bank.as_str()), string(found.key.as_str()), found.scope);
        let matched = if found.by_key { "key" } else { "value" };
        let value = match searched {
            Searched::Keys => String::new(),
            Searched::Values => format!(r#","value":{}"#, found.entry.value),
        };
        let updated = moment(found.entry.updated_at);
        format!(r#"{{"bank":{bank},"key":{key},"scope":"{scope}","matched":"{matched}","updated_at":{updated}{value}}}"#)
    };
    let (total, unreadable) = (found.matches.len(), unreadable(&found.unreadable));
    format!(r#"{{"matches":{},"total":{total}{unreadable}}}"#, list(found.matches.iter().map(one)))
}

/// Writes what was taken away: `{removed: [{bank, key, scope, reason}], total, dry_run, unreadable?}`; the reason is `expired` or `old`.
pub fn collected(collected: &[Collected], unreadable_banks: &[BankError], dry_run: bool) -> String {
    let one = |one: &Collected| {
        let (bank, key, scope) = (string(one.bank.as_str()), string(one.key.as_str()), one.scope);
        let reason = match one.why {
            Gone::Expired => "expired",
            Gone::Old => "old",
        };
        format!(r#"{{"bank":{bank},"key":{key},"scope":"{scope}","reason":"{reason}"}}"#)
    };
    let (total, unreadable) = (collected.len(), unreadable(unreadable_banks));
    format!(r#"{{"removed":{},"total":{total},"dry_run":{dry_run}{unreadable}}}"#, list(collected.iter().map(one)))
}

/// Writes what a check found: `{damage: [{bank, scope, key?, what, repaired, set_aside?}], total}`.
pub fn checked(checked: &[Checked]) -> String {
    let one = |Checked { scope, damage }: &Checked| {
        let text = |name: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |value| format!(r#","{name}":{}"#, string(value)))
        };
        let (bank, what, repaired) = (string(&damage.bank), string(&damage.what), damage.repaired);
        let (key, aside) = (text("key", &damage.key), text("set_aside", &damage.set_aside));
        format!(r#"{{"bank":{bank},"scope":"{scope}"{key},"what":{what},"repaired":{repaired}{aside}}}"#)
    };
    format!(r#"{{"damage":{},"total":{}}}"#, list(checked.iter().map(one)), checked.len())
}

/// Writes what an import did: `{success: true, bank, scope, created, updated, unchanged}`.
pub fn imported(bank: &BankName, report: &ImportReport) -> String {
    let ImportReport { scope, created, updated, unchanged } = report;
    let bank = string(bank.as_str());
    format!(
        r#"{{"success":true,"bank":{bank},"scope":"{scope}","created":{created},"updated":{updated},"unchanged":{unchanged}}}"#
    )
}

/// Writes the schema of a bank: `{bank, scope, schema}`; `null` if it has none.
pub fn schema(bank: &BankName, scope: BankScope, schema: Option<&JsonText>) -> String {
    let (bank, schema) = (string(bank.as_str()), schema.map_or("null", JsonText::as_str));
    format!(r#"{{"bank":{bank},"scope":"{scope}","schema":{schema}}}"#)
}

/// Writes what was taken back: `{operation, undone: {operation, at, verb, by, files, bank, scope, keys}}`.
pub fn undone(undone: &BankUndone) -> String {
    let record = super::bank_record(&Logged::Bank(undone.scope, undone.record.clone()));
    format!(r#"{{"operation":"{}","undone":{record}}}"#, undone.undo)
}

/// Writes what went wrong: `{"error": {code, message, bank?, key?, scope?, hint?}}`.
pub fn error(error: &BankError) -> String {
    format!(r#"{{"error":{}}}"#, inner_error(error))
}

fn inner_error(error: &BankError) -> String {
    let message = with_causes(error);
    let scope = error.scope.map(|scope| scope.as_str().to_owned());
    let parts = [("bank", error.bank.clone()), ("key", error.key.clone()), ("scope", scope), ("hint", error.hint())];
    let parts: String =
        parts.iter().filter_map(|(name, value)| Some(format!(r#","{name}":{}"#, string(value.as_ref()?)))).collect();
    format!(r#"{{"code":"{}","message":{}{parts}}}"#, error.code(), string(&message))
}

fn unreadable(errors: &[BankError]) -> String {
    if errors.is_empty() {
        return String::new();
    }
    format!(r#","unreadable":{}"#, list(errors.iter().map(inner_error)))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn string(text: &str) -> String {
    JsonText::string(text).to_string()
}

fn moment(moment: DateTime<Utc>) -> String {
    format!("\"{}\"", moment.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}
