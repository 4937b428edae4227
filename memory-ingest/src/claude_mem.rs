//! The observations, summaries, rules and prompts of claude-mem.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memory_core::chrono::{DateTime, Utc};
use memory_core::instance::history::RecordDraft;
use memory_core::json::JsonText;
use memory_core::{
    Category, Scope, Source, SourceError, SourceItem, SourceSession, SourceSessionItem,
};
use serde_json::json;

use crate::database::SourceTable;
use crate::note::one_line;
use crate::program_records::RecordProgram;
use crate::record::{SourceRecord, map_category};
use crate::record_file::{
    RecordFile, RecordIndex, RecordPosition, RecordReader, record_name, unreadable,
};
use crate::record_note::{RecordNote, join_paragraphs, markdown_list, project_scope};

const NAME: &str = "claude-mem";

const TABLES: [SourceTable; 6] = [
    SourceTable {
        name: "observations",
        columns: &["project", "created_at_epoch"],
    },
    SourceTable {
        name: "session_summaries",
        columns: &["project"],
    },
    SourceTable {
        name: "directives",
        columns: &["content", "status"],
    },
    SourceTable {
        name: "observation_feedback",
        columns: &["observation_id", "signal_type"],
    },
    SourceTable {
        name: "sdk_sessions",
        columns: &["content_session_id"],
    },
    SourceTable {
        name: "user_prompts",
        columns: &["content_session_id", "prompt_text"],
    },
];

const PROGRAM: RecordProgram = RecordProgram {
    database: "claude-mem.db",
    tables: &TABLES,
    lists: &["observations", "summaries", "sessions", "prompts"],
    expected: "a database or an export of claude-mem",
    is_own,
};

/// The keys of a session in an observation; the second is that of old versions.
const SESSION_KEYS: [&str; 2] = ["memory_session_id", "sdk_session_id"];

/// The sections of a summary.
const SUMMARY_SECTIONS: [(&str, &str); 6] = [
    ("request", "Request"),
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
];

/// Maximum length of the title of a summary in characters.
const MAX_TITLE_CHARACTERS: usize = 120;

/// The database of claude-mem, or an export of it as JSON.
///
/// Observations, session summaries and rules are notes. The prompts of a session are a conversation.
#[derive(Debug)]
pub struct ClaudeMem {
    file: Box<dyn RecordFile>,
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    Observation,
    Summary,
    Rule,
    Feedback,
    Session,
    Prompt,
    Other,
}

impl RecordKind {
    fn of(position: &RecordPosition) -> Self {
        match position.list {
            "observations" => Self::Observation,
            "session_summaries" | "summaries" => Self::Summary,
            "directives" => Self::Rule,
            "observation_feedback" => Self::Feedback,
            "sdk_sessions" | "sessions" => Self::Session,
            "user_prompts" | "prompts" => Self::Prompt,
            _ => Self::Other,
        }
    }
}

impl ClaudeMem {
    /// Opens a database or an export at `path`, or `claude-mem.db` in the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            file: PROGRAM.open(path)?.into_file(),
        })
    }

    /// Returns whether the file or folder at `path` has been written by claude-mem.
    pub(crate) fn recognizes(path: &Path) -> bool {
        PROGRAM.recognizes(path, 1, is_own)
    }
}

fn is_own(position: &RecordPosition, record: &SourceRecord) -> bool {
    RecordKind::of(position) != RecordKind::Other
        && record
            .text(&[
                "memory_session_id",
                "sdk_session_id",
                "content_session_id",
                "claude_session_id",
            ])
            .is_some()
}

