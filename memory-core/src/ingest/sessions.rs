//! Importing the conversations of a source as sessions of a history.

use std::collections::HashMap;

use chrono::{DateTime, SecondsFormat, Utc};

use super::facts::FactWriter;
use super::{
    IngestBatch, IngestError, IngestOptions, IngestReport, Progress, SkippedFile, redact_text,
};
use crate::instance::InstanceError;
use crate::instance::history::{
    Messages, RecordDraft, RecordFilter, SessionName, SessionRecord, Window, read,
};
use crate::json::JsonText;
use crate::secret::Checked;
use crate::text::to_one_line;
use crate::{ContentHash, Operation, SecretPolicy, Source, SourceSession, SourceSessionItem};

/// Maximum length of a title in the name of a session, in bytes.
const MAX_TITLE: usize = 100;

/// The member of the metadata with the number of messages that were searched for facts.
const DRAWN_MESSAGES: &str = ",\"facts_drawn\":";

/// The member of the metadata with the time at which the source changed the conversation.
const UPDATED_AT: &str = ",\"conversation_updated_at\":\"";

/// Maximum length of an id in the name of a session, in bytes. A longer id is replaced by its hash.
const MAX_ID: usize = 64;

/// The numbers of imported conversations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Number of conversations that became new sessions.
    pub new: u64,
    /// Number of changed conversations that replaced the records of their session.
    pub updated: u64,
    /// Number of unchanged conversations.
    pub unchanged: u64,
    /// Number of records that were written.
    pub records: u64,
}

/// Imports the conversations of `source`.
pub(super) fn ingest_sessions(
    source: &dyn Source,
    messages: &Messages,
    batch: &IngestBatch<'_>,
    options: &IngestOptions<'_>,
    report: &mut IngestReport,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), IngestError> {
    let (set, dry_run) = (&batch.operation, options.dry_run);
    let mut importer = SessionImporter {
        source: source.name(),
        messages,
        operation: &set.operation,
        dry_run,
        names: None,
        outcomes: HashMap::new(),
    };
    let extractor = options.extractor.filter(|_| !dry_run);
    let (name, is_trusted) = (source.name(), options.is_trusted);
    let mut facts = extractor
        .map(|extractor| FactWriter::new(name, batch.services, set, extractor, is_trusted));
    for (done, item) in source.sessions().enumerate() {
        match item {
            SourceSessionItem::Session(mut session) => {
                session.title.as_mut().map(redact_text);
                let stored = importer.stored_session(&session)?;
                if let Some(reason) = stored
                    .as_ref()
                    .and_then(|stored| stored.newer_than(&session))
                {
                    report.skipped.push(SkippedFile {
                        path: importer.place(&session),
                        reason,
                    });
                    continue;
                }
                let mut drawn = stored.as_ref().and_then(StoredSession::drawn_messages);
                if let Some(facts) = &mut facts {
                    drawn = facts.extract(&session, drawn, report)?;
                }
                importer.import(&session, stored.as_ref(), drawn, report)?;
            }
            SourceSessionItem::Skipped { path, reason } => {
                report.skipped.push(SkippedFile { path, reason });
            }
        }
        progress(Progress {
            done: done as u64 + 1,
            total: None,
        });
    }
    Ok(())
}

/// Returns the report that no conversation was imported because of `error`; `None` for a source without conversations.
pub(super) fn skipped_sessions(source: &dyn Source, error: &InstanceError) -> Option<SkippedFile> {
    source.sessions().next()?;
    let hint = error
        .hint()
        .map(|hint| format!("; {hint}"))
        .unwrap_or_default();
    Some(SkippedFile {
        path: "all conversations".into(),
        reason: format!("{error}{hint}"),
    })
}

/// The import of the conversations of one source.
struct SessionImporter<'a> {
    source: &'a str,
    messages: &'a Messages,
    operation: &'a Operation,
    dry_run: bool,
    /// The sessions of the source by the id of their conversation, once they are read.
    names: Option<HashMap<String, SessionName>>,
    /// The outcomes of the conversations of this run by their ids. A conversation may follow again in a newer state.
    outcomes: HashMap<String, SessionCounts>,
}

