//! A note that is made of a record of another program.

use chrono::{DateTime, Utc};
use memory_core::{Draft, NoteItem, Origin, Phase, Scope, SourceItem, secret};
use serde_json::{Map, Value};

use crate::note::{one_line, trim_newline};
use crate::own_fields;
use crate::record::{SourceRecord, clean_text};
use crate::yaml::{self, Yaml};

/// Maximum size of a property in bytes.
const MAX_PROPERTY_BYTES: usize = 64 << 10;

/// Maximum size of all properties of a note in bytes.
const MAX_PROPERTIES_BYTES: usize = 512 << 10;

/// A note that is made of a record of another program.
#[derive(Debug)]
pub(crate) struct RecordNote {
    pub(crate) draft: Draft,
    /// The paths that it may have had in former states of the source, see [`NoteItem::former_paths`].
    pub(crate) former_paths: Vec<String>,
    /// The time of the last change, if the source records it.
    pub(crate) updated_at: Option<DateTime<Utc>>,
    /// The times that the record states without a zone, see [`NoteItem::local_times`].
    pub(crate) local_times: Vec<DateTime<Utc>>,
    /// The targets of its links.
    pub(crate) links: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// The fields that it had as a memory of this program.
    own: Option<Value>,
    /// The prefix of the keys in the front matter.
    prefix: String,
    front_matter: String,
}

impl RecordNote {
    /// Returns a note with `content` and the origin `path` below `root`.
    pub(crate) fn new(source: &str, root: &str, path: &str, content: &str) -> Self {
        let origin = Origin {
            source: source.into(),
            root: root.into(),
            path: path.into(),
            hash: None,
        };
        let draft = Draft {
            phase: Some(Phase::Inbox),
            source: source.into(),
            origin: Some(origin),
            ..Draft::new(trim_newline(&clean_text(content)))
        };
        let (links, warnings, front_matter) = (Vec::new(), Vec::new(), String::new());
        Self {
            draft,
            former_paths: Vec::new(),
            updated_at: None,
            local_times: Vec::new(),
            links,
            warnings,
            own: None,
            prefix: property_prefix(source),
            front_matter,
        }
    }

    /// Adds a property to the front matter, as `<source>_<key>`. A missing value has no property.
    pub(crate) fn add_property(&mut self, key: &str, value: Option<&Value>) {
        let Some(value) = value else { return };
        // With the prefix, a credential would not be recognized. Redacted names may not be unique.
        let mut kinds: Vec<_> = secret::find(key)
            .into_iter()
            .map(|found| found.kind)
            .collect();
        let value = &without_secret_names(value, &mut kinds);
        if let Some(kind) = kinds.first() {
            self.warnings.push(format!(
                "a property was left out, since its name contains a credential ({kind})"
            ));
        }
        if !secret::find(key).is_empty() {
            return;
        }
        let name = format!("{}{key}", self.prefix);
        let is_plain = key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let quoted = if is_plain {
            name.clone()
        } else {
            quote(&Value::from(name.as_str()))
        };
        let line = format!("{quoted}: {}\n", quote(value));
        // A value that YAML does not accept as it is becomes a text.
        let line = if is_property(&line, &name) {
            line
        } else {
            format!("{quoted}: {}\n", quote(&value.to_string().into()))
        };
        if MAX_PROPERTY_BYTES < line.len()
            || MAX_PROPERTIES_BYTES < self.front_matter.len() + line.len()
        {
            self.warnings
                .push(format!("its property {key} is too large and was left out"));
        } else if is_property(&line, &name) {
            self.front_matter.push_str(&line);
        }
    }

    /// Sets the fields that the note had as a memory of this program, from the metadata of an export.
    ///
    /// They replace its properties.
    pub(crate) fn set_own_fields(&mut self, metadata: Option<&SourceRecord>) {
        self.own = metadata
            .and_then(|metadata| metadata.get(own_fields::KEY))
            .cloned();
    }

    /// Returns the note as an item of its source.
    pub(crate) fn into_item(self) -> SourceItem {
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        let front_matter = if self.own.is_some() {
            String::new()
        } else {
            self.front_matter
        };
        let (former_paths, updated_at, links) = (self.former_paths, self.updated_at, self.links);
        // The fields of a memory have exact times.
        let local_times = if self.own.is_some() {
            Vec::new()
        } else {
            self.local_times
        };
        let mut item = NoteItem {
            local_times,
            former_paths,
            updated_at,
            front_matter,
            links,
            warning,
            ..NoteItem::new(self.draft)
        };
        if let Some(fields) = self.own {
            own_fields::apply(&fields, &[], &mut item);
        }
        SourceItem::Note(Box::new(item))
    }
}

