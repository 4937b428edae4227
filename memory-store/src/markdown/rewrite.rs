//! Edits a memory file without changes to its other parts.

use std::ops::Range;

use chrono::TimeDelta;
use memory_core::front_matter::{line_break, split};
use memory_core::yaml::{self, YamlNode};
use memory_core::{MEMORY_KEYS, Memory, Problem};

use super::decode::{ParsedFile, decode};
use super::encode::{entry_lines, inline_value, item_lines, key_lines, last_line_break};
use super::format::{has_foreign_entries, item_texts};
use super::lines::{self, ValueStyle, YamlEntry};
use super::list::{edit_flow, edit_lines};
use super::scalar::{double_quoted, single_quoted};
use super::text::{FileDefect, decode_lossy};
use super::value::{FrontMatterValue, VERSION_BESIDE, value};

const CHANGE_BY_HAND: &str =
    "edit it by hand, or write the front matter as one `key: value` per line";

/// Returns the bytes of a file, changed to represent `after` at `path`.
///
/// `path` may be a new path of the file. Only the lines of keys with a changed value are replaced, in their own style. New keys
/// are appended to the front matter. The id and the dates are written even if they were so far derived from the path and the
/// modification time, because the derived values would change with the next move. The body is replaced only if the content
/// changes.
///
/// # Errors
/// The problem that [`decode`] finds in the file, or the key that cannot be changed without damage to the others.
pub fn rewrite(path: &str, bytes: &[u8], after: &Memory) -> Result<Vec<u8>, Problem> {
    let (text, fault) = decode_lossy(bytes);
    let reading = ParsedFile::of(&text);
    if let Some(fault) = fault {
        return Err(fault.of(path));
    }
    let ParsedFile {
        parts,
        content,
        front,
        fault,
        ..
    } = reading;
    if let Some(fault) = fault {
        return Err(fault.of(path));
    }
    let newline = line_break(&text);
    let body = if content == after.content {
        parts.body.to_owned()
    } else {
        format!(
            "{}{}",
            after.content,
            last_line_break(&after.content, newline)
        )
    };
    let Some(fences) = parts.front else {
        let keys = MEMORY_KEYS
            .iter()
            .map(|key| key_lines(key, &value(key, after), newline))
            .collect::<String>();
        let file = format!("{}---{newline}{keys}---{newline}{body}", parts.mark);
        return verify(path, &file, &[], &[], after)
            .map_err(|key| cannot_change(&key, None).of(path));
    };
    let unreadable = || {
        FileDefect::new(
            2,
            "the front matter has a format that cannot be edited line by line",
            CHANGE_BY_HAND,
        )
        .of(path)
    };
    let entries = lines::find_entries(fences.yaml).ok_or_else(unreadable)?;
    let nodes = spelled_entries(fences.yaml);
    if !entries
        .iter()
        .map(|entry| &entry.key)
        .eq(nodes.iter().map(|(key, _)| key))
    {
        return Err(unreadable());
    }

    let (id, phase, category) = (front.id, front.phase, front.category);
    let (created_at, updated_at) = (front.created_at, front.updated_at);
    let has_foreign_version = front.has_foreign_version;
    let before = front.into_memory(path, content.to_owned(), after.created_at);
    let has = |key: &str| {
        nodes
            .iter()
            .any(|(own, _)| matches!(own, YamlNode::Text(own) if own == key))
    };
    let is_changed = |key: &str| match key {
        "id" => id != Some(after.id),
        "created_at" => created_at != Some(after.created_at),
        "updated_at" => updated_at != Some(after.updated_at),
        // A user who edits the content in place leaves an outdated hash.
        "content_hash" => before.content != after.content || has_outdated_hash(&nodes, after),
        "phase" if has(key) => phase != Some(after.phase),
        "category" if has(key) => category != Some(after.category),
        // Without a due time these keys had no effect; with one they would.
        "reminds" | "notified_at" | "done_at" | "repeats" | "snoozed_from"
            if has(key) && before.reminder.is_none() =>
        {
            after.reminder.is_some()
        }
        _ => value(key, &before) != value(key, after),
    };
    let changes: Vec<FrontMatterChange> = MEMORY_KEYS
        .into_iter()
        .filter(|key| *key != VERSION_BESIDE && is_changed(key))
        .map(|key| FrontMatterChange {
            key,
            spelled: key_in_file(key, has_foreign_version, has),
            value: value(key, after),
        })
        .collect();

    let closing = if fences.closing.ends_with('\n') || body.is_empty() {
        ""
    } else {
        newline
    };
    let assemble = |yaml: &str| {
        format!(
            "{}{}{yaml}{}{closing}{body}",
            parts.mark, fences.opening, fences.closing
        )
    };
    let mut refused = None;
    for care in [EditStrategy::Item, EditStrategy::Value] {
        let Some(yaml) = apply_changes(fences.yaml, &entries, &nodes, &changes, newline, care)
        else {
            continue;
        };
        match verify(path, &assemble(&yaml), &nodes, &changes, after) {
            Ok(file) => return Ok(file),
            Err(key) => refused = Some(key),
        }
    }
    let key = refused.unwrap_or_else(|| "origin".into());
    let line = entries
        .iter()
        .find(|entry| matches!(&entry.key, YamlNode::Text(own) if *own == key))
        .map(|entry| entry.line + 2);
    Err(cannot_change(&key, line).of(path))
}

