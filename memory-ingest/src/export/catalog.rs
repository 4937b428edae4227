//! The names of the exported memories.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memory_core::text::slug;
use memory_core::wikilink::{self, fold_link_name};
use memory_core::{Category, Memory, MemoryId, Origin, Phase, Scope};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::ExportFormatName;
use super::file_name::{file_name, name_key};
use super::summary;
use crate::markdown_links::{file_target, resolve_path};
use crate::note::stem;
use crate::server_memory::entity_name;

/// The characters that end an address in a Markdown link, and the mark of encoded ones.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'(')
    .add(b')')
    .add(b'<')
    .add(b'>')
    .add(b'%');

/// The names that the Open Knowledge Format reserves.
const RESERVED: [&str; 2] = ["index", "log"];

/// The exported memories: for each a unique name, and its folder.
#[derive(Debug, Clone)]
pub struct ExportCatalog {
    /// Whether the names have no spaces and no upper case.
    has_slugs: bool,
    entries: HashMap<MemoryId, CatalogEntry>,
    /// The entries in the order of their addition.
    order: Vec<MemoryId>,
    taken: HashSet<String>,
    /// The memories of entities by their names, in an export for the MCP server `memory`.
    entities: Option<HashMap<String, MemoryId>>,
    /// The keys of these names.
    entity_keys: HashSet<String>,
    /// The memories by the files that they were ingested from.
    files: HashMap<String, MemoryId>,
    /// The targets of the wikilinks of each memory, in an export that lists only links in one direction.
    targets: Option<HashMap<MemoryId, HashSet<String>>>,
}

/// The name of an exported memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogEntry {
    /// The name, which is also a file name without its extension. No other memory has it, ignoring case.
    pub(super) name: String,
    /// The title, or the start of the text, as one line.
    pub(super) headline: String,
    /// The category.
    pub(super) category: Category,
    /// The folder.
    pub(super) folder: &'static str,
    /// Whether the name is that of an entity of the MCP server `memory`.
    pub(super) is_entity: bool,
    /// The place in the order of the export.
    place: usize,
}

impl CatalogEntry {
    /// Returns the path of the file.
    pub(super) fn path(&self) -> String {
        format!("{}/{}.md", self.folder, self.name)
    }
}

impl ExportCatalog {
    /// Returns an empty catalog for an export in the format `name`.
    pub fn new(name: ExportFormatName) -> Self {
        let has_slugs = name == ExportFormatName::Okf;
        let entities = (name == ExportFormatName::ServerMemory).then(HashMap::new);
        let has_relations = matches!(
            name,
            ExportFormatName::BasicMemory | ExportFormatName::ServerMemory
        );
        let targets = has_relations.then(HashMap::new);
        let (entries, order, taken, files) =
            (HashMap::new(), Vec::new(), HashSet::new(), HashMap::new());
        Self {
            has_slugs,
            entries,
            order,
            taken,
            entities,
            entity_keys: HashSet::new(),
            files,
            targets,
        }
    }

    /// Adds a memory, unless it was added before. Names of memories that were added earlier have precedence.
    pub fn add(&mut self, memory: &Memory) {
        if self.entries.contains_key(&memory.id) {
            return;
        }
        let headline = summary::headline(memory);
        let entity = self.entity_name(memory);
        let is_entity = entity.is_some();
        let name = entity.unwrap_or_else(|| self.free_name(&headline, memory.id));
        let place = self.order.len();
        self.order.push(memory.id);
        for origin in memory.origin.iter().chain(&memory.other_origins) {
            self.files.entry(origin.to_text()).or_insert(memory.id);
        }
        if let Some(targets) = &mut self.targets {
            let own = wikilink::parse(&memory.content)
                .into_iter()
                .map(|link| fold_link_name(&link.target));
            targets.insert(memory.id, own.collect());
        }
        let (category, folder) = (memory.category, folder(memory));
        self.entries.insert(
            memory.id,
            CatalogEntry {
                name,
                headline,
                category,
                folder,
                is_entity,
                place,
            },
        );
    }

    /// Returns the name of an entity, which differs from others possibly only in case, and reserves it.
    fn entity_name(&mut self, memory: &Memory) -> Option<String> {
        let name = entity_name(memory)
            .filter(|_| self.entities.is_some())?
            .to_owned();
        let key = name_key(&name);
        let is_taken = !self.taken.insert(key.clone());
        let entities = self.entities.as_mut()?;
        let is_free = !is_taken || !entities.contains_key(&name) && self.entity_keys.contains(&key);
        if !is_free {
            return None;
        }
        entities.insert(name.clone(), memory.id);
        self.entity_keys.insert(key);
        Some(name)
    }

