//! Formats the file of a new memory.

use memory_core::Memory;

use super::lines::{self, YamlEntry};
use super::scalar::{ScalarContext, scalar};
use super::value::{FrontMatterValue, KEYS, value};
use super::yaml::YamlNode;

/// Returns the file of a new memory.
///
/// It contains the keys of the file format in their order, then the lines of `front_matter`, which come from the user, then the
/// content and a line break.
///
/// If a key of `front_matter` is already written, or its lines are not one key each, those lines are commented out: as YAML they
/// would make the file unreadable.
pub fn encode(memory: &Memory, front_matter: &str) -> String {
    let mut file = String::with_capacity(memory.content.len() + front_matter.len() + 512);
    file.push_str("---\n");
    for key in KEYS {
        file.push_str(&key_lines(key, &value(key, memory), "\n"));
    }
    file.push_str(&user_lines(memory, front_matter));
    file.push_str("---\n");
    file.push_str(&memory.content);
    file.push_str(last_line_break(&memory.content, "\n"));
    file
}

/// Returns the lines of a key; empty if the value is absent.
pub(super) fn key_lines(key: &str, value: &FrontMatterValue, line_break: &str) -> String {
    match value {
        FrontMatterValue::Absent => String::new(),
        FrontMatterValue::List(items) if !items.is_empty() => {
            format!("{key}:{line_break}{}", item_lines(items, "  ", line_break))
        }
        FrontMatterValue::Map(entries) => format!("{key}:{line_break}{}", entry_lines(entries, "  ", line_break)),
        FrontMatterValue::Null | FrontMatterValue::Word(_) | FrontMatterValue::Text(_) | FrontMatterValue::List(_) => {
            format!("{key}: {}{line_break}", inline_value(value))
        }
    }
}

/// Returns a value in the form for the line of its key.
pub(super) fn inline_value(value: &FrontMatterValue) -> String {
    let in_flow = |text: &String| scalar(text, ScalarContext::Flow);
    match value {
        FrontMatterValue::Absent | FrontMatterValue::Null => "null".into(),
        FrontMatterValue::Word(word) => word.clone(),
        FrontMatterValue::Text(text) => scalar(text, ScalarContext::Block),
        FrontMatterValue::List(items) => format!("[{}]", items.iter().map(in_flow).collect::<Vec<_>>().join(", ")),
        FrontMatterValue::Map(entries) => {
            let entries: Vec<_> = entries.iter().map(|(key, text)| format!("{key}: {}", in_flow(text))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Returns the items of a list, one per line.
pub(super) fn item_lines(items: &[String], indent: &str, line_break: &str) -> String {
    let line = |item: &String| [indent, "- ", &scalar(item, ScalarContext::Block), line_break].concat();
    items.iter().map(line).collect()
}

/// Returns the entries of a map, one per line.
pub(super) fn entry_lines(entries: &[(&str, String)], indent: &str, line_break: &str) -> String {
    let line = |(key, text): &(&str, String)| [indent, key, ": ", &scalar(text, ScalarContext::Block), line_break].concat();
    entries.iter().map(line).collect()
}

/// Returns the line break to write after `content`.
///
/// The parser removes exactly this line break.
pub(super) fn last_line_break(content: &str, line_break: &'static str) -> &'static str {
    if content.ends_with('\r') { "\r\n" } else { line_break }
}

/// Returns the user's lines of front matter in a form that keeps the file readable.
///
/// Lines that would make it unreadable are commented out.
fn user_lines(memory: &Memory, front_matter: &str) -> String {
    let mut beside = front_matter.to_owned();
    if !beside.is_empty() && !beside.ends_with('\n') {
        beside.push('\n');
    }
    let is_taken = |key: &YamlNode| matches!(key, YamlNode::Text(key) if value(key, memory) != FrontMatterValue::Absent);
    let is_fence = |line: &str| line.starts_with("---") || line.starts_with("...");
    let Some(entries) = lines::find_entries(&beside).filter(|_| !beside.lines().any(is_fence)) else {
        return comment_out(&beside);
    };
    for YamlEntry { lines, key, .. } in entries.iter().rev() {
        if is_taken(key) {
            beside.replace_range(lines.clone(), &comment_out(&beside[lines.clone()]));
        }
    }
    beside
}

fn comment_out(lines: &str) -> String {
    lines.split_inclusive('\n').flat_map(|line| ["# ", line]).collect()
}
