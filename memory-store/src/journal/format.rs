//! The format of a line of the journal.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::{ContentHash, MemoryId, Operation, OperationId, RecordedChange, RecordedFile, Verb};
use serde::{Deserialize, Serialize};

/// A line of the journal: an operation, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JournalLine {
    pub id: OperationId,
    pub at: DateTime<Utc>,
    pub what: JournalEvent,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JournalEvent {
    /// The operation is about to change these files.
    Begun { verb: Verb, by: String, undoes: Option<OperationId>, changes: Vec<RecordedChange> },
    /// The last line with this id was not executed, or was rolled back.
    Aborted,
}

impl JournalLine {
    pub(crate) fn of(operation: &Operation, undoes: Option<&OperationId>, changes: &[RecordedChange]) -> Self {
        let what = JournalEvent::Begun {
            verb: operation.verb,
            by: operation.by.clone(),
            undoes: undoes.cloned(),
            changes: changes.to_vec(),
        };
        Self { id: operation.id.clone(), at: operation.at, what }
    }

    pub(crate) fn aborted(id: &OperationId, at: DateTime<Utc>) -> Self {
        Self { id: id.clone(), at, what: JournalEvent::Aborted }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&WireLine::from(self)).expect("strings and numbers have a JSON form")
    }

    /// Parses a line; `None` if it is torn by a crash, or written by a later version.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<WireLine>(bytes).ok()?.try_into().ok()
    }
}

#[derive(Serialize, Deserialize)]
struct WireLine {
    operation: String,
    at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verb: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<WireChange>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    aborted: bool,
}

#[derive(Serialize, Deserialize)]
struct WireChange {
    id: String,
    before: Option<WireFile>,
    after: Option<WireFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WireFile {
    path: String,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trash: Option<String>,
}

impl From<&JournalLine> for WireLine {
    fn from(line: &JournalLine) -> Self {
        let (operation, at) = (line.id.to_string(), line.at.to_rfc3339_opts(SecondsFormat::AutoSi, true));
        match &line.what {
            JournalEvent::Aborted => {
                Self { operation, at, verb: None, by: None, undoes: None, changes: Vec::new(), aborted: true }
            }
            JournalEvent::Begun { verb, by, undoes, changes } => Self {
                operation,
                at,
                verb: Some(verb.to_string()),
                by: Some(by.clone()),
                undoes: undoes.as_ref().map(ToString::to_string),
                changes: changes.iter().map(WireChange::from).collect(),
                aborted: false,
            },
        }
    }
}

impl From<&RecordedChange> for WireChange {
    fn from(change: &RecordedChange) -> Self {
        let file =
            |file: &RecordedFile| WireFile { path: file.path.clone(), hash: file.hash.to_string(), trash: file.trash.clone() };
        Self {
            id: change.id.to_string(),
            before: change.before.as_ref().map(file),
            after: change.after.as_ref().map(file),
            why: change.why.clone(),
        }
    }
}

/// The error for a line that cannot be parsed.
struct UnknownLine;

impl TryFrom<WireLine> for JournalLine {
    type Error = UnknownLine;

    fn try_from(wire: WireLine) -> Result<Self, UnknownLine> {
        let id = parse(&wire.operation)?;
        let at = DateTime::parse_from_rfc3339(&wire.at).map_err(|_| UnknownLine)?.to_utc();
        if wire.aborted {
            return Ok(Self { id, at, what: JournalEvent::Aborted });
        }
        let verb = parse(&wire.verb.ok_or(UnknownLine)?)?;
        let undoes = wire.undoes.as_deref().map(parse).transpose()?;
        let changes = wire.changes.into_iter().map(RecordedChange::try_from).collect::<Result<_, _>>()?;
        Ok(Self { id, at, what: JournalEvent::Begun { verb, by: wire.by.unwrap_or_default(), undoes, changes } })
    }
}

impl TryFrom<WireChange> for RecordedChange {
    type Error = UnknownLine;

    fn try_from(wire: WireChange) -> Result<Self, UnknownLine> {
        let file = |file: WireFile| -> Result<RecordedFile, UnknownLine> {
            Ok(RecordedFile { hash: parse::<ContentHash>(&file.hash)?, path: file.path, trash: file.trash })
        };
        Ok(Self {
            id: parse::<MemoryId>(&wire.id)?,
            before: wire.before.map(file).transpose()?,
            after: wire.after.map(file).transpose()?,
            why: wire.why,
        })
    }
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, UnknownLine> {
    text.parse().map_err(|_| UnknownLine)
}
