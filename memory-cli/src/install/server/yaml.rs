//! The entry of an MCP server in the YAML of goose: a mapping below `extensions`.
//!
//! Lines are inserted and removed as text. The file is parsed before and after each edit; an edit that changes any other
//! value is refused.

use std::ops::Range;

use serde_json::json;
use serde_yaml::{Mapping, Value};

use super::ServerEntry;
use crate::install::edit::{self, ClientFileError, TextEdit};

/// The key of all servers.
pub(super) const SERVERS_KEY: &str = "extensions";

/// Timeout of a tool call in goose, in seconds; the value of the examples in its documentation.
const TIMEOUT: u64 = 300;

/// A key of a block mapping, with its lines.
#[derive(Debug)]
struct YamlKey<'t> {
    key: &'t str,
    indent: usize,
    /// The lines of the key and its value, without blank lines and comments at the end.
    lines: Range<usize>,
    /// The end of the first line.
    head_end: usize,
    /// The text after the colon, without a comment.
    value: &'t str,
}

/// Returns the servers in a file.
pub(in crate::install) fn servers(text: &str) -> Result<Vec<ServerEntry>, ClientFileError> {
    let root = parse(text)?;
    let Some(Value::Mapping(servers)) = root.get(SERVERS_KEY) else {
        return Ok(Vec::new());
    };
    let places = server_keys(text);
    let server = |(name, entry): (&Value, &Value)| {
        let name = name.as_str()?;
        let at = places
            .iter()
            .find(|place| place.key == name)
            .map_or(0, |place| place.lines.start);
        Some(ServerEntry::new(
            name,
            &serde_json::to_value(entry).unwrap_or_default(),
            at,
        ))
    };
    Ok(servers.iter().filter_map(server).collect())
}

/// Inserts an entry.
pub(super) fn insert(text: &str, name: &str, words: &[String]) -> Result<String, ClientFileError> {
    let line_break = edit::line_break(text);
    let (indent, inner) = entry_indents(text);
    let (program, arguments) = (json!(words[0]), json!(words[1..]));
    let lines = [
        format!("{indent}{name}:"),
        format!("{inner}type: stdio"),
        format!("{inner}name: {name}"),
        format!("{inner}enabled: true"),
        format!("{inner}cmd: {program}"),
        format!("{inner}args: {arguments}"),
        format!("{inner}env_keys: []"),
        format!("{inner}envs: {{}}"),
        format!("{inner}timeout: {TIMEOUT}"),
    ];
    let source: String = lines
        .iter()
        .flat_map(|line| [line.as_str(), line_break])
        .collect();
    insert_source(text, &source)
}

/// Inserts the lines of an entry.
pub(super) fn insert_source(text: &str, source: &str) -> Result<String, ClientFileError> {
    let line_break = edit::line_break(text);
    let servers = keys(text, 0..text.len())
        .into_iter()
        .find(|own| own.key == SERVERS_KEY);
    let edited = match &servers {
        None => [&with_line_break(text), SERVERS_KEY, ":", line_break, source].concat(),
        Some(servers) => {
            let mut edits = Vec::new();
            if servers.value == "{}" {
                let at = servers.lines.start + text[servers.lines.clone()].find("{}").unwrap_or(0);
                edits.push(TextEdit::remove(
                    text[..at].trim_end_matches(' ').len()..at + 2,
                ));
            }
            let end = servers.lines.end;
            let before = if text[..end].ends_with('\n') {
                ""
            } else {
                line_break
            };
            edits.push(TextEdit::insert(end, [before, source].concat()));
            edit::apply_edits(text, edits)
        }
    };
    let new: Value = serde_yaml::from_str(source).map_err(|_| unsafe_layout(text))?;
    let mut expected = parse(text)?;
    let slot = expected.entry(SERVERS_KEY.into()).or_insert(Value::Null);
    if slot.is_null() {
        *slot = Value::Mapping(Mapping::new());
    }
    let (Value::Mapping(servers), Value::Mapping(new)) = (slot, new) else {
        return Err(unsafe_layout(text));
    };
    servers.extend(new);
    checked(text, edited, &expected)
}

