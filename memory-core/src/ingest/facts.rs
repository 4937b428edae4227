//! Facts that a language model draws from the conversations of a source.

use std::collections::HashMap;
use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{IngestError, IngestReport, SkippedFile};
use crate::commit::commit_units;
use crate::instance::history::RecordDraft;
use crate::json::JsonText;
use crate::{
    Change, ChangeSet, ChatError, Draft, Duplicates, Filter, Memory, Origin, Phase, Services,
    SourceSession, SpeakerRole, StoreError, Verb, secret,
};

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
    /// For each conversation with facts, the number of messages of the user up to the last one with a fact, once it is read.
    drawn: Option<HashMap<String, usize>>,
    is_trusted: bool,
}

impl<'a> FactWriter<'a> {
    /// Returns a writer whose memories belong to the operation of `set`.
    pub(super) fn new(
        source: &'a str,
        services: &'a Services,
        set: &ChangeSet,
        extractor: &'a dyn FactExtractor,
        is_trusted: bool,
    ) -> Self {
        let set = ChangeSet {
            duplicates: Duplicates::Skip,
            changes: Vec::new(),
            ..set.clone()
        };
        Self {
            source,
            services,
            set,
            extractor: Some(extractor),
            drawn: None,
            is_trusted,
        }
    }

    /// Writes the facts of the messages of the user in a conversation, except the first `drawn` ones, whose facts earlier runs
    /// wrote. Returns the number of messages whose facts are written now.
    ///
    /// If that number was not recorded, the messages up to the last one with a fact are left out. A fact that a person
    /// deleted is not written again.
    pub(super) fn extract(
        &mut self,
        session: &SourceSession,
        drawn: Option<usize>,
        report: &mut IngestReport,
    ) -> Result<Option<usize>, IngestError> {
        let Some(extractor) = self.extractor else {
            return Ok(drawn);
        };
        let mut done = match drawn {
            Some(drawn) => drawn,
            None => self
                .drawn_messages()?
                .get(&session.id)
                .copied()
                .unwrap_or(0),
        };
        let messages: Vec<_> = session.records.iter().filter_map(user_message).collect();
        let mut units = Vec::new();
        for batch in batches(messages.get(done..).unwrap_or_default()) {
            let texts: Vec<&str> = batch.iter().map(|(text, _)| text.as_str()).collect();
            let found = match extractor.facts(&texts) {
                Ok(found) => found,
                Err(error) => {
                    let place = format!("{} {}", self.source, session.id);
                    let is_final = matches!(error, FactError::Unavailable(_));
                    let scope = if is_final {
                        " and of later conversations"
                    } else {
                        ""
                    };
                    let reason = format!(
                        "no facts were drawn from message {} of the user on: {error}; a further run with --extract draws the \
                         facts of the rest{scope}",
                        done + 1
                    );
                    report.warnings.push(SkippedFile {
                        path: place,
                        reason,
                    });
                    if is_final {
                        self.extractor = None;
                    }
                    break;
                }
            };
            for (index, (facts, (_, at))) in found.into_iter().zip(batch).enumerate() {
                for (number, fact) in facts.iter().enumerate() {
                    units.push(vec![self.create(
                        session,
                        (done + index, number),
                        fact,
                        *at,
                    )]);
                }
            }
            done += batch.len();
        }
        let count = units.len();
        let refused = commit_units(self.services, &self.set, units)?;
        report.facts += (count - refused.len()) as u64;
        Ok(Some(done).filter(|done| 0 < *done))
    }

    /// Returns the number of messages up to the last one with a fact, also with a deleted one, of each conversation.
    fn drawn_messages(&mut self) -> Result<&HashMap<String, usize>, StoreError> {
        let drawn = match self.drawn.take() {
            Some(drawn) => drawn,
            None => self.read_drawn_messages()?,
        };
        Ok(self.drawn.insert(drawn))
    }

    fn read_drawn_messages(&self) -> Result<HashMap<String, usize>, StoreError> {
        let mut drawn = HashMap::<String, usize>::new();
        let mut add = |memory: &Memory| {
            let origins = memory.origin.iter().chain(&memory.other_origins);
            for origin in
                origins.filter(|origin| origin.source == self.source && origin.root == FACTS)
            {
                let Some((session, number)) = origin.path.rsplit_once('/') else {
                    continue;
                };
                let message = number
                    .split('.')
                    .next()
                    .and_then(|message| message.parse::<usize>().ok());
                let count = drawn.entry(session.to_owned()).or_default();
                *count = (*count).max(message.map_or(0, |message| message + 1));
            }
        };
        for stored in self
            .services
            .store
            .memories(&Filter::all(), self.services.clock.now())
        {
            match stored {
                Ok(stored) => add(&stored.memory),
                Err(StoreError::Damaged(_)) => {}
                Err(error) => return Err(error),
            }
        }
        for change in self.services.history.changes_of(Verb::Delete) {
            let Some(trash) = change?.before.and_then(|file| file.trash) else {
                continue;
            };
            if let Ok(memory) = self.services.history.memory_in_trash(&trash) {
                add(&memory);
            }
        }
        Ok(drawn)
    }

    fn create(
        &self,
        session: &SourceSession,
        place: (usize, usize),
        fact: &str,
        at: Option<DateTime<Utc>>,
    ) -> Change {
        let text = secret::redact(fact).map_or_else(|| fact.to_owned(), |redacted| redacted.text);
        let draft = Draft {
            phase: Some(Phase::Inbox),
            source: self.source.to_owned(),
            scope: session.scope.clone(),
            role: self.is_trusted.then_some(SpeakerRole::Person),
            created_at: at,
            origin: Some(self.origin(session, place)),
            ..Draft::new(&text)
        };
        let memory = draft.into_memory(self.services.ids.memory_id(), self.set.operation.at);
        Change::Create {
            memory: Box::new(memory),
            front_matter: String::new(),
        }
    }

    /// Returns the origin of a fact, given the indexes of its message and of the fact of that message.
    fn origin(&self, session: &SourceSession, (message, number): (usize, usize)) -> Origin {
        let path = format!("{}/{message:04}.{number}", session.id);
        Origin {
            source: self.source.to_owned(),
            root: FACTS.into(),
            path,
            hash: None,
        }
    }
}

/// Returns the text and the time of a message of the user.
fn user_message(record: &RecordDraft) -> Option<(String, Option<DateTime<Utc>>)> {
    let text = record
        .content
        .as_ref()
        .filter(|_| record.role.as_str() == "user")
        .and_then(JsonText::as_string)?;
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