impl Source for ClaudeMem {
    fn name(&self) -> &'static str {
        NAME
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let file = self.file.as_ref();
        let mut reader = match file.reader() {
            Ok(reader) => reader,
            Err(reason) => return unreadable(file, reason),
        };
        let mut dismissed = HashSet::new();
        let mut index =
            RecordIndex::of(
                file,
                reader.as_mut(),
                &mut |position, record| match RecordKind::of(position) {
                    RecordKind::Observation => {
                        Ok(Some(format!("observations/{}", record_id(record)?)))
                    }
                    RecordKind::Summary => Ok(Some(format!("summaries/{}", record_id(record)?))),
                    RecordKind::Rule if record.text(&["status"]).as_deref() == Some("active") => {
                        Ok(Some(format!("rules/{}", record_id(record)?)))
                    }
                    RecordKind::Feedback
                        if record.text(&["signal_type"]).as_deref() == Some("dismissed") =>
                    {
                        dismissed.extend(
                            record
                                .text(&["observation_id"])
                                .map(|id| format!("observations/{id}")),
                        );
                        Ok(None)
                    }
                    RecordKind::Rule
                    | RecordKind::Feedback
                    | RecordKind::Session
                    | RecordKind::Prompt => Ok(None),
                    RecordKind::Other => Err("is not in a list of claude-mem".into()),
                },
            );
        // The program hides dismissed observations.
        index.entries.retain(|(path, _)| !dismissed.contains(path));
        index.into_items(file, reader, |path, position, record| {
            let note = match RecordKind::of(position) {
                RecordKind::Summary => summary_note(path, record),
                RecordKind::Rule => rule_note(path, record),
                _ => observation_note(path, record),
            };
            match note {
                Ok(note) => note.into_item(),
                Err(reason) => SourceItem::Skipped {
                    path: record_name(file.name(), position),
                    reason,
                },
            }
        })
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        let file = self.file.as_ref();
        let skipped = |path: String, reason| SourceSessionItem::Skipped { path, reason };
        let mut reader = match file.reader() {
            Ok(reader) => reader,
            Err(reason) => return Box::new(std::iter::once(skipped(file.name().into(), reason))),
        };
        let mut sessions = HashMap::<String, PromptSession>::new();
        let index = RecordIndex::of(file, reader.as_mut(), &mut |position, record| {
            let id = || {
                record
                    .text(&["content_session_id", "claude_session_id"])
                    .map(|id| one_line(&id))
            };
            match RecordKind::of(position) {
                RecordKind::Session => {
                    if let Some(id) = id() {
                        let session = sessions.entry(id).or_default();
                        session.title = record
                            .text(&["custom_title"])
                            .map(|title| one_line(&title))
                            .or(session.title.take());
                        session.project = record.text(&["project"]).or(session.project.take());
                    }
                    Ok(None)
                }
                RecordKind::Prompt => {
                    record.text(&["prompt_text"]).ok_or("has no text")?;
                    Ok(Some(
                        id().filter(|id| !id.is_empty()).ok_or("has no session")?,
                    ))
                }
                _ => Ok(None),
            }
        });
        for (id, position) in index.entries {
            sessions.entry(id).or_default().prompts.push(position);
        }
        let mut sessions: Vec<_> = sessions
            .into_iter()
            .filter(|(_, session)| !session.prompts.is_empty())
            .collect();
        sessions.sort_by(|left, right| left.0.cmp(&right.0));
        let broken = index
            .skipped
            .into_iter()
            .filter_map(move |item| match item {
                SourceItem::Skipped { path, reason } if !is_note_list(&path) => {
                    Some(skipped(path, reason))
                }
                _ => None,
            });
        let sessions = sessions
            .into_iter()
            .filter_map(move |(id, session)| session.read(id, reader.as_mut()));
        Box::new(
            sessions
                .map(|session| SourceSessionItem::Session(Box::new(session)))
                .chain(broken),
        )
    }
}

/// Returns whether a record that was skipped is reported by [`Source::items`].
fn is_note_list(record_name: &str) -> bool {
    let list = record_name.rsplit_once('#').map_or("", |(_, list)| list);
    !list.starts_with("user_prompts/") && !list.starts_with("prompts/")
}

/// The prompts of a session.
#[derive(Debug, Default)]
struct PromptSession {
    title: Option<String>,
    /// The project, which is not part of the prompts in the database.
    project: Option<String>,
    prompts: Vec<RecordPosition>,
}

impl PromptSession {
    /// Reads the prompts in the order of their numbers; returns `None` if none can be read.
    fn read(self, id: String, reader: &mut dyn RecordReader) -> Option<SourceSession> {
        let read = self
            .prompts
            .iter()
            .filter_map(|position| reader.read(position).ok());
        let project = self.project.as_deref();
        let mut prompts: Vec<_> = read
            .filter_map(|record| Some((prompt_order(&record), prompt_draft(&record, project)?)))
            .collect();
        prompts.sort_by_key(|(order, _)| *order);
        let records: Vec<_> = prompts.into_iter().map(|(_, record)| record).collect();
        (!records.is_empty()).then_some(SourceSession {
            title: self.title,
            scope: self.project.map_or(Scope::Global, Scope::Project),
            ..SourceSession::new(id, records)
        })
    }
}

