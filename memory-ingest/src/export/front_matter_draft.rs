//! Front matter with the keys of another program and the fields of a memory.

use serde_json::{Map, Value};

use super::{ExportRecord, own_fields, yaml_text};
use crate::front_matter;
use crate::own_fields::{KEY, WRITTEN_KEYS};
use crate::record_note::property_prefix;
use crate::yaml::Yaml;

/// Front matter in progress.
#[derive(Debug, Default)]
pub(super) struct FrontMatterDraft {
    /// The keys with their lines.
    lines: Vec<(String, String)>,
}

/// The keys of the program that an export is for.
pub(super) struct ProgramKeys<'a> {
    /// The name of the program as a source.
    pub(super) program: &'a str,
    /// The keys that the program gives a meaning.
    pub(super) reserved: &'a [&'a str],
    /// Returns whether the value that a memory from the program had there is still right.
    pub(super) is_current: &'a mut dyn FnMut(&str, &Yaml) -> bool,
}

impl FrontMatterDraft {
    /// Adds a key with its value.
    pub(super) fn line(&mut self, key: &str, value: impl Into<Value>) {
        let mut line = String::new();
        yaml_text::push_line(&mut line, 0, key, &value.into());
        self.lines.push((key.to_owned(), line));
    }

    /// Adds a key with a list, unless the list is empty.
    pub(super) fn list(&mut self, key: &str, items: &[String]) {
        if !items.is_empty() {
            let mut lines = String::new();
            yaml_text::push_list(&mut lines, key, items);
            self.lines.push((key.to_owned(), lines));
        }
    }

    fn has(&self, key: &str) -> bool {
        self.lines.iter().any(|(own, _)| own == key)
    }

    /// Returns the front matter with its fences, completed by the other keys and the fields of the memory.
    ///
    /// `export` describes the changes of the export. A memory that came from the program returns its keys, unless they are no
    /// longer right. Of other memories, the keys that mean something to the program are only part of `export`.
    pub(super) fn finish(
        mut self,
        record: &ExportRecord<'_>,
        mut export: Map<String, Value>,
        keys: &mut ProgramKeys<'_>,
    ) -> String {
        let mut others = String::new();
        if let Some(lines) = record.file.and_then(front_matter::extra_lines) {
            let mut origins = record
                .memory
                .origin
                .iter()
                .chain(&record.memory.other_origins);
            let prefix = property_prefix(keys.program);
            let prefix = if origins.any(|origin| origin.source == keys.program) {
                Some(prefix.as_str())
            } else {
                None
            };
            let is_own = |key: &str| prefix.is_some_and(|prefix| key.starts_with(prefix));
            let fields = front_matter::key_lines(&lines);
            let is_special = |key: &str| {
                key == KEY || self.has(key) || keys.reserved.contains(&key) || is_own(key)
            };
            if fields.iter().any(|(key, ..)| is_special(key)) {
                self.add_keys(&fields, prefix, keys);
                export.insert("front_matter".into(), lines.into());
            } else {
                others = lines;
            }
        }
        let written: Vec<_> = self.lines.iter().map(|(key, _)| key.as_str()).collect();
        export.insert(WRITTEN_KEYS.into(), written.into());
        let lines: String = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        let mut yaml = format!("---\n{lines}{others}{KEY}:\n");
        for (key, value) in own_fields(record.fields, export) {
            yaml_text::push_line(&mut yaml, 2, &key, &value);
        }
        yaml + "---\n"
    }

    /// Adds the other keys of a memory, without `prefix` if it came from the program.
    fn add_keys(
        &mut self,
        fields: &[(String, Yaml, &str)],
        prefix: Option<&str>,
        keys: &mut ProgramKeys<'_>,
    ) {
        let mut added = Vec::new();
        for (key, value, lines) in fields {
            let name = prefix
                .and_then(|prefix| key.strip_prefix(prefix))
                .unwrap_or(key);
            let is_free = !self.has(name) && !keys.reserved.contains(&name);
            let is_current = is_free || prefix.is_some() && (keys.is_current)(name, value);
            if name.is_empty() || name == KEY || added.contains(&name) || !is_current {
                continue;
            }
            added.push(name);
            let renamed = lines
                .strip_prefix(key.as_str())
                .filter(|rest| rest.starts_with(':') && is_plain(lines));
            let line = if let Some(rest) = renamed {
                format!("{name}{}\n", rest.trim_end())
            } else if name == key && is_plain(lines) {
                format!("{}\n", lines.trim_end())
            } else {
                let mut line = String::new();
                yaml_text::push_line(&mut line, 0, name, &crate::own_fields::json(value));
                line
            };
            match self.lines.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = line,
                None => self.lines.push((name.to_owned(), line)),
            }
        }
    }
}

/// Returns whether the lines of a key have no comments, which belong to the memory, and no anchors of other lines.
fn is_plain(lines: &str) -> bool {
    !lines.contains(['#', '&', '*', '\r']) && !lines.contains("\n\n")
}
