//! Exports of memories in the formats of other programs.
//!
//! A format turns memories into parts of files; it reads and writes nothing itself. The caller passes all memories twice:
//! first to an [`ExportCatalog`], which gives each memory its name and its file, and then to the [`ExportFormat`].
//!
//! | format | output | fields of this program |
//! |---|---|---|
//! | `okf` | an Open Knowledge Format 0.2 bundle | front matter |
//! | `obsidian` | a vault | front matter |
//! | `basic-memory` | a project folder | front matter |
//! | `mem0` | the JSON of `get_all` | metadata |
//! | `server-memory` | `memory.jsonl` with entities and relations | metadata |
//! | `html` | one page without scripts | none |
//!
//! All fields of a memory travel as one map, `x_memory`, so that an import of the export restores them.

mod basic_memory;
mod catalog;
mod file_name;
mod front_matter_draft;
mod html;
mod link_text;
mod mem0;
mod obsidian;
mod okf;
mod server_memory;
mod summary;
mod yaml_text;

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use memory_core::text::is_sign_or_emoji;
use memory_core::{Memory, MemoryId, ParseError};
use serde_json::{Map, Value};
use unicode_normalization::char::is_combining_mark;

pub use catalog::ExportCatalog;

use crate::front_matter::{extra_lines, split_front_matter};
use crate::note;
use crate::own_fields;
use crate::record::map_category;
use crate::record_note::property_prefix;
use crate::yaml::Yaml;

/// A memory to export.
#[derive(Clone, Copy)]
pub struct ExportRecord<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// The JSON of the memory, as `memory read --json` prints it.
    pub fields: &'a Value,
    /// The complete file of the memory, if it contains more than the memory.
    pub file: Option<&'a str>,
    /// Returns the memory that a wikilink in the text leads to.
    pub resolve: &'a dyn Fn(&str) -> Option<MemoryId>,
}

impl fmt::Debug for ExportRecord<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExportRecord")
            .field("memory", self.memory)
            .finish_non_exhaustive()
    }
}

/// A part of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPart {
    /// The path of a complete file below the folder, with `/` as separator; empty for the next part of a single file.
    pub path: String,
    /// The text.
    pub text: String,
}

impl ExportPart {
    fn next(text: String) -> Self {
        Self {
            path: String::new(),
            text,
        }
    }
}

/// A format of an export. Memories that are not in its catalog are left out.
pub trait ExportFormat {
    /// Returns the parts before all memories.
    fn start(&mut self) -> Vec<ExportPart> {
        Vec::new()
    }

    /// Returns the parts of one memory.
    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart>;

    /// Returns the parts after all memories.
    fn finish(&mut self) -> Vec<ExportPart> {
        Vec::new()
    }
}

/// Defines the formats: for each its name, whether it is a folder of files, and its constructor.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident { name: $name:literal, is_folder: $is_folder:literal, open: $open:expr }),+ $(,)?) => {
        /// The name of a format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ExportFormatName {
            $($(#[$doc])* $format),+
        }

        impl ExportFormatName {
            /// All formats, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$format),+];

            /// Returns the name as it is written on the command line.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$format => $name),+
                }
            }

            /// Returns whether the export is a folder of files, and not a single file.
            pub const fn is_folder(self) -> bool {
                match self {
                    $(Self::$format => $is_folder),+
                }
            }

            /// Returns an export in this format of the memories in `catalog`.
            pub fn open(self, catalog: ExportCatalog) -> Box<dyn ExportFormat> {
                match self {
                    $(Self::$format => Box::new($open(catalog))),+
                }
            }
        }

        const EXPECTED: &str = concat!("a format (one of" $(, " ", $name)+, ")");
    };
}

formats! {
    /// The Open Knowledge Format 0.2.
    Okf { name: "okf", is_folder: true, open: okf::OkfExport::new },
    /// A vault of Obsidian.
    Obsidian { name: "obsidian", is_folder: true, open: obsidian::ObsidianExport::new },
    /// A project of Basic Memory.
    BasicMemory { name: "basic-memory", is_folder: true, open: basic_memory::BasicMemoryExport::new },
    /// The answer of `get_all` of mem0.
    Mem0 { name: "mem0", is_folder: false, open: mem0::Mem0Export::new },
    /// The file of the MCP server `memory`.
    ServerMemory { name: "server-memory", is_folder: false, open: server_memory::ServerMemoryExport::new },
    /// A page for a browser.
    Html { name: "html", is_folder: false, open: html::HtmlExport::new },
}

impl ExportFormatName {
    /// Returns whether the memories must be passed category by category, in the order of [`memory_core::Category::ALL`].
    pub const fn is_grouped(self) -> bool {
        matches!(self, Self::Html)
    }
}

