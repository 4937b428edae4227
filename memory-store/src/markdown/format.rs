//! Converts the entries of a front matter to the fields of a memory.

use std::collections::HashSet;

use chrono::{DateTime, NaiveDateTime, NaiveTime, Utc};
use memory_core::yaml::YamlNode;
use memory_core::{
    Category, ContentHash, FileVersion, MEMORY_KEYS, Memory, MemoryId, OperationId, Origin,
    ParseError, Phase, Proposal, ProposalTarget, ProposedAction, Recurrence, Reminder, Scope,
    SpeakerRole, Tags, parse_day, parse_rfc3339, valid_time,
};

use super::value::VERSION_BESIDE;

/// The fields of a front matter. `None` means that a key is missing, empty or unreadable.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) id: Option<MemoryId>,
    pub(super) phase: Option<Phase>,
    pub(super) category: Option<Category>,
    pub(super) created_at: Option<DateTime<Utc>>,
    pub(super) updated_at: Option<DateTime<Utc>>,
    /// Whether `version` is the user's own, such as `1.10`, and not the version of the memory.
    pub(super) has_foreign_version: bool,
    scope: Option<Scope>,
    tags: Vec<String>,
    source: Option<String>,
    role: Option<SpeakerRole>,
    created: Option<DateTime<Utc>>,
    date: Option<DateTime<Utc>>,
    updated: Option<DateTime<Utc>>,
    modified: Option<DateTime<Utc>>,
    stated_at: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
    access_count: Option<u64>,
    links: Vec<MemoryId>,
    version: Option<u64>,
    version_beside: Option<u64>,
    title: Option<String>,
    aliases: Vec<String>,
    valid_from: Option<DateTime<Utc>>,
    valid_until: Option<DateTime<Utc>>,
    supersedes: Vec<MemoryId>,
    superseded_by: Option<MemoryId>,
    summarised_by: Option<OperationId>,
    other_origins: Vec<Origin>,
    pinned: bool,
    due: Option<DateTime<Utc>>,
    reminds: Option<MemoryId>,
    notified_at: Option<DateTime<Utc>>,
    done_at: Option<DateTime<Utc>>,
    repeats: Option<String>,
    snoozed_from: Option<DateTime<Utc>>,
    origin: Option<Origin>,
    proposed_by: Option<String>,
    proposed_action: Option<ProposedVerb>,
    proposed_for: Option<MemoryId>,
    proposed_base: Option<ContentHash>,
}

/// The kind of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProposedVerb {
    Write,
    Update,
    Delete,
}

impl std::str::FromStr for ProposedVerb {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "write" => Ok(Self::Write),
            "update" => Ok(Self::Update),
            "delete" => Ok(Self::Delete),
            _ => Err(ParseError::new(text, "write, update or delete")),
        }
    }
}

/// A value that does not have the type of its key.
#[derive(Debug)]
pub(super) struct UnusableValue {
    /// The index of the entry.
    pub(super) index: usize,
    /// The key.
    pub(super) key: String,
    /// The defect, as a statement about the value.
    pub(super) what: String,
}

impl FrontMatter {
    /// Reads the entries, and returns the first unusable value as well.
    pub(super) fn read(entries: &[(YamlNode, YamlNode)]) -> (Self, Option<UnusableValue>) {
        let mut front = Self::default();
        let (mut seen, mut unusable) = (HashSet::new(), None);
        for (index, (key, value)) in entries.iter().enumerate() {
            let YamlNode::Text(key) = key else { continue };
            if !is_known(key) || !seen.insert(key) || *value == YamlNode::Null {
                continue;
            }
            if let Err(what) = front.set_field(key, value) {
                unusable.get_or_insert(UnusableValue {
                    index,
                    key: key.clone(),
                    what,
                });
            }
        }
        (front, unusable)
    }

    /// Adds tags that are not part of a value.
    pub(super) fn add_tags(&mut self, tags: Vec<String>) {
        self.tags.extend(tags);
    }

