//! The fields of a memory of this program, in an export for another program.
//!
//! An export writes them as a map under [`KEY`], beside the fields of the other format: in front matter, or in the metadata
//! of a JSON record. The map has the names and values of `memory read --json`, without the text. Its key `export` describes
//! how the export changed the parts that people and other programs edit:
//!
//! | key in `export` | content |
//! |---|---|
//! | `title`, `aliases`, `tags`, `category` | the values that the export wrote, if an edit of them counts |
//! | `related` | pairs of a list item and the id of the linked memory, for links that the text does not contain |
//! | `after` | the section of these items that the export added after the text |
//! | `headings` | the number of headings with the title of this section that the text contains, if any |
//! | `links` | pairs of a link in the file and the link in the memory, in the order of the file |
//! | `front_matter` | front-matter lines of the memory that the other format cannot contain as they are |
//! | `keys` | the front-matter keys that the export wrote |

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::wikilink::parse_prose_wikilinks;
use memory_core::{
    Category, ContentHash, Draft, ExportedVersion, FormerFields, MemoryId, NoteItem, Origin, Phase,
    Recurrence, Reminder, Scope, SpeakerRole, Tags, parse_rfc3339,
};
use serde_json::{Map, Value};

use crate::front_matter::extra_lines;
use crate::markdown_links::file_links;
use crate::related_section::{WrittenItems, split_section};
use crate::yaml::Yaml;

/// The key of the map.
pub(crate) const KEY: &str = "x_memory";

/// The key that describes the export, in the map.
pub(crate) const EXPORT: &str = "export";

/// The key that lists the front-matter keys of the export, below [`EXPORT`].
pub(crate) const WRITTEN_KEYS: &str = "keys";

/// Restores the fields of a memory from the map of an export.
///
/// `note` has the values of the other format: the text after the front matter without its last line break, and the title,
/// the aliases, the tags and the category as people see them. An edit of these since the export counts, and all other
/// fields come from the map, which leaves out empty ones. The links of an unchanged text are those of the map. `listed` are the
/// items of a list of links outside the text; an edit of them counts, too.
///
/// Returns whether the text is unchanged since the export. Then tags in the text must not be added to `note`.
pub(crate) fn apply(fields: &Value, listed: &[String], note: &mut NoteItem) -> bool {
    let Value::Object(fields) = fields else {
        add_warning(note, &format!("{KEY} is not a map of keys and values"));
        return false;
    };
    note.unrestored = Some(Box::new(note.draft.clone()));
    let mut reader = FieldReader {
        fields,
        wrong: Vec::new(),
    };
    let written = fields.get(EXPORT).and_then(Value::as_object);
    let (is_unchanged, items) = restore_text(&reader, written, note);
    let exported = exported_version(fields, note);
    reader.restore_names(written, note);
    reader.restore_draft(note);
    note.id = reader.parsed("id").or(note.id);
    note.updated_at = reader.moment("updated_at").or(note.updated_at);
    note.former = FormerFields {
        exported,
        ..reader.former()
    };
    if let Some(origin) = &note.draft.origin {
        note.former
            .other_origins
            .retain(|other| !other.is_same_place(origin));
    }
    if is_unchanged {
        note.links = Vec::new();
        note.uncounted_links = Vec::new();
    }
    apply_items(written, &items.unwrap_or_else(|| listed.to_vec()), note);
    if let Some(lines) = written
        .and_then(|written| written.get("front_matter"))
        .and_then(Value::as_str)
    {
        // An export writes no fields of a memory here; a file of somebody else may.
        let lines = lines.strip_suffix('\n').unwrap_or(lines);
        let lines = extra_lines(&format!("---\n{lines}\n---\n")).unwrap_or_default();
        note.front_matter.push_str(&lines);
    }
    if !reader.wrong.is_empty() {
        let wrong = reader.wrong.join(", ");
        add_warning(
            note,
            &format!("{KEY}: the following fields cannot be read: {wrong}"),
        );
    }
    is_unchanged
}

/// Restores the fields of a memory from a map in front matter, see [`apply`].
pub(crate) fn apply_yaml(fields: &Yaml, listed: &[String], note: &mut NoteItem) -> bool {
    apply(&json(fields), listed, note)
}

