//! Parses a memory of an export.

use std::collections::HashMap;
use std::str::FromStr;

use chrono::{DateTime, Datelike, Utc};
use memory_core::{
    Category, Draft, ExportedFile, ExportedMemory, MemoryId, Origin, Phase, Recurrence, Reminder,
    Scope, SpeakerRole, parse_rfc3339,
};
use serde_json::{Map, Value};

/// Parses a memory of an export: any JSON object with at least `content`.
///
/// Case, `_` and `-` in keys do not matter, so that `content_hash`, `contentHash` and `ContentHash` are the same. Null,
/// an empty string and the year 1 (Go's zero time) count as missing. An id that is not a UUID is mapped to one,
/// consistently, also in links. `path` is the name of the file and `file` its content; `content_hash` and unknown keys
/// are ignored.
///
/// ```
/// let exported = memory_agent::json::parse_exported(r#"{"Content": "tea at seven", "Tags": ["habit"]}"#)?;
/// assert_eq!(exported.draft.content, "tea at seven");
/// assert_eq!(exported.draft.tags.as_slice(), ["habit"]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// A statement of the problem.
pub fn parse_exported(line: &str) -> Result<ExportedMemory, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(object) = value else {
        return Err("it is not a JSON object".into());
    };
    let mut fields = ExportFields::of(object);
    let content = fields.content()?;
    let draft = Draft {
        title: fields.text("title")?,
        aliases: fields.texts("aliases")?,
        category: fields.parsed::<Category>("category")?,
        phase: fields.parsed::<Phase>("phase")?,
        scope: fields.parsed::<Scope>("scope")?.unwrap_or(Scope::Global),
        tags: fields.texts("tags")?.iter().collect(),
        source: fields.text("source")?.unwrap_or_default(),
        role: speaker_role(fields.text("role")),
        created_at: fields.moment("created_at")?,
        expires_at: fields.moment("expires_at")?,
        valid_from: fields.moment("valid_from")?,
        valid_until: fields.moment("valid_until")?,
        pinned: fields.flag("pinned")?,
        reminder: fields.reminder()?,
        origin: fields.origin()?,
        ..Draft::new(&content)
    };
    Ok(ExportedMemory {
        id: fields.text("id")?.map(|id| memory_id(&id)),
        draft,
        updated_at: fields.moment("updated_at")?,
        stated_at: fields.moment("stated_at")?,
        access_count: fields.number("access_count")?.unwrap_or(0),
        links: fields.ids("links")?,
        version: fields.number("version")?.filter(|version| *version != 0),
        supersedes: fields.ids("supersedes")?,
        superseded_by: fields.text("superseded_by")?.map(|id| memory_id(&id)),
        other_origins: fields.origins()?,
        // The exports of other programs may use these names for something else.
        file: ExportedFile::new(
            fields.text("path").unwrap_or_default().as_deref(),
            fields.text("file").unwrap_or_default(),
        ),
    })
}

/// Returns the role of the author; an unknown one is that of a program, so that its text never counts as the person's.
fn speaker_role(field: Result<Option<String>, String>) -> Option<SpeakerRole> {
    let role = field.unwrap_or_else(|_| Some(String::new()))?;
    Some(role.parse().unwrap_or(SpeakerRole::Tool))
}

/// The fields of an object, under normalized keys.
struct ExportFields(HashMap<String, Value>);

impl ExportFields {
    fn of(object: Map<String, Value>) -> Self {
        Self(
            object
                .into_iter()
                .map(|(name, value)| (normalize_key(&name), value))
                .collect(),
        )
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0
            .remove(&normalize_key(name))
            .filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// Takes the content, the only required field; it may be empty, as in a memory with just a title.
    fn content(&mut self) -> Result<String, String> {
        match self.0.remove("content") {
            None | Some(Value::Null) => Err("it has no content".into()),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(format!("content is {}, not a text", type_name(&other))),
        }
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("{name} is {}, not a text", type_name(&other))),
        }
    }

    /// Takes a list of strings; a single string is split at commas.
    fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => {
                Ok(text.split(',').map(|part| part.trim().to_owned()).collect())
            }
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| text_item(name, item))
                .collect(),
            Some(other) => Err(format!(
                "{name} is {}, not a list of texts",
                type_name(&other)
            )),
        }
    }

    fn ids(&mut self, name: &str) -> Result<Vec<MemoryId>, String> {
        Ok(self
            .texts(name)?
            .iter()
            .filter(|id| !id.is_empty())
            .map(|id| memory_id(id))
            .collect())
    }

    fn parsed<T: FromStr<Err: ToString>>(&mut self, name: &str) -> Result<Option<T>, String> {
        self.text(name)?
            .map(|text| {
                text.parse()
                    .map_err(|error: T::Err| format!("{name}: {}", error.to_string()))
            })
            .transpose()
    }

    fn moment(&mut self, name: &str) -> Result<Option<DateTime<Utc>>, String> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let moment = parse_rfc3339(&text)
            .ok_or_else(|| format!("{name}: {text:?} is not a time in RFC 3339 format"))?;
        Ok(Some(moment).filter(|moment| moment.year() != 1))
    }

    fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        value
            .as_u64()
            .map(Some)
            .ok_or_else(|| format!("{name} is {value}, not an integer of at least 0"))
    }

    fn flag(&mut self, name: &str) -> Result<bool, String> {
        let Some(value) = self.take(name) else {
            return Ok(false);
        };
        value
            .as_bool()
            .ok_or_else(|| format!("{name} is {}, not true or false", type_name(&value)))
    }

    /// Takes the fields of a reminder; without a due time there is no reminder.
    fn reminder(&mut self) -> Result<Option<Reminder>, String> {
        let Some(due) = self.moment("due")? else {
            return Ok(None);
        };
        let of = self.text("reminds")?.map(|id| memory_id(&id));
        let snoozed_from = self.moment("snoozed_from")?;
        let repeats = self.text("repeats")?.map(|expression| Recurrence {
            expression,
            snoozed_from,
        });
        Ok(Some(Reminder {
            due,
            of,
            notified_at: self.moment("notified_at")?,
            done_at: self.moment("done_at")?,
            repeats,
        }))
    }

    fn origin(&mut self) -> Result<Option<Origin>, String> {
        self.take("origin")
            .map(|value| parse_origin("origin", value))
            .transpose()
    }

    fn origins(&mut self) -> Result<Vec<Origin>, String> {
        match self.take("other_origins") {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| parse_origin("other_origins", item))
                .collect(),
            Some(other) => Err(format!(
                "other_origins is {}, not a list",
                type_name(&other)
            )),
        }
    }
}

fn parse_origin(name: &str, value: Value) -> Result<Origin, String> {
    let mut fields = match value {
        Value::Object(object) => ExportFields::of(object),
        other => return Err(format!("{name} is {}, not an object", type_name(&other))),
    };
    let mut part = |name: &str| Ok::<_, String>(fields.text(name)?.unwrap_or_default());
    let (source, root, path) = (part("source")?, part("root")?, part("path")?);
    Ok(Origin {
        source,
        root,
        path,
        hash: fields.parsed("hash")?,
    })
}

fn normalize_key(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

fn memory_id(id: &str) -> MemoryId {
    id.parse().unwrap_or_else(|_| MemoryId::for_path(id))
}

fn text_item(name: &str, item: Value) -> Result<String, String> {
    match item {
        Value::String(text) => Ok(text),
        other => Err(format!("{name} holds {}, not a text", type_name(&other))),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