/// Returns the start of the names of the properties of a source in the front matter of a memory.
pub(crate) fn property_prefix(source: &str) -> String {
    format!("{}_", source.replace('-', "_"))
}

/// Returns a value without the members of objects whose names contain a credential. Their kinds are added to `kinds`.
fn without_secret_names(value: &Value, kinds: &mut Vec<&'static str>) -> Value {
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| without_secret_names(item, kinds))
            .collect(),
        Value::Object(fields) => {
            let mut rest = Map::new();
            for (key, value) in fields {
                match secret::find(key).first() {
                    Some(found) => kinds.push(found.kind),
                    None => drop(rest.insert(key.clone(), without_secret_names(value, kinds))),
                }
            }
            rest.into()
        }
        value => value.clone(),
    }
}

/// Returns a value as JSON without characters that YAML does not accept.
fn quote(value: &Value) -> String {
    // Outside of strings, JSON contains only printable characters.
    let escape = |character: char| match u32::from(character) {
        code @ (0x7f..=0x9f | 0x2028 | 0x2029 | 0xfeff | 0xfffe | 0xffff) => {
            format!("\\u{code:04x}")
        }
        _ => character.to_string(),
    };
    value.to_string().chars().map(escape).collect()
}

fn is_property(line: &str, name: &str) -> bool {
    matches!(yaml::parse(line), Ok(Yaml::Map(fields)) if fields.len() == 1 && fields[0].0 == name)
}

/// Returns the scope of a project, or the global scope if it has no name.
pub(crate) fn project_scope(name: Option<&str>) -> Scope {
    name.map(one_line)
        .filter(|name| !name.is_empty())
        .map_or(Scope::Global, Scope::Project)
}

/// Returns a Markdown list with one item per text.
pub(crate) fn markdown_list<'a>(items: impl IntoIterator<Item = &'a String>) -> String {
    let lines: Vec<_> = items
        .into_iter()
        .map(|item| format!("- {}", item.trim().replace('\n', "\n  ")))
        .collect();
    lines.join("\n")
}

/// Returns the parts that are not blank, separated by empty lines.
pub(crate) fn join_paragraphs(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use memory_core::SourceItem;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::RecordNote;
    use crate::yaml::{self, Yaml};

    fn front_matter(properties: &[(&str, Value)]) -> String {
        let mut note = RecordNote::new("mem0", "mem0", "a", "text");
        for (key, value) in properties {
            note.add_property(key, Some(value));
        }
        let SourceItem::Note(item) = note.into_item() else {
            panic!("it is a note")
        };
        item.front_matter
    }

    #[test]
    fn properties_are_lines_of_yaml() {
        let value = json!({"a": [1, true, null, "x: y"], "键": "\u{7f}\u{2028}😀"});
        let lines = front_matter(&[
            ("user_id", json!("2024-01-01")),
            ("meta data", value),
            ("n", json!(1)),
        ]);
        assert_eq!(
            lines,
            "mem0_user_id: \"2024-01-01\"\n\"mem0_meta data\": {\"a\":[1,true,null,\"x: y\"],\"键\":\"\\u007f\\u2028😀\"}\nmem0_n: 1\n"
        );
        let Ok(Yaml::Map(fields)) = yaml::parse(&lines) else {
            panic!("it is YAML: {lines}")
        };
        assert_eq!(fields[0].1, Yaml::Text("2024-01-01".into()));
    }

    #[test]
    fn a_property_that_is_too_large_is_reported() {
        let mut note = RecordNote::new("mem0", "mem0", "a", "text");
        note.add_property("x", Some(&"y".repeat(100_000).into()));
        let SourceItem::Note(item) = note.into_item() else {
            panic!("it is a note")
        };
        assert_eq!(
            (item.front_matter.as_str(), item.warning.is_some()),
            ("", true)
        );
    }

    proptest! {
        #[test]
        fn texts_survive_as_properties(key in "\\PC{1,12}", text in any::<String>()) {
            let text = text.replace('\0', "");
            let lines = front_matter(&[(&key, Value::from(text.as_str()))]);
            let Ok(Yaml::Map(fields)) = yaml::parse(&lines) else { panic!("it is YAML: {lines}") };
            prop_assert_eq!(&fields[0], &(format!("mem0_{key}"), Yaml::Text(text)));
        }
    }
}