/// Returns whether the front matter has a SHA-256 hash that does not match the content.
fn has_outdated_hash(nodes: &[(YamlNode, YamlNode)], memory: &Memory) -> bool {
    nodes.iter().any(|entry| {
        let (YamlNode::Text(key), YamlNode::Text(hash)) = entry else {
            return false;
        };
        let is_ours = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        key == "content_hash" && is_ours && *hash != memory.content_hash().to_string()
    })
}

/// A key with its new value.
#[derive(Debug)]
struct FrontMatterChange {
    key: &'static str,
    /// The name of the key in this file.
    spelled: &'static str,
    value: FrontMatterValue,
}

/// The strategies for an edit, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditStrategy {
    /// Remaining items of a list are unchanged; a key with an absent value is deleted.
    Item,
    /// The value is replaced as a whole; a key with an absent value becomes `null`.
    ///
    /// `null` is necessary if the lines after a deleted key would become a continuation of the text before it.
    Value,
}

/// Returns the name of a key of the format in this file.
fn key_in_file(
    key: &'static str,
    has_foreign_version: bool,
    has: impl Fn(&str) -> bool,
) -> &'static str {
    match key {
        "tags" if !has("tags") && has("tag") => "tag",
        "aliases" if !has("aliases") && has("alias") => "alias",
        "version" if has_foreign_version || has(VERSION_BESIDE) => VERSION_BESIDE,
        _ => key,
    }
}

