//! Wikilinks in a text as links of another program.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::MemoryId;
use memory_core::wikilink::{self, Fragment, Wikilink};
use serde_json::{Map, Value, json};

use super::ExportRecord;
use super::catalog::ExportCatalog;
use crate::markdown_links::{address_spans, file_target};
use crate::related_section::count_headings;

/// A text with links of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkedText {
    /// The text.
    pub(super) text: String,
    /// Pairs of a changed link and the original, in the order of the text.
    pub(super) pairs: Vec<[String; 2]>,
    /// The memories that its links lead to.
    pub(super) linked: HashSet<MemoryId>,
}

/// Replaces the wikilinks and the links to other files in the text of a memory.
///
/// `write` returns the new link to a memory, or `None` to leave the wikilink as it is. It gets whether the wikilink is in a row of a
/// table. A Markdown link receives the new address of its memory. A link that an import could not restore remains as it is.
pub(super) fn replace_links(
    record: &ExportRecord<'_>,
    catalog: &ExportCatalog,
    write: &dyn Fn(&Wikilink, MemoryId, bool) -> Option<String>,
) -> LinkedText {
    let content = &record.memory.content;
    let (mut text, mut pairs, mut linked) = (
        String::with_capacity(content.len()),
        Vec::new(),
        HashSet::new(),
    );
    let mut links = Vec::new();
    let mut rows = TableRows::default();
    for link in wikilink::parse(content) {
        // A link without a target leads to the memory itself.
        let Some(id) = Some(&link.target)
            .filter(|target| !target.is_empty())
            .and_then(|target| (record.resolve)(target))
        else {
            continue;
        };
        let is_in_row = rows.contain(content, link.span.start);
        let link = with_label(content, link);
        let written = write(&link, id, is_in_row).or_else(|| {
            let shown = link
                .alias
                .as_ref()
                .filter(|_| !is_wikilink(content, &link))?;
            let separator = if is_in_row { "\\|" } else { "|" };
            Some(format!(
                "[[{}{}{separator}{shown}]]",
                link.target,
                fragment(&link)
            ))
        });
        links.push((link.span, id, written));
    }
    for (span, address) in address_spans(content) {
        let Some((id, moved)) = relocated(record, catalog, &address) else {
            continue;
        };
        let start = &content[span.start..span.end - address.len()];
        let written = format!("{start}{moved}");
        links.push((span, id, Some(written)));
    }
    links.sort_by_key(|(span, ..)| span.start);
    let mut end = 0;
    for (span, id, written) in links {
        linked.insert(id);
        let original = &content[span.clone()];
        let Some(written) = written
            .filter(|written| !written.is_empty() && written != original && end <= span.start)
        else {
            continue;
        };
        let between = &content[end..span.start];
        let Some(count) = count_before(between, &written) else {
            continue;
        };
        text.push_str(between);
        text.push_str(&written);
        end = span.end;
        // An import searches for the links in their order, so that an equal text before this one must be named, too.
        pairs.extend((0..count).map(|_| [written.clone(), written.clone()]));
        pairs.push([written, original.to_owned()]);
    }
    text.push_str(&content[end..]);
    LinkedText {
        text,
        pairs,
        linked,
    }
}

/// Returns how often `link` occurs in the text before it; `None` if an occurrence begins in that text and ends in the link.
fn count_before(before: &str, link: &str) -> Option<usize> {
    let (mut count, mut start) = (0, 0);
    for (at, found) in before.match_indices(link) {
        (count, start) = (count + 1, at + found.len());
    }
    let rest = format!("{}{link}", &before[start..]);
    (rest.find(link) == Some(before.len() - start)).then_some(count)
}

/// Returns the memory that the address of a Markdown link leads to, with its address in the export.
fn relocated(
    record: &ExportRecord<'_>,
    catalog: &ExportCatalog,
    address: &str,
) -> Option<(MemoryId, String)> {
    let id = linked_memory(record, catalog, address)?;
    let part = address.find(['#', '?']).map_or("", |at| &address[at..]);
    let moved = catalog.address(catalog.get(&record.memory.id)?, &id)?;
    Some((id, format!("{moved}{part}")))
}

/// Returns the memory that the address of a Markdown link leads to: the one of this file or, if it is linked, of this name.
pub(super) fn linked_memory(
    record: &ExportRecord<'_>,
    catalog: &ExportCatalog,
    address: &str,
) -> Option<MemoryId> {
    let named = || {
        let target = file_target(address)?;
        let id = (record.resolve)(target.strip_prefix("./")?)?;
        record.memory.links.contains(&id).then_some(id)
    };
    catalog.linked_file(record.memory, address).or_else(named)
}

/// Returns a wikilink that is the address of a Markdown link, such as `[label]([[Page]])`, with its label; any other as it is.
fn with_label(content: &str, link: Wikilink) -> Wikilink {
    let Range { start, end } = link.span;
    let before = content[..start].strip_suffix("](");
    let label = before.and_then(|before| {
        let label = &before[before.rfind('[')? + 1..];
        (!label.is_empty() && !label.contains([']', '\n'])).then_some(label)
    });
    let Some(label) = label.filter(|_| content[end..].starts_with(')')) else {
        return link;
    };
    let mut whole = link;
    whole.span = start - "[](".len() - label.len()..end + 1;
    whole.alias = Some(label.to_owned());
    whole
}

