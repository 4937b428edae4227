//! A project folder of Basic Memory.

use std::collections::HashSet;

use memory_core::MemoryId;
use memory_core::text::slug;
use memory_core::wikilink::Wikilink;
use serde_json::Value;

use super::catalog::ExportCatalog;
use super::front_matter_draft::{FrontMatterDraft, ProgramKeys};
use super::link_text::replace_links;
use super::{ExportFormat, ExportPart, ExportRecord, is_category, is_time, time};
use crate::basic_memory::NAME;
use crate::related_section::SectionStyle;
use crate::yaml::Yaml;

/// The front-matter keys that Basic Memory gives a meaning.
const KEYS: [&str; 7] = ["title", "type", "tags", "permalink", "created", "modified", "schema"];

/// The section of links that the text does not contain.
const RELATIONS: SectionStyle = SectionStyle { heading: "## Relations", bullet: "-" };

/// An export as a project folder.
#[derive(Debug)]
pub(super) struct BasicMemoryExport {
    catalog: ExportCatalog,
    permalinks: HashSet<String>,
}

impl BasicMemoryExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self { catalog, permalinks: HashSet::new() }
    }
}

impl ExportFormat for BasicMemoryExport {
    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else { return Vec::new() };
        let write = |_: &Wikilink, id: MemoryId, _: &str| Some(format!("[[{}]]", self.catalog.get(&id)?.name));
        let linked = replace_links(record, &write, &|_| None);
        let related = linked.related(record, |id| Some(format!("relates_to [[{}]]", self.catalog.get(id)?.name)));
        let section = RELATIONS.write(related.iter().map(|(item, _)| item.as_str()));
        let mut permalink = format!("{}/{}", entry.folder, slug(&entry.name));
        if !self.permalinks.insert(permalink.clone()) {
            permalink = format!("{}/{}-{}", entry.folder, slug(&entry.name), memory.id);
        }
        let mut header = FrontMatterDraft::default();
        header.line("title", entry.name.as_str());
        header.line("type", memory.category.as_str());
        header.line("permalink", permalink);
        header.list("tags", memory.tags.as_slice());
        header.line("created", time(memory.created_at));
        header.line("modified", time(memory.updated_at));
        let mut export = linked.changes(&related, &section);
        export
            .extend([("title".to_owned(), entry.name.as_str().into()), ("tags".to_owned(), Value::from(memory.tags.as_slice()))]);
        let mut is_current = |key: &str, value: &Yaml| match key {
            "type" => is_category(memory, value),
            // The permalink is an alias of the memory.
            "permalink" => value.scalar().is_some_and(|permalink| {
                memory.aliases.iter().any(|alias| alias == permalink) && self.permalinks.insert(permalink.to_owned())
            }),
            "created" => is_time(value, Some(memory.created_at)),
            "modified" => is_time(value, Some(memory.updated_at)),
            "title" | "tags" => false,
            _ => true,
        };
        let mut keys = ProgramKeys { program: NAME, reserved: &KEYS, is_current: &mut is_current };
        let front_matter = header.finish(record, export, &mut keys);
        vec![ExportPart { path: entry.path(), text: format!("{front_matter}{}{section}\n", linked.text) }]
    }
}
