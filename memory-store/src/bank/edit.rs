//! Minimal edits of the text of a bank.

use std::ops::Range;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::bank::BankEntry;
use memory_core::json::JsonText;

use super::decode;
use super::layout::{BankLayout, EntryLayout, MetaLayout};

/// The replacement of a range of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BankTextEdit {
    /// The range to replace.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// A change of a bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BankEdit {
    pub items: Vec<ItemEdit>,
    pub schema: SchemaEdit,
}

/// A change of the schema of a bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum SchemaEdit {
    #[default]
    Keep,
    Clear,
    Set(JsonText),
}

impl SchemaEdit {
    pub(super) fn from_option(schema: Option<JsonText>) -> Self {
        schema.map_or(Self::Clear, Self::Set)
    }

    /// Returns the new text of the schema, or `None` if the schema is unchanged.
    pub(super) fn new_text(&self) -> Option<&str> {
        match self {
            Self::Keep => None,
            Self::Clear => Some("null"),
            Self::Set(schema) => Some(schema.as_str()),
        }
    }
}

/// A change of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ItemEdit {
    /// Sets the fields of the entry with this key, which may not exist yet.
    Put(String, BankEntry),
    /// Sets the text of the entry with this key; a new entry is placed after the entry with the other key.
    ///
    /// Without another key, a new entry is the first one.
    PutText(String, String, Option<String>),
    /// Deletes the entry with this key.
    Remove(String),
}

/// Returns the text of a new bank without entries.
pub(super) fn empty_bank_text(at: DateTime<Utc>) -> String {
    let at = format_time(at);
    format!(
        "{{\n  \"_meta\": {{\n    \"version\": 1,\n    \"created_at\": {at},\n    \"updated_at\": {at},\n    \"schema\": null\n  }},\n  \
         \"entries\": {{}}\n}}\n"
    )
}

/// Returns the edits of `text` that apply `edit` and set the time of the last change to `at`.
///
/// The edits are sorted and do not overlap.
pub(super) fn plan_edits(
    text: &str,
    layout: &BankLayout,
    edit: &BankEdit,
    at: DateTime<Utc>,
) -> Vec<BankTextEdit> {
    let mut planned = meta_edits(text, layout, edit.schema.new_text(), at);
    plan_item_edits(text, layout, &edit.items, &mut planned);
    sort_edits(planned)
}

/// Returns the edits that repair `_meta`; its other fields, including unknown ones, are unchanged.
pub(super) fn repair_meta(text: &str, layout: &BankLayout, at: DateTime<Utc>) -> Vec<BankTextEdit> {
    let Some(meta) = &layout.meta else {
        return vec![insert_meta(layout, "null", at)];
    };
    let time = |range: &Option<Range<usize>>| {
        range
            .clone()
            .and_then(|range| decode::parse_time(&text[range]))
    };
    let (created_at, updated_at) = (time(&meta.created_at), time(&meta.updated_at));
    let mut fields = Vec::new();
    if meta
        .version
        .clone()
        .is_some_and(|range| text[range].parse::<u64>().is_err())
    {
        fields.push(("version", &meta.version, "1".to_owned()));
    }
    if created_at.is_none() {
        fields.push((
            "created_at",
            &meta.created_at,
            format_time(updated_at.unwrap_or(at)),
        ));
    }
    if updated_at.is_none() {
        fields.push((
            "updated_at",
            &meta.updated_at,
            format_time(at.max(created_at.unwrap_or(at))),
        ));
    }
    set_meta_fields(text, meta, &fields)
}

