//! A vault of Obsidian.

use memory_core::wikilink::{Wikilink, fold_link_name};
use memory_core::{MemoryId, Tags};
use serde_json::Value;

use super::catalog::ExportCatalog;
use super::front_matter_draft::{FrontMatterDraft, ProgramKeys};
use super::link_text::{replace_links, shown_text};
use super::{ExportFormat, ExportPart, ExportRecord, summary, tag_name, time};
use crate::note::RELATED_KEY;

/// The properties that Obsidian gives a meaning.
const KEYS: [&str; 10] = [
    "title",
    "aliases",
    "tags",
    "id",
    "created",
    "updated",
    RELATED_KEY,
    "cssclasses",
    "cssclass",
    "publish",
];

/// An export as a vault.
#[derive(Debug)]
pub(super) struct ObsidianExport {
    catalog: ExportCatalog,
}

impl ObsidianExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self { catalog }
    }

    /// Returns a wikilink to the file of a memory, or `None` if the given one leads there already.
    fn link(&self, link: &Wikilink, id: MemoryId, is_in_row: bool) -> Option<String> {
        let name = &self.catalog.get(&id)?.name;
        if fold_link_name(&link.target) == fold_link_name(name) {
            return None;
        }
        let shown = shown_text(link);
        let embed = if link.embed { "!" } else { "" };
        // In a table, the separator would end the cell.
        let separator = if is_in_row { "\\|" } else { "|" };
        Some(format!(
            "{embed}[[{name}{}{separator}{shown}]]",
            super::link_text::fragment(link)
        ))
    }
}

impl ExportFormat for ObsidianExport {
    fn start(&mut self) -> Vec<ExportPart> {
        // A folder is a vault if it has settings; Obsidian adds the others.
        vec![ExportPart {
            path: ".obsidian/app.json".into(),
            text: "{}\n".into(),
        }]
    }

    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else {
            return Vec::new();
        };
        let linked = replace_links(
            record,
            &|link, id, is_in_row| self.link(link, id, is_in_row),
            &|_| None,
        );
        let mut header = FrontMatterDraft::default();
        let title = memory
            .title
            .as_deref()
            .map(summary::one_line)
            .filter(|title| !title.is_empty());
        let mut names = summary::names(title.iter().chain(&memory.aliases));
        names.retain(|name| *name != entry.name);
        let tags: Tags = memory.tags.iter().filter_map(|tag| tag_name(tag)).collect();
        if let Some(title) = &title {
            header.line("title", title.as_str());
        }
        header.list("aliases", &names);
        header.list("tags", tags.as_slice());
        header.line("id", memory.id.to_string());
        header.line("created", time(memory.created_at));
        header.line("updated", time(memory.updated_at));
        let related = linked.related(record, |id| {
            Some(format!("[[{}]]", self.catalog.get(id)?.name))
        });
        header.list(
            RELATED_KEY,
            &related
                .iter()
                .map(|(item, _)| item.clone())
                .collect::<Vec<_>>(),
        );
        let mut export = linked.changes(&related, "");
        export.extend([
            (
                "title".to_owned(),
                title.unwrap_or_else(|| entry.name.clone()).into(),
            ),
            ("aliases".to_owned(), names.into()),
            ("tags".to_owned(), Value::from(tags.as_slice())),
        ]);
        let front_matter = header.finish(
            record,
            export,
            &mut ProgramKeys {
                program: "obsidian",
                reserved: &KEYS,
                is_current: &mut |key, _| matches!(key, "publish" | "cssclasses" | "cssclass"),
            },
        );
        vec![ExportPart {
            path: entry.path(),
            text: format!("{front_matter}{}\n", linked.text),
        }]
    }
}