/// Returns the front-matter keys that the export wrote.
pub(crate) fn written_keys(fields: &Yaml) -> impl Iterator<Item = &str> {
    let keys = match fields
        .get(EXPORT)
        .and_then(|export| export.get(WRITTEN_KEYS))
    {
        Some(Yaml::List(keys)) => keys.as_slice(),
        _ => &[],
    };
    keys.iter().filter_map(Yaml::scalar)
}

/// Returns a YAML value as JSON.
pub(crate) fn json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Null => Value::Null,
        Yaml::Text(text) => text.as_str().into(),
        Yaml::Plain(text) => match serde_json::from_str(text) {
            Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
            _ => text.as_str().into(),
        },
        Yaml::List(items) => items.iter().map(json).collect(),
        Yaml::Map(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), json(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

fn add_warning(note: &mut NoteItem, warning: &str) {
    match &mut note.warning {
        None => note.warning = Some(warning.to_owned()),
        Some(own) => own.extend(["; ", warning]),
    }
}

/// Restores the text of the memory. Returns whether it is the exported text, and the items of the section after it, if the
/// export added one.
fn restore_text(
    reader: &FieldReader<'_>,
    written: Option<&Map<String, Value>>,
    note: &mut NoteItem,
) -> (bool, Option<Vec<String>>) {
    let hash: Option<ContentHash> = reader
        .text("content_hash")
        .and_then(|hash| hash.parse().ok());
    let is_exported = |text: &str| Some(ContentHash::of(text)) == hash;
    let content = &mut note.draft.content;
    let mut items = None;
    if let Some(section) = written
        .and_then(|written| written.get("after"))
        .and_then(Value::as_str)
    {
        let own_headings = written
            .and_then(|written| written.get("headings"))
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let (text, listed) = split_section(
            content,
            section,
            usize::try_from(own_headings).unwrap_or(usize::MAX),
        );
        items = Some(listed.into_iter().map(str::to_owned).collect());
        *content = text.into_owned();
    }
    if is_exported(content) {
        return (true, items);
    }
    // The reader of a file removes a line break at the end, which may belong to the text.
    let ends = ["", "\r", "\n", "\r\n"];
    let restored = ends
        .iter()
        .map(|end| restore_links(&format!("{content}{end}"), written))
        .find(|text| is_exported(text));
    let is_unchanged = restored.is_some();
    *content = restored.unwrap_or_else(|| restore_links(content, written));
    (is_unchanged, items)
}

/// Applies the edits of a list of links: the memories of removed items are no longer linked, and those of new items are.
fn apply_items(written: Option<&Map<String, Value>>, items: &[String], note: &mut NoteItem) {
    let pairs = written
        .and_then(|written| written.get("related"))
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let text = |pair: &Value, at: usize| {
        pair.get(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let listed: HashSet<&String> = items.iter().collect();
    let removed: HashSet<String> = pairs
        .iter()
        .filter(|pair| !listed.contains(&text(pair, 0)))
        .map(|pair| text(pair, 1))
        .collect();
    note.former
        .links
        .retain(|link| removed.is_empty() || !removed.contains(&link.to_string()));
    let forms: Vec<_> = pairs.iter().map(|pair| text(pair, 0)).collect();
    let written = WrittenItems::new(forms.iter().map(String::as_str));
    let mut known: HashSet<String> = note.links.iter().cloned().collect();
    for item in items.iter().filter(|item| !written.contain(item)) {
        let targets = parse_prose_wikilinks(item)
            .into_iter()
            .map(|link| link.target)
            .chain(file_links(item));
        let targets: Vec<_> = targets.collect();
        if targets.is_empty() {
            add_warning(
                note,
                &format!("`{item}` in its list of links is no link and was left out"),
            );
        } else if !written.has_form_of(item) {
            add_warning(
                note,
                &format!(
                    "`{item}` in its list of links is more than a link; only the link was imported"
                ),
            );
        }
        note.listed_links
            .extend(targets.iter().map(|target| (target.clone(), item.clone())));
        let new: Vec<_> = targets
            .into_iter()
            .filter(|target| !known.contains(target))
            .collect();
        known.extend(new.iter().cloned());
        note.links.extend(new);
    }
}

/// Maximum number of different links that an edit may have removed. Each costs a pass over the text; the links behind them remain as
/// the export wrote them.
const MAX_MISSING_LINKS: usize = 500;

/// Returns a text with the original links in place of those that an export wrote.
pub(crate) fn restore_links(text: &str, written: Option<&Map<String, Value>>) -> String {
    let mut original = String::with_capacity(text.len());
    let (mut rest, mut missing) = (text, HashSet::new());
    let links = written
        .and_then(|written| written.get("links"))
        .and_then(Value::as_array);
    for pair in links.into_iter().flatten() {
        let (Some(link), Some(own)) = (
            pair.get(0).and_then(Value::as_str),
            pair.get(1).and_then(Value::as_str),
        ) else {
            continue;
        };
        // A link that an edit removed is skipped.
        if link.is_empty() || missing.contains(link) {
            continue;
        }
        let Some((before, after)) = rest.split_once(link) else {
            missing.insert(link);
            if MAX_MISSING_LINKS <= missing.len() {
                break;
            }
            continue;
        };
        original.extend([before, own]);
        rest = after;
    }
    original + rest
}

/// Returns the version of the memory that was exported, given the note before its fields are restored.
fn exported_version(fields: &Map<String, Value>, note: &NoteItem) -> Option<Box<ExportedVersion>> {
    let mut reader = FieldReader {
        fields,
        wrong: Vec::new(),
    };
    let content_hash = reader.parsed("content_hash")?;
    let mut note = NoteItem::new(Draft {
        content: String::new(),
        ..note.draft.clone()
    });
    reader.restore_names(None, &mut note);
    reader.restore_draft(&mut note);
    Some(Box::new(ExportedVersion {
        draft: note.draft,
        content_hash,
        links: reader.ids("links"),
    }))
}

struct FieldReader<'a> {
    fields: &'a Map<String, Value>,
    wrong: Vec<&'static str>,
}

impl<'a> FieldReader<'a> {
    fn value(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key).and_then(Value::as_str)
    }

    /// Returns the result of `read`; a value that it cannot read is reported.
    fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(key)?;
        let result = read(value);
        if result.is_none() {
            self.wrong.push(key);
        }
        result
    }

    fn parsed<T: std::str::FromStr>(&mut self, key: &'static str) -> Option<T> {
        self.read(key, |value| value.as_str()?.parse().ok())
    }

    fn moment(&mut self, key: &'static str) -> Option<DateTime<Utc>> {
        self.read(key, |value| parse_rfc3339(value.as_str()?))
    }

    fn number(&mut self, key: &'static str) -> Option<u64> {
        self.read(key, Value::as_u64)
    }

    fn ids(&mut self, key: &'static str) -> Vec<MemoryId> {
        let read = |value: &Value| {
            value
                .as_array()?
                .iter()
                .map(|id| id.as_str()?.parse().ok())
                .collect()
        };
        self.read(key, read).unwrap_or_default()
    }

    /// Restores the title, the aliases, the tags and the category, unless they were edited.
    fn restore_names(&mut self, written: Option<&Map<String, Value>>, note: &mut NoteItem) {
        let draft = &mut note.draft;
        let written = |key: &str| written.and_then(|written| written.get(key));
        let is_as_written = |key: &str, now: &dyn Fn(&Value) -> bool| written(key).is_none_or(now);
        if is_as_written("title", &|title| title.as_str() == draft.title.as_deref()) {
            draft.title = self.read("title", |title| Some(title.as_str()?.to_owned()));
        }
        if is_as_written("aliases", &|aliases| {
            texts(aliases).as_deref() == Some(draft.aliases.as_slice())
        }) {
            draft.aliases = self.read("aliases", texts).unwrap_or_default();
        } else if let Some(written) = written("aliases").and_then(texts) {
            // An export may leave out names that it writes elsewhere.
            let own = self.read("aliases", texts).unwrap_or_default();
            let one_line = |name: &str| {
                name.replace(char::is_control, " ")
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            let written: HashSet<String> = written.into_iter().collect();
            let known: HashSet<&String> = draft.title.iter().chain(&draft.aliases).collect();
            let left_out: Vec<_> = own
                .into_iter()
                .filter(|name| !known.contains(name) && !written.contains(&one_line(name)))
                .collect();
            draft.aliases.extend(left_out);
        }
        let same_tags = |tags: &Value| {
            texts(tags)
                .map(|tags| tags.into_iter().collect::<Tags>())
                .as_ref()
                == Some(&draft.tags)
        };
        let own_tags = self.read("tags", texts).unwrap_or_default();
        if is_as_written("tags", &same_tags) {
            draft.tags = own_tags.into_iter().collect();
        } else if let Some(written) = written("tags")
            .and_then(texts)
            .filter(|written| written.len() == own_tags.len())
        {
            // An export may have changed characters of the tags that an edit left as they are.
            let places: HashMap<&String, usize> = written.iter().zip(0..).collect();
            draft.tags = draft
                .tags
                .iter()
                .map(|tag| places.get(tag).map_or(tag, |at| &own_tags[*at]))
                .collect();
        }
        if draft.category.is_none()
            || is_as_written("category", &|category| {
                category.as_str() == draft.category.map(Category::as_str)
            })
        {
            draft.category = self.parsed("category").or(draft.category);
        }
    }

    fn restore_draft(&mut self, note: &mut NoteItem) {
        let draft = &mut note.draft;
        draft.phase = self.parsed::<Phase>("phase").or(draft.phase);
        draft.scope = self
            .parsed::<Scope>("scope")
            .unwrap_or_else(|| draft.scope.clone());
        draft.source = self
            .read("source", |source| Some(source.as_str()?.to_owned()))
            .unwrap_or_default();
        // An unknown role is that of a program, so that its text never counts as the person's.
        draft.role = self.read("role", |role| {
            Some(role.as_str()?.parse().unwrap_or(SpeakerRole::Tool))
        });
        draft.created_at = self.moment("created_at").or(draft.created_at);
        draft.expires_at = self.moment("expires_at");
        draft.valid_from = self.moment("valid_from");
        draft.valid_until = self.moment("valid_until");
        draft.pinned = self.read("pinned", Value::as_bool).unwrap_or_default();
        if let Some(due) = self.moment("due") {
            let (of, notified_at) = (self.parsed("reminds"), self.moment("notified_at"));
            let snoozed_from = self.moment("snoozed_from");
            let text = |value: &Value| Some(value.as_str()?.to_owned());
            let repeats = self.read("repeats", text).map(|expression| Recurrence {
                expression,
                snoozed_from,
            });
            draft.reminder = Some(Reminder {
                due,
                of,
                notified_at,
                done_at: self.moment("done_at"),
                repeats,
            });
        }
    }

    fn former(&mut self) -> FormerFields {
        let origins = |value: &Value| {
            value
                .as_array()?
                .iter()
                .map(origin)
                .collect::<Option<Vec<_>>>()
        };
        let mut other_origins: Vec<Origin> = self.read("origin", origin).into_iter().collect();
        other_origins.extend(self.read("other_origins", origins).unwrap_or_default());
        FormerFields {
            links: self.ids("links"),
            stated_at: self.moment("stated_at"),
            access_count: self.number("access_count").unwrap_or_default(),
            version: self.number("version").filter(|version| *version != 0),
            supersedes: self.ids("supersedes"),
            superseded_by: self.parsed("superseded_by"),
            other_origins,
            ..FormerFields::default()
        }
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value
        .as_array()?
        .iter()
        .map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

fn origin(value: &Value) -> Option<Origin> {
    let part = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
    Some(Origin {
        source: part("source")?,
        root: part("root")?,
        path: part("path")?,
        hash: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn links(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("[[{number}]]")).collect()
    }

    #[test]
    fn a_text_is_searched_for_a_limited_number_of_missing_links() {
        for (missing, restored) in [
            (MAX_MISSING_LINKS - 1, "(own)"),
            (MAX_MISSING_LINKS, "[[there]]"),
        ] {
            let mut pairs: Vec<_> = links(missing)
                .iter()
                .map(|link| json!([link, "x"]))
                .collect();
            // A link that is missing twice counts once.
            pairs.extend(pairs.clone());
            pairs.push(json!(["[[there]]", "(own)"]));
            let written = Map::from_iter([("links".to_owned(), Value::from(pairs))]);
            assert_eq!(
                restore_links("a [[there]] b", Some(&written)),
                format!("a {restored} b")
            );
        }
    }

    #[test]
    fn lists_made_to_be_slow_are_not() {
        // It takes minutes if one of these lists is searched for each item of another one.
        let (items, id) = (links(10_000), MemoryId::for_path("a"));
        let pairs: Vec<_> = items
            .iter()
            .map(|item| json!([format!("see {item}"), id.to_string()]))
            .collect();
        let fields = json!({
            "links": vec![id.to_string(); items.len()],
            "tags": items,
            "aliases": items,
            "export": { "related": pairs, "aliases": ["x"] },
        });
        let mut note = NoteItem::new(Draft::new("text"));
        note.links.clone_from(&items);
        apply(&fields, &items, &mut note);
        assert_eq!(note.listed_links.len(), items.len());
        assert_eq!(note.former.links, []);
    }

    fn applied(fields: &Value, change: impl FnOnce(&mut NoteItem)) -> (NoteItem, bool) {
        let mut note = NoteItem::new(Draft {
            title: Some("Tea".into()),
            ..Draft::new("see [Tea](tea.md)\n\n## Relations")
        });
        note.links = vec!["tea.md".into()];
        change(&mut note);
        let is_unchanged = apply(fields, &[], &mut note);
        (note, is_unchanged)
    }

    fn fields() -> Value {
        json!({
            "id": "6a0c3a5e-7a55-4a57-9a0b-0f3c7f2f3a11",
            "content_hash": ContentHash::of("see [[tea]]\n").to_string(),
            "category": "habits", "phase": "organized", "scope": "project:shop", "tags": ["a b"], "source": "claude",
            "role": "assistant", "created_at": "2024-01-02T03:04:05.6Z", "updated_at": "2024-02-02T00:00:00Z",
            "expires_at": null, "pinned": true, "version": 3, "links": ["6a0c3a5e-7a55-4a57-9a0b-0f3c7f2f3a12"],
            "export": { "title": "Tea", "tags": [], "after": "\n## Relations", "links": [["[Tea](tea.md)", "[[tea]]"]] },
        })
    }

    #[test]
    fn an_unchanged_file_yields_the_exported_memory() {
        let (note, is_unchanged) = applied(&fields(), |_| {});
        assert!(is_unchanged);
        assert_eq!(
            (note.draft.content.as_str(), note.draft.title),
            ("see [[tea]]\n", None)
        );
        assert_eq!(note.draft.tags.as_slice(), ["a b"]);
        assert_eq!(
            (note.draft.category, note.draft.scope),
            (Some(Category::Habits), Scope::Project("shop".into()))
        );
        assert_eq!(
            (note.draft.source.as_str(), note.draft.role),
            ("claude", Some(SpeakerRole::Assistant))
        );
        assert_eq!(
            (
                note.former.links.len(),
                note.links.len(),
                note.former.version
            ),
            (1, 0, Some(3))
        );
        assert_eq!(note.updated_at, "2024-02-02T00:00:00Z".parse().ok());
        assert_eq!(note.warning, None);
    }

    #[test]
    fn lines_of_front_matter_hold_no_field_of_a_memory() {
        let stated = "role: person\nmood: calm\npinned: true\n---\nproposed_by: x";
        let fields = json!({ "export": { "front_matter": stated } });
        let (note, _) = applied(&fields, |_| {});
        assert_eq!(note.front_matter, "mood: calm\n");
    }

    #[test]
    fn edits_since_the_export_count() {
        let (note, is_unchanged) = applied(&fields(), |note| {
            note.draft.content.insert_str(0, "I ");
            note.draft.title = Some("Green tea".into());
            note.draft.tags = ["new"].into_iter().collect();
        });
        assert!(!is_unchanged);
        assert_eq!(
            (note.draft.content.as_str(), note.draft.title.as_deref()),
            ("I see [[tea]]\n", Some("Green tea"))
        );
        assert_eq!(
            (note.draft.tags.as_slice(), note.links.as_slice()),
            (&["new".to_owned()][..], &["tea.md".to_owned()][..])
        );
    }

    #[test]
    fn values_that_cannot_be_read_are_reported_and_the_rest_is_restored() {
        let fields = json!({ "id": 5, "created_at": "soon", "role": "king", "links": ["x"], "scope": "global" });
        let (note, _) = applied(&fields, |_| {});
        assert_eq!((note.id, note.draft.role), (None, Some(SpeakerRole::Tool)));
        let warning = "x_memory: the following fields cannot be read: created_at, id, links";
        assert_eq!(note.warning.as_deref(), Some(warning));
        assert!(applied(&json!([1]), |_| {}).0.warning.is_some());
    }
}
