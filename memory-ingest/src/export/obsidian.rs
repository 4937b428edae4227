//! A vault of Obsidian.

use memory_core::wikilink::{self, Wikilink, fold_link_name};
use memory_core::{MemoryId, Tags};
use serde_json::{Value, json};

use super::catalog::ExportCatalog;
use super::front_matter_draft::{FrontMatterDraft, ProgramKeys};
use super::link_text::{replace_links, shown_text};
use super::{ExportFormat, ExportPart, ExportRecord, is_time_of_user, summary, tag_name, time};
use crate::front_matter::{extra_lines, key_lines};
use crate::note::RELATED_KEY;
use crate::yaml::Yaml;

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
        let linked = replace_links(record, &self.catalog, &|link, id, is_in_row| {
            self.link(link, id, is_in_row)
        });
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
        // The list of the user comes first. Without other links, it remains as it is.
        let own = own_related(record);
        let mut related: Vec<(String, Option<MemoryId>)> = own
            .iter()
            .flatten()
            .map(|item| (item.clone(), linked_memory_of(record, item)))
            .collect();
        let others = linked.related(record, |id| {
            let is_listed = related.iter().any(|(_, own)| own.as_ref() == Some(id));
            let name = &self.catalog.get(id).filter(|_| !is_listed)?.name;
            Some(format!("[[{name}]]"))
        });
        let keeps_related = others.is_empty();
        related.extend(others.into_iter().map(|(item, id)| (item, Some(id))));
        let items: Vec<_> = related.iter().map(|(item, _)| item.clone()).collect();
        header.list(RELATED_KEY, &items);
        let mut export = linked.changes(&[], "");
        if !related.is_empty() {
            let pair = |(item, id): &(String, Option<MemoryId>)| {
                json!([item, id.map(|id| id.to_string()).unwrap_or_default()])
            };
            export.insert("related".into(), related.iter().map(pair).collect());
        }
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
                is_current: &mut |key, value| match key {
                    "created" => is_time_of_user(value, memory.created_at),
                    "updated" => is_time_of_user(value, memory.updated_at),
                    RELATED_KEY => keeps_related,
                    key => matches!(key, "publish" | "cssclasses" | "cssclass"),
                },
            },
        );
        vec![ExportPart {
            path: entry.path(),
            text: format!("{front_matter}{}\n", linked.text),
        }]
    }
}

/// Returns the items of the list of related notes that the user wrote: none without a list, and `None` if it is no list of texts.
fn own_related(record: &ExportRecord<'_>) -> Option<Vec<String>> {
    let lines = record.file.and_then(extra_lines).unwrap_or_default();
    let fields = key_lines(&lines);
    let Some((_, value, _)) = fields.iter().find(|(key, ..)| key == RELATED_KEY) else {
        return Some(Vec::new());
    };
    let text = |value: &Yaml| value.scalar().map(str::to_owned);
    match value {
        Yaml::Null => Some(Vec::new()),
        Yaml::List(items) => items.iter().map(text).collect(),
        single => text(single).map(|text| vec![text]),
    }
}

/// Returns the memory that the first wikilink in a text leads to.
fn linked_memory_of(record: &ExportRecord<'_>, text: &str) -> Option<MemoryId> {
    let links = wikilink::parse_prose_wikilinks(text);
    (record.resolve)(&links.first()?.target)
}
