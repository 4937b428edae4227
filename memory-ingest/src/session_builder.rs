//! Conversations from the messages of another program.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use memory_core::instance::history::{MAX_RECORD, RecordDraft, RecordRole, SessionName};
use memory_core::json::JsonText;
use memory_core::{Scope, SourceSession, SourceSessionItem, secret};

use crate::note;
use crate::session_files::project_name;

/// Bytes of a record that are reserved for its keys, time and role.
const RESERVED_BYTES: usize = 4_096;

/// Maximum size of the messages of a conversation in bytes. All of them are in memory at a time.
pub(crate) const MAX_SESSION_BYTES: usize = 256 << 20;

/// Maximum number of reports about the messages of a conversation.
const MAX_REPORTS: usize = 100;

/// A conversation to which messages are added, and the messages that cannot be imported.
#[derive(Debug)]
pub(crate) struct SessionBuilder {
    path: String,
    session: SourceSession,
    skipped: Vec<SourceSessionItem>,
    bytes: usize,
}

impl SessionBuilder {
    /// Starts a conversation. `path` is its file or position for reports.
    pub(crate) fn new(path: String, id: &str, title: Option<&str>) -> Self {
        let mut builder = Self {
            path,
            session: SourceSession::new(id, Vec::new()),
            skipped: Vec::new(),
            bytes: 0,
        };
        builder.set_title(title);
        builder
    }

    /// Sets the id, if there is one.
    pub(crate) fn set_id(&mut self, id: Option<&str>) {
        if let Some(id) = id {
            id.clone_into(&mut self.session.id);
        }
    }

    /// Sets the title, if there is one.
    pub(crate) fn set_title(&mut self, title: Option<&str>) {
        self.session.title = title.map(note::one_line).filter(|title| !title.is_empty());
    }

    /// Sets the time of the last change, if there is one.
    pub(crate) fn set_updated_at(&mut self, updated_at: Option<DateTime<Utc>>) {
        self.session.updated_at = updated_at;
    }

    /// Sets the project to the one of the folder, unless it is known.
    pub(crate) fn set_project(&mut self, folder: &str) {
        if self.session.scope == Scope::Global
            && let Some(name) = project_name(folder)
        {
            self.session.scope = Scope::Project(name);
            let has_secret = secret::redact(folder).is_some();
            self.session.project_folder = (!has_secret).then(|| folder.into());
        }
    }

    /// Adds a message, unless it is too large. Returns whether it was added.
    pub(crate) fn push(&mut self, record: RecordDraft) -> bool {
        let texts = [&record.content, &record.tool_calls, &record.meta];
        let size = texts
            .into_iter()
            .flatten()
            .map(|text| text.as_str().len())
            .sum::<usize>()
            + RESERVED_BYTES;
        self.bytes += size;
        if MAX_RECORD < size {
            self.skip("a message is larger than 8 MiB");
        } else if MAX_SESSION_BYTES < self.bytes {
            self.skip("a message is beyond the first 256 MiB of the conversation");
        } else {
            self.session.records.push(record);
            return true;
        }
        false
    }

    /// Removes the messages whose positions are not accepted.
    pub(crate) fn retain(&mut self, is_accepted: &dyn Fn(usize) -> bool) {
        let mut positions = 0..;
        self.session
            .records
            .retain(|_| positions.next().is_some_and(is_accepted));
    }

    /// Reports a message that cannot be imported.
    pub(crate) fn skip(&mut self, reason: &str) {
        match self.skipped.len() {
            MAX_REPORTS => self.skipped.push(skipped_session(
                self.path.clone(),
                "has more problems, which are not listed",
            )),
            count if MAX_REPORTS < count => {}
            _ => self
                .skipped
                .push(skipped_session(self.path.clone(), reason)),
        }
    }

    /// Returns the conversation, if it has a message and a valid id, and the reports.
    pub(crate) fn finish(self) -> Vec<SourceSessionItem> {
        let mut items = self.skipped;
        if self.session.id.parse::<SessionName>().is_err() {
            items.push(skipped_session(self.path, "has no valid id"));
        } else if self.session.records.is_empty() {
            items.push(skipped_session(self.path, "has no messages"));
        } else {
            items.push(SourceSessionItem::Session(Box::new(self.session)));
        }
        items
    }
}

/// Returns a report about a conversation.
pub(crate) fn skipped_session(path: String, reason: impl Into<String>) -> SourceSessionItem {
    SourceSessionItem::Skipped {
        path,
        reason: reason.into(),
    }
}

/// Returns a message with a text, a time, and metadata without the members that are missing.
pub(crate) fn text_record(
    role: RecordRole,
    text: &str,
    at: Option<DateTime<Utc>>,
    meta: &[(&str, Option<&str>)],
) -> RecordDraft {
    let members: Vec<_> = meta
        .iter()
        .filter_map(|(key, value)| Some((*key, json_string((*value)?))))
        .collect();
    let meta = (!members.is_empty())
        .then(|| JsonText::object(members.iter().map(|(key, value)| (*key, value))));
    RecordDraft {
        content: Some(json_string(text)),
        at,
        meta,
        ..RecordDraft::from_text(role, "")
    }
}

/// Returns the calls of tools with their ids, names and arguments.
pub(crate) fn tool_calls<'a>(
    calls: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
) -> Option<JsonText> {
    let call = |(id, name, arguments)| {
        let members = [
            ("id", json_string(id)),
            ("name", json_string(name)),
            ("arguments", json_string(arguments)),
        ];
        JsonText::object(members.iter().map(|(key, value)| (*key, value))).into_string()
    };
    let calls: Vec<_> = calls.into_iter().map(call).collect();
    (!calls.is_empty())
        .then(|| format!("[{}]", calls.join(",")).parse().ok())
        .flatten()
}

/// Returns a text as JSON. NUL becomes `�`, since not every store can contain it.
fn json_string(text: &str) -> JsonText {
    if text.contains('\0') {
        JsonText::string(&text.replace('\0', "\u{fffd}"))
    } else {
        JsonText::string(text)
    }
}

/// Replaces a conversation with the id of an earlier one by a report, unless it is a newer state of it.
pub(crate) fn unique_sessions(
    items: impl Iterator<Item = SourceSessionItem>,
) -> impl Iterator<Item = SourceSessionItem> {
    let mut seen = HashMap::<String, Option<DateTime<Utc>>>::new();
    items.map(move |item| match item {
        SourceSessionItem::Session(session) => match seen.get(&session.id) {
            Some(earlier) if earlier.is_none() || session.updated_at <= *earlier => {
                let reason = "has the id of an earlier conversation, which is imported";
                skipped_session(format!("conversations/{}", session.id), reason)
            }
            _ => {
                seen.insert(session.id.clone(), session.updated_at);
                SourceSessionItem::Session(session)
            }
        },
        item @ SourceSessionItem::Skipped { .. } => item,
    })
}
