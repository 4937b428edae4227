//! The entry of an MCP server in a TOML file: the table `[mcp_servers.memory]`.
//!
//! The parser returns the position of each value. It cannot print a file unchanged, since it replaces Windows line breaks,
//! so edits change the text itself.

use std::ops::Range;

use toml_edit::{Array, Document, InlineTable, Item, Key, TableLike, Value};

use super::ServerEntry;
use crate::install::edit::{self, ClientFileError, TextEdit};

/// The table of all servers.
pub(super) const SERVERS_TABLE: &str = "mcp_servers";

/// Returns the servers in a file.
pub(in crate::install) fn servers(text: &str) -> Result<Vec<ServerEntry>, ClientFileError> {
    let document = parse(text)?;
    let Some(servers) = document.get(SERVERS_TABLE).and_then(Item::as_table_like) else {
        return Ok(Vec::new());
    };
    let server = |(name, item): (&str, &Item)| {
        let key = servers.key(name).and_then(Key::span);
        let at = item.span().or(key).map_or(0, |span| span.start);
        ServerEntry::new(
            name,
            &item.as_table_like().map(entry_json).unwrap_or_default(),
            at,
        )
    };
    Ok(servers.iter().map(server).collect())
}

/// Inserts an entry.
pub(super) fn insert(text: &str, name: &str, words: &[String]) -> Result<String, ClientFileError> {
    match parse(text)?.get(SERVERS_TABLE) {
        Some(Item::Value(Value::InlineTable(table))) => Ok(insert_inline(text, table, name, words)),
        Some(other) if other.as_table().is_none() => {
            let at = other.span().map_or(0, |span| span.start);
            Err(ClientFileError::malformed(
                text,
                at,
                format!("{SERVERS_TABLE} must be a table"),
            ))
        }
        _ => {
            let line_break = edit::line_break(text);
            let command = format!("command = {}", Value::from(&words[0]));
            let arguments = format!("args = {}", string_array(&words[1..]));
            let header = format!("[{SERVERS_TABLE}.{name}]");
            Ok(append(
                text,
                &[
                    &header, line_break, &command, line_break, &arguments, line_break,
                ]
                .concat(),
            ))
        }
    }
}

/// Replaces the command of an entry.
pub(super) fn update(
    text: &str,
    name: &str,
    found: &[String],
    words: &[String],
) -> Result<String, ClientFileError> {
    let document = parse(text)?;
    let entry = document
        .get(SERVERS_TABLE)
        .and_then(Item::as_table_like)
        .and_then(|servers| servers.get(name));
    let Some(entry) = entry.and_then(Item::as_table_like) else {
        return Ok(text.to_owned());
    };
    let mut edits = Vec::new();
    if words[0] != found[0] {
        edits.extend(value_span(entry, "command").map(|range| TextEdit {
            range,
            with: Value::from(&words[0]).to_string(),
        }));
    }
    if words[1..] != found[1..] {
        edits.extend(value_span(entry, "args").map(|range| TextEdit {
            range,
            with: string_array(&words[1..]).to_string(),
        }));
    }
    Ok(edit::apply_edits(text, edits))
}

/// Removes an entry.
pub(super) fn remove(text: &str, name: &str) -> Result<String, ClientFileError> {
    Ok(edit::apply_edits(text, removals(text, name)?))
}

/// Returns the tables of an entry as text; `None` for an inline table.
pub(super) fn source(text: &str, name: &str) -> Result<Option<String>, ClientFileError> {
    if !matches!(parse(text)?.get(SERVERS_TABLE), Some(Item::Table(_))) {
        return Ok(None);
    }
    let tables = removals(text, name)?
        .into_iter()
        .map(|removal| text[removal.range].trim_start_matches(['\r', '\n']));
    Ok(Some(tables.collect::<String>()).filter(|tables| tables.starts_with('[')))
}

/// Appends tables to the file, after an empty line.
pub(super) fn append(text: &str, tables: &str) -> String {
    let line_break = edit::line_break(text);
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        line_break
    };
    let between = if text.is_empty() { "" } else { line_break };
    [text, end, between, tables].concat()
}

fn removals(text: &str, name: &str) -> Result<Vec<TextEdit>, ClientFileError> {
    let document = parse(text)?;
    let servers = document.get(SERVERS_TABLE);
    if let Some(Item::Value(Value::InlineTable(table))) = servers {
        return Ok(remove_inline(text, table, name));
    }
    let servers = servers.and_then(Item::as_table_like);
    let mut edits = Vec::new();
    if let Some((key, entry)) = servers.and_then(|servers| servers.get_key_value(name)) {
        let mut headers = Vec::new();
        document
            .as_table()
            .iter()
            .for_each(|(_, item)| collect_headers(item, &mut headers));
        headers.sort_unstable();
        collect_removals(text, key, entry, &headers, &mut edits);
    }
    Ok(edits)
}

fn parse(text: &str) -> Result<Document<&str>, ClientFileError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        ClientFileError::malformed(
            text,
            at,
            error.message().lines().collect::<Vec<_>>().join(", "),
        )
    })
}