/// Returns the front matter with the changes applied, or `None` if a change would lose data.
fn apply_changes(
    yaml: &str,
    entries: &[YamlEntry],
    nodes: &[(YamlNode, YamlNode)],
    changes: &[FrontMatterChange],
    newline: &str,
    care: EditStrategy,
) -> Option<String> {
    let mut edits = Vec::<(Range<usize>, String)>::new();
    let mut added = String::new();
    for FrontMatterChange {
        key,
        spelled,
        value,
    } in changes
    {
        let Some(index) = entries
            .iter()
            .position(|entry| matches!(&entry.key, YamlNode::Text(own) if own == spelled))
        else {
            added.push_str(&key_lines(spelled, value, newline));
            continue;
        };
        if *key == "origin" && has_foreign_entries(&nodes[index].1) {
            return None;
        }
        edits.extend(entry_edits(
            yaml,
            &entries[index],
            key,
            value,
            newline,
            care,
        ));
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = yaml.to_owned();
    for (range, text) in edits.into_iter().rev() {
        edited.replace_range(range, &text);
    }
    Some(edited + &added)
}

/// Returns the ranges to replace and their replacements, to set the value of the entry.
fn entry_edits(
    yaml: &str,
    entry: &YamlEntry,
    key: &str,
    value: &FrontMatterValue,
    newline: &str,
    care: EditStrategy,
) -> Vec<(Range<usize>, String)> {
    let YamlEntry {
        lines,
        after_key,
        value: place,
        shape,
        ..
    } = entry;
    let old = &yaml[place.clone()];
    let behind_key = *after_key..*after_key;
    let line_end = *after_key
        + yaml[*after_key..]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default()
            .len();
    let read = |node: &YamlNode| item_texts(key, node);
    match (value, shape) {
        (FrontMatterValue::Absent, _) if care == EditStrategy::Item => {
            vec![(lines.clone(), String::new())]
        }
        (FrontMatterValue::List(items), ValueStyle::Nested) if !items.is_empty() => {
            let gentle = if care == EditStrategy::Item {
                edit_lines(old, items, newline, read)
            } else {
                None
            };
            vec![(
                place.clone(),
                gentle.unwrap_or_else(|| item_lines(items, indent(old), newline)),
            )]
        }
        (FrontMatterValue::List(items), ValueStyle::Empty) if !items.is_empty() => {
            vec![(line_end..line_end, item_lines(items, "  ", newline))]
        }
        (FrontMatterValue::List(items), ValueStyle::Flow) if care == EditStrategy::Item => {
            vec![(
                place.clone(),
                edit_flow(old, items, read).unwrap_or_else(|| inline_value(value)),
            )]
        }
        (FrontMatterValue::Map(entries), ValueStyle::Nested) => {
            vec![(place.clone(), entry_lines(entries, indent(old), newline))]
        }
        (FrontMatterValue::Map(entries), ValueStyle::Empty) => {
            vec![(line_end..line_end, entry_lines(entries, "  ", newline))]
        }
        (FrontMatterValue::Word(text) | FrontMatterValue::Text(text), ValueStyle::Double) => {
            vec![(place.clone(), double_quoted(text))]
        }
        (FrontMatterValue::Word(text) | FrontMatterValue::Text(text), ValueStyle::Single) => {
            vec![(
                place.clone(),
                single_quoted(text).unwrap_or_else(|| double_quoted(text)),
            )]
        }
        (_, ValueStyle::Nested) => vec![
            (behind_key, format!(" {}", inline_value(value))),
            (place.clone(), String::new()),
        ],
        (_, ValueStyle::Empty) => vec![(behind_key, format!(" {}", inline_value(value)))],
        (
            _,
            ValueStyle::Plain
            | ValueStyle::Single
            | ValueStyle::Double
            | ValueStyle::Flow
            | ValueStyle::Lines
            | ValueStyle::Odd,
        ) => {
            vec![(place.clone(), inline_value(value))]
        }
    }
}

/// Returns the indentation of the first line that is not empty or a comment.
fn indent(lines: &str) -> &str {
    let line = lines
        .split('\n')
        .find(|line| !lines::is_trivia(line))
        .unwrap_or_default();
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

/// Returns the file if it represents `after` and preserves the unchanged `nodes`.
///
/// Otherwise returns a key with a wrong value.
fn verify(
    path: &str,
    file: &str,
    nodes: &[(YamlNode, YamlNode)],
    changes: &[FrontMatterChange],
    after: &Memory,
) -> Result<Vec<u8>, String> {
    // If a date were missing, the parser would use this one, and the comparison below would fail.
    let never = after
        .created_at
        .checked_add_signed(TimeDelta::days(1))
        .unwrap_or_default();
    let never = if never == after.updated_at {
        after.created_at
    } else {
        never
    };
    let read = decode(path, file.as_bytes(), never);
    let first_changed = || {
        changes
            .first()
            .map_or("---", |change| change.spelled)
            .to_owned()
    };
    if read.problem.is_some() || read.memory.content != after.content {
        return Err(first_changed());
    }
    if let Some(key) = MEMORY_KEYS
        .into_iter()
        .find(|key| value(key, &read.memory) != value(key, after))
    {
        return Err(changes
            .iter()
            .find(|change| change.key == key)
            .map_or(key, |change| change.spelled)
            .to_owned());
    }
    if read.memory != *after {
        return Err(first_changed());
    }
    let is_ours = |key: &YamlNode| {
        changes
            .iter()
            .any(|change| matches!(key, YamlNode::Text(key) if key == change.spelled))
    };
    let entries = split(file)
        .front
        .map(|front| spelled_entries(front.yaml))
        .unwrap_or_default();
    let mut kept = entries.iter();
    let mut others = nodes.iter().filter(|(key, _)| !is_ours(key));
    if let Some((key, _)) = others.find(|node| !kept.any(|kept| kept == *node)) {
        return Err(if let YamlNode::Text(key) = key {
            key.clone()
        } else {
            first_changed()
        });
    }
    Ok(file.as_bytes().to_vec())
}

/// Returns the entries of a valid front matter, with numbers and booleans as spelled.
fn spelled_entries(yaml: &str) -> Vec<(YamlNode, YamlNode)> {
    match yaml::parse_spelled(yaml) {
        Ok(YamlNode::Map(entries)) => entries,
        _ => Vec::new(),
    }
}

fn cannot_change(key: &str, line: Option<usize>) -> FileDefect {
    FileDefect::new(
        line,
        format!("`{key}` cannot be updated without damage to the rest of the front matter"),
        CHANGE_BY_HAND,
    )
}