fn prompt_order(record: &SourceRecord) -> (Option<i64>, Option<DateTime<Utc>>) {
    let number = record
        .get("prompt_number")
        .and_then(serde_json::Value::as_i64);
    (number, created_at(record))
}

fn prompt_draft(record: &SourceRecord, project: Option<&str>) -> Option<RecordDraft> {
    let role = "user".parse().ok()?;
    let project = record
        .text(&["project"])
        .or(project.map(str::to_owned))
        .map(|project| json!({ "project": project }).to_string());
    let meta = project.and_then(|meta| meta.parse::<JsonText>().ok());
    Some(RecordDraft {
        at: created_at(record),
        meta,
        ..RecordDraft::from_text(role, &record.text(&["prompt_text"])?)
    })
}

fn created_at(record: &SourceRecord) -> Option<DateTime<Utc>> {
    record.time(&["created_at_epoch", "created_at"])
}

/// Returns the id of a record, or its session and time if an export has no ids.
fn record_id(record: &SourceRecord) -> Result<String, String> {
    let by_time = || {
        Some(format!(
            "{}-{}",
            record.text(&SESSION_KEYS)?,
            record.text(&["created_at_epoch", "created_at"])?
        ))
    };
    Ok(one_line(
        &record.text(&["id"]).or_else(by_time).ok_or("has no id")?,
    ))
}

/// Returns a note with the fields that all records share.
fn record_note(path: &str, record: &SourceRecord, content: &str) -> Result<RecordNote, String> {
    if content.trim().is_empty() {
        return Err("has no text".into());
    }
    let mut note = RecordNote::new(NAME, NAME, path, content);
    note.draft.scope = project_scope(record.text(&["merged_into_project", "project"]).as_deref());
    note.draft.created_at = created_at(record);
    note.updated_at = record.time(&["updated_at_epoch"]);
    note.add_property("id", record.get("id"));
    note.add_property(
        "session",
        SESSION_KEYS.iter().find_map(|key| record.get(key)),
    );
    Ok(note)
}

fn observation_note(path: &str, record: &SourceRecord) -> Result<RecordNote, String> {
    let title = record.text(&["title"]).map(|title| one_line(&title));
    let mut paragraphs: Vec<_> = ["subtitle", "narrative", "text"]
        .iter()
        .filter_map(|key| record.text(&[key]))
        .collect();
    paragraphs.dedup();
    paragraphs.push(section("Facts", &record.list("facts")));
    paragraphs.push(section("Files read", &record.list("files_read")));
    paragraphs.push(section("Files modified", &record.list("files_modified")));
    let content = join_paragraphs(paragraphs);
    // An observation may consist of its title alone.
    let content = if content.is_empty() {
        title.clone().unwrap_or_default()
    } else {
        content
    };
    let mut note = record_note(path, record, &content)?;
    note.draft.title = title;
    note.draft.tags = record.list("concepts").into_iter().collect();
    note.draft.category = record.text(&["type"]).and_then(|kind| map_category(&kind));
    for key in [
        "type",
        "agent_type",
        "agent_id",
        "generated_by_model",
        "metadata",
    ] {
        match record.object(key) {
            Some(fields) => note.add_property(key, Some(&fields.0.into())),
            None => note.add_property(key, record.get(key)),
        }
    }
    Ok(note)
}

fn summary_note(path: &str, record: &SourceRecord) -> Result<RecordNote, String> {
    let text_section =
        |(key, heading): &(&str, &str)| Some(format!("{heading}: {}", record.text(&[key])?));
    let mut paragraphs: Vec<_> = SUMMARY_SECTIONS.iter().filter_map(text_section).collect();
    paragraphs.push(section("Files read", &record.list("files_read")));
    paragraphs.push(section("Files modified", &record.list("files_edited")));
    let mut note = record_note(path, record, &join_paragraphs(paragraphs))?;
    note.draft.title = record.text(&["request"]).map(|request| {
        let line = one_line(request.trim().lines().next().unwrap_or_default());
        match line.char_indices().nth(MAX_TITLE_CHARACTERS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    });
    note.add_property("type", Some(&"session summary".into()));
    Ok(note)
}

fn rule_note(path: &str, record: &SourceRecord) -> Result<RecordNote, String> {
    let mut note = record_note(path, record, &record.text(&["content"]).unwrap_or_default())?;
    note.draft.category = Some(Category::Preferences);
    Ok(note)
}

/// Returns a heading with a list, or nothing for an empty list.
fn section(heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        String::new()
    } else {
        format!("{heading}:\n\n{}", markdown_list(items))
    }
}
