//! Formats the file of a new memory.

use memory_core::front_matter;
use memory_core::yaml::YamlNode;
use memory_core::{MEMORY_KEYS, Memory};

use super::lines::{self, YamlEntry};
use super::scalar::{ScalarContext, scalar};
use super::value::{FrontMatterValue, value};

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
    for key in MEMORY_KEYS {
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
        FrontMatterValue::Map(entries) => format!(
            "{key}:{line_break}{}",
            entry_lines(entries, "  ", line_break)
        ),
        FrontMatterValue::Null
        | FrontMatterValue::Word(_)
        | FrontMatterValue::Text(_)
        | FrontMatterValue::List(_) => {
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
        FrontMatterValue::List(items) => format!(
            "[{}]",
            items.iter().map(in_flow).collect::<Vec<_>>().join(", ")
        ),
        FrontMatterValue::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, text)| format!("{key}: {}", in_flow(text)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Returns the items of a list, one per line.
pub(super) fn item_lines(items: &[String], indent: &str, line_break: &str) -> String {
    let line = |item: &String| {
        [
            indent,
            "- ",
            &scalar(item, ScalarContext::Block),
            line_break,
        ]
        .concat()
    };
    items.iter().map(line).collect()
}

/// Returns the entries of a map, one per line.
pub(super) fn entry_lines(entries: &[(&str, String)], indent: &str, line_break: &str) -> String {
    let line = |(key, text): &(&str, String)| {
        [
            indent,
            key,
            ": ",
            &scalar(text, ScalarContext::Block),
            line_break,
        ]
        .concat()
    };
    entries.iter().map(line).collect()
}

/// Returns the line break to write after `content`.
///
/// The parser removes exactly this line break.
pub(super) fn last_line_break(content: &str, line_break: &'static str) -> &'static str {
    if content.ends_with('\r') {
        "\r\n"
    } else {
        line_break
    }
}

/// Returns the file of a memory if its first keys are in the order of [`encode`], and otherwise the same file in this order.
///
/// The database accepts only such files from a principal, because it compares their id and scope.
pub(crate) fn in_order(bytes: Vec<u8>, memory: &Memory) -> Vec<u8> {
    let first: String = ["id", "content_hash", "phase", "category", "scope"]
        .map(|key| key_lines(key, &value(key, memory), "\n"))
        .concat();
    if bytes
        .strip_prefix(b"---\n")
        .is_some_and(|rest| rest.starts_with(first.as_bytes()))
    {
        return bytes;
    }
    let text = String::from_utf8_lossy(&bytes);
    encode(
        memory,
        front_matter::split(&text)
            .front
            .map_or("", |front| front.yaml),
    )
    .into_bytes()
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
    let Some(entries) = lines::find_entries(&beside).filter(|_| !beside.lines().any(is_fence))
    else {
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
    lines
        .split_inclusive('\n')
        .flat_map(|line| ["# ", line])
        .collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use memory_core::Draft;

    use super::*;

    #[test]
    fn a_file_with_other_keys_first_is_written_again_with_its_keys_behind() {
        let memory = Draft::new("Tea.").into_memory(
            "01234567-0123-7000-8000-0123456789ab".parse().unwrap(),
            DateTime::UNIX_EPOCH,
        );
        let own = encode(&memory, "colour: red\n");
        assert_eq!(in_order(own.clone().into_bytes(), &memory), own.as_bytes());
        let id = format!("id: {}\n", memory.id);
        let other =
            own.replacen(&id, "", 1)
                .replacen("colour: red\n", &format!("colour: red\n{id}"), 1);
        let ordered = String::from_utf8(in_order(other.into_bytes(), &memory)).unwrap();
        assert!(
            ordered.starts_with(&format!("---\n{id}content_hash: "))
                && ordered.contains("\ncolour: red\n"),
            "{ordered}"
        );
        assert!(ordered.ends_with("---\nTea.\n"), "{ordered}");
    }
}
