//! Seeing to damaged banks.

use chrono::{DateTime, Utc};
use memory_core::ContentHash;
use memory_core::bank::{BankError, BankName, BankOperation, Damage};

use super::change::{WAITING, Work};
use super::edit::{self, BankEdit, ItemEdit, SchemaEdit};
use super::file::{self, BankFile, Kind};
use super::layout::layout;
use super::salvage::{Salvage, salvage};
use super::trash::{FileLine, Line};
use super::{BankOptions, decode, gzip};
use crate::disk::{Disk, EntryKind};
use crate::error::io_error;

/// Looks for damage, and changes nothing.
pub(super) fn check(disk: &dyn Disk, name: Option<&BankName>) -> Result<Vec<Damage>, BankError> {
    Ok(findings(disk, name)?.into_iter().flat_map(|finding| finding.damage).collect())
}

/// Keeps what can be read of each damaged bank, and sets its file aside beside it. The caller holds the lock.
pub(super) fn repair(
    disk: &dyn Disk,
    options: &BankOptions,
    name: Option<&BankName>,
    operation: &BankOperation,
) -> Result<Vec<Damage>, BankError> {
    let mut told = Vec::new();
    for mut finding in findings(disk, name)? {
        let aside = match &finding.cure {
            Cure::None => None,
            Cure::SetAside(path) => Some(set_aside(disk, path, operation)?),
            Cure::Rewrite(bank, text) => Some(rewrite(disk, options, bank, text, operation)?),
        };
        for damage in &mut finding.damage {
            damage.repaired = aside.is_some();
            damage.set_aside.clone_from(&aside);
        }
        told.extend(finding.damage);
    }
    Ok(told)
}

/// What is wrong with one file, and what helps.
#[derive(Debug)]
struct Finding {
    damage: Vec<Damage>,
    cure: Cure,
}

#[derive(Debug)]
enum Cure {
    None,
    /// This file goes out of the way.
    SetAside(String),
    /// The bank becomes this text.
    Rewrite(BankName, String),
}

fn findings(disk: &dyn Disk, name: Option<&BankName>) -> Result<Vec<Finding>, BankError> {
    let mut entries = disk.folder("").map_err(|error| file::refused("the folder", error))?;
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let mut findings = Vec::new();
    let told = |bank: &str, what: String| Damage { bank: bank.to_owned(), key: None, what, set_aside: None, repaired: false };
    for entry in &entries {
        // Our own is seen to by the next writer; those of other programs are named after their bank.
        if let Some(bank) = entry.name.strip_suffix(".json.tmp").filter(|bank| is_wanted(bank, name)) {
            let damage = vec![told(bank, format!("{} was never finished", entry.name))];
            findings.push(Finding { damage, cure: Cure::SetAside(entry.name.clone()) });
        }
        let Some((bank, kind)) = Kind::name_in(&entry.name).filter(|(bank, _)| is_wanted(bank, name)) else { continue };
        match entry.kind {
            EntryKind::File => {}
            EntryKind::Folder => {
                findings.push(Finding { damage: vec![told(bank, format!("{} is a folder", entry.name))], cure: Cure::None });
                continue;
            }
            EntryKind::Other => {
                findings.push(Finding { damage: vec![told(bank, format!("{} is a symlink", entry.name))], cure: Cure::None });
                continue;
            }
        }
        let Ok(bank) = bank.parse::<BankName>() else { continue };
        match file::find(disk, bank.as_str())? {
            Some((path, _)) if path != entry.name => {
                let damage = vec![told(bank.as_str(), format!("{path} takes the place of {}", entry.name))];
                findings.push(Finding { damage, cure: Cure::SetAside(entry.name.clone()) });
            }
            _ => findings.extend(finding(disk, &bank, kind)?),
        }
    }
    if name.is_none() && disk.signature(WAITING).is_ok_and(|found| found.is_some()) {
        findings.push(Finding {
            damage: vec![told("", format!("{WAITING} was never finished"))],
            cure: Cure::SetAside(WAITING.into()),
        });
    }
    Ok(findings)
}

fn is_wanted(bank: &str, name: Option<&BankName>) -> bool {
    bank.parse::<BankName>().is_ok_and(|bank| name.is_none_or(|name| *name == bank))
}

