//! The index of the entries of large banks: `_index.json`.
//!
//! The index is a cache. A section is used only if the signature of the bank file matches, and it only contains positions: the
//! entry is read from the bank file and must have the key. So a wrong index costs time, but never returns a wrong entry.
//!
//! The file is one JSON document with one line per key, so that a key is found without parsing the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use memory_core::bank::Key;
use memory_core::json::JsonText;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::file::BankFile;
use super::gzip::{self, GzipMember};
use super::layout::{BankLayout, EntryLayout, parse_entry_layout};
use crate::disk::{Disk, FileStat};
use crate::lock::WriterLock;

/// The minimum size in bytes of a bank in the index.
pub(super) const WORTHWHILE: usize = 256 * 1024;

pub(super) const PATH: &str = "_index.json";
pub(super) const TEMP_FILE: &str = ".index.tmp";
/// The name of the lock of the index; no bank can have this name.
const LOCK: &str = "_index";
const VERSION: u32 = 1;

/// The maximum size in bytes of an index file.
const MAX_INDEX: usize = 64 * 1024 * 1024;

/// The index file: the section of each bank, by the path of its file.
#[derive(Deserialize)]
struct BankIndexFile<'i> {
    version: u32,
    #[serde(borrow)]
    banks: BTreeMap<Cow<'i, str>, &'i RawValue>,
}

/// The section of a bank.
#[derive(Deserialize)]
struct BankIndexSection<'i> {
    size: u64,
    modified_ns: i64,
    changed_ns: i64,
    inode: u64,
    /// For each member: the offset in the text, the offset in the file, and the length in the file.
    members: Vec<(usize, usize, usize)>,
    /// The offset and the length of each entry, by its key: one line per key.
    #[serde(borrow)]
    keys: &'i RawValue,
}

fn read_index(disk: &dyn Disk) -> Option<String> {
    String::from_utf8(disk.read_part(PATH, 0, MAX_INDEX).ok()?).ok()
}

fn parse_index(index: &str) -> Option<BankIndexFile<'_>> {
    let file: BankIndexFile<'_> = serde_json::from_str(index).ok()?;
    (file.version == VERSION).then_some(file)
}

fn find_section<'i>(index: &'i str, path: &str) -> Option<BankIndexSection<'i>> {
    let section = *parse_index(index)?.banks.get(path)?;
    serde_json::from_str(section.get()).ok()
}

/// Looks up an entry in the index. `None` means that the index cannot be used.
pub(super) fn lookup_entry(
    disk: &dyn Disk,
    path: &str,
    signature: &FileStat,
    key: &Key,
) -> Option<(String, EntryLayout)> {
    let index = read_index(disk)?;
    let section = find_section(&index, path)?;
    if !section.matches_file(signature) {
        return None;
    }
    let (wanted, keys) = (
        format!("\n{}:[", JsonText::string(key.as_str())),
        section.keys.get(),
    );
    let at = keys.find(&wanted)? + wanted.len();
    let (start, rest) = keys[at..].split_once(',')?;
    let length = rest.split_once(']')?.0;
    let (start, length): (usize, usize) = (start.parse().ok()?, length.parse().ok()?);
    let text = read_range(
        disk,
        path,
        &section.members,
        start..start.checked_add(length)?,
    )?;
    let item = parse_entry_layout(&text).ok()?;
    (item.key == key.as_str()).then_some((text, item))
}

/// Returns the keys in the index of a bank, each with the length of its entry.
///
/// The list is empty if the bank is not in the index. It may describe an earlier version of the file.
pub(super) fn indexed_keys(disk: &dyn Disk, path: &str) -> Vec<(String, usize)> {
    let index = read_index(disk).unwrap_or_default();
    let keys = find_section(&index, path)
        .and_then(|section| serde_json::from_str::<Map<String, Value>>(section.keys.get()).ok());
    let length = |place: Value| usize::try_from(place.get(1)?.as_u64()?).ok();
    keys.into_iter()
        .flatten()
        .filter_map(|(key, place)| Some((key, length(place)?)))
        .collect()
}

