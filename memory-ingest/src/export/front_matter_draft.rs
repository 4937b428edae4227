//! Front matter with the keys of another program and the fields of a memory.

use serde_json::{Map, Value};

use super::{ExportRecord, own_fields, yaml_text};
use crate::front_matter;
use crate::own_fields::{KEY, WRITTEN_KEYS};

/// Front matter in progress.
#[derive(Debug, Default)]
pub(super) struct FrontMatterDraft {
    yaml: String,
    keys: Vec<String>,
}

impl FrontMatterDraft {
    /// Adds a key with its value.
    pub(super) fn line(&mut self, key: &str, value: impl Into<Value>) {
        yaml_text::push_line(&mut self.yaml, 0, key, &value.into());
        self.keys.push(key.to_owned());
    }

    /// Adds a key with a list, unless the list is empty.
    pub(super) fn list(&mut self, key: &str, items: &[String]) {
        if !items.is_empty() {
            yaml_text::push_list(&mut self.yaml, key, items);
            self.keys.push(key.to_owned());
        }
    }

    /// Returns the front matter with its fences, completed by the other keys and the fields of the memory.
    ///
    /// `export` describes the changes of the export, and `reserved` are the keys that mean something to the other program.
    pub(super) fn finish(mut self, record: &ExportRecord<'_>, mut export: Map<String, Value>, reserved: &[&str]) -> String {
        export.insert(WRITTEN_KEYS.into(), self.keys.clone().into());
        if let Some(lines) = record.file.and_then(front_matter::extra_lines) {
            let is_taken = |key: &String| key == KEY || self.keys.contains(key) || reserved.contains(&key.as_str());
            if front_matter::keys(&lines).iter().any(is_taken) {
                export.insert("front_matter".into(), lines.into());
            } else {
                self.yaml.push_str(&lines);
            }
        }
        let mut yaml = format!("---\n{}{KEY}:\n", self.yaml);
        for (key, value) in own_fields(record.fields, export) {
            yaml_text::push_line(&mut yaml, 2, &key, &value);
        }
        yaml + "---\n"
    }
}