    /// Returns the entity that was ingested with this name.
    pub(super) fn entity(&self, name: &str) -> Option<&CatalogEntry> {
        self.get(self.entities.as_ref()?.get(name)?)
    }

    /// Returns the memory that was ingested from the file to which a Markdown link in the text of `memory` leads.
    pub(super) fn linked_file(&self, memory: &Memory, address: &str) -> Option<MemoryId> {
        let target = file_target(address)?;
        let mut origins = memory.origin.iter().chain(&memory.other_origins);
        origins.find_map(|origin| {
            let path = resolve_path(&origin.path, &target)?;
            self.files
                .get(
                    &Origin {
                        path,
                        ..origin.clone()
                    }
                    .to_text(),
                )
                .copied()
        })
    }

    /// Returns the address of a memory in a Markdown link in the file of another one.
    pub(super) fn address(&self, from: &CatalogEntry, to: &MemoryId) -> Option<String> {
        let target = self.get(to)?;
        let folder = if target.folder == from.folder {
            String::new()
        } else {
            format!("../{}/", target.folder)
        };
        let name = utf8_percent_encode(&target.name, ENCODED).collect::<Cow<'_, str>>();
        Some(format!("{folder}{name}.md"))
    }

    /// Returns whether `memory` states the relation to a linked memory, whose text does not: a recorded link has no direction. If no
    /// text contains the link, the memory that was added first states it.
    pub(super) fn states_link(&self, memory: &Memory, to: &MemoryId) -> bool {
        let place = |id: &MemoryId| self.get(id).map(|entry| entry.place);
        place(&memory.id) < place(to) && !self.has_link(to, memory)
    }

    /// Returns whether a wikilink in the text of the memory `from` has a name of `memory`.
    fn has_link(&self, from: &MemoryId, memory: &Memory) -> bool {
        let Some(targets) = self.targets.as_ref().and_then(|targets| targets.get(from)) else {
            return false;
        };
        let path = memory
            .origin
            .as_ref()
            .map(|origin| origin.path.trim_end_matches(".md"));
        let names = memory
            .title_or_heading()
            .into_iter()
            .chain(memory.aliases.iter().map(String::as_str))
            .chain(path);
        names
            .chain(path.map(stem))
            .any(|name| targets.contains(&fold_link_name(name)))
    }

    /// Returns the number of memories.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns whether there are no memories.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub(super) fn get(&self, id: &MemoryId) -> Option<&CatalogEntry> {
        self.entries.get(id)
    }

    /// Iterates over the memories in the order of their addition.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&MemoryId, &CatalogEntry)> {
        self.order
            .iter()
            .filter_map(|id| self.entries.get_key_value(id))
    }

    fn free_name(&mut self, headline: &str, id: MemoryId) -> String {
        let slug = self.has_slugs.then(|| slug(headline));
        let name = |suffix: Option<String>| match (&slug, suffix) {
            (None, suffix) => file_name(
                headline,
                &suffix
                    .map(|suffix| format!(" {suffix}"))
                    .unwrap_or_default(),
            ),
            (Some(slug), None) if RESERVED.contains(&slug.as_str()) => format!("{slug}-note"),
            (Some(slug), None) => slug.clone(),
            (Some(slug), Some(suffix)) => format!("{slug}-{suffix}"),
        };
        let mut names = [None, Some(id.short()), Some(id.to_string())]
            .into_iter()
            .map(name);
        names
            .find(|name| self.taken.insert(name_key(name)))
            .unwrap_or_else(|| id.to_string())
    }
}

/// Returns the folder of a memory: that of its category, of the inbox or of conversations.
fn folder(memory: &Memory) -> &'static str {
    match (&memory.scope, memory.phase) {
        (Scope::Conversation(_), _) => "conversations",
        (_, Phase::Inbox) => Category::Inbox.as_str(),
        (_, Phase::Organized) => memory.category.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Draft;
    use memory_core::chrono::DateTime;

    use super::*;

    #[test]
    fn each_memory_has_a_name_of_its_own() {
        let mut catalog = ExportCatalog::new(ExportFormatName::Okf);
        let titles = ["Tea", "tea", "TEA", "", "", "index"];
        for (number, title) in titles.iter().enumerate() {
            let id = MemoryId::for_path(&number.to_string());
            catalog.add(
                &Draft::new("")
                    .title(title)
                    .into_memory(id, DateTime::UNIX_EPOCH),
            );
        }
        let names: HashSet<String> = catalog
            .iter()
            .map(|(_, entry)| entry.name.to_lowercase())
            .collect();
        assert_eq!((catalog.len(), names.len()), (6, 6));
        assert!(
            names.contains("tea") && names.contains("memory") && !names.contains("index"),
            "{names:?}"
        );
    }
}