/// Returns the edits that repair the times and the TTL of an entry with a value.
///
/// An invalid time becomes the other time or `fallback`; an invalid time to live becomes `null`. The list is empty if there is
/// nothing to repair.
pub(super) fn repair_entry(
    text: &str,
    item: &EntryLayout,
    fallback: DateTime<Utc>,
) -> Vec<BankTextEdit> {
    let part = |range: &Option<Range<usize>>| {
        range
            .clone()
            .map(|range| &text[range])
            .filter(|part| *part != "null")
    };
    let time = |range| part(range).and_then(decode::parse_time);
    let (created_at, updated_at) = (time(&item.created_at), time(&item.updated_at));
    let known = updated_at.or(created_at).unwrap_or(fallback);
    let mut edits = Vec::new();
    for (range, is_well) in [
        (&item.created_at, created_at.is_some()),
        (&item.updated_at, updated_at.is_some()),
    ] {
        if let (Some(range), Some(_), false) = (range.clone(), part(range), is_well) {
            edits.push(BankTextEdit {
                range,
                text: format_time(known),
            });
        }
    }
    if let (Some(range), Some(ttl)) = (item.ttl.clone(), part(&item.ttl))
        && ttl.parse::<u64>().is_err()
    {
        edits.push(BankTextEdit {
            range,
            text: "null".to_owned(),
        });
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// Returns the edit that replaces an invalid `_meta`, or inserts one at the start.
fn insert_meta(layout: &BankLayout, schema: &str, at: DateTime<Utc>) -> BankTextEdit {
    let (start, at) = (layout.document.start + 1, format_time(at));
    let meta = format!(
        "{{\"version\": 1, \"created_at\": {at}, \"updated_at\": {at}, \"schema\": {schema}}}"
    );
    let place = layout
        .meta
        .as_ref()
        .map(|meta| meta.range.clone())
        .or_else(|| layout.no_meta.clone());
    match place {
        Some(range) => BankTextEdit { range, text: meta },
        None => BankTextEdit {
            range: start..start,
            text: format!("\"_meta\": {meta}, "),
        },
    }
}

/// Returns the edits that delete entries, and change nothing else.
pub(super) fn removal_edits(
    text: &str,
    layout: &BankLayout,
    removals: &[ItemEdit],
) -> Vec<BankTextEdit> {
    let mut planned = Vec::new();
    if !removals.is_empty() {
        plan_item_edits(text, layout, removals, &mut planned);
    }
    sort_edits(planned)
}

/// Returns edits in the order of their positions in the text.
pub(super) fn sort_edits(mut edits: Vec<BankTextEdit>) -> Vec<BankTextEdit> {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    edits
}

/// Returns `text` with `edits` applied.
pub(super) fn apply_edits(text: &str, edits: &[BankTextEdit]) -> String {
    let mut result =
        String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut end = 0;
    for edit in edits {
        result.push_str(&text[end..edit.range.start]);
        result.push_str(&edit.text);
        end = edit.range.end;
    }
    result.push_str(&text[end..]);
    result
}

fn meta_edits(
    text: &str,
    layout: &BankLayout,
    schema: Option<&str>,
    at: DateTime<Utc>,
) -> Vec<BankTextEdit> {
    let Some(meta) = &layout.meta else {
        return vec![insert_meta(layout, schema.unwrap_or("null"), at)];
    };
    let mut fields = vec![("updated_at", &meta.updated_at, format_time(at))];
    fields.extend(schema.map(|schema| ("schema", &meta.schema, schema.to_owned())));
    set_meta_fields(text, meta, &fields)
}

/// Returns the edits that set fields of `_meta`, each given by name, current range and new text.
fn set_meta_fields(
    text: &str,
    meta: &MetaLayout,
    fields: &[(&str, &Option<Range<usize>>, String)],
) -> Vec<BankTextEdit> {
    let mut edits = Vec::new();
    let mut missing = String::new();
    for (name, range, value) in fields {
        match range {
            Some(range) => edits.push(BankTextEdit {
                range: range.clone(),
                text: value.clone(),
            }),
            None => missing.extend(["\"", name, "\": ", value, ", "]),
        }
    }
    if !missing.is_empty() {
        let start = meta.range.start + 1;
        let is_empty = text[start..meta.range.end - 1].trim().is_empty();
        let text = if is_empty {
            missing.trim_end_matches(", ").to_owned()
        } else {
            missing
        };
        edits.push(BankTextEdit {
            range: start..start,
            text,
        });
    }
    edits
}

fn plan_item_edits(
    text: &str,
    layout: &BankLayout,
    edits: &[ItemEdit],
    planned: &mut Vec<BankTextEdit>,
) {
    let positions: std::collections::HashMap<&str, usize> = layout
        .items
        .iter()
        .enumerate()
        .map(|(index, item)| (item.key.as_str(), index))
        .collect();
    let mut goes = vec![false; layout.items.len()];
    // The new entries by the index of the entry that they precede, and those before all entries.
    let mut behind: std::collections::BTreeMap<usize, Vec<String>> =
        std::collections::BTreeMap::new();
    let mut before = Vec::new();
    let style = BankJsonStyle::of(text, layout);
    for edit in edits {
        match edit {
            ItemEdit::Remove(key) => {
                if let Some(&index) = positions.get(key.as_str()) {
                    goes[index] = true;
                }
            }
            ItemEdit::Put(key, entry) => match positions
                .get(key.as_str())
                .map(|&index| &layout.items[index])
            {
                Some(item) => rewrite_entry(text, item, entry, &style, planned),
                None => behind
                    .entry(layout.items.len())
                    .or_default()
                    .push(style.format_item(key, entry)),
            },
            ItemEdit::PutText(key, entry, follows) => {
                let whole = format!("{}: {entry}", JsonText::string(key));
                match (positions.get(key.as_str()), follows) {
                    (Some(&index), _) => {
                        planned.push(BankTextEdit {
                            range: layout.items[index].entry.clone(),
                            text: entry.clone(),
                        });
                    }
                    (None, None) => before.push(whole),
                    (None, Some(other)) => {
                        let index = positions
                            .get(other.as_str())
                            .map_or(layout.items.len(), |&index| index + 1);
                        behind.entry(index).or_default().push(whole);
                    }
                }
            }
        }
    }
    let kept: Vec<usize> = (0..goes.len()).filter(|&index| !goes[index]).collect();
    if kept.is_empty() {
        let new: Vec<_> = before
            .into_iter()
            .chain(behind.into_values().flatten())
            .collect();
        if !(new.is_empty() && layout.items.is_empty()) {
            planned.push(BankTextEdit {
                range: layout.entries.clone(),
                text: style.format_entries(&new),
            });
        }
        return;
    }
    let first_kept = kept[0];
    for index in (0..goes.len()).filter(|&index| goes[index]) {
        let own = &layout.items[index].range;
        // The comma before the entry is deleted as well, or the one after it if no entry remains before it.
        let range = if index < first_kept {
            own.start..layout.items[index + 1].range.start
        } else {
            layout.items[index - 1].range.end..own.end
        };
        planned.push(BankTextEdit {
            range,
            text: String::new(),
        });
    }
    if !before.is_empty() {
        let start = layout.items[0].range.start;
        let text = before
            .iter()
            .flat_map(|item| [item, ",", &style.gap])
            .collect();
        planned.push(BankTextEdit {
            range: start..start,
            text,
        });
    }
    for (index, new) in behind {
        // A new entry is placed after the last remaining entry before it, so that its comma is not part of a deleted range.
        let place = kept
            .iter()
            .rev()
            .find(|&&kept| kept < index)
            .map_or(layout.items[first_kept].range.start, |&kept| {
                layout.items[kept].range.end
            });
        let is_first = place == layout.items[first_kept].range.start;
        let text = if is_first {
            new.iter()
                .flat_map(|item| [item, ",", &style.gap])
                .collect()
        } else {
            new.iter()
                .flat_map(|item| [",", &style.gap, item])
                .collect()
        };
        planned.push(BankTextEdit {
            range: place..place,
            text,
        });
    }
}

/// Sets the fields of an entry; other fields are unchanged.
fn rewrite_entry(
    text: &str,
    item: &EntryLayout,
    entry: &BankEntry,
    style: &BankJsonStyle,
    planned: &mut Vec<BankTextEdit>,
) {
    let Some(value) = &item.value else {
        planned.push(BankTextEdit {
            range: item.entry.clone(),
            text: style.format_entry(entry),
        });
        return;
    };
    let mut missing = String::new();
    let mut set = |name: &str, range: &Option<Range<usize>>, new: String| match range {
        Some(range) if text[range.clone()] == new => {}
        Some(range) => planned.push(BankTextEdit {
            range: range.clone(),
            text: new,
        }),
        None if new == "null" => {}
        None => missing.extend([", \"", name, "\": ", &new]),
    };
    set("value", &item.value, entry.value.as_str().to_owned());
    set(
        "created_at",
        &item.created_at,
        format_time(entry.created_at),
    );
    set(
        "updated_at",
        &item.updated_at,
        format_time(entry.updated_at),
    );
    set(
        "ttl",
        &item.ttl,
        entry
            .ttl
            .map_or_else(|| "null".to_owned(), |seconds| seconds.to_string()),
    );
    if !missing.is_empty() {
        planned.push(BankTextEdit {
            range: value.end..value.end,
            text: missing,
        });
    }
}

/// The formatting style of a text.
#[derive(Debug)]
struct BankJsonStyle {
    /// The whitespace before each entry.
    gap: String,
    /// The whitespace before the closing brace of the entries.
    last: String,
    is_pretty: bool,
}

impl BankJsonStyle {
    fn of(text: &str, layout: &BankLayout) -> Self {
        let is_pretty = text[layout.document.clone()].contains('\n');
        let gap = match layout.items.as_slice() {
            [] if is_pretty => "\n    ".to_owned(),
            [] => String::new(),
            [_, second, ..] => whitespace_before(text, second.range.start).to_owned(),
            [first] => whitespace_before(text, first.range.start).to_owned(),
        };
        let last = match layout.items.is_empty() {
            true if is_pretty => "\n  ".to_owned(),
            true => String::new(),
            false => whitespace_before(text, layout.entries.end - 1).to_owned(),
        };
        Self {
            gap,
            last,
            is_pretty,
        }
    }

    fn format_item(&self, key: &str, entry: &BankEntry) -> String {
        format!(
            "{}{}{}",
            JsonText::string(key),
            if self.is_pretty { ": " } else { ":" },
            self.format_entry(entry)
        )
    }

    fn format_entry(&self, entry: &BankEntry) -> String {
        let BankEntry {
            value,
            created_at,
            updated_at,
            ttl,
        } = entry;
        let (created_at, updated_at) = (format_time(*created_at), format_time(*updated_at));
        let ttl = ttl.map_or_else(|| "null".to_owned(), |seconds| seconds.to_string());
        if !self.is_pretty {
            return format!(
                r#"{{"value":{value},"created_at":{created_at},"updated_at":{updated_at},"ttl":{ttl}}}"#
            );
        }
        let gap = if self.gap.contains('\n') {
            self.gap.as_str()
        } else {
            "\n"
        };
        format!(
            "{{{gap}  \"value\": {value},{gap}  \"created_at\": {created_at},{gap}  \"updated_at\": {updated_at},{gap}  \"ttl\": {ttl}{gap}}}"
        )
    }

    fn format_entries(&self, items: &[String]) -> String {
        if items.is_empty() {
            return "{}".to_owned();
        }
        let items: Vec<_> = items
            .iter()
            .map(|item| format!("{}{item}", self.gap))
            .collect();
        format!("{{{}{}}}", items.join(","), self.last)
    }
}

fn whitespace_before(text: &str, end: usize) -> &str {
    let trimmed = text[..end].trim_end_matches([' ', '\t', '\n', '\r']);
    &text[trimmed.len()..end]
}

fn format_time(moment: DateTime<Utc>) -> String {
    format!(
        "\"{}\"",
        moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
    )
}
