//! Agent files of Letta.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memory_core::chrono::{DateTime, Utc};
use memory_core::instance::history::RecordDraft;
use memory_core::json::JsonText;
use memory_core::{ContentHash, Source, SourceError, SourceItem, SourceSession, SourceSessionItem};
use serde_json::Value;

use crate::json_records::{JsonRecordFile, parse_record};
use crate::note::one_line;
use crate::record::{SourceRecord, clean_text, map_category, scalar_text};
use crate::record_file::{RecordFile, RecordPosition, file_name, find_file, record_name};
use crate::record_note::RecordNote;

const NAME: &str = "letta";

/// The lists of a file that are read. Tools, secrets, files and servers are not.
const LISTS: &[&str] = &["agents", "blocks"];

/// Maximum size of a file that is one JSON text in a JSON string, and of an agent with its messages.
const MAX_BYTES: u64 = 64 << 20;

/// Number of digits of the hash that identifies a conversation.
const HASH_DIGITS: usize = 16;

/// Maximum size of all blocks of a file in bytes.
const MAX_BLOCK_BYTES: usize = 64 << 20;

/// An agent file of Letta: one note for each memory block, and one conversation for each agent.
///
/// Neither secrets nor environment variables nor the source code of tools are read into notes.
#[derive(Debug)]
pub struct Letta {
    file: JsonRecordFile,
}

impl Letta {
    /// Opens the agent file at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let found = find_file(path, &[])?;
        let shown = || found.display().to_string();
        let expected = || SourceError::NotRecognized {
            path: shown(),
            expected: "an agent file of Letta".into(),
        };
        let unreadable = |source| SourceError::Unreadable {
            path: shown(),
            source,
        };
        let file = match unquoted(&found).map_err(unreadable)? {
            Some(text) => {
                JsonRecordFile::from_bytes(&file_name(&found), text.as_bytes(), LISTS, MAX_BYTES)
                    .map_err(unreadable)?
            }
            None => JsonRecordFile::open(&found, LISTS, MAX_BYTES)?,
        };
        let is_agent = |position: &RecordPosition, record: &SourceRecord| match position.list {
            "agents" => record.0.contains_key("agent_type") || record.0.contains_key("block_ids"),
            "blocks" => record.0.contains_key("label"),
            _ => is_old_agent(record),
        };
        let is_known = file
            .first_records(1)
            .iter()
            .any(|(position, record)| is_agent(position, record));
        if is_known {
            Ok(Self { file })
        } else {
            Err(expected())
        }
    }

    /// Returns whether the file at `path` is an agent file.
    pub(crate) fn recognizes(path: &Path) -> bool {
        path.is_file()
            && path.extension().is_some_and(|extension| extension == "af")
            && Self::open(path).is_ok()
    }

    /// Returns the notes of all blocks, ordered by path. All of them are in memory, up to a limit.
    fn read_blocks(&self) -> Vec<SourceItem> {
        let file_name = self.file.name();
        let mut reader = match self.file.reader() {
            Ok(reader) => reader,
            Err(reason) => {
                return vec![SourceItem::Skipped {
                    path: file_name.into(),
                    reason,
                }];
            }
        };
        let mut names = UniqueNames::default();
        let mut owners = BlockOwners::default();
        let (mut blocks, mut skipped, mut bytes) = (Vec::new(), Vec::new(), 0);
        reader.scan(&mut |position, record| {
            let record = match record {
                Ok(record) => record,
                Err(reason) => {
                    skipped.push(SourceItem::Skipped {
                        path: record_name(file_name, &position),
                        reason,
                    });
                    return true;
                }
            };
            if position.list == "blocks" {
                bytes += record.text(&["value"]).map_or(0, |value| value.len());
                blocks.push((position, None, record));
            } else if record.is_set("hidden") {
                owners.hidden.extend(record.list("block_ids"));
            } else {
                let name = names.add(agent_name(&record));
                for key in ["core_memory", "memory_blocks"] {
                    let own = record
                        .get(key)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten();
                    let own =
                        own.filter_map(|block| Some(SourceRecord(block.as_object()?.clone())));
                    blocks.extend(own.map(|block| (position, Some(name.clone()), block)));
                }
                for block in record.list("block_ids") {
                    owners.names.entry(block).or_default().push(name.clone());
                }
            }
            if MAX_BLOCK_BYTES < bytes {
                let reason =
                    "and the following blocks were not read, since all are larger than 64 MiB"
                        .into();
                skipped.push(SourceItem::Skipped {
                    path: record_name(file_name, &position),
                    reason,
                });
            }
            bytes <= MAX_BLOCK_BYTES
        });
        let mut notes = Vec::<(String, SourceItem)>::new();
        for (position, owner, block) in blocks
            .into_iter()
            .filter(|(_, _, block)| !block.is_set("hidden"))
        {
            let Some(names) = owner.map(|owner| vec![owner]).or_else(|| owners.of(&block)) else {
                continue;
            };
            match block_note(&names, &block) {
                Ok((path, note)) => notes.push((path, note)),
                Err(reason) => skipped.push(SourceItem::Skipped {
                    path: record_name(file_name, &position),
                    reason,
                }),
            }
        }
        notes.sort_by(|left, right| left.0.cmp(&right.0));
        let mut seen = HashSet::new();
        let items = notes.into_iter().map(|(path, note)| {
            let reason = format!("is a duplicate of {path}");
            if seen.insert(path.clone()) {
                note
            } else {
                SourceItem::Skipped {
                    path: file_name.into(),
                    reason,
                }
            }
        });
        items.chain(skipped).collect()
    }
}