/// Returns whether a link has the brackets of a wikilink.
fn is_wikilink(content: &str, link: &Wikilink) -> bool {
    let source = &content[link.span.clone()];
    source.starts_with("[[") || source.starts_with("![[")
}

/// Recognises the rows of tables. Each part of the text is examined once, however long its lines are.
#[derive(Default)]
struct TableRows {
    /// The end of the examined part, and whether its last line is a row.
    examined: usize,
    is_row: Option<bool>,
}

impl TableRows {
    /// Returns whether the line with the link at `start` begins with a separator of cells. The starts must ascend.
    fn contain(&mut self, content: &str, start: usize) -> bool {
        let part = &content[self.examined..start];
        let line = match part.rfind('\n') {
            Some(end) => Some(&part[end + 1..]),
            None => Some(part).filter(|_| self.is_row.is_none()),
        };
        self.examined = start;
        if let Some(line) = line {
            self.is_row = Some(line.trim_start().starts_with('|'));
        }
        self.is_row == Some(true)
    }
}

impl LinkedText {
    /// Returns the changes of the text for the map of own fields, given the list of its other links and the section of the text
    /// that contains them, if any.
    pub(super) fn changes(
        &self,
        related: &[(String, MemoryId)],
        section: &str,
    ) -> Map<String, Value> {
        let mut changes = Map::new();
        if !self.pairs.is_empty() {
            changes.insert("links".into(), json!(self.pairs));
        }
        if !related.is_empty() {
            let pairs = related
                .iter()
                .map(|(item, id)| json!([item, id.to_string()]));
            changes.insert("related".into(), pairs.collect());
        }
        if !section.is_empty() {
            changes.insert("after".into(), section.into());
            let own_headings = count_headings(&self.text, section);
            if 0 < own_headings {
                changes.insert("headings".into(), own_headings.into());
            }
        }
        changes
    }

    /// Returns the recorded links of a memory that its text does not contain, each with its list item.
    pub(super) fn related(
        &self,
        record: &ExportRecord<'_>,
        item: impl Fn(&MemoryId) -> Option<String>,
    ) -> Vec<(String, MemoryId)> {
        self.other_links(record)
            .into_iter()
            .filter_map(|id| Some((item(id)?, *id)))
            .collect()
    }

    /// Returns the recorded links of a memory that its text does not contain.
    fn other_links<'a>(&self, record: &ExportRecord<'a>) -> Vec<&'a MemoryId> {
        record
            .memory
            .links
            .iter()
            .filter(|id| !self.linked.contains(id) && **id != record.memory.id)
            .collect()
    }
}

/// Returns the text that a reader sees in place of a wikilink.
pub(super) fn shown_text(link: &Wikilink) -> String {
    let alias = link.alias.clone().filter(|alias| !alias.is_empty());
    alias.unwrap_or_else(|| format!("{}{}", link.target, fragment(link)))
}

/// Returns the fragment of a wikilink as it is written.
pub(super) fn fragment(link: &Wikilink) -> String {
    match &link.fragment {
        None => String::new(),
        Some(Fragment::Heading(heading)) => format!("#{heading}"),
        Some(Fragment::Block(id)) => format!("#^{id}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_line_of_links_is_not_slow() {
        // It takes minutes if the start of the line is searched for every link.
        let text = "[[a]] ".repeat(100_000);
        let mut rows = TableRows::default();
        for start in (0..text.len()).step_by(6) {
            assert!(!rows.contain(&text, start));
        }
    }

    proptest! {
        #[test]
        fn links_are_restored_beside_equal_text(
            parts in prop::collection::vec(("[ab]{0,5}", "[ab]{1,3}", "[cd]{1,2}"), 0..6), rest in "[ab]{0,5}",
        ) {
            // The same steps as those of an export, with short links that occur in the text as well.
            let (mut text, mut own, mut pairs, mut before) = (String::new(), String::new(), Vec::new(), String::new());
            for (gap, written, original) in &parts {
                before.push_str(gap);
                let Some(count) = count_before(&before, written) else {
                    continue;
                };
                text.extend([before.as_str(), written]);
                own.extend([before.as_str(), original]);
                pairs.extend((0..count).map(|_| [written, written]));
                pairs.push([written, original]);
                before.clear();
            }
            text.extend([before.as_str(), &rest]);
            own.extend([before.as_str(), &rest]);
            let changes = Map::from_iter([("links".to_owned(), json!(pairs))]);
            prop_assert_eq!(crate::own_fields::restore_links(&text, Some(&changes)), own);
        }

        #[test]
        fn a_row_is_a_line_that_begins_with_a_separator(text in "(\\[\\[a\\]\\]|\\||\n| |é){0,40}") {
            let mut rows = TableRows::default();
            for link in wikilink::parse(&text) {
                let before = text[..link.span.start].rsplit('\n').next().unwrap_or_default();
                prop_assert_eq!(rows.contain(&text, link.span.start), before.trim_start().starts_with('|'));
            }
        }
    }
}
