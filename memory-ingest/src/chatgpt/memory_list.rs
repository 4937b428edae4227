//! A list of saved memories that a person pasted into a text file.

use std::collections::BTreeMap;
use std::path::Path;

use memory_core::{ContentHash, Draft, NoteItem, Origin, Phase, SourceItem};

use super::NAME;
use crate::source_text;

/// Characters that begin an item of a list, before a space.
const BULLETS: [&str; 6] = ["-", "*", "+", "•", "–", "—"];

/// Returns one note for each memory in the file at `path`.
pub(super) fn read_items(path: &Path) -> Vec<SourceItem> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text = match source_text::read_file(path) {
        Ok(text) => text,
        Err(reason) => return vec![SourceItem::Skipped { path: name, reason }],
    };
    let mut warning = text
        .warning
        .map(|(line, reason)| format!("{name}:{line}: {reason}"));
    // The text is the only identity of a memory in a list.
    let memories: BTreeMap<_, _> = split_memories(&text.text)
        .into_iter()
        .map(|text| (path_of(&text), text))
        .collect();
    let note = |(path, text): (String, String)| {
        let origin = Origin {
            source: NAME.into(),
            root: NAME.into(),
            path,
            hash: None,
        };
        let draft = Draft {
            phase: Some(Phase::Inbox),
            source: NAME.into(),
            origin: Some(origin),
            ..Draft::new(&text)
        };
        SourceItem::Note(Box::new(NoteItem {
            warning: warning.take(),
            ..NoteItem::new(draft)
        }))
    };
    memories.into_iter().map(note).collect()
}

fn path_of(text: &str) -> String {
    let hash = ContentHash::of(text).to_string();
    format!("memories/{}", hash.rsplit(':').next().unwrap_or_default())
}

/// Splits a text into its memories.
///
/// In a list with bullets or numbers each item is a memory, together with the indented lines after it. Otherwise each
/// line is one. Headings and rules are not memories.
fn split_memories(text: &str) -> Vec<String> {
    let is_list = text.lines().any(|line| list_item(line).is_some());
    let mut memories: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let trimmed = line.trim();
        let is_rule = 3 <= trimmed.len()
            && trimmed
                .bytes()
                .all(|byte| matches!(byte, b'-' | b'*' | b'_' | b'=' | b'`'));
        if trimmed.is_empty() || is_rule || is_heading(trimmed) || BULLETS.contains(&trimmed) {
            is_open &= trimmed.is_empty();
            continue;
        }
        match (list_item(line), memories.last_mut()) {
            // Deeper items belong to the item above them.
            (item, Some(memory)) if is_list && is_open && is_indented => {
                memory.push('\n');
                memory.push_str(item.map_or(trimmed, |_| line.trim_end()));
            }
            (item, _) => memories.push(item.unwrap_or(trimmed).to_owned()),
        }
        is_open = true;
    }
    memories
}

fn is_heading(line: &str) -> bool {
    line.trim_start_matches('#').starts_with(' ') && line.starts_with('#')
}

/// Returns the text of an item of a list, without its bullet or number.
fn list_item(line: &str) -> Option<&str> {
    let (mark, text) = line.trim().split_once([' ', '\t'])?;
    let digits = mark.trim_end_matches(['.', ')']);
    let is_number = digits.len() < mark.len()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    (BULLETS.contains(&mark) || is_number)
        .then(|| text.trim())
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::split_memories;

    #[test]
    fn a_list_is_split_at_its_items() {
        assert_eq!(
            split_memories(
                "# Saved memories\n\n- Likes tea\n  with milk\n  - and sugar\n* 喜欢深色模式 😀\n\n---\n12. Has a dog\n- \n"
            ),
            [
                "Likes tea\nwith milk\n  - and sugar",
                "喜欢深色模式 😀",
                "Has a dog"
            ]
        );
    }

    #[test]
    fn without_a_list_each_line_is_a_memory() {
        assert_eq!(
            split_memories("Likes tea.\r\n\r\n  Was born in 1990. Lives here\n"),
            ["Likes tea.", "Was born in 1990. Lives here"]
        );
        assert_eq!(split_memories(""), Vec::<String>::new());
    }
}
