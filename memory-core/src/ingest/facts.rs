//! Facts that a language model draws from the conversations of a source.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{IngestError, IngestReport, SkippedFile};
use crate::commit::commit_units;
use crate::instance::history::RecordDraft;
use crate::json::JsonText;
use crate::{Change, ChangeSet, ChatError, Draft, Duplicates, Origin, Phase, Services, SourceSession, SpeakerRole, secret};

/// Maximum size of the messages of one request, in bytes.
const MAX_REQUEST: usize = 12_000;

/// Maximum number of messages of one request.
const MAX_MESSAGES: usize = 12;

/// The folder of facts in the origin of their memories.
const FACTS: &str = "facts";

/// Draws facts from messages, as a language model does.
pub trait FactExtractor: Debug + Send + Sync {
    /// Returns the facts of each of `messages`, in their order.
    ///
    /// # Errors
    /// [`FactError::Unavailable`] if later requests would fail as well, otherwise [`FactError::Unusable`].
    fn facts(&self, messages: &[&str]) -> Result<Vec<Vec<String>>, FactError>;
}

/// The error that no facts can be drawn.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    /// The model cannot be reached, or the budget is used up.
    #[error(transparent)]
    Unavailable(#[from] ChatError),
    /// The answer cannot be used.
    #[error("{0}")]
    Unusable(String),
}

/// The extraction of the facts of one source.
pub(super) struct FactWriter<'a> {
    source: &'a str,
    services: &'a Services,
    set: ChangeSet,
    /// The extractor, as long as it is available.
    extractor: Option<&'a dyn FactExtractor>,
}

impl<'a> FactWriter<'a> {
    /// Returns a writer whose memories belong to the operation of `set`.
    pub(super) fn new(source: &'a str, services: &'a Services, set: &ChangeSet, extractor: &'a dyn FactExtractor) -> Self {
        let set = ChangeSet { duplicates: Duplicates::Skip, changes: Vec::new(), ..set.clone() };
        Self { source, services, set, extractor: Some(extractor) }
    }

    /// Writes the facts of the messages of the user in a conversation, unless it has facts from an earlier run.
    pub(super) fn extract(&mut self, session: &SourceSession, report: &mut IngestReport) -> Result<(), IngestError> {
        let Some(extractor) = self.extractor else { return Ok(()) };
        if self.services.store.by_origin(&self.origin(session, 0))?.is_some() {
            return Ok(());
        }
        let messages: Vec<_> = session.records.iter().filter_map(user_message).collect();
        let mut number = 0;
        let mut units = Vec::new();
        for batch in batches(&messages) {
            let texts: Vec<&str> = batch.iter().map(|(text, _)| text.as_str()).collect();
            let found = match extractor.facts(&texts) {
                Ok(found) => found,
                Err(error) => {
                    let place = format!("{} {}", self.source, session.id);
                    let is_final = matches!(error, FactError::Unavailable(_));
                    let next = if is_final {
                        "; this and later conversations have no facts until a further run with --extract"
                    } else {
                        ""
                    };
                    report.warnings.push(SkippedFile { path: place, reason: format!("no facts were drawn: {error}{next}") });
                    if is_final {
                        self.extractor = None;
                        // All facts of a conversation are written, or none, so that a further run draws them.
                        return Ok(());
                    }
                    continue;
                }
            };
            for (facts, (_, at)) in found.into_iter().zip(batch) {
                for fact in facts {
                    units.push(vec![self.create(session, number, &fact, *at)]);
                    number += 1;
                }
            }
        }
        let refused = commit_units(self.services, &self.set, units)?;
        report.facts += (number - refused.len()) as u64;
        Ok(())
    }

    fn create(&self, session: &SourceSession, number: usize, fact: &str, at: Option<DateTime<Utc>>) -> Change {
        let text = secret::redact(fact).map_or_else(|| fact.to_owned(), |redacted| redacted.text);
        let draft = Draft {
            phase: Some(Phase::Inbox),
            source: self.source.to_owned(),
            role: Some(SpeakerRole::Person),
            created_at: at,
            origin: Some(self.origin(session, number)),
            ..Draft::new(&text)
        };
        let memory = draft.into_memory(self.services.ids.memory_id(), self.set.operation.at);
        Change::Create { memory: Box::new(memory), front_matter: String::new() }
    }

    fn origin(&self, session: &SourceSession, number: usize) -> Origin {
        let path = format!("{}/{number:04}", session.id);
        Origin { source: self.source.to_owned(), root: FACTS.into(), path, hash: None }
    }
}

/// Returns the text and the time of a message of the user.
fn user_message(record: &RecordDraft) -> Option<(String, Option<DateTime<Utc>>)> {
    let text = record.content.as_ref().filter(|_| record.role.as_str() == "user").and_then(JsonText::as_string)?;
    (!text.trim().is_empty()).then_some((text, record.at))
}

/// Divides messages into the groups of one request each.
fn batches<T>(messages: &[(String, T)]) -> Vec<&[(String, T)]> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (index, (text, _)) in messages.iter().enumerate() {
        if start < index && (MAX_REQUEST < bytes + text.len() || MAX_MESSAGES <= index - start) {
            batches.push(&messages[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += text.len();
    }
    if start < messages.len() {
        batches.push(&messages[start..]);
    }
    batches
}
