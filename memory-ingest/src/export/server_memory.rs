//! The file of the MCP server `memory`: entities and relations, one per line.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use memory_core::{Memory, MemoryId, wikilink};
use serde_json::{Map, Value};

use super::catalog::ExportCatalog;
use super::{
    ExportFormat, ExportPart, ExportRecord, front_matter_of, own_fields, source_properties,
};
use crate::own_fields::KEY;
use crate::record_note::markdown_list;
use crate::server_memory::{
    EntityRelation, LINK_RELATION, NAME, OBSERVATIONS_PROPERTY, RELATIONS_PROPERTY, TYPE_PROPERTY,
    entity_name, entity_text, list_items, observation_texts,
};

/// An export as `memory.jsonl`.
#[derive(Debug)]
pub(super) struct ServerMemoryExport {
    catalog: ExportCatalog,
    /// The names of two entities with a relation.
    related: HashSet<[String; 2]>,
    /// The names of two linked memories, which are related unless another relation causes the link.
    linked: Vec<[String; 2]>,
}

impl ServerMemoryExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self {
            catalog,
            related: HashSet::new(),
            linked: Vec::new(),
        }
    }
}

impl ExportFormat for ServerMemoryExport {
    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else {
            return Vec::new();
        };
        let mut properties: Map<String, Value> =
            source_properties(record, NAME).into_iter().collect();
        let relations = properties
            .remove(RELATIONS_PROPERTY)
            .map(|value| EntityRelation::read_all(&value));
        let is_entity = entity_name(memory).is_some();
        // An entity without a type remains without one.
        let kind = properties
            .remove(TYPE_PROPERTY)
            .or_else(|| (!is_entity).then(|| memory.category.as_str().into()));
        let listed = properties.remove(OBSERVATIONS_PROPERTY);
        let (observations, relations, has_list) =
            split_text(memory, &relations.unwrap_or_default(), is_entity);
        // The text of an unchanged memory does not determine its observations.
        let is_listed = |listed: &Value| {
            is_entity
                && has_equal_lines(&entity_text(&observation_texts(listed), &relations), memory)
        };
        let listed = listed.filter(is_listed);
        let has_list = has_list || listed.is_some();
        let mut export = front_matter_of(record);
        export.insert("title".into(), entry.name.as_str().into());
        let relation_to = |name: Option<&str>, to: &str| relation_record(&entry.name, to, name);
        let mut lines = Vec::new();
        let (mut written, mut related) = (Vec::new(), HashSet::new());
        for mut relation in relations {
            related.extend((record.resolve)(&relation.target));
            if let Some(target) = self.catalog.entity(&relation.target) {
                relation.target.clone_from(&target.name);
            }
            written.push(Value::from(relation.fields()));
            let mut line = relation_to(relation.name.as_deref(), &relation.target);
            line.extend(relation.more);
            lines.push(line.into());
            self.related.insert([entry.name.clone(), relation.target]);
        }
        if has_list {
            export.insert(RELATIONS_PROPERTY.into(), written.into());
        }
        let text_links: HashSet<MemoryId> = wikilink::parse(&memory.content)
            .iter()
            .filter_map(|link| (record.resolve)(&link.target))
            .collect();
        for id in memory.links.iter().filter(|id| !related.contains(*id)) {
            let Some(other) = self.catalog.get(id) else {
                continue;
            };
            let pair = [entry.name.clone(), other.name.clone()];
            let is_stated = text_links.contains(id);
            if is_stated && !(is_entity && other.is_entity) {
                lines.push(relation_to(Some(LINK_RELATION), &other.name).into());
                self.related.insert(pair);
            } else if is_stated || self.catalog.states_link(memory, id) {
                self.linked.push(pair);
            }
        }
        let (mut entity, mut metadata) = (Map::new(), Map::new());
        entity.insert("type".into(), "entity".into());
        entity.insert("name".into(), entry.name.as_str().into());
        entity.extend(kind.map(|kind| ("entityType".to_owned(), kind)));
        entity.insert(
            "observations".into(),
            listed.unwrap_or_else(|| observations.into()),
        );
        for (key, value) in properties {
            match value {
                Value::Object(fields) if key == "metadata" => metadata = fields,
                value => drop(entity.entry(key).or_insert(value)),
            }
        }
        metadata.insert(KEY.into(), own_fields(record.fields, export).into());
        entity.insert("metadata".into(), metadata.into());
        lines.insert(0, entity.into());
        vec![ExportPart::next(join_lines(lines))]
    }

    fn finish(&mut self) -> Vec<ExportPart> {
        let is_related = |[from, to]: &[String; 2]| {
            self.related.contains(&[from.clone(), to.clone()])
                || self.related.contains(&[to.clone(), from.clone()])
        };
        let linked = self.linked.iter().filter(|link| !is_related(link));
        let lines = join_lines(
            linked.map(|[from, to]| relation_record(from, to, Some(LINK_RELATION)).into()),
        );
        if lines.is_empty() {
            Vec::new()
        } else {
            vec![ExportPart::next(lines)]
        }
    }
}

fn relation_record(from: &str, to: &str, name: Option<&str>) -> Map<String, Value> {
    let name = name.map(|name| ("relationType", name));
    let fields = [("type", "relation"), ("from", from), ("to", to)];
    fields
        .into_iter()
        .chain(name)
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect()
}

/// Returns values as lines of JSON.
fn join_lines(values: impl IntoIterator<Item = Value>) -> String {
    let mut lines = String::new();
    for value in values {
        writeln!(lines, "{value}").expect("a text grows");
    }
    lines
}

/// Returns whether a text is that of a memory, except for white space at the ends of lines.
fn has_equal_lines(text: &str, memory: &Memory) -> bool {
    let lines = |text: &str| {
        text.trim_end()
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    lines(text) == lines(&memory.content)
}

/// Splits the text of a memory into observations and those of `relations` that it has as lines. Returns also whether the
/// text consists of them alone; otherwise it is one observation.
fn split_text(
    memory: &Memory,
    relations: &[EntityRelation],
    is_entity: bool,
) -> (Vec<String>, Vec<EntityRelation>, bool) {
    let content = memory.content.as_str();
    if !is_entity {
        let observations = if content.is_empty() {
            Vec::new()
        } else {
            vec![content.to_owned()]
        };
        return (observations, Vec::new(), false);
    }
    let mut lines: Vec<Option<&str>> = content.split('\n').map(Some).collect();
    let mut places = HashMap::<&str, Vec<usize>>::new();
    for (at, line) in content.split('\n').enumerate() {
        places.entry(line).or_default().push(at);
    }
    let mut present = Vec::new();
    for relation in relations.iter().rev() {
        let line = markdown_list(&[relation.line()]);
        if let Some(at) = places.get_mut(line.as_str()).and_then(Vec::pop) {
            lines[at] = None;
            present.push(relation.clone());
        }
    }
    present.reverse();
    let lines: Vec<&str> = lines.into_iter().flatten().collect();
    let observations = list_items(lines.join("\n").trim_end());
    if entity_text(&observations, &present) == content {
        (observations, present, true)
    } else {
        (vec![content.to_owned()], present, false)
    }
}