    /// Converts the fields to a memory.
    pub(super) fn into_memory(
        self,
        path: &str,
        content: String,
        modified: DateTime<Utc>,
    ) -> Memory {
        let (phase, category) = match path_category(path) {
            Some(Category::Inbox) => (Phase::Inbox, self.category.unwrap_or(Category::Inbox)),
            Some(category) => (Phase::Organized, category),
            None => (
                self.phase.unwrap_or(Phase::Inbox),
                self.category.unwrap_or(Category::Inbox),
            ),
        };
        let proposal = self.proposal(phase);
        let (of, notified_at, done_at) = (self.reminds, self.notified_at, self.done_at);
        let repeats = self.repeats.map(|expression| Recurrence {
            expression,
            snoozed_from: self.snoozed_from,
        });
        Memory {
            id: self.id.unwrap_or_else(|| MemoryId::for_path(path)),
            content,
            phase,
            category,
            scope: self.scope.unwrap_or(Scope::Global),
            tags: self.tags.into_iter().collect(),
            source: self.source.unwrap_or_default(),
            role: self.role,
            created_at: self
                .created_at
                .or(self.created)
                .or(self.date)
                .unwrap_or(modified),
            updated_at: self
                .updated_at
                .or(self.updated)
                .or(self.modified)
                .unwrap_or(modified),
            stated_at: self.stated_at,
            expires_at: self.expires_at,
            access_count: self.access_count.unwrap_or(0),
            links: self.links,
            version: self.version_beside.or(self.version).unwrap_or(1),
            title: self.title,
            aliases: self.aliases,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            supersedes: self.supersedes,
            superseded_by: self.superseded_by,
            summarised_by: self.summarised_by,
            pinned: self.pinned,
            // A reminder requires a due time; without one the other keys of a reminder are ignored.
            reminder: self.due.map(|due| Reminder {
                due,
                of,
                notified_at,
                done_at,
                repeats,
            }),
            origin: self.origin,
            other_origins: self.other_origins,
            proposal,
        }
    }

    /// Returns the proposal in a memory of this phase.
    ///
    /// Without a valid `proposed_action`, the keys are the user's own. A user who files a proposed memory accepts it.
    fn proposal(&self, phase: Phase) -> Option<Proposal> {
        let by = self.proposed_by.clone()?;
        let target = self
            .proposed_for
            .zip(self.proposed_base)
            .map(|(id, base)| ProposalTarget {
                id,
                base: FileVersion(base),
            });
        let action = match self.proposed_action? {
            ProposedVerb::Write => Some(ProposedAction::Write).filter(|_| phase == Phase::Inbox),
            ProposedVerb::Update => target.map(ProposedAction::Update),
            ProposedVerb::Delete => target.map(ProposedAction::Delete),
        };
        Some(Proposal {
            by,
            action: action?,
        })
    }

    fn set_field(&mut self, key: &str, value: &YamlNode) -> Result<(), String> {
        match key {
            "id" => self.id = read_parsed(value)?,
            "phase" => self.phase = read_parsed(value)?,
            "category" => self.category = read_parsed(value)?,
            "scope" => self.scope = read_parsed(value)?,
            "tags" | "tag" => self.tags.extend(read_tags(value)?),
            "source" => self.source = Some(read_text(value)?),
            "created_at" => self.created_at = read_time(value)?,
            "updated_at" => self.updated_at = read_time(value)?,
            "expires_at" => self.expires_at = read_time(value)?,
            "access_count" => self.access_count = read_number(value)?,
            "links" => self.links = read_ids(value)?,
            "version" if is_dotted(value) => self.has_foreign_version = true,
            "version" => self.version = read_number(value)?,
            VERSION_BESIDE => self.version_beside = read_number(value)?,
            "title" => self.title = Some(read_text(value)?),
            "aliases" | "alias" => self.aliases.extend(read_aliases(value)?),
            "valid_from" => self.valid_from = read_time(value)?,
            "valid_until" => self.valid_until = read_time(value)?,
            "supersedes" => self.supersedes = read_ids(value)?,
            "superseded_by" => self.superseded_by = read_parsed(value)?,
            "pinned" => self.pinned = read_flag(value)?,
            "due" => self.due = read_time(value)?,
            "reminds" => self.reminds = read_parsed(value)?,
            "notified_at" => self.notified_at = read_time(value)?,
            "done_at" => self.done_at = read_time(value)?,
            // Files without reminders of this program may have these keys for other purposes.
            "repeats" => self.repeats = read_text(value).ok(),
            "snoozed_from" => self.snoozed_from = read_time(value).unwrap_or(None),
            "origin" => self.origin = Some(read_origin(value)?),
            "other_origins" => self.other_origins = read_other_origins(value)?,
            // These keys may be the user's own, so an unreadable value is not a defect.
            "created" => self.created = read_time(value).unwrap_or(None),
            "date" => self.date = read_time(value).unwrap_or(None),
            "updated" => self.updated = read_time(value).unwrap_or(None),
            "modified" => self.modified = read_time(value).unwrap_or(None),
            "stated_at" => self.stated_at = read_time(value).unwrap_or(None),
            "role" => self.role = read_parsed(value).unwrap_or(None),
            // A proposal with an unreadable agent still waits for a review.
            "proposed_by" => self.proposed_by = Some(read_text(value).unwrap_or_default()),
            "proposed_action" => self.proposed_action = read_parsed(value).unwrap_or(None),
            "proposed_for" => self.proposed_for = read_parsed(value).unwrap_or(None),
            "proposed_base" => self.proposed_base = read_parsed(value).unwrap_or(None),
            "summarised_by" => self.summarised_by = read_parsed(value).unwrap_or(None),
            // The hash is computed from the content; a user who edits the content does not update it.
            _ => {}
        }
        Ok(())
    }
}