impl fmt::Display for ExportFormatName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for ExportFormatName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|name| name.as_str() == text.trim());
        found.ok_or_else(|| ParseError::new(text, EXPECTED))
    }
}

/// Returns the map of the fields of this program: those of the JSON of a memory, without the text and empty values.
fn own_fields(fields: &Value, export: Map<String, Value>) -> Map<String, Value> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let is_left_out =
        |key: &str| matches!(key, "content" | "path" | "problem" | "file" | "history");
    let all = fields.as_object().into_iter().flatten();
    let mut own: Map<String, Value> = all
        .filter(|(key, value)| !is_left_out(key) && !is_empty(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !export.is_empty() {
        own.insert(own_fields::EXPORT.into(), export.into());
    }
    own
}

/// Returns the description of an export that contains no front matter: the lines of the memory that are not its fields.
fn front_matter_of(record: &ExportRecord<'_>) -> Map<String, Value> {
    let lines = record.file.and_then(extra_lines);
    lines
        .map(|lines| ("front_matter".to_owned(), lines.into()))
        .into_iter()
        .collect()
}

/// Returns the properties that a memory received from `source`, with their names in that program.
fn source_properties(record: &ExportRecord<'_>, source: &str) -> Vec<(String, Value)> {
    let prefix = property_prefix(source);
    let fields = record
        .file
        .and_then(|file| split_front_matter(file).fields.ok())
        .unwrap_or_default();
    let properties = fields.iter().map(|(key, value)| {
        Some((
            key.strip_prefix(&prefix)?.to_owned(),
            own_fields::json(value),
        ))
    });
    properties.flatten().collect()
}

/// Returns a time as RFC 3339 in UTC.
fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Returns whether the time of another program is `at`, to the second or as a time in any zone; a value that is no time is that of no
/// moment.
fn is_time(value: &Yaml, at: Option<DateTime<Utc>>) -> bool {
    match (note::time_of(value), at) {
        (Some(stated), Some(at)) if note::local_times_in(value).contains(&stated) => {
            (at - stated).abs() <= MAX_OFFSET
        }
        (stated, at) => stated.map(|at| at.timestamp()) == at.map(|at| at.timestamp()),
    }
}

/// Returns whether a value that the user wrote as a time may remain: it is `at`, or no time that could be read.
fn is_time_of_user(value: &Yaml, at: DateTime<Utc>) -> bool {
    note::time_of(value).is_none() || is_time(value, Some(at))
}

/// Maximum offset of a time zone.
const MAX_OFFSET: TimeDelta = TimeDelta::hours(14);

/// Returns whether the type of another program has the meaning of the category of a memory, or of no category.
fn is_category(memory: &Memory, kind: &Yaml) -> bool {
    kind.scalar()
        .and_then(map_category)
        .is_none_or(|category| category == memory.category)
}

/// Returns a tag as programs for notes accept it: letters and digits of any script, emoji and other signs, `-`, `_` and `/`, and not
/// only digits.
fn tag_name(tag: &str) -> Option<String> {
    let is_allowed = |character: char| {
        character.is_alphanumeric()
            || is_combining_mark(character)
            || is_sign_or_emoji(character)
            || "-_/".contains(character)
    };
    // These join and change emoji.
    let is_joiner = |character: char| matches!(character, '\u{200d}' | '\u{e0020}'..='\u{e007f}');
    let mut name = String::new();
    for character in tag.chars() {
        let continues_emoji =
            is_joiner(character) && !name.is_empty() && !name.ends_with(['-', '/']);
        if continues_emoji || is_allowed(character) {
            name.push(character);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let parts: Vec<&str> = name
        .split('/')
        .map(|part| part.trim_matches('-'))
        .filter(|part| !part.is_empty())
        .collect();
    let name = parts.join("/");
    if name.is_empty() {
        return None;
    }
    Some(if name.chars().any(|character| !character.is_numeric()) {
        name
    } else {
        format!("_{name}")
    })
}

#[cfg(test)]
mod tests {
    use super::tag_name;

    #[test]
    fn tags_have_the_characters_of_tags_of_notes() {
        for (tag, name) in [
            ("deep work", Some("deep-work")),
            ("c++", Some("c")),
            ("area/home, garden/", Some("area/home-garden")),
            ("2024", Some("_2024")),
            ("日本語", Some("日本語")),
            ("🍵 tea", Some("🍵-tea")),
            ("👩‍🔬/❤️", Some("👩‍🔬/❤️")),
            ("!", None),
        ] {
            assert_eq!(tag_name(tag).as_deref(), name, "{tag}");
        }
    }
}
