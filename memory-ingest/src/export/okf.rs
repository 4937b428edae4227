//! The Open Knowledge Format 0.2: a folder of Markdown files with front matter, and lists of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use memory_core::wikilink::Wikilink;
use memory_core::{Memory, MemoryId, Phase, SpeakerRole};
use serde_json::{Value, json};

use super::catalog::{CatalogEntry, ExportCatalog};
use super::front_matter_draft::{FrontMatterDraft, ProgramKeys};
use super::link_text::{replace_links, shown_text};
use super::{
    ExportFormat, ExportPart, ExportRecord, is_category, is_time, is_time_of_user, summary, time,
};
use crate::okf::NAME;
use crate::related_section::SectionStyle;
use crate::yaml::Yaml;

/// The front-matter keys of the format.
const KEYS: [&str; 15] = [
    "type",
    "title",
    "description",
    "resource",
    "tags",
    "sources",
    "usage_window",
    "generated",
    "verified",
    "status",
    "stale_after",
    "timestamp",
    "computation",
    "executor",
    "attester",
];

/// The section of links that the text does not contain.
const RELATED: SectionStyle = SectionStyle {
    heading: "# Related",
    bullet: "*",
};

/// An export as a bundle.
#[derive(Debug)]
pub(super) struct OkfExport {
    catalog: ExportCatalog,
    /// The entries of the list of each folder.
    lists: BTreeMap<&'static str, String>,
}

impl OkfExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self {
            catalog,
            lists: BTreeMap::new(),
        }
    }

    fn link(&self, from: &CatalogEntry, to: &MemoryId, shown: &str) -> Option<String> {
        let address = self.catalog.address(from, to)?;
        Some(format!("[{}]({address})", escape(shown)))
    }
}

impl ExportFormat for OkfExport {
    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else {
            return Vec::new();
        };
        let write = |link: &Wikilink, id, _| self.link(entry, &id, &shown_text(link));
        let linked = replace_links(record, &self.catalog, &write);
        let aliases = summary::names(&memory.aliases);
        let related = linked.related(record, |id| {
            self.link(entry, id, &self.catalog.get(id)?.headline)
        });
        let section = RELATED.write(related.iter().map(|(item, _)| item.as_str()));
        let mut export = linked.changes(&related, &section);
        export.extend([
            (
                "title".to_owned(),
                if entry.headline.is_empty() {
                    &entry.name
                } else {
                    &entry.headline
                }
                .as_str()
                .into(),
            ),
            ("aliases".to_owned(), aliases.as_slice().into()),
            ("tags".to_owned(), memory.tags.as_slice().into()),
            ("category".to_owned(), memory.category.as_str().into()),
        ]);
        let description = summary::description(memory);
        let front_matter = header(memory, entry, &description, &aliases).finish(
            record,
            export,
            &mut ProgramKeys {
                program: NAME,
                reserved: &KEYS,
                is_current: &mut |key, value| is_current(memory, key, value),
            },
        );
        let list = self.lists.entry(entry.folder).or_default();
        let separator = if description.is_empty() { "" } else { " - " };
        writeln!(
            list,
            "* [{}]({}.md){separator}{description}",
            escape(&entry.headline),
            entry.name
        )
        .expect("a text grows");
        vec![ExportPart {
            path: entry.path(),
            text: format!("{front_matter}{}{section}\n", linked.text),
        }]
    }

    fn finish(&mut self) -> Vec<ExportPart> {
        let mut root = String::from("---\nokf_version: \"0.2\"\n---\n\n# Memories\n\n");
        let mut parts = Vec::new();
        for (folder, list) in std::mem::take(&mut self.lists) {
            let count = list.lines().count();
            let memories = if count == 1 { "memory" } else { "memories" };
            writeln!(root, "* [{folder}]({folder}/index.md) - {count} {memories}")
                .expect("a text grows");
            parts.push(ExportPart {
                path: format!("{folder}/index.md"),
                text: format!("# {folder}\n\n{list}"),
            });
        }
        parts.push(ExportPart {
            path: "index.md".into(),
            text: root,
        });
        parts
    }
}

fn header(
    memory: &Memory,
    entry: &CatalogEntry,
    description: &str,
    aliases: &[String],
) -> FrontMatterDraft {
    let mut header = FrontMatterDraft::default();
    header.line("type", memory.category.as_str());
    if !entry.headline.is_empty() {
        header.line("title", entry.headline.as_str());
    }
    if !description.is_empty() {
        header.line("description", description);
    }
    if !aliases.is_empty() {
        header.line("aliases", aliases);
    }
    if !memory.tags.is_empty() {
        header.line("tags", memory.tags.as_slice());
    }
    header.line(
        "generated",
        json!({ "by": author(memory), "at": time(memory.updated_at) }),
    );
    if memory.pinned {
        header.line(
            "verified",
            json!([{ "by": "human:user", "at": time(memory.updated_at) }]),
        );
    }
    if memory.superseded_by.is_some() {
        header.line("status", "deprecated");
    } else if memory.phase == Phase::Inbox
        && memory
            .origin
            .as_ref()
            .is_none_or(|origin| origin.source != NAME)
    {
        // A concept of a bundle has its own status, or none.
        header.line("status", "draft");
    }
    if let Some(end) = memory.ends_at() {
        header.line("stale_after", time(end));
    }
    if let Some(origin) = &memory.origin {
        header.line(
            "sources",
            Value::Array(vec![json!({ "resource": origin.to_text() })]),
        );
    }
    header
}

/// Returns whether a value that a memory from a bundle had there is still right.
fn is_current(memory: &Memory, key: &str, value: &Yaml) -> bool {
    match key {
        "type" => is_category(memory, value),
        "generated" => value
            .get("at")
            .is_none_or(|at| is_time_of_user(at, memory.updated_at)),
        "timestamp" => is_time_of_user(value, memory.updated_at),
        "stale_after" => is_time(value, memory.ends_at()),
        "status" => memory.superseded_by.is_none(),
        "title" | "tags" => false,
        _ => true,
    }
}

/// Returns the author as an actor of the format.
fn author(memory: &Memory) -> String {
    match (memory.speaker_role(), memory.source.as_str()) {
        (Some(SpeakerRole::Person), "") => "human:user".into(),
        (Some(SpeakerRole::Person), source) => format!("human:{source}"),
        (_, "") => concat!("memory/", env!("CARGO_PKG_VERSION")).into(),
        (_, source) => source.to_owned(),
    }
}

/// Escapes the text of a link.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