/// Returns whether a key is a field of a memory.
pub(super) fn is_known(key: &str) -> bool {
    const OTHERS: [&str; 6] = ["tag", "alias", "created", "date", "updated", "modified"];
    MEMORY_KEYS.contains(&key) || OTHERS.contains(&key)
}

/// Returns whether the spelling of a key's value matters, and not only its numeric value.
pub(super) fn keeps_spelling(key: &str) -> bool {
    is_known(key) && !["access_count", "version", VERSION_BESIDE].contains(&key)
}

/// Returns the texts that a list item represents, normalized as in the memory.
pub(super) fn item_texts(key: &str, node: &YamlNode) -> Vec<String> {
    let list = YamlNode::List(vec![node.clone()]);
    match key {
        "tags" => read_tags(&list)
            .unwrap_or_default()
            .into_iter()
            .collect::<Tags>()
            .iter()
            .cloned()
            .collect(),
        "links" | "supersedes" => read_ids(&list)
            .unwrap_or_default()
            .iter()
            .map(MemoryId::to_string)
            .collect(),
        _ => read_aliases(&list).unwrap_or_default(),
    }
}

/// Returns whether an origin has entries that are not part of the format.
pub(super) fn has_foreign_entries(origin: &YamlNode) -> bool {
    let is_ours = |key: &YamlNode| matches!(key, YamlNode::Text(key) if ["source", "root", "path", "hash"].contains(&key.as_str()));
    matches!(origin, YamlNode::Map(entries) if !entries.iter().all(|(key, _)| is_ours(key)))
}

fn is_dotted(value: &YamlNode) -> bool {
    let Ok(version) = read_text(value) else {
        return false;
    };
    let digits = version.strip_prefix(['v', 'V']).unwrap_or(&version);
    digits.contains('.') && digits.starts_with(|letter: char| letter.is_ascii_digit())
}

fn read_text(value: &YamlNode) -> Result<String, String> {
    match value {
        YamlNode::Text(text) | YamlNode::Literal(text) => Ok(text.clone()),
        YamlNode::Null => Ok(String::new()),
        YamlNode::Tagged(_, inner) => read_text(inner),
        YamlNode::List(_) => Err("is a list, not a text".into()),
        YamlNode::Map(_) => Err("is a map, not a text".into()),
    }
}

fn read_parsed<T: std::str::FromStr<Err = ParseError>>(
    value: &YamlNode,
) -> Result<Option<T>, String> {
    let text = read_text(value)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|error: ParseError| format!("is {:?}, not {}", shorten(&text), error.wanted))
}

fn read_flag(value: &YamlNode) -> Result<bool, String> {
    let text = read_text(value)?;
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "on" => Ok(true),
        "" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("is {:?}, not true or false", shorten(&text))),
    }
}