/// Replaces the command of an entry.
pub(super) fn update(text: &str, name: &str, words: &[String]) -> Result<String, ClientFileError> {
    let mut expected = parse(text)?;
    if let Some(entry) = expected
        .get_mut(SERVERS_KEY)
        .and_then(|servers| servers.get_mut(name))
    {
        entry["cmd"] = words[0].as_str().into();
        entry["args"] = words[1..].iter().map(String::as_str).collect();
    }
    let entry = server_keys(text).into_iter().find(|own| own.key == name);
    let fields = entry
        .map(|entry| keys(text, entry.head_end..entry.lines.end))
        .unwrap_or_default();
    let line_break = edit::line_break(text);
    let value = |key: &str| {
        if key == "cmd" {
            json!(words[0])
        } else {
            json!(words[1..])
        }
    };
    let line = |own: &YamlKey<'_>| {
        format!(
            "{}{}: {}{line_break}",
            " ".repeat(own.indent),
            own.key,
            value(own.key)
        )
    };
    let edits = fields
        .iter()
        .filter(|own| ["cmd", "args"].contains(&own.key));
    let edits = edits
        .map(|own| TextEdit {
            range: own.lines.clone(),
            with: line(own),
        })
        .collect();
    checked(text, edit::apply_edits(text, edits), &expected)
}

/// Removes an entry.
pub(super) fn remove(text: &str, name: &str) -> Result<String, ClientFileError> {
    let mut expected = parse(text)?;
    let (mut is_last, mut edits) = (false, Vec::new());
    if let Some(Value::Mapping(servers)) = expected.get_mut(SERVERS_KEY) {
        servers.shift_remove(name);
        is_last = servers.is_empty();
    }
    edits.extend(
        server_keys(text)
            .into_iter()
            .find(|own| own.key == name)
            .map(|own| TextEdit::remove(own.lines)),
    );
    if is_last {
        let head = keys(text, 0..text.len())
            .into_iter()
            .find(|own| own.key == SERVERS_KEY);
        let colon = head.and_then(|head| {
            Some(head.lines.start + text[head.lines.start..head.head_end].find(':')? + 1)
        });
        edits.extend(colon.map(|at| TextEdit::insert(at, " {}")));
    }
    checked(text, edit::apply_edits(text, edits), &expected)
}

/// Removes the key of all servers if it has no server.
pub(in crate::install) fn remove_empty(text: &str) -> Result<String, ClientFileError> {
    let mut expected = parse(text)?;
    if !matches!(expected.get(SERVERS_KEY), Some(Value::Mapping(servers)) if servers.is_empty()) {
        return Ok(text.to_owned());
    }
    expected.shift_remove(SERVERS_KEY);
    let head = keys(text, 0..text.len())
        .into_iter()
        .find(|own| own.key == SERVERS_KEY);
    checked(
        text,
        edit::apply_edits(
            text,
            head.map(|own| TextEdit::remove(own.lines))
                .into_iter()
                .collect(),
        ),
        &expected,
    )
}

/// Returns the lines of an entry.
pub(super) fn source(text: &str, name: &str) -> Result<Option<String>, ClientFileError> {
    parse(text)?;
    let entry = server_keys(text).into_iter().find(|own| own.key == name);
    Ok(entry.map(|own| with_line_break(&text[own.lines]).into_owned()))
}

/// Returns whether a file has the key of all servers.
pub(in crate::install) fn has_servers(text: &str) -> bool {
    parse(text).is_ok_and(|root| root.contains_key(SERVERS_KEY))
}

/// Parses a file; an empty one is an empty mapping.
fn parse(text: &str) -> Result<Mapping, ClientFileError> {
    let value: Result<Value, _> = serde_yaml::from_str(text);
    match value {
        Ok(Value::Mapping(root)) => Ok(root),
        Ok(Value::Null) => Ok(Mapping::new()),
        Ok(_) => Err(ClientFileError::malformed(
            text,
            0,
            "the file must be a mapping",
        )),
        Err(error) => {
            let at = error
                .location()
                .map_or(0, |location| location.index().min(text.len()));
            let at = (0..=at)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            Err(ClientFileError::malformed(text, at, error.to_string()))
        }
    }
}

/// Returns `edited`, if its values are the expected ones.
fn checked(text: &str, edited: String, expected: &Mapping) -> Result<String, ClientFileError> {
    if parse(&edited).is_ok_and(|root| root == *expected) {
        Ok(edited)
    } else {
        Err(unsafe_layout(text))
    }
}

fn unsafe_layout(text: &str) -> ClientFileError {
    let servers = keys(text, 0..text.len())
        .into_iter()
        .find(|own| own.key == SERVERS_KEY);
    ClientFileError::malformed(
        text,
        servers.map_or(0, |own| own.lines.start),
        "the layout of the file does not allow a safe edit",
    )
}

fn server_keys(text: &str) -> Vec<YamlKey<'_>> {
    let servers = keys(text, 0..text.len())
        .into_iter()
        .find(|own| own.key == SERVERS_KEY);
    servers
        .map(|servers| keys(text, servers.head_end..servers.lines.end))
        .unwrap_or_default()
}

