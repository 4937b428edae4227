//! Detects and repairs damaged banks.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use chrono::{DateTime, Utc};
use memory_core::bank::{BankDamage, BankError, BankName, Key};
use memory_core::{ContentHash, Operation};

use super::change::{self, BankWriter, FORMER_WAITING};
use super::edit::{self, BankTextEdit, ItemEdit};
use super::file::{self, BankFile, BankFileFormat};
use super::folder::WritableBankFolder;
use super::layout::{BankLayout, parse_layout};
use super::salvage::{SalvagedEntry, intact_value_message, repair_entry, salvage};
use super::trash::{self, BankFileLine, BankPayload};
use super::{decode, gzip, index};
use crate::disk::{DirEntryKind, Disk};
use crate::error::io_error;
use crate::oplog::hash_bytes;

/// Checks banks for damage, without changes.
pub(super) fn check(
    disk: &dyn Disk,
    name: Option<&BankName>,
) -> Result<Vec<BankDamage>, BankError> {
    Ok(find_damage(disk, name)?
        .into_iter()
        .flat_map(|finding| finding.damage)
        .collect())
}

/// Rewrites each damaged bank with its readable parts, and renames the damaged file.
///
/// The caller holds the lock of the folder.
pub(super) fn repair(
    place: WritableBankFolder<'_>,
    name: Option<&BankName>,
    operation: &Operation,
) -> Result<Vec<BankDamage>, BankError> {
    let disk = place.disk;
    let mut told = Vec::new();
    for mut finding in find_damage(disk, name)? {
        let aside = apply_repair(place, &finding.cure, operation)?;
        for damage in &mut finding.damage {
            damage.repaired = aside.is_some();
            damage.set_aside.clone_from(&aside);
        }
        told.extend(finding.damage);
    }
    Ok(told)
}

/// Applies a cure, and returns the new path of the damaged file, or `None` if nothing was changed.
fn apply_repair(
    place: WritableBankFolder<'_>,
    cure: &BankRepair,
    operation: &Operation,
) -> Result<Option<String>, BankError> {
    match cure {
        BankRepair::None => Ok(None),
        BankRepair::SetAside(path) => set_aside(place.disk, path, operation).map(Some),
        BankRepair::Rewrite { bank, found, text } => {
            rewrite_bank(place, bank, found, text, operation)
        }
    }
}

/// The damage of one file, and its cure.
#[derive(Debug)]
struct BankFinding {
    damage: Vec<BankDamage>,
    cure: BankRepair,
}

impl BankFinding {
    /// Returns a finding about a whole file.
    fn of_file(bank: &str, what: String, cure: BankRepair) -> Self {
        Self {
            damage: vec![describe_damage(bank, None, what)],
            cure,
        }
    }
}

fn describe_damage(bank: &str, key: Option<String>, what: String) -> BankDamage {
    BankDamage {
        bank: bank.to_owned(),
        key,
        what,
        set_aside: None,
        repaired: false,
    }
}

#[derive(Debug)]
enum BankRepair {
    None,
    /// Rename this file.
    SetAside(String),
    /// Replace the text of the bank, if the bytes of its file are unchanged.
    Rewrite {
        bank: BankName,
        found: ContentHash,
        text: String,
    },
}

