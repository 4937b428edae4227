//! The JSON of banks.
//!
//! Values may contain numbers that no machine number can represent, so the functions return texts.

use memory_core::bank::{
    Bank, BankEntry, BankError, BankFolders, BankImportReport, BankKeyListing, BankListing,
    BankMatches, BankName, BankQueryResult, BankReadResult, BankScope, BankSearchFields,
    BankWriteResult, GcEntry, GcReason, Key, ScopedBankDamage,
};
use memory_core::json::JsonText;
use memory_core::secret::without_secrets;
use memory_core::text::format_error_chain;

use super::quoted_time;

/// Returns the JSON of an entry.
///
/// `{value, metadata: {created_at, updated_at, ttl?, expires_at?}, folder?, also_in?: [{scope, folder}]}`; the last two
/// if other folders have a bank of the same name.
pub fn entry(reading: &BankReadResult) -> String {
    let BankReadResult { entry, holders, .. } = reading;
    format!(
        r#"{{"value":{},"metadata":{}{}}}"#,
        entry.value,
        metadata(entry),
        other_folders(holders)
    )
}

/// Like [`entry`], with the `bank`, `key` and `scope` of the entry, and `size_bytes` in its metadata.
pub fn full_entry(bank: &BankName, key: &Key, reading: &BankReadResult) -> String {
    let BankReadResult {
        scope,
        entry,
        holders,
    } = reading;
    let (bank, key, metadata) = (
        json_string(bank.as_str()),
        json_string(key.as_str()),
        metadata(entry),
    );
    let (size, metadata) = (entry.value.as_str().len(), metadata.trim_end_matches('}'));
    format!(
        r#"{{"bank":{bank},"key":{key},"scope":"{scope}","value":{},"metadata":{metadata},"size_bytes":{size}}}{}}}"#,
        entry.value,
        other_folders(holders)
    )
}

