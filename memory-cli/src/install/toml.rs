//! The entry of an MCP server in a TOML file: the table `[mcp_servers.memory]`.
//!
//! The parser returns the position of each value. It cannot print a file unchanged, since it replaces Windows line breaks,
//! so edits change the text itself.

use std::ops::Range;

use toml_edit::{Array, Document, InlineTable, Item, Key, TableLike, Value};

use super::command::{ClientSubcommand, Invocation};
use super::edit::ClientFileError;
use super::edit::{self, TextEdit};
use super::server::NAME;

/// The table of all servers.
const SERVERS_TABLE: &str = "mcp_servers";

/// Adds the entry, or updates it.
pub(super) fn install(text: &str, own: &Invocation) -> Result<String, ClientFileError> {
    let document = parse(text)?;
    let Some(found) = find_command(text, own)? else {
        let servers = document.get(SERVERS_TABLE);
        return match servers {
            Some(Item::Value(Value::InlineTable(table))) => Ok(insert_inline(text, table, own)),
            Some(other) if other.as_table().is_none() => {
                let at = other.span().map_or(0, |span| span.start);
                Err(ClientFileError::malformed(text, at, format!("{SERVERS_TABLE} must be a table")))
            }
            _ => Ok(append_table(text, own)),
        };
    };
    let words = own.updated(ClientSubcommand::Serve, &found);
    let entry = document.get(SERVERS_TABLE).and_then(Item::as_table_like).and_then(|servers| servers.get(NAME));
    let Some(entry) = entry.and_then(Item::as_table_like) else { return Ok(text.to_owned()) };
    let mut edits = Vec::new();
    if words[0] != found[0] {
        edits.extend(value_span(entry, "command").map(|range| TextEdit { range, with: Value::from(&words[0]).to_string() }));
    }
    if words[1..] != found[1..] {
        edits.extend(value_span(entry, "args").map(|range| TextEdit { range, with: string_array(&words[1..]).to_string() }));
    }
    Ok(edit::apply_edits(text, edits))
}

/// Removes the entry.
pub(super) fn uninstall(text: &str, own: &Invocation) -> Result<String, ClientFileError> {
    match find_command(text, own) {
        Ok(Some(_)) => {}
        Ok(None) => return Ok(text.to_owned()),
        Err(refusal) if refusal.is_foreign_entry() => return Ok(text.to_owned()),
        Err(refusal) => return Err(refusal),
    }
    let document = parse(text)?;
    let servers = document.get(SERVERS_TABLE);
    if let Some(Item::Value(Value::InlineTable(table))) = servers {
        return Ok(edit::apply_edits(text, remove_inline(text, table)));
    }
    let servers = servers.and_then(Item::as_table_like);
    let mut edits = Vec::new();
    if let Some((key, entry)) = servers.and_then(|servers| servers.get_key_value(NAME)) {
        let mut headers = Vec::new();
        document.as_table().iter().for_each(|(_, item)| collect_headers(item, &mut headers));
        headers.sort_unstable();
        collect_removals(text, key, entry, &headers, &mut edits);
    }
    Ok(edit::apply_edits(text, edits))
}

/// Returns the command of the entry, if it exists.
///
/// # Errors
/// If the file cannot be parsed, or the entry belongs to another program.
pub(super) fn find_command(text: &str, own: &Invocation) -> Result<Option<Vec<String>>, ClientFileError> {
    let document = parse(text)?;
    let servers = document.get(SERVERS_TABLE).and_then(Item::as_table_like);
    let Some((key, entry)) = servers.and_then(|servers| servers.get_key_value(NAME)) else { return Ok(None) };
    let words = entry.as_table_like().and_then(command_words).filter(|words| own.is_ours(ClientSubcommand::Serve, words));
    let at = entry.span().or_else(|| key.span()).map_or(0, |span| span.start);
    words.map(Some).ok_or_else(|| ClientFileError::foreign_entry(text, at, format!("{SERVERS_TABLE}.{NAME}")))
}

/// Returns whether a file is empty.
pub(super) fn is_empty(text: &str) -> bool {
    text.trim().is_empty()
}

fn parse(text: &str) -> Result<Document<&str>, ClientFileError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        ClientFileError::malformed(text, at, error.message().lines().collect::<Vec<_>>().join(", "))
    })
}

fn command_words(entry: &dyn TableLike) -> Option<Vec<String>> {
    let program = entry.get("command")?.as_str()?.to_owned();
    let word = |word: &Value| word.as_str().map(str::to_owned);
    let arguments = match entry.get("args") {
        Some(arguments) => arguments.as_array()?.iter().map(word).collect::<Option<Vec<_>>>()?,
        None => Vec::new(),
    };
    Some([vec![program], arguments].concat())
}