fn find_damage(disk: &dyn Disk, name: Option<&BankName>) -> Result<Vec<BankFinding>, BankError> {
    let mut entries = disk
        .list_folder("")
        .map_err(file::read_error("the folder"))?;
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let mut findings = Vec::new();
    let unfinished = |bank: &str, path: &str| {
        BankFinding::of_file(
            bank,
            format!("{path} is an unfinished temporary file"),
            BankRepair::SetAside(path.to_owned()),
        )
    };
    for entry in &entries {
        let path = &entry.name;
        // The next writer handles our own temporary files; those of other programs have the name of their bank.
        if let Some(bank) = path
            .strip_suffix(".json.tmp")
            .filter(|bank| is_selected(bank, name))
        {
            findings.push(unfinished(bank, path));
        }
        let Some((bank, kind)) =
            BankFileFormat::parse_path(path).filter(|(bank, _)| is_selected(bank, name))
        else {
            continue;
        };
        let foreign = match entry.kind {
            DirEntryKind::File => None,
            DirEntryKind::Folder => Some("folder"),
            DirEntryKind::Other => Some("symlink"),
        };
        if let Some(foreign) = foreign {
            let what = format!("{path} is a {foreign}");
            findings.push(BankFinding::of_file(bank, what, BankRepair::None));
            continue;
        }
        let Ok(bank) = bank.parse::<BankName>() else {
            continue;
        };
        match file::find(disk, bank.as_str())? {
            Some((used, _)) if used != *path => findings.push(BankFinding::of_file(
                bank.as_str(),
                format!("{used} is used instead of {path}"),
                BankRepair::SetAside(path.clone()),
            )),
            _ => findings.extend(check_bank(disk, &bank, kind)?),
        }
    }
    for path in entries
        .iter()
        .filter(|_| name.is_none())
        .map(|entry| &entry.name)
    {
        let bank = change::bank_of_temp_path(path).map(|bank| bank.to_string());
        if let Some(bank) = bank.or_else(|| (path == FORMER_WAITING).then(String::new)) {
            findings.push(unfinished(&bank, path));
        }
    }
    Ok(findings)
}

fn is_selected(bank: &str, name: Option<&BankName>) -> bool {
    bank.parse::<BankName>()
        .is_ok_and(|bank| name.is_none_or(|name| *name == bank))
}

/// Checks one bank.
fn check_bank(
    disk: &dyn Disk,
    bank: &BankName,
    kind: BankFileFormat,
) -> Result<Option<BankFinding>, BankError> {
    let path = kind.path(bank.as_str());
    let bytes = disk
        .read_part(&path, 0, file::MAX_FILE)
        .map_err(file::read_error(&path))?;
    let found = ContentHash::from_bytes(&bytes);
    let signature = disk.stat(&path).map_err(file::read_error(&path))?;
    let written_at = signature.map_or(DateTime::UNIX_EPOCH, |found| {
        DateTime::from_timestamp_nanos(found.modified_ns)
    });
    let told = |key: Option<String>, what: String| describe_damage(bank.as_str(), key, what);
    let (unpacked, remains) = if !gzip::is_gzip(&bytes) && !gzip::has_member(&bytes) {
        (bytes, None)
    } else if let Ok((text, _)) = gzip::decompress(&bytes) {
        (text, None)
    } else {
        let mut remains = gzip::decompress_intact(&bytes);
        (std::mem::take(&mut remains.text), Some(remains))
    };
    let mut damage: Vec<_> = remains
        .iter()
        .flat_map(|remains| describe_damaged_ranges(&path, remains))
        .map(|what| told(None, what))
        .collect();
    let text = String::from_utf8(unpacked).map_err(|error| {
        if remains.is_none() {
            damage.push(told(
                None,
                format!(
                    "{path} is not UTF-8 (byte {})",
                    error.utf8_error().valid_up_to()
                ),
            ));
        }
        error.into_bytes()
    });
    // In well-formed text the valid parts are left unchanged.
    let whole = text.as_ref().ok().filter(|_| remains.is_none());
    let known = whole.and_then(|text| {
        parse_layout(text)
            .map_err(|why| damage.push(told(None, format!("{path}: {why}"))))
            .ok()
            .zip(Some(text))
    });
    if let Some((layout, text)) = known {
        let (faults, edits) = plan_repairs(bank, text, &layout, written_at);
        if faults.is_empty() {
            return Ok(None);
        }
        let damage = faults
            .into_iter()
            .map(|(key, what)| told(key, what))
            .collect();
        return Ok(Some(BankFinding {
            damage,
            cure: BankRepair::Rewrite {
                bank: bank.clone(),
                found,
                text: edit::apply_edits(text, &edits),
            },
        }));
    }
    let bytes = text.map_or_else(|bytes| bytes, String::into_bytes);
    let mut salvaged = salvage(&bytes, written_at);
    damage.extend(
        std::mem::take(&mut salvaged.faults)
            .into_iter()
            .map(|(key, what)| told(key, what)),
    );
    let doubtful = remains.map(|remains| remains.doubtful).unwrap_or_default();
    let lost = lost_keys(disk, bank, &path, &salvaged.items, &doubtful)?;
    let named: HashSet<_> = damage
        .iter()
        .filter_map(|damage| damage.key.clone())
        .collect();
    let lost = lost.into_iter().filter(|key| !named.contains(key));
    damage.extend(lost.map(|key| {
        told(
            Some(key.clone()),
            format!("the entry '{key}' is lost: it is in a damaged part"),
        )
    }));
    Ok(Some(BankFinding {
        damage,
        cure: BankRepair::Rewrite {
            bank: bank.clone(),
            found,
            text: salvaged.into_text(written_at),
        },
    }))
}