/// Returns the texts and lists of texts of an entry.
fn entry_json(entry: &dyn TableLike) -> serde_json::Value {
    let list = |list: &Array| {
        list.iter()
            .map(Value::as_str)
            .collect::<Option<Vec<_>>>()
            .map(serde_json::Value::from)
    };
    let value = |item: &Item| {
        item.as_str()
            .map(serde_json::Value::from)
            .or_else(|| item.as_array().and_then(list))
    };
    entry
        .iter()
        .filter_map(|(key, item)| Some((key.to_owned(), value(item)?)))
        .collect()
}

fn value_span(entry: &dyn TableLike, key: &str) -> Option<Range<usize>> {
    entry.get(key).and_then(Item::span)
}

fn string_array(words: &[String]) -> Value {
    Value::Array(words.iter().collect::<Array>())
}

/// Inserts the entry into the inline table `{…}`.
fn insert_inline(text: &str, table: &InlineTable, name: &str, words: &[String]) -> String {
    let mut entry = InlineTable::new();
    entry.insert("command", Value::from(&words[0]));
    entry.insert("args", string_array(&words[1..]));
    let entry = format!("{name} = {}", Value::InlineTable(entry).decorated("", ""));
    let Some(span) = table.span() else {
        return text.to_owned();
    };
    let inner = text[span.start + 1..span.end - 1].trim_end();
    let at = span.start + 1 + inner.len();
    let with = match inner.trim() {
        "" => format!(" {entry} "),
        others if others.ends_with(',') => format!(" {entry}"),
        _ => format!(", {entry}"),
    };
    let range = if inner.is_empty() {
        at..span.end - 1
    } else {
        at..at
    };
    edit::apply_edits(text, vec![TextEdit { range, with }])
}

fn remove_inline(text: &str, table: &InlineTable, name: &str) -> Vec<TextEdit> {
    let Some((key, entry)) = TableLike::get_key_value(table, name) else {
        return Vec::new();
    };
    let (Some(key), Some(value), Some(all)) = (key.span(), entry.span(), table.span()) else {
        return Vec::new();
    };
    let before = text[all.start + 1..key.start].trim_end();
    let after = &text[value.end..all.end - 1];
    let (start, end) = match (
        before.strip_suffix(','),
        after.trim_start().starts_with(','),
    ) {
        (Some(rest), _) => (all.start + 1 + rest.len(), value.end),
        (None, true) => (key.start, value.end + after.find(',').unwrap_or(0) + 1),
        (None, false) => (all.start + 1, all.end - 1),
    };
    vec![TextEdit::remove(start..end)]
}

/// Collects the positions of all table headers.
fn collect_headers(item: &Item, headers: &mut Vec<usize>) {
    match item {
        Item::Table(table) => {
            if !table.is_implicit() && !table.is_dotted() {
                headers.extend(table.span().map(|span| span.start));
            }
            table
                .iter()
                .for_each(|(_, item)| collect_headers(item, headers));
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                headers.extend(table.span().map(|span| span.start));
                table
                    .iter()
                    .for_each(|(_, item)| collect_headers(item, headers));
            }
        }
        Item::None | Item::Value(_) => {}
    }
}

/// Collects the edits that remove `item`: a table with all tables in it, or lines with dotted keys.
fn collect_removals(
    text: &str,
    key: &Key,
    item: &Item,
    headers: &[usize],
    edits: &mut Vec<TextEdit>,
) {
    match item {
        Item::Table(table) if table.is_dotted() || table.is_implicit() => {
            for (name, _) in table {
                if let Some((key, item)) = table.get_key_value(name) {
                    collect_removals(text, key, item, headers, edits);
                }
            }
        }
        Item::Table(table) => {
            edits.extend(
                table
                    .span()
                    .map(|header| TextEdit::remove(table_range(text, &header, table, headers))),
            );
            for (name, _) in table {
                if let Some((key, item)) = table
                    .get_key_value(name)
                    .filter(|(_, item)| !item.is_value())
                {
                    collect_removals(text, key, item, headers, edits);
                }
            }
        }
        Item::Value(value) => {
            if let (Some(key), Some(value)) = (key.span(), value.span()) {
                edits.push(TextEdit::remove(
                    edit::line_start(text, key.start)..edit::line_end(text, value.end),
                ));
            }
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                edits.extend(
                    table
                        .span()
                        .map(|header| TextEdit::remove(table_range(text, &header, table, headers))),
                );
            }
        }
        Item::None => {}
    }
}

/// Returns the range of a table, from the empty line before its header to its last value.
///
/// Comments after that belong to the next table.
fn table_range(
    text: &str,
    header: &Range<usize>,
    table: &toml_edit::Table,
    headers: &[usize],
) -> Range<usize> {
    let next = headers
        .iter()
        .copied()
        .find(|other| header.start < *other)
        .unwrap_or(text.len());
    let values = table.get_values();
    let ends = values
        .iter()
        .filter_map(|(_, value)| value.span())
        .map(|span| span.end)
        .filter(|end| *end <= next);
    let end = edit::line_end(text, ends.max().unwrap_or(header.end));
    let mut start = edit::line_start(text, header.start);
    let before = &text[..start];
    if before.ends_with("\n\r\n") {
        start -= 2;
    } else if before.ends_with("\n\n") {
        start -= 1;
    }
    start..end
}

#[cfg(test)]
mod tests;