fn value_span(entry: &dyn TableLike, key: &str) -> Option<Range<usize>> {
    entry.get(key).and_then(Item::span)
}

fn string_array(words: &[String]) -> Value {
    Value::Array(words.iter().collect::<Array>())
}

/// Appends the table to the file, after an empty line.
fn append_table(text: &str, own: &Invocation) -> String {
    let words = own.words(ClientSubcommand::Serve);
    let line_break = edit::line_break(text);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { line_break };
    let between = if text.is_empty() { "" } else { line_break };
    let command = format!("command = {}", Value::from(&words[0]));
    let arguments = format!("args = {}", string_array(&words[1..]));
    let header = format!("[{SERVERS_TABLE}.{NAME}]");
    [text, end, between, &header, line_break, &command, line_break, &arguments, line_break].concat()
}

/// Inserts the entry into the inline table `{…}`.
fn insert_inline(text: &str, table: &InlineTable, own: &Invocation) -> String {
    let words = own.words(ClientSubcommand::Serve);
    let mut entry = InlineTable::new();
    entry.insert("command", Value::from(&words[0]));
    entry.insert("args", string_array(&words[1..]));
    let entry = format!("{NAME} = {}", Value::InlineTable(entry).decorated("", ""));
    let Some(span) = table.span() else { return text.to_owned() };
    let inner = text[span.start + 1..span.end - 1].trim_end();
    let at = span.start + 1 + inner.len();
    let with = match inner.trim() {
        "" => format!(" {entry} "),
        others if others.ends_with(',') => format!(" {entry}"),
        _ => format!(", {entry}"),
    };
    let range = if inner.is_empty() { at..span.end - 1 } else { at..at };
    edit::apply_edits(text, vec![TextEdit { range, with }])
}

fn remove_inline(text: &str, table: &InlineTable) -> Vec<TextEdit> {
    let Some((key, entry)) = TableLike::get_key_value(table, NAME) else { return Vec::new() };
    let (Some(key), Some(value), Some(all)) = (key.span(), entry.span(), table.span()) else { return Vec::new() };
    let before = text[all.start + 1..key.start].trim_end();
    let after = &text[value.end..all.end - 1];
    let (start, end) = match (before.strip_suffix(','), after.trim_start().starts_with(',')) {
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
            table.iter().for_each(|(_, item)| collect_headers(item, headers));
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                headers.extend(table.span().map(|span| span.start));
                table.iter().for_each(|(_, item)| collect_headers(item, headers));
            }
        }
        Item::None | Item::Value(_) => {}
    }
}

/// Collects the edits that remove `item`: a table with all tables in it, or lines with dotted keys.
fn collect_removals(text: &str, key: &Key, item: &Item, headers: &[usize], edits: &mut Vec<TextEdit>) {
    match item {
        Item::Table(table) if table.is_dotted() || table.is_implicit() => {
            for (name, _) in table {
                if let Some((key, item)) = table.get_key_value(name) {
                    collect_removals(text, key, item, headers, edits);
                }
            }
        }
        Item::Table(table) => {
            edits.extend(table.span().map(|header| TextEdit::remove(table_range(text, &header, table, headers))));
            for (name, _) in table {
                if let Some((key, item)) = table.get_key_value(name).filter(|(_, item)| !item.is_value()) {
                    collect_removals(text, key, item, headers, edits);
                }
            }
        }
        Item::Value(value) => {
            if let (Some(key), Some(value)) = (key.span(), value.span()) {
                edits.push(TextEdit::remove(edit::line_start(text, key.start)..line_end(text, value.end)));
            }
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                edits.extend(table.span().map(|header| TextEdit::remove(table_range(text, &header, table, headers))));
            }
        }
        Item::None => {}
    }
}

/// Returns the range of a table, from the empty line before its header to its last value.
///
/// Comments after that belong to the next table.
fn table_range(text: &str, header: &Range<usize>, table: &toml_edit::Table, headers: &[usize]) -> Range<usize> {
    let next = headers.iter().copied().find(|other| header.start < *other).unwrap_or(text.len());
    let values = table.get_values();
    let ends = values.iter().filter_map(|(_, value)| value.span()).map(|span| span.end).filter(|end| *end <= next);
    let end = line_end(text, ends.max().unwrap_or(header.end));
    let mut start = edit::line_start(text, header.start);
    let before = &text[..start];
    if before.ends_with("\n\r\n") {
        start -= 2;
    } else if before.ends_with("\n\n") {
        start -= 1;
    }
    start..end
}

/// Returns the end of the line that contains a byte offset, including its line break.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests;