/// Updates the index for `bank`, or removes `bank` if it is not large.
///
/// Nothing depends on success, so errors are ignored.
pub(super) fn update(disk: &dyn Disk, bank: &BankFile, layout: &BankLayout) {
    // Writers of other banks also update the index. If its lock is held, this update is skipped; the next reader of the bank does
    // it.
    let Ok(_lock) = WriterLock::try_acquire_named(disk, LOCK) else {
        return;
    };
    let former = read_index(disk).unwrap_or_default();
    let own = (WORTHWHILE <= bank.text.len()).then(|| format_section(bank, layout));
    let mut sections: BTreeMap<Cow<'_, str>, &str> = parse_index(&former)
        .into_iter()
        .flat_map(|file| file.banks)
        .map(|(path, section)| (path, section.get()))
        .collect();
    match &own {
        Some(own) => drop(sections.insert(Cow::Borrowed(&bank.path), own)),
        None if sections.remove(bank.path.as_str()).is_none() => return,
        None => {}
    }
    sections.retain(|path, _| matches!(disk.stat(path), Ok(Some(_))));
    let sections: Vec<_> = sections
        .iter()
        .map(|(path, section)| format!("{}:{section}", JsonText::string(path)))
        .collect();
    let text = format!(
        "{{\"version\":{VERSION},\"banks\":{{\n{}\n}}}}\n",
        sections.join(",\n")
    );
    if disk.write(TEMP_FILE, text.as_bytes()).is_ok() {
        let _ = disk.rename(TEMP_FILE, PATH);
    }
}

fn format_section(bank: &BankFile, layout: &BankLayout) -> String {
    let FileStat {
        size,
        modified_ns,
        changed_ns,
        inode,
        ..
    } = bank.signature;
    let members: Vec<_> = bank
        .members
        .iter()
        .map(|GzipMember { text, file }| (text.start, file.start, file.len()))
        .collect();
    let members = serde_json::to_string(&members).unwrap_or_default();
    let mut text = format!(
        "{{\"size\":{size},\"modified_ns\":{modified_ns},\"changed_ns\":{changed_ns},\"inode\":{inode},\"members\":{members},\"keys\":{{"
    );
    for (index, item) in layout.items.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let (key, start, length) = (
            JsonText::string(&item.key),
            item.range.start,
            item.range.len(),
        );
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}\n{key}:[{start},{length}]");
    }
    text.push_str("\n}}");
    text
}

impl BankIndexSection<'_> {
    fn matches_file(&self, signature: &FileStat) -> bool {
        let FileStat {
            size,
            modified_ns,
            changed_ns,
            inode,
            ..
        } = *signature;
        (self.size, self.modified_ns, self.changed_ns, self.inode)
            == (size, modified_ns, changed_ns, inode)
    }
}

/// Reads a range of a bank's text, decompressing only the members that contain it.
fn read_range(
    disk: &dyn Disk,
    path: &str,
    members: &[(usize, usize, usize)],
    wanted: Range<usize>,
) -> Option<String> {
    if members.is_empty() {
        let bytes = disk
            .read_part(path, u64::try_from(wanted.start).ok()?, wanted.len())
            .ok()?;
        return String::from_utf8(bytes)
            .ok()
            .filter(|text| text.len() == wanted.len());
    }
    let first = members
        .iter()
        .rposition(|&(text, ..)| text <= wanted.start)?;
    let mut text = Vec::new();
    let (begin, ..) = members[first];
    for &(start, file, length) in &members[first..] {
        if wanted.end <= start {
            break;
        }
        let bytes = disk
            .read_part(path, u64::try_from(file).ok()?, length)
            .ok()?;
        text.extend(gzip::decompress(&bytes).ok()?.0);
    }
    String::from_utf8(text.get(wanted.start - begin..wanted.end - begin)?.to_vec()).ok()
}
