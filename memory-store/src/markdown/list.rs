//! Edits a list without changes to the remaining items.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::yaml::{self, YamlNode};

use super::encode::item_lines;
use super::lines::{flow_items, is_trivia};
use super::scalar::{ScalarContext, scalar};

/// Returns a list with one item per line, changed to contain exactly `wanted`.
///
/// The lines of remaining items and the comments are unchanged. Returns `None` if the list is not in this form. `read` returns
/// the texts that an item represents.
pub(super) fn edit_lines(
    lines: &str,
    wanted: &[String],
    line_break: &str,
    read: impl Fn(&YamlNode) -> Vec<String>,
) -> Option<String> {
    let mut changed = String::with_capacity(lines.len());
    let (mut plan, mut indent, mut end) = (ListEdit::of(wanted), None, 0);
    for line in lines.split_inclusive('\n') {
        if is_trivia(line) {
            changed.push_str(line);
            continue;
        }
        let unindented = line.trim_start_matches(' ');
        let own_indent = &line[..line.len() - unindented.len()];
        if *indent.get_or_insert(own_indent) != own_indent {
            return None;
        }
        let item = unindented.strip_prefix("- ")?;
        let stands_for = read(&yaml::parse_spelled(item).ok()?);
        if plan.retain(&stands_for) {
            changed.push_str(line);
            end = changed.len();
        }
    }
    changed.insert_str(end, &item_lines(&plan.missing_items(), indent?, line_break));
    Some(changed)
}

/// Returns a flow list, changed to contain exactly `wanted`.
///
/// The remaining items keep their spelling. Returns `None` if the list is not a flow list, or if the change would delete a
/// comment.
pub(super) fn edit_flow(
    list: &str,
    wanted: &[String],
    read: impl Fn(&YamlNode) -> Vec<String>,
) -> Option<String> {
    if !list.starts_with('[') {
        return None;
    }
    let (_, items) = flow_items(list)?;
    let items: Vec<Range<usize>> = items
        .into_iter()
        .filter(|item| !list[item.clone()].trim().is_empty())
        .collect();
    let mut plan = ListEdit::of(wanted);
    let mut kept_items = Vec::new();
    for item in &items {
        let YamlNode::List(nodes) =
            yaml::parse_spelled(&format!("[{}]", &list[item.clone()])).ok()?
        else {
            return None;
        };
        let stands_for = read(nodes.first()?);
        if plan.retain(&stands_for) {
            kept_items.push(list[item.clone()].trim().to_owned());
        }
    }
    let rest = plan
        .missing_items()
        .into_iter()
        .map(|text| scalar(&text, ScalarContext::Flow));
    match items.last() {
        Some(place) if kept_items.len() == items.len() => {
            let end = place.start + list[place.clone()].trim_end().len();
            let rest: String = rest.flat_map(|item| [", ".to_owned(), item]).collect();
            Some([&list[..end], &rest, &list[end..]].concat())
        }
        _ if list.contains('#') => None,
        _ => Some(format!(
            "[{}]",
            kept_items
                .into_iter()
                .chain(rest)
                .collect::<Vec<_>>()
                .join(", ")
        )),
    }
}

/// Decides which items of a list remain and which are still missing.
struct ListEdit<'a> {
    wanted: &'a [String],
    missing: HashSet<&'a str>,
}

impl<'a> ListEdit<'a> {
    fn of(wanted: &'a [String]) -> Self {
        Self {
            wanted,
            missing: wanted.iter().map(String::as_str).collect(),
        }
    }

    /// Returns whether an item remains: all its texts are wanted and not yet present.
    fn retain(&mut self, stands_for: &[String]) -> bool {
        let is_kept = stands_for
            .iter()
            .all(|text| self.missing.contains(text.as_str()));
        if is_kept {
            for text in stands_for {
                self.missing.remove(text.as_str());
            }
        }
        is_kept
    }

    /// Returns the wanted texts that no item represents yet.
    fn missing_items(&self) -> Vec<String> {
        self.wanted
            .iter()
            .filter(|text| self.missing.contains(text.as_str()))
            .cloned()
            .collect()
    }
}
