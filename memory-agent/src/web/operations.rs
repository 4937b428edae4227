//! Operations of the log as rows with their author and an undo.

use memory_core::LogEntry;

use super::changed_object::{ChangedObject, MAX_OBJECT, few_changes};
use super::error::PageError;
use super::fields::encode;
use super::html::Label;
use super::request::WebRequest;
use super::time_label::TimeLabel;
use super::undo_offer::UndoOffer;

/// The actors that are not agents.
pub(crate) const PEOPLE: [&str; 7] = ["cli", "web", "api", "daemon", "proxy", "external", "http"];

/// Returns whether an actor is an agent.
pub(crate) fn is_agent(by: &str) -> bool {
    !by.is_empty() && !PEOPLE.contains(&by)
}

/// An operation as a row.
#[derive(Debug)]
pub(crate) struct OperationRow {
    pub(crate) id: String,
    pub(crate) time: TimeLabel,
    /// The time without the day.
    pub(crate) clock: TimeLabel,
    pub(crate) verb: &'static str,
    /// The person, agent or program.
    pub(crate) by: Label,
    /// The query that selects the operations of the same author.
    pub(crate) by_query: String,
    /// The changed object.
    pub(crate) object: Label,
    /// The state of the object if it is a proposal, or a memory that does not exist any more.
    pub(crate) state: Option<&'static str>,
    /// The page of the object, if it exists.
    pub(crate) path: Option<String>,
    pub(crate) undo: UndoOffer,
}

impl OperationRow {
    /// Returns the row of an operation.
    ///
    /// # Errors
    /// If the changed object cannot be read.
    pub(crate) fn new(request: &WebRequest, entry: &LogEntry) -> Result<Self, PageError> {
        let changes = few_changes(request, entry)?;
        let object = ChangedObject::of(request, entry, &changes)?;
        let by = entry.operation.by.as_str();
        Ok(Self {
            id: entry.operation.id.to_string(),
            time: TimeLabel::exact(request.local(entry.operation.at)),
            clock: TimeLabel::clock_time(request.local(entry.operation.at)),
            verb: object.verb,
            by: Label::cut(if by.is_empty() { "unknown" } else { by }, MAX_OBJECT),
            by_query: encode(by).into_owned(),
            undo: UndoOffer::new(request, entry, &changes, &object)?,
            object: object.label,
            state: object.state,
            path: object.path,
        })
    }
}
