//! Wikilinks in a text as links of another program.

use memory_core::MemoryId;
use memory_core::wikilink::{self, Fragment, Wikilink};
use serde_json::{Map, Value, json};

use super::ExportRecord;
use crate::markdown_links::address_spans;
use crate::own_fields;
use crate::related_section::count_headings;

/// A text with links of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkedText {
    /// The text.
    pub(super) text: String,
    /// Pairs of a changed link and the original, in the order of the text.
    pub(super) pairs: Vec<[String; 2]>,
    /// The memories that its links lead to.
    pub(super) linked: Vec<MemoryId>,
}

/// Replaces the wikilinks and the links to other files in the text of a memory.
///
/// `write` returns the new link to a memory, or `None` to leave the wikilink as it is. `relocate` returns the memory that the
/// address of a Markdown link leads to, with its new address. If an import could not restore the text, it remains unchanged.
pub(super) fn replace_links(
    record: &ExportRecord<'_>,
    write: &dyn Fn(&Wikilink, MemoryId, &str) -> Option<String>,
    relocate: &dyn Fn(&str) -> Option<(MemoryId, String)>,
) -> LinkedText {
    let content = &record.memory.content;
    let (mut text, mut pairs, mut linked) =
        (String::with_capacity(content.len()), Vec::new(), Vec::new());
    let mut links = Vec::new();
    for link in wikilink::parse(content) {
        // A link without a target leads to the memory itself.
        let Some(id) = Some(&link.target)
            .filter(|target| !target.is_empty())
            .and_then(|target| (record.resolve)(target))
        else {
            continue;
        };
        let line = content[..link.span.start]
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let written = write(&link, id, &content[line..link.span.start]);
        links.push((link.span, id, written));
    }
    for (span, address) in address_spans(content) {
        let Some((id, moved)) = relocate(&address) else {
            continue;
        };
        let start = &content[span.start..span.end - address.len()];
        let written = format!("{start}{moved}");
        links.push((span, id, Some(written)));
    }
    links.sort_by_key(|(span, ..)| span.start);
    let mut end = 0;
    for (span, id, written) in links {
        linked.push(id);
        let original = &content[span.clone()];
        let Some(written) = written.filter(|written| written != original && end <= span.start)
        else {
            continue;
        };
        text.push_str(&content[end..span.start]);
        text.push_str(&written);
        end = span.end;
        pairs.push([written, original.to_owned()]);
    }
    text.push_str(&content[end..]);
    let changes = Map::from_iter([("links".to_owned(), json!(pairs))]);
    if own_fields::restore_links(&text, Some(&changes)) != *content {
        (text, pairs) = (content.clone(), Vec::new());
    }
    LinkedText {
        text,
        pairs,
        linked,
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