/// Returns messages for the parts of a compressed file that cannot be read.
fn describe_damaged_ranges(path: &str, remains: &gzip::RecoveredGzip) -> Vec<String> {
    let last = remains.damaged.len().saturating_sub(1);
    let one = |(index, bytes): (usize, &Range<usize>)| {
        if remains.is_cut && index == last {
            format!("{path} cannot be decompressed to its end")
        } else {
            format!(
                "{path} cannot be decompressed from byte {} to {}",
                bytes.start, bytes.end
            )
        }
    };
    remains.damaged.iter().enumerate().map(one).collect()
}

/// Returns the faults of a bank with well-formed text, and the edits that repair them.
///
/// A fault of a single entry has the key of the entry.
fn plan_repairs(
    bank: &BankName,
    text: &str,
    layout: &BankLayout,
    written_at: DateTime<Utc>,
) -> (Vec<(Option<String>, String)>, Vec<BankTextEdit>) {
    let mut faults: Vec<_> = meta_defect(text, layout.meta.as_ref())
        .map(|what| (None, what))
        .into_iter()
        .collect();
    let found = decode::decode(bank, text, layout, written_at);
    let mut edits = edit::repair_meta(text, layout, written_at);
    let mut gone = Vec::new();
    for (key, why) in found.damaged {
        let item = layout
            .items
            .iter()
            .find(|item| item.key == key)
            .expect("it was read from this layout");
        let mended = key
            .parse::<Key>()
            .ok()
            .and_then(|_| repair_entry(&text[item.range.clone()], found.meta.updated_at).ok());
        if let Some((mended, _)) = mended {
            faults.push((Some(key.clone()), intact_value_message(&key, &why)));
            edits.push(BankTextEdit {
                range: item.range.clone(),
                text: mended,
            });
        } else {
            faults.push((Some(key.clone()), format!("the entry '{key}' {why}")));
            gone.push(ItemEdit::Remove(key));
        }
    }
    edits.extend(edit::removal_edits(text, layout, &gone));
    (faults, edit::sort_edits(edits))
}

/// Returns the keys of entries that a bank had and that are not in `kept`.
///
/// The keys are from the index, or else from the log. If neither is consistent with `kept`, they are the keys that can be read in
/// `doubtful`, the text of the damaged parts.
fn lost_keys(
    disk: &dyn Disk,
    bank: &BankName,
    path: &str,
    kept: &[SalvagedEntry],
    doubtful: &[u8],
) -> Result<Vec<String>, BankError> {
    let kept: HashMap<&str, usize> = kept
        .iter()
        .map(|item| (item.key.as_str(), item.length))
        .collect();
    let indexed = index::indexed_keys(disk, path);
    let lengths: HashMap<&str, usize> = indexed
        .iter()
        .map(|(key, length)| (key.as_str(), *length))
        .collect();
    let known = if !indexed.is_empty()
        && kept
            .iter()
            .all(|(key, length)| lengths.get(key) == Some(length))
    {
        indexed.into_iter().map(|(key, _)| key).collect()
    } else {
        let written = trash::logged_keys(disk, bank)?;
        let is_complete = kept.keys().all(|key| written.contains(*key));
        let readable = || {
            salvage(doubtful, DateTime::UNIX_EPOCH)
                .items
                .into_iter()
                .map(|item| item.key)
                .collect()
        };
        if is_complete && !written.is_empty() {
            written.into_iter().collect()
        } else {
            readable()
        }
    };
    let known: Vec<String> = known;
    Ok(known
        .into_iter()
        .filter(|key| !kept.contains_key(key.as_str()))
        .collect())
}