/// The names that are taken in a file.
#[derive(Debug, Default)]
struct UniqueNames(HashMap<String, usize>);

impl UniqueNames {
    /// Returns `name`, with a number if it is taken.
    fn add(&mut self, name: String) -> String {
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            name
        } else {
            format!("{name} ({count})")
        }
    }
}

fn agent_name(agent: &SourceRecord) -> String {
    let name = agent
        .text(&["name", "id"])
        .map(|name| one_line(&name))
        .filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "agent".into())
}

/// Returns the id of a conversation: the name of the agent, and a hash of its first message.
///
/// The ids in a file are only valid within it, and agents of several files may have one name.
fn session_id(name: &str, first: &RecordDraft) -> String {
    let text = first.content.as_ref().map_or("", JsonText::as_str);
    let time = first.at.map(|at| at.to_rfc3339()).unwrap_or_default();
    let hash = ContentHash::of(&format!("{time}\0{text}")).to_string();
    format!("{name} {}", &hash[..HASH_DIGITS])
}

/// The agents that have each block, by its id in the file.
#[derive(Debug, Default)]
struct BlockOwners {
    names: HashMap<String, Vec<String>>,
    /// The blocks of hidden agents.
    hidden: HashSet<String>,
}

impl BlockOwners {
    /// Returns the names of the agents that have a block; `None` if only hidden agents have it.
    fn of(&self, block: &SourceRecord) -> Option<Vec<String>> {
        let id = block.text(&["id"]).unwrap_or_default();
        let names = self.names.get(&id).cloned().unwrap_or_default();
        (!names.is_empty() || !self.hidden.contains(&id)).then_some(names)
    }
}

impl Source for Letta {
    fn name(&self) -> &'static str {
        NAME
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.read_blocks().into_iter())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        let skipped = |path: String, reason| SourceSessionItem::Skipped { path, reason };
        let mut reader = match self.file.reader() {
            Ok(reader) => reader,
            Err(reason) => {
                return Box::new(std::iter::once(skipped(self.file.name().into(), reason)));
            }
        };
        let mut positions = Vec::new();
        reader.scan(&mut |position, record| {
            let is_session = record
                .as_ref()
                .is_ok_and(|record| position.list != "blocks" && !record.is_set("hidden"));
            positions.extend(is_session.then_some(position));
            true
        });
        let mut names = UniqueNames::default();
        Box::new(positions.into_iter().filter_map(move |position| {
            let record = match reader.read(&position) {
                Ok(record) => record,
                Err(reason) => {
                    return Some(skipped(record_name(self.file.name(), &position), reason));
                }
            };
            let messages = record
                .get("messages")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            let records: Vec<_> = messages.filter_map(message_draft).collect();
            let id = names.add(session_id(&agent_name(&record), records.first()?));
            let title = record.text(&["name"]).map(|name| one_line(&name));
            Some(SourceSessionItem::Session(Box::new(SourceSession {
                title,
                ..SourceSession::new(id, records)
            })))
        }))
    }
}

/// Returns the text of a file that is one JSON string, or an empty text if the string is broken.
fn unquoted(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start)?;
    if start.trim_ascii_start().first() != Some(&b'"') {
        return Ok(None);
    }
    let mut text = Vec::from(*b"{\"text\":");
    text.extend(start);
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    if MAX_BYTES < text.len() as u64 {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is larger than 64 MiB",
        ));
    }
    text.push(b'}');
    // The values in the string are counted when it is parsed.
    let text = serde_json::from_slice::<Value>(&text).ok();
    Ok(Some(
        text.and_then(|text| Some(text.get("text")?.as_str()?.to_owned()))
            .unwrap_or_default(),
    ))
}