/// Returns the JSON of a default value for a missing entry: `{value, metadata: null}`.
pub fn default_entry(value: &JsonText) -> String {
    format!(r#"{{"value":{value},"metadata":null}}"#)
}

fn metadata(entry: &BankEntry) -> String {
    let (created, updated) = (quoted_time(entry.created_at), quoted_time(entry.updated_at));
    let ttl = entry
        .ttl
        .map_or_else(String::new, |seconds| format!(r#","ttl":{seconds}"#));
    let expires = entry.expires_at().map_or_else(String::new, |end| {
        format!(r#","expires_at":{}"#, quoted_time(end))
    });
    format!(r#"{{"created_at":{created},"updated_at":{updated}{ttl}{expires}}}"#)
}

/// Returns a whole bank in its file format.
///
/// `{_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}`.
pub fn bank(bank: &Bank) -> String {
    memory_core::bank::render_document(bank)
}

/// Like [`bank`], with the other folders that have a bank of the same name.
pub fn bank_with_folders(found: &Bank, holders: &BankFolders) -> String {
    let mut text = bank(found);
    text.pop();
    format!("{text}{}}}", other_folders(holders))
}

/// Like [`bank_with_folders`], with a `warning` that lists damaged entries.
pub fn bank_with_warning(found: &Bank, holders: &BankFolders) -> String {
    let mut text = bank_with_folders(found, holders);
    if found.damaged.is_empty() {
        return text;
    }
    text.pop();
    let faults: Vec<_> = found
        .damaged
        .iter()
        .map(|(key, why)| format!("the entry '{key}' {why}"))
        .collect();
    let warning = format!("the result may be incomplete: {}", faults.join(", "));
    format!(r#"{text},"warning":{}}}"#, json_string(&warning))
}

/// Like [`bank_with_folders`], with `bank`, `scope` and `size_bytes`, the total size of the values.
pub fn bank_with_size(scope: BankScope, found: &Bank, holders: &BankFolders) -> String {
    let mut text = bank_with_folders(found, holders);
    text.pop();
    let (name, size) = (json_string(found.name.as_str()), total_size(found));
    format!(r#"{text},"bank":{name},"scope":"{scope}","size_bytes":{size}}}"#)
}

fn total_size(bank: &Bank) -> usize {
    bank.entries
        .iter()
        .map(|(_, entry)| entry.value.as_str().len())
        .sum()
}

/// Returns the members for banks of the same name, or nothing if there are none.
///
/// The members are `,folder, also_in: [{scope, folder}]`.
fn other_folders(holders: &BankFolders) -> String {
    if holders.others.is_empty() {
        return String::new();
    }
    let one = |(scope, folder): &(BankScope, String)| {
        format!(r#"{{"scope":"{scope}","folder":{}}}"#, json_string(folder))
    };
    format!(
        r#","folder":{},"also_in":{}"#,
        json_string(&holders.used),
        json_array(holders.others.iter().map(one))
    )
}

/// Returns the folder of a key, and whether it is the one that is read: `,folder, used`.
///
/// Returns nothing if no other folder has a bank of the same name.
fn folder_members(holders: &BankFolders) -> String {
    if holders.others.is_empty() {
        return String::new();
    }
    format!(
        r#","folder":{},"used":{}"#,
        json_string(&holders.used),
        !holders.is_hidden
    )
}

/// Returns the JSON of several banks: `{banks: {project?: {NAME: BANK}, user: {NAME: BANK}}}`.
pub fn banks<'a>(banks: impl Iterator<Item = (BankScope, &'a BankName, &'a str)>) -> String {
    let mut scopes: Vec<(BankScope, Vec<String>)> = Vec::new();
    for (scope, name, document) in banks {
        let member = format!("{}:{document}", json_string(name.as_str()));
        match scopes.last_mut() {
            Some((last, members)) if *last == scope => members.push(member),
            _ => scopes.push((scope, vec![member])),
        }
    }
    let scopes: Vec<_> = scopes
        .iter()
        .map(|(scope, members)| format!(r#""{scope}":{{{}}}"#, members.join(",")))
        .collect();
    format!(r#"{{"banks":{{{}}}}}"#, scopes.join(","))
}

/// Returns the JSON of a write: `{success: true, key, bank, scope, operation}`.
///
/// `operation` is `create` or `update`.
pub fn write_result(done: &BankWriteResult) -> String {
    let operation = if done.created { "create" } else { "update" };
    let (key, bank, scope) = (
        json_string(done.key.as_str()),
        json_string(done.bank.as_str()),
        done.scope,
    );
    format!(
        r#"{{"success":true,"key":{key},"bank":{bank},"scope":"{scope}","operation":"{operation}"}}"#
    )
}

/// Returns the JSON of an update: like [`write_result`], with the new `value`.
pub fn update_result(done: &BankWriteResult) -> String {
    let mut text = write_result(done);
    text.pop();
    format!(r#"{text},"value":{}}}"#, done.entry.value)
}

/// Returns the JSON of a deletion: `{success: true, bank, scope, key?, deleted}`.
///
/// `deleted` is `key` or `bank`.
pub fn delete_result(bank: &BankName, key: Option<&Key>, scope: BankScope) -> String {
    let bank = json_string(bank.as_str());
    let (what, key) = match key {
        Some(key) => ("key", format!(r#","key":{}"#, json_string(key.as_str()))),
        None => ("bank", String::new()),
    };
    format!(r#"{{"success":true,"bank":{bank},"scope":"{scope}"{key},"deleted":"{what}"}}"#)
}

/// Returns the JSON of a list of banks.
///
/// `{banks: [{name, scope, key_count, updated_at, size_bytes, folder?, used?} or {name, scope, size_bytes, error}]}`;
/// `folder` and `used` are present if several folders have a bank of the name.
pub fn listings(listings: &[BankListing]) -> String {
    let one = |listing: &BankListing| {
        let (name, scope, size) = (
            json_string(listing.name.as_str()),
            listing.scope,
            listing.size_bytes,
        );
        let place = listing.folder.as_ref().map_or_else(String::new, |folder| {
            format!(
                r#","folder":{},"used":{}"#,
                json_string(folder),
                !listing.is_hidden
            )
        });
        match &listing.state {
            Ok((keys, updated)) => {
                let updated = quoted_time(*updated);
                format!(
                    r#"{{"name":{name},"scope":"{scope}","key_count":{keys},"updated_at":{updated},"size_bytes":{size}{place}}}"#
                )
            }
            Err(error) => {
                format!(
                    r#"{{"name":{name},"scope":"{scope}","size_bytes":{size}{place},"error":{}}}"#,
                    inner_error(error, error.hint())
                )
            }
        }
    };
    format!(r#"{{"banks":{}}}"#, json_array(listings.iter().map(one)))
}

/// Returns the JSON of the keys of a bank.
///
/// `{bank, scope, keys: [{key, size_bytes?, created_at?, updated_at?, ttl?, expires_at?}], damaged?}`; only with
/// `verbose` does a key have other members.
pub fn keys(bank: &BankName, listing: &BankKeyListing, verbose: bool) -> String {
    let (bank, scope) = (json_string(bank.as_str()), listing.scope);
    let (keys, damaged) = (
        key_items(listing, verbose, false),
        damaged_member([listing]),
    );
    let others = other_folders(&listing.holders);
    format!(
        r#"{{"bank":{bank},"scope":"{scope}","keys":{}{damaged}{others}}}"#,
        json_array(keys.into_iter())
    )
}

/// Returns the JSON of the keys of a bank in all scopes.
///
/// Like [`keys`] with the scope `all`, and each key has its own scope; also `folder` and `used` if several folders have
/// the bank.
pub fn keys_in_all_scopes(bank: &BankName, listings: &[BankKeyListing], verbose: bool) -> String {
    let keys = listings
        .iter()
        .flat_map(|listing| key_items(listing, verbose, true));
    let (bank, damaged) = (json_string(bank.as_str()), damaged_member(listings));
    format!(
        r#"{{"bank":{bank},"scope":"all","keys":{}{damaged}}}"#,
        json_array(keys)
    )
}

fn key_items(listing: &BankKeyListing, verbose: bool, with_place: bool) -> Vec<String> {
    let scope = if with_place {
        format!(
            r#","scope":"{}"{}"#,
            listing.scope,
            folder_members(&listing.holders)
        )
    } else {
        String::new()
    };
    let one = |(key, entry): &(Key, BankEntry)| {
        let key = json_string(key.as_str());
        if !verbose {
            return format!(r#"{{"key":{key}{scope}}}"#);
        }
        let metadata = metadata(entry);
        format!(
            r#"{{"key":{key}{scope},"size_bytes":{},{}"#,
            entry.value.as_str().len(),
            &metadata[1..]
        )
    };
    listing.entries.iter().map(one).collect()
}

fn damaged_member<'a>(listings: impl IntoIterator<Item = &'a BankKeyListing>) -> String {
    let one = |(key, why): &(String, String)| {
        format!(
            r#"{{"key":{},"why":{}}}"#,
            json_string(key),
            json_string(why)
        )
    };
    let damaged: Vec<_> = listings
        .into_iter()
        .flat_map(|listing| &listing.damaged)
        .map(one)
        .collect();
    if damaged.is_empty() {
        String::new()
    } else {
        format!(r#","damaged":[{}]"#, damaged.join(","))
    }
}

/// Returns the JSON of query results: `{results: [VALUE…], folder?, also_in?}`.
///
/// The last two are as in [`entry`].
pub fn query_results(queried: &BankQueryResult) -> String {
    let results = json_array(queried.results.iter().map(ToString::to_string));
    format!(
        r#"{{"results":{results}{}}}"#,
        other_folders(&queried.holders)
    )
}

/// Returns the JSON of search results.
///
/// `{matches: [{bank, key, scope, folder?, used?, matched, updated_at, value?}], total, unreadable?}`; `matched` is
/// `key` or `value`, and `value` is present if values were searched; `folder` and `used` if several folders have the
/// bank.
pub fn search_results(found: &BankMatches, searched: BankSearchFields) -> String {
    let one = |found: &memory_core::bank::BankMatch| {
        let (bank, key, scope) = (
            json_string(found.bank.as_str()),
            json_string(found.key.as_str()),
            found.scope,
        );
        let matched = if found.by_key { "key" } else { "value" };
        let value = match searched {
            BankSearchFields::Keys => String::new(),
            BankSearchFields::Values => format!(r#","value":{}"#, found.entry.value),
        };
        let (updated, place) = (
            quoted_time(found.entry.updated_at),
            folder_members(&found.holders),
        );
        format!(
            r#"{{"bank":{bank},"key":{key},"scope":"{scope}"{place},"matched":"{matched}","updated_at":{updated}{value}}}"#
        )
    };
    let (total, unreadable) = (found.matches.len(), unreadable_member(&found.unreadable));
    format!(
        r#"{{"matches":{},"total":{total}{unreadable}}}"#,
        json_array(found.matches.iter().map(one))
    )
}

/// Returns the JSON of removed entries.
///
/// `{removed: [{bank, key, scope, reason}], total, dry_run, unreadable?}`; `reason` is `expired` or `old`.
pub fn removed_entries(
    collected: &[GcEntry],
    unreadable_banks: &[BankError],
    dry_run: bool,
) -> String {
    let one = |one: &GcEntry| {
        let (bank, key, scope) = (
            json_string(one.bank.as_str()),
            json_string(one.key.as_str()),
            one.scope,
        );
        let reason = match one.why {
            GcReason::Expired => "expired",
            GcReason::Old => "old",
        };
        format!(r#"{{"bank":{bank},"key":{key},"scope":"{scope}","reason":"{reason}"}}"#)
    };
    let (total, unreadable) = (collected.len(), unreadable_member(unreadable_banks));
    format!(
        r#"{{"removed":{},"total":{total},"dry_run":{dry_run}{unreadable}}}"#,
        json_array(collected.iter().map(one))
    )
}

/// Returns the JSON of a check: `{damage: [{bank, scope, key?, what, repaired, set_aside?}], total}`.
pub fn check_report(checked: &[ScopedBankDamage]) -> String {
    let one = |ScopedBankDamage { scope, damage }: &ScopedBankDamage| {
        let text = |name: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |value| {
                format!(r#","{name}":{}"#, json_string(value))
            })
        };
        let (bank, what, repaired) = (
            json_string(&damage.bank),
            json_string(&damage.what),
            damage.repaired,
        );
        let (key, aside) = (
            text("key", &damage.key),
            text("set_aside", &damage.set_aside),
        );
        format!(
            r#"{{"bank":{bank},"scope":"{scope}"{key},"what":{what},"repaired":{repaired}{aside}}}"#
        )
    };
    format!(
        r#"{{"damage":{},"total":{}}}"#,
        json_array(checked.iter().map(one)),
        checked.len()
    )
}

/// Returns the JSON of an import: `{success: true, bank, scope, created, updated, unchanged}`.
pub fn import_report(bank: &BankName, report: &BankImportReport) -> String {
    let BankImportReport {
        scope,
        created,
        updated,
        unchanged,
    } = report;
    let bank = json_string(bank.as_str());
    format!(
        r#"{{"success":true,"bank":{bank},"scope":"{scope}","created":{created},"updated":{updated},"unchanged":{unchanged}}}"#
    )
}

/// Returns the JSON of the schema of a bank: `{bank, scope, schema}`; `null` without a schema.
pub fn schema(bank: &BankName, scope: BankScope, schema: Option<&JsonText>) -> String {
    let (bank, schema) = (
        json_string(bank.as_str()),
        schema.map_or("null", JsonText::as_str),
    );
    format!(r#"{{"bank":{bank},"scope":"{scope}","schema":{schema}}}"#)
}

/// Returns the JSON of an error, with a hint that the caller may have rewritten.
///
/// `{"error": {code, message, bank?, key?, scope?, hint?}}`.
pub fn error(error: &BankError, hint: Option<String>) -> String {
    format!(r#"{{"error":{}}}"#, inner_error(error, hint))
}

fn inner_error(error: &BankError, hint: Option<String>) -> String {
    let message = format_error_chain(error);
    let scope = error.scope.map(|scope| scope.as_str().to_owned());
    let parts = [
        ("bank", error.bank.clone()),
        ("key", error.key.clone()),
        ("scope", scope),
        ("hint", hint),
    ];
    let parts: String = parts
        .iter()
        .filter_map(|(name, value)| {
            Some(format!(
                r#","{name}":{}"#,
                json_string(&without_secrets(value.as_ref()?))
            ))
        })
        .collect();
    format!(
        r#"{{"code":"{}","message":{}{parts}}}"#,
        error.code(),
        json_string(&without_secrets(&message))
    )
}

fn unreadable_member(errors: &[BankError]) -> String {
    if errors.is_empty() {
        return String::new();
    }
    format!(
        r#","unreadable":{}"#,
        json_array(errors.iter().map(|error| inner_error(error, error.hint())))
    )
}

fn json_array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn json_string(text: &str) -> String {
    JsonText::string(text).to_string()
}