/// Returns the defect of `_meta`, if any.
fn meta_defect(text: &str, meta: Option<&super::layout::MetaLayout>) -> Option<String> {
    let Some(meta) = meta else {
        return Some("_meta is missing or not an object".to_owned());
    };
    let part = |range: &Option<Range<usize>>| range.clone().map(|range| &text[range]);
    if part(&meta.version).is_some_and(|version| version.parse::<u64>().is_err()) {
        return Some("_meta.version is not a number".to_owned());
    }
    let times = [
        ("created_at", &meta.created_at),
        ("updated_at", &meta.updated_at),
    ];
    let wrong = times
        .into_iter()
        .find(|(_, range)| part(range).and_then(decode::parse_time).is_none());
    wrong.map(|(name, _)| format!("_meta.{name} is not a valid time"))
}

fn set_aside(disk: &dyn Disk, path: &str, operation: &Operation) -> Result<String, BankError> {
    let aside = damaged_path(path, operation);
    let moved = disk
        .rename(path, &aside)
        .and_then(|()| disk.sync_folder(""));
    moved.map_err(|error| BankError::from(io_error(format!("set {path} aside"), error)))?;
    Ok(aside)
}

fn damaged_path(path: &str, operation: &Operation) -> String {
    format!("{}.damaged-{}", path.trim_start_matches('.'), operation.id)
}

/// Replaces the text of a bank by the repaired one.
///
/// Returns `None`, and changes nothing, if a program that takes no lock has changed the file since the check.
fn rewrite_bank(
    place: WritableBankFolder<'_>,
    bank: &BankName,
    found: &ContentHash,
    text: &str,
    operation: &Operation,
) -> Result<Option<String>, BankError> {
    let disk = place.disk;
    let Some((path, signature)) = file::find(disk, bank.as_str())? else {
        return Ok(None);
    };
    let told = |error| BankError::from(io_error(format!("set {path} aside"), error));
    let bytes = disk
        .read_part(&path, 0, file::MAX_FILE)
        .map_err(file::read_error(&path))?;
    if ContentHash::from_bytes(&bytes) != *found {
        return Ok(None);
    }
    let aside = damaged_path(&path, operation);
    disk.hard_link(&path, &aside)
        .and_then(|()| disk.sync_folder(""))
        .map_err(told)?;
    let work = BankWriter {
        place,
        name: bank,
        operation,
    };
    let layout = parse_layout(text).map_err(|why| file::damaged_error(&path, &why.to_string()))?;
    let kind = work.file_format(text.len());
    let next = change::encode_file(kind, None, &[], text, &layout).map_err(told)?;
    let file = Some(BankFileLine {
        path: path.clone(),
        trash: Some(aside.clone()),
        after: Some(hash_bytes(&next)),
    });
    let payload = BankPayload {
        file,
        ..BankPayload::new(bank)
    };
    let former = BankFile::from_bytes(path.clone(), signature, bytes);
    let next_path = kind.path(bank.as_str());
    if !work.replace(
        payload,
        None,
        Some(&former),
        Some(&aside),
        &next_path,
        &next,
    )? {
        disk.remove(&aside).map_err(told)?;
        return Ok(None);
    }
    work.update_index(&next_path, next, text.to_owned(), &layout);
    Ok(Some(aside))
}

#[cfg(test)]
mod tests {
    use memory_core::{OperationId, Verb};

    use super::super::BankOptions;
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn a_bank_that_changed_since_it_was_looked_at_is_not_repaired() {
        let home = tempfile::tempdir().unwrap();
        let (disk, options) = (RealDisk::open(home.path()).unwrap(), BankOptions::default());
        let place = WritableBankFolder {
            disk: &disk,
            root: home.path(),
            options: &options,
        };
        let operation = Operation {
            id: OperationId::from_random(1),
            verb: Verb::Repair,
            by: "test".into(),
            at: DateTime::UNIX_EPOCH,
        };
        let path = home.path().join("session.json");
        std::fs::write(&path, "{\"entries\":{\"a\":{\"value\":1}").unwrap();
        let finding = find_damage(&disk, None).unwrap().remove(0);
        let whole = "{\"entries\":{\"a\":{\"value\":2}}}";
        std::fs::write(&path, whole).unwrap();
        assert_eq!(
            apply_repair(place, &finding.cure, &operation).unwrap(),
            None
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            apply_repair(place, &finding.cure, &operation).unwrap(),
            None
        );
        assert_eq!(
            std::fs::read_dir(home.path()).unwrap().count(),
            0,
            "nothing was set aside"
        );
    }
}