fn read_number(value: &YamlNode) -> Result<Option<u64>, String> {
    let text = read_text(value)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    text.trim()
        .parse()
        .map(Some)
        .map_err(|_| format!("is {:?}, not a whole number", shorten(&text)))
}

fn read_time(value: &YamlNode) -> Result<Option<DateTime<Utc>>, String> {
    let text = read_text(value)?;
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let with_short_zone = || {
        DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f %#z")
            .map(|moment| moment.to_utc())
            .ok()
    };
    let without_zone = || {
        let text = text.replacen(['T', 't'], " ", 1);
        ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(&text, form).ok())
    };
    let day = || parse_day(text).map(|day| day.and_time(NaiveTime::MIN));
    let moment = parse_rfc3339(text)
        .or_else(|| day().or_else(without_zone).map(|moment| moment.and_utc()))
        .or_else(with_short_zone);
    moment.and_then(valid_time).map(Some).ok_or_else(|| {
        format!(
            "is {:?}, not a date such as 2026-05-07 or 2026-05-07T10:00:00Z",
            shorten(text)
        )
    })
}

fn read_tags(value: &YamlNode) -> Result<Vec<String>, String> {
    match value {
        YamlNode::List(_) => list(value, "a tag"),
        _ => Ok(read_text(value)?
            .split([',', ' ', '\t', '\n'])
            .map(str::to_owned)
            .collect()),
    }
}

fn read_aliases(value: &YamlNode) -> Result<Vec<String>, String> {
    match value {
        YamlNode::List(_) => list(value, "an alias"),
        _ => Ok(read_text(value)?
            .split(',')
            .map(|alias| alias.trim().to_owned())
            .filter(|alias| !alias.is_empty())
            .collect()),
    }
}

fn read_ids(value: &YamlNode) -> Result<Vec<MemoryId>, String> {
    let texts = match value {
        YamlNode::List(_) => list(value, "an id")?,
        _ => read_text(value)?
            .split([',', ' '])
            .map(str::to_owned)
            .collect(),
    };
    let ids = texts.iter().filter(|text| !text.trim().is_empty());
    ids.map(|text| {
        text.parse()
            .map_err(|_| format!("contains {:?}, which is not an id (a UUID)", shorten(text)))
    })
    .collect()
}

/// Returns the texts of a list.
///
/// Nested lists are flattened, because `[[a]]` without quotes parses as one.
fn list(value: &YamlNode, item: &str) -> Result<Vec<String>, String> {
    match value {
        YamlNode::List(items) => {
            let mut texts = Vec::with_capacity(items.len());
            for node in items {
                texts.append(&mut list(node, item)?);
            }
            Ok(texts)
        }
        YamlNode::Null => Ok(Vec::new()),
        YamlNode::Map(_) => Err(format!("contains a map instead of {item}")),
        YamlNode::Text(_) | YamlNode::Literal(_) | YamlNode::Tagged(..) => {
            Ok(vec![read_text(value)?])
        }
    }
}

fn read_origin(value: &YamlNode) -> Result<Origin, String> {
    let YamlNode::Map(entries) = value else {
        return Err("is not a map with source, root and path".into());
    };
    let field = |name: &str| {
        entries
            .iter()
            .find(|(key, _)| matches!(key, YamlNode::Text(key) if key == name))
            .map(|(_, value)| value)
    };
    let needed = |name: &str| {
        field(name)
            .ok_or_else(|| format!("has no {name}"))
            .and_then(read_text)
    };
    let hash = field("hash").map_or(Ok(None), read_parsed::<ContentHash>)?;
    Ok(Origin {
        source: needed("source")?,
        root: needed("root")?,
        path: needed("path")?,
        hash,
    })
}

fn read_other_origins(value: &YamlNode) -> Result<Vec<Origin>, String> {
    let texts = list(value, "an origin")?;
    let read = |text: &String| {
        Origin::from_text(text)
            .ok_or_else(|| format!("contains {:?}, not source:root//path", shorten(text)))
    };
    texts.iter().map(read).collect()
}

/// Returns at most the first 60 characters of a text, for messages.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the category of the folder that contains `path`; [`Category::Inbox`] for the inbox.
pub fn path_category(path: &str) -> Option<Category> {
    let (folder, _) = path.strip_prefix("categories/")?.split_once('/')?;
    folder.parse().ok()
}
