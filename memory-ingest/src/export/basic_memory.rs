//! A project folder of Basic Memory.

use std::collections::HashSet;

use memory_core::text::slug;
use memory_core::{Memory, MemoryId, Tags, wikilink};
use serde_json::Value;

use super::catalog::{CatalogEntry, ExportCatalog};
use super::file_name::file_name;
use super::front_matter_draft::{FrontMatterDraft, ProgramKeys};
use super::link_text::replace_links;
use super::{ExportFormat, ExportPart, ExportRecord, is_category, is_time_of_user, summary, time};
use crate::basic_memory::NAME;
use crate::front_matter::split_front_matter;
use crate::related_section::SectionStyle;
use crate::yaml::Yaml;

/// The front-matter keys that Basic Memory gives a meaning.
const KEYS: [&str; 8] = [
    "title",
    "aliases",
    "type",
    "tags",
    "permalink",
    "created",
    "modified",
    "schema",
];

/// The section of links that the text does not contain.
const RELATIONS: SectionStyle = SectionStyle {
    heading: "## Relations",
    bullet: "-",
};

/// An export as a project folder.
#[derive(Debug)]
pub(super) struct BasicMemoryExport {
    catalog: ExportCatalog,
    permalinks: HashSet<String>,
}

impl BasicMemoryExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self {
            catalog,
            permalinks: HashSet::new(),
        }
    }

    /// Returns a link to a memory by its title, unless a link cannot contain it.
    fn link(&self, id: &MemoryId) -> Option<String> {
        let entry = self.catalog.get(id)?;
        let title = Some(title(entry)).filter(|title| !title.contains(['[', ']', '|', '#', '^']));
        Some(format!("[[{}]]", title.unwrap_or(&entry.name)))
    }
}

/// Returns the title in a file: the one of the memory, unless another file has it.
fn title(entry: &CatalogEntry) -> &str {
    let has_title = !entry.headline.is_empty() && file_name(&entry.headline, "") == entry.name;
    if has_title {
        &entry.headline
    } else {
        &entry.name
    }
}

/// Returns the tags that the text of a note of Basic Memory does not contain.
fn header_tags(memory: &Memory, is_own: bool) -> Tags {
    let inline = if is_own {
        wikilink::inline_tags(&memory.content)
    } else {
        Vec::new()
    };
    let is_inline = |tag: &&String| inline.iter().any(|own| Tags::key(own) == Tags::key(tag));
    memory.tags.iter().filter(|tag| !is_inline(tag)).collect()
}

impl ExportFormat for BasicMemoryExport {
    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else {
            return Vec::new();
        };
        let is_own = memory
            .origin
            .iter()
            .chain(&memory.other_origins)
            .any(|origin| origin.source == NAME);
        let linked = replace_links(record, &self.catalog, &|_, id, _| self.link(&id));
        let is_related = |id: &&MemoryId| self.catalog.states_link(memory, id);
        let related = linked.related(record, |id| {
            Some(format!(
                "relates_to {}",
                self.link(Some(id).filter(is_related)?)?
            ))
        });
        let section = RELATIONS.write(related.iter().map(|(item, _)| item.as_str()));
        let mut permalink = format!("{}/{}", entry.folder, slug(&entry.name));
        if !self.permalinks.insert(permalink.clone()) {
            permalink = format!("{}/{}-{}", entry.folder, slug(&entry.name), memory.id);
        }
        let mut header = FrontMatterDraft::default();
        let (title, tags) = (title(entry), header_tags(memory, is_own));
        // The permalink is an alias as well.
        let fields = record
            .file
            .and_then(|file| split_front_matter(file).fields.ok())
            .unwrap_or_default();
        let own_permalink = fields
            .iter()
            .find(|(key, _)| is_own && key == "permalink")
            .and_then(|(_, value)| value.scalar());
        let is_permalink = |alias: &String| own_permalink == Some(alias.as_str());
        let mut aliases = summary::names(&memory.aliases);
        aliases.retain(|alias| !is_permalink(alias));
        header.line("title", title);
        header.list("aliases", &aliases);
        header.line("type", memory.category.as_str());
        header.line("permalink", permalink);
        header.list("tags", tags.as_slice());
        header.line("created", time(memory.created_at));
        header.line("modified", time(memory.updated_at));
        let mut export = linked.changes(&related, &section);
        export.extend([
            ("title".to_owned(), title.into()),
            ("aliases".to_owned(), aliases.into()),
            ("tags".to_owned(), Value::from(tags.as_slice())),
            ("category".to_owned(), memory.category.as_str().into()),
        ]);
        let mut is_current = |key: &str, value: &Yaml| match key {
            "type" => is_category(memory, value),
            // The permalink is an alias of the memory.
            "permalink" => value.scalar().is_some_and(|permalink| {
                memory.aliases.iter().any(|alias| alias == permalink)
                    && self.permalinks.insert(permalink.to_owned())
            }),
            "created" => is_time_of_user(value, memory.created_at),
            "modified" => is_time_of_user(value, memory.updated_at),
            "title" | "aliases" | "tags" => false,
            _ => true,
        };
        let mut keys = ProgramKeys {
            program: NAME,
            reserved: &KEYS,
            is_current: &mut is_current,
        };
        let front_matter = header.finish(record, export, &mut keys);
        vec![ExportPart {
            path: entry.path(),
            text: format!("{front_matter}{}{section}\n", linked.text),
        }]
    }
}