/// Looks at one bank.
fn finding(disk: &dyn Disk, bank: &BankName, kind: Kind) -> Result<Option<Finding>, BankError> {
    let path = kind.path(bank.as_str());
    let read = |path: &str| disk.read_part(path, 0, file::MAX_FILE).map_err(|error| file::refused(path, error));
    let bytes = read(&path)?;
    let signature = disk.signature(&path).map_err(|error| file::refused(&path, error))?;
    let written_at = signature.map_or(DateTime::UNIX_EPOCH, |found| DateTime::from_timestamp_nanos(found.modified_ns));
    let mut what = Vec::new();
    let unpacked = if gzip::is_gzip(&bytes) {
        let (text, is_whole) = gzip::unpack_what_can_be(&bytes);
        if !is_whole {
            what.push(format!("{path} cannot be unpacked to its end"));
        }
        text
    } else {
        bytes
    };
    let text = String::from_utf8(unpacked).map_err(|error| {
        what.push(format!("{path} is not UTF-8 (byte {})", error.utf8_error().valid_up_to()));
        error.into_bytes()
    });
    let known = text.as_ref().ok().and_then(|text| layout(text).map_err(|why| what.push(format!("{path}: {why}"))).ok());
    let mut damage: Vec<_> = Vec::new();
    let told = |key: Option<String>, what: String| Damage { bank: bank.to_string(), key, what, set_aside: None, repaired: false };
    if let (Some(layout), Ok(text)) = (&known, &text) {
        let found = decode::decode(bank, text, layout, written_at);
        damage.extend(found.damaged.into_iter().map(|(key, why)| told(Some(key.clone()), format!("the entry '{key}' {why}"))));
        what.extend(wrong_meta(text, layout.meta.as_ref()));
    }
    if what.is_empty() && damage.is_empty() {
        return Ok(None);
    }
    damage.splice(0..0, what.into_iter().map(|what| told(None, what)));
    if let (Some(layout), Ok(text)) = (&known, &text) {
        // Where everything is, is known: what is well stays as it is.
        let gone = damage.iter().filter_map(|damage| damage.key.clone()).map(ItemEdit::Remove);
        let mut edits = edit::removals(text, layout, &gone.collect::<Vec<_>>());
        if wrong_meta(text, layout.meta.as_ref()).is_some() {
            edits.push(edit::fresh_meta(text, layout, written_at));
            edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        }
        return Ok(Some(Finding { damage, cure: Cure::Rewrite(bank.clone(), edit::apply(text, &edits)) }));
    }
    let bytes = match text {
        Ok(text) => text.into_bytes(),
        Err(bytes) => bytes,
    };
    let Salvage { items, meta, lost } = salvage(&bytes, written_at);
    damage.extend(lost.into_iter().map(|(key, why)| told(key, why)));
    let text = mended(&meta, items, written_at);
    Ok(Some(Finding { damage, cure: Cure::Rewrite(bank.clone(), text) }))
}

/// Tells what is wrong with what a bank says of itself.
fn wrong_meta(text: &str, meta: Option<&super::layout::Meta>) -> Option<String> {
    let Some(meta) = meta else { return Some("_meta is missing, or no object".to_owned()) };
    let part = |range: &Option<std::ops::Range<usize>>| range.clone().map(|range| &text[range]);
    if part(&meta.version).is_some_and(|version| version.parse::<u64>().is_err()) {
        return Some("_meta.version is no number".to_owned());
    }
    let is_time = |text: &str| memory_core::json::unquoted(text).is_some_and(|text| DateTime::parse_from_rfc3339(&text).is_ok());
    let times = [("created_at", &meta.created_at), ("updated_at", &meta.updated_at)];
    let wrong = times.into_iter().find(|(_, range)| !part(range).is_some_and(is_time));
    wrong.map(|(name, _)| format!("_meta.{name} is no time"))
}

/// Returns the text of a bank out of what was kept.
fn mended(meta: &super::salvage::Kept, items: Vec<(String, String)>, at: DateTime<Utc>) -> String {
    let text = edit::new_bank(meta.created_at.unwrap_or(at));
    let known = layout(&text).expect("a new bank is one");
    let items = items.into_iter().map(|(key, text)| ItemEdit::PutText(key, text, None)).collect();
    let edit = BankEdit { items, schema: SchemaEdit::to(meta.schema.clone()) };
    let planned = edit::plan(&text, &known, &edit, meta.updated_at.unwrap_or(at));
    edit::apply(&text, &planned)
}

fn set_aside(disk: &dyn Disk, path: &str, operation: &BankOperation) -> Result<String, BankError> {
    let aside = aside_path(path, operation);
    let moved = disk.rename(path, &aside).and_then(|()| disk.sync_folder(""));
    moved.map_err(|error| BankError::from(io_error(format!("set {path} aside"), error)))?;
    Ok(aside)
}

fn aside_path(path: &str, operation: &BankOperation) -> String {
    format!("{}.damaged-{}", path.trim_start_matches('.'), operation.id)
}

fn rewrite(
    disk: &dyn Disk,
    options: &BankOptions,
    bank: &BankName,
    text: &str,
    operation: &BankOperation,
) -> Result<String, BankError> {
    let Some((path, signature)) = file::find(disk, bank.as_str())? else { return Ok(String::new()) };
    let told = |error| BankError::from(io_error(format!("set {path} aside"), error));
    let bytes = disk.read_part(&path, 0, file::MAX_FILE).map_err(|error| file::refused(&path, error))?;
    let aside = aside_path(&path, operation);
    disk.keep(&path, &aside).and_then(|()| disk.sync_folder("")).map_err(told)?;
    let work = Work { disk, options, name: bank, operation };
    let kind = work.kind(text.len());
    let next = match kind {
        Kind::Plain => text.as_bytes().to_vec(),
        Kind::Packed => gzip::pack(text.as_bytes(), &[]).map_err(told)?,
    };
    let mut line = Line::of(operation, bank);
    line.file =
        Some(FileLine { path: path.clone(), trash: Some(aside.clone()), after: Some(ContentHash::of_bytes(&next).to_string()) });
    let former = BankFile { path, signature, text: String::new(), packed: Some(bytes), members: Vec::new() };
    work.replace(line, Some(&former), &kind.path(bank.as_str()), &next)?;
    Ok(aside)
}