/// Returns the indentation of entries and of their fields.
fn entry_indents(text: &str) -> (String, String) {
    let width = server_keys(text).first().map_or(2, |own| own.indent);
    (" ".repeat(width), " ".repeat(width + 2))
}

fn with_line_break(text: &str) -> std::borrow::Cow<'_, str> {
    let is_whole = text.is_empty() || text.ends_with('\n');
    if is_whole {
        text.into()
    } else {
        [text, edit::line_break(text)].concat().into()
    }
}

/// Returns the keys of the block mapping in a range of whole lines.
fn keys(text: &str, range: Range<usize>) -> Vec<YamlKey<'_>> {
    let mut keys: Vec<YamlKey<'_>> = Vec::new();
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let (start, bare) = (at, line.trim());
        at += line.len();
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mapping_indent = keys.first().map_or(indent, |first| first.indent);
        // A deeper line that looks like a comment may be part of a text.
        if bare.is_empty() || (bare.starts_with('#') && indent <= mapping_indent) {
            continue;
        }
        // An item of a list may have the indentation of its key.
        let key = bare
            .split_once(':')
            .filter(|_| indent == mapping_indent && !bare.starts_with("- "));
        if let Some((key, value)) = key {
            let value = value.split(" #").next().unwrap_or_default().trim();
            let value = if value.starts_with('#') { "" } else { value };
            keys.push(YamlKey {
                key: key.trim_matches(['"', '\'']),
                indent,
                lines: start..at,
                head_end: at,
                value,
            });
        } else if let Some(last) = keys.last_mut() {
            last.lines.end = at;
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<String> {
        ["/bin/memory", "mcp", "--agent", "goose"]
            .map(str::to_owned)
            .to_vec()
    }

    const ENTRY: &str = "  memory:\n    type: stdio\n    name: memory\n    enabled: true\n    cmd: \"/bin/memory\"\n    args: [\"mcp\",\"--agent\",\"goose\"]\n    env_keys: []\n    envs: {}\n    timeout: 300\n";

    #[test]
    fn an_entry_is_the_last_extension_and_is_removed_without_a_trace() {
        for (before, after) in [
            (
                "a: 1\nextensions:\n  x:\n    args:\n    - b\n",
                "# end\nz: 2\n",
            ),
            ("extensions:\n  \"x\": {type: builtin}\n", ""),
            (
                "# c\nextensions: # mine\n  x:\n    type: |\n      extensions:\n        memory:\n",
                "\n\nb:\n- c\n",
            ),
        ] {
            let text = [before, after].concat();
            let with = insert(&text, "memory", &words()).expect("YAML");
            assert_eq!(with, [before, ENTRY, after].concat());
            assert_eq!(remove(&with, "memory").expect("YAML"), text);
            assert_eq!(servers(&with).expect("YAML")[1].command, Some(words()));
        }
        let with = insert("a: 1", "memory", &words()).expect("YAML");
        assert_eq!(with, format!("a: 1\nextensions:\n{ENTRY}"));
        assert_eq!(
            remove_empty(&remove(&with, "memory").expect("YAML")).expect("YAML"),
            "a: 1\n"
        );
        assert_eq!(
            insert("extensions: {} # none\n", "memory", &words()).expect("YAML"),
            format!("extensions: # none\n{ENTRY}")
        );
        let windows = "extensions:\r\n    x:\r\n        type: builtin\r\n";
        let with = insert(windows, "memory", &words()).expect("YAML");
        assert!(
            with.contains("\r\n    memory:\r\n      type: stdio\r\n"),
            "{with}"
        );
        assert_eq!(remove(&with, "memory").expect("YAML"), windows);
    }

    #[test]
    fn an_update_changes_only_the_command() {
        let old = "extensions:\n  memory:\n    cmd: memory # old\n    args:\n    - mcp\n    enabled: false\n";
        let new = "extensions:\n  memory:\n    cmd: \"/bin/memory\"\n    args: [\"mcp\",\"--agent\",\"goose\"]\n    enabled: false\n";
        assert_eq!(update(old, "memory", &words()).expect("YAML"), new);
    }

    #[test]
    fn a_layout_that_is_not_understood_is_refused() {
        for text in [
            "{extensions: {}}\n",
            "extensions: {x: 1}\n",
            "- a\n",
            "a: 1\n---\nb: 2\n",
            "x: &e {}\nextensions: *e\n",
            "a: [\n",
        ] {
            assert!(insert(text, "memory", &words()).is_err(), "{text}");
        }
    }
}