impl SessionImporter<'_> {
    /// Returns the session that was imported from the same conversation before.
    fn stored_session(
        &mut self,
        session: &SourceSession,
    ) -> Result<Option<StoredSession>, IngestError> {
        let Some(name) = self.former_name(&short_id(&session.id))? else {
            return Ok(None);
        };
        let stored = read(
            self.messages,
            &name,
            &RecordFilter::default(),
            Window::default(),
        )?;
        Ok(Some(StoredSession {
            name,
            is_damaged: !stored.damaged.is_empty(),
            records: stored.records,
        }))
    }

    /// Imports a conversation, of whose messages of the user `drawn` ones were searched for facts.
    fn import(
        &mut self,
        session: &SourceSession,
        stored: Option<&StoredSession>,
        drawn: Option<usize>,
        report: &mut IngestReport,
    ) -> Result<(), IngestError> {
        let place = self.place(session);
        let id = short_id(&session.id);
        let (records, warning) = self.records(session, drawn);
        report.warnings.extend(warning.map(|reason| SkippedFile {
            path: place.clone(),
            reason,
        }));
        if records.is_empty() {
            return Ok(());
        }
        let name = match stored {
            Some(stored) => stored.name.clone(),
            None => session_name(self.source, session.title.as_deref(), &id)?,
        };
        let is_unchanged = stored.is_some_and(|stored| stored.has_messages(&records));
        if let Some(stored) = stored {
            let is_newer = stored
                .updated_at()
                .is_some_and(|stored| Some(stored) < session.updated_at);
            if is_unchanged && !is_newer && stored.drawn_messages() == drawn {
                self.count(
                    session,
                    SessionCounts {
                        unchanged: 1,
                        ..SessionCounts::default()
                    },
                    report,
                );
                return Ok(());
            }
            if stored.is_damaged
                || !stored
                    .records
                    .iter()
                    .all(|record| self.is_imported(record, session))
            {
                let reason = format!(
                    "it was changed, but the session {name} contains other records; it remains unchanged"
                );
                report.skipped.push(SkippedFile {
                    path: place,
                    reason,
                });
                return Ok(());
            }
        }
        if !self.dry_run {
            let checked =
                match Checked::new(records.as_slice(), [name.as_str()], SecretPolicy::Refuse) {
                    Ok(checked) => checked,
                    Err(error) => {
                        report.skipped.push(SkippedFile {
                            path: place,
                            reason: error.to_string(),
                        });
                        return Ok(());
                    }
                };
            self.messages
                .store
                .replace(&name, checked, self.operation)?;
            self.names.get_or_insert_default().insert(id, name);
        }
        if is_unchanged {
            // Only the time of the conversation, or the number of messages that were searched for facts, was written.
            self.count(
                session,
                SessionCounts {
                    unchanged: 1,
                    ..SessionCounts::default()
                },
                report,
            );
            return Ok(());
        }
        let (new, updated) = if stored.is_some() { (0, 1) } else { (1, 0) };
        self.count(
            session,
            SessionCounts {
                new,
                updated,
                unchanged: 0,
                records: records.len() as u64,
            },
            report,
        );
        Ok(())
    }

    /// Returns the position of a conversation for reports.
    fn place(&self, session: &SourceSession) -> String {
        format!("{} {}", self.source, session.id)
    }

    /// Counts the outcome of a conversation, which replaces that of its earlier state in this run.
    fn count(
        &mut self,
        session: &SourceSession,
        outcome: SessionCounts,
        report: &mut IngestReport,
    ) {
        let earlier = self.outcomes.get(&session.id).copied();
        let outcome = match earlier {
            Some(earlier) if earlier.unchanged == 0 => {
                let records = if outcome.unchanged == 0 {
                    outcome.records
                } else {
                    earlier.records
                };
                SessionCounts { records, ..earlier }
            }
            _ => outcome,
        };
        let earlier = earlier.unwrap_or_default();
        let counts = &mut report.sessions;
        counts.new += outcome.new - earlier.new;
        counts.updated += outcome.updated - earlier.updated;
        counts.unchanged = counts.unchanged + outcome.unchanged - earlier.unchanged;
        counts.records = counts.records + outcome.records - earlier.records;
        self.outcomes.insert(session.id.clone(), outcome);
    }

    /// Returns the name of the session that was imported from the conversation `id`.
    fn former_name(&mut self, id: &str) -> Result<Option<SessionName>, IngestError> {
        if self.names.is_none() {
            let prefix = format!("{} ", self.source);
            let mut names = HashMap::new();
            for summary in self.messages.store.sessions()? {
                let id = summary
                    .session
                    .as_str()
                    .strip_prefix(&prefix)
                    .and_then(|rest| rest.strip_suffix(')')?.rsplit_once('('));
                if let Some((_, id)) = id {
                    names.insert(id.to_owned(), summary.session);
                }
            }
            self.names = Some(names);
        }
        Ok(self.names.as_ref().and_then(|names| names.get(id)).cloned())
    }

    /// Returns the records of a conversation without credentials, and a warning if something was left out.
    fn records(
        &self,
        session: &SourceSession,
        drawn: Option<usize>,
    ) -> (Vec<SessionRecord>, Option<String>) {
        let (mut records, mut kinds, mut rejected) =
            (Vec::with_capacity(session.records.len()), Vec::new(), None);
        for draft in &session.records {
            let mut draft = draft.clone();
            kinds.extend(draft.redact());
            draft.meta = self.meta(session, &draft, drawn, records.is_empty());
            match SessionRecord::imported(&draft) {
                Ok(record) => records.push(record),
                Err(error) => rejected = Some(error.to_string()),
            }
        }
        kinds.sort_unstable();
        kinds.dedup();
        let redacted =
            (!kinds.is_empty()).then(|| format!("redacted a credential ({})", kinds.join(", ")));
        let warnings: Vec<_> = redacted
            .into_iter()
            .chain(rejected.map(|reason| format!("a message was left out: {reason}")))
            .collect();
        (records, (!warnings.is_empty()).then(|| warnings.join("; ")))
    }

    /// Returns the metadata of a record: its source, its conversation, in the first record the title, the time of the last
    /// change and the number of messages that were searched for facts, and its own metadata.
    fn meta(
        &self,
        session: &SourceSession,
        draft: &RecordDraft,
        drawn: Option<usize>,
        is_first: bool,
    ) -> Option<JsonText> {
        let string = |text: &str| JsonText::string(text);
        let mut meta = format!("{{{}", self.mark(session));
        if let Some(title) = session.title.as_ref().filter(|_| is_first) {
            meta.extend([",\"title\":", string(title).as_str()]);
        }
        if let Some(updated_at) = session.updated_at.filter(|_| is_first) {
            meta.extend([
                UPDATED_AT,
                &updated_at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
                "\"",
            ]);
        }
        if let Some(drawn) = drawn.filter(|_| is_first) {
            meta.extend([DRAWN_MESSAGES, &drawn.to_string()]);
        }
        let own = draft
            .meta
            .as_ref()
            .map(|own| own.as_str().trim())
            .and_then(|own| own.strip_prefix('{')?.strip_suffix('}'));
        if let Some(own) = own.filter(|own| !own.trim().is_empty()) {
            meta.extend([",", own]);
        }
        meta.push('}');
        meta.parse().ok()
    }

    /// Returns the members of the metadata by which an imported record is recognized.
    fn mark(&self, session: &SourceSession) -> String {
        format!(
            r#""source":{},"conversation":{}"#,
            JsonText::string(self.source).as_str(),
            JsonText::string(&session.id).as_str()
        )
    }

    fn is_imported(&self, record: &SessionRecord, session: &SourceSession) -> bool {
        record
            .text()
            .as_str()
            .contains(&format!(r#""meta":{{{}"#, self.mark(session)))
    }
}

/// A session that was imported from a conversation.
struct StoredSession {
    name: SessionName,
    records: Vec<SessionRecord>,
    is_damaged: bool,
}

impl StoredSession {
    /// Returns the number of messages of the user that were searched for facts.
    fn drawn_messages(&self) -> Option<usize> {
        split_drawn_messages(self.records.first()?.text().as_str()).1
    }

    /// Returns the recorded time at which the source changed the conversation.
    fn updated_at(&self) -> Option<DateTime<Utc>> {
        split_updated_at(self.records.first()?.text().as_str()).1
    }

    /// Returns the reason why `session` is an older state of the conversation, if it is.
    ///
    /// A session without a recorded time is at least as new as its messages.
    fn newer_than(&self, session: &SourceSession) -> Option<String> {
        let updated_at = session.updated_at?;
        let (stored, own) = if let Some(stored) = self.updated_at() {
            (stored, updated_at)
        } else {
            let latest = session.records.iter().filter_map(|record| record.at).max();
            (
                self.records.iter().filter_map(SessionRecord::at).max()?,
                latest.map_or(updated_at, |at| at.max(updated_at)),
            )
        };
        if stored <= own {
            return None;
        }
        let is_same_second = stored.timestamp() == own.timestamp();
        let format = if is_same_second {
            SecondsFormat::AutoSi
        } else {
            SecondsFormat::Secs
        };
        let shown = |time: DateTime<Utc>| time.to_rfc3339_opts(format, true);
        Some(format!(
            "it is older ({}) than the imported conversation ({}), which remains",
            shown(own),
            shown(stored)
        ))
    }

    /// Returns whether its records are `records`, except for the time of the conversation and the number of messages that were
    /// searched for facts.
    fn has_messages(&self, records: &[SessionRecord]) -> bool {
        let text = |record: &SessionRecord| {
            let without_time = split_updated_at(record.text().as_str()).0.concat();
            split_drawn_messages(&without_time).0.concat()
        };
        let texts = |records: &[SessionRecord]| records.iter().map(text).collect::<Vec<_>>();
        !self.is_damaged
            && self.records.len() == records.len()
            && texts(&self.records) == texts(records)
    }
}

/// Splits the text of a record at the number of messages that were searched for facts.
fn split_drawn_messages(text: &str) -> ([&str; 2], Option<usize>) {
    // Within a string, the quotes of this member are escaped.
    let Some((before, after)) = text.split_once(DRAWN_MESSAGES) else {
        return ([text, ""], None);
    };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    ([before, &after[digits..]], after[..digits].parse().ok())
}

/// Splits the text of a record at the time of its conversation.
fn split_updated_at(text: &str) -> ([&str; 2], Option<DateTime<Utc>>) {
    // Within a string, the quotes of this member are escaped.
    let found = text
        .split_once(UPDATED_AT)
        .and_then(|(before, after)| Some((before, after.split_once('"')?)));
    let Some((before, (time, after))) = found else {
        return ([text, ""], None);
    };
    ([before, after], time.parse().ok())
}

/// Returns the name of a new session: the source, the title, and the id in parentheses.
fn session_name(source: &str, title: Option<&str>, id: &str) -> Result<SessionName, IngestError> {
    // These are escaped in file names, which must not be too long.
    let plain = title.unwrap_or_default().replace(
        ['/', '\\', '%', ':', '*', '?', '"', '<', '>', '|', '(', ')'],
        " ",
    );
    let mut title = to_one_line(&plain, MAX_TITLE);
    while MAX_TITLE < title.len() {
        title.pop();
    }
    let title = title.trim();
    let space = if title.is_empty() { "" } else { " " };
    Ok(format!("{source} {title}{space}({id})").parse()?)
}

/// Returns an id that can be part of a name.
fn short_id(id: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if id.len() <= MAX_ID && id.chars().all(is_plain) {
        id.to_owned()
    } else {
        ContentHash::of(id).to_string().chars().take(16).collect()
    }
}
