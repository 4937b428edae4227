//! Importing the conversations of a source as sessions of a history.

use std::collections::HashMap;

use super::facts::FactWriter;
use super::{IngestBatch, IngestError, IngestOptions, IngestReport, Progress, SkippedFile};
use crate::instance::InstanceError;
use crate::instance::history::{Messages, RecordDraft, RecordFilter, SessionName, SessionRecord, Window, read};
use crate::json::{JsonText, unescape_strings};
use crate::secret::{self, Checked};
use crate::text::to_one_line;
use crate::{ContentHash, Operation, SecretPolicy, Source, SourceSession, SourceSessionItem};

/// Maximum length of a title in the name of a session, in bytes.
const MAX_TITLE: usize = 100;

/// The member of the metadata with the number of messages that were searched for facts.
const DRAWN_MESSAGES: &str = ",\"facts_drawn\":";

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
    let mut importer = SessionImporter { source: source.name(), messages, operation: &set.operation, dry_run, names: None };
    let extractor = options.extractor.filter(|_| !dry_run);
    let mut facts = extractor.map(|extractor| FactWriter::new(source.name(), batch.services, set, extractor));
    for (done, item) in source.sessions().enumerate() {
        match item {
            SourceSessionItem::Session(mut session) => {
                redact_title(&mut session);
                let stored = importer.stored_session(&session)?;
                let mut drawn = stored.as_ref().and_then(StoredSession::drawn_messages);
                if let Some(facts) = &mut facts {
                    drawn = facts.extract(&session, drawn, report)?;
                }
                importer.import(&session, stored.as_ref(), drawn, report)?;
            }
            SourceSessionItem::Skipped { path, reason } => report.skipped.push(SkippedFile { path, reason }),
        }
        progress(Progress { done: done as u64 + 1, total: None });
    }
    Ok(())
}

/// Returns the report that no conversation was imported because of `error`; `None` for a source without conversations.
pub(super) fn skipped_sessions(source: &dyn Source, error: &InstanceError) -> Option<SkippedFile> {
    source.sessions().next()?;
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    Some(SkippedFile { path: "all conversations".into(), reason: format!("{error}{hint}") })
}

/// The import of the conversations of one source.
struct SessionImporter<'a> {
    source: &'a str,
    messages: &'a Messages,
    operation: &'a Operation,
    dry_run: bool,
    /// The sessions of the source by the id of their conversation, once they are read.
    names: Option<HashMap<String, SessionName>>,
}