/// Returns whether a record is an agent in the form of old files, which contain only one.
fn is_old_agent(record: &SourceRecord) -> bool {
    record.0.contains_key("core_memory") && record.0.contains_key("messages")
}

/// Returns the path and the note of a block that these agents share.
fn block_note(agents: &[String], block: &SourceRecord) -> Result<(String, SourceItem), String> {
    let label = block
        .text(&["label", "name"])
        .map(|label| one_line(&label))
        .ok_or("has no label")?;
    let value = block.text(&["value"]).ok_or("has no text")?;
    // The ids in a file are only valid within it.
    let path = match agents.first() {
        Some(agent) => format!("agents/{agent}/{label}"),
        None => format!("blocks/{label}"),
    };
    let mut note = RecordNote::new(NAME, NAME, &path, value.trim_matches('\n'));
    note.draft.title = Some(label.clone());
    note.draft.category = map_category(&label);
    note.draft.tags = block.list("tags").into_iter().collect();
    note.draft.created_at = block.time(&["created_at"]);
    note.updated_at = block.time(&["updated_at"]);
    note.add_property(
        "agents",
        (!agents.is_empty()).then(|| Value::from(agents)).as_ref(),
    );
    note.add_property("description", block.get("description"));
    note.add_property(
        "metadata",
        block.get("metadata").or_else(|| block.get("metadata_")),
    );
    if block.is_set("read_only") {
        note.add_property("read_only", block.get("read_only"));
    }
    Ok((path, note.into_item()))
}

/// Returns a message of the person or the agent as a record.
///
/// System prompts, events, thoughts, calls of tools and their results are left out, except the tool by which an agent
/// sends a message.
fn message_draft(message: &Value) -> Option<RecordDraft> {
    let record = SourceRecord(message.as_object()?.clone());
    let role = record.text(&["role"])?;
    let text = match role.as_str() {
        "user" => user_text(&message_text(&record)?)?,
        "assistant" => {
            let sent: Vec<_> = sent_messages(&record).collect();
            let has_calls = record.get("tool_calls").is_some();
            // Beside calls, the text of a message is a thought.
            if has_calls {
                (!sent.is_empty()).then(|| sent.join("\n\n"))?
            } else {
                message_text(&record)?
            }
        }
        _ => return None,
    };
    let at: Option<DateTime<Utc>> = record.time(&["created_at", "date"]);
    Some(RecordDraft {
        at,
        ..RecordDraft::from_text(role.parse().ok()?, &text)
    })
}

/// Returns the text of a message, with placeholders for other parts.
fn message_text(record: &SourceRecord) -> Option<String> {
    let part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text") | None => scalar_text(part.get("text")?),
        Some("image") => Some("[image]".to_owned()),
        Some(_) => None,
    };
    match record.get("content").or_else(|| record.get("text"))? {
        Value::Array(parts) => Some(
            parts
                .iter()
                .filter_map(part)
                .collect::<Vec<_>>()
                .join("\n\n"),
        )
        .filter(|text| !text.is_empty()),
        value => scalar_text(value),
    }
}

/// Returns the message of a person, which old agents received within an object; `None` for an event.
fn user_text(text: &str) -> Option<String> {
    let event = parse_record(text.trim().as_bytes().to_vec())
        .ok()
        .filter(|event| event.0.contains_key("type"));
    match event {
        Some(event) if event.text(&["type"]).as_deref() == Some("user_message") => {
            event.text(&["message"])
        }
        Some(event) if event.0.contains_key("time") || is_event(&event) => None,
        _ => Some(text.to_owned()),
    }
}

/// Returns whether a record is an event that the server sends in the name of the person.
fn is_event(record: &SourceRecord) -> bool {
    record
        .text(&["type"])
        .is_some_and(|kind| matches!(kind.as_str(), "heartbeat" | "login" | "system_alert"))
}

/// Returns the messages that an agent sends with a tool.
fn sent_messages(record: &SourceRecord) -> impl Iterator<Item = String> {
    let calls = record
        .get("tool_calls")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    calls.into_iter().filter_map(|call| {
        let function = call.get("function").unwrap_or(&call);
        let is_message = function.get("name").and_then(Value::as_str) == Some("send_message");
        let arguments = function.get("arguments").filter(|_| is_message)?;
        let arguments = match arguments {
            Value::String(text) => parse_record(text.as_bytes().to_vec()).ok()?,
            value => SourceRecord(value.as_object()?.clone()),
        };
        arguments.text(&["message"]).map(|text| clean_text(&text))
    })
}