impl SessionImporter<'_> {
    /// Returns the session that was imported from the same conversation before.
    fn stored_session(&mut self, session: &SourceSession) -> Result<Option<StoredSession>, IngestError> {
        let Some(name) = self.former_name(&short_id(&session.id))? else { return Ok(None) };
        let stored = read(self.messages, &name, &RecordFilter::default(), Window::default())?;
        Ok(Some(StoredSession { name, is_damaged: !stored.damaged.is_empty(), records: stored.records }))
    }

    /// Imports a conversation, of whose messages of the user `drawn` ones were searched for facts.
    fn import(
        &mut self,
        session: &SourceSession,
        stored: Option<&StoredSession>,
        drawn: Option<usize>,
        report: &mut IngestReport,
    ) -> Result<(), IngestError> {
        let place = format!("{} {}", self.source, session.id);
        let id = short_id(&session.id);
        let (records, warning) = self.records(session, drawn);
        report.warnings.extend(warning.map(|reason| SkippedFile { path: place.clone(), reason }));
        if records.is_empty() {
            return Ok(());
        }
        let name = match stored {
            Some(stored) => stored.name.clone(),
            None => session_name(self.source, session.title.as_deref(), &id)?,
        };
        let is_unchanged = stored.is_some_and(|stored| stored.has_messages(&records));
        if let Some(stored) = stored {
            if is_unchanged && stored.drawn_messages() == drawn {
                report.sessions.unchanged += 1;
                return Ok(());
            }
            if stored.is_damaged || !stored.records.iter().all(|record| self.is_imported(record, session)) {
                let reason = format!("it was changed, but the session {name} contains other records; it remains unchanged");
                report.skipped.push(SkippedFile { path: place, reason });
                return Ok(());
            }
        }
        if !self.dry_run {
            let checked = match Checked::new(records.as_slice(), [name.as_str()], SecretPolicy::Refuse) {
                Ok(checked) => checked,
                Err(error) => {
                    report.skipped.push(SkippedFile { path: place, reason: error.to_string() });
                    return Ok(());
                }
            };
            self.messages.store.replace(&name, checked, self.operation)?;
            self.names.get_or_insert_default().insert(id, name);
        }
        if is_unchanged {
            // Only the number of messages that were searched for facts was written.
            report.sessions.unchanged += 1;
            return Ok(());
        }
        *(if stored.is_some() { &mut report.sessions.updated } else { &mut report.sessions.new }) += 1;
        report.sessions.records += records.len() as u64;
        Ok(())
    }

    /// Returns the name of the session that was imported from the conversation `id`.
    fn former_name(&mut self, id: &str) -> Result<Option<SessionName>, IngestError> {
        if self.names.is_none() {
            let prefix = format!("{} ", self.source);
            let mut names = HashMap::new();
            for summary in self.messages.store.sessions()? {
                let id = summary.session.as_str().strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(')')?.rsplit_once('('));
                if let Some((_, id)) = id {
                    names.insert(id.to_owned(), summary.session);
                }
            }
            self.names = Some(names);
        }
        Ok(self.names.as_ref().and_then(|names| names.get(id)).cloned())
    }

    /// Returns the records of a conversation without credentials, and a warning if something was left out.
    fn records(&self, session: &SourceSession, drawn: Option<usize>) -> (Vec<SessionRecord>, Option<String>) {
        let (mut records, mut kinds, mut rejected) = (Vec::with_capacity(session.records.len()), Vec::new(), None);
        for draft in &session.records {
            let mut draft = draft.clone();
            if let Some(redacted) = draft.content.as_ref().and_then(JsonText::as_string).and_then(|text| secret::redact(&text)) {
                draft.content = Some(JsonText::string(&redacted.text));
                kinds.extend(redacted.kinds);
            }
            let has_secret = |part: &Option<JsonText>| {
                part.as_ref().is_some_and(|part| !secret::find(&unescape_strings(part.as_str())).is_empty())
            };
            // Redaction within other JSON could change its structure.
            if has_secret(&draft.meta) {
                draft.meta = None;
                kinds.push("metadata");
            }
            if has_secret(&draft.tool_calls) {
                draft.tool_calls = None;
                draft.content.get_or_insert_with(|| JsonText::string("[redacted: tool calls]"));
                kinds.push("tool calls");
            }
            draft.meta = self.meta(session, &draft, drawn, records.is_empty());
            match SessionRecord::imported(&draft) {
                Ok(record) => records.push(record),
                Err(error) => rejected = Some(error.to_string()),
            }
        }
        kinds.sort_unstable();
        kinds.dedup();
        let redacted = (!kinds.is_empty()).then(|| format!("redacted a credential ({})", kinds.join(", ")));
        let warnings: Vec<_> =
            redacted.into_iter().chain(rejected.map(|reason| format!("a message was left out: {reason}"))).collect();
        (records, (!warnings.is_empty()).then(|| warnings.join("; ")))
    }

    /// Returns the metadata of a record: its source, its conversation, in the first record the title and the number of messages
    /// that were searched for facts, and its own metadata.
    fn meta(&self, session: &SourceSession, draft: &RecordDraft, drawn: Option<usize>, is_first: bool) -> Option<JsonText> {
        let string = |text: &str| JsonText::string(text);
        let mut meta = format!("{{{}", self.mark(session));
        if let Some(title) = session.title.as_ref().filter(|_| is_first) {
            meta.extend([",\"title\":", string(title).as_str()]);
        }
        if let Some(drawn) = drawn.filter(|_| is_first) {
            meta.extend([DRAWN_MESSAGES, &drawn.to_string()]);
        }
        let own = draft.meta.as_ref().map(|own| own.as_str().trim()).and_then(|own| own.strip_prefix('{')?.strip_suffix('}'));
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
        record.text().as_str().contains(&format!(r#""meta":{{{}"#, self.mark(session)))
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

    /// Returns whether its records are `records`, except for the number of messages that were searched for facts.
    fn has_messages(&self, records: &[SessionRecord]) -> bool {
        let texts = |records: &[SessionRecord]| {
            records.iter().map(|record| split_drawn_messages(record.text().as_str()).0.concat()).collect::<Vec<_>>()
        };
        !self.is_damaged && self.records.len() == records.len() && texts(&self.records) == texts(records)
    }
}

/// Splits the text of a record at the number of messages that were searched for facts.
fn split_drawn_messages(text: &str) -> ([&str; 2], Option<usize>) {
    // Within a string, the quotes of this member are escaped.
    let Some((before, after)) = text.split_once(DRAWN_MESSAGES) else { return ([text, ""], None) };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    ([before, &after[digits..]], after[..digits].parse().ok())
}

fn redact_title(session: &mut SourceSession) {
    if let Some(title) = &mut session.title
        && let Some(redacted) = secret::redact(title)
    {
        *title = redacted.text;
    }
}

/// Returns the name of a new session: the source, the title, and the id in parentheses.
fn session_name(source: &str, title: Option<&str>, id: &str) -> Result<SessionName, IngestError> {
    // These are escaped in file names, which must not be too long.
    let plain = title.unwrap_or_default().replace(['/', '\\', '%', ':', '*', '?', '"', '<', '>', '|', '(', ')'], " ");
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
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if id.len() <= MAX_ID && id.chars().all(is_plain) {
        id.to_owned()
    } else {
        ContentHash::of(id).to_string().chars().take(16).collect()
    }
}
